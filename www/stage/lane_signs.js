// lane_signs.js: what stands over the slices of the lanes: arrows from an event to what waited for it, flags for the
// program's marks, and both accesses of a data race.

import { firstIndex } from '../model/search.js';
import { arrow, rounded, text } from './canvas_util.js';

const CLOSE = 4; // px: of marks nearer than this to the one before, one is drawn

const rowOf = (plan, lane) => plan.rows.find((row) => row.lanes.includes(lane));

/** From the point that an event was recorded at in its stream to the work, or the end of the host's wait, that it held up. */
export function drawArrows(c, scene, at) {
  const { plan, theme: th, lanes } = scene;
  const [t0, t1] = [at.t(plan.track.x), at.t(plan.track.x + plan.track.w)];
  c.lineWidth = 1.25;
  for (const one of lanes.arrows(t0 - (t1 - t0), t1)) {
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

/** The program's own notes, each with a line through all lanes. */
export function drawFlags(c, { plan, theme: th, lanes: { marks } }, at) {
  const right = plan.track.x + plan.track.w;
  const t0 = at.t(plan.track.x);
  let free = -Infinity;
  for (let i = firstIndex(marks.length, (k) => marks[k].t >= t0); i < marks.length; i++) {
    const x = at.x(marks[i].t);
    if (x > right) break;
    if (x < free) continue;
    free = x + CLOSE;
    c.fillStyle = th.ink;
    c.fillRect(x - 0.75, plan.top - 15, 1.5, plan.height - plan.top + 13);
    const next = i + 1 < marks.length ? at.x(marks[i + 1].t) : Infinity;
    drawFlag(c, th, marks[i].text, x, Math.min(next - 3, right) - x, plan.top - 15);
  }
}

function drawFlag(c, th, words, x, room, y) {
  c.font = `12px ${th.sans}`;
  const w = Math.min(room, c.measureText(words).width + 10);
  if (w < 24) return;
  c.fillStyle = th.ink;
  c.fillRect(x, y, w, 14);
  text(c, words, x + 5, y + 7.5, { font: `12px ${th.sans}`, color: th.paper, max: w - 8 });
}

/** Both accesses that nothing ordered, joined by a red line. */
export function drawRaces(c, scene, at) {
  const { run, lanes, theme: th } = scene;
  const seen = new Set();
  for (const seq of lanes.races.values()) {
    if (seen.has(seq) || seen.size > 40) continue;
    seen.add(seq);
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

// Where an access is drawn: its slice; a read or write of the host took no time, and is a point of its thread.
function spot({ plan, lanes, run }, seq, at) {
  for (const { lane, slice } of lanes.find(seq)) {
    const row = rowOf(plan, lane);
    if (row && lane.kind !== 'thread') return { x: at.x(slice.from) - 1, y: row.y + 1, w: Math.max(4, at.x(slice.until) - at.x(slice.from) + 2), h: row.h - 2 };
  }
  const row = rowOf(plan, lanes.threads.get(run.events[seq]?.th ?? 0));
  return row ? { x: at.x(run.timeline.timeOf(seq)) - 3, y: row.y + row.h / 2 - 3, w: 6, h: 6 } : null;
}
