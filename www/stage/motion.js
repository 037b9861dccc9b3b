// motion.js: works in flight. A copy in flight is a band on the bus: its head goes ahead to the destination's door while
// the copy starts up, and its tail follows as the destination fills. Of a staged copy each hop has a band of its own, of
// the chunk that is on it. An op connects its operands and its result. What a step has
// finished stays visible as a trail, so that a still picture shows the same.

import * as units from '../model/units.js';
import { tensorStyle, tile } from './colours.js';
import { arrow, distance, ease, middle, part, path, rounded, text } from './canvas_util.js';

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
  if (a.type !== 'op' || a.birth || a.phase === 'queued') return;
  const chip = memoryOf(scene.layout, a.device)?.compute;
  if (!chip) return;
  for (const id of a.ins) curve(c, scene, boxOf(scene.layout, id), chip, ease(part(a.m, 0, 0.3)), false);
  for (const id of a.outs) {
    if (!a.ins.includes(id)) curve(c, scene, boxOf(scene.layout, id), chip, ease(part(a.m, 0.1, 0.4)), true);
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

/** The op that runs on a device's cores, with its progress; else the last one that the step issued there. */
export function drawOps(c, scene, memory) {
  const here = scene.actions.filter((a) => a.type === 'op' && a.device === memory.device);
  const a = here.find((op) => op.phase === 'running') ?? here.findLast((op) => op.phase === 'done') ?? here.at(-1);
  if (!a) return;
  const { theme: th } = scene;
  const r = memory.compute;
  c.save();
  rounded(c, r, 8);
  c.fillStyle = th.well;
  c.fill();
  c.clip();
  c.fillStyle = a.device === 'cpu' ? th.cpu : th.gpu;
  c.globalAlpha = a.phase === 'done' ? 1 : 0.28;
  c.fillRect(r.x, r.y, r.w * (a.phase === 'queued' ? 0 : a.m), r.h);
  c.restore();
  drawOpText(c, th, a, r, here.filter((op) => op.phase === 'queued' && op !== a).length);
}

function drawOpText(c, th, a, r, queued) {
  const color = a.phase === 'done' ? th.paper : th.ink;
  const y = r.y + r.h / 2 + 1;
  const took = a.phase === 'queued' ? (a.device === 'cpu' ? '' : 'queued') : a.phase === 'done' ? units.time(a.time) : `${Math.floor(a.m * 100)} % of ${units.time(a.time)}`;
  const words = queued ? `${took}, ${queued} more queued` : took;
  const w = text(c, a.name, r.x + 12, y, { font: `700 13px ${th.mono}`, color });
  c.font = `600 12px ${th.sans}`;
  const right = c.measureText(words).width + 12;
  text(c, a.detail, r.x + 24 + w, y, { font: `12px ${th.sans}`, color, max: r.w - w - 36 - right });
  text(c, words, r.x + r.w - 12, y, { font: `600 12px ${th.sans}`, color, align: 'right' });
}

// A copy's path and its look; the fractions of the path where its staging slot lies (0: it passes none), and the bus.
function course({ layout }, a) {
  const points = route(layout, a);
  if (points.length < 2) return null;
  const { hue, pattern } = tensorStyle(boxOf(layout, a.dst).index);
  return { points, stop: stopShare(layout, a, points), bus: busShare(layout, a, points), hue, pattern };
}

function drawPath(c, scene, a) {
  const at = course(scene, a);
  if (!at) return;
  c.save();
  c.lineWidth = 2.25;
  c.strokeStyle = at.hue;
  if (a.phase === 'queued') c.globalAlpha = 0.55;
  if (a.phase === 'queued') c.setLineDash([1, 6]);
  else if (a.why === 'policy') c.setLineDash([4, 5]); // an implicit copy
  path(c, at.points);
  c.restore();
}

/** The bands of a copy in flight, or afterwards an arrow, a full slot and the cost. */
export function drawCopy(c, scene, a) {
  const at = course(scene, a);
  if (!at || a.phase === 'queued') return;
  if (at.stop) drawSlot(c, scene, a, at.hue);
  if (a.phase === 'running') {
    for (const [from, to] of bands(a, at)) drawBand(c, scene, at, from, to);
    drawArriving(c, scene, a);
    return;
  }
  c.fillStyle = at.hue;
  arrow(c, at.points.at(-2), at.points.at(-1), 9);
  drawCost(c, scene, a);
}

// Stretches of the path, one a hop: while the engine starts up, the head goes ahead to the end of the hop; then the tail
// follows, as the bytes arrive.
function bands(a, { bus: [from, to], stop }) {
  const hops = stop ? [[from, stop], [stop, to]] : [[from, to]];
  return a.moving.filter(({ hop }) => hops[hop]).map(({ hop, bytes, done, reach }) => {
    const [start, end] = hops[hop];
    return [start + ((end - start) * done) / Math.max(1, bytes), start + (end - start) * reach];
  });
}

function drawBand(c, { scale }, { points, hue, pattern }, from, to) {
  if (to - from < 0.002) return;
  const length = lengthOf(points);
  c.save();
  c.lineWidth = 13;
  c.lineJoin = 'round';
  c.strokeStyle = tile(c, pattern, hue, 'rgba(255,255,255,.62)', scale);
  c.setLineDash([(to - from) * length, 2 * length]);
  c.lineDashOffset = -from * length;
  c.beginPath();
  points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
  c.stroke();
  c.restore();
}

const lengthOf = (points) => points.slice(1).reduce((sum, p, i) => sum + distance(points[i], p), 0);

// The fraction of the path that lies before point n of it.
function shareUpTo(points, n) {
  const lengths = points.slice(1).map((p, i) => distance(points[i], p));
  const sum = (list) => list.reduce((total, length) => total + length, 0);
  return sum(lengths.slice(0, n)) / Math.max(1, sum(lengths));
}

// The fraction of the path where a copy of pageable memory stops in the staging slot; 0: no stop.
function stopShare(layout, a, points) {
  const lane = layout.bus[a.dir];
  if (a.route !== 'staged' || !lane) return 0;
  const [x, y] = middle(lane.slot);
  const n = points.findIndex((p) => p[0] === x && p[1] === y);
  return n > 0 ? shareUpTo(points, n) : 0;
}

// The stretch of the path that lies on the bus, between the doors of the two memories.
function busShare(layout, a, points) {
  const lane = layout.bus[a.dir];
  if (!lane) return [0, 1];
  const along = layout.tall ? 0 : 1; // a lane's points share this coordinate
  const on = points.map((p, i) => [p, i]).filter(([p]) => p[along] === lane.from[along]).map(([, i]) => i);
  return on.length > 1 ? [shareUpTo(points, on[0]), shareUpTo(points, on.at(-1))] : [0, 1];
}

// The staging slot is as full as the buffers are.
function drawSlot(c, { layout, theme: th }, a, hue) {
  const lane = layout.bus[a.dir];
  if (!lane) return;
  const { slot } = lane;
  const filled = a.phase === 'done' ? 1 : Math.min(1, a.buffered / Math.max(1, Math.min(a.bytes, a.chunk)));
  c.save();
  rounded(c, slot, 7);
  c.fillStyle = th.paper;
  c.fill();
  c.clip();
  c.globalAlpha = 0.3;
  c.fillStyle = hue;
  c.fillRect(slot.x, slot.y, slot.w * filled, slot.h);
  c.restore();
  rounded(c, slot, 7);
  c.lineWidth = 1.5;
  c.strokeStyle = hue;
  c.stroke();
}

function drawArriving(c, scene, a) {
  const left = Math.max(0, a.end - scene.t);
  const arrived = scene.layout.tall ? `${Math.floor(a.part * 100)} %` : `${units.bytes(Math.floor(a.arrived))} of ${units.bytes(a.bytes)}`;
  drawBeside(c, scene, a, arrived, `${units.time(Math.round(left))} to go`);
}

// Bytes and duration, next to the lane.
function drawCost(c, scene, a) {
  drawBeside(c, scene, a, `${units.bytes(a.bytes)}${a.why === 'policy' ? ', implicit' : ''}`, a.time ? units.time(a.time) : '');
}

function drawBeside(c, { layout, theme: th }, a, words, took) {

  const lane = layout.bus[a.dir];
  if (!lane) return;
  const bold = { font: `700 13px ${th.sans}`, color: th.ink, align: 'center' };
  const thin = { font: `12px ${th.sans}`, color: th.soft, align: 'center' };
  if (layout.tall) {
    const x = lane.from[0] + (a.dir === 'h2d' ? -46 : 46);
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
