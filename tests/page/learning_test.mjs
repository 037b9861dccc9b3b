// learning_test.mjs: the way through a lesson: predict before anything plays, watch, edit, check; what a verdict says; and
// room for all of it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DEMO, bench, check, chooseLesson, done, ferry, settle, write, written } from './browser.mjs';
import { serve } from './dev.mjs';
import { root } from './logs.mjs';
import { shape } from './mishaps.mjs';

const stage = bench();
const lesson = (id, file) => readFileSync(`${root}/lessons/${id}/${file}`, 'utf8');

async function opened(t, options = {}) {
  const server = await serve({ mode: 'lessons', runs: [{ lines: stage.demo.lines, what: 'demo', lesson: DEMO }] });
  t.after(() => server.close());
  const page = await stage.open(server.url, { reducedMotion: 'reduce', ...options });
  await page.waitForFunction(() => document.getElementById('path').textContent && window.ferry.events.length);
  return { server, page };
}

const status = (server, more) => server.all({ type: 'status', lesson: DEMO, what: 'mine', ...more });
const act = (page) => page.locator('#act').innerText();
const shownCounts = (page) => page.evaluate(() => !/\?/.test(document.getElementById('figures').textContent));

check('nothing plays before the prediction, and nothing tells the counts', async (t) => {
  const { page } = await opened(t, { reducedMotion: 'no-preference' });
  assert.equal(await act(page), 'Predict');
  await page.waitForTimeout(700);
  assert.deepEqual(await page.evaluate(() => [window.ferry.position.step, window.ferry.position.playing]), [0, false]);
  assert.equal(await page.locator('#lanes').isVisible(), false);
  assert.equal(await shownCounts(page), false);
  await page.locator('#as-table').click();
  assert.deepEqual([await page.locator('#rows tr').count(), await page.locator('#rows-more').innerText()], [0, 'After your guess.']);
  await page.locator('#as-table').click();
  await page.locator('#act').click(); // leads to the numbers
  assert.equal(await page.evaluate(() => document.activeElement.type), 'number');
  await page.keyboard.type('2');
  await page.keyboard.press('Tab');
  await page.keyboard.type('1');
  await page.locator('#act').click();
  await page.waitForFunction(() => window.ferry.position.playing);
  assert.equal(await page.locator('#lanes').isVisible(), true);
  assert.equal(await act(page), 'To the end');
  await page.locator('#act').click();
  await page.waitForFunction(() => /copies to the card: you said 2/.test(document.querySelector('.predict .answer').textContent));
  assert.equal(await act(page), 'Edit');
  await done(page);
});

check('the event table of a lesson tells an error without its fix', async (t) => {
  for (const [mode, fix] of [['lessons', 0], ['view', 1]]) {
    const server = await serve({ mode, runs: [{ lines: shape.map((e) => JSON.stringify(e)), what: mode === 'view' ? 'view' : 'mine', lesson: DEMO }] });
    t.after(() => server.close());
    const page = await stage.open(server.url, { reducedMotion: 'reduce' });
    await page.waitForFunction(() => window.ferry?.events.at(-1)?.kind === 'end');
    await page.locator('#as-table').click();
    await page.locator('#rows tr', { hasText: 'cannot be multiplied' }).waitFor();
    assert.equal(await page.locator('#rows tr', { hasText: 'mend it' }).count(), fix, mode);
    await done(page);
  }
});

check('after watching, the counts are shown without a guess', async (t) => {
  const { page } = await opened(t);
  await page.evaluate(() => window.ferry.go(window.ferry.events.length - 1));
  await page.waitForFunction(() => !/\?/.test(document.getElementById('figures').textContent));
  assert.equal(await act(page), 'Edit');
  assert.equal(await page.locator('#lanes').isVisible(), true);
  await done(page);
});

check('“Just show me” plays the example, in sight', async (t) => {
  for (const viewport of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
    const server = await serve({ mode: 'lessons', runs: [{ lines: stage.demo.lines, what: 'demo', lesson: DEMO }] });
    t.after(() => server.close());
    const page = await stage.open(server.url, { viewport });
    await page.waitForFunction(() => window.ferry?.events.some((e) => e?.kind === 'end') && 'guessing' in document.body.dataset);
    if (viewport.width < 600) await page.locator('#tab-learn').click();
    await page.locator('.predict button', { hasText: 'Just show me' }).click();
    await page.waitForFunction(() => window.ferry.position.playing && window.ferry.position.step >= 2);
    assert.equal(await page.locator('#stage').isVisible(), true);
    await done(page);
  }
});

check('an example of another lesson answers no question', async (t) => {
  const { page } = await opened(t);
  await chooseLesson(page, '03-round-trip');
  await page.evaluate(() => window.ferry.go(window.ferry.events.length - 1));
  await settle(page);
  assert.equal(await page.locator('.predict button', { hasText: 'Just show me' }).isVisible(), true);
  await done(page);
});

const differing = [
  { check: 'right-numbers', pass: true, expected: 'the right values', got: 'the right values', message: 'The numbers are right.', seq: 3, line: 4 },
  { check: 'ran-on-the-card', pass: false, expected: 'every operation on the card', got: 'fy_matmul at line 18 ran on cpu', message: 'A copy leaves the original where it is.', seq: 9, line: 18 },
  { check: 'copies-to-card', pass: false, expected: '1 copy to the card allowed', got: '5 copies to the card', message: 'Copies to the card: 5.', seq: 12, line: 13, limit: { of: 'copies to the card', most: 1, used: 5 } },
  { check: 'copies-back', pass: true, expected: '2 copies back allowed', got: '1 copy back', message: '', seq: null, line: null, limit: { of: 'copies back to the CPU', most: 2, used: 1 } },
];

check('a verdict says what differs, limits as bars', async (t) => {
  const { server, page } = await opened(t);
  status(server, { state: 'done', verdict: { pass: false, message: differing[1].message, checks: differing, seed: 7 } });
  await page.locator('#verdict[data-kind="fail"]').waitFor();
  assert.equal(await page.locator('#verdict-title').innerText(), 'Not yet: 2 checks failed');
  assert.deepEqual(await page.locator('#verdict h3').allInnerTexts(), ['ran on the card']);
  const bars = await page.locator('#verdict .track').evaluateAll((all) => all.map((n) => [n.getAttribute('aria-label'), ...[...n.children].map((c) => Math.round((100 * c.getBoundingClientRect().width) / n.getBoundingClientRect().width))]));
  assert.deepEqual(bars.map((b) => b.slice(0, 3)), [['copies to the card: 5, the limit is 1: over it', 20, 80], ['copies back to the CPU: 1, the limit is 2', 50, bars[1][2]]]);
  assert.match(await page.locator('#verdict').innerText(), /2 checks passed/);
  assert.doesNotMatch(await page.locator('#verdict').innerText(), /right numbers/);
  assert.equal(await page.locator('#verdict .links').count(), 1, 'only the first has links');
  assert.equal(await act(page), 'Edit line 18');
  await done(page);
});

check('why and how are told when asked for', async (t) => {
  const { server, page } = await opened(t);
  status(server, { state: 'done', verdict: { pass: false, message: differing[1].message, checks: differing, hint: 'use what fy_to returned', seed: 7 } });
  await page.locator('#verdict[data-kind="fail"]').waitFor();
  const told = () => page.locator('#verdict').innerText();
  assert.doesNotMatch(await told(), /leaves the original|fy_to/);
  await page.locator('#verdict summary', { hasText: 'Why' }).click();
  assert.match(await told(), /leaves the original/);
  assert.doesNotMatch(await told(), /fy_to/);
  await page.setViewportSize({ width: 1280, height: 640 });
  await page.locator('#verdict summary', { hasText: 'How to fix it' }).evaluate((summary) => {
    summary.scrollIntoView({ block: 'end' }); // at the lower edge
    summary.click();
  });
  assert.match(await told(), /use what fy_to returned/);
  await settle(page);
  const how = await page.locator('#verdict details', { hasText: 'How to fix it' }).boundingBox();
  assert.ok(how.y + how.height <= 640, `what was opened is in sight: ${how.y + how.height}`);
  status(server, { state: 'error', line: 3, message: 'a name is not known', hint: 'did you mean fy_relu?', source: 'fy_rleu(x)' });
  await page.waitForFunction(() => /compile/.test(document.getElementById('verdict-title').textContent));
  const title = await page.locator('#verdict-title').evaluate((node) => [node.getBoundingClientRect().top, node.closest('#account').getBoundingClientRect().top]);
  assert.ok(title[0] >= title[1] - 1, `the new verdict begins in sight: ${title}`);
  assert.match(await told(), /a name is not known/);
  assert.doesNotMatch(`${await told()} ${await page.locator('#mistake').textContent()}`, /fy_relu/);
  await done(page);
});

check('no older picture stands under a new error', async (t) => {
  const { server, page } = await opened(t);
  await page.evaluate(() => window.ferry.go(window.ferry.events.length - 1));
  for (const size of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
    await page.setViewportSize(size);
    status(server, { state: 'error', line: 12, message: 'a semicolon is missing' });
    await page.locator('#veil').waitFor();
    for (const id of ['stage', 'lanes', 'say', 'ledger']) assert.equal(await page.locator(`#${id}`).isVisible(), false, `${id} at ${size.width}`);
    await page.locator('#lift').click();
    assert.equal(await page.locator('#stage').isVisible(), true);
    status(server, { state: 'error', line: 12, message: 'a semicolon is missing' });
    await page.locator('#veil').waitFor();
    server.add({ lines: stage.demo.lines, what: 'mine', lesson: DEMO });
    await page.locator('#veil').waitFor({ state: 'hidden' });
    assert.equal(await page.locator('#stage').isVisible(), true);
  }
  await done(page);
});

const columnsOfEditor = (page) => page.evaluate(() => {
  const right = (q) => document.querySelector(q).getBoundingClientRect().right;
  return (right('.CodeMirror') - right('.CodeMirror-gutters')) / document.querySelector('.CodeMirror').CodeMirror.defaultCharWidth();
});

check('beside verdict and editor there is room for the picture', async (t) => {
  for (const [width, height] of [[1440, 900], [1024, 768], [853, 480], [390, 844]]) {
    const { server, page } = await opened(t, { viewport: { width, height } });
    await page.evaluate(() => window.ferry.go(window.ferry.events.length - 1));
    const narrow = await page.locator('#tab-code').isVisible();
    if (narrow) await page.locator('#tab-code').click();
    await page.locator('#tab-editor').click();
    const columns = await columnsOfEditor(page);
    if (width > 390) assert.ok(columns >= 40, `${columns} columns at ${width}`);
    status(server, { state: 'done', verdict: { pass: false, message: '', checks: differing, seed: 7 } });
    await page.locator('#verdict[data-kind="fail"]').waitFor(); // on a narrow page in place of the code; the picture is one touch away
    if (narrow) await page.locator('#tab-watch').click();
    const seen = await page.evaluate(() => {
      const box = (q) => document.querySelector(q).getBoundingClientRect();
      return { stage: box('#stage').height, lanes: box('#lanes').height, verdict: box('#verdict').width,
        act: box('#act').bottom, actRight: box('#act').right, wide: document.documentElement.scrollWidth, high: document.documentElement.scrollHeight };
    });
    const where = `${width}x${height}: ${JSON.stringify(seen)}`;
    if (width === 1440) assert.ok(seen.stage >= 0.45 * height, where);
    assert.ok(seen.wide <= width && seen.lanes > 60 && seen.stage > 250, where);
    assert.ok(seen.act <= height && seen.actRight <= width, where);
    if (width > 860) assert.ok(seen.high <= height, where);
    const filled = await page.locator('button:visible').evaluateAll((all) => all.filter((b) => getComputedStyle(b).backgroundColor === getComputedStyle(document.getElementById('act')).backgroundColor).map((b) => b.id));
    assert.deepEqual(filled, ['act'], `one filled button at ${width}`);
    await done(page);
  }
});

check('forty columns of code are in sight at every width', async (t) => {
  for (const [width, height] of [[1440, 900], [1280, 720], [1024, 768], [853, 480]]) {
    const { server, page } = await opened(t, { viewport: { width, height } });
    const fits = () => page.evaluate(() => [...document.querySelectorAll('#next > *')].every((n) => n.getBoundingClientRect().right <= document.getElementById('next').getBoundingClientRect().right - 8));
    assert.ok(await fits(), `the next action at ${width}`);
    await page.evaluate(() => window.ferry.go(window.ferry.events.length - 1));
    await page.waitForFunction(() => document.querySelector('#lines.costed'));
    if (await page.locator('#tab-code').isVisible()) await page.locator('#tab-code').click();
    assert.ok(await fits(), `the next action at ${width}, watched`);
    const columns = await page.evaluate(() => {
      const line = document.querySelector('#lines li');
      const letter = document.createRange();
      letter.setStart(line.querySelector('code').firstChild.firstChild ?? line.querySelector('code').firstChild, 0);
      letter.setEnd(letter.startContainer, 1);
      return (line.querySelector('.cost').getBoundingClientRect().left - letter.getBoundingClientRect().left) / letter.getBoundingClientRect().width;
    });
    assert.ok(columns >= 40, `${columns.toFixed(1)} at ${width}`);
    status(server, { state: 'done', verdict: { pass: true, message: '', checks: [], seed: 7 } });
    await page.waitForFunction(() => document.getElementById('act').textContent === 'Next lesson');
    assert.ok(await fits(), `the next action at ${width}, passed`);
    await done(page);
  }
});

check('the verdict alone tells the fix of an error', async () => {
  const lessons = await ferry('serve', '--port', '8868');
  try {
    const page = await stage.open(lessons.url, { reducedMotion: 'reduce' });
    await page.waitForFunction(() => window.ferry?.events.length);
    await page.locator('#tab-editor').click();
    await page.locator('#save').click();
    await page.locator('#verdict[data-kind="fail"]').waitFor();
    await page.locator('#printed').waitFor();
    const steps = await page.evaluate(() => Number(document.getElementById('scrub').max));
    for (let i = 0; i <= steps; i++) {
      await page.locator('#scrub').fill(String(i));
      const told = await page.locator('#say, #printed, #verdict, #mistake').allInnerTexts();
      assert.doesNotMatch(told.join(' '), /copy (x|one) /, `step ${i}`);
    }
    assert.match(await page.locator('#printed').innerText(), /x is on cpu/);
    await done(page);
  } finally {
    await lessons.stop();
  }
});

// A step back and forth: its sentence is what a screen reader is told.
async function stepsByKeyboard(page) {
  const told = () => page.evaluate(() => document.getElementById('told').textContent);
  await tabTo(page, page.getByRole('button', { name: 'Step back' }));
  const before = await told();
  await page.keyboard.press('Enter');
  await page.waitForFunction((words) => document.getElementById('told').textContent !== words, before);
  assert.equal(await told(), await page.evaluate(() => document.getElementById('say').textContent));
  await tabTo(page, page.getByRole('slider', { name: 'Step of the run' }));
  await page.keyboard.press('End');
}

/** Goes to a control as a keyboard does: by Tab, from wherever it is. */
async function tabTo(page, control) {
  await control.waitFor();
  for (let i = 0; i < 120; i++) {
    if (await control.evaluate((node) => node === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${control} is not reached by Tab`);
}

/** Turns one text into another, key by key: the lines that differ are marked, and typed anew. */
async function typeOver(page, from, to) {
  const [old, wanted] = [from, to].map((text) => text.split('\n'));
  const first = old.findIndex((line, i) => line !== wanted[i]);
  const same = [...old].reverse().findIndex((line, i) => line !== wanted.at(-1 - i)); // lines after them
  const at = () => page.evaluate(() => document.querySelector('.CodeMirror').CodeMirror.getCursor('head').line);
  const down = async (key, line) => {
    for (let i = 0; i < 100 && await at() < line; i++) await page.keyboard.press(key); // a long line has several rows
  };
  await page.keyboard.press('Control+Home');
  await down('ArrowDown', first);
  await down('Shift+ArrowDown', old.length - same);
  const lines = wanted.slice(first, wanted.length - same);
  for (const [i, line] of lines.entries()) {
    await page.keyboard.type(i ? line.trim() : line);
    await page.keyboard.press('Enter');
  }
}

check('lessons 1 to 3 by keyboard and accessibility tree alone', async () => {
  const lessons = await ferry('serve', '--port', '8865');
  try {
    const page = await stage.open(lessons.url, { reducedMotion: 'reduce' });
    await page.waitForFunction(() => window.ferry?.events.length);
    const named = (role, name) => page.getByRole(role, { name });
    const next = async (name) => {
      await tabTo(page, page.getByRole('navigation', { name: 'Next action' }).getByRole('button', { name, exact: true }));
      await page.keyboard.press('Enter');
    };
    for (const id of ['01-where-am-i', '02-to-returns', '03-round-trip']) {
      await page.waitForFunction((name) => document.getElementById('path').textContent.includes(name) && window.ferry.events.length, id);
      await next('Predict');
      const arrows = await page.locator('.arrow').count();
      assert.equal(await page.evaluate(() => document.activeElement.labels?.[0]?.textContent.trim()), arrows ? 'to the card' : id.startsWith('01') ? 'copies to the card' : 'copies that cross the bus, there and back');
      for (let i = 0; i < (arrows || 2); i++) {
        const chooses = await page.evaluate(() => document.activeElement.tagName === 'SELECT');
        await page.keyboard.press(arrows ? 'Space' : chooses ? 'ArrowDown' : '1');
        await page.keyboard.press('Tab');
      }
      if (arrows) await page.keyboard.press('2');
      await next('Predict');
      await page.getByRole('status').filter({ hasText: /Correct|you said|lines right/ }).waitFor(); // reduced motion: played at once
      await stepsByKeyboard(page);
      await next('Edit');
      const field = named('textbox', 'Your program');
      await page.waitForFunction(() => document.activeElement.getAttribute('aria-label') === 'Your program');
      await page.waitForFunction(() => /your code/.test(document.activeElement.innerText));
      assert.match(await field.innerText(), /your code/);
      await typeOver(page, lesson(id, 'starter.c'), lesson(id, 'solution.c'));
      assert.equal(await written(page), lesson(id, 'solution.c'));
      await page.keyboard.press('Escape');
      await page.keyboard.press('Tab');
      await next('Check');
      await named('heading', 'Passed').waitFor();
      if (id !== '03-round-trip') await next('Next lesson');
    }
    assert.equal(await act(page), 'Next lesson');
    await done(page);
  } finally {
    await lessons.stop();
  }
});
