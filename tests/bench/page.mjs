// page.mjs: what the page costs with a million events, in Chromium. `make bench-page`. Each figure stands beside its goal
// and another figure of the same run, a peer where there is one; ends in `N goals met, N missed, N not measured`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ferry, launch, missing, open } from '../page/browser.mjs';

const EVENTS = 1e6;
const LIVE = 2000; // tensors at any time
const SEEKS = 300;

const rows = [];
const measured = (what, value, limit, unit, beside) => rows.push({ what, value, limit, unit, beside });
const unmeasured = (what, why) => rows.push({ what, why });

/** A run of EVENTS events: tensors of 512 bytes in both memories, each made by an op or a copy, LIVE of them alive. */
function* longRun() {
  const model = { staging_chunk: 4 << 20, bus_latency: 2000, bus_bandwidth: 5e10 };
  const devices = [{ name: 'cpu', kind: 'cpu', card: 'CPU', capacity: 2 ** 34, model: {} }, { name: 'cuda:0', kind: 'sim', card: 'H200', capacity: 2 ** 37, model }];
  let seq = 0;
  let t = 0;
  let line = 1;
  const event = (kind, fields) => JSON.stringify({ seq: seq++, t, kind, th: 0, file: 'p.c', line, fn: 'main', ...fields });
  yield event('session', { schema: 1, ferry: '0.1.0', program: 'long', args: [], clock: 'model', seed: 0, devices });
  for (let id = 1; seq < EVENTS - 8; id++) {
    const device = id % 3 ? (id % 2 ? 'cpu' : 'cuda:0') : 'cuda:0';
    const addr = `0x${(0x1000 + 512 * (id % (2 * LIVE))).toString(16)}`;
    t += 100;
    line = 1 + (id % 50); // of one call
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

async function measure(browser) {
  const lines = [...longRun()];
  const folder = mkdtempSync(join(tmpdir(), 'ferry-bench-'));
  writeFileSync(join(folder, 'long.jsonl'), lines.map((line) => `${line}\n`).join(''));
  const server = await ferry('view', join(folder, 'long.jsonl'), '--port', '8850');
  const page = await open(browser, null, { viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(120000);
  const began = performance.now();
  await page.goto(server.url);
  await page.waitForFunction((n) => window.ferry?.events.length >= n, lines.length);
  const opened = (performance.now() - began) / 1000;
  measured('open a million events', opened, 10, 's', ['peer, JSON.parse alone of the same lines in the same browser', await parsing(page, lines)]);
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
  measured(`seek to one of ${SEEKS} random times, 99 % of them`, seeks[Math.floor(SEEKS * 0.99) - 1], 50, 'ms', ['median, no peer', seeks[SEEKS >> 1]]);
  await page.context().close();
  await server.stop();
  rmSync(folder, { recursive: true });
}

if (missing) {
  unmeasured('open a million events', missing);
  unmeasured('seek', missing);
} else {
  const browser = await launch();
  try {
    await measure(browser);
  } finally {
    await browser.close();
  }
}
unmeasured('pan, zoom and play with 2,000 live tensors', 'no such run yet');
unmeasured('a live stream of 100,000 events a second', 'no such run yet');
unmeasured('an endless loop is stopped and shown', 'no such run yet');
unmeasured('event to pixel', 'no such run yet');

const short = (value) => value.toPrecision(3);
let [met, missed, none] = [0, 0, 0];
for (const { what, value, limit, unit, beside, why } of rows) {
  if (why) none++;
  else if (value < limit) met++;
  else missed++;
  console.log(why ? `not measured  ${what}: ${why}`
    : `${value < limit ? 'met   ' : 'missed'}        ${what}: ${short(value)} ${unit}, goal ${limit}; ${beside[0]}: ${short(beside[1])} ${unit}`);
}
console.log(`${met} goals met, ${missed} missed, ${none} not measured`);
