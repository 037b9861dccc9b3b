// lane_signs.js: what stands over the slices of the lanes: arrows from an event to what waited for it, flags for the
// program's marks, both accesses of a data race, and where an error stopped it.

import { firstIndex, thinned } from '../model/search.js';
import { arrow, rounded, text } from './canvas_util.js';

const GAP = 3; // px between two flags
const SHORTEST = 40; // px of a flag whose words are cut
const LONGEST = 180; // px of a flag at most

const rowOf = (plan, lane) => plan.rows.find((row) => row.lanes.includes(lane));

/** From the point that an event was recorded at in its stream to the work, or the end of the host's wait, that it held up. */
export function drawArrows(c, scene, at) {
  const { plan, theme: th, lanes } = scene;
  const [t0, t1] = [at.t(plan.track.x), at.t(plan.track.x + plan.track.w)];
  c.lineWidth = 1.25;
  for (const one of lanes.arrows(t0, t1)) {
    const [a, b] = [rowOf(plan, one.from.lane), rowOf(plan, one.to.lane)];
    if (!a || !b || a === b) continue;
    c.strokeStyle = c.fillStyle = th.ink;
    const down = b.y > a.y;
    const from = [at.x(one.from.t), a.y + a.h / 2];
    const to = [at.x(one.to.t), down ? b.y + 3 : b.y + b.h - 3];
    c.beginPath();
    c.arc(...from, 2.5, 0, 7);
    c.fill();
    c.beginPath();
    c.moveTo(...from);
    c.lineTo(...to);
    c.stroke();
    arrow(c, from, to, 6);
  }
}

/**
 * The program's marks between the edges of the view: {flags: [{x, from, w, mark}], ticks: [x]}: what is written seldom first, so
 * that of a long run each `epoch` has its flag, and the steps in it are ticks; nearer, they have flags too. What has no room for
 * half of its flags has ticks. width(words) -> px.
 */
export function flagsIn(marks, at, left, right, width) {
  const texts = new Map();
  for (const mark of marks) texts.set(mark.text, { often: (texts.get(mark.text)?.often ?? 0) + 1, seen: [] });
  for (let i = firstIndex(marks.length, (k) => at.x(marks[k].t) >= left - 1); i < marks.length && at.x(marks[i].t) <= right + 1; i++) texts.get(marks[i].text).seen.push(marks[i]);
  let flags = [];
  const ticks = [];
  for (const [words, { seen }] of [...texts].filter(([, { seen }]) => seen.length).sort((a, b) => a[1].often - b[1].often)) {
    const full = Math.min(LONGEST, width(words) + 10);
    const placed = seen.reduce((all, mark) => withFlag(all, mark, at.x(mark.t), full, right), flags);
    if ((placed.length - flags.length) * 2 >= seen.length) flags = placed;
    const without = seen.map((mark) => at.x(mark.t)).filter((x) => !flags.some((one) => one.x === x));
    ticks.push(...without.filter((x, i) => i === 0 || x - without[i - 1] >= 1));
  }
  return { flags, ticks };
}

// The flags and one more, where it has room between them; the last one leans back from the edge.
function withFlag(flags, mark, x, full, right) {
  const next = Math.min(...flags.filter((one) => one.x > x).map((one) => one.from - GAP), right);
  const from = next === right ? Math.min(x, right - full) : x;
  const w = Math.min(full, next - from);
  const isFree = flags.every((one) => one.x > x || from >= one.from + one.w + GAP) && w >= Math.min(full, SHORTEST) && x <= next;
  return isFree ? [...flags, { x, from, w, mark }] : flags;
}

/** The marks at (x, y), if that is in their row. */
export function marksAt({ plan, lanes: { marks } }, at, { x, y }) {
  if (!marks.length || y < plan.top - 16 || y >= plan.top || x < plan.track.x) return [];
  const near = marks.slice(firstIndex(marks.length, (k) => at.x(marks[k].t) >= x - 5)).filter(({ t }) => at.x(t) <= x + 5);
  const under = (one) => x >= one.from && x < one.from + one.w;
  return near.length ? near : flagsIn(marks, at, plan.track.x, plan.track.x + plan.track.w, (words) => words.length * 7).flags.filter(under).map((one) => one.mark);
}

/** The program's own notes: a flag with a line through all lanes, or a tick over them where there is no room for one. */
export function drawFlags(c, { plan, theme: th, lanes: { marks } }, at) {
  const font = `12px ${th.sans}`;
  c.font = font;
  const { flags, ticks } = flagsIn(marks, at, plan.track.x, plan.track.x + plan.track.w, (words) => c.measureText(words).width);
  c.fillStyle = th.faint;
  for (const x of ticks) c.fillRect(x - 0.5, plan.top - 6, 1, 6);
  for (const { x, from, w, mark } of flags) {
    c.fillStyle = th.ink;
    c.fillRect(x - 0.75, plan.top - 15, 1.5, plan.height - plan.top + 13);
    c.fillRect(from, plan.top - 15, w, 14);
    text(c, mark.text, from + 5, plan.top - 7.5, { font, color: th.paper, max: w - 8 });
  }
}

const CROSS = 5; // px

/** Where an error stopped the program: a cross in its thread, and a line through all lanes. */
export function drawStop(c, { plan, run, lanes, theme: th }, at) {
  if (!(run.stopped >= 0)) return;
  const right = plan.track.x + plan.track.w;
  const x = at.x(run.timeline.timeOf(run.stopped));
  const row = rowOf(plan, lanes.threads.get(run.events[run.stopped]?.th ?? 0));
  if (!row || x < plan.track.x || x > right + 1) return;
  c.strokeStyle = th.bad;
  c.lineWidth = 1.5;
  c.strokeRect(Math.min(x, right - 1), plan.top, 0, plan.height - plan.top - 2);
  c.lineWidth = 2.5;
  const [mx, my] = [Math.min(x, right - CROSS - 1), row.y + row.h / 2];
  c.beginPath();
  for (const way of [-1, 1]) {
    c.moveTo(mx - CROSS, my - way * CROSS);
    c.lineTo(mx + CROSS, my + way * CROSS);
  }
  c.stroke();
}

const RACES = 40; // that are drawn at once

/** Both accesses that nothing ordered, joined by a red line; of many in sight some of everywhere. */
export function drawRaces(c, scene, at) {
  const { run, lanes, plan, theme: th } = scene;
  const [t0, t1] = [at.t(plan.track.x), at.t(plan.track.x + plan.track.w)];
  const isSeen = ([from, until]) => from <= t1 && until >= t0;
  const inSight = [...new Set(lanes.races.values())].filter((seq) => [run.events[seq].a, run.events[seq].b].some((access) => isSeen(lasting(run, access))));
  for (const seq of thinned(inSight, RACES)) {
    const ends = [run.events[seq].a, run.events[seq].b].map((access) => spot(scene, access, at));
    c.strokeStyle = th.bad;
    c.lineWidth = 2;
    for (const end of ends) outline(c, th, end);
    if (ends[0] && ends[1]) joint(c, ends[0], ends[1]);
  }
}

// Straight across where both went on at once, else from the end of one to the beginning of the other.
function joint(c, a, b) {
  const both = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x);
  const x = Math.max(a.x, b.x) + both / 2;
  const [above, below] = a.y < b.y ? [a, b] : [b, a];
  const ends = both > 0 ? [x, x] : above.x < below.x ? [above.x + above.w, below.x] : [above.x, below.x + below.w];
  const [from, to] = [[ends[0], above.y + above.h / 2], [ends[1], below.y + below.h / 2]];
  c.beginPath();
  c.moveTo(...from);
  c.lineTo(...to);
  c.stroke();
  c.fillStyle = c.strokeStyle;
  for (const end of [from, to]) {
    c.beginPath();
    c.arc(...end, 3.5, 0, 7);
    c.fill();
  }
}

function outline(c, th, end) {
  if (!end) return;
  rounded(c, end, 3);
  c.stroke();
}

const isAccess = (run, seq) => Boolean(run.events[seq]?.kind);

// From when until when an access took place.
function lasting(run, seq) {
  if (!isAccess(run, seq)) return [Infinity, -Infinity];
  const [work] = run.timeline.worksIssued(seq, seq);
  const t = run.timeline.timeOf(seq);
  return work ? [Math.min(work.issued, work.start), work.end] : [t, t];
}

// Where an access is drawn: its slice, which has no end yet where the work has none; a read or write of the host took no time,
// and is a point of its thread.
function spot({ plan, lanes, run }, seq, at) {
  if (!isAccess(run, seq)) return null;
  const [work] = run.timeline.worksIssued(seq, seq);
  const open = work && plan.rows.find((row) => row.lanes.some((lane) => lane.open.has(work.id)));
  if (open) {
    const x = at.x(work.issued) - 1;
    return { x, y: open.y + 1, w: Math.max(4, plan.track.x + plan.track.w - x), h: open.h - 2 };
  }
  for (const { lane, slice } of lanes.find(seq)) {
    const row = rowOf(plan, lane);
    if (row && lane.kind !== 'thread') return { x: at.x(slice.from) - 1, y: row.y + 1, w: Math.max(4, at.x(slice.until) - at.x(slice.from) + 2), h: row.h - 2 };
  }
  const row = rowOf(plan, lanes.threads.get(run.events[seq]?.th ?? 0));
  return row ? { x: at.x(run.timeline.timeOf(seq)) - 3, y: row.y + row.h / 2 - 3, w: 6, h: 6 } : null;
}
