// instant_test.mjs: what is so at one moment of the clock, on logs, without a browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { placeOf } from '../../www/model/host.js';
import { instant, worksOf } from '../../www/model/instant.js';
import { momentSentence } from '../../www/model/moment.js';
import { run } from '../../www/model/run.js';
import { actions, waitIn } from '../../www/model/step_actions.js';
import { progress, transfer } from '../../www/model/transfer.js';
import * as units from '../../www/model/units.js';
import { stepSentence } from '../../www/model/words.js';
import { logs, random, spoilt, placed } from './logs.mjs';

const open = (events) => {
  const one = run({ run: 1 });
  one.take(0, events);
  return one;
};
const moments = (one, n, seed = 7) => {
  const next = random(seed);
  return Array.from({ length: n }, () => next() * one.total * 1.05);
};
const near = (a, b, what) => assert.ok(Math.abs(a - b) < 0.5, `${what}: ${a}, not ${b}`);
const told = (key, value) => (typeof value === 'number' && !Number.isFinite(value) ? String(value) : value); // JSON has no Infinity
/** The paths of what is no plain data in a value: functions, maps, classes. */
const odd = (value, path = '') => {
  if (value === null || typeof value !== 'object') return ['function', 'symbol', 'bigint'].includes(typeof value) ? [path] : [];
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return [path];
  return Object.entries(value).flatMap(([key, one]) => odd(one, `${path}.${key}`));
};
const storageIn = (now, id) => now.memories.flatMap((m) => m.storages).find((s) => s.id === id);

for (const [name, events] of logs()) {
  test(`${name}: waiting, buffered and arrived bytes are the copy`, () => {
    const one = open(events);
    for (const t of moments(one, 300)) {
      for (const c of instant(one, t).copies) {
        assert.ok(c.waiting >= 0 && c.buffered >= -0.5 && c.arrived >= 0 && c.arrived <= c.bytes, `${c.id} at ${t}`);
        near(c.waiting + c.buffered + c.arrived, c.bytes, `copy ${c.id} at ${t}`);
      }
    }
  });

  test(`${name}: arrived bytes only grow, from none to all`, () => {
    const one = open(events);
    for (const { id, start, end } of events.filter((e) => e.kind === 'complete')) {
      const copy = events.find((e) => e.kind === 'copy' && e.id === id);
      if (!copy || end === start) continue;
      const course = transfer(copy, { ...events.find((e) => e.kind === 'complete' && e.id === id) }, events[0].devices);
      let last = 0;
      for (let i = 0; i <= 50; i++) {
        const { arrived } = progress(course, start + ((end - start) * i) / 50);
        assert.ok(arrived >= last, `${id}, part ${i}`);
        last = arrived;
      }
      assert.equal(progress(course, start).arrived, 0);
      assert.equal(last, copy.bytes);
    }
    if (events.some((e) => e.kind === 'end')) assert.deepEqual(instant(one, one.total + 1).copies, []);
  });

  test(`${name}: live bytes add up at random moments`, () => {
    const one = open(events);
    for (const t of moments(one, 100, 11)) {
      const seq = one.timeline.seqAt(t);
      const live = new Map();
      for (const e of events.slice(0, seq + 1)) {
        if (e.kind === 'alloc') live.set(e.storage, e);
        if (e.kind === 'free') live.delete(e.storage);
      }
      for (const memory of instant(one, t).memories) {
        const here = [...live.values()].filter((e) => e.device === memory.device);
        assert.equal(memory.live, here.reduce((sum, e) => sum + e.bytes, 0), `${memory.device} at ${t}`);
        assert.deepEqual(memory.storages.filter((s) => !s.deferred).map((s) => s.id).sort(), here.map((e) => e.storage).sort());
        for (const s of memory.segments) assert.ok(s.free >= 0 && s.free <= s.bytes, `segment ${s.addr} at ${t}`);
      }
    }
  });

  test(`${name}: the cost is what has arrived by then`, () => {
    const one = open(events);
    const completes = new Map(events.filter((e) => e.kind === 'complete').map((e) => [e.id, e]));
    let waited = 0;
    for (const t of moments(one, 60, 17).sort((a, b) => a - b)) {
      const { cost } = instant(one, t);
      for (const dir of ['h2d', 'd2h']) {
        const copies = events.filter((e) => e.kind === 'copy' && e.dir === dir && completes.get(e.id));
        const arrived = copies.map((e) => progress(transfer(e, { ...completes.get(e.id) }, events[0].devices), t).arrived);
        near(cost[dir].bytes, arrived.reduce((sum, n) => sum + n, 0), `${dir} at ${t}`);
        assert.equal(cost[dir].copies, copies.filter((e) => completes.get(e.id).end <= t).length, `${dir} copies at ${t}`);
      }
      assert.ok(cost.held >= waited - 1 && cost.held <= t * 4, `${cost.held} after ${waited}`);
      waited = cost.held;
    }
  });

  test(`${name}: each moment has a whole sentence`, () => {
    const one = open(events);
    for (const t of moments(one, 200, 19)) {
      const words = momentSentence(one, instant(one, t));
      assert.match(words, /^[A-Z][^?]*[.!]$/s, `${t}: ${words}`);
      assert.doesNotMatch(words, /undefined|null|NaN|\?/, words);
    }
  });

  test(`${name}: a moment is plain data, whenever it is read`, () => {
    const [one, other] = [open(events), open(events)];
    const at = moments(one, 40, 23);
    const late = at.map((t) => instant(one, t)); // read when all the others have been asked for
    at.forEach((t, i) => {
      const once = structuredClone(instant(other, t));
      assert.deepEqual(late[i], once, `at ${t}`);
      assert.deepEqual(late[i], once, `at ${t}, read again`);
      assert.deepEqual(odd(late[i]), [], `at ${t}`);
      assert.deepEqual(JSON.parse(JSON.stringify(late[i], told)), JSON.parse(JSON.stringify(once, told)), `at ${t}, as JSON`);
    });
  });

  test(`${name}: a moment is the same however it is reached`, () => {
    const [one, other] = [open(events), open(events)];
    const at = moments(one, 40, 13);
    const first = at.map((t) => structuredClone(instant(one, t)));
    [...at.keys()].reverse().forEach((i) => assert.deepEqual(structuredClone(instant(other, at[i])), first[i]));
  });
}

// ---- the course of a copy -------------------------------------------------------------------------

const card = { name: 'cuda:0', model: { staging_chunk: 1000, bus_latency: 10, bus_bandwidth: 4e9 } };
const other = { name: 'cuda:1', model: { staging_chunk: 1000, bus_latency: 10, bus_bandwidth: 2e9 } };
const devices = [{ name: 'cpu', model: {} }, card, other];
const h2d = { kind: 'copy', id: 1, bytes: 2500, dir: 'h2d', route: 'staged', src: { device: 'cpu' }, dst: { device: 'cuda:0' } };

test('a staged copy overlaps its two hops, through two buffers', () => {
  // 1 ns a byte into a buffer, a quarter over the bus; in: 0-1000, 1000-2000, 2000-2500; out: 1010-1260, 2010-2260, 2510-2635
  const course = transfer(h2d, { start: 0, end: 2635, wire: 625, staging: 2500 }, devices);
  assert.deepEqual(course.chunks.map((c) => c.hops.map(({ from, to }) => [from, to])),
    [[[0, 1000], [1010, 1260]], [[1000, 2000], [2010, 2260]], [[2000, 2500], [2510, 2635]]]);
  assert.deepEqual(progress(course, 500), { waiting: 2000, buffered: 500, arrived: 0, buffers: [500, 0], moving: [{ hop: 0, bytes: 1000, done: 500, reach: 1 }] });
  assert.deepEqual(progress(course, 1005).moving.map(({ hop, reach }) => [hop, reach]), [[1, 0.5], [0, 1]]); // the bus starts up
  const now = progress(course, 1135); // chunk 0 half over the bus, chunk 1 partly in a buffer
  assert.deepEqual([now.waiting, now.buffered, now.arrived, now.buffers], [1365, 635, 500, [500, 135]]);
  assert.deepEqual(now.moving.map((m) => m.hop), [1, 0]);
});

test('the third chunk waits for a free buffer', () => {
  const course = transfer({ ...h2d, bytes: 3000 }, { start: 0, end: 6130, wire: 6000, staging: 300 }, devices);
  const [a, , c] = course.chunks.map((chunk) => chunk.hops);
  assert.equal(a[1].to, 100 + 10 + 2000);
  assert.equal(c[0].from, a[1].to); // the third goes where the first one was
});

test('a copy of absurdly many chunks has a course', () => {
  for (const [bytes, chunk] of [[1e300, 1000], [2 ** 40, 1], [3e15, -5]]) {
    const cards = [{ ...card, model: { ...card.model, staging_chunk: chunk } }];
    const course = transfer({ ...h2d, bytes }, { start: 0, end: 4000, wire: 3000, staging: 300 }, cards);
    assert.ok(course.chunks.length <= 2 ** 16 + 1, `${course.chunks.length} chunks`);
    near(progress(course, 4000).arrived / bytes, 1, `${bytes} bytes`);
  }
});

test('a staged copy to the host crosses the bus first', () => {
  const copy = { ...h2d, bytes: 1000, dir: 'd2h', src: { device: 'cuda:0' }, dst: { device: 'cpu' } };
  const course = transfer(copy, { start: 0, end: 1260, wire: 250, staging: 1000 }, devices);
  assert.deepEqual(course.chunks[0].hops, [{ ready: 0, from: 10, to: 260 }, { ready: 260, from: 260, to: 1260 }]);
});

test('a direct copy moves nothing during its latency', () => {
  const course = transfer({ ...h2d, route: 'direct' }, { start: 100, end: 735, wire: 625 }, devices);
  assert.equal(progress(course, 110).arrived, 0);
  assert.equal(progress(course, 110 + 312.5).arrived, 1250);
});

test('by way of the host bytes count on both buses', () => {
  const lines = (text) => text.trim().split('\n').map((line) => JSON.parse(line));
  const one = open(placed(lines(readFileSync(new URL('scenes/two-cards-no-peer.jsonl', import.meta.url), 'utf8'))));
  const { ledger } = one.at(Infinity);
  const crossed = one.events.find((e) => e.kind === 'copy' && e.route === 'host');
  const { wire, wire_up: up } = one.events.find((e) => e.kind === 'complete' && e.id === crossed.id);
  const other = (dir) => one.events.filter((e) => e.kind === 'copy' && e.dir === dir);
  const bytes = (list) => list.reduce((sum, e) => sum + e.bytes, 0);
  assert.deepEqual([ledger.d2h.copies, ledger.h2d.copies], [other('d2h').length + 1, other('h2d').length + 1]);
  assert.deepEqual([ledger.d2h.bytes, ledger.h2d.bytes], [bytes(other('d2h')) + crossed.bytes, bytes(other('h2d')) + crossed.bytes]);
  const alone = one.events.filter((e) => e.kind === 'complete' && other('h2d').some(({ id }) => id === e.id));
  assert.equal(ledger.h2d.wire, alone.reduce((sum, e) => sum + e.wire, 0) + up);
  assert.ok(up > 0 && up < wire);
});

test('without peer access a copy goes down and up', () => {
  const copy = { ...h2d, bytes: 1000, dir: 'p2p', route: 'host', src: { device: 'cuda:0' }, dst: { device: 'cuda:1' } };
  const course = transfer(copy, { start: 0, end: 770, wire: 750, wire_up: 500 }, devices);
  assert.deepEqual(course.chunks[0].hops, [{ ready: 0, from: 10, to: 260 }, { ready: 260, from: 270, to: 770 }]);
});

test('a copy that waited for the bus is stretched', () => {
  const course = transfer(h2d, { start: 0, end: 5270, wire: 625, staging: 2500 }, devices);
  assert.equal(course.chunks[0].hops[0].to, 2000);
  assert.equal(progress(course, 5270).arrived, 2500);
});

// ---- moments ------------------------------------------------------------------------------------

test('a copy is half there beside a kernel', () => {
  const events = logs().get('overlap');
  const one = open(events);
  const both = events.filter((e) => e.kind === 'copy' && e.was_async && e.dir === 'h2d').map((e) => e.id)
    .map((id) => events.find((e) => e.kind === 'complete' && e.id === id))
    .map(({ end, wire }) => instant(one, end - wire / 2))
    .find((now) => now.ops.some((op) => op.phase === 'running' && op.device === 'cuda:0'));
  assert.ok(both, 'there is such a moment');
  const copy = both.copies.find((c) => c.phase === 'running' && c.dir === 'h2d');
  near(copy.arrived, copy.bytes / 2, 'arrived');
  const { writing } = storageIn(both, copy.dst.storage);
  assert.deepEqual([writing.work, writing.phase, writing.arrived], [copy.id, 'running', Math.round(copy.arrived)]);
});

test('the end of a step is not the next one\'s beginning', () => {
  const one = script(...kernel(1, 10, 0, 10, 40), { kind: 'sync', t: 40, scope: 'device', device: 'cuda:0', held: 28 },
    { kind: 'op', t: 60, id: 2, name: 'exp', device: 'cpu', in: [], out: [], held: 20 }, { kind: 'complete', t: 60, id: 2, start: 40, end: 60, engine: 'host' });
  const end = instant(one, 40, 3);
  assert.deepEqual([end.ops.length, end.threads.length, end.cost.running], [0, 0, 0]);
  assert.deepEqual([instant(one, 40).ops.length, instant(one, 40).threads.length], [1, 1]);
});

test('a moment says what runs, and who waits', () => {
  const overlap = open(logs().get('overlap'));
  assert.match(momentSentence(overlap, instant(overlap, 7940000)), /Meanwhile 4 MiB of batch\[i\] go to there\[i\] in GPU VRAM \(stream 1, without the CPU\), add runs on the GPU and \d+ more are queued/);
  const events = logs().get('01-where-am-i');
  const one = open(events);
  const copy = events.find((e) => e.kind === 'copy' && !e.was_async && e.held > 0);
  const { start, end } = events.find((e) => e.kind === 'complete' && e.id === copy.id);
  assert.match(momentSentence(one, instant(one, (start + end) / 2)), new RegExp(`^Line ${copy.line} waits while .* go from CPU RAM to GPU VRAM`));
});

test('a copy between cards says why it goes through RAM', () => {
  const words = 'through CPU RAM, as the two cards cannot reach each other';
  const [far, near] = ['two-cards-no-peer', 'two-cards-peer'].map((name) => open(sceneOf(name)));
  assert.match(momentSentence(far, instant(far, 610000)), new RegExp(`go to b in GPU VRAM of cuda:1 \\(${words}\\)`));
  assert.doesNotMatch(momentSentence(near, instant(near, 569000)), /through/);
  assert.match(momentSentence(near, instant(near, 569000)), /go to b in GPU VRAM of cuda:1 \(straight from card to card\)/);
  const copy = far.steps.find((step) => far.events.slice(step.from, step.to + 1).some((e) => e.dir === 'p2p'));
  assert.match(stepSentence(far.events, copy, far.names), new RegExp(words));
});

test('a moment says first what went wrong', () => {
  const one = script({ kind: 'error', t: 10, line: 4, code: 'shape', message: 'sizes differ' });
  assert.match(momentSentence(one, instant(one, 12)), /^Error: sizes differ\./);
  assert.doesNotMatch(momentSentence(one, instant(one, 9)), /Error/);
});

test('in a blocking copy the host waits, the destination fills', () => {
  const events = logs().get('01-where-am-i');
  const one = open(events);
  const copy = events.find((e) => e.kind === 'copy' && !e.was_async && e.held > 0);
  const seq = events.indexOf(copy);
  const { start, end } = events.find((e) => e.kind === 'complete' && e.id === copy.id);
  const now = instant(one, (start + end) / 2);
  assert.ok(now.seq < seq, 'its event comes when it is over');
  assert.deepEqual(now.threads.map((th) => [th.kind, th.seq, th.for]), [['copy', seq, [copy.id]]]);
  const [c] = now.copies;
  assert.ok(c.phase === 'running' && c.arrived < c.bytes);
  assert.equal(storageIn(now, copy.dst.storage).writing.work, copy.id);
  assert.equal(storageIn(instant(one, end), copy.dst.storage).writing, null);
});

const base = [{ kind: 'session', t: 0, devices: [{ name: 'cpu' }, { name: 'cuda:0', capacity: 1 << 20 }] }];
const script = (...events) => open([...base, ...events].map((e, seq) => ({ seq, th: 0, ...e })));
const kernel = (id, t, stream, start, end) => [
  { kind: 'op', t, id, name: 'add', device: 'cuda:0', stream, in: [], out: [{ storage: 1 }], held: 1 },
  { kind: 'complete', t, id, start, end, engine: 'compute' },
];

test('a wait names the works that it waits for', () => {
  const one = script(
    ...kernel(1, 10, 0, 20, 120), ...kernel(2, 11, 1, 20, 150), { kind: 'event_record', t: 12, event: 5, device: 'cuda:0', stream: 1 },
    ...kernel(3, 13, 1, 150, 200), { kind: 'sync', t: 150, scope: 'event', device: 'cuda:0', event: 5, held: 130 },
    { kind: 'sync', t: 160, scope: 'stream', device: 'cuda:0', stream: 1, held: 10 },
    { kind: 'sync', t: 200, scope: 'device', device: 'cuda:0', held: 30 });
  assert.deepEqual(instant(one, 100).threads[0].for, [2]); // not what came after the event
  assert.deepEqual(instant(one, 155).threads[0].for, [3]);
  assert.deepEqual(instant(one, 180).threads.map((th) => th.for), [[3]]);
  assert.deepEqual(instant(one, 16).ops.map((op) => [op.id, op.phase]), [[1, 'queued'], [2, 'queued'], [3, 'queued']]);
});

test('the wait before a copy comes before the copy', () => {
  const one = script(...kernel(1, 10, 0, 20, 120),
    { kind: 'copy', t: 200, id: 2, bytes: 8, dir: 'd2h', src: { device: 'cuda:0' }, dst: { device: 'cpu' }, held: 80 }, { kind: 'complete', t: 200, id: 2, start: 120, end: 200, engine: 'd2h' },
    { kind: 'sync', t: 200, scope: 'copy', device: 'cuda:0', cause: 3, held: 100 });
  assert.deepEqual([30, 119, 121, 199].map((t) => instant(one, t).threads.map((th) => th.kind)), [['sync'], ['sync'], ['copy'], ['copy']]);
  assert.equal(instant(one, 70).cost.held, 51, 'half of the wait, after the launch');
});

test('each thread has its own call', () => {
  const one = script({ kind: 'sync', t: 50, th: 1, scope: 'device', device: 'cuda:0', held: 40 }, { kind: 'sync', t: 60, scope: 'device', device: 'cuda:0', held: 30 });
  assert.deepEqual(instant(one, 20).threads.map((th) => th.th), [1]);
  assert.deepEqual(instant(one, 40).threads.map((th) => th.th), [1, 0]);
});

test('a deferred free leaves when its stream is done', () => {
  const one = script(
    { kind: 'alloc', t: 1, storage: 1, device: 'cuda:0', mem: 'device', addr: '0x10', asked: 8, bytes: 16 },
    { kind: 'record_stream', t: 2, tensor: 1, storage: 1, device: 'cuda:0', stream: 3 }, ...kernel(1, 3, 3, 5, 90),
    { kind: 'free', t: 10, storage: 1, bytes: 16, deferred: true });
  assert.equal(storageIn(instant(one, 9), 1).deferred, false);
  assert.deepEqual([storageIn(instant(one, 50), 1).deferred, instant(one, 50).memories[1].live], [true, 0]);
  assert.equal(storageIn(instant(one, 90), 1), undefined);
});

test('segments hold their storages, and know what is free', () => {
  const one = script(
    { kind: 'segment', t: 1, device: 'cuda:0', mem: 'device', addr: '0x100', bytes: 256, pool: 'small', stream: 0, held: 1 },
    { kind: 'alloc', t: 2, storage: 1, device: 'cuda:0', mem: 'device', addr: '0x180', asked: 60, bytes: 64 },
    { kind: 'free', t: 3, storage: 1 }, { kind: 'segment_free', t: 4, device: 'cuda:0', addr: '0x100', bytes: 256, held: 0 });
  const [, card] = instant(one, 2).memories;
  assert.deepEqual([card.reserved, card.live, card.segments[0].free, card.storages[0].segment], [256, 64, 192, 0x100]);
  assert.equal(instant(one, 3).memories[1].segments[0].free, 256);
  assert.equal(instant(one, 4).memories[1].reserved, 0);
});

test('work without an end stays in flight', () => {
  const one = script({ kind: 'copy', t: 10, id: 1, bytes: 100, dir: 'h2d', src: { device: 'cpu' }, dst: { device: 'cuda:0', storage: 2 }, held: 0 });
  const [copy] = instant(one, 1e9).copies;
  assert.deepEqual([copy.phase, copy.waiting + copy.buffered, copy.arrived], ['queued', 100, 0]);
});

test('malformed events never make a moment throw', () => {
  const next = random(3);
  for (const events of logs().values()) {
    for (let round = 0; round < 20; round++) {
      const one = open(spoilt(events, next));
      for (const t of moments(one, 5, round + 1)) instant(one, Math.min(t, 1e12));
    }
  }
});

test('a step does not show what later calls begin', () => {
  const events = logs().get('demo-01-where-am-i');
  const one = open(events);
  const step = one.stepOf(events.findIndex((e) => e.kind === 'copy' && e.dir === 'd2h'));
  const shown = worksOf(one, one.steps[step], one.span(one.steps[step])[1]);
  assert.deepEqual(shown.map((w) => [w.type, w.phase]), [['copy', 'done']]);
});

// ---- steps --------------------------------------------------------------------------------------

const at = (line) => ({ file: 'p.c', line, fn: 'main' });
const made = (storage, name, fields = {}) => [
  { kind: 'alloc', storage, device: 'cuda:0', bytes: 512, ...fields }, { kind: 'tensor', tensor: storage, storage, name, shape: [4], ...fields },
];
const op = (id, name, ins, out) => [
  { kind: 'op', id, name, device: 'cuda:0', in: ins.map((n) => ({ storage: n, tensor: n })), out: [{ storage: out, tensor: out }] }, { kind: 'complete', id },
];

/** Events in calls: [what the log tells of the call, or the id of one that goes on, ...its events]. */
const calls = (...all) => script(...all.flatMap(([call, ...events]) => events.map((e, i) => ({ ...e, call: call.id ?? call, ...(i === 0 && call.id && { calls: [call] }) }))));
const wrote = (id, line, name, fields = {}) => ({ id, name, ...at(line), ...fields });
const kindsOf = (one) => one.steps.slice(1).map((s) => [s.kind, s.line, s.to - s.from + 1]);
const partsOf = (one, i) => one.parts.filter(({ step }) => step === i).map((s) => [s.kind, s.line, s.to - s.from + 1]);

for (const [name, events] of logs()) {
  test(`${name}: a step is one thread in one call`, () => {
    const one = open(events);
    const told = new Map(events.flatMap((e) => e.calls ?? []).toReversed().map((call) => [call.id, call])); // the first counts
    const owner = (call) => (!call || call.file || call.region === 'turn' ? call?.id ?? 0 : owner(told.get(call.in)));
    const own = (e) => !['complete', 'values', 'source', 'name'].includes(e.kind) && e.call > 0;
    const keys = one.steps.map(({ from, to }) => [...new Set(events.slice(from, to + 1).filter(own).map((e) => `${e.th} ${owner(told.get(e.call))}`))]);
    keys.forEach((all, i) => {
      assert.ok(all.length < 2, `step ${i}: ${all}`);
      assert.ok(!all[0] || all[0] !== keys[i - 1]?.[0], `step ${i} goes on with the one before it`);
    });
  });

  test(`${name}: its steps and parts need no text`, () => {
    const bare = open(events.map((e) => (e.kind === 'source' ? { ...e, text: '' } : e)));
    assert.deepEqual([bare.steps, bare.parts].map((all) => all.map(({ from, to, kind }) => [from, to, kind])), [open(events).steps, open(events).parts].map((all) => all.map(({ from, to, kind }) => [from, to, kind])));
  });
}

test('two calls of one line are two steps', () => {
  const nested = calls([wrote(1, 3, 'fy_matmul'), ...made(1, ''), ...op(1, 'matmul', [7, 8], 1)], [wrote(2, 3, 'fy_relu'), ...made(2, 'r'), ...op(2, 'relu', [1], 2)]);
  assert.deepEqual(kindsOf(nested), [['op', 3, 4], ['op', 3, 4]]);
  const loss = calls([wrote(1, 3, 'fy_mse_loss'), ...made(10, ''), ...op(1, 'sub', [1, 2], 10), ...made(11, ''), ...op(2, 'mul', [10, 10], 11),
    { kind: 'drop', tensor: 10, why: 'free' }, { kind: 'free', storage: 10 }, ...made(12, 'mse'), ...op(3, 'mean', [11], 12), { kind: 'drop', tensor: 11, why: 'free' }, { kind: 'free', storage: 11 }]);
  assert.deepEqual([kindsOf(loss), loss.parts.length], [[['op', 3, 16]], 2]);
  assert.match(stepSentence(loss.events, loss.steps[1], loss.names), /^mse_loss of t1 and t2 runs on the GPU as 3 kernels \(sub, mul, mean\) into mse, newly allocated in GPU VRAM; 2 tensors .*freed/);
  const written = { ...loss.steps[1], call: { ...loss.steps[1].call, args: 'a, b' } };
  assert.match(stepSentence(loss.events, written, loss.names), /^mse_loss\(a, b\) runs on the GPU as 3 kernels/);
});

test('calls in a call or module are its parts', () => {
  const one = calls([wrote(1, 5, 'fy_call'), ...made(1, 'h')], [{ id: 2, in: 1, region: 'module', name: '0' }, { kind: 'mark' }],
    [{ id: 3, in: 2, name: 'fy_linear' }, ...op(1, 'matmul', [1], 2)], [{ id: 4, in: 3, name: 'fy_add' }, ...op(2, 'add', [2], 2)], [3, ...op(3, 'add', [2], 2)],
    [{ id: 5, in: 2, name: 'fy_relu' }, ...op(4, 'relu', [2], 3)], [2, { kind: 'drop', tensor: 2, why: 'scope' }], [1, { kind: 'free', storage: 9 }]);
  assert.deepEqual(kindsOf(one).map(([, line, n]) => [line, n]), [[5, 13]]);
  assert.deepEqual(partsOf(one, 1), [['alloc', 5, 2], ['mark', 5, 1], ['op', 5, 6], ['op', 5, 2], ['drop', 5, 1], ['free', 5, 1]]);
  const forward = calls([wrote(1, 5, 'fy_call'), ...made(1, 'h')], [wrote(2, 9, 'fy_relu', { in: 1 }), ...op(1, 'relu', [1], 2)], [1, { kind: 'free', storage: 9 }]);
  assert.deepEqual(kindsOf(forward).map(([, line, n]) => [line, n]), [[5, 2], [9, 2], [5, 1]], 'what the program wrote itself is a step, and then the call goes on');
});

test('what threads do by turns are steps', () => {
  const th = (n, events) => events.map((e) => ({ ...e, th: n }));
  const one = calls([wrote(1, 3, 'fy_relu'), ...th(0, made(1, 'a'))], [wrote(2, 7, 'fy_exp'), ...th(1, made(2, 'b'))], [1, ...th(0, op(1, 'relu', [9], 1))], [2, ...th(1, op(2, 'exp', [9], 2))], [2, ...th(0, [{ kind: 'mark' }])]);
  assert.deepEqual(kindsOf(one), [['alloc', 3, 2], ['alloc', 7, 2], ['op', 3, 2], ['op', 7, 2], ['mark', 7, 1]]);
});

test('a turn owns what it frees at its end', () => {
  const frees = [{ kind: 'drop', tensor: 1, why: 'scope' }, { kind: 'free', storage: 1 }];
  const turn = (id, n) => ({ id, in: 1, region: 'turn', turn: n });
  const events = made(1, 'a');
  events[0].calls = [{ id: 1, region: 'loop', name: 'FY_TIMES', ...at(4) }, turn(2, 0)];
  const one = calls([wrote(3, 5, 'fy_ones', { in: 2 }), ...events], [2, ...frees], [turn(4, 1), ...frees]);
  assert.deepEqual(kindsOf(one).map(([kind, , n]) => [kind, n]), [['alloc', 2], ['drop', 2], ['drop', 2]]);
});

test('what comes later, and what no call causes', () => {
  const one = calls([wrote(1, 3, 'fy_relu'), ...op(1, 'relu', [1], 2)], [wrote(2, 4, 'fy_exp'), { kind: 'op', id: 2, name: 'exp', in: [{}] }], [1, { kind: 'complete', id: 1 }, { kind: 'values', tensor: 2 }], [2, { kind: 'name', tensor: 2 }, { kind: 'error' }],
    [0, { kind: 'end' }, { kind: 'check' }, { kind: 'check' }, { kind: 'grade' }, { kind: 'lost' }, { kind: 'lost' }, { kind: 'log_full' }]);
  assert.deepEqual(one.steps.map((s) => [s.kind, s.to - s.from + 1]), [['session', 1], ['op', 2], ['error', 6], ['check', 3], ['lost', 2], ['log_full', 1]]);
  const calm = calls([wrote(1, 3, 'fy_free'), { kind: 'drop', tensor: 1 }], [0, { kind: 'drop', tensor: 2, why: 'exit' }, { kind: 'drop', tensor: 3, why: 'exit' }, { kind: 'end' }]);
  assert.deepEqual(calm.steps.map((s) => s.kind), ['session', 'drop', 'drop', 'end']);
});

test('a data race is a part of its own', () => {
  const one = calls([wrote(1, 3, 'fy_sum'), ...op(1, 'sum', [1], 2), { kind: 'data_race', storage: 1 }, { kind: 'data_race', storage: 1 }, { kind: 'host_read', tensor: 1 }]);
  assert.deepEqual(partsOf(one, 1).map(([kind]) => kind), ['op', 'data_race', 'data_race', 'host_read']);
  assert.match(stepSentence(one.events, one.steps[1], one.names), /^Data race/);
});

test('print and item show their copy', () => {
  const copy = { kind: 'copy', id: 1, bytes: 16, dir: 'd2h', why: 'print', src: { storage: 1, device: 'cuda:0' }, dst: { device: 'cpu' } };
  const one = calls([wrote(1, 3, 'fy_print'), copy, { kind: 'complete', id: 1 }, { kind: 'sync', scope: 'copy', why: 'print', cause: 1 }, { kind: 'host_read', tensor: 1, storage: 1, count: 1, via: 'print' }]);
  const [print] = one.steps.slice(1);
  assert.deepEqual(kindsOf(one), [['copy', 3, 4]]);
  assert.deepEqual(actions(one, print, one.span(print)[1], one.at(print.to)).map((a) => a.type), ['copy']);
});

// ---- how a step's time passes -------------------------------------------------------------------

for (const [name, events] of logs()) {
  test(`${name}: in a step, time never falls`, () => {
    const one = open(events);
    one.ended = true;
    const next = random(17);
    one.parts.forEach((part, i) => {
      const [from, to] = one.span(part);
      assert.equal(one.timeIn(i, 0), from, `step ${i}`);
      assert.equal(one.timeIn(i, 1), to, `step ${i}`);
      let last = from;
      for (const m of Array.from({ length: 60 }, next).sort((a, b) => a - b)) {
        const t = one.timeIn(i, m);
        assert.ok(t >= last && t <= to, `step ${i}, ${m}: ${t} after ${last}`);
        last = t;
      }
    });
  });

  test(`${name}: what is allocated comes first, copies are seen`, () => {
    const one = open(events);
    one.parts.forEach((step, i) => {
      const [from, to] = one.span(step);
      const frames = Array.from({ length: 101 }, (_, n) => one.timeIn(i, n / 100));
      const works = one.timeline.worksIssued(step.from, step.to);
      for (const w of works) {
        const here = Math.min(w.end, to) - Math.max(w.start, from);
        const seen = frames.filter((t) => t >= w.start && t <= w.end).length;
        if (here > 0) assert.ok(seen >= Math.min(25, 40 / works.length), `step ${i}: ${seen} % for ${w.event.kind} ${w.id}`);
        if (step.storage && w.start > from) assert.ok(frames.findIndex((t) => t > w.start) >= 25 || w.start >= to, `step ${i}: ${w.event.kind} ${w.id} before its allocation`);
      }
    });
  });
}

test('a short copy has half of its step', () => {
  const one = calls([wrote(1, 3, 'fy_to'), { kind: 'segment', t: 100000, device: 'cuda:0', bytes: 2048, held: 100000 },
    ...made(1, 'x').map((e) => ({ ...e, t: 100000 })),
    { kind: 'copy', t: 101000, id: 1, bytes: 16, dir: 'h2d', held: 1000, src: { storage: 9, device: 'cpu' }, dst: { storage: 1, device: 'cuda:0' } },
    { kind: 'complete', t: 101000, id: 1, start: 100000, end: 101000, engine: 'h2d' }]);
  assert.deepEqual([0, 0.125, 0.25, 0.625, 1].map((m) => Math.round(one.timeIn(1, m))), [0, 50000, 100000, 100500, 101000]);
});

// ---- lines --------------------------------------------------------------------------------------

const sceneOf = (name) => placed(readFileSync(new URL(`./scenes/${name}.jsonl`, import.meta.url), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)));

test('every line of a program of views has its step', () => {
  const events = sceneOf('views');
  const lines = new Set(events.filter((e) => e.line > 0 && e.kind === 'tensor').map((e) => e.line));
  assert.ok(lines.size >= 4, 'a tensor, and views of it');
  const { steps } = open(events);
  assert.deepEqual([...new Set(steps.map((s) => s.line))].filter((line) => line > 0), [5, 6, 7, 8, 9, 10]);
});

test('results that a wait brings belong to its step', () => {
  const events = sceneOf('race');
  const { steps } = open(events);
  const results = events.findIndex((e) => e.kind === 'values' && e.work === 4); // of the step before, which the next one waits for
  const [made, waits] = [steps.findIndex((s) => s.to >= results) - 1, steps.findIndex((s) => s.to >= results)];
  assert.deepEqual([steps[made].line, steps[waits].line, steps[waits].kind], [9, 10, 'sync']);
  assert.equal(steps[waits].from, results);
  assert.ok(events[steps[made].to].t < events[results].t);
});

for (const [name, events] of logs()) {
  test(`${name}: every line that made an event is a step's`, () => {
    const one = open(events);
    const lit = new Set(one.steps.map((s) => `${s.file}:${s.line}`));
    // A leaf, or a module's names, are learned on the way: they move no byte.
    for (const e of events) if (e.line > 0 && !['values', 'graph', 'name'].includes(e.kind)) assert.ok(lit.has(`${e.file}:${e.line}`), `${e.kind} of ${e.file}:${e.line}`);
  });
}

test('the program waits only while a call blocks it', () => {
  const events = logs().get('01-where-am-i');
  const one = open(events);
  const copy = events.find((e) => e.kind === 'copy' && !e.was_async && e.held > 0);
  const { start, end } = events.find((e) => e.kind === 'complete' && e.id === copy.id);
  const said = (t, by) => {
    const now = instant(one, t);
    return placeOf({ now, by, line: copy.line, waited: waitIn(events, { from: events.indexOf(copy) - 2, to: now.seq }) });
  };
  for (const by of ['step', 'clock']) assert.deepEqual(said((start + end) / 2, by), { words: `line ${copy.line} waits`, held: true });
  assert.deepEqual(said(copy.t, 'step'), { words: `line ${copy.line} waited ${units.time(copy.held)}`, held: true });
  assert.deepEqual(said(copy.t, 'clock'), { words: `at line ${copy.line}`, held: false });
});

test('what only hands out work does not wait', () => {
  const [host, card] = [{ device: 'cpu' }, { device: 'cuda:0' }];
  const issue = { kind: 'copy', t: 20, line: 4, id: 2, bytes: 8, dir: 'h2d', src: host, dst: card, held: 10, was_async: true };
  const one = script(issue, { kind: 'sync', t: 50, th: 1, line: 7, scope: 'device', device: 'cuda:0', held: 20 });
  const said = (t) => placeOf({ now: instant(one, t), by: 'clock', line: 4, waited: 0 }).words;
  assert.deepEqual([said(5), said(15), said(40)], ['at line 4', 'at line 4', 'thread 1 waits']);
});
