// lens.js: where one storage is enlarged, with a line for each tensor that sees it: in what is free of its memory, else over
// free bytes of its segments, else in what is free of another memory. Rows and boxes stay where they are. Pure.

import { itemSize } from '../model/elements.js';
import { pieces } from './map.js';
import { merged, order, threads } from './tags.js';

const LEAST = { w: 190, h: 58 }; // px: what is smaller shows nothing more than the brackets
const MARGIN = 8;
const HEAD = 17; // px: its title
const STRIP = 15; // px: the storage in it
const LINE = 15; // px: a tensor
const CELL = 26; // px: an element at most
export const THREAD = 4; // px from one row of a tensor to the next
const LETTER = 7.3; // px of a monospaced letter of 12 px

/**
 * The lens over a box: {x, y, w, h, strip: {x, y, w, h}, scale: px a byte, factor: times that of its row, lines: [{tensor, y,
 * h, lines, more}], left: tensors without a line, right: where its room ends, starts: elements where rows begin or end, wordsOf: what a tensor's line begins with, device: in whose memory it is}, or
 * null where there is no room or no second tensor. Of what has no room, the rows that are written now are shown first.
 */
export function lens(layout, box) {
  const tensors = box.tags.flatMap((tag) => tag.tensors);
  if (box.freed || tensors.length < 2 || !box.bytes) return null;
  const found = roomsFor(layout, box).map((room) => lensIn(room, box, tensors)).filter(Boolean);
  return found.sort((a, b) => a.left - b.left)[0] ?? null; // of those that show as many, the first
}

/** The lens in a room {x, y, w, h, device}; null where fewer than `least` tensors have a line. */
export function lensIn(room, box, tensors, least = 2) {
  const widthOf = (words) => Math.max(...tensors.map((tensor) => words(tensor).length)) * LETTER + 14;
  const wordsOf = widthOf(withStrides) <= room.w * 0.42 ? withStrides : withShape;
  const names = Math.min(room.w * 0.42, widthOf(wordsOf));
  const { scale: of } = box.pieces[0].row;
  const factor = even(Math.min((room.w - names) / box.bytes, CELL / itemSize(tensors[0].dtype)) / of);
  const strip = { x: room.x + names, y: room.y + HEAD, w: box.bytes * of * factor, h: STRIP };
  const { lines, left, h } = linesOf(tensors, written(box), room.y + HEAD + STRIP + 4, room.y + room.h);
  if (lines.length < least) return null;
  const item = itemSize(tensors[0].dtype);
  const dense = lines.flatMap((one) => one.lines.flat()).filter(({ blocks }) => blocks?.length === 1);
  const starts = dense.flatMap(({ first, bytes }) => [first, first + bytes]).map((at) => Math.round(at / item));
  return {
    x: room.x, y: room.y, w: names + strip.w, h: h - room.y, strip, scale: of * factor, factor, lines, left, wordsOf, device: room.device,
    right: room.x + room.w, starts: [...new Set(starts)].sort((a, b) => a - b),
  };
}

/** In which order a tensor sees the elements of its storage, longest first: "6 to 11", "0,4,8 1,5,9". */
export function orderOf(tensor) {
  const { rows, isRange, more } = order(tensor);
  if (!rows.length) return ['nothing'];
  const [first, last] = [rows[0][0], rows.at(-1).at(-1)];
  if (isRange && first === last) return [`element ${first}`, `${first}`];
  if (isRange) return [`elements ${first} to ${last}`, `${first} to ${last}`];
  const said = (count) => rows.slice(0, count).map((row) => row.join(',')).join(' ') + (more || count < rows.length ? ' …' : '');
  return [rows.length, 4, 3, 2, 1].filter((n, i) => n <= rows.length && (i === 0 || n < rows.length)).map(said);
}

// A factor that can be read: whole from 4 on, in quarters from 1 on, below it a power of two.
function even(factor) {
  if (factor >= 1) return factor >= 4 ? Math.floor(factor) : Math.floor(factor * 4) / 4;
  return 2 ** Math.floor(Math.log2(factor));
}

// How a tensor's line begins.
const withShape = ({ name, shape }) => `${name} (${shape.join(', ')})`;
const withStrides = (tensor) => `${withShape(tensor)} (${tensor.strides.join(', ')})`;

/** px of one element. */
export const elementWidth = ({ scale }, tensor) => scale * itemSize(tensor.dtype);

// As many rows of each tensor as have room, at least two; then as many tensors, those in use first.
function linesOf(tensors, wanted, top, bottom) {
  for (const most of [8, 6, 4, 3, 2]) {
    const all = tensors.map((tensor) => ({ tensor, ...threads(tensor, most, wanted) }));
    const placed = stacked(all, top);
    if (placed.h <= bottom || most === 2) return fitting(placed, tensors, top, bottom);
  }
  return { lines: [], left: 0, h: top };
}

function stacked(all, top) {
  let y = top;
  const lines = all.map((one) => {
    const h = Math.max(LINE, one.lines.length * THREAD + (one.more ? 15 : 7));
    y += h;
    return { ...one, y: y - h, h };
  });
  return { lines, left: 0, h: y };
}

function fitting(placed, tensors, top, bottom) {
  let all = placed.lines;
  let fit = placed;
  while (fit.h > bottom && all.length) {
    const out = all.findLast((one) => !one.tensor.used) ?? all.at(-1);
    all = all.filter((one) => one !== out);
    fit = { ...stacked(all, top), left: tensors.length - all.length };
  }
  return fit;
}

const written = (box) => merged((box.written ?? []).flatMap(({ runs }) => runs));

// Where a lens may be, the best first. What lies over segments covers only free bytes of theirs.
function roomsFor(layout, box) {
  const own = layout.memories.filter((m) => m.device === box.device);
  const others = layout.memories.filter((m) => m.device !== box.device && m.kind !== 'none');
  const inUse = (memory) => memory.rows.filter((row) => layout.boxes.some((b) => b.pieces.some((piece) => piece.row === row)));
  const over = (memory) => ({ ...memory, segments: [], rows: inUse(memory) });
  const rooms = (memories) => [...memories.map(freeIn), ...memories.map((memory) => freeIn(over(memory)))];
  return [...rooms(own), ...rooms(others)].filter(Boolean);
}

// The larger of two places that no row of the run and no segment takes: below the last row, or to the right of the last rows.
function freeIn({ device, inner, rows, segments }) {
  const framed = segments.flatMap((segment) => pieces(rows, segment.addr, segment.bytes));
  const frameEnd = (row) => Math.max(0, ...framed.filter((one) => one.row === row).map(({ x, w }) => x + w + 12));
  const edge = inner.x + inner.w;
  const bottom = inner.y + inner.h + 4;
  const places = [];
  let x = inner.x;
  const last = rows.at(-1);
  if (!last) places.push({ ...inner });
  else places.push({ x, y: Math.max(last.y + last.h + 12, ...(last.names ?? []).map(({ y }) => y + 8)), w: inner.w });
  for (const row of rows.toReversed()) {
    x = Math.max(x, row.x + row.w + (row.lens > 1 ? 60 : 26), namesEnd(row), frameEnd(row));
    places.push({ x, y: row.y - 2, w: edge - x });
  }
  const sized = places.map((one) => ({ ...one, device, y: one.y + (one.x > inner.x ? 0 : MARGIN), h: bottom - one.y - (one.x > inner.x ? 0 : MARGIN) }));
  return sized.filter((one) => one.w >= LEAST.w && one.h >= LEAST.h).sort((a, b) => b.w * b.h - a.w * a.h)[0] ?? null;
}

const namesEnd = (row) => Math.max(0, ...(row.names ?? []).map(({ x, w }) => x + w + 10));
