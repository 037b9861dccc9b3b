// sight_page_test.mjs: what the page draws is told apart by every eye that sight.mjs simulates, light and dark: by colour
// or by pattern, in the canvas's own pixels. sight_test.mjs looks at the colours that it is drawn with.
import assert from 'node:assert/strict';
import { bench, check, done, go, settle } from './browser.mjs';
import { serve } from './dev.mjs';
import { logs } from './logs.mjs';
import * as mishaps from './mishaps.mjs';
import { EYES, apart } from './sight.mjs';

const stage = bench();
const CLEAR = 10; // CIEDE2000, as in sight_test.mjs
const ENOUGH = 0.1; // of an area's pixels must be unlike the other's

const logOf = (name) => (logs().get(name) ?? mishaps.scene(name));

/** For each theme a page with these events. */
async function eachTheme(t, events, look) {
  const server = await serve({ runs: [{ lines: events.map((e) => JSON.stringify(e)) }] });
  t.after(() => server.close());
  for (const colorScheme of ['light', 'dark']) {
    const page = await stage.open(server.url, { colorScheme, reducedMotion: 'reduce' });
    await page.waitForFunction((n) => window.ferry?.events.length >= n, events.length);
    await look(page, colorScheme);
    await done(page);
  }
}

/** The colours of a rectangle of the page on a canvas: {"#rrggbb": pixels}. */
const coloursIn = (page, rect, id = 'canvas') => page.evaluate(({ x, y, w, h, id: of }) => {
  const canvas = document.getElementById(of);
  const at = canvas.getBoundingClientRect();
  const scale = canvas.width / at.width;
  const px = (v) => Math.round(v * scale);
  const { data } = canvas.getContext('2d').getImageData(px(x - at.x), px(y - at.y), Math.max(1, px(w)), Math.max(1, px(h)));
  const found = {};
  for (let i = 0; i < data.length; i += 4) {
    const hex = `#${[0, 1, 2].map((k) => data[i + k].toString(16).padStart(2, '0')).join('')}`;
    found[hex] = (found[hex] ?? 0) + 1;
  }
  return found;
}, { ...rect, id });

const count = (colours) => Object.values(colours).reduce((sum, n) => sum + n, 0);

/** The part of an area's pixels that lies far, for an eye, from each colour that the other has much of. */
function unlike(eye, area, other) {
  const much = Object.keys(other).filter((hex) => other[hex] >= 0.02 * count(other));
  const odd = Object.keys(area).filter((hex) => much.every((one) => apart(eye, hex, one) > CLEAR));
  return odd.reduce((sum, hex) => sum + area[hex], 0) / count(area);
}

function toldApart(a, b, what) {
  for (const eye of Object.keys(EYES)) {
    const by = Math.max(unlike(eye, a, b), unlike(eye, b, a));
    assert.ok(by >= ENOUGH, `${what}, ${eye}: ${by.toFixed(3)} of the pixels`);
  }
}

const boxes = (page) => page.evaluate(() => window.ferry.boxes());
const boxOf = async (page, name, device) => (await boxes(page)).find((b) => b.name === name && b.device === device);
/** A part of a box without its band and edges: from and to, 0 to 1. */
const inner = (box, from = 0, to = 1) => {
  const [x, w] = [box.pageX + 14, box.w - 16];
  return { x: x + w * from, y: box.pageY + 2, w: w * (to - from), h: box.h - 4 };
};
const seek = async (page, t) => {
  await page.evaluate((at) => window.ferry.seek(at), t);
  await settle(page);
};

// Slices of other kinds that touch in a row, or lie under each other in two. Both lines about reserved memory are one kind.
function neighbours(slices, kindOf) {
  const beside = (a, b) => a.row === b.row && Math.min(Math.abs(a.x + a.w - b.x), Math.abs(b.x + b.w - a.x)) < 30;
  const under = (a, b) => a.row !== b.row && Math.abs(a.y - b.y) < 2.5 * a.h && a.x < b.x + b.w && b.x < a.x + a.w;
  return slices.flatMap((a, i) => slices.slice(0, i).filter((b) => kindOf(a) !== kindOf(b) && (beside(a, b) || under(a, b))).map((b) => [a, b]));
}

check('copies, kernels and waits differ for every eye', async (t) => {
  for (const name of ['demo-01-where-am-i', 'overlap', 'pinned-overlap', 'blocking-copy']) {
    const events = logOf(name);
    const kindOf = ({ seq }) => events[seq].kind.replace(/^segment.*/, 'segment');
    await eachTheme(t, events, async (page, theme) => {
      await go(page, events.length - 1);
      const { x: left, width } = await page.locator('#lanes-canvas').boundingBox();
      const seen = (await page.evaluate(() => window.ferry.slices())).filter((one) => one.count === 1 && one.w > 12 && one.x > left && one.x + one.w < left + width);
      const pairs = neighbours(seen, kindOf);
      assert.ok(pairs.length > 2, name);
      const within = ({ x, y, w, h }) => ({ x: x + 1.5, y: y - h / 2 + 3, w: w - 3, h: h - 6 });
      const known = new Map();
      for (const one of pairs.flat()) if (!known.has(one)) known.set(one, await coloursIn(page, within(one), 'lanes-canvas'));
      for (const [a, b] of pairs) toldApart(known.get(a), known.get(b), `${name}, ${theme}: ${kindOf(a)} ${a.seq} in ${a.row} and ${kindOf(b)} ${b.seq} in ${b.row}`);
    });
  }
});

check('past and future differ for every eye', async (t) => {
  const ends = (engine) => stage.demo.events.findLast((e) => e.kind === 'complete' && e.engine === engine);
  const seqOf = (kind, id) => stage.demo.events.find((e) => e.kind === kind && e.id === id).seq;
  await eachTheme(t, stage.demo.events, async (page, theme) => {
    for (const [kind, { id, start, end }] of [['copy', ends('h2d')], ['op', ends('compute')]]) {
      await seek(page, (start + end) / 2);
      const slices = (await page.evaluate(() => window.ferry.slices())).filter((one) => one.seq === seqOf(kind, id) && /cuda/.test(one.row));
      assert.ok(slices.length > 0, `${kind}, ${theme}`);
      for (const { x, y, w, h, row } of slices) {
        const half = (from, to) => coloursIn(page, { x: x + 9 + (w - 12) * from, y: y - h / 2 + 3, w: (w - 12) * (to - from), h: h - 6 }, 'lanes-canvas');
        toldApart(await half(0, 0.45), await half(0.55, 1), `${kind} in ${row}, ${theme}`);
      }
    }
  });
});

/** Is there a line of a colour of its own between what lies left and right of x, at which each eye sees it? */
async function edgeSeen(page, box, x, what) {
  const part = (from, w) => coloursIn(page, { x: from, y: box.pageY + box.h - 9, w, h: 5 }); // under the words
  const [edge, left, right] = [await part(x - 0.5, 1), await part(x - 12, 8), await part(x + 5, 8)];
  for (const side of [left, right]) for (const eye of Object.keys(EYES)) assert.ok(unlike(eye, edge, side) > 0.9, `${what}, ${eye}`);
}

// An empty part has a dashed outline and no band; where older contents are replaced, these are hatched.
check('arrived and missing bytes differ for every eye', async (t) => {
  const { end, wire } = stage.demo.events.find((e) => e.kind === 'complete' && e.engine === 'h2d');
  await eachTheme(t, stage.demo.events, async (page, theme) => {
    await seek(page, end - wire / 2);
    const box = await boxOf(page, 'moved', 'cuda:0');
    const outline = (from, to) => coloursIn(page, { x: box.pageX + box.w * from, y: box.pageY + box.h - 1, w: box.w * (to - from), h: 2 });
    toldApart(await outline(0.1, 0.45), await outline(0.55, 0.9), `the outline of an empty box, ${theme}`);
    await edgeSeen(page, box, box.pageX + box.w / 2, `the edge in an empty box, ${theme}`);
  });
  await eachTheme(t, logOf('overlap'), async (page, theme) => {
    await seek(page, 7940000);
    const [{ dst, part }] = await page.evaluate(() => window.ferry.works().filter((w) => w.type === 'copy' && w.phase === 'running'));
    const box = (await boxes(page)).find((b) => b.storage === dst);
    toldApart(await coloursIn(page, inner(box, 0, part - 0.05)), await coloursIn(page, inner(box, part + 0.1)), `of a full box, ${theme}`);
  });
});

check('how far a kernel is differs for every eye', async (t) => {
  await eachTheme(t, logOf('overlap'), async (page, theme) => {
    await seek(page, 7940000);
    const { m } = await page.evaluate(() => window.ferry.works().find((w) => w.type === 'op' && w.phase === 'running'));
    const [box] = (await boxes(page)).filter((b) => b.device !== 'cpu');
    const { x, width, y, height } = await page.locator('#canvas').boundingBox();
    const [left, w] = [box.pageX, x + width - 20 - box.pageX]; // the bar of the cores is as wide as its memory
    const bar = (from, to) => coloursIn(page, { x: left + w * from, y: y + height - 18, w: w * (to - from), h: 4 }); // under its words
    toldApart(await bar(0.05, m - 0.02), await bar(m + 0.02, 0.95), theme);
  });
});

check('an older copy differs for every eye', async (t) => {
  await eachTheme(t, mishaps.older, async (page, theme) => {
    await go(page, mishaps.older.findIndex((e) => e.kind === 'host_write'));
    const [old, same] = [await boxOf(page, 'w', 'cuda:0'), await boxOf(page, 'z', 'cuda:0')];
    assert.deepEqual([old.older, same.older], ['x', '']);
    const outside = { x: 0.55, to: 1 }; // right of the words
    const stale = await coloursIn(page, inner(old, outside.x, outside.to));
    await go(page, mishaps.older.findLastIndex((e) => e.kind === 'complete')); // the same box before
    toldApart(stale, await coloursIn(page, inner(old, outside.x, outside.to)), theme);
  });
});

check('the red of errors differs for every eye', async (t) => {
  const events = mishaps.scene('mismatch');
  const at = events.findIndex((e) => e.kind === 'error');
  await eachTheme(t, events, async (page, theme) => {
    await go(page, at);
    const bad = await page.evaluate(() => getComputedStyle(document.body).getPropertyValue('--bad').trim());
    for (const box of await boxes(page)) {
      const frame = await coloursIn(page, { x: box.pageX, y: box.pageY - 7, w: box.w, h: 6 });
      const around = { ...await coloursIn(page, { x: box.pageX - 1, y: box.pageY - 1, w: box.w + 2, h: box.h + 2 }), ...await coloursIn(page, { x: box.pageX, y: box.pageY - 14, w: box.w, h: 5 }) };
      assert.ok(frame[bad] > box.w * 0.5, `${box.name} is framed in ${bad}`);
      toldApart({ [bad]: 1 }, around, `the frame of ${box.name} and what it lies on, ${theme}`);
    }
  });
});
