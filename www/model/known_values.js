// known_values.js: the values of a tensor that a log tells at a moment. A log has values where the program printed a tensor,
// read an item, got an input or submitted an answer, and may have those of every result; often only the first elements: nothing
// is invented beyond these. What one tensor told of an element holds for every tensor that sees it. Pure.

import { countOf, eachElement, itemSize } from './elements.js';
import { int, list } from './fields.js';
import * as units from './units.js';

const LARGEST = 2 ** 18; // elements of a storage whose writes are told apart
const BINS = 16; // of a histogram at most

/**
 * {source: {seq, step, line, how, name, own: was it this very tensor} of the newest values; null: there are none, since: {seq, line,
 * until: when it will be done, Infinity: the log does not say, or null} of the first write after these, or null, ends: when the results came that the log tells, hasResults:
 * does the log tell any, known: how many of its elements, count: of all, unwritten: how many were never written;
 * null: too many to tell, at(i): the value of its i-th element, undefined where it is not known, isWritten(i): true, false, null,
 * summary: [[what, words], ...], bins: {from, to, counts, of: elements that are counted} or null, why: why there are none}.
 */
export function knownValues(run, { seq, seqs, index, tensor, writes, alloc, t }) {
  const written = writtenElements(alloc, tensor, writes);
  const count = countOf(tensor);
  const told = tellings(run, seqs, seq, index.works);
  const at = newest(run, told.filter(({ end }) => end <= t), tensor.id);
  const base = {
    count, isWritten: (i) => written.isWritten(numberOf(tensor, i)), unwritten: unwrittenIn(tensor, written, count),
    ends: told.map(({ end }) => end), hasResults: index.hasResults, since: sinceThen(run, at, writes, index.works, t),
  };
  if (!at) return { ...base, source: null, known: 0, at: () => undefined, summary: [], bins: null, why: '' };
  const e = run.events[at.seq];
  const own = e.tensor === tensor.id;
  const values = own ? directly(e) : byElement(index.tensors.get(e.tensor), e, tensor);
  return {
    ...base, source: { seq: at.from, step: run.stepOf(at.from), line: int(e.line), how: howOf(run, at), name: run.names.at(seq).tensor(e.tensor), own },
    known: values.known(count), at: values.at, summary: own ? summaryOf(e, tensor.dtype) : [], ...(own ? binsOf(e) : { bins: null, why: '' }),
  };
}

// What the log tells of the storage by event `seq`: [{seq, from: the event that made it so, end: when that was done}], by `from`.
// A result may be logged long after its call, or just before it.
function tellings(run, seqs, seq, works) {
  const all = seqs.filter((at) => run.events[at].kind === 'values').map((at) => {
    const work = works.get(run.events[at].work);
    return { seq: at, from: work?.seq ?? at, end: work?.end ?? -Infinity };
  });
  return all.filter(({ from }) => from <= seq).sort((a, b) => a.from - b.from);
}

// Of the newest contents that the log tells, the tensor's own before another's.
function newest(run, told, tensor) {
  const last = told.at(-1);
  const own = told.findLast(({ seq }) => run.events[seq].tensor === tensor);
  return own && int(run.events[own.seq].version) >= int(run.events[last.seq].version) ? own : last;
}

// The first write that came after what is told.
function sinceThen(run, told, writes, works, t) {
  const write = writes.find((one) => one.seq > (told?.from ?? -1));
  if (!write) return null;
  const e = run.events[write.seq];
  const end = works.get(e.id)?.end ?? -Infinity;
  return { seq: write.seq, line: int(e.line), until: end > t ? end : null };
}

function howOf(run, { seq: at, from }) {
  const how = { print: 'printed', item: 'read', answer: 'submitted', save: 'saved' };
  if (run.events[at].work > 0) return run.events[from].kind === 'copy' ? 'copied' : 'computed';
  for (let seq = at - 1; seq >= Math.max(0, at - 4); seq--) {
    const e = run.events[seq];
    if (e?.tensor !== run.events[at].tensor) continue;
    if (e.kind === 'host_read') return how[e.via] ?? 'read';
    if (e.kind === 'given') return 'given';
    if (e.kind === 'host_write') return 'written';
  }
  return 'logged';
}

// ---- which elements -----------------------------------------------------------------------------------

function directly(e) {
  const data = list(e.data);
  const first = int(e.first);
  return { at: (i) => data[i - first], known: (count) => Math.max(0, Math.min(count - first, data.length)) };
}

// What another tensor of the same bytes told.
function byElement(teller, e, tensor) {
  const told = new Map();
  const { data, first } = { data: list(e.data), first: int(e.first) };
  const geometry = { shape: list(teller?.shape), strides: list(teller?.strides), offset: int(teller?.offset) };
  eachElement(geometry, first, data.length, (number, i) => told.set(number, data[i - first]));
  const seen = Math.min(countOf(tensor), LARGEST);
  let known = 0;
  eachElement(tensor, 0, seen, (number) => { known += Number(told.has(number)); });
  return { at: (i) => told.get(numberOf(tensor, i)), known: () => known };
}

function numberOf(tensor, i) {
  let found = -1;
  eachElement(tensor, i, 1, (number) => { found = number; });
  return found;
}

// Which elements of the storage any write filled: an unknown write counts as one of all.
function writtenElements(alloc, { dtype }, writes) {
  const size = Math.floor(int(alloc.asked, int(alloc.bytes)) / itemSize(dtype));
  const fillsAll = (one) => !one.tensor || (countOf(one.tensor) >= size && one.first === 0 && one.count >= size);
  if (alloc.mem === 'foreign' || writes.some(fillsAll)) return { isWritten: () => true, isKnown: true };
  if (!writes.length) return { isWritten: () => false, isKnown: true };
  if (size > LARGEST) return { isWritten: () => null, isKnown: false };
  const filled = new Uint8Array(size);
  const places = new Map(writes.map((one) => [JSON.stringify([one.tensor, one.first, one.count]), one])); // a loop writes the same ones
  for (const { tensor, first, count } of places.values()) eachElement(tensor, first, Math.min(count, countOf(tensor)), (number) => { filled[number] = 1; });
  return { isWritten: (number) => filled[number] === 1, isKnown: true };
}

function unwrittenIn(tensor, { isWritten, isKnown }, count) {
  if (!isKnown || count > LARGEST) return isKnown && isWritten(tensor.offset) === true ? 0 : null;
  let left = 0;
  eachElement(tensor, 0, count, (number) => { left += Number(!isWritten(number)); });
  return left;
}

// ---- all of them together -------------------------------------------------------------------------------

const isFinite = (v) => typeof v === 'number' && Number.isFinite(v);
const isInfinite = (v) => v === 'inf' || v === '-inf';

/** Min, max, mean, and how many are NaN or Inf, as far as the log tells. */
function summaryOf(e, dtype) {
  const data = list(e.data);
  const isWhole = data.length >= int(e.count);
  const isBounded = isFinite(e.min) && isFinite(e.max);
  const inf = e.inf !== undefined ? int(e.inf) : isWhole ? data.filter(isInfinite).length : isBounded ? 0 : [e.min, e.max].some(isInfinite) ? 'some' : null;
  const words = [['min', e.min], ['max', e.max], ['mean', e.mean]].filter(([, v]) => v !== undefined).map(([name, v]) => [name, units.value(v, dtype === 'bool' ? '' : dtype)]);
  if (e.nan !== undefined) words.push(['NaN', `${units.number(int(e.nan))} of ${units.number(int(e.seen, int(e.count)))}`]);
  words.push(['Inf', inf === null ? 'not in the log' : inf === 'some' ? 'at least one' : units.number(inf)]);
  if (e.seen < e.count) words.push(['of', `${units.number(e.seen)} of ${units.number(e.count)} elements, evenly spaced`]);
  return words;
}

// How the finite values are spread: as logged, or where the log has all of them.
function binsOf(e) {
  const counts = list(e.bins).filter((n) => n >= 0);
  const [from, to] = list(e.range);
  if (counts.length && isFinite(from) && isFinite(to)) return { bins: { from, to, counts, of: counts.reduce((a, b) => a + b) }, why: '' };
  return binsOfData(e);
}

function binsOfData(e) {
  const data = list(e.data);
  const finite = data.filter(isFinite);
  if (data.length < int(e.count)) return { bins: null, why: `The log has the first ${units.number(data.length)} of ${units.number(int(e.count))} values: too few for a histogram.` };
  if (finite.length < 2) return { bins: null, why: '' };
  const from = finite.reduce((a, b) => Math.min(a, b), Infinity);
  const to = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  const counts = new Array(from === to ? 1 : Math.min(BINS, Math.max(4, Math.ceil(Math.sqrt(finite.length))))).fill(0);
  for (const v of finite) counts[Math.min(counts.length - 1, Math.floor(((v - from) / (to - from || 1)) * counts.length))]++;
  return { bins: { from, to, counts, of: finite.length }, why: '' };
}

// ---- as a table --------------------------------------------------------------------------------------------

const ROWS = 16;
const COLUMNS = 16; // of one row alone twice as many
const SMALL = 64; // elements of a matrix that is shown whole, known or not
const LINE = 8; // elements of a vector that stand in one line; a longer one has lines of four

/** How many of the tables of a tensor of more than two dimensions hold anything that is known. */
export function slicesOf(tensor, values) {
  const size = (tensor.shape.at(-2) ?? 1) * (tensor.shape.at(-1) ?? 1);
  return Math.max(1, Math.min(countOf(tensor) / size || 1, Math.ceil(values.known / size)));
}

/**
 * The values as a table of the last two dimensions: {caption, columns: labels, rows: [{label, cells: [{words, kind: '', 'nan', 'inf', 'poison'
 * or 'unknown', index}]}], more: what is left out, in words}. A matrix has its rows and columns; a long vector, several lines. slice: which of the tables of a tensor of more dimensions.
 */
export function tableOf(tensor, values, slice = 0) {
  if (!countOf(tensor)) return { caption: 'no elements', columns: [], rows: [], more: '' };
  const [height, width] = [tensor.shape.at(-2) ?? 1, tensor.shape.at(-1) ?? 1];
  const start = slice * height * width;
  const isKnown = (i) => values.at(i) !== undefined || values.isWritten(i) === false;
  const cells = (first, count) => Array.from({ length: count }, (_, k) => cellOf(tensor, values, first + k));
  if (tensor.shape.length < 2) return vectorOf(tensor, width, isKnown, cells);
  const shown = Array.from({ length: Math.min(height, ROWS) }, (_, r) => r);
  const isKnownRow = (r) => Array.from({ length: Math.min(width, COLUMNS) }, (_, k) => start + r * width + k).some(isKnown);
  const last = height * width <= SMALL ? shown.length - 1 : shown.findLast(isKnownRow) ?? 0;
  let end = Math.min(width, last ? COLUMNS : 2 * COLUMNS);
  while (!last && width > COLUMNS && end > 1 && !isKnown(start + end - 1)) end--;
  const outer = indexOf(tensor.shape.slice(0, -2), slice);
  const rows = shown.slice(0, last + 1).map((r) => ({ label: String(r), cells: cells(start + r * width, end) }));
  return { caption: outer.length ? `[${outer.join(', ')}, row, column]` : '[row, column]', columns: rows[0].cells.map((_, k) => String(k)), rows, more: leftOut(height - rows.length, width - end) };
}

function vectorOf({ shape }, width, isKnown, cells) {
  let end = Math.min(width, 2 * COLUMNS);
  while (end > LINE && !isKnown(end - 1)) end--;
  const line = end <= LINE ? end : 4;
  const rows = [];
  for (let k = 0; k < end; k += line) rows.push({ label: end > line ? String(k) : '', cells: cells(k, Math.min(line, end - k)) });
  return { caption: shape.length ? '[column]' : 'the one value', columns: shape.length ? rows[0].cells.map((_, k) => `${end > line ? '+' : ''}${k}`) : [''], rows, more: leftOut(0, width - end) };
}

function leftOut(rows, columns) {
  const parts = [rows > 0 && units.plural(rows, 'more row'), columns > 0 && units.plural(columns, 'more column')].filter(Boolean);
  return parts.length ? `${parts.join(' and ')} not shown or not in the log` : '';
}

function indexOf(sizes, slice) {
  const index = [];
  for (let d = sizes.length - 1; d >= 0; d--) {
    index.unshift(slice % sizes[d]);
    slice = Math.floor(slice / sizes[d]);
  }
  return index;
}

function cellOf(tensor, values, i) {
  const index = `[${indexOf(tensor.shape, i).join(', ')}]`;
  const v = values.at(i);
  const words = v === undefined ? '?' : v === 'nan' ? 'NaN' : units.value(v, tensor.dtype);
  if (values.isWritten(i) === false) return { words: v === undefined ? 'unset' : words, kind: 'poison', index };
  if (v === undefined) return { words, kind: 'unknown', index };
  return { words, kind: v === 'nan' ? 'nan' : isInfinite(v) ? 'inf' : '', index };
}
