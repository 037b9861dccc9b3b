// tags.js: which bytes a tensor spans, from its shape, strides and offset. A tag is drawn over exactly these: a row is a
// stretch of its storage, a column is blocks on a thread, a transposed view a staircase, an expanded one a stack. Pure.

import { denseStrides, itemSize } from '../model/elements.js';
import { plural, tuple } from '../model/units.js';

const MOST = 256; // runs of one tensor at most: of more, what lies between the first and the last byte
const LOOKED_AT = 8192; // blocks that are enumerated before that
const ROWS = 512; // rows of one tensor at most, under a lens

/** A tensor as what is needed here: {dims: [[size, bytes from one to the next], ...], first: its lowest byte, item: bytes}. */
function spread({ shape, strides, offset, dtype }) {
  const item = itemSize(dtype);
  const steps = strides?.length === shape.length ? strides : denseStrides(shape);
  const dims = shape.map((size, i) => [size, Math.abs(steps[i]) * item]);
  const back = shape.reduce((sum, size, i) => sum + Math.min(0, steps[i]) * Math.max(0, size - 1), 0);
  return { dims, first: Math.max(0, offset + back) * item, item };
}

const product = (sizes) => sizes.reduce((all, size) => all * size, 1);

/**
 * The bytes of a storage that a tensor sees: {list: [[first byte, bytes], ...] in order and apart, hull: [first byte, bytes],
 * exact: false where they are too many and the list is the hull}. An empty tensor sees none.
 */
export function runs(tensor) {
  const { dims, first, item } = spread(tensor);
  if (dims.some(([size]) => size === 0)) return { list: [], hull: [first, 0], exact: true };
  const hull = [first, dims.reduce((sum, [size, step]) => sum + (size - 1) * step, 0) + item];
  const { block, outer } = solid(dims, item);
  if (product(outer.map(([size]) => size)) > LOOKED_AT) return { list: [hull], hull, exact: false };
  const list = merged(outer.reduce((starts, [size, step]) => starts.flatMap((at) => stepped(at, size, step)), [first]).map((at) => [at, block]));
  return list.length > MOST ? { list: [hull], hull, exact: false } : { list, hull, exact: true };
}

const stepped = (at, size, step) => Array.from({ length: size }, (_, i) => at + i * step);

// The bytes that follow one another from any first element on, and the dimensions that repeat them with holes between.
function solid(dims, item) {
  const outer = [];
  let block = item;
  for (const [size, step] of dims.filter(([n, by]) => n > 1 && by > 0).sort((a, b) => a[1] - b[1])) {
    if (step <= block) block += step * (size - 1);
    else outer.push([size, step]);
  }
  return { block, outer };
}

/** Runs in order, those that touch or overlap made one. */
export function merged(list) {
  const found = [];
  for (const [first, bytes] of list.slice().sort((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last && first <= last[0] + last[1]) last[1] = Math.max(last[1], first + bytes - last[0]);
    else found.push([first, bytes]);
  }
  return found;
}

/** What two lists of runs have in common. */
export function common(a, b) {
  const found = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const from = Math.max(a[i][0], b[j][0]);
    const to = Math.min(a[i][0] + a[i][1], b[j][0] + b[j][1]);
    if (to > from) found.push([from, to - from]);
    if (a[i][0] + a[i][1] < b[j][0] + b[j][1]) i++;
    else j++;
  }
  return found;
}

/** The bytes of `count` elements from the first-th on, in row-major order. */
export function elements(tensor, first, count) {
  const { dims, first: low, item } = spread(tensor);
  const all = product(dims.map(([size]) => size));
  const last = Math.min(all, first + count);
  if (!(last > first)) return [];
  if (last - first >= all || last - first > LOOKED_AT) return runs(tensor).list;
  return merged(Array.from({ length: last - first }, (_, i) => [low + placeOf(dims, first + i), item]));
}

function placeOf(dims, index) {
  let at = 0;
  for (let i = dims.length - 1; i >= 0; i--) {
    const [size, step] = dims[i];
    at += (index % size) * step;
    index = Math.floor(index / size);
  }
  return at;
}

/**
 * How a tensor looks under a lens: {lines: [[row, ...], ...], more: rows left out}. A row is one of its last dimension:
 * {first, bytes: from its first byte to its last, blocks: [[first byte, bytes], ...]}. Rows that stand apart share a line; the
 * others have one each: a staircase where they are interlaced, a stack where they are the same. Where not all have lines, at
 * least one that holds bytes of `wanted` has; from: the first row that is shown.
 */
export function threads(tensor, most, wanted = []) {
  const whole = threadsFrom(tensor, most, 0);
  if (!whole.more || !wanted.length || whole.lines.some((line) => line.some((row) => holds(row, wanted)))) return whole;
  const { dims, first, item } = spread(tensor);
  const [size, step] = dims.at(-1);
  const outer = dims.slice(0, -1);
  const count = product(outer.map(([n]) => n));
  for (let i = 0; i < Math.min(count, LOOKED_AT); i++) {
    if (holds(rowAt(first + placeOf(outer, i), size, step, item), wanted)) return threadsFrom(tensor, most, Math.min(i, whole.more));
  }
  return whole;
}

/**
 * The numbers of the elements of its storage that a tensor sees, in its own order: {rows: [[number, ...], ...], more: are there
 * further rows, isRange: one after the other}.
 */
export function order(tensor) {
  const { dims, first, item } = spread(tensor);
  const count = product(dims.map(([size]) => size));
  const { list } = runs(tensor);
  if (!count) return { rows: [], more: false, isRange: true };
  const start = Math.round(first / item);
  const isRange = list.length === 1 && list[0][1] === count * item && isRising(dims);
  if (isRange) return { rows: [[start], [start + count - 1]], more: false, isRange };
  const width = Math.min(8, dims.at(-1)?.[0] ?? 1);
  const lines = count / (dims.at(-1)?.[0] ?? 1);
  const numbersOf = (i) => Array.from({ length: width }, (_, k) => start + Math.round(placeOf(dims, i * dims.at(-1)[0] + k) / item));
  const rows = Array.from({ length: Math.min(8, lines) }, (_, i) => numbersOf(i));
  return { rows, more: lines > 8 || dims.at(-1)[0] > width, isRange };
}

// Does each element follow the one before it?
const isRising = (dims) => dims.filter(([size]) => size > 1).every(([, step], i, all) => i === 0 || step < all[i - 1][1]);

const holds = ({ first, bytes, blocks }, wanted) => common(merged(blocks ?? [[first, bytes]]), wanted).length > 0;

function threadsFrom(tensor, most, from) {
  const { dims, first, item } = spread(tensor);
  if (dims.some(([size]) => size === 0)) return { lines: [], more: 0, from };
  const [size, step] = dims.at(-1) ?? [1, 0];
  const outer = dims.slice(0, -1);
  const count = product(outer.map(([n]) => n));
  const lines = [];
  let shown = 0;
  for (; from + shown < count && shown < ROWS; shown++) {
    const row = rowAt(first + placeOf(outer, from + shown), size, step, item);
    const line = lines.find((one) => one.at(-1).first + one.at(-1).bytes <= row.first);
    if (line) line.push(row);
    else if (lines.length < most) lines.push([row]);
    else break;
  }
  return { lines, more: count - shown, from };
}

function rowAt(first, size, step, item) {
  const bytes = (size - 1) * step + item;
  const blocks = step <= item ? [[first, bytes]] : size > MOST ? null : stepped(first, size, step).map((at) => [at, item]);
  return { first, bytes, blocks };
}

/** What is said of a tensor beside others over the same storage of so many bytes. */
export function describe(tensor, bytes) {
  const { list, hull } = runs(tensor);
  const pieces = list.length > 1 ? ` in ${plural(list.length, 'piece')}` : '';
  const where = !list.length ? 'no bytes' : list.length === 1 && list[0][1] >= bytes ? 'all bytes' : `bytes ${hull[0]} to ${hull[0] + hull[1] - 1}${pieces}`;
  return `${tensor.name} ${tuple(tensor.shape)}, strides ${tuple(tensor.strides)}: ${where}`;
}
