// motion.js: the animation of a step. A copy's packet crosses the bus, through the staging slot if
// the memory is pageable; an op connects its operands and its result. After the animation (m = 1)
// the path stays visible as a trail, so that a still picture shows the same.

import * as units from '../model/units.js';
import { tensorStyle, tile } from './colours.js';
import { along, arrow, distance, ease, middle, part, path, rounded, text } from './canvas_util.js';

const boxOf = (layout, storage) => layout.boxes.find((b) => b.storage === storage);
const memoryOf = (layout, device) => layout.memories.find((m) => m.device === device);

/** The path of a copy: from box to box, over its lane and through the slot; [] if an end is not shown. */
export function route(layout, a) {
  const src = boxOf(layout, a.src);
  const dst = boxOf(layout, a.dst);
  if (!src || !dst) return [];
  const lane = a.dir === 'h2d' ? layout.bus.h2d : a.dir === 'd2h' ? layout.bus.d2h : null;
  if (!lane) return [middle(src), middle(dst)];
  const stops = layout.tall ? down(src, dst, lane) : across(layout, src, dst, lane);
  return a.dir === 'h2d' ? stops : stops.reverse();
}

// Both run from the host to the card; `route` reverses them for d2h.
function across(layout, src, dst, lane) {
  const host = src.device === 'cpu' ? src : dst;
  const card = src.device === 'cpu' ? dst : src;
  const gutter = 9;
  const [left, right] = [lane.from[0] - gutter, lane.to[0] + gutter];
  return [
    ...doorstep(layout, host, left), [left, lane.from[1]], middle(lane.slot), [right, lane.from[1]],
    ...doorstep(layout, card, right).reverse(),
  ];
}

// From a box to the wall at x: straight if nothing is in between, else through the gap above.
function doorstep(layout, box, x) {
  const y = box.y + box.h / 2;
  const side = x > box.x ? box.x + box.w : box.x;
  const between = (b) => b !== box && b.y < y && b.y + b.h > y && b.x < Math.max(x, side) && b.x + b.w > Math.min(x, side);
  if (!layout.boxes.some(between)) return [[side, y], [x, y]];
  const above = box.y - 6;
  return [[box.x + box.w / 2, box.y], [box.x + box.w / 2, above], [x, above]];
}

function down(src, dst, lane) {
  const host = src.device === 'cpu' ? src : dst;
  const card = src.device === 'cpu' ? dst : src;
  const x = lane.from[0];
  const h = host.x + host.w / 2;
  const c = card.x + card.w / 2;
  return [
    [h, host.y + host.h], [h, lane.from[1] + 6], [x, lane.from[1] + 6],
    middle(lane.slot), [x, lane.to[1] - 6], [c, lane.to[1] - 6], [c, card.y],
  ];
}

/** Drawn below the boxes: the path of a copy, the lines from an op's operands to its chip and its result. */
export function drawTrailBelow(c, scene, a) {
  if (a.type === 'copy') drawPath(c, scene, a);
  if (a.type !== 'op' || a.birth) return;
  const chip = chipRect(scene.layout, a);
  if (!chip) return;
  for (const id of a.ins) curve(c, scene, boxOf(scene.layout, id), chip, ease(part(scene.m, 0, 0.35)), false);
  for (const id of a.outs) {
    if (!a.ins.includes(id)) curve(c, scene, boxOf(scene.layout, id), chip, ease(part(scene.m, 0.6, 0.88)), true);
  }
}

function curve(c, { theme: th }, box, chip, t, out) {
  if (!box || t <= 0) return;
  const [x, y] = [box.x + box.w / 2, box.y + box.h];
  const end = [Math.min(chip.x + chip.w - 30, Math.max(chip.x + 30, x)), chip.y];
  c.save();
  c.lineWidth = 2;
  c.strokeStyle = c.fillStyle = tensorStyle(box.index).hue;
  c.globalAlpha = 0.9;
  const points = out ? [end, [end[0], (end[1] + y) / 2], [x, (end[1] + y) / 2], [x, y + 5]]
    : [[x, y + 4], [x, (end[1] + y) / 2], [end[0], (end[1] + y) / 2], end];
  path(c, points, t);
  if (t === 1) arrow(c, points[2], points[3], 8);
  c.restore();
}

const chipRect = (layout, a) => memoryOf(layout, a.device)?.compute;

/** The op's name, in the cores that run it. */
export function drawOp(c, scene, a) {
  const r = chipRect(scene.layout, a);
  if (!r) return;
  const { theme: th, m } = scene;
  const lit = a.birth ? part(m, 0, 0.3) : part(m, 0.25, 0.45);
  if (lit <= 0) return;
  c.save();
  c.globalAlpha = lit;
  rounded(c, r, 8);
  c.fillStyle = a.device === 'cpu' ? th.cpu : th.gpu;
  c.fill();
  const y = r.y + r.h / 2 + 1;
  const w = text(c, a.name, r.x + 12, y, { font: `700 13px ${th.mono}`, color: th.paper });
  const took = a.time ? units.time(a.time) : '';
  c.font = `12px ${th.sans}`;
  const right = took ? c.measureText(took).width + 12 : 0;
  text(c, a.detail, r.x + 24 + w, y, { font: `12px ${th.sans}`, color: th.paper, max: r.w - w - 36 - right });
  if (took) text(c, took, r.x + r.w - 12, y, { font: `600 12px ${th.sans}`, color: th.paper, align: 'right' });
  c.restore();
}

// A copy's progress: its path, the fraction covered, and the stop on it.
function progress({ layout, m }, a) {
  const points = route(layout, a);
  if (points.length < 2) return null;
  const stop = stopShare(layout, a, points);
  return { points, stop, t: travel(stop, part(m, 0.04, 0.88)), hue: tensorStyle(boxOf(layout, a.dst).index).hue };
}

function drawPath(c, scene, a) {
  const { points, t, hue } = progress(scene, a) ?? { t: 0 };
  if (t <= 0) return;
  c.save();
  c.lineWidth = 2.25;
  c.strokeStyle = hue;
  if (a.why === 'policy') c.setLineDash([4, 5]); // an implicit copy
  path(c, points, t);
  c.restore();
}

/** The packet in motion, or afterwards an arrow, a full slot and the cost. */
export function drawCopy(c, scene, a) {
  const { points, stop, t, hue } = progress(scene, a) ?? {};
  if (!points) return;
  if (stop) drawSlot(c, scene, a, t >= stop * 0.96, hue);
  if (t < 1) {
    drawPacket(c, scene, a, along(points, t), boxOf(scene.layout, a.src));
    return;
  }
  c.fillStyle = hue;
  arrow(c, points.at(-2), points.at(-1), 9);
  drawCost(c, scene, a);
}

// The fraction of the path where a copy of pageable memory stops in the staging slot; 0: no stop.
function stopShare(layout, a, points) {
  const lane = layout.bus[a.dir];
  if (a.route !== 'staged' || !lane) return 0;
  const [x, y] = middle(lane.slot);
  const n = points.findIndex((p) => p[0] === x && p[1] === y);
  const upTo = (k) => points.slice(1, k + 1).reduce((sum, p, i) => sum + distance(points[i], p), 0);
  return n > 0 ? upTo(n) / upTo(points.length - 1) : 0;
}

// The fraction of the path at progress `m`, with a pause at the stop.
function travel(stop, m) {
  if (!stop) return ease(m);
  if (m < 0.45) return stop * ease(m / 0.45);
  return m < 0.55 ? stop : stop + (1 - stop) * ease((m - 0.55) / 0.45);
}

function drawSlot(c, { layout, theme: th }, a, filled, hue) {
  const lane = layout.bus[a.dir];
  if (!lane || !filled) return;
  c.save();
  rounded(c, lane.slot, 7);
  c.fillStyle = th.paper;
  c.fill();
  c.globalAlpha = 0.28;
  c.fillStyle = hue;
  c.fill();
  c.globalAlpha = 1;
  c.lineWidth = 1.5;
  c.strokeStyle = hue;
  c.stroke();
  c.restore();
}

function drawPacket(c, scene, a, at, box) {
  const { theme: th, scale } = scene;
  const { hue, pattern } = tensorStyle(box.index);
  const w = 44 + Math.min(26, Math.max(0, Math.log2(Math.max(1, a.bytes)) - 9)) * 1.6;
  const r = { x: at.x - w / 2, y: at.y - 14, w, h: 28 };
  c.save();
  c.shadowColor = 'rgba(0,0,0,.25)';
  c.shadowBlur = 10 * scale;
  c.shadowOffsetY = 2 * scale;
  rounded(c, r, 7);
  c.fillStyle = th.panel;
  c.fill();
  c.shadowColor = 'transparent';
  c.clip();
  c.fillStyle = tile(c, pattern, hue, 'rgba(255,255,255,.62)', scale);
  c.fillRect(r.x, r.y, 11, r.h);
  c.globalAlpha = 0.2;
  c.fillStyle = hue;
  c.fillRect(r.x, r.y, r.w, r.h);
  c.restore();
  rounded(c, r, 7);
  c.lineWidth = 1.5;
  c.strokeStyle = hue;
  c.stroke();
  const font = { font: `600 12px ${th.mono}`, color: th.ink, align: 'center', max: w - 18 };
  text(c, box.name, at.x + 5, at.y + 1, font);
}

// Bytes and duration, next to the lane.
function drawCost(c, { layout, theme: th }, a) {
  const lane = layout.bus[a.dir];
  if (!lane) return;
  const words = `${units.bytes(a.bytes)}${a.why === 'policy' ? ', implicit' : ''}`;
  const took = a.time ? units.time(a.time) : '';
  const bold = { font: `700 13px ${th.sans}`, color: th.ink, align: 'center' };
  const thin = { font: `12px ${th.sans}`, color: th.soft, align: 'center' };
  if (layout.tall) {
    const x = lane.from[0] + (a.dir === 'h2d' ? -34 : 34);
    text(c, words, x, layout.bus.rect.y + 48, bold);
    text(c, took, x, layout.bus.rect.y + 64, thin);
    return;
  }
  const x = (lane.slot.x + lane.slot.w + lane.to[0]) / 2;
  const y = lane.from[1] + (a.dir === 'h2d' ? -40 : 26);
  text(c, words, x, y, bold);
  text(c, took, x, y + 17, thin);
}

/** Actions without a path of their own are named in the cores of the device they concern. */
export function drawWait(c, scene, a) {
  const words = saying(a);
  if (!words) return;
  const { layout, theme: th, scale, m } = scene;
  const full = a.type === 'error' ? memoryOf(layout, a.device) : null; // the memory that is full
  const r = (full ?? layout.memories[0]).compute;
  c.save();
  c.globalAlpha = part(m, 0, 0.3);
  rounded(c, r, 8);
  c.fillStyle = th.panel;
  c.fill();
  if (a.type === 'sync') {
    c.fillStyle = tile(c, 'hatch', '', th.line, scale);
    c.fill();
  }
  c.lineWidth = 1.5;
  c.strokeStyle = a.type === 'error' ? th.bad : a.type === 'sync' ? th.wait : th.cpu;
  c.stroke();
  text(c, words, r.x + 12, r.y + r.h / 2 + 1, { font: `600 12.5px ${th.sans}`, color: th.ink, max: r.w - 24 });
  c.restore();
}

function saying(a) {
  if (a.type === 'sync') return `the program waits for ${a.device || 'the card'}${a.held ? ` · ${units.time(a.held)}` : ''}`;
  if (a.type === 'write') return `written by ${a.via || 'the program'}`;
  if (a.type === 'read') return `read by ${a.via || 'the program'}`;
  if (a.type === 'answer') return `answer “${a.name}” submitted`;
  if (a.type === 'error') return `error: ${String(a.code).replaceAll('_', ' ')}`;
  if (a.type === 'mark') return a.text === undefined ? `clock: ${units.time(a.now)}` : `“${a.text}”`;
  return '';
}
