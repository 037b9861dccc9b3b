// draw_tags.js: the tags of the storages: brackets over their bytes, names, and the lens that shows each tensor's rows. What is
// written now has one colour in every tag that sees it.

import * as units from '../model/units.js';
import { memoryName } from '../model/words.js';
import { NOW, tensorStyle, tile } from './colours.js';
import { arrow, ease, part, rounded, text, wording } from './canvas_util.js';
import { THREAD, elementWidth, lens, orderOf } from './lens.js';
import { pieces } from './map.js';
import { drawHook, drawPair } from './draw_spans.js';
import { SEPARATOR, bracketGap, cut } from './tag_places.js';
import { common, merged } from './tags.js';

/** The runs of a storage that are being written, or that the step wrote. */
export function writtenIn(scene, box) {
  if (!box.written.length) return [];
  const begun = new Set(scene.actions.filter((a) => a.phase === 'running' || a.phase === 'done').map((a) => a.id));
  const isWritten = scene.actions.some((a) => a.type === 'write' && a.storage === box.storage);
  const done = box.written.filter(({ id }) => (id ? begun.has(id) : isWritten));
  return done.length ? merged(done.flatMap(({ runs }) => runs)) : [];
}

/** In the box itself: the bytes that are written now, where they are a part of it. */
export function drawWritten(c, box, rows, written, scale) {
  if (!written.length || (written.length === 1 && written[0][1] >= box.bytes)) return;
  c.save();
  const fine = isFine(written, box.pieces[0].row.scale);
  c.globalAlpha *= fine ? 0.9 : 0.62;
  c.fillStyle = fine ? tile(c, 'fine', '', NOW, scale) : NOW;
  for (const [first, bytes] of fine ? [hullOf(written)] : written) {
    for (const r of pieces(rows, box.addr + first, bytes)) c.fillRect(r.x, r.y + 1, Math.max(1, r.w), r.h - 2);
  }
  c.restore();
}

// Too many runs in too few pixels to be told apart.
const isFine = (runs, scale) => runs.length > 1 && (hullOf(runs)[1] / runs.length) * scale < 3;

function hullOf(runs) {
  const [first] = runs[0];
  return [first, runs.at(-1)[0] + runs.at(-1)[1] - first];
}

/** The brackets and names under a box. */
export function drawTags(c, scene, box, freed) {
  const { theme: th } = scene;
  const written = freed ? [] : writtenIn(scene, box);
  const { rows } = scene.layout.memories.find((m) => m.device === box.device);
  for (const tag of box.tags) {
    if (!freed) drawBracket(c, th, box, tag);
    if (written.length) drawLit(c, box, tag, rows, common(tag.runs, written));
    const isSaid = tag.label ? drawLabel(c, scene, box, tag, freed) : false;
    if (box.pair && !isSaid && tag === box.tags[0]) for (const mark of tag.marks.slice(0, 1)) drawHook(c, scene, box.pair, mark);
  }
}

function drawLit(c, box, tag, rows, lit) {
  c.fillStyle = NOW;
  const fine = lit.length > 1 && isFine(lit, box.pieces[0].row.scale);
  for (const [first, bytes] of fine ? [hullOf(lit)] : lit) {
    for (const r of pieces(rows, box.addr + first, bytes)) {
      const y = r.y + r.h + bracketGap(r.row) + 4 * Math.min(tag.level, r.row.levels - 1) - 0.5;
      if (fine) dashes(c, r.x, y, r.w, 3);
      else c.fillRect(r.x, y, Math.max(1.5, r.w), 3);
    }
  }
}

function dashes(c, x, y, w, h) {
  for (let at = 0; at < w; at += 6) c.fillRect(x + at, y, Math.min(3.5, w - at), h);
}

// One run: a line with ends. Several: blocks on a thread where they can be told apart, else a dashed line.
function drawBracket(c, th, box, { marks, hullMarks, exact }) {
  c.fillStyle = box.unreachable ? th.faint : th.ink;
  const fine = exact && marks.length < 200 && marks.every((mark, i) => i === 0 || mark.row !== marks[i - 1].row || mark.x - marks[i - 1].x > mark.w + 1);
  for (const { x, y, w } of hullMarks) {
    if (hullMarks === marks && exact) {
      c.fillRect(x, y + 0.5, w, 1.5);
      if (w > 6) for (const end of [x, x + w - 1.5]) c.fillRect(end, y - 1, 1.5, 3);
    } else if (fine) c.fillRect(x, y + 1, w, 0.75);
    else dashes(c, x, y + 0.5, w, 1.5);
  }
  if (fine && hullMarks !== marks) for (const { x, y, w } of marks) c.fillRect(x, y - 0.5, w, 3);
}

const CROWD = 8; // names under a row: of more, those in use stand out

// The names of the tensors over the same bytes, and what is known of them where there is room. Returns whether the other one of
// a parameter and its gradient is said.
function drawLabel(c, scene, box, tag, freed) {
  const { theme: th } = scene;
  const { x, y, letters, tensors, over, room, leader } = tag.label;
  if (leader !== null) { // past the names above
    c.fillStyle = th.faint;
    const below = Math.max(box.y + box.h, tag.marks[0]?.y ?? 0) + 4;
    c.fillRect(leader, below, 1, Math.max(0, y - below - 7));
  }
  behind(c, th, x, y, tag.label.w - 8);
  let at = x;
  cut(tensors.map((t) => t.title ?? t.name), letters).forEach((word, i, { length }) => {
    const struck = tensors[i].lost || (box.unreachable && !tensors[i].nameless);
    const aside = tag.row.names.length > CROWD && !tag.used && !box.used;
    const color = freed || arriving(scene, tensors[i]) ? th.faint : struck || aside ? th.soft : th.ink;
    const w = text(c, word, at, y, { font: `${aside ? 400 : 600} 13px ${th.mono}`, color });
    if (struck) strike(c, th, at, y, w);
    at += w;
    if (i < length - 1) text(c, SEPARATOR, at, y, { font: `400 13px ${th.mono}`, color: th.soft });
    at += 8 * (i < length - 1 ? 2 : 1);
  });
  const paired = box.pair && !freed && !over && tag === box.tags[0] ? drawPair(c, scene, box.pair, at, y, room - (at - x)) : 0;
  at += paired ? paired + 7 : 0;
  if (tensors.length > 1 || over) return paired > 0;
  const [{ also = [] }] = tensors;
  const more = detailOf(tensors[0]);
  const { batch } = box.purpose ?? {};
  const kind = [batch && `of batch ${batch.index}`, box.mem === 'pinned' && !saysPinned(box) && 'pinned'].filter(Boolean); // as a lock alone does not say
  const detail = [...(also.length ? [`${more}, also ${also.map(({ name, fn }) => `${name} in ${fn}`).join(', ')}`] : []), [more, ...kind].join(', '), ...kind, more]
    .find((words) => room - (at - x) > words.length * 6.6 + 2);
  if (!detail) return paired > 0;
  c.font = `12px ${th.sans}`;
  behind(c, th, at, y, c.measureText(detail).width);
  text(c, detail, at, y, { font: `12px ${th.sans}`, color: th.soft });
  return paired > 0;
}

/** Is the word pinned in the box itself? Else it is beside the name. */
export const saysPinned = (rect) => rect.w > 180;

// Ways, arrows and guides pass behind words.
function behind(c, th, x, y, w) {
  c.fillStyle = th.panel;
  c.fillRect(x - 2, y - 6, w + 4, 11.5);
}

function strike(c, th, x, y, w) {
  c.fillStyle = th.ink;
  c.fillRect(x - 2, y - 0.5, w + 4, 1.2);
}

// ---- variables that are assigned again ------------------------------------------------------------

const isNow = ({ from, to }, { lost }) => lost && lost.seq >= from && lost.seq <= to;
const tensorsIn = (layout) => layout.boxes.flatMap((box) => box.tags.flatMap((tag) => tag.tensors.map((tensor) => ({ box, tag, tensor }))));

// Is its name still on its way from the tensor that had it?
function arriving(scene, tensor) {
  scene.targets ??= new Set(scene.m < MOVED ? tensorsIn(scene.layout).filter((one) => isNow(scene, one.tensor)).map((one) => one.tensor.lost.to) : []);
  return scene.targets.has(tensor.id);
}

const MOVED = 0.7; // the part of a step in which a name has moved

/** In the step that assigns a variable again, its name moves along an arrow from the tensor that it had to the new one. */
export function drawMoves(c, scene) {
  const { layout, theme: th, m } = scene;
  const all = tensorsIn(layout);
  for (const { box, tag, tensor } of all.filter((one) => isNow(scene, one.tensor))) {
    const next = all.find((one) => one.tensor.id === tensor.lost.to);
    if (!next || next.box === box) continue;
    const points = way(nameAt(box, tag, tensor), nameAt(next.box, next.tag, next.tensor));
    const t = ease(part(m, 0, MOVED));
    const at = points[Math.round(t * (points.length - 1))];
    c.strokeStyle = c.fillStyle = th.soft;
    c.lineWidth = 1.5;
    c.beginPath();
    points.slice(0, Math.round(t * (points.length - 1)) + 1).forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.stroke();
    if (t === 1) arrow(c, points.at(-2), points.at(-1), 7);
    else text(c, tensor.name, at[0], at[1], { font: `600 13px ${th.mono}`, color: th.ink, align: 'center' });
  }
}

// A name: the middle of its lower edge, and where what is said on its line ends; or a box whose name has no room.
function nameAt(box, tag, tensor) {
  if (!tag.label) return { x: box.x + box.w / 2, y: box.y + box.h + 6, end: box.x + box.w / 2 };
  const { x, y, w, tensors, room } = tag.label;
  const before = tensors.slice(0, tensors.indexOf(tensor)).reduce((sum, one) => sum + one.name.length + SEPARATOR.length, 0);
  const shape = tensors.length === 1 ? (detailOf(tensor).length + 1) * 6.6 : 0;
  return { x: x + (before + tensor.name.length / 2) * 7.9, y: y + 8, end: x + w + (room - w > shape ? shape : 0) };
}

const detailOf = ({ shape, dtype }) => `${units.shape(shape)} ${dtype}`;

// An arc that hangs below both names; of names that stand one above the other, beside what is said of them.
function way(a, b) {
  if (Math.abs(a.x - b.x) < 60 && Math.abs(a.y - b.y) > 20) {
    const right = Math.max(a.end, b.end) + 44;
    return curve([[a.end, a.y - 8], [right, a.y - 8], [right, b.y - 8], [b.end, b.y - 8]]);
  }
  const low = Math.max(a.y, b.y) + Math.min(18, 8 + Math.abs(b.x - a.x) * 0.05);
  const inward = (b.x - a.x) * 0.15;
  return curve([[a.x, a.y], [a.x + inward, low], [b.x - inward, low], [b.x, b.y]]);
}

// The points of a cubic curve.
function curve(points) {
  return Array.from({ length: 25 }, (_, i) => {
    const t = i / 24;
    const shares = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
    return [0, 1].map((axis) => points.reduce((sum, point, k) => sum + shares[k] * point[axis], 0));
  });
}

// ---- the lens -------------------------------------------------------------------------------------

/** The lens over what is pointed at, or over what the step made a view of, wrote or computed with: where several tensors see it. */
export function drawLens(c, scene) {
  const box = subject(scene);
  const at = box && lens(scene.layout, box);
  if (!at) return;
  const { theme: th } = scene;
  const isAway = at.device !== box.device; // over another memory: a card of its own, and nothing of that memory
  c.fillStyle = th.panel;
  c.fillRect(at.x - 6, at.y - 4, at.w + 12, at.h + 8);
  if (isAway) {
    rounded(c, { x: at.x - 8, y: at.y - 6, w: at.right - at.x + 16, h: at.h + 12 }, 8);
    c.fillStyle = th.paper;
    c.fill();
    c.strokeStyle = box.device === 'cpu' ? th.cpu : th.gpu;
    c.lineWidth = 1.5;
    c.stroke();
  }
  drawGuides(c, th, box, at);
  const px = elementWidth(at, box.tags[0].tensors[0]);
  const left = at.left ? `, ${units.plural(at.left, 'more tensor')}` : '';
  c.font = `12px ${th.sans}`;
  const where = isAway ? ` in ${memoryName(box.device)}` : '';
  const written = writtenIn(scene, box);
  const [each, now] = [px >= 4 ? ', element by element' : '', written.length ? '; orange: just written' : ''];
  const title = [`${each}${left}${now}`, `${left}${now}`, `${each}${left}`, left].map((one) => `${box.name}${where}${one}`)
    .find((one, i) => i === 3 || c.measureText(one).width < at.w);
  if (!isAway) behind(c, th, at.x, at.y + 7, Math.min(at.w, c.measureText(title).width));
  text(c, title, at.x, at.y + 7, { font: `12px ${th.sans}`, color: th.soft, max: at.w });
  drawEnlarged(c, scene, box, at, written);
}

/** A storage under a lens `at`, and a line for each of its tensors. scene: {theme, scale}; written: the runs in the colour of now. */
export function drawEnlarged(c, { theme: th, scale }, box, at, written) {
  const px = elementWidth(at, box.tags[0].tensors[0]);
  drawStrip(c, scale, box, at, written, px);
  drawNumbers(c, th, box, at, px);
  for (const line of at.lines) drawThreads(c, th, at, line, written);
}

const DIGIT = 6.2; // px of a digit in a cell

// The elements' numbers: in each cell that has room, else where the rows of the tensors begin.
function drawNumbers(c, th, box, at, px) {
  const { strip: r } = at;
  const style = { font: `10px ${th.mono}`, color: th.ink };
  const count = Math.round(r.w / px);
  const wide = String(count - 1).length * DIGIT + 3;
  const all = px >= wide ? Array.from({ length: count }, (_, i) => i) : at.starts.filter((i) => i < count);
  let end = -Infinity;
  for (const i of all) {
    const x = r.x + i * px + (px >= wide ? (px - String(i).length * DIGIT) / 2 : 2);
    if (x < end || x + String(i).length * DIGIT > r.x + r.w + 4) continue;
    text(c, String(i), x, r.y + r.h / 2 + 1, style);
    end = x + String(i).length * DIGIT + 2;
  }
}

function subject({ layout, actions, focus }) {
  const isShared = (b) => b.tags.length > 1 || b.tags[0].tensors.length > 1;
  const of = (storage) => layout.boxes.find((b) => b.storage === storage && isShared(b));
  if (focus) return of(focus);
  const find = (type, storages) => actions.filter((a) => a.type === type).flatMap(storages).map(of).find(Boolean);
  return find('view', (a) => [a.storage]) ?? find('write', (a) => [a.storage]) ?? find('op', (a) => a.outs) ?? find('op', (a) => a.ins);
}

// From the box to its enlargement, between the edges that face each other.
function guides(box, { y, h, strip }) {
  const [first, last] = [box.pieces[0], box.pieces.at(-1)];
  const right = first.x + first.w;
  const across = (x, end) => [[x, first.y, end, strip.y], [x, first.y + first.h, end, strip.y + strip.h]];
  if (strip.x + strip.w < first.x) return across(first.x, strip.x + strip.w);
  if (strip.x > right && strip.y < first.y + first.h) return across(right, strip.x);
  if (y + h < first.y) return [[first.x, first.y, strip.x, y + h], [right, first.y, strip.x + strip.w, y + h]];
  return [[first.x, first.y + first.h, strip.x, strip.y], [last.x + last.w, last.y + last.h, strip.x + strip.w, strip.y]];
}

function drawGuides(c, th, box, at) {
  const lines = guides(box, at);
  c.save();
  c.strokeStyle = th.faint;
  c.lineWidth = 1;
  c.setLineDash([1, 4]);
  for (const [x0, y0, x1, y1] of lines) {
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    c.stroke();
  }
  c.restore();
}

// The storage: a cell an element where they can be told apart.
function drawStrip(c, scale, box, at, written, px) {
  const { strip: r } = at;
  const { hue } = tensorStyle(box.index);
  c.save();
  c.globalAlpha *= 0.3;
  c.fillStyle = hue;
  c.fillRect(r.x, r.y, r.w, r.h);
  c.globalAlpha = 1;
  c.fillStyle = NOW;
  const fine = isFine(written, at.scale);
  if (fine) c.fillStyle = tile(c, 'fine', '', NOW, scale);
  for (const [first, bytes] of fine ? [hullOf(written)] : written) c.fillRect(r.x + first * at.scale, r.y, Math.max(1, bytes * at.scale), r.h);
  c.restore();
  c.save();
  c.strokeStyle = hue;
  c.lineWidth = 1;
  c.strokeRect(r.x + 0.5, r.y + 0.5, r.w - 1, r.h - 1);
  if (px >= 5) for (let x = r.x + px; x < r.x + r.w - 1; x += px) {
    c.globalAlpha = 0.45;
    c.fillStyle = hue;
    c.fillRect(x - 0.5, r.y, 1, r.h);
  }
  c.restore();
}

// The rows of one tensor: stretches, or blocks on threads; those written now in the colour of now.
function drawThreads(c, th, at, { tensor, lines, more, from, y, h }, written) {
  const top = y + (lines.length > 1 ? 5 : h / 2);
  const name = text(c, tensor.name, at.x, y + 8, { font: `600 12px ${th.mono}`, color: th.ink });
  const detail = at.wordsOf(tensor).slice(tensor.name.length + 1);
  text(c, detail, at.x + name + 7, y + 8, { font: `11px ${th.mono}`, color: th.soft, max: at.strip.x - at.x - name - 12 });
  const font = `11px ${th.mono}`;
  const end = at.strip.x + at.strip.w + 10;
  const said = wording(c, orderOf(tensor), font, at.right - end);
  if (c.measureText(said).width <= at.right - end) text(c, said, end, y + 8, { font, color: th.soft });
  lines.forEach((line, i) => {
    for (const row of line) drawRow(c, th, at, row, top + i * THREAD, written);
  });
  if (more) text(c, `${from ? `from row ${from} on; ` : ''}${units.plural(more, 'more row')}`, at.strip.x, y + h - 5, { font: `11px ${th.sans}`, color: th.soft });
}

function drawRow(c, th, { strip, scale }, { first, bytes, blocks }, y, written) {
  const bar = (from, n, height, gap) => c.fillRect(strip.x + from * scale + gap / 2, y - height / 2, Math.max(1, n * scale - gap), height);
  c.fillStyle = th.ink;
  if (!blocks || (blocks.length > 1 && (blocks[1][0] - blocks[0][0]) * scale < 2.5)) { // too fine to be told apart
    if (common([[first, bytes]], written).length && common(blocks ?? [[first, bytes]], written).length) c.fillStyle = NOW;
    dashes(c, strip.x + first * scale, y - 1, bytes * scale, 2);
    return;
  }
  const gap = blocks.length === 1 && bytes * scale > 6 ? 1.5 : 0;
  if (blocks.length > 1) bar(first, bytes, 0.75, 0);
  for (const [from, n] of blocks) bar(from, n, 3, gap);
  c.fillStyle = NOW;
  for (const [from, n] of common(merged(blocks), written)) bar(from, n, 3, gap);
}
