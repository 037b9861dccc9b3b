// errors_test.mjs: what an error concerns, read from logs, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mistake, saying, saysOf } from '../../www/model/mistakes.js';
import { run } from '../../www/model/run.js';
import { actions } from '../../www/model/step_actions.js';
import { sentence } from '../../www/model/words.js';
import { logs } from './logs.mjs';
import * as mishaps from './mishaps.mjs';

const open = (events) => {
  const one = run({ run: 1 });
  one.take(0, events);
  one.ended = true;
  return one;
};

/** {one, m}: a run and what its first error, oom or data race concerns. */
function wrongIn(events) {
  const one = open(events);
  const seq = events.findIndex((e) => ['error', 'oom', 'data_race'].includes(e.kind));
  const step = one.steps[one.stepOf(seq)];
  const found = actions(one, step, events[seq].t, one.at(step.to)).filter((a) => a.mistake);
  assert.equal(found.length, 1, 'one mistake a step');
  return { one, step, m: found[0].mistake };
}

test('a mismatch names both operands and devices', () => {
  const { m } = wrongIn(mishaps.scene('mismatch'));
  assert.equal(m.type, 'mismatch');
  assert.deepEqual(m.operands.map(({ name, device, storage }) => [name, device, storage]), [['mat1', 'cpu', 1], ['mat2', 'cuda:0', 2]]);
  assert.ok(m.operands.every((one) => one.wrong.device));
  assert.equal(m.name, 'fy_matmul');
  assert.match(saysOf(m, 2), /never ran: this one is on cuda:0/);
  assert.match(saying(m), /Stopped at line 8: operands on cpu and cuda:0\. mat1 is on cpu, \(64, 64\) float32\./);
});

test('of shapes, the sizes that do not fit are known', () => {
  const dims = (events) => wrongIn(events).m.operands.map((one) => one.wrong.dims);
  assert.deepEqual(dims(mishaps.shape), [[1], [0]]);
  const added = (a, b) => mishaps.log(mishaps.tensor(1, 'x', 3, a), mishaps.tensor(2, 'w', 4, b),
    mishaps.error('shape', `no. x is on cpu (${a.join(', ')}) float32; w is on cpu (${b.join(', ')}) float32`, 'fy_add(x, w)', [1, 2]));
  assert.deepEqual(dims(added([4, 1024], [1000])), [[1], [0]]);
  assert.deepEqual(dims(added([4, 1], [3, 5])), [[0], [0]]);
});

test('of several tensors of a name the log says which', () => {
  const part = (id) => mishaps.tensor(id, 'part[i]', 3, [4, 8]);
  const { m } = wrongIn(mishaps.log(part(1), part(2), mishaps.tensor(3, '', 4, [8, 2], { device: 'cuda:0' }),
    mishaps.error('device_mismatch', 'Expected one device!', 'fy_matmul(part[0], fy_relu(w))', [1, 3])));
  assert.deepEqual(m.operands.map((one) => [one.storage, one.device, one.wrong.device]), [[1, 'cpu', true], [3, 'cuda:0', true]]);
  assert.equal(m.operands[1].name, 'fy_relu(w)', 'without a name, it is called as in the call');
});

test('a full card knows request, hole and holders', () => {
  const { m, step, one } = wrongIn(mishaps.scene('full'));
  assert.equal(m.type, 'full');
  assert.equal(m.request.bytes, 300 * 2 ** 20);
  assert.deepEqual(m.request.hole, { start: 0x7000000000, bytes: 40 * 2 ** 20 });
  assert.equal(m.request.free, 272 * 2 ** 20);
  assert.deepEqual(m.request.holders.map(({ line, bytes, count }) => [line, bytes, count]), [[6, 240 * 2 ** 20, 6]]);
  assert.equal(m.name, 'fy_zeros');
  assert.match(saying(m), /the largest free block is 40 MiB\. Held by line 6: 240 MiB in 6 tensors/);
  assert.equal(step, one.steps.at(-1), 'an oom, its error and the end are one step');
  const smaller = wrongIn(mishaps.scene('full').map((e) => (e.kind === 'oom' ? { ...e, asked: 200 * 2 ** 20 } : e))).m;
  assert.match(saying(m), /272 MiB free, too little: /);
  assert.match(saying(smaller), /272 MiB free, enough, but in pieces: /);
});

test('a hole lies between segments or in one', () => {
  const card = (id, addr, bytes) => mishaps.tensor(id, `t${id}`, 3, [1], { device: 'cuda:0', addr, bytes });
  const segment = (addr, bytes) => ({ kind: 'segment', t: 1, file: 'a.c', line: 3, device: 'cuda:0', mem: 'device', addr: `0x${addr.toString(16)}`, bytes });
  const oom = { kind: 'oom', t: 800, file: 'a.c', line: 6, device: 'cuda:0', asked: 512, allocated: 128, reserved: 384, free: 640, largest: 0 };
  const found = (...events) => wrongIn(mishaps.log(...events, oom)).m.request.hole;
  assert.deepEqual(found(segment(0, 256), card(1, 0, 64), segment(896, 128), card(2, 896, 64)), { start: 256, bytes: 640 });
  assert.deepEqual(found(segment(0, 1024), card(1, 0, 64), card(2, 512, 128)), { start: 64, bytes: 448 });
});

test('a freed tensor knows the line that freed it', () => {
  const { m } = wrongIn(mishaps.freed);
  assert.deepEqual(m.freed, { name: 'w', storage: 2, addr: 0x7000, bytes: 128, device: 'cpu', line: 5 });
  assert.equal(saysOf(m, 2), 'freed at line 5, used at line 6');
  assert.equal(saysOf(m, 1), '');
});

test('a crash names the last call before it', () => {
  const { m, one } = wrongIn(mishaps.segfault);
  assert.equal(m.type, 'crash');
  assert.deepEqual([m.line, m.last.line, m.last.code], [0, 3, 'fy_tensor *x = fy_ones((4, 8));']);
  assert.equal(m.words, 'segmentation fault after line 3');
  assert.ok(one.killed);
  const told = wrongIn([...mishaps.segfault.slice(0, -1), { ...mishaps.segfault.at(-1), file: 'a.c', line: 5 }]).m;
  assert.deepEqual([told.words, told.last, told.more], ['segmentation fault at line 5', null, []], 'where the log has the line');
  const own = wrongIn(mishaps.pointer).m;
  assert.equal(own.type, 'pointer');
  assert.deepEqual(own.operands.map(({ device, storage }) => [device, storage]), [['cuda:0', 1]]);
});

test('a data race has both accesses and the value read', () => {
  const { m } = wrongIn(mishaps.race);
  assert.deepEqual(m.race.ends.map(({ seq, line, does }) => [seq, line, does]), [[6, 4, 'writes'], [7, 6, 'reads']]);
  assert.deepEqual([m.race.storage, m.race.value], [1, '7']);
  assert.deepEqual(m.more, ['What was read: 7.']);
  assert.equal(open(mishaps.race).races, 1);
});

test('what stopped a run is its last step', () => {
  for (const events of [mishaps.shape, mishaps.freed, mishaps.scene('mismatch'), mishaps.scene('full')]) {
    const one = open(events);
    assert.equal(one.steps.at(-1).kind, 'error');
    assert.equal(one.stopped, events.findIndex((e) => e.kind === 'error'));
    assert.equal(one.span(one.steps[one.steps.length - 1])[1], events[one.stopped].t);
  }
  const went = open([...mishaps.shape.slice(0, -1), { ...mishaps.stopped, seq: mishaps.shape.length - 1, status: 0 }]);
  assert.equal(went.stopped, -1, 'a program that goes on was not stopped');
});

test('a race says who, what and what of it', () => {
  const said = (change) => {
    const events = mishaps.scene('race').map((e) => (e.kind === 'session' ? change(e) : e));
    return sentence(events.find((e) => e.kind === 'data_race'), open(events).names);
  };
  const both = /^Data race at there: line 8 copies into it in stream 1, line 9 reads it \(mul\) in the default stream, and nothing orders them: /;
  assert.match(said((e) => e), both);
  assert.match(said((e) => e), /: the simulated card gives NaN on every run\. Fix: call fy_stream_wait_stream/);
  const real = said((e) => ({ ...e, devices: e.devices.map((one) => ({ ...one, kind: one.kind === 'sim' ? 'cuda' : one.kind })) }));
  assert.match(real, both);
  assert.match(real, /: the value is chance\. Fix/);
});

test('a race on integers gives poison', () => {
  const events = mishaps.scene('race').map((e) => (e.kind === 'tensor' ? { ...e, dtype: 'int32' } : e));
  const race = events.find((e) => e.kind === 'data_race');
  const { names } = open(events);
  assert.match(sentence(race, names), /: the simulated card makes the value wrong on every run\./);
  const said = (fields) => sentence({ ...race, ...fields }, names);
  for (const type of ['constructor', '__proto__', 7]) assert.match(said({ type, a: -1 }), /^Data race at there: two accesses without synchronization\./);
});

test('only errors, races and verdicts of stopped runs have mistakes', () => {
  for (const [name, events] of logs()) {
    const one = open(events);
    for (const step of one.steps) {
      const has = actions(one, step, one.total, one.at(step.to)).some((a) => a.mistake);
      const is = (step.kind === 'check' && one.stopped >= 0) || events.slice(step.from, step.to + 1).some((e) => ['error', 'oom', 'data_race'].includes(e?.kind));
      assert.equal(has, is, `${name} ${step.from}`);
    }
  }
  const odd = [{}, { code: 'device_mismatch' }, { code: 'shape', message: 5, written: [] }, { code: 'use_after_free', operands: [7, 'x', null] }, { code: 'shape', operands: 4 },
    { code: 'toString' }, { code: 'device_pointer', message: "'q', which lives on cuda:9" }, { code: 'crash' }, { code: 'oom' }];
  for (const fields of odd) {
    const one = open([{ kind: 'error', ...fields }]);
    assert.ok(saying(mistake(one, 0, one.at(0))));
  }
  for (const fields of [{ kind: 'oom' }, { kind: 'oom', device: 'cuda:0', asked: 9 }, { kind: 'data_race' }, { kind: 'data_race', a: 'x', b: 7 }]) {
    const one = open([fields]);
    assert.ok(saying(mistake(one, 0, one.at(0))));
  }
});
