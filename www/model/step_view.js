// step_view.js: which part of the axis shows a step. A run is shown whole as long as the step can be seen there; a shorter one
// is shown with its neighbours, and the steps after it in the same part for as long as they can be seen in it: the picture
// moves seldom, and says where it is. Pure.

const SEEN = 24; // px: what is narrower cannot be read
const SHARE = 0.2; // of the part, for the longest slice of the step that it was chosen for
const MOST = 0.75; // of the part, for all of a step
const EDGE = 0.03; // of the part, between a step and its end
const SHORTEST = 8; // units

/**
 * A step: {from, to, main}, in units of the axis: where its slices begin and end, a call and the work that it gave to a card, which
 * may run much later; main: the longest of them.
 */
export const extent = (slices, toUnits) => {
  const ends = slices.filter((one) => one.until < Infinity).map((one) => [toUnits(one.from), toUnits(one.until)]);
  if (!ends.length) return null;
  const all = ends.flat();
  return { from: Math.min(...all), to: Math.max(...all), main: Math.max(...ends.map(([from, to]) => to - from)) };
};

/** The part of 0..units in which a step stands among its neighbours; null: all of it. */
export function fitted({ from, to, main }, units) {
  const size = Math.max(SHORTEST, main / SHARE, (to - from) / MOST);
  if (size >= units) return null;
  const start = Math.max(0, Math.min(units - size, (from + to) / 2 - size * 0.47));
  return [start, start + size];
}

/** Is the step too narrow to be read in this part, although it could be wider? */
export function isTiny(view, step, units, px) {
  const size = view ? view[1] - view[0] : units;
  return (step.main / size) * px < SEEN && step.to - step.from < 0.8 * MOST * size;
}

/** The part that shows a step, where so far `view` was shown, null: all of it; on an axis of `units`, `px` wide. */
export function followed(view, step, units, px) {
  const size = view ? view[1] - view[0] : units;
  const fits = step.to - step.from <= (1 - 2 * EDGE) * size && step.main <= MOST * size;
  if (view && fits && !isTiny(view, step, units, px)) return near(view, step, units);
  return isTiny(null, step, units, px) ? fitted(step, units) : null;
}

// The same part, or one as large further on, with room to go on.
function near(view, { from, to }, units) {
  const size = view[1] - view[0];
  if (from >= view[0] + EDGE * size && to <= view[1] - EDGE * size) return view;
  const start = Math.max(0, Math.min(units - size, from - Math.min(0.15 * size, (size - to + from) / 2)));
  return [start, start + size];
}
