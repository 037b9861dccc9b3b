// spans.js: what the bytes of a memory are for (model/purpose.js), as the map shows it: brackets over boxes beside each other
// that have one purpose, and under the map a line of all purposes with their bytes. Pure.

import { PURPOSES, batchTitles, spanWords, titlesOf } from '../model/purpose.js';
import * as units from '../model/units.js';

/** px over a row for its brackets, */
export const SPAN = 13;
/** and under a map for each line of its summary. */
export const SUMMARY = 15;

const BATCHES = 4; // of which each is told for itself
const LETTER = 6.3; // px of a letter of 12 px, about
const SMALL = 5.9; // and of 11 px
const NAMED = 60; // px of a bracket with words
const APART = 5; // px between two boxes of one bracket at most

/** The brackets of placed boxes: [{kind, x, w, y, row, label: {words, x, w} or null, storages}]. */
export function spansOf(rows, boxes) {
  const found = rows.flatMap((row) => spansIn(row, boxes.flatMap((box) => (box.freed ? [] : box.pieces.filter((piece) => piece.row === row).map((piece) => ({ ...piece, box }))))));
  for (const row of rows) label(row, found.filter((span) => span.row === row), boxes.filter((box) => !box.freed).flatMap((box) => box.pieces.filter((piece) => piece.row === row)));
  return found;
}

function spansIn(row, pieces) {
  const spans = [];
  let last = null;
  for (const { x, w, box } of pieces.sort((a, b) => a.x - b.x)) {
    const { purpose } = box;
    if (last && x - last.x - last.w <= APART && areOne(last, purpose, w)) add(last, x, w, box);
    else if (purpose) spans.push(last = { kind: purpose.kind, x, w, y: row.y - 6, row, label: null, storages: [box.storage], purposes: [purpose] });
    else last = null;
  }
  return spans;
}

// Batches have brackets of their own where these are wide enough for their words.
function areOne({ kind, w, purposes }, purpose, width) {
  if (kind !== purpose?.kind) return false;
  return kind !== 'batch' || Math.min(w, width) < NAMED || purposes.at(-1).batch.index === purpose.batch.index;
}

function add(span, x, w, box) {
  span.w = Math.max(span.w, x + w - span.x);
  span.storages.push(box.storage);
  span.purposes.push(box.purpose);
}

// The longest words that have room: within a bracket, or beside it where no other one is and no box, whose words they would seem.
function label(row, spans, pieces) {
  const taken = [];
  const isFree = (x, w, own) => x >= row.x - 2 && x + w <= row.right + 2 && !taken.some((other) => x < other.x + other.w + 4 && other.x < x + w + 4)
    && !spans.some((other) => other !== own && x < other.x + other.w + 2 && other.x < x + w + 2)
    && (x >= own.x && x + w <= own.x + own.w || !pieces.some((piece) => x < piece.x + piece.w && piece.x < x + w));
  for (const span of spans.toSorted((a, b) => b.w - a.w)) {
    const places = spanWords(span.kind, span.purposes).flatMap((words) => {
      const w = words.length * SMALL + 4;
      return [w <= span.w - 10 && { words, w, x: span.x + (span.w - w) / 2 }, { words, w, x: span.x + span.w + 3 }, { words, w, x: span.x - w - 3 }].filter(Boolean);
    });
    span.label = places.find((at) => isFree(at.x, at.w, span)) ?? null;
    if (span.label) taken.push(span.label);
  }
}

/**
 * All that a memory holds, by purpose: [{kind, titles: longest first, bytes, storages}]; what has none is last, as `other`; none where
 * nothing has a purpose. all: its living storages, as [{storage, purpose}].
 */
export function summaryOf(all) {
  const sums = new Map();
  const several = new Set(all.filter(({ purpose }) => purpose?.kind === 'batch').map(({ purpose: { batch } }) => `${batch.loader} ${batch.epoch} ${batch.index}`)).size;
  for (const { storage, purpose } of all) {
    const { batch } = purpose ?? {};
    const kind = purpose?.kind === 'batch' && several <= BATCHES ? `batch ${batch.loader} ${batch.epoch} ${batch.index}` : purpose?.kind ?? 'other';
    const sum = sums.get(kind) ?? { kind, bytes: 0, storages: [], optimizers: new Set(), batch };
    sum.bytes += storage.asked;
    sum.storages.push(storage.id);
    if (purpose?.optimizer) sum.optimizers.add(purpose.optimizer);
    sums.set(kind, sum);
  }
  if (![...sums.keys()].some((kind) => kind !== 'other')) return [];
  const order = ({ kind }) => (kind === 'other' ? Infinity : PURPOSES.indexOf(kind.split(' ')[0]));
  return [...sums.values()].sort((a, b) => order(a) - order(b) || (a.batch && b.batch ? a.batch.epoch - b.batch.epoch || a.batch.index - b.batch.index : 0))
    .map(({ optimizers, batch, ...sum }) => (/^batch /.test(sum.kind) ? { ...sum, batch, titles: batchTitles(batch) } : { ...sum, titles: titlesOf(sum.kind, [...optimizers]) }));
}

/**
 * Places a summary in lines of `w` px, from (x, y) on: [{...item, said: [title, bytes], x, y, w}]; with shorter titles where that
 * helps; what still has no room is told as one.
 */
export function placeSummary(items, x, y, w, lines) {
  let placed = [];
  for (let most = items.length; most > 0; most--) {
    const shown = most === items.length ? items : [...items.slice(0, most - 1), rest(items.slice(most - 1))];
    for (const i of [0, 1]) {
      placed = inLines(shown.map((item) => ({ ...item, said: [item.titles[i], units.bytes(item.bytes)] })), x, y, w, lines);
      if (placed.length === shown.length) return placed;
    }
  }
  return placed;
}

// Several as one; of nothing but batches, which ones.
function rest(items) {
  const indices = items.map(({ batch }) => batch?.index);
  const which = indices.includes(undefined) ? null : `batch${items.length > 1 ? 'es' : ''} ${indices.join(', ')}`;
  return {
    kind: which ? 'batch' : 'other', titles: which ? [which, which] : titlesOf('other'), bytes: items.reduce((sum, one) => sum + one.bytes, 0),
    storages: items.flatMap((one) => one.storages),
  };
}

function inLines(items, x, y, w, lines) {
  let [at, line] = [x, 0];
  const placed = [];
  for (const item of items) {
    const wide = (item.said.join(' ').length + 1) * LETTER + 4;
    if (at > x && at + wide > x + w) [at, line] = [x, line + 1];
    if (line >= lines) break;
    placed.push({ ...item, x: at, y: y + line * SUMMARY, w: Math.min(wide, w) });
    at += wide + 10;
  }
  return placed;
}
