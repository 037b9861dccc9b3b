// selection_page_test.mjs: what is chosen in one place is lit in all: its slices in the lanes, its boxes on the stage, its line in
// the code and its rows in the table; from each place where it can be chosen, by mouse and by keyboard.
import assert from 'node:assert/strict';
import { bench, check, done, go, settle } from './browser.mjs';
import { logLines, serve } from './dev.mjs';
import { golden } from './logs.mjs';

const stage = bench();
const COPY = 9; // line 9: `moved` is copied to the card; before it a segment is reserved
const finding = { rule: 'once', seq: COPY, line: 9, weight: 'hint', what: 'A copy.', fix: 'none', ns: 100, bytes: 100, times: 1 };

/** The example, and its findings. */
async function opened(t) {
  const server = await serve({ runs: [{ lines: logLines(golden('demo-01-where-am-i')) }], findings: { clock: 'model', findings: [finding] } });
  t.after(() => server.close());
  return stage.open(server.url);
}

/** A moment when the copy is long over: the step of line 15. */
async function later(page, by) {
  await page.keyboard.press('Escape');
  await go(page, 21);
  const { by: is } = await page.evaluate(() => window.ferry.position);
  if (is !== by) await page.keyboard.press('c');
  await settle(page);
}

// Of each rectangle of a canvas, which share of its upper edge has one of the theme's colours; (x, y) on the page. One reading
// of all pixels: each reading waits for the canvas.
const edges = (page, canvas, list, name) => page.evaluate(([id, rectangles, variable]) => {
  const node = document.getElementById(id);
  const at = node.getBoundingClientRect();
  const scale = node.width / at.width;
  const wanted = getComputedStyle(document.body).getPropertyValue(variable).trim().match(/\w\w/g).map((v) => Number.parseInt(v, 16));
  const { data, width, height } = node.getContext('2d').getImageData(0, 0, node.width, node.height);
  return rectangles.map(({ x, y, w }) => {
    const [px, py] = [(x - at.x) * scale, (y - at.y) * scale].map(Math.round);
    const columns = Math.max(1, Math.round(w * scale));
    const isSame = (column, row) => column >= 0 && column < width && row >= 0 && row < height
      && wanted.every((v, k) => Math.abs(v - data[4 * (row * width + column) + k]) < 12);
    let lit = 0;
    for (let i = px; i < px + columns; i++) if ([-3, -2, -1, 0, 1, 2].some((d) => isSame(i, py + d))) lit++;
    return lit / columns;
  });
}, [canvas, list, name]);

/** What is lit, with the pointer and the focus away: {slices: events, boxes: names, line, rows}. */
async function lit(page) {
  await page.mouse.move(2, 2);
  await page.evaluate(() => document.activeElement.blur());
  if (await page.locator('#events').isVisible()) await page.keyboard.press('t');
  await settle(page);
  const slices = (await page.evaluate(() => window.ferry.slices())).filter((one) => one.count === 1 && one.w > 5);
  const boxes = await page.evaluate(() => window.ferry.boxes());
  const ofSlices = await edges(page, 'lanes-canvas', slices.map((one) => ({ x: one.x + 1, y: one.y - one.h / 2 + 2, w: one.w - 2 })), '--accent');
  const ofBoxes = await edges(page, 'canvas', boxes.map((box) => ({ x: box.pageX + 6, y: box.pageY - 5, w: box.w - 12 })), '--accent');
  const found = {
    slices: [...new Set(slices.filter((_, i) => ofSlices[i] > 0.8).map((one) => one.seq))], boxes: boxes.filter((_, i) => ofBoxes[i] > 0.8).map((box) => box.name),
  };
  await page.keyboard.press('t');
  await settle(page);
  const rest = await page.evaluate(() => ({
    line: Number(document.querySelector('#lines .lit .number')?.textContent), rows: [...document.querySelectorAll('#rows [aria-current]')].map((tr) => Number(tr.dataset.seq)),
  }));
  await page.keyboard.press('t');
  await settle(page);
  return { ...found, ...rest };
}

const ofCopy = (boxes) => ({ slices: [COPY], boxes, line: 9, rows: [6, 7, 8, 9, 10] });

/** In each way of `ways`, by step and by clock: what it does lights exactly `wanted`, until another moment is shown. */
async function lights(t, wanted, ways) {
  const page = await opened(t);
  await later(page, 'step');
  assert.deepEqual((await lit(page)).boxes, [], 'nothing is chosen at first');
  for (const by of ['step', 'clock']) {
    for (const [name, act] of Object.entries(ways)) {
      await later(page, by);
      await act(page);
      await settle(page);
      assert.deepEqual(await lit(page), wanted, `${name}, by ${by}`);
      await page.keyboard.press('ArrowRight');
      await settle(page);
      assert.deepEqual((await lit(page)).slices, [], `${name}, by ${by}: another moment`);
    }
  }
  await done(page);
}

const lineOf = (page) => page.evaluate(() => document.querySelector('#lines .lit .number').textContent);
const sliceOf = (page, seq) => page.evaluate((n) => window.ferry.slices().find((s) => s.seq === n && s.row === 'host'), seq);

check('a slice lights its boxes, line and rows', (t) => lights(t, ofCopy(['rows', 'moved']), {
  async mouse(page) {
    const { x, y, w } = await sliceOf(page, COPY);
    await page.mouse.click(x + w / 2, y);
  },
  async keys(page) {
    await page.locator('#lanes').focus();
    for (let i = 0; i < 9 && await lineOf(page) !== '9'; i++) {
      await page.keyboard.press('ArrowLeft');
      await settle(page);
    }
  },
}));

check('a line lights its slices, boxes and rows', (t) => lights(t, ofCopy(['rows', 'moved']), {
  mouse: (page) => page.locator('#lines li').nth(8).click(),
  async keys(page) {
    for (let i = 0; i < 9 && await lineOf(page) !== '9'; i++) {
      await page.keyboard.press('Shift+ArrowLeft');
      await settle(page);
    }
  },
}));

check('a row lights its slice, boxes and line', (t) => lights(t, ofCopy(['rows', 'moved']), {
  async mouse(page) {
    await page.keyboard.press('t');
    await page.locator(`#rows [data-seq="${COPY}"] button`).click();
  },
  async keys(page) {
    await page.keyboard.press('t');
    await page.locator(`#rows [data-seq="${COPY}"] button`).focus();
    await page.keyboard.press('Enter');
  },
}));

check('a finding lights its slice, boxes, line and rows', (t) => lights(t, ofCopy(['rows', 'moved']), {
  mouse: (page) => page.locator('#finding-list .words').click(),
  async keys(page) {
    await page.locator('#finding-list .where').focus();
    await page.keyboard.press('Enter');
  },
}));

// `rows` was read last by that copy; the moment stays.
const boxOf = (page, name) => page.evaluate((called) => window.ferry.boxes().find((b) => b.name === called), name);

check('a box lights its last slice, line and rows', (t) => lights(t, ofCopy(['rows']), {
  async mouse(page) {
    const { pageX, pageY, w, h } = await boxOf(page, 'rows');
    await page.mouse.click(pageX + w / 2, pageY + h / 2);
  },
  async keys(page) {
    await page.locator(`#spots button[data-storage="${(await boxOf(page, 'rows')).storage}"]`).focus();
    await page.keyboard.press('Enter');
  },
  async letter(page) {
    await page.locator(`#spots button[data-storage="${(await boxOf(page, 'rows')).storage}"]`).focus();
    await page.keyboard.press('i');
  },
  async name(page) {
    const { x, y } = await page.evaluate(() => {
      const box = window.ferry.boxes().find((b) => b.name === 'rows');
      return { x: box.pageX - box.x + box.tag.x + 6, y: box.pageY - box.y + box.tag.y };
    });
    await page.mouse.click(x, y);
  },
}));

check('a box that is chosen keeps the moment, until closed', async (t) => {
  const page = await opened(t);
  await later(page, 'step');
  const before = await page.evaluate(() => window.ferry.position.step);
  const { pageX, pageY, w, h } = await boxOf(page, 'rows');
  await page.mouse.click(pageX + w / 2, pageY + h / 2);
  await settle(page);
  assert.equal(await page.evaluate(() => window.ferry.position.step), before);
  assert.match(await page.locator('#say').innerText(), /moved/);
  await page.keyboard.press('Escape');
  assert.deepEqual([(await lit(page)).boxes, (await lit(page)).line], [[], 15]);
  await done(page);
});

check('a box is clicked before its run is here', async (t) => {
  const server = await serve({ runs: [{ lines: logLines(golden('demo-01-where-am-i')) }] });
  t.after(() => server.close());
  const page = await stage.open(server.url);
  await page.locator('#spots button').first().waitFor({ state: 'attached' });
  server.add({ lines: [], ended: false, what: 'view', label: 'next' });
  await page.waitForFunction(() => document.getElementById('runs').value === '2');
  await page.evaluate(() => document.querySelector('#spots button').click());
  await page.waitForTimeout(50);
  await done(page);
});
