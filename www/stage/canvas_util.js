// canvas_util.js: shapes and text that all drawing files share. Knows nothing about tensors.

/** Pixels of the screen for each px of an element's canvas; more where style.css zooms it (runs/presenter.js). */
export const sharpness = (element) => Math.max(1, window.devicePixelRatio || 1) * (element.currentCSSZoom ?? 1);

export function rounded(c, { x, y, w, h }, r) {
  c.beginPath();
  c.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
}

/** Text at (x, y), cut with an ellipsis where it would be wider than `max`. Returns its width. */
export function text(c, words, x, y, { font, color, align = 'left', max = Infinity }) {
  c.font = font;
  c.fillStyle = color;
  c.textAlign = align;
  c.textBaseline = 'middle';
  const shown = fit(c, String(words), max);
  c.fillText(shown, x, y);
  return c.measureText(shown).width;
}

function fit(c, words, max) {
  if (max === Infinity || c.measureText(words).width <= max) return words;
  let n = words.length - 1;
  while (n > 0 && c.measureText(`${words.slice(0, n)}…`).width > max) n--;
  return n > 0 ? `${words.slice(0, n)}…` : '';
}

/** The first of several wordings, longest first, that is at most `max` wide; the last where none is. */
export function wording(c, all, font, max) {
  c.font = font;
  return all.find((one) => c.measureText(one).width <= max) ?? all.at(-1);
}

export const distance = (a, b) => Math.hypot(b[0] - a[0], b[1] - a[1]);

/** The point at fraction `t` (0..1) of a polyline's length. */
export function along(points, t) {
  const lengths = points.slice(1).map((p, i) => distance(points[i], p));
  let left = lengths.reduce((a, b) => a + b, 0) * t;
  for (let i = 0; i < lengths.length; i++) {
    if (left <= lengths[i] || i === lengths.length - 1) {
      const f = lengths[i] ? Math.min(1, left / lengths[i]) : 1;
      const [a, b] = [points[i], points[i + 1]];
      return { x: a[0] + (b[0] - a[0]) * f, y: a[1] + (b[1] - a[1]) * f, segment: i };
    }
    left -= lengths[i];
  }
  return { x: points[0][0], y: points[0][1], segment: 0 };
}

/** Strokes a polyline with rounded corners, up to fraction `t` of its length. */
export function path(c, points, t = 1) {
  const end = along(points, t);
  c.beginPath();
  c.moveTo(points[0][0], points[0][1]);
  for (let i = 1; i <= end.segment; i++) {
    const next = i === end.segment ? [end.x, end.y] : points[i + 1];
    const room = Math.min(distance(points[i - 1], points[i]), distance(points[i], next));
    c.arcTo(points[i][0], points[i][1], next[0], next[1], Math.min(14, room / 2));
  }
  c.lineTo(end.x, end.y);
  c.stroke();
}

export function arrow(c, from, to, size) {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  c.beginPath();
  c.moveTo(to[0], to[1]);
  for (const side of [-1, 1]) {
    c.lineTo(to[0] - size * Math.cos(angle + side * 0.45), to[1] - size * Math.sin(angle + side * 0.45));
  }
  c.closePath();
  c.fill();
}

/** Ease-in-out. */
export function ease(t) {
  const x = Math.min(1, Math.max(0, t));
  return x < 0.5 ? 4 * x * x * x : 1 - (-2 * x + 2) ** 3 / 2;
}

/** The fraction of the interval a..b that t has covered: 0 before it, 1 after it. */
export function part(t, a, b) {
  return Math.min(1, Math.max(0, (t - a) / (b - a)));
}

export const middle = (r) => [r.x + r.w / 2, r.y + r.h / 2];
