// editor_test.mjs: the editor by keyboard and by what a screen reader is told: completion, brackets, undo, search, the
// way out; and what the page does without CodeMirror.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO, bench, check, chooseLesson, done, write, written } from './browser.mjs';
import { serve } from './dev.mjs';
import { root } from './logs.mjs';

const stage = bench();

// The editor of the first lesson, with focus; the server goes with the test.
async function opened(t, options = {}) {
  const server = await serve({ mode: 'lessons', runs: [{ lines: stage.demo.lines, what: 'demo', lesson: DEMO }], ...options });
  t.after(() => server.close());
  const page = await stage.open(server.url, { reducedMotion: 'reduce' });
  await page.waitForFunction(() => document.getElementById('path').textContent);
  await page.locator('#tab-editor').click();
  await page.locator('#code').focus();
  return page;
}

check('names of Ferry are completed, each with its documentation', async (t) => {
  const page = await opened(t);
  await write(page, '');
  await page.keyboard.type('fy_tensor *y = fy_relu');
  const first = page.locator('.CodeMirror-hint').first();
  await first.waitFor();
  assert.equal(await first.innerText(), 'fy_relu(x)\nmax(x, 0)');
  assert.equal(await first.getAttribute('role'), 'option');
  assert.ok(await page.locator('#code').getAttribute('aria-activedescendant'));
  await page.keyboard.press('Enter');
  await page.keyboard.type('(');
  assert.equal(await written(page), 'fy_tensor *y = fy_relu()');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('fy_');
  await page.locator('.CodeMirror-hint', { hasText: 'fy_zeros' }).first().waitFor();
  const words = await page.locator('.CodeMirror-hint').allInnerTexts();
  assert.ok(words.length > 150, `${words.length} names`);
  assert.ok(words.filter((w) => w.includes('\n')).length > 100, 'most have their words');
  await done(page);
});

check('a new line is indented, brackets match, undo works', async (t) => {
  const page = await opened(t);
  await write(page, 'int main(void)\n{');
  await page.keyboard.press('Control+End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('int a = (1 + 2);');
  assert.equal(await written(page), 'int main(void)\n{\n    int a = (1 + 2);');
  await page.keyboard.press('ArrowLeft');
  await page.locator('.CodeMirror-matchingbracket').first().waitFor();
  assert.deepEqual(await page.locator('.CodeMirror-matchingbracket').allInnerTexts(), ['(', ')']);
  for (let i = 0; i < 9 && (await written(page)).includes('int a'); i++) await page.keyboard.press('Control+z');
  assert.doesNotMatch(await written(page), /int a/);
  await page.keyboard.press('Control+y');
  assert.match(await written(page), /int a/);
  await done(page);
});

check('several lines in one input are the text', async (t) => {
  const page = await opened(t);
  await page.locator('#code').focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('int main(void)\n{\n    return 0;\n}\n'); // as dictation does
  assert.equal(await written(page), 'int main(void)\n{\n    return 0;\n}\n');
  assert.equal(await page.locator('#dirty').innerText(), 'not saved');
  await page.keyboard.insertText('// and');
  await page.waitForFunction(() => /\/\/ and/.test(document.querySelector('.CodeMirror').CodeMirror.getValue()));
  await done(page);
});

check('a long line wraps, deeper than it begins', async (t) => {
  const page = await opened(t);
  await write(page, `int main(void)\n{\n    fy_tensor *w = fy_full((512, 2), 0.5, .device = "cuda"); // ${'made there '.repeat(8)}\n}\n`);
  const places = await page.evaluate(() => {
    const cm = document.querySelector('.CodeMirror').CodeMirror;
    const length = cm.getLine(2).length;
    return [4, length].map((ch) => cm.charCoords({ line: 2, ch }, 'local')).concat({ width: cm.getScrollInfo().width - cm.getScrollInfo().clientWidth });
  });
  assert.ok(places[1].top > places[0].top, 'it goes on below');
  assert.equal(places[2].width, 0, 'nothing is to the right of what is seen');
  const second = await page.evaluate(() => {
    const cm = document.querySelector('.CodeMirror').CodeMirror;
    const text = cm.getLine(2);
    for (let ch = 5; ch < text.length; ch++) if (cm.charCoords({ line: 2, ch }, 'local').top > cm.charCoords({ line: 2, ch: 4 }, 'local').top) return cm.charCoords({ line: 2, ch }, 'local').left;
    return -1;
  });
  assert.ok(second > places[0].left + 10, `${second} is right of ${places[0].left}`);
  await done(page);
});

check('Ctrl F finds in the file', async (t) => {
  const page = await opened(t);
  await page.keyboard.press('Control+f');
  await page.keyboard.type('fy_answer');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => document.querySelector('.CodeMirror').CodeMirror.getSelection()), 'fy_answer');
  await done(page);
});

check('Tab indents, and after Escape it leaves', async (t) => {
  const page = await opened(t);
  await write(page, 'int a;');
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Tab');
  assert.equal(await written(page), '    int a;');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => !!document.activeElement.closest('.CodeMirror')), false);
  await page.keyboard.press('Shift+Tab');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'code');
  await page.keyboard.press('Shift+Tab');
  assert.equal(await page.evaluate(() => !!document.activeElement.closest('.CodeMirror')), false);
  assert.equal(await written(page), '    int a;');
  await done(page);
});

check('a screen reader finds the editor and all its text', async (t) => {
  const page = await opened(t);
  const field = page.getByRole('textbox', { name: 'Your program' });
  assert.equal(await field.getAttribute('aria-multiline'), 'true');
  const said = await field.innerText();
  for (const line of (await written(page)).split('\n').filter(Boolean)) assert.ok(said.includes(line.trim()), line);
  await done(page);
});

check('another file is not undone into this one', async (t) => {
  const page = await opened(t);
  const first = await written(page);
  await page.locator('#unfold').click();
  await chooseLesson(page, '02-to-returns');
  const second = await written(page);
  assert.notEqual(second, first);
  await page.locator('#tab-editor').click();
  await page.locator('#code').focus();
  await page.keyboard.press('Control+z');
  assert.equal(await written(page), second);
  await done(page);
});

check('without CodeMirror a plain text field saves', async (t) => {
  const www = mkdtempSync(join(tmpdir(), 'ferry-www-'));
  t.after(() => rmSync(www, { recursive: true }));
  cpSync(join(root, 'www'), www, { recursive: true });
  cpSync(join(root, process.env.B ?? 'build', 'www', 'library'), join(www, 'library'), { recursive: true });
  for (const empty of ['codemirror.js', 'codemirror.css']) writeFileSync(join(www, 'library', empty), '');
  const page = await opened(t, { www });
  await page.locator('textarea#code').fill('int main(void) { }\n');
  assert.equal(await page.locator('#dirty').innerText(), 'not saved');
  await page.keyboard.press('Control+s');
  await page.waitForFunction(() => document.getElementById('dirty').textContent === 'saved');
  await done(page);
});
