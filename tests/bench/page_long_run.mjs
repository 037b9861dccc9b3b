// page_long_run.mjs: a saved run of a million events, 2,000 tensors alive at any time: opened, sought in, panned, zoomed and
// played by step and by clock, with a mouse.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ferry, open } from '../page/browser.mjs';
import { emptyFrames, frameRows, framesOf, part } from './page_frames.mjs';

const EVENTS = 1e6;
const LIVE = 2000; // tensors at any time
const SEEKS = 300;
const PLAYED = 6000; // ms

/** A run of EVENTS events: tensors of 512 bytes in both memories, each made by an op or a copy, LIVE of them alive. */
function* events() {
  const model = { staging_chunk: 4 << 20, bus_latency: 2000, bus_bandwidth: 5e10 };
  const devices = [{ name: 'cpu', kind: 'cpu', card: 'CPU', capacity: 2 ** 34, model: {} }, { name: 'cuda:0', kind: 'sim', card: 'H200', capacity: 2 ** 37, model }];
  let seq = 0;
  let t = 0;
  let line = 1;
  let [call, untold] = [0, false];
  const event = (kind, fields) => {
    const calls = untold ? [{ id: call, name: 'fy_add', args: 'x, y', file: 'p.c', line, fn: 'main' }] : undefined;
    untold = false;
    return JSON.stringify({ seq: seq++, t, kind, th: 0, calls, ...(call && { call }), ...fields });
  };
  yield event('session', { schema: 2, ferry: '0.1.0', program: 'long', args: [], clock: 'model', seed: 0, devices });
  for (let id = 1; seq < EVENTS - 8; id++) {
    const device = id % 3 ? (id % 2 ? 'cpu' : 'cuda:0') : 'cuda:0';
    const addr = `0x${(0x1000 + 512 * (id % (2 * LIVE))).toString(16)}`;
    t += 100;
    line = 1 + (id % 50);
    [call, untold] = [id, true];
    yield event('alloc', { storage: id, device, mem: 'device', addr, asked: 400, bytes: 512, tenant: 0 });
    yield event('tensor', { tensor: id, name: 'x', storage: id, shape: [10, 10], strides: [10, 1], offset: 0, dtype: 'float32', device });
    t += 500;
    const source = Math.max(1, id - 7);
    if (id % 3) {
      yield event('op', { id, name: 'add', device, stream: 0, in: [{ tensor: source, storage: source, version: 1 }], out: [{ tensor: id, storage: id, version: 1 }], dtype: 'float32', flops: 100, bytes: 800, held: 400 });
      yield event('complete', { id, start: t, end: t + 5000, engine: device === 'cpu' ? 'host' : 'compute', overhead: 400 });
    } else {
      const side = (storage, on) => ({ tensor: storage, storage, device: on, mem: 'device', addr, version: 1 });
      yield event('copy', { id, src: side(source, 'cpu'), dst: side(id, 'cuda:0'), bytes: 400, dir: 'h2d', stream: 0, async: true, was_async: true, route: 'direct', why: 'user', held: 400 });
      yield event('complete', { id, start: t, end: t + 3000, engine: 'h2d', wire: 1000 });
    }
    if (id > LIVE) {
      yield event('drop', { tensor: id - LIVE, why: 'free' });
      yield event('free', { storage: id - LIVE, bytes: 512 });
    }
  }
  yield event('end', { status: 0, live: [] });
}

/** The seconds that parsing all of these lines takes in this page, in pieces that a message can hold. */
async function parsing(page, lines) {
  let ms = 0;
  for (let i = 0; i < lines.length; i += 50000) {
    ms += await page.evaluate((text) => {
      const pieces = text.split('\n');
      const start = performance.now();
      const kept = pieces.map((line) => JSON.parse(line));
      return kept.length && performance.now() - start;
    }, lines.slice(i, i + 50000).join('\n'));
  }
  return ms / 1000;
}

/** The rows of a long run (page.mjs). */
export async function* longRun(browser) {
  const lines = [...events()];
  const folder = mkdtempSync(join(tmpdir(), 'ferry-bench-'));
  writeFileSync(join(folder, 'long.jsonl'), lines.map((line) => `${line}\n`).join(''));
  const server = await ferry('view', join(folder, 'long.jsonl'), '--port', '8850');
  try {
    const page = await open(browser, null, { viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(120000);
    yield* opening(page, server.url, lines);
    yield* seeking(page);
    yield* moving(page, await emptyFrames(browser, PLAYED));
    for (const trouble of page.troubles) throw new Error(trouble);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

async function* opening(page, url, lines) {
  const began = performance.now();
  await page.goto(url);
  const first = page.waitForFunction(() => window.ferry?.boxes().length > 0).then(() => (performance.now() - began) / 1000);
  await page.waitForFunction((n) => window.ferry?.events.length >= n, lines.length);
  const opened = (performance.now() - began) / 1000;
  yield {
    what: 'a million events are open', value: opened, limit: 10, unit: 's',
    beside: [['its first picture', await first], ['JSON.parse alone of the same lines there', await parsing(page, lines)]],
  };
}

async function* seeking(page) {
  await page.evaluate(() => window.ferry.seek(window.ferry.events.at(-1).t)); // folds all of it once
  const seeks = await page.evaluate((n) => {
    const total = window.ferry.events.at(-1).t;
    let x = 12345;
    return Array.from({ length: n }, () => {
      x = (x * 1103515245 + 12345) % 2147483648;
      const start = performance.now();
      window.ferry.seek((total * x) / 2147483648);
      return performance.now() - start;
    }).sort((a, b) => a - b);
  }, SEEKS);
  yield {
    what: `99 % of ${SEEKS} seeks to random times, until drawn`, value: part(seeks, 0.99), limit: 50, unit: 'ms',
    beside: [['median', part(seeks, 0.5)], ['longest', part(seeks, 1)], ['no peer; a refresh', 16.7]],
  };
}

// By step the picture plays at speed 1; by clock all of the run passes in 16 s: some thousand events in a frame.
async function* moving(page, empty) {
  const middle = await page.evaluate(() => window.ferry.events.at(-1).t / 2);
  const box = await page.locator('#lanes-canvas').boundingBox();
  const at = { x: box.x + 0.55 * box.width, y: box.y + 0.6 * box.height };
  const start = async () => {
    await page.evaluate((t) => window.ferry.seek(t), middle);
    await page.waitForFunction(() => window.ferry.idle);
    await page.mouse.move(at.x, at.y);
  };
  const wheel = async (n, by) => {
    for (let i = 0; i < n; i++) await page.mouse.wheel(0, by);
  };
  const zoom = async () => {
    for (let i = 0; i < 3; i++) for (const by of [-120, 120]) await wheel(40, by);
  };
  const drag = async () => {
    for (let i = 0; i < 4; i++) {
      await page.mouse.move(at.x, at.y);
      await page.mouse.down();
      await page.mouse.move(at.x + (i % 2 ? 300 : -300), at.y, { steps: 60 });
      await page.mouse.up();
    }
  };
  await start();
  yield* frameRows('zoom by wheel', await framesOf(page, zoom), empty);
  await start();
  await wheel(20, -120);
  yield* frameRows('pan by hand', await framesOf(page, drag), empty);
  for (const way of ['step', 'clock']) {
    await start();
    await page.locator(`#by-${way}`).check({ force: true });
    await page.waitForFunction(() => window.ferry.idle);
    yield* frameRows(`play by ${way}`, await framesOf(page, async () => {
      await page.locator('#play').click();
      await page.waitForTimeout(PLAYED);
      await page.locator('#play').click();
    }), empty);
  }
}
