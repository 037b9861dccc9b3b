// cost_test.mjs: what a run has cost by a moment, in figures and in words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockWords, costLines } from '../../www/model/cost_words.js';
import { instant } from '../../www/model/instant.js';
import { run } from '../../www/model/run.js';
import { logs } from './logs.mjs';

const runOf = (events) => {
  const one = run({ run: 1 });
  one.take(0, events);
  one.ended = true;
  return one;
};

const wireOf = (events, dir) => {
  const ids = new Set(events.filter((e) => e.kind === 'copy' && e.dir === dir).map((e) => e.id));
  return events.filter((e) => e.kind === 'complete' && ids.has(e.id)).reduce((sum, e) => sum + (e.wire ?? e.end - e.start), 0);
};

for (const [name, events] of logs()) {
  test(`time on the bus is that of the log: ${name}`, () => {
    const one = runOf(events);
    const { cost } = instant(one, one.total);
    assert.equal(Math.round(cost.h2d.wire), wireOf(events, 'h2d'));
    assert.equal(Math.round(cost.d2h.wire), wireOf(events, 'd2h'));
  });

  test(`the time on the bus never falls nor jumps: ${name}`, () => {
    const one = runOf(events);
    const steps = 300;
    let last = 0;
    for (let i = 0; i <= steps; i++) {
      const { h2d, d2h } = instant(one, (one.total * i) / steps).cost;
      assert.ok(h2d.wire + d2h.wire >= last - 1e-6, `at ${i}: ${h2d.wire + d2h.wire} after ${last}`);
      assert.ok(h2d.wire + d2h.wire <= last + (2 * one.total) / steps + 1, `a jump at ${i}`); // two engines
      last = h2d.wire + d2h.wire;
    }
  });
}

const flow = (copies, bytes, wire, under = 0) => ({ copies, bytes, wire, under });
const words = (cost, hidden) => costLines({ t: 300000, cost: { h2d: flow(0, 0, 0), d2h: flow(0, 0, 0), held: 0, own: 0, cpu: 0, gpu: 0, running: 0, ...cost } }, hidden)
  .map(({ figure, rest }) => figure + rest);

test('the cost is told in plain words', () => {
  assert.deepEqual(words({ h2d: flow(1, 4 << 20, 85000), held: 200000, own: 120000, cpu: 2, gpu: 1 }), [
    '1 copy to the GPU, 4 MiB, 85 µs on the bus', 'The program waited 80 µs; 200 µs in Ferry calls, 300 µs in total', '3 operations: 2 on the CPU, 1 on the GPU',
  ]);
  assert.deepEqual(words({ h2d: flow(2, 4096, 2000, 1), d2h: flow(1, 4, 10) }).slice(0, 3), [
    '3 copies over the bus, 4 KiB', '2 copies to the GPU, 4 KiB, 2 µs on the bus, 1 in progress', '1 copy back to the CPU, 4 B, 10 ns on the bus',
  ]);
  assert.deepEqual(words({ h2d: flow(0, 4096, 2000, 1) })[0], '1 copy to the GPU in progress, 4 KiB so far, 2 µs on the bus');
  assert.deepEqual(words({})[0], 'No copy over the bus so far');
});

test('the cost hides copies that are still to be guessed', () => {
  const hidden = words({ h2d: flow(1, 4 << 20, 85000) }, true).join(' ');
  assert.match(hidden, /\?/);
  assert.doesNotMatch(hidden, /MiB|1 copy/);
});

test('work of the CPU is no wait', () => {
  const events = logs().get('demo-03-round-trip');
  const { held, own } = instant(runOf(events), runOf(events).total).cost;
  const ops = events.filter((e) => e.kind === 'op' && e.device === 'cpu').reduce((sum, e) => sum + e.held, 0);
  assert.ok(own === ops && own > 0 && own < held, `${own} of ${held}`);
});

test('modelled and measured are told apart', () => {
  assert.equal(clockWords('model', 'NVIDIA H200 (simulated)'), 'Modelled as NVIDIA H200, not measured.');
  assert.equal(clockWords('measured', 'NVIDIA H200'), 'Measured on NVIDIA H200.');
  assert.equal(clockWords('model', ''), 'Modelled, not measured.');
});
