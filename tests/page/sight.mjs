// sight.mjs: how far apart two colours are for the eye, also for one that lacks a kind of cone; and contrast.
//
// The matrices are those of severity 1.0 of G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A Physiologically-based
// Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009, for linear RGB; those that Chromium's
// emulation has, too. Distance: CIEDE2000 (Sharma, Wu, Dalal 2005). Contrast: WCAG 2.

export const EYES = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** "#rrggbb" as linear RGB, 0 to 1. */
export const linear = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));

const times = (matrix, v) => matrix.map((row) => row.reduce((sum, x, i) => sum + x * v[i], 0));

/** How an eye sees a colour: linear RGB. */
export const seen = (eye, hex) => times(EYES[eye], linear(hex)).map((v) => Math.min(1, Math.max(0, v)));

const XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]];
const WHITE = [0.95047, 1, 1.08883];

function lab(rgb) {
  const [x, y, z] = times(XYZ, rgb).map((v, i) => v / WHITE[i]).map((v) => (v > (6 / 29) ** 3 ? Math.cbrt(v) : v / (3 * (6 / 29) ** 2) + 4 / 29));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const turn = (degrees) => ((degrees % 360) + 360) % 360;
const cos = (degrees) => Math.cos((degrees * Math.PI) / 180);
const sin = (degrees) => Math.sin((degrees * Math.PI) / 180);

/** CIEDE2000 of two colours in L*a*b*; about 1: just another colour. */
export function distance([l1, a1, b1], [l2, a2, b2]) {
  const seventh = ((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2) ** 7;
  const g = 1 + 0.5 * (1 - Math.sqrt(seventh / (seventh + 25 ** 7)));
  const [c1, c2] = [Math.hypot(g * a1, b1), Math.hypot(g * a2, b2)];
  const hue = (a, b) => (a || b ? turn((Math.atan2(b, a * g) * 180) / Math.PI) : 0);
  const [h1, h2] = [hue(a1, b1), hue(a2, b2)];
  const apart = c1 * c2 ? turn(h2 - h1 + 180) - 180 : 0;
  const h = !(c1 * c2) ? h1 + h2 : turn(Math.abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : (h1 + h2 + 360) / 2);
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const t = 1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6) - 0.2 * cos(4 * h - 63);
  const dl = (l2 - l1) / (1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2));
  const dc = (c2 - c1) / (1 + 0.045 * c);
  const dh = (2 * Math.sqrt(c1 * c2) * sin(apart / 2)) / (1 + 0.015 * c * t);
  const rotation = -sin(60 * Math.exp(-(((h - 275) / 25) ** 2))) * 2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  return Math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rotation * dc * dh);
}

/** How far apart two colours are for an eye. */
export const apart = (eye, a, b) => distance(lab(seen(eye, a)), lab(seen(eye, b)));

const light = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

/** WCAG's contrast of two colours, for an eye. */
export function contrast(a, b, eye = 'normal') {
  const [dark, bright] = [light(seen(eye, a)), light(seen(eye, b))].sort((x, y) => x - y);
  return (bright + 0.05) / (dark + 0.05);
}
