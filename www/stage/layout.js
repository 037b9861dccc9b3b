// layout.js: state in, boxes out. Pure: no measuring and no drawing.
//
// CPU RAM is on the left (or on top, where the page is narrow), the cards' VRAM on the right (or
// below), the bus between. Within a memory the boxes are sorted by address; a freed
// one keeps its place as an outline until another storage takes the address.

import { handleOf, isStale } from '../model/state.js';

const GAP = 10;
const LOW = 330; // px: below this height, headings get one line
const SCALES = [1.3, 1.15, 1, 0.88, 0.76, 0.64, 0.52, 0.4, 0.3, 0.22];

/** All positions: {memories, bus, boxes, more, lanes, tall, low}. A low picture has no lanes. */
export function layout(state, width, height) {
  const tall = width < 620;
  const low = !tall && height < LOW;
  const strip = low ? 0 : tall ? 66 : 74;
  const lanes = { x: 0, y: height - strip, w: width, h: strip };
  const area = { x: 1, y: 1, w: width - 2, h: Math.max(120, lanes.y - (low ? 2 : 14)) };
  const { host, bus, cards } = tall ? stacked(area) : sideBySide(area);
  const devices = state.devices.filter((d) => d.name !== 'cpu');
  const shown = devices.length ? devices : [{ name: 'cuda:0', kind: 'none', card: '', capacity: 0 }];
  const memories = [memory(state, state.devices.find((d) => d.name === 'cpu') ?? { name: 'cpu', kind: 'cpu' }, host, tall || low)];
  split(cards, shown.length).forEach((rect, i) => memories.push(memory(state, shown[i], rect, tall || low)));
  const packed = memories.map((m) => place(state, m, tall));
  return {
    width, height, tall, low, lanes, memories, bus: wires(bus, tall),
    boxes: packed.flatMap((p) => p.boxes), more: packed.map((p) => p.more).filter(Boolean),
  };
}

// ---- the three regions ----------------------------------------------------------------------------

function sideBySide({ x, y, w, h }) {
  const middle = Math.round(Math.min(230, Math.max(150, w * 0.2)));
  const side = Math.floor((w - middle) / 2);
  return {
    host: { x, y, w: side, h },
    bus: { x: x + side, y, w: w - 2 * side, h },
    cards: { x: x + w - side, y, w: side, h },
  };
}

function stacked({ x, y, w, h }) {
  const middle = 84;
  const side = Math.floor((h - middle) / 2);
  return {
    host: { x, y, w, h: side },
    bus: { x, y: y + side, w, h: h - 2 * side },
    cards: { x, y: y + h - side, w, h: side },
  };
}

function split(rect, n) {
  const gap = 12;
  const h = (rect.h - gap * (n - 1)) / n;
  return Array.from({ length: n }, (_, i) => ({ ...rect, y: rect.y + i * (h + gap), h }));
}

function memory(state, device, rect, tight) {
  const head = tight ? 40 : 64;
  const foot = tight ? 30 : 44;
  const pad = tight ? 12 : 20;
  const used = [...state.storages.values()]
    .filter((s) => s.freed === null && s.device === device.name)
    .reduce((sum, s) => sum + s.asked, 0);
  return {
    device: device.name, kind: device.kind, card: device.card, capacity: device.capacity, used, rect,
    head: { x: rect.x + pad, y: rect.y + (tight ? 0 : 2), w: rect.w - 2 * pad, h: head },
    inner: { x: rect.x + pad, y: rect.y + head, w: rect.w - 2 * pad, h: Math.max(20, rect.h - head - foot - 8) },
    compute: { x: rect.x + pad, y: rect.y + rect.h - foot, w: rect.w - 2 * pad, h: foot - (tight ? 6 : 12) },
  };
}

// One lane per direction; copies of pageable memory pass the staging slot at the host's end.
function wires(rect, tall) {
  const slot = tall ? { w: 54, h: 22 } : { w: 58, h: 34 };
  const lane = (t) => {
    if (tall) {
      const x = rect.x + rect.w * t;
      return { from: [x, rect.y], to: [x, rect.y + rect.h], slot: centred(x, rect.y + 22, slot) };
    }
    const y = rect.y + rect.h * t;
    return { from: [rect.x, y], to: [rect.x + rect.w, y], slot: centred(rect.x + 46, y, slot) };
  };
  return { rect, tall, h2d: lane(tall ? 0.3 : 0.38), d2h: lane(tall ? 0.7 : 0.62) };
}

const centred = (x, y, { w, h }) => ({ x: x - w / 2, y: y - h / 2, w, h });

// ---- boxes in one memory --------------------------------------------------------------------------

function place(state, memory, tall) {
  const all = [...state.storages.values()].filter((s) => s.device === memory.device);
  const live = all.filter((s) => s.freed === null);
  const freed = vacant(all, live);
  const sorted = (list) => list.slice().sort((a, b) => address(a) - address(b) || a.id - b.id);
  for (const [list, smallest] of [[sorted([...live, ...freed]), 0.6], [sorted(live), 0]]) {
    for (const scale of SCALES.filter((s) => s >= smallest)) {
      const rects = pack(list, memory.inner, scale * (tall ? 0.86 : 1));
      if (rects) return { boxes: list.map((s, i) => box(state, s, rects[i], scale)), more: null };
    }
  }
  return crowd(state, memory, live, sorted);
}

// Freed storages whose address was not reused since; of several at one address, the last.
function vacant(all, live) {
  const freed = all.filter((s) => s.freed !== null).sort((a, b) => b.freed - a.freed);
  const taken = live.slice();
  return freed.filter((s) => !taken.some((t) => overlap(s, t)) && taken.push(s)).slice(0, 12);
}

const address = (s) => Number.parseInt(s.addr, 16) || 0;

function overlap(a, b) {
  return address(a) < address(b) + Math.max(1, b.bytes) && address(b) < address(a) + Math.max(1, a.bytes);
}

// If there are too many for the screen: the newest that fit, and the number of the others.
function crowd(state, memory, live, sorted) {
  const scale = SCALES.at(-1);
  const newest = live.slice().sort((a, b) => b.createdSeq - a.createdSeq);
  const well = { ...memory.inner, h: memory.inner.h - 18 };
  let n = newest.length;
  let rects = null;
  while (!rects && n > 0) {
    n = Math.floor(n * 0.8);
    rects = pack(sorted(newest.slice(0, n)), well, scale);
  }
  const boxes = sorted(newest.slice(0, n)).map((s, i) => box(state, s, rects[i], scale));
  const more = { x: well.x, y: well.y + well.h, w: well.w, h: 18, count: newest.length - n };
  return { boxes, more };
}

/** Arranges boxes in rows; a box's area grows with the logarithm of its bytes. Null if they do not fit. */
function pack(list, well, scale) {
  const rects = [];
  const gap = Math.max(3, GAP * scale);
  const row = Math.max(0, ...list.map((s) => boxSize(s.asked).h)) * scale;
  let x = well.x;
  let y = well.y;
  for (const s of list) {
    const size = boxSize(s.asked);
    const w = Math.min(well.w, size.w * scale);
    const h = size.h * scale;
    if (x > well.x && x + w > well.x + well.w) {
      x = well.x;
      y += row + gap;
    }
    if (y + h > well.y + well.h) return null;
    rects.push({ x, y, w, h });
    x += w + gap;
  }
  return rects;
}

// From 32 B to 64 MiB each doubling is visible; the smallest box still has room for its text.
function boxSize(bytes) {
  const doublings = Math.min(21, Math.max(0, Math.log2(Math.max(1, bytes)) - 5));
  return { w: 98 + 12 * doublings, h: 58 + 1.1 * doublings };
}

function box(state, storage, rect, scale) {
  const handle = handleOf(state, storage);
  const lineage = state.lineages.get(storage.lineage);
  return {
    ...rect, scale,
    storage: storage.id, device: storage.device, bytes: storage.asked,
    index: Math.max(0, lineage?.index ?? 0),
    name: handle?.name || lineage?.name || (handle ? `t${handle.id}` : `storage ${storage.id}`),
    shape: handle?.shape ?? [], dtype: handle?.dtype ?? '', scalar: !!handle && handle.shape.length === 0,
    empty: storage.rev === 0, stale: isStale(state, storage), freed: storage.freed !== null,
    orphan: storage.freed === null && storage.tensors.every((id) => state.tensors.get(id)?.dropped),
  };
}
