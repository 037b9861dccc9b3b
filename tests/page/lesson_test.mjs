// lesson_test.mjs: lessons, the editor, verdicts and hints, with the real `ferry serve`.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { DEMO, bench, boxesOf, check, chooseLesson, done, ferry, go, settle, share, write, written } from './browser.mjs';
import { serve } from './dev.mjs';

const stage = bench();

check('a lesson: the starter is refused with its event and line, the solution passes', async () => {
  const lessons = await ferry('serve', '--port', '8860');
  try {
    const page = await stage.open(lessons.url);
    await page.waitForFunction(() => window.ferry?.events.length);
    const { parts } = JSON.parse(readFileSync(new URL('../../lessons/arc.json', import.meta.url), 'utf8'));
    assert.equal(await page.locator('#lesson-list button').count(), parts.flatMap((part) => part.lessons).length);
    assert.equal(await page.locator('#lesson-list h3').count(), parts.length);
    await page.locator('#run-mine').click();
    await page.locator('#verdict[data-kind="fail"]').waitFor();
    assert.match(await page.locator('#verdict').innerText(), /your run[\s\S]*expected/);
    await page.locator('#verdict .links button').first().click();
    await settle(page);
    const seq = Number(/event (\d+)/.exec(await page.locator('#verdict .links').first().innerText())[1]);
    const [from, to] = await page.evaluate(() => [window.ferry.seq, window.ferry.events.length]);
    assert.ok(seq <= from && from < to);
    await page.locator('#tab-editor').click();
    await write(page, readFileSync(new URL(`../../lessons/${DEMO}/solution.c`, import.meta.url), 'utf8'));
    await page.keyboard.press('Control+s');
    await page.locator('#verdict[data-kind="pass"]').waitFor();
    assert.equal(await page.locator('#lesson-list .done').count(), 1);
    assert.equal(await page.locator('#act').innerText(), 'Next lesson');
    await done(page);
  } finally {
    await lessons.stop();
  }
});

check('a file saved in another editor is graded and shown; unsaved text survives a look elsewhere', async () => {
  const lessons = await ferry('serve', '--port', '8890');
  try {
    const page = await stage.open(lessons.url);
    await page.waitForFunction(() => window.ferry?.events.length);
    const solution = readFileSync(new URL('../../lessons/02-to-returns/solution.c', import.meta.url), 'utf8');
    writeFileSync(`${lessons.my}/02-to-returns.c`, solution);
    await page.locator('#verdict[data-kind="pass"]').waitFor();
    assert.match(await page.locator('#lesson-list [aria-current]').textContent(), /returns/);
    await page.locator('#tab-editor').click();
    assert.equal(await written(page), solution);
    await write(page, '// half a thought');
    await page.locator('#unfold').click();
    await chooseLesson(page, '01-where-am-i');
    assert.equal(await page.locator('#dirty').innerText(), 'saved');
    await chooseLesson(page, '02-to-returns');
    assert.equal(await written(page), '// half a thought');
    await done(page);
  } finally {
    await lessons.stop();
  }
});

/** What the page asks of the server waits until the function that this returns is called; it returns when all is answered. */
async function held(page) {
  await page.evaluate(() => {
    const { fetch } = window;
    const [answers, gate] = [[], {}];
    gate.open = new Promise((open) => { gate.go = open; });
    window.fetch = (...request) => {
      answers.push(gate.open.then(() => fetch(...request)));
      return answers.at(-1);
    };
    window.letGo = () => {
      window.fetch = fetch;
      gate.go();
      return Promise.allSettled(answers);
    };
  });
  return async () => {
    await page.evaluate(() => window.letGo().then(() => new Promise((frame) => { requestAnimationFrame(() => requestAnimationFrame(frame)); })));
  };
}

check('a file that changes on disk under unsaved text is never written over unasked', async () => {
  const lessons = await ferry('serve', '--port', '8895');
  const file = `${lessons.my}/${DEMO}.c`;
  const solution = readFileSync(new URL(`../../lessons/${DEMO}/solution.c`, import.meta.url), 'utf8');
  try {
    const page = await stage.open(lessons.url);
    await page.waitForFunction(() => window.ferry?.events.length);
    await page.locator('#tab-editor').click();
    for (const [mine, theirs, choice] of [['// mine', `${solution}// 1\n`, '#take-file'], ['// mine again', `${solution}// 2\n`, '#keep-mine']]) {
      const runs = await page.evaluate(() => document.getElementById('runs').length);
      await write(page, mine);
      writeFileSync(file, theirs);
      await page.locator('#clash:not([hidden])').waitFor();
      await page.waitForFunction((n) => document.getElementById('runs').length > n, runs); // the file's run has begun: the warning stays
      assert.match(await page.locator('#notice').innerText(), /changed on disk/);
      const answer = await held(page);
      await page.keyboard.press('Control+s');
      await answer();
      assert.equal(await page.locator('#clash').isVisible(), true); // asks again
      assert.equal(readFileSync(file, 'utf8'), theirs);
      assert.equal(await written(page), mine);
      const late = await held(page);
      await page.keyboard.press('Control+s');
      await page.locator(choice).click();
      assert.equal(await page.locator('#clash').isVisible(), false);
      let wrote = false;
      page.on('request', (request) => { wrote ||= request.url().endsWith('/save'); });
      await late(); // of the save that was asked for before the choice
      assert.equal(wrote, false);
      assert.equal(await written(page), choice === '#keep-mine' ? mine : theirs);
      assert.equal(readFileSync(file, 'utf8'), theirs);
    }
    await page.keyboard.press('Control+s');
    await page.waitForFunction(() => document.getElementById('dirty').textContent === 'saved');
    assert.equal(readFileSync(file, 'utf8'), '// mine again');
    await done(page);
  } finally {
    await lessons.stop();
  }
});

check('a program that crashes is named; what it did before is drawn; the next run works', async () => {
  const lessons = await ferry('serve', '--port', '8875');
  try {
    const page = await stage.open(lessons.url);
    await page.waitForFunction(() => window.ferry?.events.length);
    await page.locator('#tab-editor').click();
    await write(page, `#include <ferry.h>

int main(void)
{
    fy_tensor *doomed = fy_to(fy_ones((8, 8)), "cuda");
    int *nowhere = 0;
    *nowhere = 1;
    fy_print(doomed);
}
`);
    await page.locator('#save').click();
    await page.locator('#verdict[data-kind="fail"]').waitFor();
    assert.match(await page.locator('#verdict .message').innerText(), /crash/i);
    await page.keyboard.press('Escape');
    const last = await page.evaluate(() => window.ferry.events.length - 1);
    await go(page, last);
    const boxes = await boxesOf(page);
    assert.deepEqual(boxes.map((b) => b.device).sort(), ['cpu', 'cuda:0']);
    assert.ok(boxes.some((b) => b.name === 'doomed'));
    for (const box of boxes) assert.ok(await share(page, box.band, box.hue) > 0.3, `${box.name} is painted`);

    await write(page, readFileSync(new URL(`../../lessons/${DEMO}/solution.c`, import.meta.url), 'utf8'));
    await page.keyboard.press('Control+s');
    await page.locator('#verdict[data-kind="pass"]').waitFor();
    await done(page);
  } finally {
    await lessons.stop();
  }
});

check('what the example printed is not under your file', async () => {
  const lessons = await ferry('serve', '--port', '8877');
  try {
    const page = await stage.open(lessons.url, { reducedMotion: 'reduce' });
    await page.waitForFunction(() => window.ferry?.events.some((e) => e?.kind === 'end'));
    await page.locator('.predict button[type="button"]').click();
    await page.locator('#tab-source').click();
    await page.locator('#printed').waitFor();
    await page.locator('#tab-editor').click();
    assert.equal(await page.locator('#printed').isVisible(), false);
    await done(page);
  } finally {
    await lessons.stop();
  }
});

check('a compile error is shown at its line, and a hint is given one at a time', async () => {
  const lessons = await ferry('serve', '--port', '8870');
  try {
    const page = await stage.open(lessons.url);
    await page.waitForFunction(() => window.ferry?.events.length);
    await page.locator('#tab-editor').click();
    const starter = await written(page);
    const broken = starter.split('\n');
    const at = broken.findIndex((line) => line.includes('fy_add')) + 1;
    broken[at - 1] = broken[at - 1].replace(';', '');
    await write(page, broken.join('\n'));
    await page.keyboard.press('Control+s');
    await page.locator('#mistake:not([hidden])').waitFor();
    assert.equal(await page.locator('.CodeMirror .wrong .CodeMirror-linenumber').innerText(), String(at));
    assert.equal(await page.locator('.CodeMirror .wrong .sign').count(), 1);
    assert.equal(await page.locator('#code').getAttribute('aria-invalid'), 'true');
    await page.locator('#more-hint').click();
    await page.locator('#hints li').first().waitFor();
    assert.equal(await page.locator('#hints li').count(), 1);
    assert.match(await page.locator('#more-hint').innerText(), /2 left/);
    const told = () => page.locator('#hints details').evaluateAll((all) => all.map((one) => one.open));
    assert.deepEqual(await told(), [true]);
    await write(page, starter); // another error now
    await page.keyboard.press('Control+s');
    await page.locator('#verdict[data-kind="fail"] .check').first().waitFor();
    assert.deepEqual(await told(), [false], 'it was for the error before; a click opens it again');
    await done(page);
  } finally {
    await lessons.stop();
  }
});

check('a guess is held against the trace itself', async () => {
  const server = await serve({ mode: 'lessons', runs: [{ lines: stage.demo.lines, what: 'demo', lesson: DEMO }] });
  const page = await stage.open(server.url, { reducedMotion: 'reduce' });
  await page.waitForFunction(() => window.ferry?.events.length);
  for (const [guess, expected] of [[['1', '3'], /^Correct. copies to the card: 1. tensors that/], [['5', '0'], /card: you said 5; it is 1. .*VRAM: you said 0; it is 3./]]) {
    const fields = page.locator('.predict input');
    for (let i = 0; i < 2; i++) await fields.nth(i).fill(guess[i]);
    await page.locator('.predict [type=submit]').click();
    await page.locator('#play').focus();
    await page.keyboard.press('End');
    await page.waitForFunction(() => /it is 1|Correct/.test(document.querySelector('.predict .answer').textContent));
    assert.match(await page.locator('.predict .answer').innerText(), expected);
  }
  await done(page);
  await server.close();
});

check('an example that ends in an error is shown, and answers its questions', async () => {
  const lessons = await ferry('serve', '--port', '8895');
  try {
    const page = await stage.open(`${lessons.url}&lesson=24-which-line`, { reducedMotion: 'reduce' });
    await page.waitForFunction(() => document.getElementById('path').textContent.includes('24-') && window.ferry?.events.at(-1)?.kind === 'end');
    const fields = page.locator('.predict input');
    for (let i = 0; i < await fields.count(); i++) await fields.nth(i).fill('1');
    await page.locator('.predict [type=submit]').click();
    await page.locator('#play').focus();
    await page.keyboard.press('End');
    await page.waitForFunction(() => /you said 1; it is \d+/.test(document.querySelector('.predict .answer').textContent));
    assert.equal(await page.locator('#veil').isVisible(), false);
    assert.equal(await page.locator('#verdict').isVisible(), false);
    await done(page);
  } finally {
    await lessons.stop();
  }
});
