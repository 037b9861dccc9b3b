// arrows_test.mjs: copies that a learner draws before a run, against the trace; the drawing itself in a browser.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { compared, copyCounts } from '../../www/lessons/arrows.js';
import { bench, check, done } from './browser.mjs';
import { serve } from './dev.mjs';
import { golden, root, placed } from './logs.mjs';

const LESSON = '02-to-returns';
const ROWS = ['there = fy_to(here, "cuda")', 'again = fy_to(there, "cuda")', 'total = fy_sum(again)', 'back = fy_cpu(total)'];
const log = (id) => placed(readFileSync(golden(`demo-${id}`), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)));
const sourcesOf = (events) => new Map(events.filter((e) => e.kind === 'source').map((e) => [e.path, e.text]));
const truth = (id = LESSON, rows = ROWS) => copyCounts(rows, sourcesOf(log(id)), log(id));

test('the trace says which lines copied, and which way', () => {
  assert.deepEqual(truth(), {
    rows: [{ line: 8, way: 'h2d', bytes: 8192 }, { line: 9, way: 'none', bytes: 0 }, { line: 10, way: 'none', bytes: 0 }, { line: 11, way: 'd2h', bytes: 4 }],
    others: [],
  });
  assert.deepEqual(truth(LESSON, ROWS.slice(0, 3)).others, [11]);
});

test('what was forgotten and what never happened is told', () => {
  assert.deepEqual(compared(['h2d', 'none', 'none', 'd2h'], truth()), { right: true, words: 'All 4 lines right.' });
  assert.equal(compared(['none', 'h2d', 'd2h', 'h2d'], truth()).words,
    '0 of 4 lines right. You forgot a copy: line 8. A copy that you drew never happened: line 9, 10. A copy went the other way: line 11.');
  assert.equal(compared(['h2d', 'none', 'none'], truth(LESSON, ROWS.slice(0, 3))).words, 'All 3 lines right. Not asked about, but copied: line 11.');
});

test('each line a lesson asks about is in its example', () => {
  let asked = 0;
  for (const id of readdirSync(`${root}/lessons`).filter((name) => existsSync(`${root}/lessons/${name}/demo.c`))) {
    const [, block] = /^```arrows\n([\s\S]*?)^```$/m.exec(readFileSync(`${root}/lessons/${id}/README.md`, 'utf8')) ?? [];
    if (!block) continue;
    asked++;
    const rows = block.trim().split('\n');
    const { rows: told, others } = truth(id, rows);
    assert.ok(told.every(({ line }) => line > 0), `${id}: ${JSON.stringify(told)}`);
    assert.deepEqual(others, [], id);
    for (const { line } of told) assert.ok(log(id).filter((e) => e.kind === 'copy' && e.line === line).length < 2, `${id}, line ${line}`);
  }
  assert.ok(asked > 0);
});

// ---- in a browser -------------------------------------------------------------------------------------

const stage = bench();

async function opened(t, options = {}) {
  const server = await serve({ mode: 'lessons', runs: [{ lines: log(LESSON).map((e) => JSON.stringify(e)), what: 'demo', lesson: LESSON }] });
  t.after(() => server.close());
  const page = await stage.open(`${server.url}&lesson=${LESSON}`, { reducedMotion: 'reduce', ...options });
  await page.waitForFunction(() => document.querySelectorAll('.arrow').length === 4 && window.ferry.events.length);
  return page;
}

const ways = (page) => page.evaluate(() => [...document.querySelectorAll('.arrow')].map((row) => row.querySelector('.mine').dataset.way ?? ''));
const toEnd = async (page) => {
  await page.evaluate(() => window.ferry.go(window.ferry.events.length - 1));
  await page.waitForFunction(() => /lines right/.test(document.querySelector('.predict .answer').textContent));
};
const verdictOf = (page) => page.locator('.predict .answer').innerText();

async function drag(page, i, from, to) {
  const strip = page.locator('.arrow .lane').nth(i);
  await strip.scrollIntoViewIfNeeded();
  const box = await strip.boundingBox();
  await page.mouse.move(box.x + from * box.width, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + to * box.width, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
}

check('a copy is drawn from one memory to the other', async (t) => {
  const page = await opened(t);
  assert.equal(await page.locator('.predict').innerText().then((words) => /```|copies to the card/.test(words)), false);
  await drag(page, 0, 0.1, 0.9);
  await drag(page, 1, 0.1, 0.9);
  await drag(page, 2, 0.1, 0.9);
  await drag(page, 2, 0.9, 0.8); // taken back
  await drag(page, 3, 0.9, 0.1);
  await page.locator('.predict input[type=number]').fill('3');
  assert.deepEqual(await ways(page), ['h2d', 'h2d', 'none', 'd2h']);
  await page.locator('#act').click();
  await page.waitForFunction(() => !/\?/.test(document.getElementById('figures').textContent));
  await toEnd(page);
  assert.equal(await verdictOf(page), '3 of 4 lines right. A copy that you drew never happened: line 9. tensors after the second fy_to: you said 3; it is 2. Step back and look there.');
  assert.deepEqual(await page.locator('.arrow .small').allInnerTexts(),
    ['Line 8, as you drew: 8 KiB to the card.', 'Line 9, not as you drew: no copy.', 'Line 10, as you drew: no copy.', 'Line 11, as you drew: 4 B to the CPU.']);
  assert.deepEqual(await page.locator('.arrow .truth:visible').count(), 2);
  await done(page);
});

check('a finger draws the same arrow', async (t) => {
  const page = await opened(t, { hasTouch: true, viewport: { width: 390, height: 844 } });
  await page.locator('#tab-learn').click();
  const strip = page.locator('.arrow .lane').first();
  await strip.scrollIntoViewIfNeeded();
  const box = await strip.boundingBox();
  const client = await page.context().newCDPSession(page);
  const touch = (type, at) => client.send('Input.dispatchTouchEvent', { type, touchPoints: at === undefined ? [] : [{ x: box.x + at * box.width, y: box.y + box.height / 2 }] });
  await touch('touchStart', 0.1);
  for (const at of [0.3, 0.6, 0.9]) await touch('touchMove', at);
  await touch('touchEnd');
  assert.equal((await ways(page))[0], 'h2d');
  await done(page);
});

check('the keyboard draws arrows, and leads to missing ones', async (t) => {
  const page = await opened(t);
  const choice = (code, name) => page.getByRole('group', { name: code }).getByRole('radio', { name });
  await page.locator('#act').click();
  assert.ok(await choice(ROWS[0], 'to the card').evaluate((node) => node === document.activeElement));
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  assert.deepEqual(await ways(page), ['none', 'h2d', '', '']);
  await choice(ROWS[2], 'no copy').press('Space');
  await page.locator('#act').click();
  assert.ok(await choice(ROWS[3], 'to the card').evaluate((node) => node === document.activeElement));
  await choice(ROWS[3], 'to the CPU').press('Space');
  await page.keyboard.press('Tab');
  await page.keyboard.type('2');
  await page.keyboard.press('Enter');
  await toEnd(page);
  assert.match(await verdictOf(page), /^2 of 4 lines right. You forgot a copy: line 8. A copy that you drew never happened: line 9\./);
  await done(page);
});
