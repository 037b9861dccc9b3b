// curves.js: the numbers that a program logs under a name, such as its loss, over the run's time. Pure; reads a run as far as it
// has arrived, and each event once.

import { text } from './fields.js';
import { perRun } from './per_run.js';
import { firstIndex } from './search.js';

/** The curves of a run, in the order of their first number: [{name, points: [{t, value, seq}, ...], low, high, at(t)}, ...]. */
export const curvesOf = (run) => known(run).all;

const known = perRun((run) => {
  const all = [];
  return {
    all,
    add(e, seq) {
      if (e.kind !== 'scalar') return;
      const name = text(e.name);
      let curve = all.find((one) => one.name === name);
      if (!curve) all.push(curve = made(name));
      curve.push({ t: run.timeline.timeOf(seq), value: typeof e.value === 'number' ? e.value : NaN, seq });
    },
  };
});

function made(name) {
  const points = [];
  const curve = {
    name, points, low: Infinity, high: -Infinity,
    push(point) {
      points.push(point);
      if (!Number.isFinite(point.value)) return; // NaN and infinity have no height
      curve.low = Math.min(curve.low, point.value);
      curve.high = Math.max(curve.high, point.value);
    },
    /** Index of the last point until t; -1: none yet. */
    at: (t) => firstIndex(points.length, (i) => points[i].t > t) - 1,
  };
  return curve;
}
