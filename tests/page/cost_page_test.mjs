// cost_page_test.mjs: what a run cost, in the page of the real server: the findings, a change that is tried, two saved runs, and
// the fare and the weight of a copy.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { bench, check, chooseLesson, done, ferry, program, settle } from './browser.mjs';
import { serve } from './dev.mjs';
import { golden, logs, root } from './logs.mjs';

const stage = bench();
const scene = (name) => `${root}tests/page/scenes/${name}.jsonl`;

/** A page of `ferry view ...names`, with all its findings. */
async function viewed(names, port, options) {
  const server = await ferry('view', ...names.map(scene), '--port', String(port));
  try {
    const page = await stage.open(server.url, options);
    await page.waitForFunction(() => window.ferry?.events.some((e) => e?.kind === 'end'));
    return { page, stop: server.stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

const found = (page) => page.waitForFunction(() => document.getElementById('findings').dataset.state === 'here');
const text = (page, selector) => page.locator(selector).innerText();
const stages = (page) => page.locator('#stage').isVisible();

check('findings are listed and lead to their step and line', async () => {
  const { page, stop } = await viewed(['blocking-copy'], 8960);
  try {
    await found(page);
    const list = page.locator('#finding-list li');
    assert.equal(await list.count(), 2);
    const first = await list.first().innerText();
    for (const part of [/\d µs/, /1 MiB/, /Fix: create it where it is used/, /step \d+, line 6, box picture/]) assert.match(first, part);
    assert.equal(await text(page, '#finding-count'), '2');
    await list.first().locator('.where').focus();
    await page.keyboard.press('Enter');
    await settle(page);
    assert.equal(await text(page, '#lines .lit .number'), '6');
    const step = Number(/step (\d+)/.exec(first)[1]);
    assert.equal(await page.evaluate(() => window.ferry.position.step), step - 1);
    await list.nth(1).locator('.words').click();
    await settle(page);
    assert.equal(await text(page, '#lines .lit .number'), '7');
    await done(page);
  } finally {
    await stop();
  }
});

check('a change is tried by keyboard and left again', async () => {
  const { page, stop } = await viewed(['blocking-copy'], 8962);
  try {
    await found(page);
    const before = await page.evaluate(() => document.getElementById('stage').getBoundingClientRect().height / innerHeight);
    assert.ok(before >= 0.45, `the stage has ${before} of the height`);
    await page.locator('.try').first().focus();
    await page.keyboard.press('Enter');
    await page.locator('#compare').waitFor();
    assert.match(await text(page, '#compare-title'), /^What if: the same run, created on the card$/);
    assert.match(await text(page, '#compare-sum'), /^1 copy fewer, 1 MiB less, [\d.]+ µs sooner\.$/);
    assert.match(await text(page, '#compare-notes'), /modelled/);
    assert.match(await text(page, '#compare-lines'), /line 6[\s\S]*1 copy fewer, 1 MiB less/);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'compare-back');
    assert.equal(await stages(page), false);
    const drawn = (id) => page.evaluate((name) => {
      const canvas = document.getElementById(name);
      return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((v) => v > 0);
    }, id);
    for (const id of ['double-a', 'double-links', 'double-b']) assert.ok(await drawn(id), id);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#compare').isVisible(), false);
    assert.equal(await stages(page), true);
    assert.equal(await page.evaluate(() => document.activeElement.className), 'try');
    await done(page);
  } finally {
    await stop();
  }
});

check('a finding that cannot be tried says why', async () => {
  const { page, stop } = await viewed(['full'], 8974);
  try {
    await found(page);
    const leak = page.locator('#finding-list li', { hasText: 'every iteration leaves' });
    assert.match(await leak.innerText(), /No what-if: .* is not modelled\. .* at most 280 MiB would be allocated on cuda:0 at once, and not 480 MiB\./);
    assert.equal(await leak.locator('.try').count(), 0);
    await done(page);
  } finally {
    await stop();
  }
});

check('the ledger of a changed run is that of ferry whatif', async () => {
  const { page, stop } = await viewed(['two-cards-no-peer'], 8964);
  try {
    await found(page);
    const row = page.locator('#finding-list li', { hasText: 'cannot reach each other' });
    await row.locator('.try').click();
    await page.locator('#compare').waitFor();
    const { spawnSync } = await import('node:child_process');
    const { FERRY } = await import('./browser.mjs');
    const said = spawnSync(FERRY, ['whatif', scene('two-cards-no-peer'), '--peer', 'on'], { encoding: 'utf8' }).stdout;
    const [, was, would] = /total +([\d.]+) +([\d.]+)/.exec(said);
    const cells = await page.locator('#compare-figures tr').first().locator('td').allInnerTexts();
    const us = (words) => parseFloat(words) * (words.endsWith('ms') ? 1000 : words.endsWith('µs') ? 1 : 1e6);
    assert.ok(Math.abs(us(cells[0]) / was - 1) < 0.01 && Math.abs(us(cells[1]) / would - 1) < 0.01, `${cells}, ${was}, ${would}`);
    await done(page);
  } finally {
    await stop();
  }
});

check('two saved runs lie under each other aligned by line', async () => {
  const { page, stop } = await viewed(['two-cards-no-peer', 'two-cards-peer'], 8966);
  try {
    await page.locator('#compare').waitFor();
    assert.equal(await text(page, '#compare-title'), 'two-cards-no-peer.jsonl against two-cards-peer.jsonl');
    assert.match(await text(page, '#compare-sum'), /sooner|later/);
    assert.match(await text(page, '#compare-notes'), /All times are modelled/);
    await page.locator('#compare-lines button').first().click();
    await settle(page);
    await page.evaluate(() => window.ferry.go(window.ferry.events.length - 1));
    await settle(page);
    const at = () => page.evaluate(() => window.ferry.double());
    let places = await at();
    assert.ok(Math.abs(places.a - places.b) < 0.01, JSON.stringify(places));
    assert.ok(places.shift !== 0);
    await page.locator('label', { hasText: 'by time' }).click();
    await page.waitForFunction(() => window.ferry.double().shift === 0);
    places = await at();
    assert.ok(Math.abs(places.a - places.b) > 1, JSON.stringify(places));
    await page.locator('#double').focus();
    const width = (p) => p.b - p.a;
    await page.keyboard.press('w');
    await page.waitForFunction((w) => Math.abs(window.ferry.double().b - window.ferry.double().a) > 1.3 * Math.abs(w), width(places));
    await page.locator('#compare-back').click();
    assert.equal(await stages(page), true);
    await page.locator('#compare-go').click();
    await page.locator('#compare').waitFor();
    await done(page);
  } finally {
    await stop();
  }
});

check('what no variable reaches is not passed over by the findings', async () => {
  const { page, stop } = await viewed(['leak'], 8967);
  try {
    await found(page);
    assert.equal(await text(page, '#finding-note'), 'At the end 12 KiB are leaked: what lines 6, 7, 8 and 10 made was not freed, and no variable holds it any more. Nothing else wasteful or wrong was found in this run.');
    await done(page);
  } finally {
    await stop();
  }
});

check('a run without findings says so plainly', async () => {
  const { page, stop } = await viewed(['views'], 8968, { viewport: { width: 390, height: 844 } });
  try {
    await found(page);
    assert.equal(await text(page, '#finding-note'), 'Nothing wasteful or wrong was found in this run.');
    assert.equal(await page.locator('#compare-with').isVisible(), false);
    await done(page);
  } finally {
    await stop();
  }
});

check('two runs fit on a phone', async () => {
  const { page, stop } = await viewed(['two-cards-no-peer', 'two-cards-peer'], 8970, { viewport: { width: 390, height: 844 } });
  try {
    await page.locator('#compare').waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    const right = await page.evaluate(() => Math.max(...[...document.querySelectorAll('#compare td, #compare h2, #compare button')].map((n) => n.getBoundingClientRect().right)));
    assert.ok(right <= 390, String(right));
    await done(page);
  } finally {
    await stop();
  }
});

check('findings that cannot be had are said', async (t) => {
  const lines = readFileSync(golden('handmade-demo'), 'utf8').split('\n').filter(Boolean);
  const server = await serve({ runs: [{ lines, what: 'view' }], findings: { error: 'no list here' } });
  t.after(() => server.close());
  const page = await stage.open(server.url);
  await page.waitForFunction(() => document.getElementById('findings').dataset.state === 'failed');
  assert.match(await text(page, '#finding-note'), /No findings: the server.s answer has no list of findings/);
  await done(page);
});

check('a change that the server refuses is told', async (t) => {
  const lines = readFileSync(golden('handmade-demo'), 'utf8').split('\n').filter(Boolean);
  const one = { rule: 'leak', weight: 'waste', seq: 3, line: 4, times: 1, ns: 5000, bytes: 0, what: '<b>x</b> leaks', fix: 'free it', try: 'without it' };
  const server = await serve({ runs: [{ lines, what: 'view' }], findings: { clock: 'model', findings: [one] } });
  t.after(() => server.close());
  const page = await stage.open(server.url);
  await found(page);
  assert.match(await text(page, '#finding-list'), /<b>x<\/b> leaks/); // text, never HTML
  await page.locator('.try').click();
  await page.waitForFunction(() => !document.getElementById('notice').hidden);
  assert.match(await text(page, '#notice'), /no such path: \/api\/runs\/1\/whatif\/leak\/3/);
  assert.equal(await page.locator('#compare').isVisible(), false);
  await page.context().close();
});

check('findings wait for the end of a run', async (t) => {
  const lines = readFileSync(golden('handmade-demo'), 'utf8').split('\n').filter(Boolean);
  const server = await serve({ runs: [{ lines: lines.slice(0, 5), what: 'view', ended: false }] });
  t.after(() => server.close());
  const page = await stage.open(server.url);
  await page.waitForFunction(() => window.ferry?.events.length === 5);
  await settle(page);
  assert.equal(await text(page, '#finding-note'), 'When the run has ended.');
  assert.ok(!server.asked.some(({ path }) => path.endsWith('/findings')));
  await done(page);
});

check('a program shown live has its findings when it ends', async () => {
  const live = await program(`#include <ferry.h>
int main(void)
{
    fy_tensor *h = fy_rand((64, 64));
    for (int i = 0; i < 3; i++) {
        h = fy_to(h, "cuda");
        h = fy_to(fy_relu(h), "cpu");
    }
    fy_print(h);
    return 0;
}
`);
  try {
    const page = await stage.open(live.url);
    await found(page);
    assert.match(await text(page, '#finding-list'), /copied back unchanged/);
    await page.context().close();
  } finally {
    await live.stop();
  }
});

check('in a lesson findings wait until the program has passed', async () => {
  const lessons = await ferry('serve', '--port', '8972');
  try {
    const page = await stage.open(lessons.url);
    await page.waitForFunction(() => window.ferry?.events.length);
    await chooseLesson(page, '03-round-trip');
    await page.locator('#run-mine').click();
    await page.locator('#verdict[data-kind="fail"]').waitFor();
    await page.waitForFunction(() => window.ferry.events.some((e) => e?.kind === 'grade'));
    assert.equal(await page.locator('#finding-note').innerText(), 'When your program has passed.');
    assert.equal(await page.locator('.try').count(), 0);
    await done(page);
  } finally {
    await lessons.stop();
  }
});

/** The page of a lesson whose example has run, before the guess: {page, plot: of its text}. */
async function plotOf(t, lesson) {
  const lines = logs().get(`demo-${lesson}`).map((e) => JSON.stringify(e));
  const run = { lines, what: 'demo', lesson };
  const server = await serve({ mode: 'lessons', runs: [run] });
  t.after(() => server.close());
  server.add(run);
  const page = await stage.open(server.url);
  await page.waitForFunction(() => window.ferry?.events.some((e) => e?.kind === 'end'));
  const plot = page.locator('.fare');
  await plot.waitFor({ state: 'attached' });
  return { page, plot };
}

check('page-locking pays from the seventh copy on', async (t) => {
  const { page, plot } = await plotOf(t, '06-page-locked');
  assert.equal(await plot.locator('.bars').isVisible(), false); // the guess comes first
  await page.locator('.predict button', { hasText: 'Just show me' }).click();
  await plot.locator('.bars').waitFor();
  const told = (words) => plot.locator('.told', { hasText: words }).waitFor();
  await told('1 copy: 36.5 µs from ordinary memory, 181 µs with page-locked memory. Page-locking costs 144 µs more.');
  for (const [n, end] of [[6, 'Page-locking costs 12.7 µs more.'], [7, 'Page-locking saves 13.5 µs.']]) {
    await plot.locator('input').fill(String(n));
    await told(end);
  }
  await plot.locator('input').press('ArrowLeft');
  await told('6 copies: ');
  assert.match(await plot.innerText(), /Modelled as NVIDIA H200, not measured\./);
  await done(page);
});

/** The sentences below the bars of a lesson: at first, and when the slider is at n. */
const slide = (lesson, first, n, then) => async (t) => {
  const { page, plot } = await plotOf(t, lesson);
  assert.equal(await plot.locator('.bars').isVisible(), false); // the guess comes first
  await page.locator('.predict button', { hasText: 'Just show me' }).click();
  await plot.locator('.bars').waitFor();
  await plot.locator('.told', { hasText: first }).waitFor();
  await plot.locator('input').fill(String(n));
  await plot.locator('.told', { hasText: then }).waitFor();
  for (const total of await plot.locator('.bars b').allInnerTexts()) assert.ok(then.includes(total), `${total} is in the sentence`);
  await done(page);
};

check('a slider shows what overlapping saves', slide('07-overlap',
  '1 operation takes 12.2 µs, the copy 46 µs: 58.2 µs in turn, 46 µs together. That saves 12.2 µs: all of the operation.', 6,
  '6 operations take 73.2 µs, the copy 46 µs: 119 µs in turn, 73.2 µs together. That saves 46 µs: all of the copy.'));
check('a slider shows what reading in each step costs', slide('08-item',
  '1 step: 28.3 µs with a wait in each, 28.3 µs with one at the end. One step has one wait, either way.', 4,
  '4 steps: 113 µs with a wait in each, 89.2 µs with one at the end. The waits in between cost 24 µs.'));
check('a slider shows what waits do to a timed loop', slide('09-timing',
  '1 step: 17.2 µs with a wait in each', 6, '6 steps: 103 µs with a wait in each, 78.2 µs with one at the end. The waits in between cost 25 µs.'));

check('a slider shows what the detour between cards costs', slide('26-between-cards',
  '1 crossing takes 72.9 µs by way of CPU RAM, and 5.67 µs by one call: 13 times as long.', 4,
  '4 crossings take 292 µs by way of CPU RAM, and 22.7 µs by one call each: 13 times as long.'));

check('the fare and the weight of a copy move under the hand', async (t) => {
  const { page, plot } = await plotOf(t, '03-round-trip');
  assert.match(await plot.innerText(), /after your guess/);
  assert.equal(await page.locator('#finding-note').innerText(), 'After your guess.');
  assert.equal(await page.locator('.fare canvas').isVisible(), false);
  await page.locator('.predict button', { hasText: 'Just show me' }).click();
  await page.locator('.fare canvas').waitFor();
  assert.match(await text(page, '.fare .told'), /^128 KiB take 20\.7 µs: 5 µs fare and 15\.7 µs weight\. The fare is 24 % of it\.$/);
  assert.match(await plot.innerText(), /128 B to the GPU in 5\.02 µs; 128 B to the CPU in 5\.02 µs; 128 KiB to the GPU in 20\.7 µs/);
  assert.match(await plot.innerText(), /Modelled as NVIDIA H200, not measured\./);
  const step = await page.evaluate(() => window.ferry.position.step);
  await page.locator('.fare input').first().focus();
  for (let i = 0; i < 8; i++) await page.keyboard.press('ArrowLeft');
  assert.match(await text(page, '.fare .told'), /^32 KiB take /);
  assert.ok(await page.evaluate((n) => window.ferry.position.step >= n, step)); // the page's own keys did not step back
  await page.locator('.fare input').nth(2).fill('3');
  assert.match(await text(page, '.fare .told'), /: 1 µs fare and/);
  await page.locator('.fare button').click();
  assert.match(await text(page, '.fare .told'), /^128 KiB take 20\.7 µs/);
  await done(page);
});
