// lane_memory.js: memory over time, under the lanes: how many bytes lived on the cards (or in RAM, of a run without one),
// stacked by the line that allocated them.

import { memoriesOf } from '../model/memory_time.js';
import * as units from '../model/units.js';
import { tensorStyle, tile } from './colours.js';
import { text } from './canvas_util.js';

export const MEMORY = 22; // px
const COLUMN = 2; // px that are looked at together

/** The memory that is drawn: that of the first card which has any, else RAM; null: nothing was allocated. */
export function memoryOf(run) {
  const memories = memoriesOf(run);
  const devices = memories.devices();
  return memories.of(devices.find((device) => device !== 'cpu') ?? devices[0] ?? '');
}

/** Draws it at plan.memory {y, h}. */
export function drawMemory(c, scene, at) {
  const { plan: { memory: place, track }, memory } = scene;
  if (!place) return;
  const px = (bytes) => (bytes / Math.max(1, memory.peak)) * (place.h - 4);
  const right = Math.min(track.x + track.w, at.x(scene.run.total));
  const labels = new Map(); // line -> px: where its name stands last
  let x = track.x;
  while (x < right) {
    const now = memory.at(at.t(x + COLUMN / 2));
    const next = at.x(memory.next(at.t(x + COLUMN / 2)));
    const end = Math.min(right, Math.max(x + COLUMN, next - COLUMN / 2));
    drawColumn(c, scene, now.lines, px, { x, w: end - x, bottom: place.y + place.h - 1 }, labels);
    x = end;
  }
}

function drawColumn(c, { theme: th, scale, memory, line: lit }, lines, px, { x, w, bottom }, labels) {
  let y = bottom;
  for (const { line, bytes } of lines) {
    const h = px(bytes);
    if (h <= 0) continue;
    y -= h;
    const { hue, pattern } = tensorStyle(Math.max(0, memory.lines.indexOf(line)));
    c.globalAlpha = !line ? 0.3 : line === lit ? 1 : 0.42;
    c.fillStyle = line ? tile(c, pattern, hue, 'rgba(255,255,255,.5)', scale) : th.faint;
    c.fillRect(x, y, w, h);
    c.globalAlpha = 1;
    const words = line ? `line ${line.split(':').at(-1)}` : '';
    if (h < 12 || !words || w < 60 || x - (labels.get(line) ?? -Infinity) < 400) continue;
    labels.set(line, x);
    c.font = `12px ${th.sans}`;
    c.lineWidth = 3;
    c.strokeStyle = th.panel;
    c.textAlign = 'left';
    c.textBaseline = 'middle';
    c.strokeText(words, x + 5, y + h / 2);
    text(c, words, x + 5, y + h / 2, { font: c.font, color: th.ink, max: w - 8 });
  }
}

/** Its name and its highest value, left of it. */
export function drawMemoryName(c, { theme: th, plan, memory, lanes }) {
  if (!plan.memory) return;
  const name = memory.device === 'cpu' ? 'RAM' : lanes.cards.size > 1 ? memory.device : 'VRAM';
  const y = plan.memory.y + plan.memory.h / 2;
  c.fillStyle = th.line;
  c.fillRect(0, plan.memory.y - 0.5, plan.width, 1);
  const peak = units.bytes(memory.peak);
  if (plan.narrow) text(c, peak, 0, y, { font: `12px ${th.sans}`, color: th.soft, max: plan.track.x - 4 });
  else {
    text(c, name, 0, y, { font: `600 12px ${th.sans}`, color: th.ink });
    text(c, `≤ ${peak}`, 54, y, { font: `12px ${th.sans}`, color: th.soft, max: plan.track.x - 58 });
  }
}

/** What lived at time t, as lines of a tooltip. */
export function memoryWords(run, memory, t) {
  const { total, lines } = memory.at(t);
  const name = memory.device === 'cpu' ? 'CPU RAM' : `VRAM of ${memory.device}`;
  const others = memoriesOf(run).devices().filter((device) => device !== memory.device)
    .map((device) => `${units.bytes(memoriesOf(run).of(device).at(t).total)} in ${device === 'cpu' ? 'CPU RAM' : device}`);
  return [
    `${units.bytes(total)} live in ${name} at ${units.time(Math.round(t))}; at most ${units.bytes(memory.peak)}`,
    lines.filter((one) => one.bytes > 0).map(({ line, bytes }) => `${line ? `line ${line.split(':').at(-1)}` : 'other lines'}: ${units.bytes(bytes)}`).join(', '),
    others.join(', '),
  ].filter(Boolean);
}
