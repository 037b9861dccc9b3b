// errors.js: an error as it is drawn, over all else: what does not fit framed in red, and between the operands the kernel,
// crossed out, that never ran. A full memory shows the request, to scale, against its largest hole; a crash and an access
// that nothing orders show where. Red is for this only. What is drawn, saying() and saysOf() (mistakes.js) tell as well.

import { and } from '../model/words.js';
import * as units from '../model/units.js';
import { atLine, held } from '../model/mistakes.js';
import { tile } from './colours.js';
import { path, rounded, text, wording } from './canvas_util.js';
import { pieces } from './map.js';
import { boxOf } from './route.js';

const EDGE = 4; // px from a box to its frame
const RING = 20; // px: radius of a crossed-out kernel on the bus; in a bar, half its height

/** Draws mistake m (mistakes.js). brief: of a race, only its frame: another is told. */
export function drawError(c, scene, m, brief = false) {
  c.save();
  (Object.hasOwn(drawings, m.type) ? drawings[m.type] : drawings.other)(c, scene, m, brief);
  c.restore();
}

const drawings = {
  mismatch(c, scene, m) {
    drawCrossing(c, scene, m, m.operands);
    drawBar(c, scene, 'cpu', `stopped${atLine(m.line)}`, [m.words, m.words.replace('operands ', '')]);
  },

  pointer(c, scene, m) {
    drawCrossing(c, scene, { ...m, name: 'no access' }, m.operands, 'from a CPU pointer');
    drawBar(c, scene, 'cpu', m.words);
  },

  shape(c, scene, m) {
    const bar = barOf(scene.layout, m.device);
    m.operands.forEach((one, i) => {
      const box = boxOf(scene.layout, one.storage);
      if (!box) return;
      drawFrame(c, scene, box.pieces);
      if (bar) drawDashes(c, scene.theme, aroundTo(scene.layout, box, bar, i === 0 ? 'left' : 'right'));
      drawPlate(c, scene, box.pieces[0], shapeWords(one));
    });
    drawBar(c, scene, m.device, neverRan(m), m.words);
  },

  freed(c, scene, m) {
    const { freed } = m;
    const memory = memoryOf(scene.layout, freed.device);
    const at = boxOf(scene.layout, freed.storage)?.pieces ?? (memory ? pieces(memory.rows, freed.addr, Math.max(1, freed.bytes)) : []);
    drawFrame(c, scene, at, true);
    if (at.length) {
      drawDashes(c, scene.theme, aroundTo(scene.layout, { ...at[0], device: freed.device, pieces: at }, memory.compute, 'left'));
      drawPlate(c, scene, at[0], [[`${freed.name}: freed${atLine(freed.line)}, used${atLine(m.line)}`, true]]);
    }
    drawBar(c, scene, freed.device || 'cpu', neverRan(m), m.words);
  },

  full(c, scene, m) {
    const { bytes, holders } = m.request;
    drawRequest(c, scene, m);
    drawBar(c, scene, m.device, m.words || `no room for ${units.bytes(bytes)}`, [held(holders), held(holders.slice(0, 1)), heldBy(holders)]);
  },

  race(c, scene, m, brief) {
    const box = boxOf(scene.layout, m.race.storage);
    if (!box) return;
    drawFrame(c, scene, box.pieces, false);
    if (brief) return;
    drawPlate(c, scene, box.pieces[0], ...raceWords(m.race));
  },

  crash(c, scene, m) {
    drawBar(c, scene, 'cpu', m.words, m.last?.code ? `last call: ${m.last.code}` : '');
  },

  other(c, scene, m) {
    for (const box of boxesOf(scene.layout, m.operands)) drawFrame(c, scene, box.pieces);
    drawBar(c, scene, m.device || 'cpu', m.name ? neverRan(m) : `stopped${atLine(m.line)}`, m.words);
  },
};

// What a plate says of a race, longest first.
function raceWords({ ends, value }) {
  const both = ends.map(({ line, does }) => `line ${line} ${does}`).join(' or ');
  const lines = `line ${ends.map(({ line }) => line).join(' or ')}`;
  const first = value ? [` first: ${value}`, true] : [' first', false];
  return [[['not ordered: ', true], [both, false], first], [[both, true], first], [[lines, true], first], [[`not ordered: ${value || 'chance'}`, true]]];
}

/** Where an error is told: {x, y, w, h} of the crossing on the bus, or of the bar. */
export function placeOf(layout, m) {
  if (['mismatch', 'pointer', 'full'].includes(m.type)) {
    const { x, y } = ringAt(layout, m.operands);
    return { x: x - 50, y: y - RING, w: 100, h: 2 * RING + 34 };
  }
  return barOf(layout, m.type === 'race' ? boxOf(layout, m.race.storage)?.device : m.device || 'cpu') ?? barOf(layout, 'cpu');
}

const heldBy = (holders) => (holders.length ? `${units.bytes(holders[0].bytes)} of line ${holders[0].line}` : '');
const neverRan = (m) => `${m.call.length < 36 ? m.call : m.name} never ran`;

const memoryOf = (layout, device) => layout.memories.find((one) => one.device === device && one.kind !== 'none');
const barOf = (layout, device) => memoryOf(layout, device)?.compute;
const boxesOf = (layout, operands) => operands.map(({ storage }) => boxOf(layout, storage)).filter(Boolean);

// ---- frames, words, lines -------------------------------------------------------------------------

function drawFrame(c, { theme: th }, rects, dashed) {
  c.strokeStyle = th.bad;
  c.lineWidth = 3;
  c.setLineDash(dashed ? [7, 4] : []);
  for (const { x, y, w, h, row } of rects) {
    const edge = row && row.gap < 40 ? EDGE - 2 : EDGE; // the name under it stays to be read
    rounded(c, { x: x - EDGE, y: y - edge, w: w + 2 * EDGE, h: h + 2 * edge }, 6);
    c.stroke();
  }
  c.setLineDash([]);
}

function drawDashes(c, th, points) {
  c.strokeStyle = th.bad;
  c.lineWidth = 2;
  c.setLineDash([6, 4]);
  path(c, points);
  c.setLineDash([]);
}

const NOTE = 76; // px for what is said in a box
const NAMES = 24; // px for the names under it

// A line of words [[text, is wrong], ...] in, beside or over a rectangle, where there is room for it; others, shorter, where there is not.
function drawPlate(c, { theme: th, layout }, rect, longest, ...shorter) {
  const font = (bad) => `${bad ? 700 : 400} 12.5px ${th.mono}`;
  const widthsOf = (words) => words.map(([one, bad]) => {
    c.font = font(bad);
    return c.measureText(one).width;
  });
  const sum = (widths) => widths.reduce((a, b) => a + b, 0) + 12;
  const room = layout.memories.findLast((m) => m.rect.x <= rect.x).inner.w;
  const all = [longest, ...shorter];
  const parts = all.find((one) => sum(widthsOf(one)) + NOTE <= rect.w) ?? all.slice(shorter.length ? 1 : 0).find((one) => sum(widthsOf(one)) <= room) ?? all.at(-1);
  const widths = widthsOf(parts);
  const w = sum(widths);
  const h = 19;
  const at = plateAt(layout, rect, w, h);
  rounded(c, { ...at, w, h }, 4);
  c.fillStyle = th.panel;
  c.fill();
  c.lineWidth = 1;
  c.strokeStyle = th.bad;
  c.stroke();
  let x = at.x + 6;
  parts.forEach(([one, bad], i) => {
    text(c, one, x, at.y + h / 2 + 1, { font: font(bad), color: bad ? th.bad : th.ink });
    x += widths[i];
  });
}

function plateAt(layout, { x, y, w: wide, h: high, row }, w, h) {
  const right = Math.max(...layout.memories.filter((m) => m.rect.x <= x).map((m) => m.inner.x + m.inner.w));
  if (wide >= w + NOTE && high >= h + 1) return { x: x + wide - w - 5, y: y + (high - h) / 2 };
  const free = !layout.boxes.some((b) => b.pieces.some((p) => p.y === y && p.x >= x + wide - 1 && p.x < x + wide + w + 12));
  if (free && x + wide + w + 10 <= right) return { x: x + wide + 10, y: y + (high - h) / 2 };
  const left = Math.max(layout.memories[0].inner.x, Math.min(x, right - w));
  const under = y + high + NAMES;
  const { inner } = layout.memories.findLast((m) => m.inner.y <= y && m.rect.x <= x);
  const isClear = !layout.boxes.some((b) => b.pieces.some((p) => p.y < under + h && p.y + p.h + NAMES > under && p.y !== y && p.x < left + w && p.x + p.w > left));
  if (isClear && under + h <= inner.y + inner.h + 6) return { x: left, y: under };
  return { x: left, y: y + high + Math.max(3, (row?.gap ?? 0) - 16) };
}

// "(32, 784)", the sizes that do not fit in red.
function shapeWords({ name, shape, wrong }) {
  const sizes = shape.flatMap((n, i) => [[i ? ', ' : '', false], [String(n), wrong.dims.includes(i)]]);
  return [[`${name} (`, false], ...sizes, [shape.length === 1 ? ',)' : ')', false]].filter(([one]) => one);
}

// From a box to its processor's bar, along a wall of the memory.
function aroundTo(layout, box, bar, side) {
  const { inner } = memoryOf(layout, box.device);
  const [first, last] = [box.pieces[0], box.pieces.at(-1)];
  const rect = side === 'left' ? first : last;
  const wall = side === 'left' ? inner.x - 9 : inner.x + inner.w + 9;
  const edge = side === 'left' ? rect.x - EDGE : rect.x + rect.w + EDGE;
  const blocked = layout.boxes.some((b) => b.pieces.some((p) => p.y === rect.y && (side === 'left' ? p.x + p.w <= rect.x && p.x >= inner.x : p.x >= rect.x + rect.w)));
  const start = blocked ? [[rect.x + rect.w / 2, rect.y - EDGE], [rect.x + rect.w / 2, rect.y - EDGE - 5], [wall, rect.y - EDGE - 5]] : [[edge, rect.y + rect.h / 2], [wall, rect.y + rect.h / 2]];
  const y = bar.y + bar.h / 2;
  return [...start, [wall, y], [side === 'left' ? bar.x : bar.x + bar.w, y]];
}

// ---- the bar of a processor -----------------------------------------------------------------------

function drawBar(c, { layout, theme: th }, device, words, more = '') {
  const r = barOf(layout, device) ?? layout.memories[0].compute;
  rounded(c, r, 8);
  c.fillStyle = th.panel;
  c.fill();
  c.lineWidth = 2;
  c.strokeStyle = th.bad;
  c.stroke();
  const radius = Math.min(10, r.h / 2 - 4);
  drawRing(c, th, r.x + 12 + radius, r.y + r.h / 2, radius);
  const x = r.x + 22 + 2 * radius;
  const w = text(c, words, x, r.y + r.h / 2 + 1, { font: `700 13px ${th.sans}`, color: th.bad, max: r.x + r.w - x - 8 });
  const room = r.x + r.w - x - w - 24;
  const font = `12px ${th.sans}`;
  if (room > 60) text(c, wording(c, [more].flat(), font, room), x + w + 14, r.y + r.h / 2 + 1, { font, color: th.ink, max: room });
}

// A kernel that never ran: an empty ring, crossed out.
function drawRing(c, th, x, y, radius) {
  c.beginPath();
  c.arc(x, y, radius, 0, 7);
  c.fillStyle = th.panel;
  c.fill();
  c.lineWidth = Math.max(1.5, radius / 6);
  c.strokeStyle = th.line;
  c.stroke();
  const arm = radius * 0.8;
  c.lineWidth = Math.max(2, radius / 5);
  c.strokeStyle = th.bad;
  for (const way of [-1, 1]) {
    c.beginPath();
    c.moveTo(x - arm, y - way * arm);
    c.lineTo(x + arm, y + way * arm);
    c.stroke();
  }
}

// ---- operands in different memories ---------------------------------------------------------------

// On the bus, at the height of the operands where that is free: above the lanes, under the bus's name.
function ringAt(layout, operands) {
  const { rect, tall, lanes } = layout.bus;
  if (tall) return { x: rect.x + rect.w / 2, y: rect.y + 20, r: 13 };
  const r = rect.w >= 150 ? RING : 13;
  const lane = [...lanes.values()][0]?.h2d;
  const [top, bottom] = [rect.y + 46 + r, (lane ? lane.from[1] - lane.thick / 2 : rect.y + rect.h) - r - 38];
  const heights = boxesOf(layout, operands).map((box) => box.y + box.h / 2);
  const y = heights.length ? Math.min(...heights) : top;
  return { x: rect.x + rect.w / 2, y: Math.max(Math.min(bottom, Math.max(top, y)), rect.y + r + 16), r };
}

function drawCrossing(c, scene, m, operands, under = 'never ran') {
  const { layout, theme: th } = scene;
  const ring = ringAt(layout, operands);
  const { rect, tall } = layout.bus;
  if (tall) clearNames(c, layout, th);
  for (const box of boxesOf(layout, operands)) {
    drawFrame(c, scene, box.pieces);
    drawDashes(c, th, toRing(layout, box, ring));
  }
  if (m.type === 'pointer') drawDashes(c, th, fromBar(layout, ring));
  const font = `700 12.5px ${th.mono}`;
  for (const side of ['left', 'right']) {
    const said = [...new Set(operands.filter((one) => isLeft(one.device) === (side === 'left')).map((one) => one.device))];
    const label = m.type === 'pointer' && side === 'left' ? ['cpu'] : said;
    if (label.length) drawDevice(c, th, and(label), { x: side === 'left' ? rect.x + 8 : rect.x + rect.w - 8, y: ring.y - 10, side, font });
  }
  drawRing(c, th, ring.x, ring.y, ring.r);
  backed(c, th, m.name || 'the call', ring.x, ring.y + ring.r + 14, { font, color: th.bad, align: 'center' });
  backed(c, th, under, ring.x, ring.y + ring.r + 29, { font: `12px ${th.sans}`, color: th.bad, align: 'center' });
}

// On a phone the bus has no other room.
function clearNames(c, { bus: { rect } }, th) {
  c.fillStyle = th.paper;
  c.fillRect(rect.x + rect.w / 2 - 54, rect.y + 2, 108, rect.h - 4);
}

const isLeft = (device) => device === 'cpu';

function drawDevice(c, th, words, { x, y, side, font }) {
  backed(c, th, words, x, y, { font, color: th.bad, align: side });
}

// Words that stay readable over lanes and lines.
function backed(c, th, words, x, y, style) {
  c.font = style.font;
  const w = c.measureText(words).width;
  const left = style.align === 'center' ? x - w / 2 : style.align === 'right' ? x - w : x;
  c.fillStyle = th.paper;
  c.fillRect(left - 2, y - 7, w + 4, 14);
  text(c, words, x, y, style);
}

// From an operand to the ring: level, over the boxes beside it where there are any; on a phone along the wall.
function toRing(layout, box, ring) {
  const { rect, tall } = layout.bus;
  const left = isLeft(box.device);
  const end = [ring.x + (left ? -ring.r : ring.r), ring.y];
  const piece = left ? box.pieces.at(-1) : box.pieces[0];
  if (tall) {
    const { rect: memory } = memoryOf(layout, box.device);
    const wall = left ? memory.x + 4 : memory.x + memory.w - 4;
    const side = left ? box.pieces[0].x - EDGE : piece.x + piece.w + EDGE;
    return [[side, piece.y + piece.h / 2], [wall, piece.y + piece.h / 2], [wall, ring.y], end];
  }
  const blocked = layout.boxes.some((b) => b !== box && b.device === box.device && b.pieces.some((p) => p.y === piece.y && (left ? p.x > piece.x : p.x < piece.x)));
  const y = blocked ? piece.y - EDGE - 6 : piece.y + piece.h / 2;
  const start = blocked ? [[piece.x + piece.w / 2, piece.y - EDGE], [piece.x + piece.w / 2, y]] : [[left ? piece.x + piece.w + EDGE : piece.x - EDGE, y]];
  const shore = left ? rect.x + 4 : rect.x + rect.w - 4;
  return [...start, [shore, y], [shore, ring.y], end];
}

// The host's pointer: from its bar.
function fromBar(layout, ring) {
  const { rect, tall } = layout.bus;
  const bar = barOf(layout, 'cpu');
  const y = bar.y + bar.h / 2;
  const wall = tall ? layout.memories[0].rect.x + 4 : rect.x + 4;
  return [[tall ? bar.x : bar.x + bar.w, y], [wall, y], [wall, ring.y], [ring.x - ring.r, ring.y]];
}

// ---- a full memory --------------------------------------------------------------------------------

// The largest hole framed, and from its beginning a line over the rows, as long as the request: past what lives there, which
// stays to be seen. What the rows have no room for is cut off.
function drawRequest(c, scene, m) {
  const { layout, theme: th, scale } = scene;
  const memory = memoryOf(layout, m.device);
  if (!memory) return;
  const { bytes, hole } = m.request;
  const { parts, left } = stretch(layout, memory, hole, bytes);
  const rects = hole.start === null ? parts : pieces(memory.rows, hole.start, hole.bytes);
  c.save();
  c.globalAlpha = 0.28;
  c.fillStyle = tile(c, 'hatch', '', th.bad, scale);
  for (const { x, y, w, h } of rects) c.fillRect(x, y, w, h);
  c.restore();
  drawFrame(c, scene, rects, false);
  if (hole.start !== null) drawLength(c, th, parts, left > 0);
  if (left > 0) drawCut(c, th, parts.at(-1));
  drawDashes(c, th, fromRequest(layout, parts[0]));
  drawAsked(c, layout, th, m.request, left);
}

// A line over the rows, with ends.
function drawLength(c, th, parts, isCut) {
  const isTight = parts.length > 1 && parts[1].y - parts[0].y - parts[0].h < 28; // names stand between the rows
  const y = (part) => part.y - (isTight && part !== parts[0] ? 1 : EDGE + 4);
  c.fillStyle = th.bad;
  parts.forEach((part, i) => {
    c.fillRect(part.x - (i ? 0 : EDGE + 1.5), y(part), part.w + (i ? 0 : EDGE + 1.5), 3);
    if (i === 0) c.fillRect(part.x - EDGE - 1.5, y(part), 3, 10);
    if (i === parts.length - 1 && !isCut) c.fillRect(part.x + part.w - 1.5, y(part) - 2, 3, part.h / 2 + EDGE + 4);
  });
}

// From the outline to its words on the bus.
function fromRequest(layout, { x, y, w, h }) {
  const { rect, tall } = layout.bus;
  const words = askedAt(layout);
  if (!tall) return [[x, y + h / 2], [rect.x + rect.w - 4, y + h / 2], [rect.x + rect.w - 4, words.y], [rect.x + rect.w / 2 + 34, words.y]];
  const wall = layout.memories[1].rect.x + layout.memories[1].rect.w - 4;
  return [[x + w, y + h / 2], [wall, y + h / 2], [wall, words.y], [rect.x + rect.w / 2 + 34, words.y]];
}

const askedAt = (layout) => {
  const { x, y } = ringAt(layout, []);
  return { x, y: layout.bus.tall ? y - 7 : y };
};

function drawAsked(c, layout, th, { bytes, hole }, left) {
  const { x, y } = askedAt(layout);
  if (layout.bus.tall) clearNames(c, layout, th);
  const small = { font: `12px ${th.sans}`, color: th.bad, align: 'center' };
  backed(c, th, units.bytes(bytes), x, y, { ...small, font: `700 14px ${th.sans}` });
  const words = ['requested;', hole.bytes > 0 ? 'largest free block:' : 'no free block', hole.bytes > 0 ? units.bytes(hole.bytes) : '', left > 0 && !layout.bus.tall ? `(${units.bytes(left)} not drawn)` : ''];
  words.filter(Boolean).forEach((one, i) => backed(c, th, one, x, y + 17 + 15 * i, /^\d/.test(one) ? { ...small, font: `700 14px ${th.sans}` } : small));
}

// {parts: rectangles from the hole's place, row by row, as on the map, none where a row has no bytes; left: bytes that have no row}
function stretch(layout, memory, hole, bytes) {
  const { scale } = layout.map;
  const { inner } = memory;
  const lines = linesOf(layout, memory);
  const inRow = hole.start === null ? null : pieces(memory.rows, hole.start, hole.bytes)[0];
  const from = inRow ? lines.findIndex(({ y }) => y === inRow.y) : Math.min(memory.rows.length, lines.length - 1);
  const parts = [];
  let left = bytes;
  lines.slice(from).forEach(({ y, h, bytes: most }, i) => {
    const x = inRow && i === 0 ? inRow.x : inner.x;
    const w = Math.min(left * scale, inner.x + most * scale - x);
    if (left > 0 && w > 0) parts.push({ x, y, w: Math.max(8, w), h });
    left -= w / scale;
  });
  return { parts, left: left * scale > 1 ? left : 0 };
}

// The rows of a memory, and below them those that have room: one at least, however low.
function linesOf({ map }, { rows, inner }) {
  const { bytes } = map;
  const all = rows.map(({ y, h, base, limit }) => ({ y, h, bytes: Math.min(bytes, limit - base) }));
  const pitch = rows.length ? rows[0].h + rows[0].gap : map.height + 30;
  const end = inner.y + inner.h;
  for (let y = rows.length ? rows.at(-1).y + pitch : inner.y; y + map.height <= end; y += pitch) all.push({ y, h: map.height, bytes });
  if (all.length === rows.length) all.push({ y: end - 4, h: 6, bytes });
  return all;
}

// Here it goes on.
function drawCut(c, th, { x, y, w, h }) {
  const right = x + w + 1;
  c.beginPath();
  for (let i = 0; i <= 6; i++) c.lineTo(right + (i % 2 ? 4 : -4), y - EDGE + (i * (h + 2 * EDGE)) / 6);
  c.lineWidth = 6;
  c.strokeStyle = th.panel;
  c.stroke();
  c.lineWidth = 2;
  c.strokeStyle = th.bad;
  c.stroke();
}
