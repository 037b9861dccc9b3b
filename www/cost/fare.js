// fare.js: the fare and the weight of a copy as a plot that moves under the hand, where a lesson asks for it with a block ```fare.
// Time against bytes, both logarithmic; sliders for bytes, bandwidth and latency; the copies of the run shown are dots.

import { even, evenWords, fit, grouped, modelled, price, priceWords, rate, copiesOf } from '../model/fare.js';
import { clockWords } from '../model/cost_words.js';
import * as units from '../model/units.js';
import { rounded, text } from '../stage/canvas_util.js';
import { theme, tile } from '../stage/colours.js';

const HEIGHT = 230;
const EDGE = { left: 54, right: 10, top: 12, bottom: 24 };
const SIZES = [0, 30]; // powers of 2: 1 B to 1 GiB

export const make = (tag, fields = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), fields);
  node.append(...children);
  return node;
};

/** Replaces the blocks of a lesson's text. poke(): draw again. */
export function farePlots(article, poke) {
  const all = [...article.querySelectorAll('pre[data-language="fare"]')].map((block) => {
    const one = farePlot(poke);
    block.replaceWith(one.root);
    return one;
  });
  return {
    show: (run, hidden) => all.forEach((one) => one.show(run, hidden)),
    repaint: () => all.forEach((one) => one.repaint()),
  };
}

function farePlot(poke) {
  const canvas = make('canvas');
  canvas.setAttribute('role', 'img');
  const told = make('p', { className: 'told' });
  told.setAttribute('role', 'status');
  const half = make('p', { className: 'small' });
  const listed = make('p', { className: 'small' });
  const back = make('button', { type: 'button', textContent: 'Reset to this run' });
  const later = make('p', { className: 'small', textContent: 'The plot of time against bytes appears after your guess.' });
  const sliders = {
    bytes: slider('Bytes', SIZES, 0.25, (v) => units.bytes(Math.round(2 ** v))),
    bandwidth: slider('Bandwidth', [8, 13], 0.02, (v) => rate(10 ** v)),
    latency: slider('Latency', [1, 7], 0.02, (v) => units.time(10 ** v)),
  };
  const form = make('div', { className: 'sliders' }, ...Object.values(sliders).map((one) => one.root), back);
  const plot = make('div', { hidden: true }, canvas, told, form, half, listed);
  const root = make('figure', { className: 'fare' }, plot, later);
  root.setAttribute('aria-label', 'What a copy costs: latency + bytes / bandwidth');

  let colors = theme(getComputedStyle(document.body));
  let run = null;
  let count = -1;
  let copies = [];
  let own = modelled(null); // the line of the run
  let touched = false;
  let width = 0;
  new ResizeObserver(([entry]) => {
    width = Math.floor(entry.contentRect.width);
    paint();
  }).observe(plot);

  function slider(name, [min, max], step, words) {
    const input = make('input', { type: 'range', min, max, step });
    const value = make('output');
    let exact = min; // what was set: the slider rounds it
    const one = {
      root: make('label', {}, make('span', { textContent: name }), input, value),
      get: () => exact,
      set(v) {
        input.value = exact = v;
        tell();
      },
    };
    function tell() {
      value.textContent = words(exact);
      input.setAttribute('aria-valuetext', value.textContent);
    }
    input.addEventListener('input', () => {
      touched = true;
      exact = Number(input.value);
      tell();
      paint();
    });
    input.addEventListener('keydown', (event) => event.stopPropagation()); // the page's own keys step
    return one;
  }

  const line = () => ({ bandwidth: 10 ** sliders.bandwidth.get(), latency: 10 ** sliders.latency.get() });
  const chosen = () => Math.round(2 ** sliders.bytes.get());

  function reset() {
    touched = false;
    sliders.bandwidth.set(Math.log10(own.bandwidth));
    sliders.latency.set(Math.log10(own.latency));
    sliders.bytes.set(Math.log2(grouped(copies).at(-1)?.bytes ?? 1 << 17));
    paint();
  }
  back.addEventListener('click', reset);

  /** hidden: the learner still has to guess. */
  function show(shown, hidden) {
    plot.hidden = hidden;
    later.hidden = !hidden;
    if (hidden || (shown === run && shown.events.length === count)) return;
    [run, count] = [shown, shown.events.length];
    copies = copiesOf(run);
    const state = run.at(count - 1);
    const card = state.devices.find((one) => one.name !== 'cpu');
    const fitted = fit(copies);
    own = fitted ?? modelled(card?.model);
    const list = grouped(copies).slice(0, 6).map((one) => `${one.count > 1 ? `${one.count} × ` : ''}${units.bytes(one.bytes)} ${one.dir === 'h2d' ? 'to the GPU' : 'to the CPU'} in ${units.time(Math.round(one.ns))}`);
    listed.textContent = `${list.length ? `Copies of this run: ${list.join('; ')}. ${fitted ? 'The line goes through them. ' : 'The line is that of a pinned copy. '}` : 'This run has no copies yet. '}`
      + clockWords(state.session?.clock ?? 'model', card?.card ?? '');
    if (!touched) reset();
    else paint();
    poke();
  }

  // ---- pixels ----------------------------------------------------------------------------------------

  function paint() {
    if (!width || plot.hidden) return;
    const scale = Math.max(1, window.devicePixelRatio || 1);
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(HEIGHT * scale)];
    Object.assign(canvas.style, { width: `${width}px`, height: `${HEIGHT}px` });
    const c = canvas.getContext('2d');
    c.setTransform(scale, 0, 0, scale, 0, 0);
    const at = axes();
    const now = line();
    drawGrid(c, at);
    drawParts(c, at, now, scale);
    drawCurve(c, at, own, colors.faint, 1.5, [5, 4]);
    drawCurve(c, at, now, colors.accent, 2.5, []);
    for (const one of grouped(copies)) drawDot(c, at, one);
    drawChosen(c, at, now);
    told.textContent = priceWords(chosen(), now);
    half.textContent = evenWords(now);
    canvas.setAttribute('aria-label', `Time against bytes. ${told.textContent} ${half.textContent}`);
  }

  // Where a number of bytes and a time are, in px.
  function axes() {
    const now = line();
    const low = Math.floor(Math.log10(Math.min(now.latency, own.latency, ...copies.map((one) => one.ns)) / 2));
    const high = Math.ceil(Math.log10(Math.max(price(2 ** SIZES[1], own).total, now.latency * 10)));
    const [w, h] = [width - EDGE.left - EDGE.right, HEIGHT - EDGE.top - EDGE.bottom];
    return {
      w, h, low, high,
      x: (bytes) => EDGE.left + ((Math.log2(Math.max(1, bytes)) - SIZES[0]) / (SIZES[1] - SIZES[0])) * w,
      y: (ns) => EDGE.top + h - ((Math.log10(Math.max(1e-3, ns)) - low) / (high - low)) * h,
    };
  }

  function drawGrid(c, at) {
    const font = `12px ${colors.sans}`;
    const bottom = EDGE.top + at.h;
    for (let power = SIZES[0]; power <= SIZES[1]; power += 10) {
      c.fillStyle = colors.line;
      c.fillRect(at.x(2 ** power), EDGE.top, 1, at.h);
      text(c, units.bytes(2 ** power), at.x(2 ** power), bottom + 12, { font, color: colors.soft, align: power === SIZES[0] ? 'left' : power === SIZES[1] ? 'right' : 'center' });
    }
    for (let power = at.low; power <= at.high; power++) {
      c.fillStyle = colors.line;
      c.fillRect(EDGE.left, at.y(10 ** power), at.w, 1);
      if ((at.high - at.low < 6 || (power - at.low) % 2 === 0)) text(c, units.time(10 ** power), EDGE.left - 6, at.y(10 ** power), { font, color: colors.soft, align: 'right' });
    }
  }

  // The fare is a floor, the weight a wedge on it.
  function drawParts(c, at, now, scale) {
    inside(c, at, () => {
      const floor = at.y(now.latency);
      c.fillStyle = colors.well;
      c.fillRect(EDGE.left, floor, at.w, EDGE.top + at.h - floor);
      c.beginPath();
      c.moveTo(EDGE.left, floor);
      for (let x = 0; x <= at.w; x += 2) c.lineTo(EDGE.left + x, at.y(price(bytesAt(at, x), now).total));
      c.lineTo(EDGE.left + at.w, floor);
      c.fillStyle = tile(c, 'stripes', '', colors.wait, scale);
      c.globalAlpha = 0.3;
      c.fill();
      c.globalAlpha = 1;
    });
    const font = `600 12px ${colors.sans}`;
    const floor = at.y(now.latency);
    if (EDGE.top + at.h - floor > 18) label(c, 'fare', EDGE.left + 24, (floor + EDGE.top + at.h) / 2, font, colors.soft);
    const right = at.y(price(2 ** 28, now).total);
    if (floor - right > 30) label(c, 'weight', at.x(2 ** 27), Math.max(EDGE.top + 12, (floor + right) / 2 + 8), font, colors.wait);
  }

  const bytesAt = (at, x) => 2 ** (SIZES[0] + (x / at.w) * (SIZES[1] - SIZES[0]));

  function inside(c, at, draw) {
    c.save();
    c.beginPath();
    c.rect(EDGE.left, EDGE.top, at.w, at.h);
    c.clip();
    draw();
    c.restore();
  }

  function label(c, words, x, y, font, color) {
    c.font = font;
    const w = c.measureText(words).width + 8;
    c.fillStyle = colors.panel;
    rounded(c, { x: x - w / 2, y: y - 8, w, h: 16 }, 4);
    c.fill();
    text(c, words, x, y + 0.5, { font, color, align: 'center' });
  }

  function drawCurve(c, at, of, color, w, dash) {
    inside(c, at, () => {
      c.beginPath();
      for (let x = 0; x <= at.w; x += 2) c.lineTo(EDGE.left + x, at.y(price(bytesAt(at, x), of).total));
      c.setLineDash(dash);
      c.lineWidth = w;
      c.strokeStyle = color;
      c.stroke();
      c.setLineDash([]);
    });
  }

  // There: a disc; back: a diamond.
  function drawDot(c, at, { bytes, ns, dir }) {
    const [x, y, r] = [at.x(bytes), at.y(ns), 5];
    c.beginPath();
    if (dir === 'h2d') c.arc(x, y, r, 0, 7);
    else for (const [dx, dy] of [[0, -r - 2], [r + 2, 0], [0, r + 2], [-r - 2, 0]]) c.lineTo(x + dx, y + dy);
    c.closePath();
    if (dir === 'h2d') {
      c.fillStyle = colors.ink;
      c.fill();
    }
    c.lineWidth = 1.75;
    c.strokeStyle = colors.ink;
    c.stroke();
  }

  function drawChosen(c, at, now) {
    const [x, y] = [at.x(chosen()), at.y(price(chosen(), now).total)];
    c.fillStyle = colors.accent;
    c.fillRect(x - 0.5, y, 1, EDGE.top + at.h - y);
    c.beginPath();
    c.arc(x, y, 6.5, 0, 7);
    c.lineWidth = 2.5;
    c.strokeStyle = colors.accent;
    c.stroke();
    const words = units.time(Math.round(price(chosen(), now).total));
    label(c, words, Math.max(EDGE.left + 30, Math.min(width - 34, x)), Math.max(EDGE.top + 8, y - 18), `600 12px ${colors.sans}`, colors.accent);
    const half = at.x(even(now));
    if (half > EDGE.left && half < EDGE.left + at.w) {
      c.fillStyle = colors.soft;
      c.fillRect(half - 0.5, EDGE.top + at.h - 5, 1.5, 8);
    }
  }

  return {
    root,
    show,
    repaint() {
      colors = theme(getComputedStyle(document.body));
      paint();
    },
  };
}
