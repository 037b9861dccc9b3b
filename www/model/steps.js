// steps.js: groups events into steps, and steps into parts, by the rule in www/README.md: a step is what the program called, a part
// what the library did for it in one piece. Pure.

import { int, text } from './fields.js';
import { firstIndex } from './search.js';

// How long a part is shown at speed 1, in ms, including the pause at its end (clock.js).
const TIMES = {
  copy: 2000, op: 1600, sync: 800, error: 1500, grade: 900, alloc: 560, tensor: 560, host_read: 700, answer: 800,
  session: 250, mark: 900, backward: 700, gradient: 900, drop: 650, free: 650, check: 900, end: 900,
};

const KERNEL = 300; // ms for each further kernel of a call,
const KERNELS = 8; // of so many at most

/** What is allocated for a copy or an op is seen before it is filled. */
export function duration(part) {
  const time = (TIMES[part.kind] ?? 500) + KERNEL * Math.min(KERNELS, Math.max(0, (part.kernels ?? 1) - 1));
  return part.storage && (part.kind === 'copy' || part.kind === 'op') ? time + TIMES.alloc : time;
}

/**
 * An empty list of steps; `add` events one by one, each with its call (call_record.js). A step: {from, to, kind, file, line,
 * storage, kernels, call, step: its number, parts: [first, last]}: kind is that of its main event, storage what it allocates before it is
 * filled, else 0, kernels how many ops, call what the program called, or null. A part likewise, with the number of
 * its step, and without parts.
 */
export function steps() {
  const all = [];
  const parts = [];
  let results = 0; // logged since: they came when the next call waited for the card
  let [step, part] = [null, null]; // the newest,
  let [owner, key, th] = [null, null, 0]; // and what they belong to

  function add(e, seq, call) {
    const kind = kindOf(e);
    if (step && kind === 'values' && e.work > 0) {
      results++;
      return;
    }
    const joins = step !== null && ((!kind && !call) || LATER.has(kind) || goesOn(step, kind));
    if (!joins) {
      const [itsOwner, itsKey, itsTh] = [call?.owner ?? null, kind === 'data_race' ? e : call?.part ?? null, int(e?.th)];
      const begins = step === null || itsOwner !== owner || itsTh !== th || ALONE.has(kind) || ALONE.has(step.kind);
      if (begins) all.push(step = begun(kind, seq - results, itsOwner, all.length, [parts.length, parts.length]));
      if (begins || itsKey !== key) {
        step.parts[1] = parts.length;
        parts.push(part = begun(kind, seq - results, call?.part ?? null, all.length - 1, null));
      }
      [owner, key, th] = [itsOwner, itsKey, itsTh];
    }
    results = 0;
    extend(step, e, seq, kind);
    extend(part, e, seq, kind);
  }

  return { all, parts, add, of: (seq) => holding(all, seq), partOf: (seq) => holding(parts, seq) };
}

// The one of a list that holds event seq.
const holding = (list, seq) => Math.max(0, Math.min(list.length - 1, firstIndex(list.length, (i) => list[i].to >= seq)));

const kindOf = (e) => (e && typeof e.kind === 'string' ? e.kind : '');

const begun = (kind, seq, call, step, parts) => ({ from: seq, to: seq, kind, file: call?.file ?? '', line: call?.line ?? 0, storage: 0, kernels: 0, call, step, parts });

const LATER = new Set(['complete', 'values', 'source', 'name']); // they come later than their call, or tell nothing of their own
const ALONE = new Set(['session', 'check', 'grade', 'end', 'lost', 'log_full']); // no call causes them

function goesOn(step, kind) {
  if (kind === 'end') return step.kind === 'error'; // what stopped the program is its last step
  if (kind === 'check' || kind === 'grade') return step.kind === 'check'; // one verdict
  return kind === 'lost' && step.kind === 'lost';
}

function extend(one, e, seq, kind) {
  one.to = seq;
  one.kind ||= kind; // of a changed run an event may be left out
  if (LATER.has(kind)) return;
  const isNode = kind === 'graph' && e.what === 'run' && !one.parts; // a part, where the call is that it goes back through
  if (isNode || (!one.line && e?.line > 0)) {
    one.file = text(e.file);
    one.line = int(e.line);
  }
  if (kind === 'op') one.kernels++;
  if (Object.hasOwn(notes, kind) && (kind === 'error' || !STAYS.has(one.kind))) notes[kind](one, e);
}

const STAYS = new Set(['backward', 'gradient', 'error']);

// The kind of what has a main event. It stays `alloc` where an op such as randn makes the first values.
const notes = {
  alloc(one, e) {
    if (one.kind === 'copy' || one.kernels) return;
    one.kind = 'alloc';
    one.storage ||= int(e.storage);
  },
  copy(one) {
    one.kind = 'copy';
  },
  op(one, e) {
    if (one.kind !== 'copy' && (e.in?.length > 0 || one.kind !== 'alloc')) one.kind = 'op';
  },
  error(one) {
    one.kind = 'error';
  },
  backward(one, e) {
    if (e.what === 'begin') one.kind = 'backward';
  },
  graph(one, e) {
    if (e.what === 'run') one.kind = 'gradient';
  },
};
