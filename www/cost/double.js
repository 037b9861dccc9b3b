// double.js: the lanes of two runs under each other, at one scale. The step shown begins at the same place in both: they are
// aligned by line. Lines between them join what is the same; what is different is marked. The lanes are those of stage/lanes.js.

import { axis, breaksOf, panned, zoomed } from '../model/axis.js';
import { about } from '../model/lane_words.js';
import { lanesOf } from '../model/lanes.js';
import * as units from '../model/units.js';
import { rounded, text } from '../stage/canvas_util.js';
import { theme, tile } from '../stage/colours.js';
import { gestures, keyOf, viewKeys } from '../stage/lane_gestures.js';
import { AXIS, drawMoving, drawStill, lanePlan, scaleOf, seen } from '../stage/lanes.js';

const $ = (id) => document.getElementById(id);
const ROWS = 6; // of each run; of more, a card is folded into one
const APART = 5; // px between two of the lines that join the runs
const LINKS = 26; // px between the runs

/** on: {choose(which, seq, t), poke()}. which: 'a' or 'b'. */
export function doubleLanes(on) {
  const root = $('double');
  const tip = $('double-tip');
  const canvas = { a: $('double-a'), links: $('double-links'), b: $('double-b') };
  let colors = theme(getComputedStyle(document.body));
  let shown = null; // {a, b, pairs, changes}: see compare.js
  let sides = null; // {a, b}: {run, lanes, course}
  let scenes = null; // of the last frame
  let look = null; // [from, to] in units of a's axis; null: all of both
  let width = 0;
  new ResizeObserver(([entry]) => {
    width = Math.floor(entry.contentRect.width);
    on.poke();
  }).observe(root);

  function open(what) {
    [shown, look, scenes] = [what, null, null];
    const side = (run) => {
      const lanes = lanesOf(run);
      return { run, lanes, course: axis(run.total, breaksOf(lanes, run.total)) };
    };
    sides = { a: side(what.a), b: side(what.b) };
  }

  // ---- where -----------------------------------------------------------------------------------------

  /** moment: {t, step, byLine}: the time and the step of run a; byLine: aligned there, else at the start. */
  function show({ t, step, byLine }) {
    if (!sides || !width) return;
    const at = pairAt(shown.pairs, step);
    const [i, j] = at ?? [0, 0];
    const [fromA, untilA] = at ? shown.a.span(shown.a.steps[i]) : [0, 0];
    const [fromB, untilB] = at ? shown.b.span(shown.b.steps[j]) : [0, 0];
    const part = untilA > fromA ? Math.min(1, Math.max(0, (t - fromA) / (untilA - fromA))) : Number(t >= untilA);
    const tB = t >= shown.a.total ? shown.b.total : fromB + part * (untilB - fromB);
    const shift = byLine ? sides.b.course.toUnits(fromB) - sides.a.course.toUnits(fromA) : 0;
    const all = [Math.min(0, -shift), Math.max(sides.a.course.units, sides.b.course.units - shift)];
    const view = look ?? all;
    const stepB = shown.b.steps[j];
    scenes = {
      all, view, shift, at,
      a: scene('a', view, t, shown.a.steps[step]),
      b: scene('b', view.map((u) => u + shift), tB, stepB),
    };
    for (const which of ['a', 'b']) paint(which);
    paintLinks();
  }

  function scene(which, view, t, step) {
    const { run, lanes, course } = sides[which];
    const rows = lanes.rows(ROWS);
    const plan = lanePlan({ rows, flags: lanes.marks.length > 0, iterations: { rows: [], most: 0 }, memory: false }, width, rows.length > 4 ? 17 : 20);
    return {
      run, lanes, course, plan, view, t, memory: null, curves: [], theme: colors, scale: Math.max(1, window.devicePixelRatio || 1),
      from: step?.from ?? 0, to: step?.to ?? -1, line: '', chosen: null, pointed: null, touched: null, sought: '',
    };
  }

  // ---- pixels ----------------------------------------------------------------------------------------

  function sized(node, h) {
    const scale = Math.max(1, window.devicePixelRatio || 1);
    const [w, high] = [Math.round(width * scale), Math.round(h * scale)];
    if (node.width !== w || node.height !== high) {
      [node.width, node.height] = [w, high];
      Object.assign(node.style, { width: `${width}px`, height: `${h}px` });
    }
    const c = node.getContext('2d');
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, width, h);
    return c;
  }

  function paint(which) {
    const of = scenes[which];
    const c = sized(canvas[which], of.plan.height);
    drawStill(c, of);
    inTrack(c, of, () => drawEnd(c, which, of));
    drawMoving(c, { ...of, theme: { ...colors, paper: 'transparent' } }); // both runs are over: nothing is paler
    inTrack(c, of, () => drawChanges(c, of, shown.changes[which]));
  }

  function inTrack(c, { plan }, draw) {
    c.save();
    c.beginPath();
    c.rect(plan.track.x, AXIS, plan.track.w, plan.height);
    c.clip();
    draw();
    c.restore();
  }

  // Where one run is over and the other one goes on.
  function drawEnd(c, which, of) {
    const other = scenes[which === 'a' ? 'b' : 'a'];
    const [end, until] = [scaleOf(of).x(of.run.total), scaleOf(other).x(other.run.total)];
    if (until - end < 4) return;
    const { plan } = of;
    const rect = { x: end, y: plan.top + 1, w: until - end, h: plan.height - plan.top - 2 };
    const hue = which === 'b' ? colors.good : colors.soft;
    c.fillStyle = tile(c, 'hatch', '', hue, of.scale);
    c.globalAlpha = 0.5;
    c.fillRect(rect.x, rect.y, rect.w, rect.h);
    c.globalAlpha = 1;
    c.setLineDash([5, 4]);
    c.strokeStyle = hue;
    c.strokeRect(rect.x + 0.5, rect.y, rect.w - 1, rect.h);
    c.setLineDash([]);
    const words = `${units.time(Math.round(saved()))} sooner${scenes.shift ? ' from here on' : ''}`;
    write(c, words, rect, hue);
  }

  // By how much one run is done before the other, counted from where both are aligned.
  function saved() {
    const [i, j] = scenes.shift ? scenes.at : [-1, -1];
    const left = (run, k) => run.total - (k < 0 ? 0 : run.span(run.steps[k])[0]);
    return Math.abs(left(shown.a, i) - left(shown.b, j));
  }

  function write(c, words, { x, y, w, h }, color) {
    c.font = `600 12px ${colors.sans}`;
    const room = c.measureText(words).width + 10;
    if (room > w) return;
    c.fillStyle = colors.paper;
    rounded(c, { x: x + (w - room) / 2, y: y + h / 2 - 9, w: room, h: 18 }, 4);
    c.fill();
    text(c, words, x + w / 2, y + h / 2, { font: c.font, color, align: 'center' });
  }

  // gone: struck out; new: a dashed frame; less, more: a frame. Better is green, worse amber, gone and new ink.
  function drawChanges(c, of, found) {
    if (!found.size) return;
    const at = scaleOf(of);
    for (const row of of.plan.rows) {
      const h = (row.h - 4) / row.lanes.length;
      seen(of, row).forEach((slices, i) => {
        for (const one of slices) {
          const change = one.count === 1 && found.get(one.slice.seq);
          if (change) drawChange(c, change, { x: at.x(one.from), y: row.y + 2 + i * h, w: Math.max(3, at.x(Math.min(one.until, of.run.total)) - at.x(one.from)), h });
        }
      });
    }
  }

  function drawChange(c, { what, ns }, { x, y, w, h }) {
    const hue = what === 'gone' || what === 'new' ? colors.ink : ns < 0 ? colors.good : colors.wait;
    c.lineWidth = 2;
    c.strokeStyle = hue;
    if (what === 'gone' || what === 'new') c.setLineDash([4, 3]);
    rounded(c, { x: x - 1, y: y - 1, w: w + 2, h: h + 2 }, 3);
    c.stroke();
    c.setLineDash([]);
    if (what !== 'gone') return;
    c.beginPath();
    c.moveTo(x, y + h);
    c.lineTo(x + w, y);
    c.stroke();
  }

  function paintLinks() {
    const c = sized(canvas.links, LINKS);
    const { a, b, at } = scenes;
    const { track } = a.plan;
    const x = (side, run, i) => scaleOf(side).x(run.span(run.steps[i])[0]);
    let free = -Infinity;
    c.save();
    c.beginPath();
    c.rect(track.x, 0, track.w, LINKS);
    c.clip();
    for (const pair of shown.pairs) {
      const top = x(a, shown.a, pair[0]);
      const now = at && pair[0] === at[0];
      if ((top < free && !now) || top > track.x + track.w) continue;
      free = top + APART;
      drawLink(c, top, x(b, shown.b, pair[1]), now ? colors.accent : colors.line, now ? 2 : 1);
    }
    if (at) drawLink(c, x(a, shown.a, at[0]), x(b, shown.b, at[1]), colors.accent, 2);
    c.restore();
    const { line } = (at && shown.a.steps[at[0]]) ?? {};
    text(c, line ? `line ${line}` : 'aligned', 0, LINKS / 2, { font: `600 12px ${colors.sans}`, color: colors.accent, max: track.x - 6 });
  }

  function drawLink(c, top, bottom, color, w) {
    c.beginPath();
    c.moveTo(top, 0);
    c.bezierCurveTo(top, LINKS * 0.6, bottom, LINKS * 0.4, bottom, LINKS);
    c.lineWidth = w;
    c.strokeStyle = color;
    c.stroke();
  }

  // ---- pointer and keys ------------------------------------------------------------------------------

  function hit(which, { x, y }) {
    const of = scenes?.[which];
    const row = of?.plan.rows.find((r) => y >= r.y && y < r.y + r.h);
    if (!row || x < of.plan.track.x) return null;
    const at = scaleOf(of);
    const i = Math.min(row.lanes.length - 1, Math.max(0, Math.floor(((y - row.y - 2) / (row.h - 4)) * row.lanes.length)));
    const one = seen(of, row)[i].find((s) => x >= at.x(s.from) - 2 && x <= at.x(Math.min(s.until, of.run.total)) + 2);
    return one ? { one, lane: row.lanes[i], x, y: canvas[which].offsetTop + row.y + row.h } : null;
  }

  // Both are moved together: along what the two axes have in common, which begins at 0 for the hand.
  const common = (which) => scenes && {
    plan: scenes[which].plan, view: scenes.view.map((u) => u - scenes.all[0]), course: { units: scenes.all[1] - scenes.all[0] },
  };

  function lookAt(part) {
    look = part && part[1] - part[0] < scenes.all[1] - scenes.all[0] - 1e-6 ? part.map((u) => u + scenes.all[0]) : null;
    on.poke();
  }

  for (const which of ['a', 'b']) {
    gestures(canvas[which], canvas[which], {
      scene: () => common(which), look: lookAt, leave: () => { tip.hidden = true; },
      point(at) {
        const found = hit(which, at);
        canvas[which].style.cursor = found ? 'pointer' : '';
        tip.hidden = !found;
        if (found) explain(which, found);
      },
      press(at) {
        const found = hit(which, at);
        if (found) on.choose(which, found.one.slice.seq, found.one.slice.from);
      },
    });
  }

  function explain(which, { one, lane, x, y }) {
    const change = one.count === 1 && shown.changes[which].get(one.slice.seq);
    const lines = [...about(one, lane, sides[which].run, sides[which].lanes), change ? changeWords(change) : ''].filter(Boolean);
    tip.replaceChildren(...lines.map((line) => Object.assign(document.createElement('p'), { textContent: line })));
    tip.hidden = false;
    tip.style.left = `${Math.max(0, Math.min(width - tip.offsetWidth, x - 20))}px`;
    tip.style.top = `${y + 4}px`;
  }

  function zoom(factor) {
    const { view, course } = common('a');
    const middle = sides.a.course.toUnits(scenes.a.t) - scenes.all[0];
    lookAt(zoomed(view, factor, Math.min(view[1], Math.max(view[0], middle)), course.units));
  }

  function pan(by) {
    const { view, course } = common('a');
    lookAt(panned(view, by * (view[1] - view[0]), course.units));
  }

  const keys = viewKeys({ zoom, pan, all: () => lookAt(null) });
  root.addEventListener('keydown', (event) => {
    const act = keys[keyOf(event)];
    if (!act || !scenes) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });

  return {
    open,
    show,
    /** The theme may have changed. */
    repaint() {
      colors = theme(getComputedStyle(document.body));
    },
    /** For tests: where the step shown begins in both runs, in px. */
    seen: () => scenes && { a: place('a'), b: place('b'), shift: scenes.shift, at: scenes.at },
  };

  function place(which) {
    const i = scenes.at?.[which === 'a' ? 0 : 1] ?? 0;
    return scaleOf(scenes[which]).x(shown[which].span(shown[which].steps[i])[0]);
  }
}

/** The pair of step i, or of the last one before it that has one; null: none. */
export function pairAt(pairs, i) {
  return pairs.findLast(([own]) => own <= i) ?? null;
}

/** What is different in a slice, in words. */
export function changeWords({ what, ns }) {
  if (what === 'gone') return 'Only in the first run';
  if (what === 'new') return 'Only in the second run';
  return `${units.time(Math.round(Math.abs(ns)))} ${ns < 0 ? 'less' : 'more'} in the second run`;
}
