// tags_test.mjs: the bytes that a tensor spans, compared with the enumeration of its elements.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderOf } from '../../www/stage/lens.js';
import { common, describe, elements, merged, runs, threads } from '../../www/stage/tags.js';
import { random } from './logs.mjs';

const tensor = (shape, strides, offset = 0, dtype = 'float32') => ({ shape, strides, offset, dtype });
const SIZE = { float32: 4, int64: 8, bool: 1 };

// Every element's first byte, in row-major order.
function bytesOf({ shape, strides, offset, dtype }) {
  let list = [offset];
  shape.forEach((size, i) => { list = list.flatMap((at) => Array.from({ length: size }, (_, k) => at + k * strides[i])); });
  return list.map((at) => at * SIZE[dtype]);
}

const covered = (list) => new Set(list.flatMap(([first, bytes]) => Array.from({ length: bytes }, (_, i) => first + i)));
const every = (starts, size) => new Set(starts.flatMap((at) => Array.from({ length: size }, (_, i) => at + i)));
const same = (a, b, what) => assert.deepEqual([...a].sort((x, y) => x - y), [...b].sort((x, y) => x - y), what);

const views = {
  'the whole': tensor([4, 6], [6, 1]),
  'a transposed view': tensor([6, 4], [1, 6]),
  'a row': tensor([6], [1], 12),
  'a column': tensor([4], [6], 3),
  'every second element': tensor([3], [2], 1),
  'a block of rows and columns': tensor([2, 3], [6, 1], 8),
  'an expanded scalar': tensor([4, 6], [0, 0], 2),
  'an expanded row': tensor([5, 6], [0, 1], 6),
  'windows that overlap': tensor([5, 3], [1, 1]),
  'a scalar': tensor([], [], 7),
  'none': tensor([0, 6], [6, 1], 3),
  'eight bytes each': tensor([3], [5], 2, 'int64'),
  'a step backwards': tensor([4], [-2], 9),
};

for (const [name, view] of Object.entries(views)) {
  test(`${name} spans exactly its elements`, () => {
    const { list, hull, exact } = runs(view);
    const starts = bytesOf(view);
    assert.ok(exact);
    same(covered(list), every(starts, SIZE[view.dtype]), name);
    list.slice(1).forEach(([first], i) => assert.ok(first > list[i][0] + list[i][1], 'runs stand apart and in order'));
    if (list.length) assert.deepEqual(hull, [list[0][0], list.at(-1)[0] + list.at(-1)[1] - list[0][0]]);
  });
}

test('1000 random views span exactly their elements', () => {
  const next = random(11);
  const pick = (n) => Math.floor(next() * n);
  for (let i = 0; i < 1000; i++) {
    const shape = Array.from({ length: pick(4) }, () => pick(6));
    const view = tensor(shape, shape.map(() => pick(9)), pick(5), ['float32', 'int64', 'bool'][pick(3)]);
    const starts = bytesOf(view);
    same(covered(runs(view).list), every(starts, SIZE[view.dtype]), JSON.stringify(view));
    const [first, count] = [pick(starts.length + 1), 1 + pick(7)];
    same(covered(elements(view, first, count)), every(starts.slice(first, first + count), SIZE[view.dtype]), `${JSON.stringify(view)} from ${first}`);
    const { lines, more } = threads(view, 1e6);
    const blocks = lines.flat().flatMap((row) => row.blocks);
    same(covered(blocks), every(starts, SIZE[view.dtype]), `rows of ${JSON.stringify(view)}`);
    assert.equal(more, 0);
  }
});

test('what has too many runs is a hull', () => {
  assert.deepEqual(runs(tensor([300], [2])), { list: [[0, 2396]], hull: [0, 2396], exact: false });
  assert.equal(runs(tensor([1e6, 1e6], [2e6, 2])).exact, false);
  assert.equal(runs(tensor([256, 256], [256, 1])).list.length, 1);
});

test('strides that are missing are those of a dense tensor', () => {
  assert.deepEqual(runs({ shape: [4, 6], strides: [], offset: 1, dtype: '' }).list, [[4, 96]]);
});

test('transposed views are staircases, expanded ones stacks', () => {
  const stairs = threads(views['a transposed view'], 9).lines;
  assert.deepEqual(stairs.map((line) => line[0].first), [0, 4, 8, 12, 16, 20]);
  assert.deepEqual(stairs[1][0].blocks, [[4, 4], [28, 4], [52, 4], [76, 4]]);
  assert.deepEqual(threads(views['an expanded scalar'], 9).lines.map((line) => line.map((row) => [row.first, row.bytes])), Array(4).fill([[8, 4]]));
  assert.deepEqual(threads(views['the whole'], 9).lines.map((line) => line.length), [4]);
  assert.deepEqual([threads(views['a transposed view'], 4).lines.length, threads(views['a transposed view'], 4).more], [4, 2]);
});

test('common bytes are those that both tensors see', () => {
  const [row, column] = [views['a row'], views['a column']].map((view) => runs(view).list);
  assert.deepEqual(common(row, column), [[60, 4]]);
  const next = random(5);
  const some = () => merged(Array.from({ length: 1 + Math.floor(next() * 5) }, () => [Math.floor(next() * 40), 1 + Math.floor(next() * 6)]));
  for (let i = 0; i < 200; i++) {
    const [a, b] = [some(), some()];
    const other = covered(b);
    same(covered(common(a, b)), [...covered(a)].filter((byte) => other.has(byte)), JSON.stringify([a, b]));
  }
});

test('a tag tells shape, strides and bytes', () => {
  assert.equal(describe({ name: 't', ...views['a transposed view'] }, 96), 't (6, 4), strides (1, 6): all bytes');
  assert.equal(describe({ name: 'row', ...views['a row'] }, 96), 'row (6,), strides (1,): bytes 48 to 71');
  assert.equal(describe({ name: 'col', ...views['a column'] }, 96), 'col (4,), strides (6,): bytes 12 to 87 in 4 pieces');
});

test('the order in which elements are seen is said', () => {
  const said = (view) => orderOf(view).join(' | ');
  assert.equal(said(tensor([4, 6], [6, 1])), 'elements 0 to 23 | 0 to 23');
  assert.equal(said(tensor([6], [1], 6, 'int64')), 'elements 6 to 11 | 6 to 11');
  assert.equal(said(tensor([4, 3], [1, 4])), '0,4,8 1,5,9 2,6,10 3,7,11 | 0,4,8 1,5,9 2,6,10 … | 0,4,8 1,5,9 … | 0,4,8 …');
  assert.equal(said(tensor([3, 2], [0, 1], 4)), '4,5 4,5 4,5 | 4,5 4,5 … | 4,5 …');
  assert.equal(said(tensor([3], [2], 1)), '1,3,5');
  assert.equal(said(tensor([], [], 7)), 'element 7 | 7');
  assert.equal(said(tensor([0, 6], [6, 1], 3)), 'nothing');
  assert.match(orderOf(tensor([100, 100], [1, 100]))[0], /^0,100,200,300,400,500,600,700 1,.* …$/);
  const next = random(31);
  for (let i = 0; i < 40; i++) { // where all is said, it is the enumeration
    const shape = Array.from({ length: 1 + Math.floor(next() * 3) }, () => 1 + Math.floor(next() * 3));
    const view = tensor(shape, shape.map(() => Math.floor(next() * 7)), Math.floor(next() * 5));
    const [longest] = orderOf(view);
    const all = bytesOf(view).map((at) => at / 4);
    const [from, to] = /(\d+) to (\d+)/.exec(longest)?.slice(1).map(Number) ?? [];
    if (!longest.endsWith('…')) assert.deepEqual(to === undefined ? longest.match(/\d+/g).map(Number) : Array.from({ length: to - from + 1 }, (_, k) => from + k), all, longest);
  }
});
