// words_test.mjs: every event has a sentence, and the sentences say what the log says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { about, names, sentence, spoken, stepSentence } from '../../www/model/words.js';
import { run } from '../../www/model/run.js';
import { label } from '../../www/model/lane_words.js';
import { handleOf } from '../../www/model/state.js';
import * as units from '../../www/model/units.js';
import { kindsOfSchema, logs, told } from './logs.mjs';

test('the library\'s us are µs on the page', () => {
  assert.equal(units.micro('takes 7.0 us, then 12 us; use us'), 'takes 7.0 µs, then 12 µs; use us');
});

test('every kind of lib/trace/schema.h has a sentence of its own', () => {
  assert.deepEqual(kindsOfSchema().filter((kind) => !spoken.has(kind)), []);
  for (const kind of kindsOfSchema()) {
    const said = sentence({ kind }, names());
    assert.match(said, /^\S.*\S$/s, kind);
    assert.doesNotMatch(said, /does not know/, kind);
  }
});

test('a clock reading says the time, a note its text', () => {
  assert.equal(sentence({ kind: 'mark', now: 41200 }, names()), 'The program reads the clock: 41.2 µs since its start.');
  assert.equal(sentence({ kind: 'mark', now: 41200, text: '' }, names()), 'Mark: “”.');
});

test('on an idle stream the launch is in the time', () => {
  const said = (fields) => sentence({ kind: 'complete', id: 1, start: 100, end: 7500, ...fields }, names());
  assert.equal(said({}), 'The work took 7.4 µs.');
  assert.equal(said({ launch: 2300, marks: 3000 }), 'The work took between 2.1 µs and 7.4 µs: its stream was idle, so its launch is in that time.');
  assert.equal(said({ launch: 4400, marks: 3000 }), 'The work took at most 7.4 µs: its stream was idle, so its launch is in that time.');
  assert.match(said({ launch: 2300 }), /^The work took at most 7.4 µs: /, 'what marks add is not known');
});

test('a simulated product says OpenBLAS stands in for cuBLAS', () => {
  const op = { kind: 'op', name: 'matmul', device: 'cuda:0', blas: 'cblas_sgemm', in: [], out: [] };
  assert.match(sentence(op, names()), /, by OpenBLAS \(cblas_sgemm\), which stands in for cuBLAS here\.$/);
  assert.match(sentence({ ...op, device: 'cpu' }, names()), /, by cblas_sgemm\.$/);
});

test('a launch of many tensors says how many', () => {
  const uses = [1, 2, 3, 4, 5].map((tensor) => ({ tensor, storage: tensor, version: 2 }));
  const op = { kind: 'op', name: 'foreach_mul', device: 'cuda:0', kernel: 'foreach_mul_f32', in: uses, out: uses };
  assert.match(sentence(op, names()), /^foreach_mul runs on .*for 5 tensors at once, into .*, .*, .* and 2 more, kernel foreach_mul_f32\.$/);
  assert.equal(names().call(op), 'foreach_mul(5 tensors)');
});

test('the first use of a card says its one-time cost', () => {
  const n = names();
  const [first, other, next] = [['cuda:0', 2 << 20], ['cuda:1', 2 << 20], ['cuda:0', 20 << 20]]
    .map(([device, bytes], seq) => ({ kind: 'segment', seq, device, mem: 'device', bytes, held: 100000 }));
  [first, other, next].forEach((e) => n.learn(e));
  assert.equal(sentence(first, n), 'First use of the GPU: Ferry reserves 2 MiB to share among tensors (once, 100 µs).');
  assert.equal(sentence(other, n), 'First use of cuda:1: Ferry reserves 2 MiB to share among tensors (once, 100 µs).');
  assert.equal(sentence(next, n), 'Ferry reserves another segment, 20 MiB of GPU VRAM, to share among tensors. The program waits 100 µs.');
  assert.match(sentence({ ...first, mem: 'pinned' }, n), /^Ferry page-locks 2 MiB of CPU RAM/);
});

test('a tensor is allocated and released; remaining users are named', () => {
  const n = names();
  const events = [{ kind: 'alloc', storage: 1, device: 'cuda:0', asked: 16, bytes: 512 }, { kind: 'tensor', tensor: 1, name: 'x', storage: 1, shape: [4], dtype: 'float32' },
    { kind: 'tensor', tensor: 2, name: 't', storage: 1, view_of: 1, shape: [2], dtype: 'float32' }, { kind: 'drop', tensor: 1, why: 'free' },
    { kind: 'drop', tensor: 2, why: 'free' }, { kind: 'free', storage: 1, bytes: 512 }].map((e, seq) => ({ ...e, seq }));
  events.forEach((e) => n.learn(e));
  assert.equal(stepSentence(events, { kind: 'alloc', from: 0, to: 1 }, n), 'x is allocated, still empty, in GPU VRAM: (4,) of float32, 16 B.');
  assert.equal(stepSentence(events, { kind: 'drop', from: 3, to: 3 }, n), 'x is released (freed); its bytes stay: t still uses them.');
  assert.equal(stepSentence(events, { kind: 'drop', from: 4, to: 5 }, n), 't is released (freed); 16 B are freed.');
});

test('a write in place says who else sees it', () => {
  const view = (id, name) => ({ kind: 'tensor', tensor: id, name, storage: 1, view_of: 1, shape: [2], dtype: 'float32' });
  const events = [{ kind: 'alloc', storage: 1, device: 'cpu', asked: 16, bytes: 16 }, { kind: 'tensor', tensor: 1, name: 'x', storage: 1, shape: [4], dtype: 'float32' }, view(2, 'row'), view(3, 'half'),
    { kind: 'op', id: 1, name: 'zero_', device: 'cpu', inplace: true, in: [], out: [{ tensor: 2, storage: 1 }] }, { kind: 'drop', tensor: 3, why: 'free' }].map((e, seq) => ({ ...e, seq }));
  const n = names();
  events.forEach((e) => n.learn(e));
  assert.equal(sentence(events[4], n), 'zero_(row) runs on the CPU in place: x and half see it, too.');
  assert.equal(sentence({ ...events[4], seq: 6 }, n), 'zero_(row) runs on the CPU in place: x sees it, too.');
});

test('an op says its numbers, and a collective its sides', () => {
  const n = names();
  n.learn({ kind: 'tensor', tensor: 1, name: 'x', storage: 1, shape: [4], dtype: 'float32' });
  const op = (name, rest) => sentence({ kind: 'op', name, device: 'cpu', in: [{ tensor: 1, storage: 1 }], out: [], ...rest }, n);
  assert.equal(op('mul', { numbers: { other: 0.5 } }), 'mul(x, 0.5) runs on the CPU.');
  assert.equal(op('sub', { numbers: { self: 2 } }), 'sub(2, x) runs on the CPU.');
  assert.equal(op('sum', { numbers: { dim: [0, 1] } }), 'sum(x, dim=(0, 1)) runs on the CPU.');
  assert.equal(op('clone', { numbers: { dim: 0, part: 1, start: 3 } }), 'clone(x) runs on the CPU.');
  assert.equal(op('all_reduce', { sides: [{ device: 'cuda:0' }, { device: 'cuda:1' }] }), 'all_reduce runs on cuda:0 and cuda:1 together.');
});

test('what a log does not know is called unknown', () => {
  const n = names();
  const copy = { kind: 'copy', bytes: 16, dir: 'h2d', dst: { tensor: 1, storage: 1, device: 'cuda:0' } };
  assert.equal(sentence(copy, n), '16 B of t? go over the bus from memory that the log does not name to GPU VRAM.');
  assert.match(sentence({ kind: 'alloc', storage: 1, device: 'cuda:0', bytes: 512, before: true }, n), /^512 B in GPU VRAM were there before the log begins/);
});

test('a call says what it allocates, fills and takes, once', () => {
  const n = names();
  const events = [{ kind: 'tensor', tensor: 9, name: 'x', storage: 9, shape: [4], dtype: 'float32' }, { kind: 'segment', device: 'cuda:0', mem: 'device', bytes: 2 << 20, held: 100000 },
    { kind: 'alloc', storage: 1, device: 'cuda:0', asked: 16, bytes: 512 }, { kind: 'tensor', tensor: 1, name: 'g', storage: 1, shape: [4], dtype: 'float32', device: 'cuda:0' },
    { kind: 'copy', bytes: 16, held: 5000, route: 'staged', src: { tensor: 9, storage: 9, device: 'cpu' }, dst: { tensor: 1, storage: 1, device: 'cuda:0' } },
    { kind: 'alloc', storage: 2, device: 'cuda:0', asked: 16, bytes: 512 }, { kind: 'tensor', tensor: 2, name: 'both', storage: 2, shape: [4], dtype: 'float32', device: 'cuda:0' },
    ...[9, 1].map((tensor) => ({ kind: 'op', name: 'clone', device: 'cuda:0', kernel: 'clone_f32', in: [{ tensor }], out: [{ tensor: 2, storage: 2 }] })),
    ...[3, 4].map((tensor, i) => ({ kind: 'tensor', tensor, name: `p.at[${i}]`, storage: 2, view_of: 2, shape: [2] }))].map((e, seq) => ({ ...e, seq }));
  events.forEach((e) => n.learn(e));
  assert.equal(stepSentence(events, { kind: 'copy', from: 1, to: 4 }, n), '16 B of x go over the bus from CPU RAM to g, newly allocated in GPU VRAM, through the staging buffer. '
    + 'The program waits 5 µs. First use of the GPU: Ferry reserves 2 MiB to share among tensors (once, 100 µs).');
  assert.equal(stepSentence(events, { kind: 'op', from: 5, to: 8 }, n), 'clone(x, g) runs on the GPU into both, newly allocated in GPU VRAM, kernel clone_f32.');
  assert.equal(stepSentence(events, { kind: 'tensor', from: 9, to: 10 }, n), 'p.at[0] and p.at[1] are views of both: same bytes, nothing copied.');
});

test('verdicts on stopped programs name the line, others the checks', () => {
  const n = names();
  const grade = { kind: 'grade', pass: false, passed: 0, checks: 1, message: 'Why.' };
  assert.equal(sentence(grade, n), 'Not yet: 0 of 1 checks passed.');
  n.learn({ kind: 'error', line: 18 });
  assert.equal(sentence(grade, n), 'Not yet: the program stopped at line 18.');
  assert.equal(sentence({ ...grade, pass: true, passed: 1 }, n), 'Passed: 1 of 1 checks passed. Why.');
});

test('unknown kinds and unreadable lines are named, not hidden', () => {
  assert.match(sentence({ kind: 'teleport' }, names()), /teleport/);
  assert.match(sentence(null, names()), /cannot be read/);
});

// A card is named where a copy goes from one to another.
const memory = (device, { src, dst }) => (device === 'cpu' ? 'CPU RAM' : src.device !== 'cpu' && dst.device !== 'cpu' && src.device !== dst.device ? `GPU VRAM of ${device}` : 'GPU VRAM');

for (const [name, events] of logs()) {
  test(`${name}: each event and each step has a whole sentence`, () => {
    const one = run({ run: 1 });
    one.take(0, events);
    const all = [...events.map((e) => sentence(e, one.names)), ...one.steps.map((s) => stepSentence(events, s, one.names))];
    for (const said of all) {
      assert.doesNotMatch(said.replace('gives NaN', ''), /undefined|NaN|null|\[object/, said);
      assert.match(said, /[.!?)”"]$/, said);
    }
  });

  test(`${name}: a copy's sentence names tensor, bytes, memories and wait`, () => {
    const one = run({ run: 1 });
    one.take(0, events);
    for (const e of events.filter((x) => x.kind === 'copy')) {
      const said = sentence(e, one.names);
      assert.ok(said.includes(one.names.used(e.src.tensor, e)), said);
      assert.ok(said.includes(units.bytes(e.bytes)), said);
      if (e.cast) assert.ok(said.includes(`, as ${one.names.dtypeOf(e.src.tensor)}, go`), said);
      assert.ok(said.includes(memory(e.src.device, e)) && said.includes(memory(e.dst.device, e)), said);
      if (e.held) assert.ok(said.includes(units.time(e.held)), said);
    }
  });
}

test('a mask holds booleans, and an implicit copy says so', () => {
  const n = names();
  n.learn({ kind: 'tensor', tensor: 1, name: 'mask', shape: [2], dtype: 'bool' });
  n.learn({ kind: 'tensor', tensor: 2, name: 'n', shape: [2], dtype: 'uint8' });
  assert.equal(sentence({ kind: 'values', tensor: 1, data: [0, 1], count: 2 }, n), 'mask holds false, true.');
  assert.equal(sentence({ kind: 'values', tensor: 2, data: [0, 255], count: 2 }, n), 'n holds 0, 255.');
  const copy = { kind: 'copy', bytes: 4, why: 'policy', src: { tensor: 1, device: 'cpu' }, dst: { device: 'cuda:0' } };
  assert.match(sentence(copy, n), /an implicit copy/);
  assert.match(sentence({ ...copy, why: 'size' }, n), /because the size of a result depends on it/);
});

test('hover text tells name, memory, address, bytes and line', () => {
  const one = run({ run: 1 });
  one.take(0, logs().get('handmade-graded'));
  const state = one.at(6);
  const storage = [...state.storages.values()][0];
  const said = about(storage, handleOf(state, storage), 'mat1', '').join(' ');
  for (const part of ['mat1', 'CPU RAM', 'cpu', storage.addr, '48 bytes requested', '512 allocated', 'line 5', '(4, 3)', 'float32', '1.5']) {
    assert.ok(said.includes(part), `${part} in: ${said}`);
  }
  assert.doesNotMatch(said, /older/);
  assert.match(about(storage, handleOf(state, storage), 'copy', 'mat1')[0], /older than mat1/);
});

/** What tensors are called that are made in these calls: [call, name, ...]. */
function called(told, ...made) {
  const one = run({ run: 1 });
  one.take(0, [{ kind: 'session', calls: told.map((call) => ({ file: 'p.c', line: 3, fn: 'main', ...call })) }]);
  for (const [call, ...names] of made) for (const name of names) one.take(one.events.length, [{ kind: 'tensor', call, tensor: one.events.length, storage: 1, name, shape: [1] }]);
  const all = one.events.slice(1).map((e) => one.names.tensor(e.tensor));
  assert.deepEqual(one.events.slice(1).map((e) => one.at(1e9).tensors.get(e.tensor).name), all);
  return all.join(' ');
}

test('a subscript that counts FY_TIMES is its turn', () => {
  const loops = [{ id: 1, region: 'loop', name: 'FY_TIMES', args: 'i, 4' }, { id: 2, in: 1, region: 'turn', turn: 3 }, { id: 3, in: 2, name: 'fy_ones' },
    { id: 4, in: 2, region: 'loop', name: 'FY_TIMES', args: 'k, 2' }, { id: 5, in: 4, region: 'turn', turn: 1 }, { id: 6, in: 5, name: 'fy_ones' },
    { id: 7, in: 2, region: 'loop', name: 'FY_TIMES', args: 'i, 9' }, { id: 8, in: 7, region: 'turn', turn: 8 }, { id: 9, in: 8, name: 'fy_ones' },
    { id: 10, in: 2, region: 'loop', name: 'FY_EACH', args: 'i, loader' }, { id: 11, in: 10, region: 'turn', turn: 5 }, { id: 12, in: 11, name: 'fy_ones' }, { id: 13, in: 2, name: 'fy_ones', fn: 'work' }, { id: 14, name: 'fy_ones' }];
  assert.equal(called(loops, [3, 'w[i]', 'w[i + 1]', 'w[ i-1 ]', 'w[j]', 'w[at(i)]', 'w[2]', 'w[i].at[0]']), 'w[3] w[4] w[2] w[j] w[at(i)] w[2] w[3].at[0]');
  assert.equal(called(loops, [6, 'w[i][k]']), 'w[3][1]');
  assert.equal(called(loops, [9, 'w[i]'], [12, 'w[i]'], [13, 'w[i]'], [14, 'w[i]']), 'w[8] w[i] w[i] w[i]', 'the innermost loop of that variable, in the same function; a plain for tells none');
});

test('a name that is given later is not told before', () => {
  const one = run({ run: 1 });
  const [at, x] = [{ file: 'p.c', fn: 'main', th: 0 }, { tensor: 1, storage: 1 }];
  one.take(0, told([{ kind: 'alloc', line: 3, ...at, storage: 1, device: 'cpu', addr: '0x40', bytes: 64 }, { kind: 'tensor', line: 3, ...at, ...x, name: 'out', shape: [4] },
    { kind: 'op', line: 3, ...at, id: 1, name: 'relu', device: 'cpu', in: [], out: [x] }, { kind: 'op', line: 5, ...at, id: 2, name: 'exp', device: 'cpu', in: [x], out: [x], inplace: true },
    { kind: 'name', line: 6, ...at, tensor: 1, name: 'h' }, { kind: 'op', line: 7, ...at, id: 3, name: 'abs', device: 'cpu', in: [x], out: [x], inplace: true }]));
  for (const [seq, name] of [[2, 'out'], [3, 'h'], [5, 'h']]) { // the new name comes with the call before it
    const { to } = one.steps[one.stepOf(seq)];
    assert.match(stepSentence(one.events, one.steps[one.stepOf(seq)], one.names), new RegExp(`\\b${name}\\b`));
    assert.equal(one.at(to).tensors.get(1).name, name);
    assert.match(label({ seq }, { kind: 'thread' }, one, null), new RegExp(` → ${name}$`));
  }
});

test('an op has the words of its call', () => {
  const n = names();
  const lines = ['fy_zero_(row); /* all */', 'fy_fill_(h, 3);', 'x = fy_zeros((2), .device = "cuda");', 'y = fy_matmul(a, b);', 'z = fy_sum(fy_relu(a), (1), .keepdim = true);', 'f(a);', 'fy_zero_(a); fy_fill_(b, 2);', 'y = fy_sub(1, a);'];
  n.learn({ kind: 'source', path: 'p.c', text: lines.join('\n') });
  ['row', 'h', 'x', 'y', 'a', 'b', 'z'].forEach((name, i) => n.learn({ kind: 'tensor', tensor: i + 1, storage: i + 1, name }));
  const op = (line, name, ins, outs, more) => n.call({ kind: 'op', file: 'p.c', line, name, in: ins.map((tensor) => ({ tensor })), out: outs.map((tensor) => ({ tensor })), ...more });
  assert.deepEqual([op(1, 'fill', [], [1]), op(2, 'fill', [], [2]), op(3, 'fill', [], [3]), op(4, 'matmul', [5, 6], [4])], ['zero_(row)', 'fill_(h, 3)', 'x = zeros()', 'y = matmul(a, b)']);
  assert.deepEqual([op(5, 'relu', [5], [6]), op(5, 'sum', [6], [7]), op(6, 'relu', [5], [6]), op(7, 'fill', [], [5])], ['b = relu(a)', 'z = sum(b)', 'b = relu(a)', 'a = fill()']);
  assert.deepEqual([op(8, 'sub', [5], [4]), op(9, 'add', [5, 6], [5], { inplace: true })], ['y = sub(1, a)', 'add_(a, b)']);
});

for (const [name, events] of logs()) {
  test(`${name}: a tensor has one name everywhere`, () => {
    const one = run({ run: 1 });
    one.take(0, events);
    for (const seq of [events.length - 1, events.length >> 1, events.length - 3]) {
      for (const t of one.at(seq).tensors.values()) assert.equal(t.name || `t${t.id}`, one.names.at(seq).tensor(t.id));
    }
  });
}

test('numbers are written as people read them', () => {
  assert.deepEqual([0, 1, 1023, 1024, 1536, 262144, 5 << 20, 3 * 2 ** 30].map(units.bytes),
    ['0 B', '1 B', '1023 B', '1 KiB', '1.5 KiB', '256 KiB', '5 MiB', '3 GiB']);
  assert.deepEqual([0, 999, 1000, 41230, 1234567, 2e9].map(units.time), ['0 ns', '999 ns', '1 µs', '41.2 µs', '1.23 ms', '2 s']);
  assert.deepEqual([[], [3], [4, 3]].map(units.tuple), ['()', '(3,)', '(4, 3)']);
  assert.equal(units.bytes(undefined), '?');
  assert.deepEqual([1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(units.ordinal), ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd', '111th']);
});
