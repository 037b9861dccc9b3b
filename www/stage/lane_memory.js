// lane_memory.js: memory over time, under the lanes: how many bytes lived on the cards (or in RAM, of a run without one),
// stacked by the line that allocated them.

import { memoriesOf } from '../model/memory_time.js';
import * as units from '../model/units.js';
import { tensorStyle, tile } from './colours.js';
import { text, wording } from './canvas_util.js';

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
  const { plan: { memory: place }, memory } = scene;
  if (!place) return;
  const columns = columnsOf(scene, at);
  const px = (bytes) => (bytes / Math.max(1, memory.peak)) * (place.h - 4);
  const bottom = place.y + place.h - 1;
  const under = columns.map(() => 0); // bytes of the lines below
  for (const line of [...memory.lines, '']) {
    const strips = columns.map(({ x, w, lines }, i) => {
      const bytes = lines.find((one) => one.line === line)?.bytes ?? 0;
      under[i] += bytes;
      return { x, w, y: bottom - px(under[i]), h: px(bytes) };
    }).filter((one) => one.h > 0);
    drawStrips(c, scene, line, strips);
  }
}

// [{x, w, lines}]: as wide as nothing changes in them, COLUMN at least.
function columnsOf({ plan: { track }, memory, run }, at) {
  const right = Math.min(track.x + track.w, at.x(run.total));
  const found = [];
  for (let x = track.x; x < right;) {
    const t = at.t(x + COLUMN / 2);
    const end = Math.min(right, Math.max(x + COLUMN, at.x(memory.next(t)) - COLUMN / 2));
    found.push({ x, w: end - x, lines: memory.at(t).lines });
    x = end;
  }
  return found;
}

function drawStrips(c, { theme: th, scale, memory, line: lit }, line, strips) {
  if (!strips.length) return;
  const { hue, pattern } = tensorStyle(Math.max(0, memory.lines.indexOf(line)));
  c.beginPath();
  for (const { x, y, w, h } of strips) c.rect(x, y, w, h);
  c.globalAlpha = !line ? 0.3 : line === lit ? 1 : 0.42;
  c.fillStyle = line ? tile(c, pattern, hue, 'rgba(255,255,255,.5)', scale) : th.faint;
  c.fill();
  c.globalAlpha = 1;
  const wide = strips.find((one) => one.h >= 12 && one.w >= 60);
  if (!wide || !line) return;
  const words = `line ${line.split(':').at(-1)}`;
  c.font = `12px ${th.sans}`;
  c.lineWidth = 3;
  c.strokeStyle = th.panel;
  c.textAlign = 'left';
  c.textBaseline = 'middle';
  c.strokeText(words, wide.x + 5, wide.y + wide.h / 2);
  text(c, words, wide.x + 5, wide.y + wide.h / 2, { font: c.font, color: th.ink, max: wide.w - 8 });
}

/** Its name and its highest value, left of it. */
export function drawMemoryName(c, { theme: th, plan, memory, lanes }) {
  if (!plan.memory) return;
  const name = memory.device === 'cpu' ? 'RAM' : lanes.cards.size > 1 ? memory.device : 'VRAM';
  const y = plan.memory.y + plan.memory.h / 2;
  c.fillStyle = th.line;
  c.fillRect(0, plan.memory.y - 0.5, plan.width, 1);
  const peak = units.bytes(memory.peak);
  const font = `12px ${th.sans}`;
  const short = plan.several ? [`${memory.device} ≤ ${peak}`, peak] : [peak];
  if (plan.narrow) text(c, wording(c, short, font, plan.track.x - 4), 0, y, { font, color: th.soft, max: plan.track.x - 4 });
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
