// lane_loops.js: the iterations of the program's loops, as brackets over the lanes, each with its number, and below them its backward
// passes; those too narrow for a number are drawn as one bracket with their number. Which there are is known by model/loops.js and
// model/passes.js.

import { countOf } from '../model/loops.js';
import { firstIndex } from '../model/search.js';
import { text } from './canvas_util.js';

export const BRACKETS = 14; // px that a row of brackets takes
const ROWS = 3; // of brackets at most: an outer loop, and two in it
const LEAST = 20; // px of a bracket with a number of its own

/** The rows of brackets: [{loops}, ...], an outer loop above those in it; only of loops that went round more than once. */
export function loopRows({ all }) {
  const rows = new Map();
  for (const loop of all) {
    if (loop.iterations.length < 2) continue;
    const key = loop.th * 100 + loop.depth;
    if (!rows.has(key)) rows.set(key, []);
    rows.get(key).push(loop);
  }
  const most = [...rows].sort((a, b) => a[0] - b[0]).slice(0, ROWS);
  return most.map(([, loops]) => ({ loops }));
}

/** The brackets of a row between the edges of the view: [{x, w, iterations: [first, last], loop}]; x: t -> px; left, right: px. */
export function brackets({ loops }, { x, t }, left, right) {
  const found = [];
  const from = t(left);
  for (let i = firstIndex(loops.length, (k) => loops[k].iterations.at(-1).until > from); i < loops.length && x(loops[i].iterations[0].from) < right; i++) {
    const { iterations } = loops[i];
    for (let k = firstIndex(iterations.length, (n) => iterations[n].until > from); k < iterations.length && x(iterations[k].from) < right;) {
      const end = wide(iterations[k], x) ? k + 1 : folded(iterations, k, x, t);
      const at = x(iterations[k].from);
      found.push({ x: at, w: x(iterations[end - 1].until) - at, iterations: [iterations[k], iterations[end - 1]], loop: loops[i] });
      k = end;
    }
  }
  return found;
}

const wide = ({ from, until }, x) => x(until) - x(from) >= LEAST;

// The first iteration after k that is not folded with it: a bracket is never narrower than LEAST, while there are iterations.
function folded(iterations, k, x, t) {
  let end = k + 1;
  while (end < iterations.length && !wide(iterations[end - 1], x)) {
    if (wide(iterations[end], x) && x(iterations[end - 1].until) - x(iterations[k].from) >= LEAST) break;
    const until = t(x(iterations[end].from) + LEAST);
    const next = Math.max(end + 1, firstIndex(iterations.length, (n) => iterations[n].from >= until));
    end = next - 1 > end && wide(iterations[next - 1], x) ? next - 1 : next;
  }
  return end;
}

/** What a bracket says, longest first. */
export function bracketWords({ iterations: [first, last], loop }) {
  if (loop.pass) return first === last ? ['backward', 'back'] : [`backward, ${last.n - first.n + 1} ×`, `${last.n - first.n + 1} ×`];
  const all = countOf(loop);
  if (first === last) return [`iteration ${first.n} of ${all}`, `iteration ${first.n}`, `${first.n}`];
  const count = last.n - first.n + 1;
  if (count === all) return [`${all} iterations`, `${all} ×`];
  return [`iterations ${first.n} to ${last.n} of ${all}`, `iterations ${first.n}–${last.n}`, `${first.n}–${last.n}`];
}

/** Of more rows than there is room for, the outer ones; where all that is seen is one iteration of the outermost, those in it. */
export function rowsIn({ rows, most }, at, left, right) {
  let first = 0;
  while (rows.length - first > most && brackets(rows[first], at, left, right).length < 2) first++;
  return rows.slice(first, first + most);
}

// The backward passes have a row of their own below them, however little room there is.
function shownRows({ iterations, track }, at) {
  const loops = rowsIn(iterations, at, track.x, track.x + track.w);
  return iterations.passes?.length ? [...loops, { loops: iterations.passes }] : loops;
}

/** How many rows of brackets are drawn at most. */
export const bracketRows = ({ rows, most, passes }) => Math.min(most, rows.length) + (passes?.length ? 1 : 0);

/** Draws them at plan.iterations {y, rows, most}. */
export function drawLoops(c, scene, at) {
  const { plan, theme: th } = scene;
  const { iterations, track } = plan;
  shownRows(plan, at).forEach((row, i) => {
    const y = iterations.y + i * BRACKETS;
    for (const one of brackets(row, at, track.x, track.x + track.w)) drawBracket(c, th, one, y, track);
  });
}

function drawBracket(c, th, one, y, track) {
  const [left, right] = [Math.max(one.x, track.x - 4), Math.min(one.x + one.w, track.x + track.w + 4)];
  c.strokeStyle = one.loop.pass ? th.ink : th.faint;
  c.lineWidth = one.loop.pass ? 1.5 : 1;
  c.beginPath();
  c.moveTo(left + 1, y + BRACKETS - 1);
  c.lineTo(left + 1, y + BRACKETS / 2 + 0.5);
  c.lineTo(right - 1, y + BRACKETS / 2 + 0.5);
  c.lineTo(right - 1, y + BRACKETS - 1);
  c.stroke();
  const font = `12px ${th.sans}`;
  c.font = font;
  const [from, to] = [Math.max(left, track.x), Math.min(right, track.x + track.w)];
  const words = bracketWords(one).find((some) => c.measureText(some).width + 10 <= to - from);
  if (!words) return;
  const w = c.measureText(words).width;
  const middle = (from + to) / 2;
  c.fillStyle = th.paper;
  c.fillRect(middle - w / 2 - 3, y, w + 6, BRACKETS);
  text(c, words, middle, y + BRACKETS / 2 + 0.5, { font, color: one.loop.pass ? th.ink : th.soft, align: 'center' });
}

/** The bracket at (x, y), or null. */
export function bracketAt(scene, at, { x, y }) {
  const { plan } = scene;
  const { iterations, track } = plan;
  const row = shownRows(plan, at)[Math.floor((y - iterations.y) / BRACKETS)];
  return (row && brackets(row, at, track.x, track.x + track.w).find((one) => x >= one.x && x < one.x + one.w)) ?? null;
}
