// lanes_test.mjs: what ran when, and the axis that it is drawn on, on logs, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axis, breaksOf, ticks, tickWords } from '../../www/model/axis.js';
import { about, breakWords, label, labels } from '../../www/model/lane_words.js';
import { hopsOf } from '../../www/model/lane_hops.js';
import { arrowsOf } from '../../www/model/lane_arrows.js';
import { nextMatch } from '../../www/model/lane_search.js';
import { lanesOf } from '../../www/model/lanes.js';
import { loopsOf, iterationWords, timeWords } from '../../www/model/loops.js';
import { memoriesOf } from '../../www/model/memory_time.js';
import { run } from '../../www/model/run.js';
import { apply, initial } from '../../www/model/state.js';
import { extent, fitted, followed, isTiny } from '../../www/model/step_view.js';
import { chosen } from '../../www/stage/lane_labels.js';
import { flagsIn } from '../../www/stage/lane_signs.js';
import { bracketWords, brackets, rowsIn, loopRows } from '../../www/stage/lane_loops.js';
import { logs, random } from './logs.mjs';

const open = (events) => {
  const one = run({ run: 1 });
  one.take(0, events);
  return one;
};
const everyLane = (lanes) => [...lanes.threads.values(), ...lanes.peers.values(),
  ...[...lanes.cards.values()].flatMap((card) => [...card.streams.values(), ...card.engines.values()])];
const named = (lanes, most) => lanes.rows(most).map((row) => `${row.group} ${row.label}`.trim());
const BY_HAND = new Set(['handmade-demo', 'handmade-killed']); // works of one stream overlap there, by mistake
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

for (const [name, events] of logs()) {
  test(`${name}: slices of a lane never overlap`, () => {
    const one = open(events);
    for (const lane of everyLane(lanesOf(one))) {
      const all = lane.between(0, Infinity).filter((s) => !s.open);
      all.forEach((s, i) => assert.ok(s.from <= s.until && (!i || s.from >= all[i - 1].until), `${lane.kind} at ${s.from}`));
    }
  });

  if (!BY_HAND.has(name)) test(`${name}: the lanes hold all of the log's time`, () => {
    const lanes = lanesOf(open(events));
    const held = sum(events.map((e) => e.held ?? 0));
    const busyIn = (some) => sum(some.flatMap((lane) => lane.between(0, Infinity)).filter((s) => !s.open).map((s) => s.until - s.from));
    assert.equal(busyIn([...lanes.threads.values()]), held);
    const ofCards = events.filter((e) => e.kind === 'complete' && e.engine !== 'host').map((e) => e.end - e.start);
    const cards = [...lanes.cards.values()];
    assert.equal(busyIn(cards.flatMap((card) => [...card.streams.values()])), sum(ofCards));
    const engines = [...cards.flatMap((card) => [...card.engines.values()]), ...lanes.peers.values()];
    assert.equal(busyIn(engines), sum(ofCards));
  });

  test(`${name}: a slice has the hue of what it writes`, () => {
    const lanes = lanesOf(open(events));
    const state = initial();
    const hue = (id) => state.lineages.get(state.storages.get(id)?.lineage)?.index;
    const indexes = events.map((e) => {
      apply(state, e);
      return hue(e.kind === 'copy' ? e.dst.storage : e.out?.[0]?.storage) ?? hue(e.src?.storage) ?? -1; // a value that is read back is its source's
    });
    for (const lane of everyLane(lanes)) {
      for (const { slice } of lane.between(0, Infinity)) if (slice.work && slice.index >= 0) assert.equal(slice.index, indexes[slice.seq], `event ${slice.seq}`);
    }
  });

  test(`${name}: slices are found by event and by time`, () => {
    const lanes = lanesOf(open(events));
    for (const lane of lanes.rows().flatMap((row) => row.lanes)) {
      for (const { slice, open: endless } of lane.between(0, Infinity)) {
        if (endless || slice.until === slice.from) continue;
        assert.ok(lanes.find(slice.seq).some((f) => f.lane === lane && f.slice === slice), `${lane.kind} ${slice.seq}`);
        assert.equal(lane.near((slice.from + slice.until) / 2), slice);
      }
    }
  });
}

test('one stream: a row for each engine', () => {
  assert.deepEqual(named(lanesOf(open(logs().get('demo-01-where-am-i')))), ['host', 'cuda:0 copies in', 'cuda:0 compute', 'cuda:0 copies out']);
  assert.deepEqual(named(lanesOf(open(logs().get('01-where-am-i')))), ['host', 'cuda:0 copies in', 'cuda:0 compute']);
});

test('two streams: a copy beside a kernel', () => {
  const lanes = lanesOf(open(logs().get('overlap')));
  assert.deepEqual(named(lanes), ['host', 'cuda:0 stream 0', 'cuda:0 stream 1', 'cuda:0 copies in']);
  const [zero, one] = [...lanes.cards.get('cuda:0').streams.values()];
  const copies = one.between(0, Infinity).filter((s) => s.slice.work.event.kind === 'copy');
  assert.ok(copies.some((copy) => zero.between(copy.from, copy.until).some((s) => s.slice.work.event.kind === 'op')));
  assert.deepEqual(named(lanes, 3), ['host', 'cuda:0 all']);
});

test('the first wait of a copy comes before it', () => {
  const events = logs().get('demo-03-round-trip');
  const [host] = lanesOf(open(events)).threads.values();
  const all = host.between(0, Infinity).map((s) => s.slice);
  const wait = all.findIndex((s) => events[s.seq].kind === 'sync' && events[s.seq].held > 10);
  assert.equal(events[all[wait + 1].seq].dir, 'd2h');
  assert.equal(all[wait].until, all[wait + 1].from);
});

const script = (...events) => open(events.map((e, seq) => ({ seq, th: 0, ...e })));
const kernel = (id, t, stream, start, end, device = 'cuda:0') => [
  { kind: 'op', t, id, name: 'add', device, stream, in: [], out: [{ storage: id }], held: 1 },
  { kind: 'complete', t, id, start, end, engine: 'compute' },
];

test('a wait says what it ended with', () => {
  const events = logs().get('overlap');
  const one = open(events);
  const lanes = lanesOf(one);
  const [host] = lanes.threads.values();
  const words = host.between(0, Infinity).map(({ slice }) => slice).filter((s) => s.look === 'wait').map((s) => label(s, host, one, lanes));
  assert.deepEqual(words, ['waits for fill', 'waits for add', 'waits for add']);
});

test('work without an end is open, after what has ended', () => {
  const one = script(...kernel(1, 5, 0, 6, 20), { kind: 'copy', t: 10, id: 2, dir: 'd2h', src: { device: 'cuda:0' }, dst: { device: 'cpu' } });
  const [stream] = lanesOf(one).cards.get('cuda:0').streams.values();
  assert.deepEqual(stream.between(0, 100).map((s) => [s.from, s.until, s.open]), [[6, 20, false], [20, Infinity, true]]);
});

test('lanes go on as events arrive', () => {
  const events = logs().get('overlap');
  const [whole, live] = [open(events), run({ run: 2 })];
  for (let i = 0; i < events.length; i += 7) {
    live.take(i, events.slice(i, i + 7));
    lanesOf(live);
  }
  const told = (one) => everyLane(lanesOf(one)).map((lane) => lane.between(0, Infinity).map((s) => [s.from, s.until, s.slice.seq, s.slice.index]));
  assert.deepEqual(told(live), told(whole));
});

test('completes out of order are put in order', () => {
  const one = script(...kernel(1, 1, 0, 50, 60), ...kernel(2, 2, 0, 10, 20), ...kernel(3, 3, 0, 30, 40));
  assert.deepEqual(lanesOf(one).rows()[1].lanes[0].between(0, 100).map((s) => s.slice.work.id), [2, 3, 1]);
});

test('each thread has a row, and each pair of cards', () => {
  const copy = { kind: 'copy', t: 20, id: 9, dir: 'p2p', stream: 0, src: { device: 'cuda:1' }, dst: { device: 'cuda:0' } };
  const one = script(...kernel(1, 5, 0, 6, 20), { kind: 'sync', t: 30, th: 1, scope: 'device', held: 10 }, copy, { kind: 'complete', id: 9, start: 21, end: 25, engine: 'p2p' });
  assert.deepEqual(named(lanesOf(one)), ['host thread 0', 'host thread 1', 'cuda:0 compute', 'cards 1 → 0']);
});

test('arrows go from events to what waited', () => {
  const events = logs().get('overlap');
  const lanes = lanesOf(open(events));
  const all = lanes.arrows(0, Infinity);
  assert.equal(all.length, 4);
  for (const { seq, from, to } of all) {
    assert.deepEqual([from.lane.stream, to.lane.stream], [1, 0]);
    const next = events.find((e, i) => i > seq && e.kind === 'op' && e.stream === 0);
    assert.equal(to.t, events.find((e) => e.kind === 'complete' && e.id === next.id).start);
    assert.ok(from.t <= to.t);
  }
  const one = script(...kernel(1, 5, 1, 6, 90), { kind: 'event_record', t: 7, event: 3, device: 'cuda:0', stream: 1 },
    { kind: 'sync', t: 90, scope: 'event', event: 3, device: 'cuda:0', held: 80 });
  assert.deepEqual(lanesOf(one).arrows(0, 100).map(({ from, to }) => [from.t, to.lane.kind, to.t]), [[90, 'thread', 90]]);
});

test('both accesses of a data race are known by it', () => {
  const one = script(...kernel(1, 5, 0, 6, 20), ...kernel(2, 6, 1, 8, 20), { kind: 'data_race', t: 6, a: 0, b: 2, type: 'race', storage: 1, fix: 'wait' });
  const lanes = lanesOf(one);
  for (const seq of [0, 2]) {
    const { lane, slice } = lanes.find(seq).find((f) => f.lane.kind === 'stream');
    const words = about({ from: slice.from, until: slice.until, busy: 1, count: 1, slice, open: false }, lane, one, lanes);
    assert.match(words.at(-1), /^Data race/);
  }
});

test('the time of a slice has its launch in it', () => {
  const [op, complete] = kernel(1, 5, 0, 6, 7406);
  const told = (fields) => {
    const one = script(op, { ...complete, ...fields });
    const lanes = lanesOf(one);
    const { lane, slice } = lanes.find(0).find((f) => f.lane.kind === 'engine');
    const note = noteOf(slice, lane, { x: 0, end: 900 });
    const took = chosen({ run: one, lanes }, { lanes: [lane], y: 0, h: 15 }, [note], (words) => 6 * words.length, { x: 0, end: 1000 })[0].took;
    return [about({ from: slice.from, until: slice.until, busy: 1, count: 1, slice, open: false }, lane, one, lanes)[1].split(', from')[0], took];
  };
  assert.deepEqual(told({}), ['7.4 µs', '7.4 µs']);
  assert.deepEqual(told({ launch: 2300, marks: 3000 }), ['between 2.1 µs and 7.4 µs', '≤ 7.4 µs']);
  assert.deepEqual(told({ launch: 9000, marks: 3000 }), ['at most 7.4 µs', '≤ 7.4 µs']);
});

test('a staged copy shows CPU and bus at work', () => {
  const events = logs().get('demo-03-round-trip');
  const one = open(events);
  const lanes = lanesOf(one);
  for (const copy of events.filter((e) => e.kind === 'copy')) {
    const { wire, staging, start, end } = events.find((e) => e.kind === 'complete' && e.id === copy.id);
    for (const { lane, slice } of lanes.find(copy.seq)) {
      const hops = hopsOf(slice, lane, one);
      assert.ok(hops.every(([from, to]) => from >= start && to <= end && to >= from));
      const took = sum(hops.map(([from, to]) => to - from));
      assert.ok(Math.abs(took - (lane.kind === 'thread' ? staging : wire)) <= 0.02 * took + 2, `${copy.dir}: ${took} in a ${lane.kind}`);
    }
  }
});

test('what was queued says what it was behind', () => {
  const events = logs().get('overlap');
  const one = open(events);
  const lanes = lanesOf(one);
  const [zero, first] = [...lanes.cards.get('cuda:0').streams.values()];
  const told = (lane, slice) => about({ from: slice.from, until: slice.until, busy: 1, count: 1, slice, open: false }, lane, one, lanes).join(' ');
  const copies = first.between(0, Infinity).map((s) => s.slice);
  assert.match(told(first, copies[1]), /queued for [^ ]* µs before, behind batch\[i\]/);
  const held = lanes.arrows(0, Infinity)[0].to.t;
  assert.match(told(zero, zero.near(held)), /behind batch\[i\]/); // the copy that its event was recorded after
});

test('what is narrower than a pixel is joined', () => {
  const one = script(...Array.from({ length: 1000 }, (_, i) => kernel(i + 1, i * 10, 0, i * 10, i * 10 + (i === 500 ? 9 : 4))).flat());
  const lane = lanesOf(one).rows()[1].lanes[0];
  const seen = lane.between(0, 10000, 8);
  assert.ok(seen.length <= 1000);
  const coarse = lane.between(0, 10000, 1000);
  assert.ok(coarse.length <= 12, `${coarse.length}`);
  assert.equal(sum(coarse.map((s) => s.busy)), 4005);
  assert.equal(sum(coarse.map((s) => s.count)), 1000);
  assert.ok(lane.between(0, 10000, 6).some((s) => s.count === 1 && s.slice.work.id === 501), 'a long one stands alone');
});

test('a million events give no more slices than pixels', () => {
  const events = [];
  for (let i = 0; i < 500000; i++) events.push(...kernel(i + 1, i * 10, i % 2, i * 10, i * 10 + 7));
  const one = open(events);
  const lanes = lanesOf(one);
  for (const lane of everyLane(lanes)) lane.between(0, 1); // put in order
  const found = lanesOf(one).rows().flatMap((row) => row.lanes).map((lane) => lane.between(0, 5e6, 5e6 / 1400));
  assert.ok(found.every((some) => some.length > 600 && some.length < 3000)); // as many as there are pixels, not events
});

test('malformed events never make lanes throw', () => {
  const next = random(5);
  const odd = [null, 'x', NaN, -1, {}, [], [null], { device: 7 }, '0xzz', 1e300];
  for (const events of logs().values()) {
    for (let round = 0; round < 20; round++) {
      const one = open(events.map((e) => {
        if (next() > 0.1) return e;
        const keys = Object.keys(e);
        return next() < 0.2 ? odd[Math.floor(next() * odd.length)] : { ...e, [keys[Math.floor(next() * keys.length)]]: odd[Math.floor(next() * odd.length)] };
      }));
      const lanes = lanesOf(one);
      loopsOf(one);
      const course = axis(one.total, breaksOf(lanes, one.total));
      ticks(course, 0, course.units, course.units / 10);
      for (const lane of everyLane(lanes)) {
        const all = lane.between(0, Infinity, 100);
        all.forEach((s, i) => assert.ok(!i || s.from >= all[i - 1].until, `${lane.kind}`));
        lane.near(next() * one.total, 10);
      }
      for (let i = 0; i < 5; i++) lanes.find(Math.floor(next() * events.length));
    }
  }
});

// ---- the axis -------------------------------------------------------------------------------------

for (const [name, events] of logs()) {
  test(`${name}: the axis is monotone, and back again`, () => {
    const one = open(events);
    const course = axis(one.total, breaksOf(lanesOf(one), one.total));
    const next = random(9);
    const times = [0, ...Array.from({ length: 200 }, () => next() * one.total).sort((a, b) => a - b), one.total];
    times.forEach((t, i) => {
      const u = course.toUnits(t);
      assert.ok(!i || u >= course.toUnits(times[i - 1]), `at ${t}`);
      assert.ok(Math.abs(course.toTime(u) - t) < 1e-3 + t * 1e-9, `${course.toTime(u)}, not ${t}`);
    });
    assert.ok(Math.abs(course.toUnits(one.total) - course.units) < 1e-3);
    course.parts.forEach((p, i) => assert.deepEqual([p.t0, p.u0], i ? [course.parts[i - 1].t1, course.parts[i - 1].u1] : [0, 0]));
  });
}

test('the first segment of a card is a break', () => {
  const one = open(logs().get('demo-01-where-am-i'));
  const breaks = breaksOf(lanesOf(one), one.total);
  assert.equal(breaks.length, 1);
  assert.equal(breaks[0].until - breaks[0].from, 100000);
  const course = axis(one.total, breaks);
  const [gap] = course.parts.filter((p) => p.gap);
  assert.ok(Math.abs((gap.u1 - gap.u0) / course.units - 0.12) < 0.001);
});

test('page-locking is a break, other work is not', () => {
  const one = open(logs().get('overlap'));
  const breaks = breaksOf(lanesOf(one), one.total);
  assert.equal(breaks.length, 4);
  const pin = { kind: 'segment', t: 1000, device: 'cpu', mem: 'pinned', bytes: 4096, held: 900 };
  const busy = script(...kernel(1, 10, 0, 20, 300), ...kernel(2, 11, 0, 800, 1200), pin);
  assert.deepEqual(breaksOf(lanesOf(busy), 1200).map((b) => [b.from, b.until]), [[300, 800]]);
});

test('a program that page-locks again and again has no breaks', () => {
  const one = open(logs().get('pinning'));
  assert.deepEqual(breaksOf(lanesOf(one), one.total), []);
});

test('a search finds names, kernels, tensors and lines', () => {
  const events = logs().get('demo-01-where-am-i');
  const one = open(events);
  const from = (seq, by, words) => events[nextMatch(one, seq, by, words, () => true)];
  assert.equal(from(-1, 1, 'matmul').name, 'matmul');
  assert.equal(from(events.length, -1, 'line 15').line, 15);
  assert.equal(from(-1, 1, 'moved').kind, 'copy');
  const copies = events.filter((e) => e.kind === 'copy').map((e) => e.seq);
  assert.deepEqual([from(copies[0], 1, 'copy').seq, from(copies[1], 1, 'd2h').seq], [copies[1], copies[1]]);
  assert.equal(nextMatch(one, 0, 1, 'no such thing', () => true), -1);
  assert.equal(nextMatch(one, 0, 1, 'matmul', () => false), -1);
});

test('first segments of many cards are breaks', () => {
  const segments = Array.from({ length: 7 }, (_, i) => ({ kind: 'segment', t: (i + 1) * 120, device: `cuda:${i}`, mem: 'device', bytes: 4096, held: 100 }));
  assert.equal(breaksOf(lanesOf(script(...segments)), 840).length, 7);
  assert.equal(breaksOf(lanesOf(script(...segments.map((e) => ({ ...e, device: 'cpu', mem: 'pinned' })))), 840).length, 0);
});

test('breaks in a row are one, with one label', () => {
  const call = (t, kind, bytes) => ({ kind, t, device: 'cuda:0', bytes, held: 60 });
  const one = script(...kernel(1, 10, 0, 20, 300), call(400, 'segment_free', 4096), call(460, 'segment_free', 4096), call(521, 'segment_free', 8192),
    ...kernel(2, 600, 0, 620, 900), call(1000, 'segment_free', 4096), call(1060, 'segment', 4096));
  const breaks = breaksOf(lanesOf(one), 1100);
  assert.deepEqual(breaks.map(({ from, until, seqs }) => [from, until, seqs.length]), [[340, 521, 3], [940, 1060, 2]]);
  const [first, second] = breaks.map((gap) => breakWords(gap, one));
  assert.deepEqual([first.time, first.what, first.bytes, first.sentences.length], ['181 ns', 'to return', '16 KiB', 3]);
  assert.deepEqual([second.what, second.bytes], ['to return, reserve', '']);
});

test('a returned segment is told from a reserved one', () => {
  const one = script({ kind: 'segment', t: 400, device: 'cuda:0', bytes: 4096, held: 60 }, { kind: 'segment_free', t: 500, device: 'cuda:0', bytes: 4096, held: 60 });
  const lanes = lanesOf(one);
  const [host] = lanes.threads.values();
  assert.deepEqual(host.between(0, 1000).map(({ slice }) => labels(slice, host, one, lanes)), [['reserves 4 KiB', '4 KiB'], ['returns 4 KiB', '−4 KiB']]);
});

test('a card taken again and again has one break', () => {
  const one = script(...Array.from({ length: 12 }, (_, i) => [
    { kind: 'segment', t: i * 100 + 80, device: 'cuda:0', mem: 'device', bytes: 4096, held: 80 }, ...kernel(i + 1, i * 100 + 81, 0, i * 100 + 81, i * 100 + 100)]).flat());
  assert.deepEqual(breaksOf(lanesOf(one), 1200).map(({ from, until }) => [from, until]), [[0, 80]]);
});

test('ticks are round, apart, and exact enough', () => {
  const course = axis(1000, [{ from: 100, until: 600 }]);
  const { step, times } = ticks(course, 0, course.units, 90);
  assert.equal(step, 100);
  assert.deepEqual(times, [0, 100, 600, 700, 800, 900, 1000]);
  assert.deepEqual([tickWords(1560000, 20000), tickWords(1234500, 500), tickWords(2.5e9, 5e8), tickWords(40, 10)], ['1,560 µs', '1,234.5 µs', '2.5 s', '40 ns']);
});

// ---- memory over time -----------------------------------------------------------------------------

for (const [name, events] of logs()) {
  test(`${name}: the bytes of all lines are those that live`, () => {
    const one = open(events);
    const next = random(4);
    for (let i = 0; i < 40; i++) {
      const t = next() * one.total;
      for (const device of memoriesOf(one).devices()) {
        const memory = memoriesOf(one).of(device);
        const { total, lines } = memory.at(t);
        const live = new Map();
        for (const e of events.slice(0, one.timeline.seqAt(t) + 1)) {
          if (e.kind === 'alloc' && e.device === device) live.set(e.storage, e.bytes);
          if (e.kind === 'free') live.delete(e.storage);
        }
        assert.equal(total, sum([...live.values()]), `${device} at ${t}`);
        assert.equal(sum(lines.map((part) => part.bytes)), total);
        assert.ok(total <= memory.peak && memory.next(t) > t);
      }
    }
  });
}

test('of many lines the highest are told apart', () => {
  const one = script(...Array.from({ length: 20 }, (_, i) => ({ kind: 'alloc', t: i, storage: i + 1, device: 'cuda:0', bytes: 100 + i, file: 'p.c', line: i + 1 })));
  const { lines } = memoriesOf(one).of('cuda:0').at(30);
  assert.deepEqual(lines.map((part) => part.line), [15, 16, 17, 18, 19, 20].map((n) => `p.c:${n}`).concat(''));
  assert.equal(lines.at(-1).bytes, sum(Array.from({ length: 14 }, (_, i) => 100 + i)));
});

// ---- the iterations of loops ---------------------------------------------------------------------------

const wrote = (id, line, name, more = {}) => ({ id, file: 'p.c', line, fn: 'main', name, args: 'x', ...more });
const loop = (id, line, args, turns, more = {}) => wrote(id, line, 'FY_TIMES', { region: 'loop', args, turns, ...more });
const turn = (id, of, n) => ({ id, in: of, region: 'turn', turn: n });

/** A program of kernels: [calls that the first of its events tells, id of its call, thread]. */
const callsOf = (...all) => script(...all.flatMap(([calls, call, th = 0], i) => kernel(i + 1, (i + 1) * 10, 0, (i + 1) * 10, (i + 1) * 10 + 5).map((e, n) => ({ ...e, th, call, ...(n === 0 && { calls }) }))));
const times = (n, turns = n) => callsOf(...Array.from({ length: n }, (_, i) => [[...(i ? [] : [loop(1, 3, 'i, 9', turns)]), turn(2 * i + 2, 1, i), wrote(2 * i + 3, 4, 'fy_add', { in: 2 * i + 2 })], 2 * i + 3]));
const iterationsOf = (one) => loopsOf(one).all.map(({ depth, line, iterations }) => [depth, line, iterations.map(({ n }) => n).join(' ')]);

test('the iterations of a loop are its recorded turns', () => {
  const one = times(3);
  assert.deepEqual(iterationsOf(one), [[0, 3, '1 2 3']]);
  const [{ iterations }] = loopsOf(one).all;
  assert.deepEqual(iterations.map(({ seq, to }) => [seq, to]), [[0, 0], [2, 2], [4, 4]]);
  assert.ok(iterations.every(({ from, until }, i) => from < until && until <= (iterations[i + 1]?.from ?? Infinity)));
  assert.deepEqual(loopsOf(one).at(3).map(iterationWords), ['iteration 2 of 3 of the loop in line 3']);
  assert.deepEqual(loopsOf(times(2, 400)).at(3).map(iterationWords), ['iteration 2 of 400 of the loop in line 3'], 'it is left early, or still runs');
});

test('loops in loops, and in functions that they call', () => {
  const inner = (id, of) => [loop(id, 5, 'k, 2', 2, { in: of, fn: 'work' }), turn(id + 1, id, 0), wrote(id + 2, 6, 'fy_mul', { in: id + 1 })];
  const one = callsOf([[loop(1, 3, 'i, 2', 2), turn(2, 1, 0), ...inner(10, 2)], 12], [[turn(13, 10, 1), wrote(14, 6, 'fy_mul', { in: 13 })], 14], [[wrote(3, 4, 'fy_add', { in: 2 })], 3],
    [[turn(4, 1, 1), ...inner(20, 4)], 22]);
  assert.deepEqual(iterationsOf(one).sort(), [[0, 3, '1 2'], [1, 5, '1'], [1, 5, '1 2']]);
  assert.deepEqual(loopsOf(one).at(2).map(iterationWords), ['iteration 2 of 2 of the loop in line 5', 'iteration 1 of 2 of the loop in line 3']);
});

test('what comes late, or from another thread, stretches no iteration', () => {
  const one = times(2);
  one.take(one.events.length, [{ kind: 'values', th: 0, t: 900, call: 3 }, { kind: 'op', th: 1, t: 950, call: 3, id: 9, name: 'mul' }].map((e, i) => ({ seq: one.events.length + i, ...e })));
  assert.deepEqual(loopsOf(one).all[0].iterations.map(({ to, until }) => [to, until]), [[0, 19], [2, 20]]);
});

test('a plain loop claims no turn, but the nth call', () => {
  const calls = (id, line, more) => [[wrote(id, line, 'fy_add', more)], id];
  const one = callsOf(calls(1, 4), calls(2, 4), calls(3, 5), calls(4, 4), [[loop(10, 7, 'i, 2', 2), turn(11, 10, 0), wrote(12, 8, 'fy_add', { in: 11 })], 12], [[wrote(13, 8, 'fy_add', { in: 11 })], 13], [[turn(14, 10, 1), wrote(15, 8, 'fy_add', { in: 14 })], 15]);
  assert.deepEqual(iterationsOf(one), [[0, 7, '1 2']]);
  assert.deepEqual([0, 2, 4, 6, 8, 10, 12].map((seq) => timeWords(loopsOf(one).timeAt(seq))), ['', 'the 2nd time at this call', '', 'the 3rd time at this call', '', 'the 2nd time at this call', '']);
});

test('the loops of real programs', () => {
  const of = (name) => iterationsOf(open(logs().get(name)));
  assert.deepEqual(of('06-page-locked'), [], 'a for is none');
  assert.deepEqual(of('overlap')[0], [0, 25, '1 2 3 4']);
  assert.deepEqual(of('demo-27-training-step'), [[0, 12, '1 2 3']]);
  assert.deepEqual(of('demo-17-sum-of-losses'), [[0, 9, '1 2 3']]);
});

test('iterations too narrow for a number are one bracket', () => {
  const one = times(128);
  const [row] = loopRows(loopsOf(one));
  const drawn = (px) => brackets(row, { x: (t) => t * px, t: (x) => x / px }, 0, 1300 * px).map(bracketWords);
  assert.deepEqual(drawn(0.1), [['128 iterations', '128 ×']]);
  assert.deepEqual([drawn(2.5).length, drawn(2.5)[7][0]], [128, 'iteration 8 of 128']);
  const seen = brackets(row, { x: (t) => (t - 605) * 3, t: (x) => x / 3 + 605 }, 0, 90);
  assert.deepEqual(seen.map(({ iterations: [iteration] }) => iteration.n), [60, 61, 62, 63]);
});

test('in one row, the brackets are those that differ', () => {
  const loop = (depth, first, size, n) => ({ th: 0, depth, iterations: Array.from({ length: n }, (_, i) => ({ n: i + 1, from: first + i * size, until: first + (i + 1) * size })) });
  const rows = loopRows({ all: [loop(0, 0, 500, 4), loop(1, 0, 100, 5), loop(1, 500, 100, 5), loop(2, 0, 9, 1)] });
  assert.deepEqual(rows.map(({ loops }) => loops.length), [1, 2]);
  const shown = (from, to, most) => rowsIn({ rows, most }, { x: (t) => t - from, t: (x) => x + from }, 0, to - from).map((row) => rows.indexOf(row));
  assert.deepEqual([shown(0, 2000, 1), shown(510, 900, 1), shown(510, 900, 2)], [[0], [1], [0, 1]]);
});

test('short and long iterations by iterations: pairs', () => {
  const iterations = Array.from({ length: 6 }, (_, i) => ({ n: i + 1, from: Math.floor(i / 2) * 40 + (i % 2) * 10, until: Math.floor(i / 2) * 40 + 10 + (i % 2) * 30 }));
  const drawn = brackets({ loops: [{ iterations }] }, { x: (t) => t, t: (x) => x }, 0, 1000);
  assert.deepEqual(drawn.map((one) => bracketWords(one)[2]), ['1–2', '3–4', '5–6']);
});

test('a long iteration among short ones has its own bracket', () => {
  const iterations = Array.from({ length: 40 }, (_, i) => ({ n: i + 1, from: i * 10 + (i > 20 ? 90 : 0), until: (i + 1) * 10 + (i >= 20 ? 90 : 0) }));
  const drawn = brackets({ loops: [{ iterations }] }, { x: (t) => t, t: (x) => x }, 0, 1000);
  assert.deepEqual(drawn.map((one) => bracketWords(one)[1]), ['iterations 1–20', 'iteration 21', 'iterations 22–40']);
});

test('marks too near for flags: seldom ones have one', () => {
  const marks = [{ t: 0, text: 'start' }];
  for (let epoch = 0; epoch < 4; epoch++) {
    marks.push({ t: 100 + epoch * 200, text: 'epoch' });
    for (let i = 0; i < 10; i++) marks.push({ t: 105 + epoch * 200 + i * 19, text: i % 2 ? 'forward' : 'load' });
  }
  marks.push({ t: 895, text: 'validation' });
  const at = (px) => ({ x: (t) => t * px, t: (x) => x / px });
  const flagsAt = (px, right) => flagsIn(marks, at(px), 0, right, (words) => words.length * 7);
  const seen = flagsAt(1, 900);
  assert.deepEqual(seen.flags.map(({ mark }) => mark.text), ['start', 'validation', 'epoch', 'epoch', 'epoch', 'epoch']);
  assert.ok(seen.ticks.length > 20 && seen.flags.every(({ from, w }) => from >= 0 && from + w <= 900), 'the last one leans back from the edge');
  for (const px of [0.3, 1, 2.5, 8]) {
    const { flags } = flagsAt(px, 900);
    const order = flags.toSorted((a, b) => a.from - b.from);
    order.slice(1).forEach((one, i) => assert.ok(one.from >= order[i].from + order[i].w && one.x >= order[i].from + order[i].w, `at ${px}: ${one.mark.text} over ${order[i].mark.text}`));
  }
  assert.equal(flagsAt(12, 2200).ticks.length, 0, 'near enough, each has one');
});

// ---- words in the lanes ---------------------------------------------------------------------------

const width = (words) => words.length * 6;
const everywhere = { x: 0, end: 1e4 };
const noteOf = (one, lane, more) => ({ one: { slice: one, from: one.from, until: one.until, lane }, lane: 0, y: 0, h: 11, ...more });

test('a wait says for what, where there is room', () => {
  const one = open(logs().get('overlap'));
  const lanes = lanesOf(one);
  const [host] = lanes.threads.values();
  const wait = host.between(0, Infinity).map(({ slice }) => slice).findLast((s) => s.look === 'wait');
  const said = (w) => chosen({ run: one, lanes }, { lanes: [host], y: 0, h: 15 }, [noteOf(wait, host, { x: 0, end: w })], width, everywhere)[0]?.words;
  assert.deepEqual([said(100), said(70), said(40), said(20)], ['waits for add', 'for add', 'add', undefined]);
});

test('what was queued says behind what, in its lane', () => {
  const copy = { kind: 'copy', t: 2, id: 7, dir: 'p2p', bytes: 8, stream: 0, src: { device: 'cuda:0' }, dst: { device: 'cuda:1' } };
  const one = script(copy, { kind: 'complete', t: 2, id: 7, start: 10, end: 90, engine: 'p2p' }, ...kernel(8, 4, 0, 91, 99, 'cuda:1'));
  const lanes = lanesOf(one);
  const [stream] = lanes.cards.get('cuda:1').streams.values();
  const { slice } = stream.between(0, 100)[0];
  const note = noteOf(slice, stream, { x: 0, end: 300, queue: true });
  assert.match(chosen({ run: one, lanes }, { lanes: [stream], y: 0, h: 15 }, [note], width, everywhere)[0].words, /^behind /);
  assert.equal(chosen({ run: one, lanes }, { lanes: [stream], y: 0, h: 15 }, [{ ...note, end: 30 }], width, everywhere).length, 0, 'or nothing');
});

test('a folded row has words where one lane is busy', () => {
  const one = script(...kernel(1, 1, 0, 10, 400), ...kernel(2, 2, 1, 300, 700), ...kernel(3, 3, 0, 800, 1100));
  const lanes = lanesOf(one);
  const [zero, first] = [...lanes.cards.get('cuda:0').streams.values()];
  const row = { lanes: [zero, first], y: 20, h: 15 };
  const of = (lane, i) => lane.between(0, 2000).map(({ slice }) => noteOf(slice, lane, { lane: i, x: slice.from, end: slice.until, h: 5 }));
  const notes = [...of(zero, 0), ...of(first, 1), noteOf(zero.between(0, 2000)[1].slice, zero, { x: 400, end: 800, queue: true })];
  const said = chosen({ run: one, lanes }, row, notes, width, everywhere);
  assert.ok(said.every(({ words, y }) => words.startsWith('add') && y === 27.5));
  assert.deepEqual(said.map(({ x }) => x).sort((a, b) => a - b), [14, 804], 'none over the other lane');
});

// ---- the part that shows a step -------------------------------------------------------------------

const part = (from, to, main = to - from) => ({ from, to, main });

test('a step seen in the whole run is shown there', () => {
  assert.equal(followed(null, part(100, 200), 1000, 1000), null);
  assert.ok(!isTiny(null, part(100, 124), 1000, 1000) && isTiny(null, part(100, 123), 1000, 1000));
});

test('a short step is shown with its neighbours', () => {
  const [from, to] = followed(null, part(500, 510), 10000, 1000);
  assert.ok(Math.abs((to - from) - 50) < 1e-9 && from < 500 && to > 510);
  assert.ok(500 - from > 15 && to - 510 > 15, 'what came before it and what comes after');
  assert.deepEqual(fitted(part(0, 10), 10000), [0, 50]);
  assert.deepEqual(fitted(part(9990, 10000), 10000), [9950, 10000]);
  assert.equal(fitted(part(0, 900), 1000), null);
});

test('a call and its work are both in sight', () => {
  const step = extent([{ from: 500, until: 504 }, { from: 590, until: 600 }], (t) => t);
  assert.deepEqual(step, { from: 500, to: 600, main: 10 });
  const [from, to] = followed(null, step, 10000, 1000);
  assert.ok(from < 500 && to > 600 && to - from < 150, `${from} to ${to}`);
  assert.equal(followed(null, part(500, 9000, 10), 10000, 1000), null, 'too far apart');
  assert.equal(extent([{ from: 3, until: Infinity }], (t) => t), null);
});

test('the part stays while steps can be seen in it', () => {
  const view = followed(null, part(500, 510), 10000, 1000);
  assert.equal(followed(view, part(512, 518), 10000, 1000), view);
  const next = followed(view, part(560, 570), 10000, 1000);
  assert.equal(Math.round(next[1] - next[0]), 50, 'as near as before');
  assert.ok(next[0] < 560 && next[1] > 570);
  assert.notDeepEqual(followed(view, part(512, 512.5), 10000, 1000), view);
  assert.equal(followed(view, part(600, 9000), 10000, 1000), null);
});

test('of many arrows some of everywhere are drawn', () => {
  const arrows = arrowsOf((seq) => ({ seq, from: { t: seq }, to: { t: seq + 1 } }), () => 1);
  for (let seq = 0; seq < 20000; seq++) arrows.add(seq);
  const found = arrows.between(0, Infinity).map(({ seq }) => seq);
  assert.equal(found.length, 200);
  assert.ok(found[0] < 200 && found[100] > 9000 && found.at(-1) > 19000);
  assert.deepEqual(arrows.between(19990.5, 19995).map(({ seq }) => seq), [19990, 19991, 19992, 19993, 19994, 19995]);
});
