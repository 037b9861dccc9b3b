// picture.js: the step on show as a picture for slides and forum posts: its sentence, the stage, the lanes, and where it is
// from. Drawn by what draws the page, as pixels or as SVG.

import { drawTile } from '../stage/colours.js';
import { memoryOf } from '../stage/lane_memory.js';
import { svgContext } from './svg_context.js';

const EDGE = 24; // px around the parts
const LINE = 26;
const SHARP = 2; // pixels of a PNG for each of the page

/** shot: {parts: [{w, h, draw(c)}, ...], sentence, source, theme}. Returns {w, h, draw(c)}. */
function composed(shot, ruler) {
  const w = Math.max(...shot.parts.map((part) => part.w)) + 2 * EDGE;
  const font = `600 17px ${shot.theme.sans}`;
  const lines = wrapped(ruler, font, shot.sentence, w - 2 * EDGE);
  const h = EDGE + lines.length * LINE + shot.parts.reduce((sum, part) => sum + part.h + 12, 0) + 20 + EDGE / 2;
  function draw(c) {
    c.fillStyle = shot.theme.paper;
    c.fillRect(0, 0, w, h);
    Object.assign(c, { font, fillStyle: shot.theme.ink, textAlign: 'left', textBaseline: 'middle' });
    lines.forEach((line, i) => c.fillText(line, EDGE, EDGE + (i + 0.4) * LINE));
    let y = EDGE + lines.length * LINE;
    for (const part of shot.parts) {
      c.save();
      c.translate(EDGE, y);
      c.beginPath();
      c.rect(0, 0, part.w, part.h);
      c.clip();
      part.draw(c);
      c.restore();
      y += part.h + 12;
    }
    Object.assign(c, { font: `12.5px ${shot.theme.sans}`, fillStyle: shot.theme.soft, textAlign: 'left', textBaseline: 'middle' });
    c.fillText(shot.source, EDGE, y + 8);
  }
  return { w, h, draw };
}

function wrapped(ruler, font, words, room) {
  const lines = [];
  ruler.font = font;
  for (const word of words.split(/\s+/)) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && ruler.measureText(longer).width <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

const rulerOf = () => document.createElement('canvas').getContext('2d');

/** The picture as the text of an SVG. */
export function svgOf(shot) {
  const ruler = rulerOf();
  const { w, h, draw } = composed(shot, ruler);
  const c = svgContext(ruler, drawTile);
  draw(c);
  return c.svg(w, h, shot.sentence);
}

/** The part to draw where none was asked for: that of the last error, else the first with the most memory in use. */
export function tellingPart(run) {
  const wrong = run.parts.findLastIndex((part) => part.kind === 'error');
  const memory = memoryOf(run);
  if (wrong >= 0 || !memory) return wrong;
  let fullest = 0;
  for (let t = 0; t < Infinity; t = memory.next(t)) if (memory.at(t).total > memory.at(fullest).total) fullest = t;
  return run.partAt(fullest);
}

/** For `ferry export --svg`: the page becomes the picture, in base64, or the words that say why there is none. */
export function deliver(kind, shot, trouble) {
  const bytes = (text) => Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
  const pre = document.createElement('pre');
  pre.id = trouble ? 'picture-trouble' : 'picture';
  if (trouble) pre.textContent = btoa(bytes(trouble));
  else pre.textContent = kind === 'svg' ? btoa(bytes(svgOf(shot))) : canvasOf(shot).toDataURL().split(',')[1];
  document.body.replaceChildren(pre);
}

/** The picture as a canvas. */
export function canvasOf(shot) {
  const { w, h, draw } = composed(shot, rulerOf());
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [Math.ceil(w * SHARP), Math.ceil(h * SHARP)];
  const c = canvas.getContext('2d');
  c.clearRect = () => {}; // the parts clear their own canvas; here they lie on the paper
  c.scale(SHARP, SHARP);
  draw(c);
  return canvas;
}
