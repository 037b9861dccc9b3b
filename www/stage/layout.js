// layout.js: state in, boxes out. Pure: no measuring and no drawing.
//
// CPU RAM is on the left (or on top, where the page is narrow), the cards' VRAM on the right (or
// below), the bus between. RAM ends in a dock with the cards' staging buffers. Within a memory each storage lies at its address (map.js); a freed one keeps its place as an
// outline until another storage takes the address.

import { gradientOf, purposeOf } from '../model/purpose.js';
import { handleOf, newerThan } from '../model/state.js';
import { hasRoomAbove, lensOf, pieces, placeRows, rowHeight, rows } from './map.js';
import { groupsOf } from './groups.js';
import { SPAN, SUMMARY, placeSummary, spansOf, summaryOf } from './spans.js';
import { inUse, placeTags, tagsOf } from './tag_places.js';

const LOW = 330; // px: below this height, headings get one line
const ROW = 32; // px that a row with names takes at least
const SLIM = 120; // px: below this height a memory has one line for its name and its cores

/**
 * All positions: {memories, bus, boxes, groups (groups.js), spans (spans.js), more, map, tall, low}. addresses: where the run's storages lie; actions: what the step
 * does, which names are kept for; lost: what no variable reaches (reach.js). map: {bytes: of a row, scale: px a byte, height: px of a row}.
 */
export function layout(state, addresses, width, height, actions = [], lost = null) {
  const tall = width < 620;
  const low = !tall && height < LOW;
  const area = { x: 1, y: 1, w: width - 2, h: Math.max(120, height - 2) };
  const isTrained = addresses.purposes.size > 0 && !addresses.purposes.has('cpu'); // on cards, which then have more to tell
  const { host, dock, bus, cards } = tall ? stacked(area, state.devices.length - 1, isTrained ? SUMMARY : 0) : sideBySide(area);
  const devices = state.devices.filter((d) => d.name !== 'cpu');
  const shown = devices.length ? devices : [{ name: 'cuda:0', kind: 'none', card: '', capacity: 0 }];
  const memories = [memory(state, state.devices.find((d) => d.name === 'cpu') ?? { name: 'cpu', kind: 'cpu' }, host, tall || low)];
  if (tall) host.h += dock.h;
  else host.w += dock.w;
  split(cards, shown.length).forEach((rect, i) => memories.push(memory(state, shown[i], rect, tall || low)));
  for (const m of memories) if (addresses.purposes.has(m.device)) makeRoom(m, tall && !isTrained ? 1 : 2);
  const map = mapOf(addresses, memories);
  const use = inUse(state, actions);
  const packed = memories.map((m) => place(state, m, map, use, lost?.storages));
  memories.forEach((m, i) => {
    m.rows = packed[i].rows;
    m.lost = lost?.bytes.get(m.device) ?? 0;
    m.summary = packed[i].summary;
  });
  return {
    width, height, tall, low, memories, map, bus: wires(bus, dock, memories.slice(1), shown, tall),
    boxes: packed.flatMap((p) => p.boxes), groups: packed.flatMap((p) => p.groups), spans: packed.flatMap((p) => p.spans), more: packed.map((p) => p.more).filter(Boolean),
  };
}

const known = new WeakMap(); // addresses -> the rows last made of them

// One scale for all memories: that of the fullest.
function mapOf(addresses, memories) {
  const room = Math.min(...memories.map((m) => m.inner.h));
  const most = Math.max(1, Math.min(6, Math.floor(room / ROW)));
  const key = `${addresses.version} ${most} ${memories.length}`;
  if (known.get(addresses)?.key !== key) known.set(addresses, { key, ...rows(addresses, memories.map((m) => m.device), most) });
  const { bytes, of } = known.get(addresses);
  const all = memories.map((m) => ({ rows: of.get(m.device), room }));
  const above = addresses.purposes.size && hasRoomAbove(all, SPAN) ? SPAN : 0;
  const height = rowHeight(all, above);
  const { w } = memories[0].inner;
  return { bytes, of, height, above, scale: w / bytes, lens: lensOf([...of.values()].flat(), bytes, w) };
}

// ---- the three regions ----------------------------------------------------------------------------

function sideBySide({ x, y, w, h }) {
  const strait = Math.round(Math.min(190, Math.max(112, w * 0.15)));
  const side = Math.floor((w - DOCK.w - strait) / 2);
  return {
    host: { x, y, w: side, h },
    dock: { x: x + side, y, w: DOCK.w, h },
    bus: { x: x + side + DOCK.w, y, w: w - DOCK.w - 2 * side, h },
    cards: { x: x + w - side, y, w: side, h },
  };
}

// Both halves alike, but for `more` px of the cards; of more than two cards each has room for a name, a row and what stands under it.
function stacked({ x, y, w, h }, n, more) {
  const strait = 70;
  const both = h - DOCK.h - strait;
  const below = Math.floor(n > 2 ? Math.max(both / 2, Math.min(both - HOST, n * CARD)) : both / 2 + more);
  const above = n > 2 ? both - below : below - 2 * more;
  return {
    host: { x, y, w, h: above },
    dock: { x, y: y + above, w, h: DOCK.h },
    bus: { x, y: y + above + DOCK.h, w, h: h - DOCK.h - above - below },
    cards: { x, y: y + h - below, w, h: below },
  };
}

const HOST = 110; // px of RAM at least,
const CARD = 86; // and of each of many cards, where they lie below each other

function split(rect, n) {
  const gap = 12;
  const h = (rect.h - gap * (n - 1)) / n;
  return Array.from({ length: n }, (_, i) => ({ ...rect, y: rect.y + i * (h + gap), h }));
}

function memory(state, device, rect, tight) {
  const slim = rect.h < SLIM; // its cores stand beside its name
  const head = slim ? 30 : tight ? 40 : 64;
  const foot = slim ? 0 : tight ? 30 : 44;
  const pad = tight ? 12 : 20;
  const x = rect.x + pad;
  const w = rect.w - 2 * pad;
  return {
    device: device.name, kind: device.kind, card: device.card, capacity: device.capacity, rect,
    rows: [], lost: 0, lines: 0, summary: [], segments: [...state.segments.values()].filter((s) => s.device === device.name),
    brief: tight || slim,
    head: { x, y: rect.y + (slim ? -3 : tight ? 0 : 2), w: slim ? w / 2 : w, h: head },
    inner: { x, y: rect.y + head, w, h: Math.max(20, rect.h - head - foot - 8) },
    compute: slim ? { x: x + w / 2, y: rect.y + 4, w: w / 2, h: 22 } : { x, y: rect.y + rect.h - foot, w, h: foot - (tight ? 6 : 12) },
  };
}

// Under the map, so many lines of what its bytes are for; where there is little room, less over it.
function makeRoom(memory, lines) {
  const { inner, rect, brief } = memory;
  memory.lines = rect.h < SLIM ? 0 : lines;
  const above = brief && memory.lines ? 4 : 0;
  Object.assign(inner, { y: inner.y - above, h: Math.max(20, inner.h + above - memory.lines * SUMMARY) });
}

const DOCK = { w: 72, h: 40 }; // px of RAM for the staging buffers: beside its map; where the page is narrow, below it
const PER_BANDWIDTH = 0.4e-9; // px of a lane's width for each byte/s: the same in every run
const UNTOLD = 16; // px: of a card whose log does not say

const WIDEST = 40; // px: there is no room for more
const WIDEST_PEER = 14; // beside the cards' maps

const thickness = (bandwidth) => (bandwidth > 0 ? Math.min(WIDEST, Math.max(3, bandwidth * PER_BANDWIDTH)) : UNTOLD);

// How a link of this bandwidth is drawn; narrow: not as thick as its bandwidth asks for, which its name says.
function widthOf(bandwidth = 0, widest = WIDEST) {
  const thick = Math.min(widest, thickness(bandwidth));
  return { thick, bandwidth, narrow: bandwidth * PER_BANDWIDTH > thick };
}

/**
 * Where copies go: {rect, dock, tall, lanes, staging, peer}. lanes: card -> {h2d, d2h}, each {from: at RAM, to: at the card,
 * slot: of its two staging buffers, thick, bandwidth, narrow}; staging: how thick what the CPU copies there is; peer: {x,
 * thick, bandwidth, narrow}, the link at the far wall of the cards. A lane is as thick as its bandwidth, where there is room.
 */
function wires(rect, dock, cards, devices, tall) {
  const real = cards.filter((card) => card.kind !== 'none');
  const lanes = new Map(real.map((card, i) => {
    const width = widthOf(devices[i].model?.bus_bandwidth);
    const lane = (dir) => ({ ...(tall ? upright(rect, dock, dir) : level(rect, dock, card.rect, dir, width.thick)), ...width });
    return [card.device, { h2d: lane('h2d'), d2h: lane('d2h') }];
  }));
  const model = devices[0].model ?? {};
  const [{ rect: wall, inner }] = cards;
  const margin = wall.x + wall.w - inner.x - inner.w;
  const peer = { x: wall.x + wall.w - margin / 2, ...widthOf(model.peer_bandwidth, Math.min(WIDEST_PEER, margin - 4)) };
  return { rect, dock, tall, lanes, staging: thickness(model.staging_bandwidth), peer };
}

function level(rect, dock, card, dir, thick) {
  const apart = Math.max(card.h * 0.09, thick / 2 + 2);
  const y = Math.round(card.y + card.h * 0.51 + (dir === 'h2d' ? -apart : apart));
  const h = Math.max(8, Math.min(32, card.h * 0.1));
  const gap = card.h < SLIM ? 4 : 16;
  const slot = { x: dock.x + 2, y: dir === 'h2d' ? y - h - gap : y + gap, w: dock.w - 16, h };
  return { from: [rect.x, y], to: [rect.x + rect.w, y], slot };
}

function upright(rect, dock, dir) {
  const x = Math.round(rect.x + rect.w * (dir === 'h2d' ? 0.3 : 0.7));
  const w = 58;
  return { from: [x, rect.y], to: [x, rect.y + rect.h], slot: { x: dir === 'h2d' ? x - 16 - w : x + 16, y: dock.y + 12, w, h: 22 } };
}

// ---- boxes in one memory --------------------------------------------------------------------------

const SHOWN = 300; // boxes at most; of more those in use and the largest, and the number of the others
const GROUPED = 4000; // of the others that are drawn in groups
const VACANT = 12; // freed ones

function slimOf(state, storage, placed) {
  const lineage = state.lineages.get(storage.lineage);
  return pieces(placed, storage.start, Math.max(1, storage.asked)).map((piece) => Object.assign(piece, {
    w: Math.max(piece.w, NARROWEST), index: Math.max(0, lineage?.index ?? 0),
    name: handleOf(state, storage)?.name || lineage?.name || '', storage: storage.id, box: null,
  }));
}

function place(state, memory, map, use, lost) {
  const all = [...state.storages.values()].filter((s) => s.device === memory.device);
  const live = all.filter((s) => s.freed === null).sort((a, b) => use.storages.has(b.id) - use.storages.has(a.id) || b.bytes - a.bytes || a.id - b.id);
  const placed = placeRows(map.of.get(memory.device) ?? [], map.bytes, memory.inner, map.height, map.lens, map.above);
  const shown = [...live.slice(0, SHOWN), ...vacant(all, live)];
  const boxes = shown.map((s) => box(state, s, placed, use, lost)).filter(Boolean).sort((a, b) => a.addr - b.addr || a.storage - b.storage);
  const groups = groupsOf(boxes, live.slice(SHOWN, SHOWN + GROUPED).flatMap((s) => slimOf(state, s, placed)));
  placeTags(placed, boxes.filter((b) => !b.group));
  for (const b of boxes) if (b.group) Object.assign(b.tags[0], { label: null, marks: [], hullMarks: [], level: 0 });
  for (const b of boxes) b.tag = b.tags[0].label;
  const count = Math.max(0, live.length - SHOWN - GROUPED);
  const { x, y, w, h } = memory.inner;
  const told = memory.lines ? summaryOf(live.map((storage) => ({ storage, purpose: purposeOf(state, storage) }))) : [];
  const summary = placeSummary(told, x, y + h + (memory.brief ? 6 : 10), w, memory.lines);
  return { rows: placed, boxes, groups, summary, spans: map.above ? spansOf(placed, boxes) : [], more: count ? { x, y: y + h - 6, w, h: 18, count } : null };
}

// Freed storages whose address was not reused since; of several at one address, the last.
function vacant(all, live) {
  const freed = all.filter((s) => s.freed !== null).sort((a, b) => b.freed - a.freed);
  const taken = freed.length ? live.map(extent) : [];
  const found = [];
  for (const s of freed) {
    const here = extent(s);
    if (found.length === VACANT) break;
    if (!taken.some((t) => overlap(here, t))) found.push(s) && taken.push(here);
  }
  return found;
}

const extent = (s) => ({ from: s.start, to: s.start + Math.max(1, s.bytes) });
const overlap = (a, b) => a.from < b.to && b.from < a.to;

const NARROWEST = 2.5; // px: what has bytes is seen; what is drawn wider than its bytes, `thin`, is said beside the scale (bus.js)

function box(state, storage, placed, use, gone) {
  const parts = pieces(placed, storage.start, Math.max(1, storage.asked));
  if (!parts.length) return null;
  for (const part of parts) Object.assign(part, { thin: part.w < 0.98 * NARROWEST, w: Math.max(part.w, NARROWEST) });
  const lost = pieces(placed, storage.start + storage.asked, storage.bytes - storage.asked); // by rounding
  const handle = handleOf(state, storage);
  const lineage = state.lineages.get(storage.lineage);
  const { x, y, w, h } = parts[0];
  const name = handle?.name || lineage?.name || (handle ? `t${handle.id}` : `storage ${storage.id}`);
  const tags = tagsOf(state, storage, use);
  const purpose = purposeOf(state, storage);
  return {
    x, y, w, h, pieces: parts, lost, tag: null, tags: tags.length ? tags : [nameless(storage, name, handle)],
    used: use.storages.has(storage.id), written: use.writes.filter((one) => one.storage === storage.id),
    storage: storage.id, addr: storage.start, device: storage.device, bytes: storage.asked, mem: storage.mem,
    index: Math.max(0, lineage?.index ?? 0),
    name, tenant: storage.tenant, shape: handle?.shape ?? [], dtype: handle?.dtype ?? '', scalar: !!handle && handle.shape.length === 0,
    purpose, pair: pairOf(state, purpose), empty: storage.rev === 0, older: newerThan(state, storage), freed: storage.freed !== null,
    line: storage.created.line, unreachable: storage.freed === null && storage.tensors.length > 0 && (gone?.has(storage.id) || storage.tensors.every((id) => state.tensors.get(id)?.dropped)),
  };
}

// The other one of a parameter and its gradient: {words, bytes, index: of its hue and pattern}.
function pairOf(state, purpose) {
  const grad = purpose?.kind === 'parameter' ? gradientOf(state, purpose.tensor) : null;
  const owner = purpose?.kind === 'gradient' ? state.tensors.get(purpose.of) : null;
  const other = state.storages.get(grad?.storage ?? owner?.storage);
  if (!other) return null;
  const index = Math.max(0, state.lineages.get(other.lineage)?.index ?? 0);
  return grad ? { words: 'grad', bytes: grad.bytes, index } : { words: `of ${owner.name || `t${owner.id}`}`, bytes: 0, index };
}

// The tag of bytes that no tensor sees (any more): the name that they had, without a bracket.
function nameless(storage, name, handle) {
  const { shape = [], strides = [], offset = 0, dtype = '' } = handle ?? {};
  return { tensors: [{ id: 0, name, shape, strides, offset, dtype }], runs: [], hull: [0, 0], exact: true, used: false };
}
