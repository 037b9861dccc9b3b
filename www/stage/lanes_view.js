// lanes_view.js: the lanes as an element of the page: one slider whose value is the time. It keeps what part of the axis
// is shown; pointer, wheel and keys move it, choose slices and set the time. Drawing is in lanes.js.

import { axis, breaksOf, panned, zoomed } from '../model/axis.js';
import { about, breakWords } from '../model/lane_words.js';
import { nextMatch } from '../model/lane_search.js';
import { lanesOf } from '../model/lanes.js';
import { loopsOf, iterationWords } from '../model/loops.js';
import { passesOf, passWords } from '../model/passes.js';
import * as units from '../model/units.js';
import { extent, fitted, followed, isTiny } from '../model/step_view.js';
import { sentence } from '../model/words.js';
import { ease, sharpness } from './canvas_util.js';
import { theme } from './colours.js';
import { gestures, keyOf, viewKeys } from './lane_gestures.js';
import { curvesOf } from '../model/curves.js';
import { curveWords } from './lane_curves.js';
import { memoryOf, memoryWords } from './lane_memory.js';
import { marksAt } from './lane_signs.js';
import { bracketAt, loopRows } from './lane_loops.js';
import { AXIS, MARKED, drawMoving, drawStill, lanePlan, scaleOf, seen } from './lanes.js';

const $ = (id) => document.getElementById(id);
const ROOMY = 1000; // px: in a window as high, more and higher rows
const FEW = 6; // rows; of more, each card is one; half as many again in a roomy window
const ROOM = 5; // rows of lanes, flags and brackets, below which there is room for more brackets
const MANY = 50000; // events: the line shown is not lit in the memory of a longer run, which would be drawn again with each
const OFTEN = 250; // ms from one picture of a growing run to the next
const GLIDE = 260; // ms from one part of the axis to another
const KEPT = 92; // px on the axis for the button
const NEAR = 4; // px beside a slice that still belong to it

/** on: {choose(seq, t): a slice was chosen; seek(t): a time was set; poke(): draw again; untold(words): without the fixes}. */
export function lanesView(on) {
  const root = $('lanes');
  const canvas = $('lanes-canvas');
  const tip = $('lanes-tip');
  const button = $('fit');
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  const c = canvas.getContext('2d');
  let size = { w: 0, h: 0, scale: 1 };
  let colors = theme(getComputedStyle(document.body));
  let run = null;
  let scene = null; // of the last frame
  let view = null; // [from, to] in units of the axis; null: all of it
  let target = null; // where the view is going
  let gliding = null; // moves it there, a frame at a time
  let follows = true; // by step, the view follows it
  let step = null; // the extent of the step shown; null: it has no slices, or time passes by clock
  let whole = false; // breaks are drawn to scale
  let pointed = null; // the slice under the pointer, or the keyboard's
  let sought = ''; // what is to be found
  let count = -1; // events that the axis was made for
  let course = null;
  let width = 0; // px; read when it changes: in a frame, asking for it would lay out the page
  new ResizeObserver(([entry]) => { width = Math.floor(entry.contentRect.width); }).observe(root);
  let grown = 0; // ms: when the axis was made
  let later = 0;
  const kept = document.createElement('canvas');
  let keptFor = ''; // what the kept picture shows

  // ---- what is shown ------------------------------------------------------------------------------

  /** moment: {t, by, from, to, line: "file:line", chosen, touched}. */
  function show(shown, moment) {
    if (shown !== run) [run, view, target, count, pointed, follows, gliding] = [shown, null, null, -1, null, true, null];
    const lanes = lanesOf(run);
    grow(lanes);
    const memory = memoryOf(run);
    const curves = curvesOf(run);
    const plan = arrange(partsOf(lanes, memory, curves));
    if (!size.w) return;
    follow(moment, lanes, plan);
    gliding?.();
    if (gliding) on.poke();
    scene = { run, lanes, memory, curves, plan, course, view: view ?? [0, course.units], theme: colors, scale: size.scale, pointed, sought, kept: 0, ...moment, line: count < MANY ? moment.line : '' };
    scene.kept = offer();
    paint();
    tell();
  }

  // In a window that is not roomy, each row counts.
  function partsOf(lanes, memory, curves) {
    const rows = lanes.rows(innerHeight < ROOMY ? FEW : 1.5 * FEW);
    const flags = lanes.marks.length > 0;
    const most = innerHeight < ROOMY ? Math.max(1, ROOM - rows.length - Number(flags)) : Infinity;
    return { rows, flags, iterations: { rows: loopRows(loopsOf(run)), passes: passesOf(run).slice(0, 1), most }, memory: memory?.peak > 0, curves: curves.length };
  }

  // A run that still arrives is drawn a few times a second.
  function grow(lanes) {
    if (count === run.events.length) return;
    if (count >= 0 && performance.now() - grown < OFTEN) {
      later ||= setTimeout(on.poke, OFTEN);
      return;
    }
    course = axis(run.total, whole ? [] : breaksOf(lanes, run.total));
    count = run.events.length;
    grown = performance.now();
    later = clearTimeout(later);
  }

  // Most of the picture stays while time passes.
  function paint() {
    const key = [run.number, count, ...scene.view, size.w, size.h, size.scale, colors.paper, scene.touched, sought, scene.line, whole].join(' ');
    const still = kept.getContext('2d');
    if (key !== keptFor) {
      [kept.width, kept.height] = [canvas.width, canvas.height];
      still.setTransform(size.scale, 0, 0, size.scale, 0, 0);
      drawStill(still, scene);
      keptFor = key;
    }
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, canvas.width, canvas.height);
    c.drawImage(kept, 0, 0);
    c.setTransform(size.scale, 0, 0, size.scale, 0, 0);
    drawMoving(c, scene);
  }

  // As high as the rows need; the page's other parts take what is left.
  function arrange(parts) {
    width ||= Math.floor(root.clientWidth);
    const isHigh = innerHeight >= ROOMY || (parts.rows.length < 5 && innerHeight >= 800 && !parts.iterations.rows.length);
    const plan = lanePlan(parts, width, isHigh ? 18 : 15);
    const scale = sharpness(root);
    if (width === size.w && plan.height === size.h && scale === size.scale) return plan;
    size = { w: width, h: plan.height, scale };
    root.style.height = `${plan.height}px`;
    canvas.width = Math.round(size.w * scale);
    canvas.height = Math.round(size.h * scale);
    Object.assign(canvas.style, { width: `${size.w}px`, height: `${size.h}px` });
    return plan;
  }

  // By step, the part of the axis follows the step, until a hand moves it. A time that moves out of what is shown takes it along.
  function follow(moment, lanes, plan) {
    step = moment.by === 'step' && !moment.chosen?.inLanes ? extent(slicesOf(lanes, moment), course.toUnits) : null;
    if (hand.busy() || (moment.t === scene?.t && moment.from === scene?.from && moment.by === scene?.by)) return;
    if (follows && (moment.by === 'clock' || atEnd(moment))) glide(null);
    else if (follows && step) glide(followed(target, step, course.units, plan.track.w));
    else if (!step) pursue(moment.t);
  }

  // What has ended is seen whole.
  const atEnd = ({ to }) => run.ended && to >= run.events.length - 1;

  function slicesOf(lanes, { from, to }) {
    const found = [];
    for (let seq = from; seq <= Math.min(to, from + MARKED); seq++) found.push(...lanes.find(seq).map((one) => one.slice));
    return found;
  }

  // The part moves there so that the eye can go with it.
  function glide(part) {
    if (String(part) === String(target)) return;
    target = part;
    const began = performance.now();
    const [from, to] = [view ?? [0, course.units], part ?? [0, course.units]];
    gliding = calm.matches ? null : () => {
      const done = Math.min(1, (performance.now() - began) / GLIDE);
      view = done < 1 ? from.map((u, i) => u + (to[i] - u) * ease(done)) : target;
      if (done >= 1) gliding = null;
    };
    if (!gliding) view = target;
    on.poke();
  }

  function pursue(t) {
    const part = gliding ? target : view;
    const u = course.toUnits(t);
    if (!part || (u >= part[0] && u <= part[1])) return;
    gliding = null;
    target = view = panned(part, u - part[0] - 0.15 * (part[1] - part[0]), course.units);
  }

  // The slider's value, for screen readers; the DOM is written only on change.
  function tell() {
    const t = Math.round(scene.t);
    const words = pointed ? about(whole1(pointed.slice), pointed.lane, run, scene.lanes).map(on.untold).join('. ') : units.time(t);
    const wanted = { 'aria-valuemax': Math.round(run.total), 'aria-valuenow': t, 'aria-valuetext': words };
    for (const [key, value] of Object.entries(wanted)) if (root.getAttribute(key) !== String(value)) root.setAttribute(key, value);
  }

  const whole1 = (slice) => ({ from: slice.from, until: slice.until, busy: slice.until - slice.from, count: 1, slice, open: slice.until === Infinity });

  // ---- what is where ------------------------------------------------------------------------------

  // What is drawn at (x, y): {one, lane}, or null.
  function hit({ x, y }) {
    const row = scene?.plan.rows.find((r) => y >= r.y && y < r.y + r.h);
    if (!row || x < scene.plan.track.x) return null;
    const at = scaleOf(scene);
    const which = Math.min(row.lanes.length - 1, Math.floor(((y - row.y - 2) / (row.h - 4)) * row.lanes.length));
    const gap = (one) => Math.max(at.x(one.from) - x, x - (one.until === Infinity ? Infinity : at.x(one.until)), 0);
    const all = seen(scene, row)[Math.max(0, which)].map((one) => ({ one, gap: gap(one) })).sort((a, b) => a.gap - b.gap);
    return all[0]?.gap <= NEAR ? { ...all[0], lane: row.lanes[Math.max(0, which)] } : null;
  }

  const inPlace = (place, { x, y }) => place && y >= place.y && y < place.y + place.h && x > scene.plan.track.x;

  const curveAt = (at) => scene?.curves[scene.plan.curves.findIndex((place) => inPlace(place, at))];

  const breakAt = (x) => {
    const u = course.toUnits(scaleOf(scene).t(x));
    return course.parts.find((part) => part.gap && u >= part.u0 && u < part.u1) ?? null;
  };

  function explain(lines, x) {
    tip.replaceChildren(...lines.map((line) => Object.assign(document.createElement('p'), { textContent: on.untold(line) })));
    tip.hidden = false;
    tip.style.left = `${Math.max(0, Math.min(size.w - tip.offsetWidth, x - 20))}px`;
  }

  function point(at) {
    const found = hit(at);
    const gap = !found && at.x > scene?.plan.track.x && scene && breakAt(at.x);
    const bracket = !found && scene && bracketAt(scene, scaleOf(scene), at);
    const marks = !found && scene ? marksAt(scene, scaleOf(scene), at) : [];
    const before = pointed;
    pointed = found && found.one.count === 1 ? { slice: found.one.slice, lane: found.lane, seq: found.one.slice.seq } : null;
    if (found) explain(about(found.one, found.lane, run, scene.lanes), at.x);
    else if (inPlace(scene?.plan.memory, at)) explain(memoryWords(run, scene.memory, scaleOf(scene).t(at.x)), at.x);
    else if (curveAt(at)) explain(curveWords(curveAt(at), scaleOf(scene).t(at.x)), at.x);
    else if (marks.length) explain([...marks.slice(0, 6).map((one) => `mark “${one.text}” at ${units.time(one.t)}`), ...(marks.length > 6 ? [`and ${marks.length - 6} more: zoom in to tell them apart`] : [])], at.x);
    else if (bracket) explain(bracketTold(bracket), at.x);
    else if (gap) explain([...breakWords(gap.gap, run).sentences, 'It is drawn shorter than it was; the list of keys has a setting that draws it to scale.'], at.x);
    else tip.hidden = true;
    root.style.cursor = found ? 'pointer' : at.y < AXIS ? 'ew-resize' : '';
    if (before?.seq !== pointed?.seq) on.poke();
  }

  function bracketTold({ iterations: [first, last] }) {
    const took = `${units.time(last.until - first.from)} of the program's time`;
    if (first.loop.pass) return [first === last ? passWords(first) : `${last.n - first.n + 1} backward passes`, took];
    if (first === last) return [iterationWords(first), took];
    return [`${units.plural(last.n - first.n + 1, 'iteration')}: ${iterationWords(first)}, to iteration ${last.n}`, took, 'Zoom in to tell them apart.'];
  }

  function leave() {
    tip.hidden = true;
    if (pointed) on.poke();
    pointed = null;
  }

  // ---- pointer and wheel (lane_gestures.js) -------------------------------------------------------

  const seekTo = (x) => on.seek(Math.max(0, Math.min(run.total, scaleOf(scene).t(x))));

  const hand = gestures(root, canvas, {
    scene: () => scene, look, seek: seekTo, point, leave,
    press(at) {
      const found = hit(at);
      if (!found) seekTo(at.x);
      else if (found.one.count > 1) look(zoomed(scene.view, 8, course.toUnits((found.one.from + found.one.until) / 2), course.units));
      else choose(found.lane, found.one.slice);
    },
  });

  // By hand: what is shown stays so until the step is to be followed again.
  function look(part) {
    [follows, gliding] = [false, null];
    target = view = part && part[1] - part[0] < course.units - 1e-6 ? part : null;
    on.poke();
  }

  // To the step with its neighbours, and along with those after it.
  function fit() {
    follows = true;
    if (step) glide(isTiny(null, step, course.units, scene.plan.track.w) ? fitted(step, course.units) : null);
    on.poke();
  }

  // A button where there is another part to see: the step, if it is too narrow here, or all of the run. Returns its px.
  function offer() {
    const tiny = step && isTiny(view, step, course.units, scene.plan.track.w);
    const words = tiny && !follows ? 'Fit step' : view ? 'Whole run' : '';
    if (button.textContent !== words) button.textContent = words;
    if (button.hidden !== !words) button.hidden = !words;
    return words ? KEPT : 0;
  }

  button.addEventListener('click', () => (button.textContent === 'Fit step' ? fit() : look(null)));

  function choose(lane, slice) {
    pointed = { lane, slice, seq: slice.seq };
    on.choose(slice.seq, slice.from);
  }

  // ---- keys ---------------------------------------------------------------------------------------

  const zoom = (factor) => look(zoomed(scene.view, factor, middle(), course.units));
  const pan = (by) => look(panned(scene.view, by * (scene.view[1] - scene.view[0]), course.units));

  // About the time shown, or the middle where that is out of sight.
  function middle() {
    const [from, to] = scene.view;
    const u = course.toUnits(scene.t);
    return u >= from && u <= to ? u : (from + to) / 2;
  }

  const keys = {
    ...viewKeys({ zoom, pan, all: () => look(null) }),
    f: fit, b: scale, ArrowLeft: () => along(-1), ArrowRight: () => along(1), ArrowUp: () => across(-1), ArrowDown: () => across(1),
    Home: () => along(-Infinity), End: () => along(Infinity),
  };

  function scale() {
    whole = $('to-scale').checked = !whole;
    [count, view, target, gliding] = [-1, null, null, null];
    on.poke();
  }

  $('to-scale').addEventListener('change', scale);

  // The slice where the keyboard is: the one chosen, else one of the step shown, else the first.
  function start() {
    if (pointed && pointed.seq === scene.chosen?.seq) return pointed;
    for (let seq = scene.to; seq >= scene.from; seq--) {
      const [found] = scene.lanes.find(seq);
      if (found) return found;
    }
    const [lane] = scene.plan.rows[0].lanes;
    const slice = lane.before(scene.t) ?? lane.near(scene.t, Infinity);
    return slice ? { lane, slice } : null;
  }

  function along(by) {
    const from = start();
    const slice = from && from.lane.after(from.slice, Math.max(-1e9, Math.min(1e9, by)));
    if (slice) reach(from.lane, slice);
  }

  // To the next row that has a slice, the nearest one in time; under the last one lies the memory.
  function across(by) {
    const from = start();
    const all = scene.plan.rows.flatMap((row) => row.lanes);
    for (let i = all.indexOf(from?.lane) + by; from && i >= 0 && i < all.length; i += by) {
      const slice = all[i].near(from.slice.from, Infinity);
      if (slice) return reach(all[i], slice);
    }
    if (by < 0 || !scene.memory) return undefined;
    const words = [...memoryWords(run, scene.memory, scene.t), ...scene.curves.flatMap((curve) => curveWords(curve, scene.t))];
    explain(words, scaleOf(scene).x(scene.t));
    $('found').textContent = words.join('. ');
    return undefined;
  }

  // Chosen by key: also brought into sight, and explained.
  function reach(lane, slice) {
    const [u0, u1] = [slice.from, slice.until].map(course.toUnits);
    const [from, to] = scene.view;
    if (u0 < from || u0 > to) look(panned(scene.view, (u0 + u1) / 2 - (from + to) / 2, course.units));
    choose(lane, slice);
    explain(about(whole1(slice), lane, run, scene.lanes), scaleOf({ ...scene, view: view ?? [0, course.units] }).x(slice.from));
  }

  root.addEventListener('keydown', (event) => {
    const act = keys[keyOf(event)];
    if (!scene || !act) return;
    event.preventDefault();
    event.stopPropagation(); // the page's own keys step
    act();
  });
  root.addEventListener('blur', leave);

  // ---- search -------------------------------------------------------------------------------------

  const field = $('find');

  field.addEventListener('input', () => {
    sought = field.value.trim().toLowerCase();
    $('found').textContent = '';
    on.poke();
  });

  field.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      field.value = sought = '';
      root.focus();
      on.poke();
    } else if (event.key === 'Enter' && sought && scene) find(event.shiftKey ? -1 : 1);
  });

  function find(by) {
    const from = scene.chosen?.seq ?? scene.from - (by > 0 ? 1 : 0);
    const seq = nextMatch(run, from, by, sought, (n) => scene.lanes.find(n).length > 0);
    $('found').textContent = seq < 0 ? 'Nothing found' : on.untold(sentence(run.events[seq], run.names));
    field.toggleAttribute('aria-invalid', seq < 0);
    if (seq < 0) return;
    const all = scene.lanes.find(seq);
    const { lane, slice } = all.find((one) => one.lane.kind !== 'thread') ?? all[0];
    reach(lane, slice);
  }

  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input:not([type="range"]), textarea, select, dialog')) return;
    event.preventDefault();
    field.focus();
    field.select();
  });

  return {
    show,
    /** The time when so much (0 to 1) more of the axis has passed: faster through a break than elsewhere. */
    after: (t, part) => (course ? course.toTime(course.toUnits(t) + part * course.units) : t),
    /** What is on show, for another canvas: {w, h, draw(c)}; null before there is any. */
    part: () => scene && { w: size.w, h: size.h, draw(other) {
      drawStill(other, scene);
      drawMoving(other, scene);
    } },
    /** The theme may have changed. */
    repaint() {
      colors = theme(getComputedStyle(document.body));
      keptFor = '';
    },
    /** For tests: what is drawn, in page coordinates. */
    seen: () => (scene?.plan.rows ?? []).flatMap((row) => seen(scene, row).flat().map((one) => {
      const [box, at] = [canvas.getBoundingClientRect(), scaleOf(scene)];
      return { row: `${row.group} ${row.label}`.trim(), seq: one.slice.seq, count: one.count, x: box.x + at.x(one.from), w: at.x(one.until) - at.x(one.from), y: box.y + row.y + row.h / 2, h: row.h };
    })),
    get view() {
      return scene?.view;
    },
    /** Is the last picture that of all events, in the place where it stays? */
    get settled() {
      return !gliding && (!size.w || (scene?.run === run && count === run.events.length));
    },
  };
}
