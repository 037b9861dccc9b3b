// tag_places.js: where the tags of the storages stand: under its box, a bracket over exactly the bytes of each tensor, and
// its name on the lines below. Tensors that span the same bytes share a bracket. Pure.

import { localNames } from '../model/aliases.js';
import { list } from '../model/fields.js';
import { LINE, pieces } from './map.js';
import { elements, runs } from './tags.js';

const SHOWN = 16; // tensors of one storage at most: its first, those in use, the newest
const NAMED = 40; // names under a row at most, but for those in use: more have no room
const LETTER = 7.9; // px of a monospaced letter of 13 px
const STEP = 4; // px from one bracket to the next
const SHORT = 4; // letters of a shortened name at least, with its ellipsis

/**
 * What the actions of a step and the works in flight concern: {storages, tensors: ids, locals: id -> its name in
 * the program's line, writes: [{id, storage, runs}]}: the
 * bytes that an action writes over older contents; id: of a work, or 0 of the program's own write.
 */
export function inUse(state, actions) {
  const use = { storages: new Set(), tensors: new Set(), locals: new Map(), writes: [] };
  const add = (storage, tensor) => {
    if (storage) use.storages.add(storage);
    if (tensor) use.tensors.add(tensor);
  };
  const write = (id, storage, handle, bytes) => handle && use.writes.push({ id, storage, runs: bytes });
  for (const a of actions) {
    add(a.storage, a.tensor);
    for (const [id, name] of localNames(state.sources, a.event)) {
      const handle = state.tensors.get(id);
      use.locals.set(handle && !handle.name && handle.viewOf ? handle.viewOf : id, name); // a view that the call itself made
    }
    if (a.type === 'copy') for (const side of [a.event?.src, a.event?.dst]) add(side?.storage, side?.tensor);
    if (a.type === 'op') for (const one of [...list(a.event?.in), ...list(a.event?.out)]) add(one?.storage, one?.tensor);
    const outs = a.fresh ? [] : a.type === 'op' ? list(a.event?.out) : a.type === 'copy' ? [a.event?.dst] : [];
    for (const out of outs) write(a.id, out?.storage, state.tensors.get(out?.tensor), bytesOf(state, out?.tensor));
    if (a.type === 'write') write(0, a.storage, state.tensors.get(a.tensor), bytesOf(state, a.tensor, a.first, a.count));
  }
  for (const handle of state.tensors.values()) if (use.storages.has(state.tensors.get(handle.lost?.to)?.storage)) add(0, handle.id);
  return use;
}

function bytesOf(state, id, first = 0, count = Infinity) {
  const handle = state.tensors.get(id);
  return handle ? elements(handle, first, count) : [];
}

/**
 * The tags of a storage: [{tensors: [{id, name, shape, strides, dtype, offset, used, lost}, ...], runs, hull, exact, used}],
 * one for all tensors that span the same bytes; in the order in which they were made.
 */
export function tagsOf(state, storage, use) {
  const tags = new Map();
  for (const handle of shown(storage.tensors.map((id) => state.tensors.get(id)).filter((h) => h && !h.dropped), use)) {
    const { tensor, key, list: bytes, hull, exact } = seenBy(handle);
    const used = use.tensors.has(handle.id);
    if (!tags.has(key)) tags.set(key, { tensors: [], runs: bytes, hull, exact, used: false });
    const tag = tags.get(key);
    tag.tensors.push(used || use.locals.has(handle.id) ? { ...tensor, used, title: titleOf(handle, use) } : tensor);
    tag.used ||= used;
  }
  return [...tags.values()];
}

const known = new WeakMap(); // handle, which never changes (state.js) -> the bytes that it sees, and what its tag tells of it

function seenBy(handle) {
  if (!known.has(handle)) {
    const bytes = runs(handle);
    const name = handle.name || `t${handle.id}`;
    known.set(handle, {
      ...bytes, key: bytes.exact ? bytes.list.join(' ') : `${handle.shape} ${handle.strides} ${handle.offset}`,
      tensor: { ...handle, name, nameless: !handle.name, used: false, title: name },
    });
  }
  return known.get(handle);
}

// Its name, and in the step of a line that calls it otherwise that name.
function titleOf({ id, name }, { locals }) {
  const own = name || `t${id}`;
  const local = locals.get(id);
  return local && local !== own ? `${own}\u00a0=\u00a0${local}` : own;
}

function shown(handles, use) {
  if (handles.length <= SHOWN) return handles;
  const kept = new Set([handles[0], ...handles.filter((h) => use.tensors.has(h.id)).slice(0, SHOWN / 2), ...handles.slice(-SHOWN / 2)]);
  return handles.filter((h) => kept.has(h));
}

/** Gives each tag its brackets, marks: [{x, y, w, row}] at a level below the box, and each that has room its label. */
export function placeTags(placed, boxes) {
  for (const box of boxes) {
    const reach = []; // [first, end] of the brackets of each level
    for (const tag of box.tags) {
      const level = tag.runs.length ? levelFor(reach, tag.hull) : 0;
      Object.assign(tag, { level, label: null });
      tag.marks = tag.runs.flatMap(([first, bytes]) => marksOf(placed, box, level, first, bytes));
      tag.hullMarks = tag.runs.length > 1 ? marksOf(placed, box, level, ...tag.hull) : tag.marks;
      tag.row = tag.marks[0]?.row ?? box.pieces[0].row;
    }
  }
  for (const row of placed) nameRow(row, boxes.flatMap((box) => namedIn(row, box)));
}

/** The tensor whose name is drawn at (x, y): {storage, tensor}; null: none is. */
export function namedAt(boxes, x, y) {
  for (const box of boxes) {
    for (const { label } of box.tags) {
      if (!label || x < label.x || x > label.x + label.w || Math.abs(y - label.y) > LINE / 2) continue;
      let end = label.x;
      const tensor = label.tensors.find((one) => { end += ((one.title ?? one.name).length + SEPARATOR.length) * LETTER; return x < end; }) ?? label.tensors.at(-1);
      return { storage: box.storage, tensor: tensor.id };
    }
  }
  return null;
}

// The tags of a box that have a name under a row: where there is one line, a name of all.
function namedIn(row, box) {
  const [first, ...others] = box.tags;
  if (row.tags > 1) return box.tags.filter((tag) => tag.row === row).map((tag) => ({ box, tag, tensors: namesOf(tag.tensors) }));
  const order = [...(first.used ? [first] : []), ...others.filter((tag) => tag.used), ...(first.used ? [] : [first]), ...others.filter((tag) => !tag.used)];
  return first.row === row ? [{ box, tag: first, tensors: namesOf(order.flatMap(({ tensors }) => tensors)) }] : [];
}

// Those of the tensors that are told: a name once, and what the graph keeps only where the program has no tensor over the bytes.
function namesOf(tensors) {
  const own = tensors.filter((one) => !one.saved);
  const titles = new Set();
  return (own.length ? own : tensors).filter((one) => one.lost || one.used || (!titles.has(one.title) && titles.add(one.title)));
}

/** px from a box to its first bracket. */
export const bracketGap = (row) => (row.gap > 40 ? 3 : 1.5);

function levelFor(reach, [first, bytes]) {
  const at = reach.findIndex((taken) => taken.every(([from, to]) => first >= to || first + bytes <= from));
  const level = at < 0 ? reach.length : at;
  (reach[level] ??= []).push([first, first + bytes]);
  return level;
}

function marksOf(placed, box, level, first, bytes) {
  return pieces(placed, box.addr + first, bytes).filter(({ row }) => row.levels > 0).map(({ x, y, w, h, row }) => (
    { x, y: y + h + bracketGap(row) + STEP * Math.min(level, row.levels - 1), w: Math.max(w, 1.5), row }));
}

/** As many names as the letters allow; the last one is cut in its middle, as both its ends tell it from others. */
export function cut(names, letters) {
  if (names.join(SEPARATOR).length <= letters) return names;
  const shown = [];
  let left = letters;
  for (const name of names) {
    const room = left - (shown.length ? SEPARATOR.length : 0);
    const isLast = shown.length === names.length - 1;
    if (room < (shown.length ? SHORT : 1)) break;
    shown.push(shortened(name, room));
    left = room - name.length;
    if (left < (isLast ? 0 : 1)) break;
  }
  if (shown.length === names.length || shown.at(-1).includes('…')) return shown;
  const last = shown.pop();
  return [...shown, ending(last, letters - [...shown, ''].join(SEPARATOR).length)];
}

// The last name that is shown, with a sign that more follow.
const ending = (name, room) => (name.length < room ? `${name}…` : shortened(name, Math.max(1, room - 1)));

// "0.weight.exp_avg" -> "0.wei…_avg"; what the graph keeps loses that word first.
function shortened(name, letters) {
  if (name.length <= letters) return name;
  const base = name.replace(/ \(saved\)$/, '');
  if (base !== name && base.length < letters) return `${base}…`;
  const tail = Math.floor((letters - 1) / 2);
  return `${base.slice(0, letters - 1 - tail)}…${tail ? base.slice(-tail) : ''}`;
}

// ---- names ----------------------------------------------------------------------------------------

export const SEPARATOR = ', ';
const BESIDE = 14; // px from the begin of a name to its box: what stands further away has a leader
const words = ({ tensors }) => tensors.map((t) => t.title ?? t.name).join(SEPARATOR);
const widthOf = (letters) => letters * LETTER + 10;

// Names stand under their brackets, those that a neighbour's name leaves no room on the lines below: of long boxes first,
// of freed storages last. What is in use always has its name: others make room, or it is shortened, or all in use are.
function nameRow(row, tags) {
  const order = tags.sort((p, q) => p.box.freed - q.box.freed || p.tag.level - q.tag.level || q.box.w - p.box.w);
  const used = order.filter((one) => isUsed(one));
  let lines = [];
  for (const most of [Infinity, 12, 8, SHORT]) {
    lines = Array.from({ length: Math.max(1, row.tags) }, () => []);
    for (const one of tags) one.tag.label = null;
    if (most < Infinity) for (const one of used) putUsed(row, lines, one, most);
    for (const one of row.tags ? order.slice(0, NAMED) : []) if (!one.tag.label) putWhole(row, lines, one);
    for (const one of used) if (!one.tag.label) putUsed(row, lines, one, Infinity);
    if (used.every(({ tag }) => tag.label)) break;
  }
  for (const one of tags.filter(({ tag }) => tag.label)) {
    const { label, marks } = one.tag;
    const from = (marks[0]?.x ?? one.box.x) + Math.min(4, one.box.w / 2);
    const above = lines.slice(0, label.line).flat();
    label.leader = (label.line > 0 || label.x > from || label.x + BESIDE < from) && !above.some(({ x, w }) => from >= x - 2 && from <= x + w - 8) ? from : null;
    label.room = roomOf(row, lines, label);
    label.letters = Math.max(label.letters, Math.min(words(one).length, Math.floor(label.room / LETTER))); // of several names in one label
    label.w = widthOf(label.letters);
  }
  row.names = tags.filter(({ tag }) => tag.label).map(({ tag }) => tag.label);
}

// Whole where there is room; else the first name, cut in its middle; beside its place where it stands then under its box.
function putWhole(row, lines, one) {
  const first = words({ tensors: [one.tensors[0]] }).length;
  const all = row.tags === 1 ? [first] : [words(one).length, first];
  if (all.some((letters) => put(row, lines, one, letters, isFree))) return;
  [first, ...CUT.filter((letters) => letters < first)].some((letters) => putNear(row, lines, one, letters));
}

const CUT = [10, 8, 6]; // letters

// In a gap of names where its box is, or reaches it.
function putNear(row, lines, one, letters) {
  const w = widthOf(letters);
  const from = one.tag.marks[0]?.x ?? one.box.x;
  for (const line of lines) {
    const left = Math.max(row.x, ...line.filter((other) => other.x <= from).map((other) => other.x + other.w + 1));
    const right = Math.min(row.right + 6, ...line.filter((other) => other.x > from).map((other) => other.x));
    const x = Math.min(Math.max(from, left), right - w);
    if (x < left || from > x + w || x > Math.max(from, one.box.x + one.box.w - 8)) continue;
    if (putAt(row, lines, one, letters, x, isFree)) return true;
  }
  return false;
}

function putUsed(row, lines, one, most) {
  const all = words(one).length;
  [Math.min(all, most), SHORT + 2, SHORT].some((letters) => put(row, lines, one, Math.min(all, letters), hasNoneInUse)) || putAside(row, lines, one);
}

const isUsed = ({ box, tag }) => tag.used || (box.used && tag === box.tags[0]);
const isFree = (others) => others.length === 0;
const hasNoneInUse = (others) => others.every((other) => !isUsed(other.one));

// Puts a name of so many letters on the first line where `may` be; the names that it covers go.
function put(row, lines, one, letters, may) {
  const w = widthOf(letters);
  return putAt(row, lines, one, letters, Math.max(row.x, Math.min(one.tag.marks[0]?.x ?? one.box.x, row.right - w + 6)), may);
}

// Beside the names that are in use already: after one of them, as near as there is room.
function putAside(row, lines, one) {
  const letters = Math.min(words(one).length, SHORT);
  const w = widthOf(letters);
  const starts = [row.x, ...lines.flat().flatMap((other) => [other.x + other.w, other.x - w])].filter((x) => x >= row.x).filter((x) => x + widthOf(letters) <= row.right + 6);
  const near = (x) => Math.abs(x - one.box.x);
  return starts.sort((a, b) => near(a) - near(b)).some((x) => putAt(row, lines, one, letters, x, hasNoneInUse));
}

function putAt(row, lines, one, letters, x, may) {
  const w = widthOf(letters);
  const covered = (line) => line.filter((other) => x < other.x + other.w && x + w > other.x);
  const at = lines.findIndex((line) => may(covered(line)));
  if (at < 0) return false;
  for (const other of covered(lines[at])) {
    other.one.tag.label = null;
    lines[at].splice(lines[at].indexOf(other), 1);
  }
  lines[at].push({ x, w, one });
  const y = row.y + row.h + (row.gap > 40 ? 11 : 8) + STEP * row.levels + at * LINE;
  one.tag.label = { x, y, w, line: at, letters, tensors: one.tensors, over: !row.tags, room: 0, leader: null };
  return true;
}

// px from a label's begin to the next name on its line, or to the leader of a name on a line below.
function roomOf(row, lines, { x, line }) {
  const next = lines[line].filter((other) => other.x > x).map((other) => other.x);
  const leaders = lines.slice(line + 1).flat().map(({ one }) => one.box.x).filter((at) => at > x);
  return Math.min(row.right, ...next, ...leaders) - x - 6;
}
