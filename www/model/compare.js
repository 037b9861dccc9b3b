// compare.js: two runs beside each other: which steps of one are those of the other, what is different, and by how much. Pure.
//
// A run that what-if changed keeps the seq of each event, so its steps are known. Those of another run are found by the text
// of their lines: as many as possible in the same order. In long runs, where that would take too long, the k-th time that a
// line is reached in one is the k-th time in the other.

import { int, object, text } from './fields.js';
import { instant } from './instant.js';
import * as units from './units.js';

// ---- which step is which --------------------------------------------------------------------------

/** [[i, j], ...]: step i of run a is step j of run b; both rise. bySeq: b is a, changed. */
export function stepPairs(a, b, bySeq) {
  if (bySeq) return rising(sameSeq(a, b));
  const [x, y] = [keysOf(a), keysOf(b)];
  return x.length * y.length <= MOST ? common(x, y) : rising(inTurn(x, y));
}

function sameSeq(a, b) {
  const found = [];
  a.steps.forEach((step, i) => {
    const j = b.stepOf(step.from);
    if (b.steps[j] && b.steps[j].from <= step.to && b.steps[j].to >= step.from) found.push([i, j]);
  });
  return found;
}

const MOST = 4e6; // pairs of steps of which all are looked at

// The longest common subsequence of two lists of keys; '' is like nothing.
function common(x, y) {
  const width = y.length + 1;
  const best = new Uint32Array((x.length + 1) * width); // best[i][j]: of what begins at i and j
  const same = (i, j) => x[i] && x[i] === y[j];
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      const at = i * width + j;
      best[at] = same(i, j) ? best[at + width + 1] + 1 : Math.max(best[at + width], best[at + 1]);
    }
  }
  const found = [];
  for (let i = 0, j = 0; i < x.length && j < y.length;) {
    const at = i * width + j;
    if (same(i, j)) found.push([i++, j++]);
    else if (best[at + width] >= best[at + 1]) i++;
    else j++;
  }
  return found;
}

function inTurn(x, y) {
  const places = new Map(); // key -> {steps of b, how many of them are taken}
  y.forEach((key, j) => key && (places.get(key) ?? places.set(key, { steps: [], taken: 0 }).get(key)).steps.push(j));
  const next = (at) => at?.steps[at.taken++];
  return x.map((key, i) => [i, key ? next(places.get(key)) : undefined]).filter(([, j]) => j !== undefined);
}

// Of each step: the text of its line and what it does, or '' where it has no line.
function keysOf(run) {
  const sources = run.at(run.events.length - 1).sources;
  const split = new Map([...sources].map(([path, words]) => [path, words.split('\n')]));
  return run.steps.map(({ file, line, kind }) => {
    if (!line) return '';
    const words = split.get(file)?.[line - 1]?.trim();
    return `${kind} ${words || `${units.baseName(file)}:${line}`}`;
  });
}

/** The longest list of pairs in which both numbers rise. */
function rising(pairs) {
  const last = []; // last[n]: index of the pair that ends the best list of n + 1
  const before = pairs.map(() => -1);
  pairs.forEach(([, j], k) => {
    let low = 0;
    for (let high = last.length; low < high;) {
      const middle = (low + high) >> 1;
      if (pairs[last[middle]][1] < j) low = middle + 1;
      else high = middle;
    }
    before[k] = low ? last[low - 1] : -1;
    last[low] = k;
  });
  const found = [];
  for (let k = last.at(-1) ?? -1; k >= 0; k = before[k]) found.push(pairs[k]);
  return found.reverse();
}

// ---- what is different ----------------------------------------------------------------------------

const LEAST = 0.01; // of its time, by which work takes more or less, to be told

/**
 * What is different in the steps: {a: Map, b: Map}: seq of a copy, an op or a wait -> {what, ns}. what: 'gone' (only in a), 'new'
 * (only in b), 'less' or 'more' (in both; ns: how much longer it takes in b).
 */
export function changes(a, b, pairs) {
  const found = { a: new Map(), b: new Map() };
  const [withA, withB] = [new Map(pairs), new Map(pairs.map(([i, j]) => [j, i]))];
  a.steps.forEach((step, i) => {
    const other = withA.has(i) ? workIn(b, b.steps[withA.get(i)]) : [];
    const own = workIn(a, step);
    const take = (at) => (at < 0 ? undefined : other.splice(at, 1)[0]);
    const twins = new Map(own.map((one) => [one, take(other.findIndex(({ seq, key }) => seq === one.seq && key === one.key))])); // of a run that was changed
    for (const one of own) {
      const twin = twins.get(one) ?? take(other.findIndex(({ key }) => key === one.key));
      if (!twin) found.a.set(one.seq, { what: 'gone', ns: -one.ns });
      else if (Math.abs(twin.ns - one.ns) > LEAST * Math.max(one.ns, twin.ns)) {
        const change = { what: twin.ns < one.ns ? 'less' : 'more', ns: twin.ns - one.ns };
        found.a.set(one.seq, change);
        found.b.set(twin.seq, change);
      }
    }
    for (const one of other) found.b.set(one.seq, { what: 'new', ns: one.ns });
  });
  b.steps.forEach((step, j) => {
    if (!withB.has(j)) for (const one of workIn(b, step)) found.b.set(one.seq, { what: 'new', ns: one.ns });
  });
  return found;
}

// The copies, ops and waits of a step, each with its time: of work that has ended its own, else for how long it held the host.
function workIn(run, { from, to }) {
  const took = new Map(run.timeline.worksIssued(from, to).map((w) => [w.seq, w.complete ? w.end - w.start : 0]));
  const found = [];
  for (let seq = from; seq <= to; seq++) {
    const e = object(run.events[seq]);
    if (e.kind === 'copy') found.push({ seq, key: `copy ${text(e.dir)}`, ns: took.get(seq) || int(e.held) });
    if (e.kind === 'op') found.push({ seq, key: `op ${text(e.name)}`, ns: took.get(seq) || int(e.held) });
    if (e.kind === 'sync' && e.scope !== 'copy') found.push({ seq, key: `sync ${text(e.scope)}`, ns: int(e.held) });
  }
  return found;
}

// ---- ledgers --------------------------------------------------------------------------------------

/** What a whole run cost: {total, held, copies, bytes, wire, there, back, ops}. */
export function totalsOf(run) {
  const { cost } = instant(run, run.total);
  const { h2d, d2h } = cost;
  return {
    total: run.total, held: cost.held, copies: h2d.copies + d2h.copies, bytes: h2d.bytes + d2h.bytes, wire: h2d.wire + d2h.wire,
    there: h2d.copies, back: d2h.copies, ops: cost.cpu + cost.gpu,
  };
}

const time = (ns) => units.time(Math.round(Math.abs(ns)));
const by = (n, words, fewer, more) => (n ? `${words(Math.abs(n))} ${n < 0 ? fewer : more}` : 'the same');
const count = (n) => units.number(n);

/** Two ledgers subtracted: rows [{name, a, b, difference, better}]; better: -1, 0 or 1. */
export function ledgerRows(a, b) {
  const row = (name, key, words, fewer, more) => ({
    name, a: words(a[key]), b: words(b[key]), difference: by(Math.round(b[key] - a[key]), words, fewer, more), better: Math.sign(Math.round(a[key] - b[key])),
  });
  return [
    row('Total time', 'total', time, 'less', 'more'),
    row('Time in calls', 'held', time, 'less', 'more'),
    row('Copies to the GPU', 'there', count, 'fewer', 'more'),
    row('Copies back to the CPU', 'back', count, 'fewer', 'more'),
    row('Bytes over the bus', 'bytes', units.bytes, 'less', 'more'),
    row('Time on the bus', 'wire', time, 'less', 'more'),
    { ...row('Operations', 'ops', count, 'fewer', 'more'), better: 0 },
  ];
}

/** "2 copies fewer, 8 MiB less, 170 µs sooner" */
export function summary(a, b) {
  const [copies, bytes, total] = ['copies', 'bytes', 'total'].map((key) => Math.round(b[key] - a[key]));
  const parts = [
    copies && by(copies, (n) => units.plural(n, 'copy', 'copies'), 'fewer', 'more'),
    bytes && by(bytes, units.bytes, 'less', 'more'),
    total && by(total, time, 'sooner', 'later'),
  ].filter(Boolean);
  return parts.join(', ') || 'Copies, bytes and total time are the same';
}

// ---- line by line ---------------------------------------------------------------------------------

const NOTHING = { bytes: 0, held: 0, copies: 0, taking: 0 };

/**
 * The lines whose cost is different, the most first: [{a, b, seqA, seqB, words, source}]: a, b: line numbers, or 0; seqA, seqB: of
 * the first step of the line in each, or -1.
 */
export function lineRows(a, b, pairs) {
  const [costA, costB] = [a, b].map((run) => run.at(run.events.length - 1).lines);
  const [stepA, stepB] = [a, b].map(firstSteps);
  const twin = new Map(); // place in a -> in b
  for (const [i, j] of pairs) if (a.steps[i].line && !twin.has(placeOf(a.steps[i]))) twin.set(placeOf(a.steps[i]), placeOf(b.steps[j]));
  const taken = new Set(twin.values());
  const places = [...[...costA.keys()].map((p) => [p, twin.get(p)]), ...[...costB.keys()].filter((p) => !taken.has(p)).map((p) => [undefined, p])];
  const rows = places.map(([p, q]) => {
    const [x, y] = [costA.get(p) ?? NOTHING, costB.get(q) ?? NOTHING];
    const d = { held: y.held + y.taking - x.held - x.taking, copies: y.copies - x.copies, bytes: y.bytes - x.bytes };
    return { a: lineIn(p), b: lineIn(q), seqA: stepA.get(p) ?? -1, seqB: stepB.get(q) ?? -1, source: sourceOf(b, q) || sourceOf(a, p), ...d, words: lineWords(d) };
  });
  return rows.filter((row) => row.words).sort((x, y) => Math.abs(y.held) - Math.abs(x.held) || Math.abs(y.bytes) - Math.abs(x.bytes));
}

const placeOf = ({ file, line }) => `${file}:${line}`;
const lineIn = (place) => Number(/:(\d+)$/.exec(place ?? '')?.[1] ?? 0);

function firstSteps(run) {
  const first = new Map();
  for (const step of run.steps) if (step.line && !first.has(placeOf(step))) first.set(placeOf(step), step.from);
  return first;
}

function sourceOf(run, place) {
  const line = lineIn(place);
  const path = line ? place.slice(0, place.lastIndexOf(':')) : '';
  return run.at(run.events.length - 1).sources.get(path)?.split('\n')[line - 1]?.trim() ?? '';
}

function lineWords({ held, copies, bytes }) {
  return [
    held && by(held, time, 'less', 'more'),
    copies && by(copies, (n) => units.plural(n, 'copy', 'copies'), 'fewer', 'more'),
    bytes && by(bytes, units.bytes, 'less', 'more'),
  ].filter(Boolean).join(', ');
}
