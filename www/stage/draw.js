// draw.js: boxes in, pixels out. A pure function of the scene: the layout, the moment t with its actions (those of the
// step at the fraction m of its time, and the works in flight), and the theme.

import { placeOf } from '../model/host.js';
import * as units from '../model/units.js';
import { tensorStyle, tile } from './colours.js';
import { ease, part, rounded, text, wording } from './canvas_util.js';
import { drawBus, drawCopy, drawWay, peerWords } from './bus.js';
import { drawCapacity, figures } from './capacity.js';
import { drawCores, drawUses } from './cores.js';
import { drawError } from './errors.js';
import { drawSpans, drawSummary } from './draw_spans.js';
import { drawLens, drawMoves, drawTags, drawWritten, saysPinned, writtenIn } from './draw_tags.js';
import { groupWords } from './groups.js';
import { pieces } from './map.js';

/**
 * Draw the whole stage. scene: {layout, now (instant.js), actions, by, m, t, names, theme, scale, focus, kin, purpose, lit, line, waited}.
 * lit: storages, of what was chosen in the lanes; kin: of what belongs to the one in focus; purpose: of one that is pointed at.
 */
export function draw(c, scene) {
  const { layout, theme: th } = scene;
  c.clearRect(0, 0, layout.width, layout.height);
  for (const memory of layout.memories) {
    drawMemory(c, th, memory);
    drawRows(c, th, memory, scene.scale);
  }
  drawBus(c, scene);
  drawProgram(c, scene);
  const ways = new Set(); // of thousands of queued copies each way is drawn once
  for (const a of scene.actions) {
    const way = [a.src, a.dst, a.dir, a.route, a.phase, a.why].join();
    if (a.type === 'copy' && !ways.has(way)) drawWay(c, scene, a);
    if (a.type === 'copy') ways.add(way);
    if (a.type === 'op') drawUses(c, scene, a);
  }
  drawLens(c, scene); // its guides pass behind all words
  for (const memory of layout.memories) {
    drawHeading(c, scene, memory, scene.actions.find((a) => a.mistake?.type === 'full' && a.mistake.device === memory.device)?.mistake.request);
    drawLenses(c, scene, memory);
    drawSummary(c, scene, memory);
  }
  for (const group of layout.groups) drawGroup(c, th, group);
  for (const box of layout.boxes) if (!box.group || isOut(scene, box)) drawBox(c, scene, box, stateOf(scene, box));
  for (const memory of layout.memories) drawSpans(c, scene, memory);
  drawMoves(c, scene);
  for (const more of layout.more) drawMore(c, th, more);
  for (const a of scene.actions) if (a.type === 'copy') drawCopy(c, scene, a);
  for (const memory of layout.memories) drawCores(c, scene, memory);
  const wrong = scene.actions.filter((a) => a.mistake);
  const told = wrong.find((a) => !a.earlier) ?? wrong.at(-1);
  for (const a of wrong) drawError(c, scene, a.mistake, a !== told);
}

// ---- memories -------------------------------------------------------------------------

function drawMemory(c, th, { kind, rect }) {
  rounded(c, rect, 14);
  c.fillStyle = th.panel;
  c.fill();
  c.lineWidth = 1;
  c.strokeStyle = th.line;
  c.setLineDash(kind === 'none' ? [5, 5] : []);
  c.stroke();
  c.setLineDash([]);
}

// Above the ways of copies, which may pass behind the words.
function drawHeading(c, scene, memory, request) {
  const { layout, now, theme: th, scale } = scene;
  const { head, brief } = memory;
  const none = memory.kind === 'none';
  const host = memory.device === 'cpu';
  c.fillStyle = host ? th.cpu : th.gpu;
  rounded(c, { x: head.x, y: head.y + (brief ? 11 : 13), w: 4, h: brief ? 14 : 32 }, 2);
  c.fill();
  const y = head.y + (brief ? 18 : 20);
  const bold = `600 15px ${th.sans}`;
  const several = layout.memories.length > 2 ? [`GPU VRAM ${memory.device}`, memory.device] : ['GPU VRAM']; // the number is what tells cards apart
  const name = none ? 'No GPU' : host ? 'CPU RAM' : wording(c, several, bold, head.w - 16);
  const w = words(c, th, name, head.x + 12, y, { font: bold, color: th.ink });
  const link = layout.tall ? '' : linkSaid(c, scene, memory, head.w - w - 28);
  if (link) words(c, th, link, head.x + head.w, y, { font: `12px ${th.sans}`, color: th.ink, align: 'right' });
  const badge = layout.low && host ? 180 : link ? c.measureText(link).width + 10 : 0; // room for the program's line
  const [x, line, max] = brief ? [head.x + 24 + w, y, head.w - w - 24 - badge] : [head.x + 12, y + 20, head.w - 12];
  const is = now.memories.find((m) => m.device === memory.device);
  c.font = `12px ${th.sans}`;
  const sayings = none || !is ? ['this run has no card'] : request ? roomWords(request) : sayingsOf(memory, is, brief);
  const font = `${request ? 600 : 400} 12px ${th.sans}`;
  const said = wording(c, sayings, font, max);
  if (!link || c.measureText(said).width <= max) words(c, th, said, x, line, { font, color: request ? th.bad : th.soft, max });
  if (is && !none) drawCapacity(c, th, { x: head.x, y: head.y + (brief ? 30 : 50), w: head.w, h: brief ? 3 : 4 }, is, host ? th.cpu : th.gpu, scale, memory.lost);
}

function linkSaid(c, scene, memory, room) {
  c.font = `12px ${scene.theme.sans}`;
  return peerWords(scene, memory).find((one) => c.measureText(one).width <= room) ?? '';
}

function words(c, th, said, x, y, style) {
  c.font = style.font;
  c.fillStyle = th.panel;
  const w = Math.min(style.max ?? Infinity, c.measureText(said).width) + 4;
  c.fillRect(style.align === 'right' ? x - w + 2 : x - 2, y - 8, w, 17);
  return text(c, said, x, y, style);
}

// Longest first.
function sayingsOf(memory, is, brief) {
  const about = memory.device === 'cpu' ? 'host memory' : memory.card;
  const said = figures(is, memory.lost);
  return about && !brief ? [`${about} · ${said[0]}`, said[0], `${about} · ${said[1]}`, ...said.slice(1)] : said;
}

// Why what is free is of no use.
function roomWords({ bytes, free, hole }) {
  const largest = `largest free block ${units.bytes(hole.bytes)}`;
  const why = free < bytes ? `only ${units.bytes(free)} free` : `${units.bytes(free)} free, but in pieces`;
  return [`no room for ${units.bytes(bytes)}: ${why}, ${largest}`, `${why}, ${largest}`, ...[why, `${units.bytes(free)} free`].map((one) => `${one}, block ${units.bytes(hole.bytes)}`)];
}

// The segments of the caching allocator as frames, and what is free in them hatched. Where a segment goes on in another row, or
// in bytes that are not drawn, its frame is open.
function drawRows(c, th, memory, scale) {
  for (const segment of memory.segments) {
    for (const rect of pieces(memory.rows, segment.addr, segment.bytes)) {
      const w = Math.min(rect.w, memory.inner.x + memory.inner.w - rect.x);
      c.save();
      c.globalAlpha = 0.55;
      c.fillStyle = tile(c, 'hatch', '', th.line, scale);
      c.fillRect(rect.x, rect.y, w, rect.h);
      c.restore();
      drawSegmentFrame(c, th, { ...rect, w }, rect.first === 0, w === rect.w && rect.first + rect.bytes === segment.bytes);
    }
  }
}

function drawSegmentFrame(c, th, { x, y, w, h }, begins, ends) {
  const [left, right, top, bottom] = [x - 2.5, x + w + 2.5, y - 2.5, y + h + 2.5];
  const edges = [[left, top, right, top], [left, bottom, right, bottom], ...(begins ? [[left, top, left, bottom]] : []), ...(ends ? [[right, top, right, bottom]] : [])];
  c.beginPath();
  for (const [x0, y0, x1, y1] of edges) {
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
  }
  c.lineWidth = 1;
  c.strokeStyle = th.line;
  c.stroke();
}

function drawLenses(c, { layout, theme: th }, memory) {
  for (const row of memory.rows) {
    if (row.lens === 1 || !layout.boxes.some((box) => box.pieces[0].row === row)) continue;
    const x = row.x + Math.min(memory.inner.w - 60, row.w + 10);
    words(c, th, `× ${row.lens}`, x, row.y + row.h / 2 + 1, { font: `600 12px ${th.sans}`, color: th.soft });
  }
}

// Where the program is, and whether it waits there.
function drawProgram(c, scene) {
  const { layout, theme: th, scale } = scene;
  const host = layout.memories[0];
  const { words, held } = placeOf(scene);
  if (!words || layout.tall) return;
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

// A box's appearance at this moment: what the step does to it, and what the works in flight have written so far.
function stateOf(scene, box) {
  const { actions, m } = scene;
  const s = { alpha: 1, empty: box.empty, unused: box.empty, glow: 0, arrived: 1 };
  for (const a of actions) {
    if (a.type === 'alloc' && a.storage === box.storage) s.alpha = ease(part(m, 0, a.by));
    if (a.type === 'free' && a.storage === box.storage) s.leaving = 1 - ease(m);
    if (a.type === 'copy') markCopy(s, a, box);
    if (a.type === 'op') markOp(s, a, box);
    if (['read', 'write', 'answer', 'view'].includes(a.type) && a.storage === box.storage) s.glow = part(m, 0, 0.4);
  }
  return s;
}

const GLOW = { later: 0, queued: 0, running: 0.6, done: 1 };

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
  if (a.fresh && a.part === 0) s.empty = true;
  s.fresh = a.fresh;
}

// A storage in its rows: what has arrived is filled, what has not is an outline.
function drawBox(c, scene, known, s) {
  const { theme: th, scale } = scene;
  const box = known.unreachable && isRead(scene, known) ? { ...known, unreachable: false } : known; // who reads it still has it
  const { hue, pattern } = box.unreachable ? { hue: th.faint, pattern: 'solid' } : tensorStyle(box.index);
  const freed = box.freed && s.leaving === undefined;
  const partly = !freed && s.arrived > 0 && s.arrived < 1;
  const outlined = freed || s.empty || (partly && s.fresh);
  c.save();
  c.globalAlpha = freed ? 0.55 : s.alpha;
  for (const rect of box.lost) drawLost(c, th, rect, scale);
  for (const rect of box.pieces) {
    if (s.glow > 0 && !freed) drawGlow(c, rect, hue, s.glow);
    if (outlined) drawOutline(c, th, rect, freed || s.unused ? th.faint : hue);
    const arrived = Math.min(1, Math.max(0, (s.arrived * box.bytes - rect.first) / rect.bytes));
    const look = { th, scale, box, rect, hue, pattern, leaving: s.leaving };
    if (!freed && !s.empty) drawArrived(c, look, partly && s.fresh ? arrived : 1);
    if (partly && !s.fresh) drawOlder(c, th, rect, arrived, scale);
    if (partly && arrived > 0 && arrived < 1) drawEdge(c, rect, arrived, hue);
  }
  if (!freed && !s.empty) drawWritten(c, box, box.pieces.map(({ row }) => row), writtenIn(scene, box), scale);
  drawNote(c, th, box, s, freed);
  drawTags(c, scene, box, freed);
  if (scene.focus === box.storage || scene.lit?.has(box.storage)) for (const rect of box.pieces) drawFocus(c, th, rect);
  else if (isKin(scene, box)) for (const rect of box.pieces) drawFocus(c, th, rect, [3, 3]);
  c.restore();
}

const isKin = ({ kin, purpose }, { storage }) => kin?.has(storage) || purpose?.has(storage);

// Pointed at, chosen in the lanes, allocated or freed now.
const isOut = (scene, { storage }) => scene.focus === storage || scene.lit?.has(storage) || isKin(scene, { storage }) || scene.actions.some((a) => a.storage === storage);

// Many small boxes as one: a stroke for each in its hue, how many they are and what they are called.
function drawGroup(c, th, group) {
  const { x, y, w, h } = group;
  c.save();
  c.globalAlpha *= 0.3;
  for (const one of group.members) {
    c.fillStyle = tensorStyle(one.index).hue;
    c.fillRect(one.x, y, Math.max(1, one.w - 0.5), h);
  }
  c.restore();
  rounded(c, group, CORNER);
  c.lineWidth = 1.25;
  c.strokeStyle = th.faint;
  c.stroke();
  const font = `12px ${th.sans}`;
  const said = wording(c, groupWords(group), font, w - 12);
  const wide = c.measureText(said).width;
  if (h < 13 && !group.row.names.length && group.row.gap >= 16 && wide <= w) text(c, said, x, y + h + 9, { font, color: th.soft }); // under it
  if (h < 13 || wide > w - 8) return;
  c.fillStyle = th.panel;
  c.fillRect(x + 5, y + h / 2 - 6.5, wide + 8, 13);
  text(c, said, x + 9, y + h / 2 + 1, { font, color: th.ink });
}

// What is still read has its colour.
const isRead = ({ actions }, { storage }) => actions.some((a) => a.phase && a.phase !== 'done' && (a.type === 'op' ? a.ins.includes(storage) : a.src === storage));

const CORNER = 4;

// The part of a piece that holds its new contents.
function drawArrived(c, look, part) {
  const { rect } = look;
  if (part <= 0) return;
  c.save();
  if (part < 1) {
    c.beginPath();
    c.rect(rect.x - 2, rect.y - 2, rect.w * part + 2, rect.h + 4);
    c.clip();
  }
  drawFilled(c, look);
  c.restore();
}

// What a write has not reached yet still holds the older contents.
function drawOlder(c, th, rect, part, scale) {
  const left = { x: rect.x + rect.w * part, y: rect.y + 1, w: rect.w * (1 - part) - 1, h: rect.h - 2 };
  if (left.w <= 0) return;
  tint(c, left, th.panel, 0.6);
  tint(c, left, tile(c, 'hatch', '', th.faint, scale), 0.5);
}

function drawEdge(c, rect, part, hue) {
  c.fillStyle = hue;
  c.fillRect(rect.x + rect.w * part - 1.5, rect.y, 3, rect.h);
}

// Bytes that the allocator's rounding adds.
function drawLost(c, th, rect, scale) {
  if (rect.w < 1) return;
  c.fillStyle = tile(c, 'hatch', '', th.line, scale);
  c.fillRect(rect.x, rect.y, rect.w, rect.h);
}

function drawGlow(c, rect, hue, amount) {
  c.save();
  c.globalAlpha *= amount;
  rounded(c, { x: rect.x - 3, y: rect.y - 3, w: rect.w + 6, h: rect.h + 6 }, CORNER + 3);
  c.lineWidth = 2.5;
  c.strokeStyle = hue;
  c.stroke();
  c.restore();
}

function drawOutline(c, th, rect, color) {
  rounded(c, rect, CORNER);
  c.fillStyle = th.panel;
  c.fill();
  c.setLineDash([5, 4]);
  c.lineWidth = 1.5;
  c.strokeStyle = color;
  c.stroke();
  c.setLineDash([]);
}

// A tinted body, and a band in full hue and pattern that identifies the tensor.
function drawFilled(c, { th, scale, box, rect, hue, pattern, leaving = 1 }) {
  c.save();
  c.globalAlpha *= 0.35 + 0.65 * leaving;
  rounded(c, rect, CORNER);
  c.fillStyle = th.panel;
  c.fill();
  c.clip();
  tint(c, rect, hue, 0.2);
  if (box.older) tint(c, rect, tile(c, 'hatch', '', th.faint, scale), 0.4);
  c.fillStyle = tile(c, pattern, hue, 'rgba(255,255,255,.62)', scale);
  c.fillRect(rect.x, rect.y, bandWidth(rect), rect.h);
  if (isLocked(box, rect)) {
    drawLock(c, th, rect.x + rect.w - 16, rect.y + rect.h / 2);
    if (saysPinned(rect)) text(c, 'pinned', rect.x + rect.w - 22, rect.y + rect.h / 2 + 1, { font: `12px ${th.sans}`, color: th.ink, align: 'right' });
  }
  c.restore();
  rounded(c, rect, CORNER);
  c.lineWidth = 1.25;
  c.strokeStyle = hue;
  c.setLineDash(box.unreachable ? [1.5, 3] : []);
  c.stroke();
  c.setLineDash([]);
}

function tint(c, rect, style, amount) {
  c.save();
  c.globalAlpha *= amount;
  c.fillStyle = style;
  c.fillRect(rect.x, rect.y, rect.w, rect.h);
  c.restore();
}

export const bandWidth = (rect) => Math.min(12, Math.max(3, rect.w * 0.2));

const isLocked = (box, rect) => box.mem === 'pinned' && rect.w > 34 && rect.h >= 12;

function drawLock(c, th, x, y) {
  c.fillStyle = c.strokeStyle = th.ink;
  c.lineWidth = 1.6;
  c.beginPath();
  c.arc(x + 4, y - 2, 3, Math.PI, 0);
  c.stroke();
  c.fillRect(x, y - 2, 8, 7);
}

// The variable that named it last, where that names another tensor by now and no other variable is known.
function again({ tags }) {
  const tensors = tags.flatMap((tag) => tag.tensors).filter((one) => !one.dropped);
  const last = tensors.at(-1);
  return tensors.length && tensors.every((one) => one.lost) ? `${last.name} ${last.lost.declared ? 'names another tensor' : 'was assigned again'}` : '';
}

// What is so of its bytes, inside the box where there is room.
function drawNote(c, th, box, s, freed) {
  const rect = box.pieces[0];
  const arriving = s.arrived > 0 && s.arrived < 1;
  const note = freed ? 'freed' : arriving ? `${Math.floor(s.arrived * 100)} %` : box.unreachable ? `${box.line ? `of line ${box.line}, ` : ''}no variable reaches it` : again(box) ? again(box) : s.empty ? 'empty' : box.older ? `older than ${box.older}` : '';
  const room = rect.w - bandWidth(rect) - 10 - (isLocked(box, rect) ? 18 : 0);
  if (rect.h < 15 || room < 30) return;
  c.font = `12px ${th.sans}`;
  const bytes = units.bytes(box.bytes);
  const tenant = box.tenant > 0 ? ` · ${units.ordinal(box.tenant + 1)} tensor here` : '';
  const all = [note ? `${bytes} · ${note}` : `${bytes}${tenant}`, note || bytes, box.unreachable && 'no variable reaches it', box.older && 'older'];
  const named = rect.row.tags || box.tag ? [] : [`${box.name} · ${all[0]}`, `${box.name} · ${all[1]}`, box.name]; // there is no line for names under it
  const words = [...named, ...all].find((one) => one && c.measureText(one).width <= room);
  if (!words) return;
  const color = freed || s.empty ? th.soft : th.ink;
  text(c, words, rect.x + bandWidth(rect) + 7, rect.y + rect.h / 2 + 1, { font: `12px ${th.sans}`, color });
}

function drawFocus(c, th, rect, dash = []) {
  rounded(c, { x: rect.x - 5, y: rect.y - 5, w: rect.w + 10, h: rect.h + 10 }, CORNER + 5);
  c.lineWidth = 2;
  c.strokeStyle = th.accent;
  c.setLineDash(dash);
  c.stroke();
  c.setLineDash([]);
}

function drawMore(c, th, more) {
  const words = `${units.number(more.count)} of these tensors are named in the table only`;
  text(c, words, more.x, more.y + 10, { font: `12px ${th.sans}`, color: th.soft, max: more.w });
}
