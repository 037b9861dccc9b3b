// axis.js: where a time stands on a time axis that leaves out what is no news. Pure.
//
// A long call that only takes memory (a card's first segment, page-locking) would fill most of the axis, once, and say
// nothing about the program: it is a break, as wide as a label. Elsewhere the axis is even: one unit is one ns. Both
// ways of the mapping are monotone, and each is the other's inverse.

import { firstIndex } from './search.js';

const LEAST = 0.04; // of the whole time: a shorter call is no reason for a break
const MOST = 5; // breaks for memory that is taken again and again: a program that does so says something by it
const CLOSE = 0.002; // of the whole time between two such calls, with nothing in it: they are one break
const WIDEST = 0.12; // of the axis that a break takes
const ALL = 0.3; // of the axis that all breaks take together

/**
 * The breaks of a run: [{from, until, seqs, once}]: its long calls that only take or return memory, where nothing else goes on;
 * those in a row are one. seqs: their events; once: it is the first memory of a card.
 */
export function breaksOf(lanes, total) {
  const every = lanes.rows().flatMap((row) => row.lanes);
  const others = every.filter((lane) => lane.kind !== 'thread' || lane.thread > 0);
  const isLong = (one) => one.until - one.from >= LEAST * total;
  const found = inARow(lanes.memoryCalls, every, CLOSE * total).filter(isLong).map((one) => quiet(one, others)).filter(isLong);
  const apart = found.sort((a, b) => a.from - b.from).filter((one, i, all) => !i || one.from >= all[i - 1].until);
  const first = apart.filter((one) => one.once);
  return first.length < apart.length - MOST ? first : apart;
}

// Calls that follow one another as one.
function inARow(calls, lanes, close) {
  const all = [];
  const cards = new Set(['cpu']); // that have memory
  for (const call of calls) {
    const last = all.at(-1);
    const once = !cards.has(call.device);
    cards.add(call.device);
    const one = { from: call.from, until: call.until, seqs: [call.seq], once };
    const gap = last ? one.from - last.until : Infinity;
    const isNext = gap >= 0 && gap <= close && !lanes.some((lane) => gap && lane.between(last.until, one.from).length);
    if (isNext) Object.assign(last, { until: one.until, seqs: [...last.seqs, call.seq], once: last.once || once });
    else all.push(one);
  }
  return all;
}

// The part of a call, after work that ends in it, up to work that begins in it.
function quiet(call, others) {
  const one = { ...call };
  for (const lane of others) {
    for (const slice of lane.between(call.from, call.until)) {
      if (slice.from <= one.from || slice.until < (call.from + call.until) / 2) one.from = Math.max(one.from, slice.until);
      else one.until = Math.min(one.until, slice.from);
    }
  }
  return one;
}

/**
 * The axis of the times 0..total: {units, parts, toUnits(t), toTime(u)}. parts: [{t0, t1, u0, u1, gap}], in order and
 * without holes; gap: the break, or null.
 */
export function axis(total, breaks) {
  const end = Math.max(1, total);
  const parts = [];
  const left = end - breaks.reduce((sum, one) => sum + one.until - one.from, 0);
  const share = Math.min(WIDEST, ALL / Math.max(1, breaks.length));
  const width = (share * Math.max(left, end / 100)) / (1 - share * breaks.length);
  let [t, u] = [0, 0];
  const part = (t1, size, gap) => {
    if (t1 <= t) return;
    parts.push({ t0: t, t1, u0: u, u1: u + size, gap });
    [t, u] = [t1, u + size];
  };
  for (const one of breaks) {
    part(one.from, one.from - t, null);
    part(one.until, Math.min(width, one.until - one.from), one);
  }
  part(end, end - t, null);
  const at = (key, value) => parts[Math.max(0, firstIndex(parts.length, (i) => parts[i][key] > value) - 1)];
  const toUnits = (time) => {
    const { t0, t1, u0, u1 } = at('t0', time);
    return u0 + ((time - t0) / (t1 - t0)) * (u1 - u0);
  };
  const toTime = (unit) => {
    const { t0, t1, u0, u1 } = at('u0', unit);
    return t0 + ((unit - u0) / (u1 - u0)) * (t1 - t0);
  };
  return { units: u, parts, toUnits, toTime };
}

/** Round times to write under the axis between the units u0 and u1, at least `room` units apart: {step, times}. */
export function ticks({ parts }, u0, u1, room) {
  const step = roundUp(room);
  const times = [];
  for (const { t0, t1, u0: from, u1: to, gap } of parts) {
    if (gap || to < u0 || from > u1) continue;
    const last = Math.min(t1, t0 + u1 - from);
    for (let t = Math.ceil(Math.max(t0, t0 + u0 - from) / step) * step; t <= last; t += step) times.push(t);
  }
  return { step, times };
}

/** The next of 1, 2, 5, 10, 20 ... */
function roundUp(x) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, x)));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= x) ?? 10 * power;
}

/** A time on the axis, with as many digits as the step between two needs: "1,560 µs". */
export function tickWords(t, step) {
  const [unit, ns] = step >= 1e8 ? ['s', 1e9] : step >= 1e5 ? ['ms', 1e6] : step >= 100 ? ['µs', 1e3] : ['ns', 1];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / ns) - 1e-9));
  formats[digits] ??= new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${formats[digits].format(t / ns)} ${unit}`;
}

const formats = []; // by digits: making one takes longer than using it

const SHORTEST = 8; // units that are shown at least: no further zoom

/** The part [from, to] of 0..units that a zoom by `factor` about the unit `at` shows; factor 2: half as much. */
export function zoomed([from, to], factor, at, units) {
  const size = Math.max(SHORTEST, Math.min(units, (to - from) / factor));
  return within(at - ((at - from) / (to - from)) * size, size, units);
}

/** The part that lies `by` units further right. */
export const panned = ([from, to], by, units) => within(from + by, to - from, units);

/** The part where the two units u lie at the fractions `at` of what is seen: what is under two fingers stays there. */
export function pinched(u, at, units) {
  const [[u0, u1], [p0, p1]] = at[0] <= at[1] ? [u, at] : [u.toReversed(), at.toReversed()];
  const size = Math.max(SHORTEST, Math.min(units, Math.max(0, u1 - u0) / Math.max(1e-3, p1 - p0)));
  return within((u0 + u1) / 2 - ((p0 + p1) / 2) * size, size, units);
}

function within(from, size, units) {
  const start = Math.max(0, Math.min(units - size, from));
  return [start, Math.min(units, start + size)];
}
