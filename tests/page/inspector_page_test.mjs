// inspector_page_test.mjs: the inspector in a browser: how it opens and closes, what it says, and the room that it leaves.
import assert from 'node:assert/strict';
import { DEMO, bench, check, done, go, settle, trace } from './browser.mjs';
import { serve } from './dev.mjs';

const stage = bench();
const pane = (page) => page.locator('#inspector');

async function click(page, name) {
  const box = await page.evaluate((n) => window.ferry.boxes().find((b) => b.name === n), name);
  await page.mouse.click(box.pageX + box.w / 2, box.pageY + box.h / 2);
  await settle(page);
}

// Ferry's first lesson, with values: the result of the log is not written by the program, which prints none of it.
function withValues() {
  const made = stage.demo.events.find((e) => e.kind === 'tensor' && e.name === 'moved');
  const { line, file, fn, t } = stage.demo.events.at(-1);
  const data = Array.from({ length: 16 }, (_, i) => (i === 2 ? 'nan' : i));
  const at = stage.demo.events.length - 1;
  const last = stage.demo.events.findLastIndex((e) => e.kind === 'drop') >= 0 ? stage.demo.events.findIndex((e) => e.kind === 'drop' || e.kind === 'free') : at;
  const read = { t: stage.demo.events[last - 1].t, line: 99, file: file ?? 'a.c', fn: fn ?? 'main', th: 0, tensor: made.tensor, version: 1, first: 0, count: 16 };
  const events = [...stage.demo.events.slice(0, last), { ...read, kind: 'host_read', storage: made.storage, via: 'print' }, { ...read, kind: 'values', data, min: 0, max: 15, mean: 7, nan: 1 }, ...stage.demo.events.slice(last)];
  return { seq: last + 1, made, lines: events.map((e, seq) => JSON.stringify({ ...e, seq, t: e.t ?? t, line: e.line ?? line })) };
}

check('a click on a box opens it, Escape closes it', async () => {
  const page = await stage.open(stage.view.url);
  await go(page, stage.seqOf('copy', (e) => e.dir === 'h2d'));
  assert.equal(await pane(page).isVisible(), false);
  await click(page, 'moved');
  assert.equal(await page.locator('#inspector-title').innerText(), 'moved in GPU VRAM');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'inspector-title');
  const words = await pane(page).innerText();
  const alloc = stage.demo.events.find((e) => e.kind === 'alloc' && e.device === 'cuda:0');
  for (const part of [alloc.addr, 'strides', 'copied to', '1 tensor refers', 'elements 0 to']) assert.ok(words.includes(part), `${part} in ${words}`);
  await page.keyboard.press('Escape');
  await settle(page);
  assert.equal(await pane(page).isVisible(), false);
  assert.equal(await page.evaluate(() => Number(document.activeElement.dataset.storage) > 0), true);
  await done(page);
});

check('it follows the step, and its history goes to events', async () => {
  const page = await stage.open(stage.view.url);
  const copy = stage.seqOf('copy', (e) => e.dir === 'h2d');
  await go(page, stage.demo.events.length - 1);
  await page.evaluate((seq) => window.ferry.go(seq), copy);
  await settle(page);
  await click(page, 'moved');
  assert.equal(await page.locator('.history .later').count() > 0, true);
  await go(page, stage.demo.events.length - 1);
  assert.equal(await page.locator('.history .later').count(), 0);
  await page.locator(`#inspector [data-key="event${copy}"]`).click();
  await settle(page);
  assert.equal(await page.evaluate(() => window.ferry.seq) >= copy, true);
  assert.equal(await page.locator('.history [aria-current]').count() > 0, true);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.key), `event${copy}`);
  await done(page);
});

check('I and a name open the inspector', async () => {
  const page = await stage.open(stage.view.url);
  await go(page, stage.seqOf('copy', (e) => e.dir === 'h2d'));
  await page.keyboard.press('i');
  await settle(page);
  assert.equal(await page.locator('#inspector-title').innerText(), 'moved in GPU VRAM');
  await page.keyboard.press('Escape');
  await settle(page);
  const label = await page.evaluate(() => {
    const box = window.ferry.boxes().find((b) => b.name === 'moved');
    const tag = box.tags.find((one) => one.label);
    return { x: box.pageX - box.x + tag.label.x + 6, y: box.pageY - box.y + tag.label.y };
  });
  await page.mouse.click(label.x, label.y);
  await settle(page);
  assert.equal(await pane(page).isVisible(), true);
  await done(page);
});

check('values, NaN and a histogram are text and picture', async () => {
  const { lines, seq, made } = withValues();
  const server = await serve({ runs: [{ lines }] });
  const page = await stage.open(server.url);
  await go(page, seq);
  await click(page, made.name);
  const words = await pane(page).innerText();
  assert.match(words, /As printed at line 99/);
  assert.equal(await page.locator('#inspector td.nan').first().innerText(), 'NaN');
  assert.equal(await page.locator('#inspector td.nan').first().getAttribute('title'), made.shape.length > 1 ? '[0, 2]: not a number' : '[2]: not a number');
  assert.match(await page.locator('#inspector .bins div').getAttribute('aria-label'), /^Histogram: \d+ from 0/);
  const drawn = await page.locator('#inspector canvas').evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.some((v, i) => i % 4 === 3 && v > 0);
  });
  assert.ok(drawn, 'the storage is drawn in the pane');
  await done(page);
  await server.close();
});

check('by clock, a result comes when its work is done', async (t) => {
  const { lines, events, remove } = trace(DEMO, { FERRY_VALUES: '1' });
  const server = await serve({ runs: [{ lines }] });
  t.after(() => server.close() && remove());
  const page = await stage.open(server.url);
  const seq = events.findIndex((e) => e.kind === 'copy' && e.dir === 'h2d');
  const { end } = events.find((e) => e.kind === 'complete' && e.id === events[seq].id);
  await go(page, seq);
  await click(page, 'moved');
  const words = async (at) => {
    await page.evaluate((time) => window.ferry.seek(time), at);
    await settle(page);
    return pane(page).innerText();
  };
  assert.match(await words(end - 100), /Line \d+ writes them until/);
  assert.match(await words(end), /As copied at line \d+/);
  assert.match(await words(end), /Histogram|values in 16 bins/);
  assert.match(await words(end - 100), /Line \d+ writes them until/);
  await done(page);
});

check('of work without an end the inspector names none', async (t) => {
  const lines = stage.demo.events.filter((e) => e.kind !== 'complete').map((e, seq) => JSON.stringify({ ...e, seq })); // as of a run that was killed
  const server = await serve({ runs: [{ lines }] });
  t.after(() => server.close());
  const page = await stage.open(server.url);
  await go(page, lines.findIndex((line) => line.includes('"h2d"')));
  await click(page, 'moved');
  assert.match(await pane(page).innerText(), /Line \d+ writes them; the log does not say until when\./);
  await done(page);
});

check('where values are missing, it says how to get them', async () => {
  const page = await stage.open(stage.view.url);
  await go(page, stage.seqOf('copy', (e) => e.dir === 'h2d'));
  await click(page, 'moved');
  assert.match(await pane(page).innerText(), /with FERRY_VALUES=1, and not on a real card, every result/);
  await done(page);
});

check('in a lesson it stands in the column until its next action', async () => {
  const server = await serve({ mode: 'lessons', runs: [{ lines: stage.demo.lines, what: 'demo', lesson: DEMO }] });
  const page = await stage.open(server.url);
  await go(page, stage.seqOf('copy', (e) => e.dir === 'h2d'));
  await click(page, 'moved');
  const before = await page.locator('#stage').boundingBox();
  assert.equal(await page.locator('#lesson-text').isVisible(), false);
  assert.equal(await page.locator('.history .later').count(), 0, 'what comes later is to be guessed');
  await page.locator('#act').click();
  assert.equal(await pane(page).isVisible(), false);
  assert.equal(await page.locator('#lesson-text').isVisible(), true);
  assert.equal((await page.locator('#stage').boundingBox()).width, before.width);
  await done(page);
  await server.close();
});

check('the stage keeps its height beside the inspector', async () => {
  for (const [width, height, least] of [[1440, 900, 0.45], [1024, 768, 0.3]]) {
    const page = await stage.open(stage.view.url, { viewport: { width, height } });
    await go(page, stage.seqOf('copy', (e) => e.dir === 'h2d'));
    await click(page, 'moved');
    const seen = await page.evaluate(() => {
      const [a, b] = ['stage', 'inspector'].map((id) => document.getElementById(id).getBoundingClientRect());
      return { share: a.height / innerHeight, apart: a.right <= b.left || b.right <= a.left, wider: a.width > b.width, wide: document.documentElement.scrollWidth - innerWidth };
    });
    assert.ok(seen.share >= least && seen.apart && seen.wider && seen.wide <= 0, `${width}: ${JSON.stringify(seen)}`);
    await done(page);
  }
});

check('on a phone it comes from below, not too wide', async () => {
  const page = await stage.open(stage.view.url, { viewport: { width: 390, height: 844 } });
  await go(page, stage.seqOf('copy', (e) => e.dir === 'h2d'));
  await page.keyboard.press('i');
  await settle(page);
  const { top, wide, stage: picture, bar, next } = await page.evaluate(() => {
    const box = (q) => document.querySelector(q).getBoundingClientRect();
    return { top: box('#inspector').top, wide: document.documentElement.scrollWidth - innerWidth, stage: box('#stage').height, bar: box('.bar').bottom, next: box('#stage').bottom };
  });
  assert.ok(top > 400 && wide <= 0, `${top} ${wide}`);
  assert.ok(picture > 250 && next <= top && bar <= top, `the picture and the controls are not covered: ${[picture, next, bar, top]}`);
  await done(page);
});
