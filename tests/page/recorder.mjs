// recorder.mjs: a drawing context that remembers what was drawn, in order: what stands on the canvas is told from here, not from
// the data that it was drawn of. And the picture and the lanes of a log at a moment, drawn on it.
import { readFileSync } from 'node:fs';
import { axis, breaksOf } from '../../www/model/axis.js';
import { instant } from '../../www/model/instant.js';
import { lanesOf } from '../../www/model/lanes.js';
import { loopsOf } from '../../www/model/loops.js';
import { run } from '../../www/model/run.js';
import { actions, waitIn } from '../../www/model/step_actions.js';
import { draw } from '../../www/stage/draw.js';
import { memoryOf } from '../../www/stage/lane_memory.js';
import { loopRows } from '../../www/stage/lane_loops.js';
import { drawMoving, drawStill, lanePlan } from '../../www/stage/lanes.js';
import { layout } from '../../www/stage/layout.js';
import { root, told } from './logs.mjs';

/** Each of the theme's colours is called by its name. */
const theme = new Proxy({}, { get: (_, name) => String(name) });
const size = (font) => Number(/([\d.]+)px/.exec(font)[1]);

/** Letters are about as wide as those of the page's fonts. */
export const widthOf = (words, font) => String(words).length * size(font) * (/mono/.test(font) ? 0.61 : /[67]00/.test(font) ? 0.56 : 0.5);

const boundsOf = (points) => {
  const [xs, ys] = [0, 1].map((axis_) => points.map((p) => p[axis_]));
  return { x: Math.min(...xs), y: Math.min(...ys), w: Math.max(...xs) - Math.min(...xs), h: Math.max(...ys) - Math.min(...ys) };
};
const common = (a, b) => {
  const [x, y] = [Math.max(a.x, b.x), Math.max(a.y, b.y)];
  return { x, y, w: Math.min(a.x + a.w, b.x + b.w) - x, h: Math.min(a.y + a.h, b.y + b.h) - y };
};

/** A context; .seen: [{what: 'text', 'fill' or 'stroke', style, alpha, x, y, w, h, clip, ...}]: of a text also words, of the others points and straight lines. */
export function recorder() {
  let state = { fillStyle: '', strokeStyle: '', globalAlpha: 1, lineWidth: 1, font: '12px sans', textAlign: 'left', dash: [], clip: null };
  let path = []; // of points
  let lines = []; // [from, to] of its straight lines
  const stack = [];
  const seen = [];
  const put = (what, style, points, more) => points.length && seen.push({ what, style, alpha: state.globalAlpha, width: state.lineWidth, dash: state.dash, clip: state.clip, points, lines: lines.slice(), ...boundsOf(points), ...more });
  const corners = (x, y, w, h) => [[x, y], [x + w, y], [x + w, y + h], [x, y + h]];
  const c = {
    seen, tile: (kind, hue, ink) => ({ kind, hue, ink }), // a pattern, as svg_context.js makes it
    save: () => stack.push({ ...state }), restore: () => { state = stack.pop(); },
    beginPath: () => { [path, lines] = [[], []]; }, moveTo: (x, y) => path.push([x, y]),
    lineTo: (x, y) => path.push([x, y]) > 1 && lines.push(path.slice(-2)),
    arcTo: (x, y, x2, y2) => path.push([x, y], [x2, y2]), arc: (x, y, r) => path.push([x - r, y - r], [x + r, y + r]),
    rect: (...r) => path.push(...corners(...r)), roundRect: (x, y, w, h) => path.push(...corners(x, y, w, h)), closePath() {},
    clip: () => { state.clip = state.clip ? common(state.clip, boundsOf(path)) : boundsOf(path); },
    fill: () => put('fill', state.fillStyle, path.slice()), stroke: () => put('stroke', state.strokeStyle, path.slice()),
    fillRect: (...r) => put('fill', state.fillStyle, corners(...r)), strokeRect: (...r) => put('stroke', state.strokeStyle, corners(...r)),
    fillText(words, x, y) {
      const w = widthOf(words, state.font);
      put('text', state.fillStyle, corners(x - w * ({ center: 0.5, right: 1 }[state.textAlign] ?? 0), y - size(state.font) / 2, w, size(state.font)), { words: String(words) });
    },
    measureText: (words) => ({ width: widthOf(words, state.font) }), setLineDash: (dash) => { state.dash = dash; },
    translate() {}, rotate() {}, strokeText() {}, clearRect() {},
  };
  for (const key of ['fillStyle', 'strokeStyle', 'globalAlpha', 'lineWidth', 'font', 'textAlign', 'textBaseline', 'lineJoin', 'lineDashOffset']) {
    Object.defineProperty(c, key, { get: () => state[key], set: (value) => { state[key] = value; } });
  }
  return c;
}

/** Is a text whole within what was cut out for it, and within w x h? */
export const isWhole = ({ x, y, w, h, clip }, width, height) => [{ x: 0, y: 0, w: width, h: height }, clip].every((edge) => !edge
  || (x >= edge.x - 0.5 && y >= edge.y - 0.5 && x + w <= edge.x + edge.w + 0.5 && y + h <= edge.y + edge.h + 0.5));

/** A run of a log: the name of a golden one or of a scene, or events with the places of their calls. */
export function opened(log) {
  const text = (name) => ['tests/golden', 'tests/page/scenes'].map((folder) => `${root}${folder}/${name}.jsonl`).flatMap((path) => {
    try {
      return [readFileSync(path, 'utf8')];
    } catch {
      return [];
    }
  })[0];
  const one = run({ run: 1 });
  one.take(0, typeof log === 'string' ? text(log).split('\n').filter(Boolean).map((line) => JSON.parse(line)) : told(log));
  one.ended = true;
  return one;
}

/** The picture of a run after the part of event `seq`: {seen, plan, state}. */
export function stageAt(one, seq, width = 1000, height = 420) {
  const step = one.parts[one.partOf(seq)];
  const t = one.span(step)[1];
  const state = one.at(step.to);
  const does = actions(one, step, t, state);
  const plan = layout(state, one.addresses, width, height, does, one.lostIn(state));
  const c = recorder();
  draw(c, {
    layout: plan, now: instant(one, t, step.to), actions: does, by: 'step', m: 1, t, names: one.names.at(step.to), theme, scale: 1,
    line: step.line, waited: waitIn(one.events, step), from: step.from, to: step.to,
  });
  return { seen: c.seen, plan, state };
}

/** The lanes of a run, all of it or `view`: {seen, plan, course, x(t) -> px}. */
export function lanesAt(one, { width = 1000, most = Infinity, view = null, whole = false, t = one.total, pitch = 18 } = {}) {
  const lanes = lanesOf(one);
  const memory = memoryOf(one);
  const iterations = { rows: loopRows(loopsOf(one)), most: 3 };
  const plan = lanePlan({ rows: lanes.rows(most), iterations, flags: lanes.marks.length > 0, memory: memory?.peak > 0 }, width, pitch);
  const course = axis(one.total, whole ? [] : breaksOf(lanes, one.total));
  const part = view?.map(course.toUnits) ?? [0, course.units];
  const scene = { run: one, lanes, memory, plan, course, view: part, theme, scale: 1, t, from: 0, to: -1, line: '', chosen: null, pointed: null, touched: 0, sought: '', kept: 0 };
  const c = recorder();
  drawStill(c, scene);
  drawMoving(c, scene);
  return { seen: c.seen, plan, course, lanes, x: (time) => plan.track.x + ((course.toUnits(time) - part[0]) / (part[1] - part[0])) * plan.track.w };
}
