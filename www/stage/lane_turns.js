// lane_turns.js: the turns of the program's loops, as brackets over the lanes, each with its number; turns too narrow for
// one are drawn as one bracket with their number. Which turns there are is known by model/loops.js.

import { firstIndex } from '../model/search.js';
import { text } from './canvas_util.js';

export const TURNS = 14; // px that a row of brackets takes
const ROWS = 3; // of brackets at most: an outer loop, and two in it
const LEAST = 20; // px of a bracket with a number of its own

/** The rows of brackets: [{loops}, ...], an outer loop above those in it; only of loops that went round more than once. */
export function turnRows({ all }) {
  const rows = new Map();
  for (const loop of all) {
    if (loop.turns.length < 2) continue;
    const key = loop.th * 100 + loop.depth;
    if (!rows.has(key)) rows.set(key, []);
    rows.get(key).push(loop);
  }
  const most = [...rows].sort((a, b) => a[0] - b[0]).slice(0, ROWS);
  return most.map(([, loops]) => ({ loops }));
}

/** The brackets of a row between the edges of the view: [{x, w, turns: [first, last], loop}]; x: t -> px; left, right: px. */
export function brackets({ loops }, { x, t }, left, right) {
  const found = [];
  const from = t(left);
  for (let i = firstIndex(loops.length, (k) => loops[k].turns.at(-1).until > from); i < loops.length && x(loops[i].turns[0].from) < right; i++) {
    const { turns } = loops[i];
    for (let k = firstIndex(turns.length, (n) => turns[n].until > from); k < turns.length && x(turns[k].from) < right;) {
      const end = wide(turns[k], x) ? k + 1 : folded(turns, k, x, t);
      const at = x(turns[k].from);
      found.push({ x: at, w: x(turns[end - 1].until) - at, turns: [turns[k], turns[end - 1]], loop: loops[i] });
      k = end;
    }
  }
  return found;
}

const wide = ({ from, until }, x) => x(until) - x(from) >= LEAST;

// The first turn after k that is not folded with it: a bracket is never narrower than LEAST, while there are turns.
function folded(turns, k, x, t) {
  let end = k + 1;
  while (end < turns.length && !wide(turns[end - 1], x)) {
    if (wide(turns[end], x) && x(turns[end - 1].until) - x(turns[k].from) >= LEAST) break;
    const until = t(x(turns[end].from) + LEAST);
    const next = Math.max(end + 1, firstIndex(turns.length, (n) => turns[n].from >= until));
    end = next - 1 > end && wide(turns[next - 1], x) ? next - 1 : next;
  }
  return end;
}

/** What a bracket says, longest first. */
export function bracketWords({ turns: [first, last], loop }) {
  const all = loop.turns.length;
  if (first === last) return [`iteration ${first.n} of ${all}`, `iteration ${first.n}`, `${first.n}`];
  const count = last.n - first.n + 1;
  if (count === all) return [`${all} iterations`, `${all} ×`];
  return [`iterations ${first.n} to ${last.n} of ${all}`, `iterations ${first.n}–${last.n}`, `${first.n}–${last.n}`];
}

/** Of more rows than there is room for, the outer ones; where all that is seen is one turn of the outermost, those in it. */
export function rowsIn({ rows, most }, at, left, right) {
  let first = 0;
  while (rows.length - first > most && brackets(rows[first], at, left, right).length < 2) first++;
  return rows.slice(first, first + most);
}

const shownRows = ({ turns, track }, at) => rowsIn(turns, at, track.x, track.x + track.w);

/** Draws them at plan.turns {y, rows, most}. */
export function drawTurns(c, scene, at) {
  const { plan, theme: th } = scene;
  const { turns, track } = plan;
  shownRows(plan, at).forEach((row, i) => {
    const y = turns.y + i * TURNS;
    for (const one of brackets(row, at, track.x, track.x + track.w)) drawBracket(c, th, one, y, track);
  });
}

function drawBracket(c, th, one, y, track) {
  const [left, right] = [Math.max(one.x, track.x - 4), Math.min(one.x + one.w, track.x + track.w + 4)];
  c.strokeStyle = th.faint;
  c.lineWidth = 1;
  c.beginPath();
  c.moveTo(left + 1, y + TURNS - 1);
  c.lineTo(left + 1, y + TURNS / 2 + 0.5);
  c.lineTo(right - 1, y + TURNS / 2 + 0.5);
  c.lineTo(right - 1, y + TURNS - 1);
  c.stroke();
  const font = `12px ${th.sans}`;
  c.font = font;
  const [from, to] = [Math.max(left, track.x), Math.min(right, track.x + track.w)];
  const words = bracketWords(one).find((some) => c.measureText(some).width + 10 <= to - from);
  if (!words) return;
  const w = c.measureText(words).width;
  const middle = (from + to) / 2;
  c.fillStyle = th.paper;
  c.fillRect(middle - w / 2 - 3, y, w + 6, TURNS);
  text(c, words, middle, y + TURNS / 2 + 0.5, { font, color: th.soft, align: 'center' });
}

/** The bracket at (x, y), or null. */
export function bracketAt(scene, at, { x, y }) {
  const { plan } = scene;
  const { turns, track } = plan;
  const row = shownRows(plan, at)[Math.floor((y - turns.y) / TURNS)];
  return (row && brackets(row, at, track.x, track.x + track.w).find((one) => x >= one.x && x < one.x + one.w)) ?? null;
}
