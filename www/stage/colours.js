// colours.js: a hue and a pattern for every tensor, and the colours of the theme.
//
// Six hues are Okabe and Ito's, which colour-blind people can tell apart; their yellow is too light on paper, and a darker one
// is their orange without red cones: the seventh lies far from the others for every eye (tests/page/sight_test.mjs).
// The pattern identifies the tensor without colour. A tensor and all its copies share both.

const HUES = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#7e5a6c'];
/** What is written now, in every tag that sees it. */
export const NOW = '#d55e00';
export const PATTERNS = ['solid', 'stripes', 'dots', 'bars', 'checks', 'waves', 'cross'];

/** The {hue, pattern} of the index-th tensor of a run. The 8th has the first hue and another pattern. */
export function tensorStyle(index) {
  const round = Math.floor(index / HUES.length);
  return { hue: HUES[index % HUES.length], pattern: PATTERNS[(index + round) % PATTERNS.length] };
}

/** The theme's colours and fonts, from the style sheet's custom properties. */
export function theme(style) {
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = [
    'paper', 'panel', 'well', 'line', 'ink', 'soft', 'faint', 'accent', 'cpu', 'gpu', 'bad', 'good', 'wait',
  ];
  const colors = Object.fromEntries(names.map((name) => [name, get(name)]));
  return { ...colors, sans: get('sans') || 'sans-serif', mono: get('mono') || 'monospace' };
}

const tiles = new Map();

/** A canvas pattern: `kind` drawn in `ink` over `hue`. Made once for each scale of the screen, for all canvases. */
export function tile(ctx, kind, hue, ink, scale) {
  if (ctx.tile) return ctx.tile(kind, hue, ink); // it draws no pixels (runs/svg_context.js)
  const key = `${kind} ${hue} ${ink} ${scale}`;
  if (!tiles.has(key)) {
    const pattern = ctx.createPattern(makeTile(kind, hue, ink, scale), 'repeat');
    pattern.setTransform(new DOMMatrix().scale(1 / scale));
    tiles.set(key, pattern);
  }
  return tiles.get(key);
}

function makeTile(kind, hue, ink, scale) {
  const size = 8;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = Math.round(size * scale);
  const c = canvas.getContext('2d');
  c.scale(canvas.width / size, canvas.width / size);
  drawTile(c, kind, hue, ink);
  return canvas;
}

/** A tile of 8 x 8. */
export function drawTile(c, kind, hue, ink) {
  if (hue) {
    c.fillStyle = hue;
    c.fillRect(0, 0, 8, 8);
  }
  c.fillStyle = c.strokeStyle = ink;
  c.lineWidth = 1.6;
  (drawings[kind] ?? drawings.solid)(c);
}

const stroke = (c, ...points) => {
  c.beginPath();
  points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
  c.stroke();
};

const drawings = {
  solid() {},
  stripes(c) {
    for (const x of [-8, 0, 8]) stroke(c, [x - 1, 9], [x + 9, -1]);
  },
  dots(c) {
    for (const [x, y] of [[2, 2], [6, 6]]) {
      c.beginPath();
      c.arc(x, y, 1.3, 0, 7);
      c.fill();
    }
  },
  bars(c) {
    stroke(c, [-1, 4], [9, 4]);
  },
  checks(c) {
    c.fillRect(0, 0, 4, 4);
    c.fillRect(4, 4, 4, 4);
  },
  waves(c) {
    stroke(c, [-1, 5], [2, 2], [6, 6], [9, 3]);
  },
  cross(c) {
    stroke(c, [4, -1], [4, 9]);
    stroke(c, [-1, 4], [9, 4]);
  },
  fine(c) {
    for (const x of [2, 6]) stroke(c, [x, -1], [x, 9]);
  },
  hatch(c) {
    c.lineWidth = 1;
    for (const x of [-8, 0, 8]) stroke(c, [x - 1, -1], [x + 9, 9]);
  },
};
