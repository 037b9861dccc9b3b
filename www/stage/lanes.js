// lanes.js: the timeline under the memories: when the program, the bus and the GPU worked. Time that the program
// spent waiting is hatched.

import * as units from '../model/units.js';
import { tensorStyle, tile } from './colours.js';
import { rounded, text } from './canvas_util.js';

const ROWS = [['host', 'program'], ['bus', 'bus'], ['gpu', 'GPU']];

export function drawLanes(c, scene) {
  const { layout, theme: th, total, clock, since } = scene;
  const { x, y, w, h } = layout.lanes;
  if (!h) return;
  const left = layout.tall ? 58 : 70;
  const track = { x: x + left, w: w - left, h: (h - 20) / 3 };
  ROWS.forEach(([, label], i) => {
    const top = y + i * track.h;
    text(c, label, x + 2, top + track.h / 2, { font: `11px ${th.sans}`, color: th.soft });
    rounded(c, { x: track.x, y: top + 2, w: track.w, h: track.h - 4 }, 4);
    c.fillStyle = th.well;
    c.fill();
  });
  for (const span of scene.spans) drawSpan(c, scene, span, track, y);
  drawNow(c, scene, track, y);
  const small = { font: `11px ${th.sans}`, color: th.soft };
  text(c, since ? units.time(since) : '0', track.x, y + h - 9, small);
  const end = `${units.time(total)} ${clock === 'measured' ? 'measured' : 'modelled'}`;
  text(c, end, track.x + track.w, y + h - 9, { ...small, align: 'right' });
}

function drawSpan(c, scene, span, track, top) {
  const { theme: th, from, to, scale } = scene;
  const waits = span.lane === 'wait';
  const row = waits || span.lane === 'host' ? 0 : span.lane === 'bus' ? 1 : 2;
  const x = track.x + shareOf(scene, span.start) * track.w;
  const w = Math.max(2, (shareOf(scene, span.end) - shareOf(scene, span.start)) * track.w);
  const r = { x: Math.min(x, track.x + track.w - w), y: top + row * track.h + 3, w, h: track.h - 6 };
  const now = span.seq >= from && span.seq <= to;
  const index = scene.indexOf(span.lineage);
  c.save();
  c.globalAlpha = now ? 1 : 0.6;
  rounded(c, r, 2);
  c.fillStyle = waits ? tile(c, 'hatch', '', th.wait, scale) : row === 0 ? th.cpu : tensorStyle(index).hue;
  c.fill();
  if (now || waits) {
    c.lineWidth = 1;
    c.strokeStyle = waits ? th.wait : th.ink;
    c.stroke();
  }
  c.restore();
}

// Of a very long run, only the most recent part is kept and shown.
const shareOf = ({ since, total }, t) => Math.min(1, Math.max(0, (t - since) / Math.max(1, total - since)));

function drawNow(c, scene, track, top) {
  const { theme: th, t } = scene;
  const x = track.x + shareOf(scene, t) * track.w;
  c.fillStyle = th.accent;
  c.fillRect(x - 0.75, top, 1.5, track.h * 3);
}
