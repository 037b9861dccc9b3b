// compare_test.mjs: two runs beside each other, as data: which steps are the same, what differs and by how much; and what is
// said about a finding.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changes, ledgerRows, lineRows, stepPairs, summary, totalsOf } from '../../www/model/compare.js';
import { placeOf, priceOf } from '../../www/model/finding.js';
import { run } from '../../www/model/run.js';
import { logs, random } from './logs.mjs';

const runOf = (events) => {
  const one = run({ run: 1 });
  one.take(0, events);
  one.ended = true;
  return one;
};

const isRising = (pairs) => pairs.every(([i, j], k) => !k || (i > pairs[k - 1][0] && j > pairs[k - 1][1]));

for (const [name, events] of logs()) {
  test(`a run compared with itself has no difference: ${name}`, () => {
    const [a, b] = [runOf(events), runOf(events)];
    for (const bySeq of [true, false]) {
      const pairs = stepPairs(a, b, bySeq);
      assert.ok(pairs.every(([i, j]) => i === j));
      const found = changes(a, b, pairs);
      assert.equal(bySeq ? found.a.size + found.b.size : 0, 0);
      assert.deepEqual(lineRows(a, b, pairs), []);
    }
    assert.equal(stepPairs(a, b, true).length, a.steps.length);
    assert.equal(stepPairs(a, b, false).length, a.steps.filter((s) => s.line).length);
    assert.equal(summary(totalsOf(a), totalsOf(b)), 'Copies, bytes and total time are the same');
    assert.ok(ledgerRows(totalsOf(a), totalsOf(b)).every((row) => row.difference === 'the same' && row.better === 0));
  });

  test(`events left out are told and nothing else: ${name}`, () => {
    const copies = events.map((e, i) => (e.kind === 'copy' && !e.cast && (e.dir === 'h2d' || e.dir === 'd2h') ? i : -1)).filter((i) => i >= 0);
    if (!copies.length) return;
    const gone = copies[Math.floor(copies.length / 2)];
    const { id } = events[gone];
    const [a, b] = [runOf(events), runOf(events.map((e, i) => (i === gone || (e.kind === 'complete' && e.id === id) ? { th: e.th, calls: e.calls, call: e.call } : e)))];
    const pairs = stepPairs(a, b, true);
    assert.ok(isRising(pairs));
    const found = changes(a, b, pairs);
    assert.equal(found.a.get(gone)?.what, 'gone');
    assert.deepEqual([...found.a.values()].filter((one) => one.what !== 'gone'), []);
    assert.equal(found.b.size, 0);
    assert.match(summary(totalsOf(a), totalsOf(b)), /^1 copy fewer, /);
  });
}

// ---- two programs ------------------------------------------------------------------------------------

const session = { seq: 0, t: 0, kind: 'session', th: 0, clock: 'model', devices: [{ name: 'cpu' }, { name: 'cuda:0' }] };

/** A log of copies: [[line, ns], ...] of a program with this text. */
function program(text, copies) {
  const events = [session, { seq: 1, t: 0, kind: 'source', th: 0, path: 'p.c', text }];
  let t = 0;
  copies.forEach(([line, ns], i) => {
    t += ns;
    const at = { th: 0, call: i + 1, calls: [{ id: i + 1, file: 'p.c', line }] };
    events.push({ seq: events.length, t, kind: 'copy', ...at, id: i + 1, src: { device: 'cpu' }, dst: { device: 'cuda:0' }, dir: 'h2d', bytes: 100, held: ns });
    events.push({ seq: events.length, t, kind: 'complete', ...at, id: i + 1, start: t - ns, end: t, engine: 'h2d', wire: ns });
  });
  return runOf(events);
}

test('steps of one text are the same though lines moved', () => {
  const a = program('first\nsecond\nthird', [[1, 10], [2, 10], [3, 10]]);
  const b = program('// new\nfirst\n\nthird\nsecond too', [[2, 10], [4, 10], [5, 30]]);
  const pairs = stepPairs(a, b, false);
  const lines = pairs.map(([i, j]) => [a.steps[i].line, b.steps[j].line]);
  assert.deepEqual(lines, [[1, 2], [3, 4]]);
});

test('a copy that leaves a loop is its last one', () => {
  const text = 'to\nwork\nback';
  const a = program(text, [[1, 5], [2, 5], [3, 5], [1, 5], [2, 5], [3, 5], [1, 5], [2, 5], [3, 5]]);
  const b = program(text, [[1, 5], [2, 5], [2, 5], [2, 5], [3, 5]]);
  const pairs = stepPairs(a, b, false);
  assert.equal(pairs.length, 5);
  assert.equal(a.steps[pairs.at(-1)[0]].line, 3);
  assert.equal(a.steps.length - 1, pairs.at(-1)[0]);
});

test('long runs are paired in turn and still in order', () => {
  const next = random(7);
  const walk = (n) => Array.from({ length: n }, () => [1 + Math.floor(next() * 3), 5]);
  const text = 'one\ntwo\nthree';
  const [a, b] = [program(text, walk(2500)), program(text, walk(2200))];
  const pairs = stepPairs(a, b, false);
  assert.ok(isRising(pairs));
  assert.ok(pairs.every(([i, j]) => a.steps[i].line === b.steps[j].line));
  assert.ok(pairs.length > 60, String(pairs.length));
});

test('a copy that takes less is told with its time', () => {
  const [a, b] = [program('x', [[1, 100]]), program('x', [[1, 60]])];
  const pairs = stepPairs(a, b, false);
  const found = changes(a, b, pairs);
  assert.deepEqual([...found.a.values(), ...found.b.values()], [{ what: 'less', ns: -40 }, { what: 'less', ns: -40 }]);
  assert.equal(summary(totalsOf(a), totalsOf(b)), '40 ns sooner');
  assert.equal(summary(totalsOf(b), totalsOf(a)), '40 ns later');
  const [row] = lineRows(a, b, pairs);
  assert.deepEqual([row.a, row.b, row.words, row.source], [1, 1, '40 ns less', 'x']);
});

test('two ledgers subtracted say what is fewer, less, sooner', () => {
  const [a, b] = [program('x\ny', [[1, 100], [2, 100], [2, 100]]), program('x\ny', [[1, 100]])];
  assert.equal(summary(totalsOf(a), totalsOf(b)), '2 copies fewer, 200 B less, 200 ns sooner');
  const rows = ledgerRows(totalsOf(a), totalsOf(b));
  assert.deepEqual(rows.map((row) => row.difference), ['200 ns less', '200 ns less', '2 fewer', 'the same', '200 B less', '200 ns less', 'the same']);
  assert.deepEqual(rows.map((row) => row.better), [1, 1, 1, 0, 1, 1, 0]);
  assert.equal(ledgerRows(totalsOf(b), totalsOf(a))[2].difference, '2 more');
});

test('malformed events in either run throw nothing', () => {
  const odd = [null, 3, {}, { kind: 'copy' }, { kind: 'op', out: 'x' }, { kind: 'complete', id: {} }, { kind: 'sync', held: 'much' }];
  const [a, b] = [runOf([session, ...odd]), runOf([...odd, session])];
  for (const bySeq of [true, false]) {
    const pairs = stepPairs(a, b, bySeq);
    changes(a, b, pairs);
    lineRows(a, b, pairs);
  }
  summary(totalsOf(a), totalsOf(b));
  placeOf({ seq: 99, line: -1 }, a);
  placeOf({}, a);
});

// ---- findings ----------------------------------------------------------------------------------------

test('a finding says its step and line and box', () => {
  const one = runOf(logs().get('demo-03-round-trip'));
  const copy = one.events.findLast((e) => e.kind === 'copy');
  const { words, step } = placeOf({ seq: one.events.indexOf(copy), line: copy.line }, one);
  assert.match(words, /^step \d+, line 20, box parcel_back$/);
  assert.equal(one.steps[step].line, 20);
});

test('a finding says its price; what is wrong has none', () => {
  assert.deepEqual(priceOf({ weight: 'waste', ns: 4066528, bytes: 32 << 20, times: 4 }), { figure: '4.07 ms', rest: '32 MiB, 4 times' });
  assert.deepEqual(priceOf({ weight: 'waste', ns: 0, bytes: 2048, times: 1 }), { figure: '2 KiB', rest: '' });
  assert.deepEqual(priceOf({ weight: 'wrong', ns: 5, bytes: 2048, times: 2 }), { figure: 'Wrong', rest: '2 times' });
  assert.deepEqual(priceOf({ weight: 'hint', ns: 0, bytes: 0, times: 1 }), { figure: 'Hint', rest: '' });
});
