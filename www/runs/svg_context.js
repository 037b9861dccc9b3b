// svg_context.js: a drawing context that writes SVG in place of pixels, with as much of Canvas 2D as www/stage uses: what
// draws the page draws the picture, so that the two cannot differ. Text is measured by a real context.

const round = (n) => Number(n.toFixed(2));
const escape = (s) => String(s).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
const ANCHOR = { left: 'start', start: 'start', center: 'middle', right: 'end', end: 'end' };

/** ruler: a context that measures; drawTile(c, kind, hue, ink): draws a pattern's tile of 8 x 8. */
export function svgContext(ruler, drawTile) {
  const out = [];
  const defs = [];
  const tiles = new Map();
  const clips = new Map();
  const shifts = new Map();
  const stack = [];
  let d = [];
  let at = [0, 0];
  let begin = [0, 0];
  let state = {
    fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, globalAlpha: 1, font: '10px sans-serif', textAlign: 'left', textBaseline: 'alphabetic',
    lineJoin: 'miter', lineCap: 'butt', lineDashOffset: 0, dash: [], clip: '', m: [1, 0, 0, 1, 0, 0],
  };

  const move = (x, y) => { at = begin = [x, y]; d.push(`M${round(x)} ${round(y)}`); };
  const line = (x, y) => (d.length ? (at = [x, y], d.push(`L${round(x)} ${round(y)}`)) : move(x, y));
  const turnBy = (radius, x, y, large, sweep) => { at = [x, y]; d.push(`A${round(radius)} ${round(radius)} 0 ${large} ${sweep} ${round(x)} ${round(y)}`); };
  const close = () => { at = begin; d.push('Z'); };

  const paint = (style) => (typeof style === 'string' ? style : style?.svg ?? '#000');
  const where = () => [
    state.m.join() === '1,0,0,1,0,0' ? '' : ` transform="matrix(${state.m.map(round).join(' ')})"`,
    state.globalAlpha < 1 ? ` opacity="${round(state.globalAlpha)}"` : '',
  ].join('');
  const filled = () => ` fill="${escape(paint(state.fillStyle))}"`;
  const stroked = () => [
    ` fill="none" stroke="${escape(paint(state.strokeStyle))}" stroke-width="${round(state.lineWidth)}"`,
    state.dash.length ? ` stroke-dasharray="${state.dash.map(round).join(' ')}"` : '',
    state.dash.length && state.lineDashOffset ? ` stroke-dashoffset="${round(state.lineDashOffset)}"` : '',
    state.lineJoin !== 'miter' ? ` stroke-linejoin="${state.lineJoin}"` : '',
    state.lineCap !== 'butt' ? ` stroke-linecap="${state.lineCap}"` : '',
  ].join('');

  // A clip is a group around its element: its own transform is not that of what it clips.
  const put = (element) => out.push(state.clip ? `<g clip-path="url(#${state.clip})">${element}</g>` : element);
  const shape = (style) => d.length && put(`<path d="${d.join('')}"${style}${where()}/>`);
  const box = (x, y, w, h, style) => put(`<rect x="${round(w < 0 ? x + w : x)}" y="${round(h < 0 ? y + h : y)}" width="${round(Math.abs(w))}" height="${round(Math.abs(h))}"${style}${where()}/>`);

  function words(text, x, y, style) {
    const [, weight = '', size = '10', family = 'sans-serif'] = /^\s*(?:normal |italic )?(\d{3} |bold )?([\d.]+)px\s+(.*)$/.exec(state.font) ?? [];
    const width = c.measureText(text).width;
    if (!String(text).trim()) return;
    put([
      `<text x="${round(x)}" y="${round(y + shift())}" font-family="${escape(family.replaceAll('"', "'"))}" font-size="${size}"`,
      weight ? ` font-weight="${weight.trim()}"` : '', ` text-anchor="${ANCHOR[state.textAlign] ?? 'start'}"`,
      ` textLength="${round(width)}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"${style}${where()}>${escape(text)}</text>`,
    ].join(''));
  }

  // From the baseline that was asked for to the alphabetic one, the only one that all readers of SVG know.
  function shift() {
    if (state.textBaseline === 'alphabetic') return 0;
    const key = `${state.font} ${state.textBaseline}`;
    if (!shifts.has(key)) {
      const rise = (baseline) => {
        Object.assign(ruler, { font: state.font, textBaseline: baseline });
        return ruler.measureText('x').actualBoundingBoxAscent;
      };
      shifts.set(key, rise('alphabetic') - rise(state.textBaseline));
    }
    return shifts.get(key);
  }

  const multiply = ([a, b, e, f, x, y]) => {
    const [p, q, r, s, u, v] = state.m;
    state.m = [p * a + r * b, q * a + s * b, p * e + r * f, q * e + s * f, p * x + r * y + u, q * x + s * y + v];
  };

  function clip() {
    const key = `${d.join('')} ${state.m} ${state.clip}`;
    if (!clips.has(key)) {
      const id = `clip${clips.size}`;
      clips.set(key, id);
      const parent = state.clip ? ` clip-path="url(#${state.clip})"` : '';
      const transform = state.m.join() === '1,0,0,1,0,0' ? '' : ` transform="matrix(${state.m.map(round).join(' ')})"`;
      defs.push(`<clipPath id="${id}"${parent}><path d="${d.join('')}"${transform}/></clipPath>`);
    }
    state.clip = clips.get(key);
  }

  // The corner at (x1, y1) between the pen and (x2, y2), rounded.
  function arcTo(x1, y1, x2, y2, r) {
    const a = [at[0] - x1, at[1] - y1];
    const b = [x2 - x1, y2 - y1];
    const [la, lb] = [Math.hypot(...a), Math.hypot(...b)];
    const cross = a[0] * b[1] - a[1] * b[0];
    if (!r || !la || !lb || Math.abs(cross) < 1e-6 * la * lb) return line(x1, y1);
    const far = r / Math.tan(Math.acos(Math.max(-1, Math.min(1, (a[0] * b[0] + a[1] * b[1]) / (la * lb)))) / 2);
    line(x1 + (a[0] / la) * far, y1 + (a[1] / la) * far);
    return turnBy(r, x1 + (b[0] / lb) * far, y1 + (b[1] / lb) * far, 0, cross < 0 ? 1 : 0);
  }

  function arc(x, y, r, from, to, back = false) {
    const point = (angle) => [x + r * Math.cos(angle), y + r * Math.sin(angle)];
    const turn = 2 * Math.PI;
    const way = back ? from - to : to - from;
    const span = (way >= turn ? turn : ((way % turn) + turn) % turn) * (back ? -1 : 1);
    const half = from + span / 2;
    line(...point(from));
    turnBy(r, ...point(half), 0, back ? 0 : 1);
    turnBy(r, ...point(from + span), 0, back ? 0 : 1);
  }

  function rect(x, y, w, h) {
    move(x, y);
    line(x + w, y);
    line(x + w, y + h);
    line(x, y + h);
    close();
  }

  function roundRect(x, y, w, h, radius = 0) {
    const r = Math.max(0, Math.min(Array.isArray(radius) ? radius[0] : radius, w / 2, h / 2));
    if (!r) return rect(x, y, w, h);
    move(x + r, y);
    for (const [lx, ly, ax, ay] of [[x + w - r, y, x + w, y + r], [x + w, y + h - r, x + w - r, y + h], [x + r, y + h, x, y + h - r], [x, y + r, x + r, y]]) {
      line(lx, ly);
      turnBy(r, ax, ay, 0, 1);
    }
    return close();
  }

  const c = {
    save: () => stack.push({ ...state }),
    restore: () => { state = stack.pop() ?? state; },
    setTransform: (...m) => { state.m = m; },
    translate: (x, y) => multiply([1, 0, 0, 1, x, y]),
    scale: (x, y) => multiply([x, 0, 0, y, 0, 0]),
    rotate: (t) => multiply([Math.cos(t), Math.sin(t), -Math.sin(t), Math.cos(t), 0, 0]),
    beginPath: () => { d = []; },
    moveTo: move, lineTo: line, closePath: close, arc, arcTo, rect, roundRect, clip,
    fill: () => shape(filled()), stroke: () => shape(stroked()),
    fillRect: (x, y, w, h) => box(x, y, w, h, filled()),
    strokeRect: (x, y, w, h) => box(x, y, w, h, stroked()),
    clearRect() {}, // nothing is below
    fillText: (text, x, y) => words(text, x, y, filled()),
    strokeText: (text, x, y) => words(text, x, y, stroked()),
    measureText(text) {
      Object.assign(ruler, { font: state.font, textBaseline: state.textBaseline });
      return ruler.measureText(text);
    },
    setLineDash: (dash) => { state.dash = dash; },
    getLineDash: () => state.dash,
    /** A pattern, as colours.js makes them for pixels. */
    tile(kind, hue, ink) {
      const key = `${kind} ${hue} ${ink}`;
      if (!tiles.has(key)) {
        const inner = svgContext(ruler, drawTile);
        drawTile(inner, kind, hue, ink);
        tiles.set(key, { svg: `url(#tile${tiles.size})` });
        defs.push(`<pattern id="tile${tiles.size - 1}" width="8" height="8" patternUnits="userSpaceOnUse">${inner.inside()}</pattern>`);
      }
      return tiles.get(key);
    },
    inside: () => out.join('\n'),
    /** The whole picture; words: what a reader who does not see it is told. */
    svg: (w, h, label) => [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="img">`,
      `<title>${escape(label)}</title>`, `<defs>${defs.join('\n')}</defs>`, ...out, '</svg>', '',
    ].join('\n'),
  };
  for (const key of ['fillStyle', 'strokeStyle', 'lineWidth', 'globalAlpha', 'font', 'textAlign', 'textBaseline', 'lineJoin', 'lineCap', 'lineDashOffset']) {
    Object.defineProperty(c, key, { get: () => state[key], set: (value) => { state[key] = value; } });
  }
  return c;
}
