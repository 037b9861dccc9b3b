// perfetto_test.mjs: `ferry export --perfetto`, held to the rules of Perfetto's importer of Chrome traces and to the log
// that it is of: each row properly nested, each flow and lifetime in pairs, each byte counted once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { FERRY } from './browser.mjs';
import { golden, root, placed } from './logs.mjs';
import { readFileSync } from 'node:fs';

const skip = existsSync(FERRY) ? false : `${FERRY} is not built`;
const check = (name, run) => test(name, { skip }, run);

const GOLDEN = ['overlap', 'handmade-demo', 'handmade-killed'].map(golden).filter(existsSync);
const SCENES = readdirSync(`${root}tests/page/scenes`).filter((f) => f.endsWith('.jsonl')).map((f) => `${root}tests/page/scenes/${f}`);

const eventsOf = (path) => placed(readFileSync(path, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)));
const traceOf = (path) => JSON.parse(execFileSync(FERRY, ['export', path, '--perfetto', '-o', '-'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 }));

const known = new Map();
const traces = () => {
  for (const path of [...GOLDEN, ...SCENES]) {
    if (known.has(path)) continue;
    try {
      known.set(path, traceOf(path));
    } catch {} // a log without its values is refused, as by `ferry view`
  }
  return [...known].map(([path, trace]) => ({ path, trace, log: eventsOf(path), all: trace.traceEvents }));
};

const ns = (us) => Math.round(us * 1000);
const rowOf = (e) => `${e.pid}/${e.tid}`;
const PHASES = { M: ['name', 'args'], X: ['ts', 'dur', 'name', 'cat', 'args'], C: ['ts', 'name', 'args'], b: ['ts', 'cat', 'id', 'name'], e: ['ts', 'cat', 'id', 'name'], s: ['ts', 'cat', 'id', 'name'], f: ['ts', 'cat', 'id', 'name', 'bp'], i: ['ts', 's', 'name'] };
const METADATA = ['process_name', 'thread_name', 'process_sort_index', 'thread_sort_index'];

check('every log becomes a trace of events that Perfetto reads', () => {
  assert.ok(traces().length >= 8);
  for (const { path, all } of traces()) {
    for (const e of all) {
      assert.ok(Object.hasOwn(PHASES, e.ph), `${path}: phase ${e.ph}`);
      for (const key of ['pid', 'tid', ...PHASES[e.ph]]) assert.notEqual(e[key], undefined, `${path}: ${key} of ${JSON.stringify(e)}`);
      for (const key of ['ts', 'dur']) if (key in e) assert.ok(Number.isFinite(e[key]) && e[key] >= 0 && e[key] < 1e12, `${path}: ${key} ${e[key]}`);
      if (e.ph === 'M') assert.ok(METADATA.includes(e.name), e.name);
    }
    const named = new Set(all.filter((e) => e.name === 'thread_name').map(rowOf));
    for (const e of all.filter((one) => one.ph === 'X')) assert.ok(named.has(rowOf(e)), `${path}: row ${rowOf(e)} has no name`);
  }
});

check('no two slices of a row overlap', () => {
  for (const { path, all } of traces()) {
    const rows = Map.groupBy ? Map.groupBy(all.filter((e) => e.ph === 'X'), rowOf) : all.filter((e) => e.ph === 'X').reduce((m, e) => m.set(rowOf(e), [...(m.get(rowOf(e)) ?? []), e]), new Map());
    for (const [row, slices] of rows) {
      const sorted = slices.sort((a, b) => a.ts - b.ts || a.dur - b.dur);
      for (let i = 1; i < sorted.length; i++) assert.ok(ns(sorted[i].ts) >= ns(sorted[i - 1].ts) + ns(sorted[i - 1].dur), `${path}: row ${row}: ${JSON.stringify(sorted[i])}`);
    }
  }
});

check('each flow begins and ends on a slice, and never goes back', () => {
  let launches = 0;
  let waits = 0;
  for (const { path, all } of traces()) {
    const slices = all.filter((e) => e.ph === 'X');
    const on = (end) => slices.some((x) => rowOf(x) === rowOf(end) && ns(x.ts) <= ns(end.ts) && ns(end.ts) <= ns(x.ts) + ns(x.dur));
    for (const from of all.filter((e) => e.ph === 's')) {
      const to = all.filter((e) => e.ph === 'f' && e.id === from.id);
      assert.equal(to.length, 1, `${path}: flow ${from.id}`);
      assert.deepEqual([to[0].cat, to[0].name, to[0].bp], [from.cat, from.name, 'e']);
      assert.ok(on(from) && on(to[0]), `${path}: flow ${from.id} hangs in the air`);
      assert.ok(to[0].ts >= from.ts, `${path}: flow ${from.id} goes back`);
      if (from.cat === 'ac2g') launches++;
      if (from.cat === 'event') waits++;
    }
    assert.equal(all.filter((e) => e.ph === 'f').length, all.filter((e) => e.ph === 's').length);
  }
  assert.ok(launches > 20 && waits >= 4, `${launches} launches, ${waits} waits`);
});

check('copies are those of the log, under the names of Kineto', () => {
  for (const { path, log, all } of traces()) {
    const done = new Map(log.filter((e) => e.kind === 'complete').map((e) => [e.id, e]));
    const copies = log.filter((e) => e.kind === 'copy' && e.dir !== 'h2h' && done.has(e.id));
    const found = all.filter((e) => e.cat === 'gpu_memcpy');
    assert.equal(found.length, copies.length, path);
    for (const copy of copies) {
      const slice = found.find((e) => e.args.correlation === copy.id);
      assert.match(slice.name, /^Memcpy (HtoD|DtoH|DtoD|PtoP) \((Pageable|Pinned|Device|Unknown) -> (Pageable|Pinned|Device|Unknown)\)$/);
      assert.equal(slice.args.bytes, copy.bytes);
      assert.equal(slice.args['ferry event'], copy.seq);
      assert.equal(ns(slice.ts + slice.dur), done.get(copy.id).end, path);
    }
    const kernels = log.filter((e) => e.kind === 'op' && e.device !== 'cpu' && done.has(e.id));
    assert.equal(all.filter((e) => e.cat === 'kernel').length, kernels.length, path);
  }
});

check('bytes in use add up: what is freed was allocated', () => {
  for (const { path, log, all } of traces()) {
    const living = new Map();
    for (const e of log) {
      if (e.kind === 'alloc') living.set(e.storage, e);
      if (e.kind === 'free') living.delete(e.storage);
    }
    for (const [pid, device] of [[1, 'cpu'], [10, 'cuda:0'], [11, 'cuda:1']]) {
      const points = all.filter((e) => e.ph === 'C' && e.pid === pid);
      for (const p of points) for (const value of Object.values(p.args)) assert.ok(value >= 0, `${path}: ${JSON.stringify(p)}`);
      const left = [...living.values()].filter((e) => e.device === device).reduce((sum, e) => sum + e.bytes, 0);
      if (points.length) assert.equal(points.sort((a, b) => a.ts - b.ts).at(-1).args['in use (bytes)'], left, `${path}: ${device}`);
    }
    const begins = all.filter((e) => e.ph === 'b');
    assert.equal(begins.length, log.filter((e) => e.kind === 'alloc').length, path);
    for (const b of begins) {
      const end = all.find((e) => e.ph === 'e' && e.id === b.id);
      assert.ok(end && end.cat === b.cat && end.name === b.name && end.ts >= b.ts, `${path}: ${b.name}`);
    }
  }
});
