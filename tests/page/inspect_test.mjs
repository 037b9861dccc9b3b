// inspect_test.mjs: what the inspector tells of a storage at a moment, on logs, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countOf, eachElement } from '../../www/model/elements.js';
import { inspect, subjectOf } from '../../www/model/inspect.js';
import { slicesOf, tableOf } from '../../www/model/known_values.js';
import { run } from '../../www/model/run.js';
import { layout } from '../../www/stage/layout.js';
import { namedAt } from '../../www/stage/tag_places.js';
import { logs } from './logs.mjs';

function open(events) {
  const one = run({ run: 1 });
  one.take(0, events.map((e, seq) => (e && typeof e === 'object' ? { seq, t: seq * 10, th: 0, file: 'a.c', fn: 'main', ...e } : e)));
  one.ended = true;
  return one;
}

const look = (one, seq, storage = 1, tensor = 0, more = {}) => inspect(one, one.at(seq), { storage, tensor }, { lost: one.lostIn(one.at(seq)), ...more });
const cells = (told, slice = 0) => tableOf(told.tensor, told.values, slice).rows.map((row) => row.cells.map((cell) => `${cell.words}${cell.kind && ` ${cell.kind}`}`));

// Six elements, 2 by 3: allocated, a row of them zeroed, printed, all of them written, printed by the transposed view.
const alloc = { kind: 'alloc', line: 3, storage: 1, device: 'cpu', mem: 'pageable', addr: '0x40', asked: 24, bytes: 64, tenant: 2 };
const whole = { kind: 'tensor', line: 3, tensor: 1, name: 'x', storage: 1, shape: [2, 3], strides: [3, 1], offset: 0, dtype: 'float32', device: 'cpu' };
const row = { kind: 'tensor', line: 4, tensor: 2, name: 'row', storage: 1, shape: [3], strides: [1], offset: 3, dtype: 'float32', device: 'cpu', view_of: 1 };
const turned = { kind: 'tensor', line: 4, tensor: 3, name: 'xt', storage: 1, shape: [3, 2], strides: [1, 3], offset: 0, dtype: 'float32', device: 'cpu', view_of: 1 };
const use = (tensor, version) => ({ tensor, storage: 1, version });
const read = (line, tensor, version, via = 'print') => ({ kind: 'host_read', line, tensor, storage: 1, version, first: 0, count: 6, via });
const values = (line, tensor, version, data, more = {}) => ({ kind: 'values', line, tensor, version, first: 0, data, count: data.length, min: 0, max: 5, mean: 2.5, nan: data.filter((v) => v === 'nan').length, ...more });
const PARTLY = 5; // seq: the row is zeroed
const SEEN = 7;
const WRITTEN = 8;
const TURNED = 10;
const FREED = 15;
const story = () => open([
  { kind: 'session', devices: [{ name: 'cpu', kind: 'cpu' }, { name: 'cuda:0', kind: 'sim' }] },
  alloc, whole, row, turned,
  { kind: 'op', line: 5, id: 1, name: 'fill', device: 'cpu', in: [], out: [use(2, 1)], inplace: true },
  read(6, 1, 1), values(6, 1, 1, ['nan', 'nan', 'nan', 0, 0, 0]),
  { kind: 'host_write', line: 7, tensor: 1, storage: 1, version: 2, first: 0, count: 6, via: 'data' },
  read(8, 3, 2), values(8, 3, 2, [0, 3, 1, 4, 2, 5]),
  { kind: 'copy', line: 9, id: 2, src: { tensor: 1, storage: 1, device: 'cpu', version: 2 }, dst: { storage: 7, tensor: 9, device: 'cuda:0', version: 1 }, bytes: 24, dir: 'h2d' },
  { kind: 'drop', line: 10, tensor: 2, why: 'free' }, { kind: 'drop', line: 11, tensor: 3, why: 'free' }, { kind: 'drop', line: 12, tensor: 1, why: 'free' },
  { kind: 'free', line: 12, storage: 1, bytes: 64 }, { kind: 'end', status: 0, live: [] },
]);

test('facts tell shape, strides, address, bytes, tenants and version', () => {
  const facts = Object.fromEntries(look(story(), TURNED, 1, 3).facts);
  assert.equal(facts.shape, '(3, 2) of float32');
  assert.equal(facts.strides, '(1, 3), in elements');
  assert.equal(facts.address, '0x40, used before by 2 storages');
  assert.equal(facts.bytes, '24 requested, 64 allocated');
  assert.equal(facts.version, '2, last written at line 7');
  assert.equal(Object.fromEntries(look(story(), TURNED, 1, 2).facts).offset, 'element 3');
});

test('the history names each role, with its line and when', () => {
  const { history } = look(story(), WRITTEN, 1, 0, { step: { from: WRITTEN, to: WRITTEN } });
  assert.deepEqual(history.map(({ seq, role }) => `${seq} ${role}`), ['1 allocated', '2 made', '3 viewed', '4 viewed', '5 changed in place', '6 read',
    '8 written', '9 read', '11 copied from', '12 released', '13 released', '14 released', '15 freed']);
  assert.deepEqual(history.map(({ when }) => when).join(' '), 'past past past past past past now later later later later later later');
  assert.equal(history.find(({ seq }) => seq === WRITTEN).line, 7);
  const only = open([...story().events.slice(0, 12), { kind: 'op', line: 10, id: 3, name: 'relu', device: 'cpu', in: [use(1, 2)], out: [{ tensor: 9, storage: 7, version: 2 }] }]);
  assert.equal(look(only, 12).history.at(-1).role, 'read');
});

test('while a learner has to guess, nothing later is told', () => {
  const { history } = look(story(), WRITTEN, 1, 0, { hidden: true });
  assert.ok(history.length === 7 && history.every(({ seq }) => seq <= WRITTEN));
});

test('values are of the newest contents; stale after a write', () => {
  const one = story();
  assert.equal(look(one, PARTLY).values.source, null);
  const printed = look(one, SEEN).values;
  assert.equal(`${printed.source.how} ${printed.source.line} ${printed.since}`, 'printed 6 null');
  const stale = look(one, WRITTEN).values;
  assert.equal(`${stale.source.line} ${stale.since.line}`, '6 7');
  assert.equal(look(one, TURNED, 1, 3).values.since, null);
});

test('what a view told holds for tensors of its bytes', () => {
  const told = look(story(), TURNED);
  assert.deepEqual(cells(told), [['0', '1', '2'], ['3', '4', '5']]);
  assert.equal(told.values.source.own, false);
  assert.deepEqual(told.values.summary, []); // a summary is of the tensor that was printed
  assert.deepEqual(cells(look(story(), TURNED, 1, 2)), [['3', '4', '5']]);
});

test('elements that nothing wrote are poison, known or not', () => {
  const one = story();
  const before = look(one, 4);
  assert.deepEqual(cells(before), [['unset poison', 'unset poison', 'unset poison'], ['unset poison', 'unset poison', 'unset poison']]);
  assert.match(before.notes.join(' '), /Never written/);
  const partly = look(one, PARTLY);
  assert.deepEqual(cells(partly)[0], ['unset poison', 'unset poison', 'unset poison']);
  assert.deepEqual(cells(partly)[1], ['? unknown', '? unknown', '? unknown']);
  assert.deepEqual(cells(look(one, SEEN)), [['NaN poison', 'NaN poison', 'NaN poison'], ['0', '0', '0']]);
  assert.match(look(one, SEEN).notes.join(' '), /^3 elements of x were never written/);
  assert.deepEqual(look(one, WRITTEN).notes, []);
});

test('NaN that was written is told from poison', () => {
  const one = open([...story().events.slice(0, WRITTEN + 1), values(8, 1, 2, ['nan', 1, 'inf', 3, 4, 5])]);
  const told = look(one, 9);
  assert.deepEqual(cells(told), [['NaN nan', '1', 'inf inf'], ['3', '4', '5']]);
  const summary = Object.fromEntries(told.values.summary);
  assert.equal(summary.NaN, '1 of 6');
  assert.equal(summary.Inf, '1');
});

test('a histogram counts all values, never a part of them', () => {
  const { bins } = look(story(), TURNED, 1, 3).values;
  assert.equal(bins.of, 6);
  assert.equal(bins.counts.reduce((a, b) => a + b), 6);
  assert.deepEqual([bins.from, bins.to], [0, 5]);
  const part = open([...story().events.slice(0, WRITTEN + 1), values(8, 1, 2, [0, 1], { count: 6 })]);
  const told = look(part, 9).values;
  assert.equal(told.bins, null);
  assert.match(told.why, /first 2 of 6/);
  assert.equal(told.known, 2);
  assert.deepEqual(cells(look(part, 9)), [['0', '1', '? unknown'], ['? unknown', '? unknown', '? unknown']]);
});

// x is computed by work 1 until 40 ns; its values are logged at the end, when something has waited, those of the copy before its event.
const told = (work, tensor, data, more = {}) => ({ ...values(0, tensor, 1, data), work, ...more });
const onCard = () => open([
  { kind: 'session', devices: [{ name: 'cpu', kind: 'cpu' }, { name: 'cuda:0', kind: 'sim' }] },
  { ...alloc, device: 'cuda:0', mem: 'device' }, { ...whole, device: 'cuda:0' },
  { kind: 'op', line: 4, id: 1, name: 'randn', device: 'cuda:0', in: [], out: [use(1, 1)] }, { kind: 'complete', id: 1, start: 20, end: 40 },
  { kind: 'op', line: 5, id: 2, name: 'mul', device: 'cuda:0', in: [use(1, 1)], out: [use(1, 2)], inplace: true }, { kind: 'complete', id: 2, start: 40, end: 90 },
  { kind: 'sync', line: 6, scope: 'device', device: 'cuda:0' },
  { ...told(1, 1, [1, 2, 3, 4, 5, 6]), line: 4 }, { ...told(2, 1, [2, 4, 6, 8, 10, 12]), version: 2, line: 5 },
  { kind: 'end', status: 0, live: [] },
]);

test('a result is known when its work is done', () => {
  const known = (seq, t) => {
    const { source, since, at } = look(onCard(), seq, 1, 1, { t }).values;
    return [source ? `${source.how} at line ${source.line}: ${at(0)}` : '', since ? `line ${since.line} until ${since.until}` : ''];
  };
  assert.deepEqual(known(4, 39), ['', 'line 4 until 40']);
  assert.deepEqual(known(4, 40), ['computed at line 4: 1', '']);
  assert.deepEqual(known(6, 60), ['computed at line 4: 1', 'line 5 until 90']);
  assert.deepEqual(known(6, 90), ['computed at line 5: 2', '']);
  assert.deepEqual(known(10, 1000), ['computed at line 5: 2', '']);
  assert.deepEqual(look(onCard(), 6).values.ends, [40, 90]);
});

test('values of a copy may come before its event', () => {
  const one = open([
    { kind: 'session', devices: [] }, alloc, whole,
    told(7, 1, [1, 2, 3, 4, 5, 6]), { kind: 'copy', line: 5, id: 7, src: { tensor: 9, storage: 9 }, dst: { tensor: 1, storage: 1, version: 1 }, bytes: 24, dir: 'd2h' }, { kind: 'complete', id: 7, start: 0, end: 45 },
  ]);
  assert.equal(look(one, 3, 1, 1, { t: 100 }).values.source, null, 'the copy has not been issued');
  const { source, since } = look(one, 5, 1, 1, { t: 100 }).values;
  assert.deepEqual([source.how, source.seq, since], ['copied', 4, null]);
});

test('a summary says of how many elements it is', () => {
  const many = { ...told(1, 1, [0, 1]), count: 6, seen: 3, nan: 1, inf: 0, range: [0, 8], bins: [1, 0, 1] };
  const { summary, bins } = look(open([{ kind: 'session', devices: [] }, alloc, whole, { kind: 'op', id: 1, out: [use(1, 1)], in: [] }, many]), 4, 1, 1).values;
  const words = Object.fromEntries(summary);
  assert.deepEqual([words.NaN, words.Inf, words.of], ['1 of 3', '0', '3 of 6 elements, evenly spaced']);
  assert.deepEqual(bins, { from: 0, to: 8, counts: [1, 0, 1], of: 2 });
});

test('holders are counted, with views, and those that went', () => {
  const one = story();
  assert.equal(look(one, TURNED).holders.count, 3);
  assert.match(look(one, TURNED).holders.words, /3 tensors refer/);
  const { count, list } = look(one, 12).holders;
  assert.equal(count, 2);
  assert.deepEqual(list.map(({ name, gone }) => `${name} ${gone}`), ['x false', 'xt false', 'row true']);
  assert.match(list.find(({ name }) => name === 'xt').words, /a view of x/);
});

test('what is not made yet or freed is told too', () => {
  const one = story();
  const later = look(one, 0);
  assert.equal(later.phase, 'later');
  assert.match(later.notes[0], /Not allocated yet.*line 3/);
  const freed = look(one, FREED);
  assert.equal(freed.phase, 'freed');
  assert.match(freed.notes[0], /Freed at line 12/);
  assert.equal(freed.holders.count, 0);
  assert.equal(look(one, 3, 99), null);
});

test('bytes that no variable reaches are said to be lost', () => {
  const one = story();
  const told = inspect(one, one.at(TURNED), { storage: 1, tensor: 0 }, { lost: { storages: new Set([1]) } });
  assert.match(told.notes.join(' '), /No variable reaches these bytes/);
  assert.match(told.holders.words, /No variable of the program is one of them/);
});

test('a matrix has rows and columns, a vector lines', () => {
  const known = (count) => ({ at: (i) => (i < count ? i : undefined), isWritten: () => true, known: count });
  const sizes = (shape, count) => {
    const { rows, columns, caption } = tableOf({ shape, dtype: 'float32' }, known(count));
    return [rows.map(({ label, cells: all }) => `${label}:${all.length}`).join(' '), columns[0], caption];
  };
  assert.deepEqual(sizes([3, 10], 30), ['0:10 1:10 2:10', '0', '[row, column]']);
  assert.deepEqual(sizes([8, 8], 3), [Array.from({ length: 8 }, (_, r) => `${r}:8`).join(' '), '0', '[row, column]'], 'whole, known or not');
  assert.deepEqual(sizes([96, 32], 20), ['0:20', '0', '[row, column]']);
  assert.deepEqual(sizes([96, 16], 40), ['0:16 1:16 2:16', '0', '[row, column]']);
  assert.deepEqual(sizes([1, 9], 9), ['0:9', '0', '[row, column]']);
  assert.deepEqual(sizes([8], 8), [':8', '0', '[column]']);
  assert.deepEqual(sizes([10], 10), ['0:4 4:4 8:2', '+0', '[column]']);
  assert.deepEqual(sizes([], 1), [':1', '', 'the one value']);
});

test('a tensor of three dimensions has tables of its matrices', () => {
  const cube = { ...whole, shape: [2, 2, 2], strides: [4, 2, 1] };
  const one = open([{ kind: 'session' }, { ...alloc, asked: 32 }, cube, { kind: 'host_write', tensor: 1, storage: 1, version: 1, first: 0, count: 8, via: 'data' }, values(4, 1, 1, [0, 1, 2, 3, 4, 5, 6, 7])]);
  const told = look(one, 4);
  assert.equal(slicesOf(told.tensor, told.values), 2);
  assert.deepEqual(cells(told, 1), [['4', '5'], ['6', '7']]);
  assert.equal(tableOf(told.tensor, told.values, 1).rows[1].cells[0].index, '[1, 1, 0]');
});

test('of a chosen slice, what it writes comes first', () => {
  assert.deepEqual(subjectOf(story().events[11]), { storage: 7, tensor: 9 });
  assert.deepEqual(subjectOf({ kind: 'op', in: [{ storage: 3, tensor: 4 }], out: [{ storage: 5, tensor: 6 }] }), { storage: 5, tensor: 6 });
  assert.equal(subjectOf({ kind: 'sync' }), null);
  assert.equal(subjectOf(null), null);
});

test('a name on the stage is that of its tensor', () => {
  const one = story();
  const plan = layout(one.at(TURNED), one.addresses, 900, 420);
  const { label } = plan.boxes[0].tags.find((tag) => tag.label);
  assert.deepEqual(namedAt(plan.boxes, label.x + 3, label.y), { storage: 1, tensor: label.tensors[0].id });
  if (label.tensors.length > 1) assert.equal(namedAt(plan.boxes, label.x + label.w - 2, label.y).tensor, label.tensors.at(-1).id);
  assert.equal(namedAt(plan.boxes, label.x + 3, label.y + 40), null);
});

for (const [name, events] of logs()) {
  test(`${name}: every storage can be inspected at every event`, () => {
    const one = run({ run: 1 });
    one.take(0, events);
    const storages = events.filter((e) => e.kind === 'alloc').map((e) => e.storage);
    for (let seq = -1; seq < events.length; seq += 3) {
      const state = one.at(seq);
      for (const storage of storages) {
        const told = inspect(one, state, { storage, tensor: 0 });
        const live = state.storages.get(storage);
        if (live?.freed === null) assert.equal(told.holders.count, live.tensors.filter((id) => !state.tensors.get(id).dropped).length, `storage ${storage} after event ${seq}`);
        if (told.values) tableOf(told.tensor, told.values);
      }
    }
  });
}

test('malformed events never throw', () => {
  const odd = [null, 7, 'x', [], {}, -1, NaN];
  const kinds = ['alloc', 'tensor', 'values', 'op', 'copy', 'host_write', 'drop', 'error', 'data_race'];
  const events = kinds.flatMap((kind) => odd.map((v) => ({ kind, storage: 1, tensor: 1, shape: v, strides: v, offset: v, data: v, in: v, out: v, src: v, dst: v, operands: v, count: v, first: v, version: v })));
  const one = open([{ ...alloc, asked: 0, bytes: 0 }, { ...whole, shape: [0, 3] }, ...odd, ...events]);
  for (let seq = 0; seq < one.events.length; seq++) {
    const told = look(one, seq);
    if (told?.values) tableOf(told.tensor, told.values);
  }
});

test('elements are those of shape, strides and offset', () => {
  const seen = [];
  eachElement({ shape: [2, 3], strides: [1, 2], offset: 5 }, 1, 4, (at, i) => seen.push([at, i]));
  assert.deepEqual(seen, [[7, 1], [9, 2], [6, 3], [8, 4]]);
  assert.equal(countOf({ shape: [] }), 1);
});
