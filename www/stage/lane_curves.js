// lane_curves.js: what the program logged, such as its loss, under memory over time: a curve for each name, on the lanes' axis.

import * as units from '../model/units.js';
import { text, wording } from './canvas_util.js';

export const CURVE = 34; // px of one
export const CURVES = 2; // that are drawn: of more, the first ones
const EDGE = 5; // px above and below the curve
const FREE = 26; // px between points from which each has a dot

/** Draws the curves at plan.curves [{y, h}, ...]. */
export function drawCurves(c, scene) {
  scene.plan.curves.forEach((place, i) => drawCurve(c, scene, scene.curves[i], place, axisOf(scene)));
}

// On the lanes' axis, so that the curve stands under what was done; where they show a part of the run, on one of its own: the
// whole run, for a part of a curve tells nothing.
function axisOf({ plan: { track }, course, view: [u0, u1] }) {
  const part = u0 > 0 || u1 < course.units;
  const units = part ? course.units : u1 - u0;
  const px = (u) => track.x + ((u - (part ? 0 : u0)) / units) * track.w;
  return { x: (t) => px(course.toUnits(t)), part: part && { from: px(u0), to: px(u1) } };
}

// A number that is not finite leaves a gap in the line, and a mark at the upper edge.
function drawCurve(c, { theme: th, t, plan: { track, width } }, curve, place, at) {
  const y = heightOf(curve, place);
  c.fillStyle = th.paper;
  c.fillRect(track.x, place.y, track.w, place.h);
  c.fillStyle = th.line;
  c.fillRect(0, place.y - 0.5, width, 1);
  if (at.part) c.fillRect(at.part.from, place.y, Math.max(2, at.part.to - at.part.from), place.h); // what the lanes show
  c.strokeStyle = th.ink;
  c.lineWidth = 1.5;
  c.lineJoin = 'round';
  c.beginPath();
  let before = null;
  for (const point of curve.points) {
    const x = at.x(point.t);
    const known = Number.isFinite(point.value);
    if (known && before) c.lineTo(x, y(point.value));
    else if (known) c.moveTo(x, y(point.value));
    before = known ? point : null;
    if (x > track.x + track.w && before) break;
  }
  c.stroke();
  const spaced = curve.points.length < 2 || at.x(curve.points.at(-1).t) - at.x(curve.points[0].t) > FREE * (curve.points.length - 1) * 0.3;
  for (const point of curve.points) drawPoint(c, th, at.x(point.t), Number.isFinite(point.value) ? y(point.value) : null, place, spaced);
  drawScale(c, th, curve, track, place, at.part);
  drawNow(c, th, curve.points[curve.at(t)], at.x(t), track, place, (point) => ({ x: at.x(point.t), y: y(point.value) }));
}

// Its highest and lowest number; and that it is the whole run, where the lanes show a part.
function drawScale(c, th, { low, high }, track, { y, h }, part) {
  const style = { font: `11px ${th.sans}`, color: th.soft, align: 'right' };
  const right = track.x + track.w - 4;
  if (part) text(c, 'the whole run', track.x + 4, y + h - 8, { ...style, align: 'left' });
  if (!(high > low)) return;
  text(c, `≤ ${units.value(high)}`, right, y + 8, style);
  text(c, `≥ ${units.value(low)}`, right, y + h - 8, style);
}

// What is still to come is paler; the number now is a dot.
function drawNow(c, th, point, x, track, place, at) {
  c.globalAlpha = 0.6;
  c.fillStyle = th.paper;
  c.fillRect(x, place.y, Math.max(0, track.x + track.w - x), place.h);
  c.globalAlpha = 1;
  c.fillStyle = th.accent;
  c.fillRect(x - 0.75, place.y, 1.5, place.h);
  if (!point || !Number.isFinite(point.value)) return;
  c.beginPath();
  c.arc(at(point).x, at(point).y, 4, 0, 2 * Math.PI);
  c.fill();
}

function drawPoint(c, th, x, y, place, spaced) {
  if (y === null) {
    c.strokeStyle = th.error ?? th.ink;
    c.beginPath();
    c.moveTo(x - 3, place.y + 3);
    c.lineTo(x + 3, place.y + 9);
    c.moveTo(x + 3, place.y + 3);
    c.lineTo(x - 3, place.y + 9);
    c.stroke();
  } else if (spaced) {
    c.fillStyle = th.ink;
    c.beginPath();
    c.arc(x, y, 2.2, 0, 2 * Math.PI);
    c.fill();
  }
}

function heightOf({ low, high }, { y, h }) {
  const span = high - low;
  return (value) => (span > 0 ? y + EDGE + ((high - value) / span) * (h - 2 * EDGE) : y + h / 2);
}

/** Left of each curve: its name, and its number now. */
export function drawCurveNames(c, { plan, curves, theme: th, t }) {
  plan.curves.forEach((place, i) => {
    const curve = curves[i];
    const point = curve.points[curve.at(t)];
    const now = point ? units.value(point.value) : '';
    const y = place.y + place.h / 2;
    const name = { font: `600 12px ${th.sans}`, color: th.ink };
    const room = plan.track.x - 4;
    c.font = name.font;
    if (plan.narrow) {
      text(c, wording(c, [`${curve.name} ${now}`, now || curve.name], name.font, room), 0, y, { ...name, max: room });
      return;
    }
    const width = Math.min(c.measureText(curve.name).width, room - 56);
    text(c, curve.name, 0, y, { ...name, max: width + 1 });
    text(c, now, width + 8, y, { font: `12px ${th.sans}`, color: th.soft, max: room - width - 8 });
  });
}

/** What was logged until time t, as lines of a tooltip. */
export function curveWords(curve, t) {
  const i = curve.at(t);
  const many = units.plural(curve.points.length, 'number');
  if (i < 0) return [`${curve.name}: nothing logged yet; ${many} in all`];
  const { value, t: when } = curve.points[i];
  return [
    `${curve.name} is ${units.value(value)}, logged at ${units.time(Math.round(when))}: the ${units.ordinal(i + 1)} of ${many}`,
    curve.high > curve.low && `highest ${units.value(curve.high)}, lowest ${units.value(curve.low)}`,
  ].filter(Boolean);
}
