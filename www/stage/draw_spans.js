// draw_spans.js: what the bytes of a memory are for (spans.js): brackets over the boxes, a line under the map, and, beside a name,
// the other one of a parameter and its gradient, with its colour.

import * as units from '../model/units.js';
import { tensorStyle, tile } from './colours.js';
import { rounded, text, wording } from './canvas_util.js';

/** The brackets of one memory's rows; those of the chosen boxes stand out. */
export function drawSpans(c, scene, memory) {
  const { layout, theme: th } = scene;
  for (const { x, w, y, row, label, storages } of layout.spans) {
    if (!memory.rows.includes(row)) continue;
    c.fillStyle = storages.some((id) => isOut(scene, id)) ? th.accent : th.soft;
    const breaks = label && label.x > x && label.x < x + w ? [[x, label.x - 1], [label.x + label.w + 1, x + w]] : [[x, x + w]];
    for (const [from, to] of breaks) c.fillRect(from, y, Math.max(1.5, to - from), 1);
    for (const end of w > 4 ? [x, x + w - 1] : [x + w / 2 - 0.5]) c.fillRect(end, y, 1, 4);
    if (!label) continue;
    const color = c.fillStyle;
    c.fillStyle = th.panel; // rings around boxes pass behind it
    c.fillRect(label.x, y - 5, label.w, 10);
    text(c, label.words, label.x + 2, y, { font: `11px ${th.sans}`, color });
  }
}

const isOut = ({ focus, kin, lit }, id) => focus === id || kin?.has(id) || (lit?.size > 0 && lit.has(id));

/** The line of all purposes, with their bytes. */
export function drawSummary(c, scene, memory) {
  const { theme: th } = scene;
  for (const { said: [title, bytes], x, y, w, storages } of memory.summary) {
    const chosen = scene.purpose && storages.some((id) => scene.purpose.has(id));
    const font = `12px ${th.sans}`;
    const wide = text(c, title, x, y, { font, color: chosen ? th.accent : th.soft, max: w - 40 });
    text(c, bytes, x + wide + 5, y, { font: `600 12px ${th.sans}`, color: chosen ? th.accent : th.ink });
  }
}

/**
 * The other one of a parameter and its gradient, as a tag beside its name: from x on, in `room` px. Returns the px that it takes:
 * 0 where there is no room.
 */
export function drawPair(c, { theme: th, scale }, pair, x, y, room) {
  const font = `12px ${th.sans}`;
  const said = wording(c, [pair.bytes ? `${pair.words} ${units.bytes(pair.bytes)}` : pair.words, pair.words], font, room - SWATCH - 12);
  const w = c.measureText(said).width + SWATCH + 12;
  if (w > room) return 0;
  c.fillStyle = th.panel;
  c.fillRect(x - 1, y - 8, w + 2, 15);
  rounded(c, { x: x + 0.5, y: y - 7, w: w - 1, h: 13 }, 4);
  c.lineWidth = 1;
  c.strokeStyle = th.faint;
  c.stroke();
  swatch(c, pair, x + 4, y - 4.5, SWATCH, scale);
  text(c, said, x + SWATCH + 8, y, { font, color: th.ink });
  return w;
}

const SWATCH = 8; // px

/** Where there is no room for words: the colour of the other one, at the end of its bracket. */
export function drawHook(c, scene, pair, { x, y, w }) {
  const size = Math.min(5, Math.max(2, w));
  swatch(c, pair, x + w - size, y - 0.5, size, scene.scale);
}

function swatch(c, { index }, x, y, size, scale) {
  const { hue, pattern } = tensorStyle(index);
  c.fillStyle = tile(c, pattern, hue, 'rgba(255,255,255,.62)', scale);
  c.fillRect(x, y, size, size);
}
