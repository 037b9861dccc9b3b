// steps.js: groups events into steps. An allocation, its handle and the first values are one step; so are a copy and
// its completion. A view is a step, and so is a write into what was there before, though neither allocates: each line
// that does something is seen doing it. Pure.

import { firstIndex } from './search.js';

// How long a step is shown at speed 1, in ms, including the pause at its end (clock.js).
const TIMES = {
  copy: 2000, op: 1600, sync: 800, error: 1500, grade: 900, alloc: 560, tensor: 560, host_read: 700, answer: 800,
  session: 250, mark: 900, drop: 650, free: 650, check: 900, end: 900,
};

export function duration(step) {
  return TIMES[step.kind] ?? 500;
}

/** An empty list of steps; `add` events one by one. A step is {from, to, kind, line, storages}. */
export function steps() {
  const all = [];

  function add(e, seq) {
    const last = all.at(-1);
    if (last && joins(last, e)) extend(last, e, seq);
    else all.push(extend({ from: seq, to: seq, kind: kindOf(e), file: '', line: 0, storages: new Set() }, e, seq));
  }

  /** The step that shows event seq. */
  function of(seq) {
    return Math.max(0, Math.min(all.length - 1, firstIndex(all.length, (i) => all[i].to >= seq)));
  }

  return { all, add, of };
}

const kindOf = (e) => (e && typeof e.kind === 'string' ? e.kind : '');
const leaving = new Set(['drop', 'free']);
const births = new Set(['tensor', 'host_write', 'given']);
const always = new Set(['source', 'complete', 'values', 'name']);

function joins(step, e) {
  const kind = kindOf(e);
  if (always.has(kind)) return true;
  if (kind === 'lost') return step.kind === 'lost';
  if (kind === 'check' || kind === 'grade') return step.kind === 'check'; // one verdict
  if (leaving.has(kind)) return leaving.has(step.kind) && (!e.line || e.line === step.line);
  if (leaving.has(step.kind)) return false;
  if (births.has(kind)) return step.kind === 'alloc' && step.storages.has(e.storage) && !e.view_of && isSameLine(step, e);
  if (kind === 'host_read') return step.kind === 'answer';
  if (kind === 'sync') return e.cause >= step.from && e.cause <= step.to; // the wait that is part of a copy
  if (kind === 'op') return isBirth(step, e);
  return false;
}

const isSameLine = (step, e) => !(e.line > 0) || !step.line || (e.line === step.line && e.file === step.file);

// randn and the like: an op without operands that fills what was just allocated.
function isBirth(step, e) {
  const out = Array.isArray(e.out) ? e.out[0] : null;
  return !e.in?.length && !e.inplace && step.kind === 'alloc' && step.storages.has(out?.storage);
}

function extend(step, e, seq) {
  step.to = seq;
  if (e && Number.isFinite(e.line) && e.line > 0 && !step.line) {
    step.line = e.line;
    step.file = typeof e.file === 'string' ? e.file : '';
  }
  if (kindOf(e) === 'alloc' || kindOf(e) === 'tensor') step.storages.add(e.storage);
  return step;
}
