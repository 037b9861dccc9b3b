// draw.js: boxes in, pixels out. A pure function of the scene: the layout, the moment t with its actions (those of the
// step at the fraction m of its time, and the works in flight), and the theme.

import * as units from '../model/units.js';
import { tensorStyle, tile } from './colours.js';
import { ease, part, rounded, text } from './canvas_util.js';
import { drawCopy, drawOps, drawTrailBelow, drawWait } from './motion.js';
import { drawLanes } from './lanes.js';

/** Draw the whole stage. scene: {layout, actions, m, t, theme, scale, focus, line, waits, spans, total, clock}. */
export function draw(c, scene) {
  const { layout, theme: th } = scene;
  c.clearRect(0, 0, layout.width, layout.height);
  drawBus(c, th, layout.bus, scene);
  for (const memory of layout.memories) drawMemory(c, th, memory, layout);
  drawProgram(c, scene);
  for (const a of scene.actions) drawTrailBelow(c, scene, a);
  for (const box of layout.boxes) drawBox(c, scene, placed(box, scene.m), stateOf(scene, box));
  for (const more of layout.more) drawMore(c, th, more);
  for (const a of scene.actions) {
    if (a.type === 'copy') drawCopy(c, scene, a);
    else if (a.type !== 'op') drawWait(c, scene, a);
  }
  for (const memory of layout.memories) drawOps(c, scene, memory);
  drawLanes(c, scene);
}

// ---- memories and the bus -------------------------------------------------------------------------

function drawMemory(c, th, memory, { tall, low }) {
  const { rect, head } = memory;
  const none = memory.kind === 'none';
  const host = memory.device === 'cpu';
  rounded(c, rect, 14);
  c.fillStyle = th.panel;
  c.fill();
  c.lineWidth = 1;
  c.strokeStyle = th.line;
  c.setLineDash(none ? [5, 5] : []);
  c.stroke();
  c.setLineDash([]);
  c.fillStyle = host ? th.cpu : th.gpu;
  rounded(c, { x: head.x, y: head.y + (tall || low ? 11 : 13), w: 4, h: tall || low ? 14 : 32 }, 2);
  c.fill();
  const y = head.y + (tall || low ? 18 : 20);
  const name = host ? 'CPU RAM' : `GPU VRAM${memory.device === 'cuda:0' ? '' : ` ${memory.device}`}`;
  const w = text(c, none ? 'No GPU' : name, head.x + 12, y, { font: `600 15px ${th.sans}`, color: th.ink });
  const about = summary(memory, none, tall || low);
  const badge = low && host ? 150 : 0; // room for the program's line
  const place = tall || low ? [head.x + 24 + w, y, head.w - w - 24 - badge] : [head.x + 12, y + 20, head.w - 12];
  text(c, about, place[0], place[1], { font: `12px ${th.sans}`, color: th.soft, max: place[2] });
  drawCores(c, th, memory, host, none);
}

function summary(memory, none, brief) {
  if (none) return 'this run has no card';
  const used = units.bytes(memory.used);
  if (memory.device === 'cpu') return `${brief ? '' : 'host memory · '}${used} in use`;
  const of = memory.capacity ? ` of ${units.bytes(memory.capacity)}` : ' in use';
  return `${memory.card && !brief ? `${memory.card} · ` : ''}${used}${of}`;
}

function drawCores(c, th, memory, host, none) {
  if (none) return;
  const r = memory.compute;
  rounded(c, r, 8);
  c.fillStyle = th.well;
  c.fill();
  const font = `12px ${th.sans}`;
  text(c, host ? 'CPU cores' : 'GPU cores', r.x + 12, r.y + r.h / 2 + 1, { font, color: th.faint });
}

function drawBus(c, th, bus) {
  for (const dir of ['h2d', 'd2h']) drawPipe(c, th, bus[dir], dir);
  const { rect } = bus;
  const font = `600 12px ${th.sans}`;
  if (bus.tall) {
    text(c, 'bus', rect.x + rect.w / 2, rect.y + rect.h / 2, { font, color: th.soft, align: 'center' });
    return;
  }
  text(c, 'PCIe bus', rect.x + rect.w / 2, rect.y + 20, { font, color: th.soft, align: 'center' });
  const small = { font: `11px ${th.sans}`, color: th.faint, align: 'center' };
  text(c, 'staging', bus.h2d.slot.x + bus.h2d.slot.w / 2, (bus.h2d.from[1] + bus.d2h.from[1]) / 2, small);
}

function drawPipe(c, th, lane, dir) {
  c.lineCap = 'round';
  c.lineWidth = 16;
  c.strokeStyle = th.well;
  const inset = lane.from[0] === lane.to[0] ? [0, 8] : [8, 0];
  c.beginPath();
  c.moveTo(lane.from[0] + inset[0], lane.from[1] + inset[1]);
  c.lineTo(lane.to[0] - inset[0], lane.to[1] - inset[1]);
  c.stroke();
  c.lineCap = 'butt';
  drawChevrons(c, th, lane, dir === 'h2d' ? 1 : -1);
  rounded(c, lane.slot, 7);
  c.fillStyle = th.paper;
  c.fill();
  c.lineWidth = 1.25;
  c.strokeStyle = th.faint;
  c.setLineDash([4, 3]);
  c.stroke();
  c.setLineDash([]);
}

function drawChevrons(c, th, { from, to }, way) {
  const [dx, dy] = [Math.sign(to[0] - from[0]) * way, Math.sign(to[1] - from[1]) * way];
  c.strokeStyle = th.line;
  c.lineWidth = 1.5;
  for (const t of [0.5, 0.62, 0.74, 0.86]) {
    const x = from[0] + (to[0] - from[0]) * t;
    const y = from[1] + (to[1] - from[1]) * t;
    c.beginPath();
    c.moveTo(x - 3 * dx - 3 * dy, y - 3 * dy - 3 * dx);
    c.lineTo(x, y);
    c.lineTo(x - 3 * dx + 3 * dy, y - 3 * dy + 3 * dx);
    c.stroke();
  }
}

// The program's state: its current line, and whether it waits.
function drawProgram(c, { layout, theme: th, line, waits, scale }) {
  const host = layout.memories[0];
  if (!line || layout.tall) return;
  const held = waits > 0;
  const words = held ? `line ${line} waits ${units.time(waits)}` : `at line ${line}`;
  c.font = `600 12px ${th.sans}`;
  const w = c.measureText(words).width + 22;
  const r = { x: host.head.x + host.head.w - w, y: host.head.y + (layout.low ? 6 : 7), w, h: 24 };
  rounded(c, r, 12);
  c.fillStyle = held ? th.paper : th.well;
  c.fill();
  if (held) {
    c.fillStyle = tile(c, 'hatch', '', th.line, scale);
    c.fill();
    c.lineWidth = 1.25;
    c.strokeStyle = th.wait;
    c.stroke();
  }
  text(c, words, r.x + 11, r.y + 12.5, { font: `600 12px ${th.sans}`, color: held ? th.wait : th.soft });
}

// ---- tensors --------------------------------------------------------------------------------------

// A box that the new layout moved slides to its new place.
function placed(box, m) {
  if (!box.before || m >= 0.35) return box;
  const t = ease(m / 0.35);
  const mix = (key) => box.before[key] + (box[key] - box.before[key]) * t;
  return { ...box, x: mix('x'), y: mix('y'), w: mix('w'), h: mix('h'), scale: mix('scale') };
}

// A box's appearance at this moment: what the step does to it, and what the works in flight have written so far.
function stateOf(scene, box) {
  const { actions, m } = scene;
  const s = { alpha: 1, empty: box.empty, unused: box.empty, glow: 0, arrived: 1, writing: false };
  for (const a of actions) {
    if (a.type === 'alloc' && a.storage === box.storage) s.alpha = ease(part(m, 0, 0.7));
    if (a.type === 'free' && a.storage === box.storage) s.leaving = 1 - ease(m);
    if (a.type === 'copy') markCopy(s, a, box);
    if (a.type === 'op') markOp(s, a, box);
    if (['read', 'write', 'answer', 'view'].includes(a.type) && a.storage === box.storage) s.glow = part(m, 0, 0.4);
  }
  return s;
}

const GLOW = { queued: 0, running: 0.6, done: 1 };

function markCopy(s, a, box) {
  if (a.src === box.storage) s.glow = Math.max(s.glow, GLOW[a.phase]);
  if (a.dst === box.storage) markWrite(s, a);
}

function markOp(s, a, box) {
  if (a.birth && a.phase === 'done') return;
  if (a.outs.includes(box.storage)) markWrite(s, a);
  else if (a.ins.includes(box.storage)) s.glow = Math.max(s.glow, GLOW[a.phase]);
}

// What is written for the first time fills its outline; over older contents moves an edge.
function markWrite(s, a) {
  s.glow = Math.max(s.glow, GLOW[a.phase]);
  if (a.phase === 'done') return;
  s.arrived = Math.min(s.arrived, a.part);
  s.writing = a.phase === 'running';
  if (a.fresh && a.part === 0) s.empty = true;
  s.fresh = a.fresh;
}

function drawBox(c, scene, box, s) {
  const { theme: th, scale } = scene;
  const { hue, pattern } = tensorStyle(box.index);
  const freed = box.freed && s.leaving === undefined;
  c.save();
  c.globalAlpha = freed ? 0.55 : s.alpha;
  const r = Math.max(3, 9 * box.scale);
  if (s.glow > 0 && !freed) drawGlow(c, box, r, hue, s.glow);
  const partly = !freed && s.arrived > 0 && s.arrived < 1;
  if (freed || s.empty || (partly && s.fresh)) drawOutline(c, th, box, r, freed || s.unused ? th.faint : hue);
  if (!freed && !s.empty) drawArrived(c, { th, scale, box, r, hue, pattern, leaving: s.leaving }, partly && s.fresh ? s.arrived : 1);
  if (partly) drawEdge(c, box, s.arrived, hue);
  drawLabel(c, th, box, s, freed);
  if (scene.focus === box.storage) drawFocus(c, th, box, r);
  c.restore();
}

// The part of a box that holds its new contents.
function drawArrived(c, look, part) {
  c.save();
  if (part < 1) {
    c.beginPath();
    c.rect(look.box.x - 2, look.box.y - 2, look.box.w * part + 2, look.box.h + 4);
    c.clip();
  }
  drawFilled(c, look);
  c.restore();
}

function drawEdge(c, box, part, hue) {
  c.fillStyle = hue;
  c.fillRect(box.x + box.w * part - 1.5, box.y, 3, box.h);
}

function drawGlow(c, box, r, hue, amount) {
  c.save();
  c.globalAlpha *= amount;
  rounded(c, { x: box.x - 4, y: box.y - 4, w: box.w + 8, h: box.h + 8 }, r + 4);
  c.lineWidth = 2.5;
  c.strokeStyle = hue;
  c.stroke();
  c.restore();
}

function drawOutline(c, th, box, r, color) {
  rounded(c, box, r);
  c.fillStyle = th.panel;
  c.fill();
  c.setLineDash([5, 4]);
  c.lineWidth = 1.5;
  c.strokeStyle = color;
  c.stroke();
  c.setLineDash([]);
}

// A tinted body for the text, and a band in full hue and pattern that identifies the tensor.
function drawFilled(c, { th, scale, box, r, hue, pattern, leaving = 1 }) {
  c.save();
  c.globalAlpha *= 0.35 + 0.65 * leaving;
  rounded(c, box, r);
  c.fillStyle = th.panel;
  c.fill();
  c.clip();
  c.save();
  c.globalAlpha *= 0.16;
  c.fillStyle = hue;
  c.fillRect(box.x, box.y, box.w, box.h);
  c.restore();
  if (box.stale) {
    c.save();
    c.globalAlpha *= 0.4;
    c.fillStyle = tile(c, 'hatch', '', th.faint, scale);
    c.fillRect(box.x, box.y, box.w, box.h);
    c.restore();
  }
  c.fillStyle = tile(c, pattern, hue, 'rgba(255,255,255,.62)', scale);
  c.fillRect(box.x, box.y, bandWidth(box), box.h);
  c.restore();
  rounded(c, box, r);
  c.lineWidth = 1.25;
  c.strokeStyle = hue;
  c.stroke();
}

export const bandWidth = (box) => Math.max(4, 14 * box.scale);

function drawLabel(c, th, box, s, freed) {
  const x = box.x + bandWidth(box) + 8 * box.scale;
  const max = box.x + box.w - x - 5;
  const color = freed || s.empty ? th.soft : th.ink;
  if (box.h < 17) return;
  const size = box.h < 30 ? 11 : box.scale < 1.1 ? 13.5 : 15;
  const name = { font: `600 ${size}px ${th.mono}`, color, max };
  if (box.h < 46) {
    text(c, box.name, x, box.y + box.h / 2 + 0.5, name);
    return;
  }
  const small = { font: `${box.scale < 1.1 ? 11 : 12}px ${th.sans}`, color: th.soft, max };
  const step = box.h / 3.6;
  text(c, box.name, x, box.y + step * 0.86, name);
  text(c, `${units.shape(box.shape)} ${box.dtype}`, x, box.y + step * 1.86, small);
  const arriving = s.arrived > 0 && s.arrived < 1;
  const note = freed ? 'freed' : arriving ? '' : s.empty ? 'empty' : box.stale ? 'stale' : '';
  const bytes = arriving ? `${Math.floor(s.arrived * 100)} % of ${units.bytes(box.bytes)}` : units.bytes(box.bytes);
  text(c, note ? `${bytes} · ${note}` : bytes, x, box.y + step * 2.76, small);
}

function drawFocus(c, th, box, r) {
  rounded(c, { x: box.x - 7, y: box.y - 7, w: box.w + 14, h: box.h + 14 }, r + 7);
  c.lineWidth = 2;
  c.strokeStyle = th.accent;
  c.stroke();
}

function drawMore(c, th, more) {
  const words = `and ${units.plural(more.count, 'more tensor')}, listed in the table`;
  text(c, words, more.x, more.y + 10, { font: `12px ${th.sans}`, color: th.soft, max: more.w });
}
