// lanes.js: lanes in, pixels out: what each thread, stream and engine did, on one time axis, and the now-line. What has
// not happened yet is paler. A pure function of the scene.

import { tickWords, ticks } from '../model/axis.js';
import { breakWords } from '../model/lane_words.js';
import { hopsOf } from '../model/lane_hops.js';
import { matches } from '../model/lane_search.js';
import { list, object } from '../model/fields.js';
import { tensorStyle, tile } from './colours.js';
import { rounded, text, wording } from './canvas_util.js';
import { drawLabels } from './lane_labels.js';
import { CURVE, CURVES, drawCurveNames, drawCurves } from './lane_curves.js';
import { MEMORY, drawMemory, drawMemoryName } from './lane_memory.js';
import { drawArrows, drawFlags, drawRaces, drawStop } from './lane_signs.js';
import { BRACKETS, bracketRows, drawLoops } from './lane_loops.js';

const TICK = 74; // px between two times on the axis at least
export const AXIS = 22; // px over the lanes, for times
export const FLAGS = 16; // px below these, for marks

/**
 * Where the rows lie: {track, rows: [{...row, y, h}], iterations: {y, rows, most}, top, height}, on a canvas so wide, with rows so
 * high; iterations: {rows: of brackets (lane_loops.js), most: that are shown, passes: backward}; flags, memory: are there any? curves: how many.
 */
export function lanePlan({ rows, iterations, flags, memory, curves = 0 }, width, pitch) {
  const top = AXIS + bracketRows(iterations) * BRACKETS + (flags ? FLAGS : 0);
  const bottom = top + rows.length * pitch + 3;
  const under = bottom + (memory ? MEMORY : 0);
  const shown = Math.min(curves, CURVES);
  const several = new Set(rows.map((row) => row.group).filter((group) => group.includes(':'))).size > 1;
  const left = width < 620 ? (several ? 104 : 74) : width < 1000 ? 126 : 132;
  return {
    width, pitch, narrow: width < 620, several, track: { x: left, w: Math.max(40, width - left - 2) }, top, bottom: under, height: under + shown * CURVE,
    memory: memory ? { y: bottom, h: MEMORY } : null,
    curves: Array.from({ length: shown }, (_, i) => ({ y: under + i * CURVE, h: CURVE })), iterations: { y: AXIS, ...iterations },
    rows: rows.map((row, i) => ({ ...row, y: top + i * pitch, h: pitch, first: row.group !== rows[i - 1]?.group })),
  };
}

/** px on the canvas of a time, and back. */
export function scaleOf({ plan: { track }, course, view: [u0, u1] }) {
  const size = track.w / (u1 - u0);
  return {
    size, // px a unit
    x: (t) => track.x + (course.toUnits(t) - u0) * size,
    t: (x) => course.toTime(u0 + (x - track.x) / size),
  };
}

/** What is drawn of a row's lanes between the edges of the view: for each lane, its slices joined where narrower than a pixel. */
export function seen(scene, row) {
  const { course, view: [u0, u1] } = scene;
  const least = 2 / scaleOf(scene).size;
  const parts = course.parts.filter((part) => part.u1 > u0 && part.u0 < u1);
  return row.lanes.map((lane) => parts.flatMap((part) => {
    const t0 = part.t0 + ((Math.max(u0, part.u0) - part.u0) / (part.u1 - part.u0)) * (part.t1 - part.t0);
    const t1 = part.t0 + ((Math.min(u1, part.u1) - part.u0) / (part.u1 - part.u0)) * (part.t1 - part.t0);
    return lane.between(t0, t1, (least * (part.t1 - part.t0)) / (part.u1 - part.u0)).map((one) => ({ ...one, lane }));
  }).filter((one, i, all) => one.slice !== all[i - 1]?.slice)); // one that crosses an edge between parts comes twice
}

/**
 * What stays while time passes: drawn once, and kept as a picture. scene: {run, lanes, memory, plan, course, view, t, theme,
 * scale, from, to, line, chosen, pointed, touched, sought, kept}. sought: words to find; kept: px on the right of the axis that a
 * button takes.
 */
export function drawStill(c, scene) {
  const { plan, theme: th } = scene;
  const { track } = plan;
  const at = scaleOf(scene);
  c.clearRect(0, 0, plan.width, plan.height);
  for (const row of plan.rows) drawRow(c, scene, row);
  drawMemoryName(c, scene);
  c.save();
  c.beginPath();
  c.rect(track.x, 0, track.w, plan.height);
  c.clip();
  for (const t of ticks(scene.course, ...scene.view, TICK / at.size).times) drawGrid(c, th, at.x(t), plan);
  for (const row of plan.rows) drawSlices(c, scene, row, at);
  drawMemory(c, scene, at);
  drawArrows(c, scene, at);
  drawRaces(c, scene, at);
  for (const part of scene.course.parts) if (part.gap) drawBreak(c, scene, part, at);
  drawLoops(c, scene, at);
  drawFlags(c, scene, at);
  drawStop(c, scene, at);
  c.restore();
}

/** The rest: what is marked, the now-line, and what is paler because it has not happened yet. */
export function drawMoving(c, scene) {
  const at = scaleOf(scene);
  const { track } = scene.plan;
  c.save();
  c.beginPath();
  c.rect(track.x, 0, track.w, scene.plan.height);
  c.clip();
  drawMarked(c, scene, at);
  drawFuture(c, scene, at);
  drawTicks(c, scene, ticks(scene.course, ...scene.view, TICK / at.size), at);
  drawCurves(c, scene);
  c.restore();
  drawCurveNames(c, scene);
  drawNow(c, scene, at);
  drawOverview(c, scene);
}

const STRIP = 4; // px

// Where in the run one is, when not all of it is shown: a strip over the axis, with the part that is seen, and now.
function drawOverview(c, { plan: { track }, course, view: [u0, u1], theme: th, t }) {
  if (u0 <= 0 && u1 >= course.units) return;
  const px = (u) => track.x + (u / course.units) * track.w;
  c.fillStyle = th.line;
  c.fillRect(track.x, 0, track.w, STRIP);
  c.fillStyle = th.soft;
  c.fillRect(Math.min(px(u0), track.x + track.w - 6), 0, Math.max(6, px(u1) - px(u0)), STRIP);
  c.fillStyle = th.accent;
  c.fillRect(px(course.toUnits(t)) - 1, 0, 2, STRIP);
}

function drawRow(c, { theme: th, plan }, row) {
  const middle = row.y + row.h / 2;
  if (row.first && row.y > plan.top) {
    c.fillStyle = th.line;
    c.fillRect(0, row.y - 0.5, plan.width, 1);
  }
  const bold = row.group === 'host' && row.label ? '' : row.group;
  const font = `12px ${th.sans}`;
  if (plan.narrow) text(c, wording(c, narrowWords(row, plan), font, plan.track.x - 6), 0, middle, { font, color: th.soft, max: plan.track.x - 6 });
  else {
    if (row.first) text(c, bold || 'host', 0, middle, { font: `600 12px ${th.sans}`, color: th.ink, max: 54 });
    text(c, row.label, 54, middle, { font, color: th.soft, max: plan.track.x - 56 });
  }
  c.fillStyle = th.well;
  c.fillRect(plan.track.x, row.y + 2, plan.track.w, row.h - 4);
}

// Of several cards, whose row it is; longest first.
function narrowWords({ group, label }, { several }) {
  if (!several || !group.includes(':')) return [label || group];
  return [`${group} ${label}`, `${group} ${label.replace('copies ', '')}`];
}

function drawGrid(c, th, x, plan) {
  c.fillStyle = th.line;
  c.fillRect(Math.round(x), AXIS - 4, 1, plan.height - AXIS);
}

// ---- slices ---------------------------------------------------------------------------------------

// Several lanes in one row, folded: each a thin part of it.
function drawSlices(c, scene, row, at) {
  const h = (row.h - 4) / row.lanes.length;
  const notes = []; // where words may stand
  seen(scene, row).forEach((slices, i) => {
    const y = row.y + 2 + i * h;
    let free = -Infinity; // px: where the slice before ended
    for (const one of slices) {
      const x = at.x(one.from);
      const end = one.until === Infinity ? scene.plan.width : at.x(one.until);
      const rect = { x, y, w: Math.max(1.5, end - x), h };
      const from = drawQueued(c, scene, one, rect, free, at);
      if (from < x) notes.push({ one, lane: i, x: from, end: x, y, h, queue: true });
      const band = drawSlice(c, scene, one, rect, at);
      if (band >= 0) notes.push({ one, lane: i, x: x + band, end, y, h, halo: HATCHED.has(one.slice.look) });
      free = end;
    }
  });
  drawLabels(c, scene, row, notes);
}

const HATCHED = new Set(['wait', 'copy', 'memory']);

// From its issue to its start, as far as its stream had nothing else to do. Returns from where.
function drawQueued(c, { theme: th }, { slice, count }, rect, free, at) {
  if (!slice.work || count > 1) return rect.x;
  const from = Math.max(free, at.x(slice.work.issued));
  if (rect.x - from < 2) return rect.x;
  c.fillStyle = th.faint;
  c.fillRect(from, rect.y + rect.h / 2 - 0.5, rect.x - from, 1);
  c.fillRect(from, rect.y + rect.h / 2 - 2.5, 1, 5);
  return from;
}

// Returns the px of its band, behind which words may stand; -1: there is no place for any.
function drawSlice(c, scene, one, rect, at) {
  const { theme: th } = scene;
  const { slice } = one;
  const hue = slice.look === 'call' ? th.soft : slice.look === 'memory' ? th.faint : slice.look === 'wait' ? th.wait
    : slice.index >= 0 ? tensorStyle(slice.index).hue : th.cpu;
  let band = -1;
  const faint = scene.sought && (one.count > 1 || !matches(scene.run.events[slice.seq], scene.run.names, scene.sought));
  if (faint) {
    c.globalAlpha = 0.18;
    c.fillStyle = hue;
    c.fillRect(rect.x, rect.y, rect.w, rect.h);
  } else if (one.count > 1 && !one.open) {
    c.globalAlpha = 0.25 + 0.5 * Math.min(1, one.busy / Math.max(1, one.until - one.from));
    c.fillStyle = hue;
    c.fillRect(rect.x, rect.y, rect.w, rect.h);
  } else if (rect.w < 3) {
    c.fillStyle = hue;
    c.fillRect(rect.x, rect.y, rect.w, rect.h);
  } else {
    c.save();
    band = drawWhole(c, scene, one, rect, hue, at);
    c.restore();
  }
  c.globalAlpha = 1;
  if (scene.touched && one.count === 1 && touches(scene.run.events[slice.seq], scene.touched)) ring(c, rect, th.ink, 1.5);
  return band;
}

function drawWhole(c, scene, one, rect, hue, at) {
  const { theme: th, scale } = scene;
  const { slice } = one;
  const waits = slice.look === 'wait' || slice.look === 'copy';
  rounded(c, rect, 2);
  c.fillStyle = th.panel;
  c.fill();
  c.save();
  c.clip();
  c.globalAlpha = waits ? 0.12 : slice.look === 'call' ? 0.3 : 0.34;
  c.fillStyle = slice.look === 'copy' ? th.wait : hue;
  c.fillRect(rect.x, rect.y, rect.w, rect.h);
  c.globalAlpha = waits || slice.look === 'memory' ? 0.55 : 1;
  if (waits || slice.look === 'memory') {
    c.fillStyle = tile(c, 'hatch', '', waits ? th.wait : th.faint, scale);
    c.fillRect(rect.x, rect.y, rect.w, rect.h);
  }
  if (rect.w > 12) drawHops(c, scene, one, rect, hue, at);
  c.globalAlpha = 1;
  const band = slice.index >= 0 && slice.look !== 'call' ? Math.min(7, rect.w * 0.3) : 0;
  if (band) {
    const { pattern } = tensorStyle(slice.index);
    c.fillStyle = tile(c, pattern, hue, 'rgba(255,255,255,.62)', scale);
    c.fillRect(rect.x, rect.y, band, rect.h);
  }
  c.restore();
  c.lineWidth = 1;
  c.strokeStyle = waits ? th.wait : hue;
  if (one.open) c.setLineDash([4, 3]);
  c.stroke();
  c.setLineDash([]);
  return band;
}

// Where the CPU copies chunks of a staged copy, or the bus carries them; in between each waits for the other.
function drawHops(c, { run, theme: th }, { slice, lane }, rect, hue, at) {
  for (const [from, to] of hopsOf(slice, lane, run)) {
    const [x, w] = [at.x(from), at.x(to) - at.x(from)];
    c.globalAlpha = 1;
    c.fillStyle = th.panel;
    c.fillRect(x, rect.y, w, rect.h);
    c.globalAlpha = 0.55;
    c.fillStyle = hue;
    c.fillRect(x, rect.y, w, rect.h);
  }
}

export const MARKED = 24; // events of a step that are marked at most

// What is chosen, pointed at, or of the step shown.
function drawMarked(c, scene, at) {
  const strong = [scene.chosen?.seq, scene.pointed?.seq].filter((seq) => seq >= 0);
  for (let seq = scene.from; seq <= Math.min(scene.to, scene.from + MARKED); seq++) if (!strong.includes(seq)) mark(c, scene, at, seq, scene.theme.ink, 1.5);
  for (const seq of strong) mark(c, scene, at, seq, scene.theme.accent, 2.5);
}

function mark(c, { lanes, plan }, at, seq, color, width) {
  for (const { lane, slice } of lanes.find(seq)) {
    const row = plan.rows.find((one) => one.lanes.includes(lane));
    if (!row) continue;
    const h = (row.h - 4) / row.lanes.length;
    const x = at.x(slice.from);
    ring(c, { x, y: row.y + 2 + row.lanes.indexOf(lane) * h, w: Math.max(1.5, at.x(slice.until) - x), h }, color, width);
  }
}

function ring(c, rect, color, width) {
  rounded(c, { x: rect.x - 1, y: rect.y - 1, w: rect.w + 2, h: rect.h + 2 }, 3);
  c.lineWidth = width;
  c.strokeStyle = color;
  c.stroke();
}

/** The storages that an event reads and writes. */
export function storagesOf(event) {
  const e = object(event);
  const sides = [e.src, e.dst, ...list(e.in), ...list(e.out), e].map((side) => object(side).storage);
  return new Set(sides.filter((id) => id > 0));
}

const touches = (event, storage) => storagesOf(event).has(storage);

// ---- the axis -------------------------------------------------------------------------------------

// Right of the now-line nothing has happened yet.
function drawFuture(c, { theme: th, plan, t }, at) {
  const x = at.x(t);
  c.save();
  c.globalAlpha = 0.5;
  c.fillStyle = th.paper;
  c.fillRect(x, plan.top, plan.width - x, plan.height - plan.top);
  c.restore();
}

function drawBreak(c, { theme: th, plan, run }, part, at) {
  const [x, end] = [at.x(part.t0), at.x(part.t1)];
  if (end < plan.track.x || x > plan.track.x + plan.track.w || end - x < 3) return;
  const [top, bottom] = [plan.top - 2, plan.height];
  c.fillStyle = th.paper;
  zigzag(c, x, end, top, bottom);
  c.fill();
  c.strokeStyle = th.faint;
  c.lineWidth = 1;
  for (const edge of [x, end]) {
    zigzag(c, edge, null, top, bottom);
    c.stroke();
  }
  const words = breakWords(part.gap, run);
  const font = `12px ${th.sans}`;
  c.font = font;
  const room = end - x - 12;
  const middle = (x + end) / 2;
  const lines = inLines(c, words, room, Math.floor((bottom - top) / 15));
  const from = (top + bottom) / 2 - ((lines.length - 1) * 15) / 2;
  lines.forEach((line, i) => text(c, line, middle, from + i * 15, { font, color: th.soft, align: 'center' }));
}

// "100 µs" over "to reserve" over "20 MiB", or what fits of it.
function inLines(c, { time, what, bytes }, room, most) {
  const ways = [[`${time} ${what} ${bytes}`], [time, `${what} ${bytes}`], [time, what, bytes], [time]].map((lines) => lines.map((one) => one.trim()).filter(Boolean));
  return ways.find((lines) => lines.length <= most && lines.every((line) => c.measureText(line).width <= room)) ?? [];
}

// A jagged edge downwards from (x, top), and back up along the other one.
function zigzag(c, x, other, top, bottom) {
  c.beginPath();
  const teeth = [];
  for (let y = top; y < bottom; y += 6) teeth.push(y);
  teeth.push(bottom);
  const edge = (at, y, i) => c.lineTo(at + (i % 2 ? 3 : -3), y);
  teeth.forEach((y, i) => edge(x, y, i));
  if (other === null) return;
  for (let i = teeth.length - 1; i >= 0; i--) edge(other, teeth[i], i);
  c.closePath();
}

function drawTicks(c, scene, { step, times }, at) {
  const { theme: th, plan, t } = scene;
  const now = nowPlace(scene, at.x(t), nowWidth(c, th, t, step));
  let free = plan.track.x - 4;
  for (const time of times) {
    const words = tickWords(time, step);
    c.font = `12px ${th.sans}`;
    const w = c.measureText(words).width;
    const x = Math.max(plan.track.x, Math.min(plan.track.x + plan.track.w - w, at.x(time) - w / 2));
    if (x < free || x + w > plan.track.x + plan.track.w - scene.kept || (x + w > now.x - 6 && x < now.x + now.w + 6)) continue;
    text(c, words, x, AXIS / 2, { font: `12px ${th.sans}`, color: th.soft });
    free = x + w + 14;
  }
}

function nowWidth(c, th, t, step) {
  c.font = `600 12px ${th.sans}`;
  return c.measureText(nowWords(t, step)).width;
}

// In the track, but for what the button takes.
const nowPlace = ({ plan: { track }, kept }, x, w) => ({ x: Math.max(track.x, Math.min(track.x + track.w - kept - w, x - w / 2)), w });

const nowWords = (t, step) => tickWords(Math.round(t), Math.max(1, step / 10));

function drawNow(c, scene, at) {
  const { theme: th, plan, t, course, view } = scene;
  const x = at.x(t);
  const { track } = plan;
  if (x < track.x - 1 || x > track.x + track.w + 1) return;
  c.fillStyle = th.accent;
  c.fillRect(x - 0.75, AXIS - 5, 1.5, plan.bottom - AXIS + 3);
  c.beginPath();
  c.moveTo(x - 5, AXIS - 7);
  c.lineTo(x + 5, AXIS - 7);
  c.lineTo(x, AXIS);
  c.fill();
  const { step } = ticks(course, ...view, TICK / at.size);
  text(c, nowWords(t, step), nowPlace(scene, x, nowWidth(c, th, t, step)).x, AXIS / 2 - 1, { font: `600 12px ${th.sans}`, color: th.accent });
}
