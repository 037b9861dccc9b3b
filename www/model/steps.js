// steps.js: groups events into steps: a step is a call. What one call allocates, the copy or op that fills it, its
// completion and the wait for it are one step; two nested calls of one line are two. A view is a step, and so is a write
// into what was there before, though neither allocates: each line that does something is seen doing it. What is freed
// together, such as the tensors of a scope, is one step. Pure.
//
// A backward pass is a step per call that it goes back through: the log says where each begins.
//
// The log does not tell other calls apart. It tells them by their order: what a call needs comes before its copy or op, and what
// it fills was allocated just before. The kernels of one call are joined as soon as they are known to be (one_call.js).

import { int } from './fields.js';
import { oneCall } from './one_call.js';
import { firstIndex } from './search.js';

// How long a step is shown at speed 1, in ms, including the pause at its end (clock.js).
const TIMES = {
  copy: 2000, op: 1600, sync: 800, error: 1500, grade: 900, alloc: 560, tensor: 560, host_read: 700, answer: 800,
  session: 250, mark: 900, backward: 700, graph: 900, drop: 650, free: 650, check: 900, end: 900,
};

const KERNEL = 300; // ms for each further kernel of a call,
const KERNELS = 8; // of so many at most

/** What is allocated for a copy or an op is seen before it is filled. */
export function duration(step) {
  const time = (TIMES[step.kind] ?? 500) + KERNEL * Math.min(KERNELS, Math.max(0, (step.kernels ?? 1) - 1));
  return step.storage && (step.kind === 'copy' || step.kind === 'op') ? time + TIMES.alloc : time;
}

/**
 * An empty list of steps; `add` events one by one. A step: {from, to, kind, file, line, storage}: kind is that of its main
 * event, storage what it allocates, else 0. Of a call with several kernels also {kernels, call}: how many, and the name of the
 * function or ''. Steps that turn out to be one call are joined: then the list ends earlier than before.
 */
export function steps() {
  const all = [];
  const line = oneCall();
  let call = null; // the newest step, which may go on
  let results = 0; // logged since: they came when the next call waited for the card
  let isBackward = false; // is a backward pass running?

  function add(e, seq) {
    if (call && kindOf(e) === 'values' && e.work > 0) {
      results++;
      return;
    }
    if (!call || !joins(call, e)) all.push((call = begun(e, seq - results)).step);
    results = 0;
    extend(call, e, seq);
    if (kindOf(e) === 'backward') isBackward = e.what === 'begin';
    const from = isBackward || isOfGraph(e) ? all.length : line.learn(e, all.length - 1, all);
    if (from < all.length) join(from);
  }

  // The steps from `from` on are one call.
  function join(from) {
    const parts = all.splice(from);
    const storage = parts.find((one) => one.storage)?.storage ?? 0;
    const kernels = parts.reduce((sum, one) => sum + (one.kernels ?? 0), 0);
    const step = { ...parts[0], to: parts.at(-1).to, kind: 'op', storage, kernels, call: line.name(from) };
    all.push(step);
    call = { ...call, step, by: 'call', read: 0, prepares: false };
    line.joined(from);
  }

  /** The step that shows event seq. */
  function of(seq) {
    return Math.max(0, Math.min(all.length - 1, firstIndex(all.length, (i) => all[i].to >= seq)));
  }

  return { all, add, of };
}

const kindOf = (e) => (e && typeof e.kind === 'string' ? e.kind : '');

// by: what has filled the storage: an op's name, or another event's kind; last: the newest event of its own;
// prepares: so far only segments and waits that the program did not ask for.
const begun = (e, seq) => ({
  step: { from: seq, to: seq, kind: kindOf(e), file: '', line: 0, storage: 0 },
  th: int(e?.th), by: '', read: 0, last: null, prepares: true,
});

const always = new Set(['source', 'complete', 'values', 'name']);
const leaving = new Set(['drop', 'free']);
const hidden = new Set(['copy', 'print', 'item', 'save', 'size', 'oom']); // whys of waits that the program did not ask for

function joins(call, e) {
  const kind = kindOf(e);
  const { step } = call;
  if (always.has(kind) || isOfGraph(e)) return true;
  if (step.kind === 'graph' && kind !== 'backward') return kind !== 'graph';
  if (kind === 'lost') return step.kind === 'lost';
  if (kind === 'check' || kind === 'grade') return step.kind === 'check'; // one verdict
  if (kind === 'end') return step.kind === 'error'; // what stopped the program is its last step
  if (kind === 'free' && step.call !== undefined && kindOf(call.last) === 'drop') return true; // of what the call used on its way
  if (leaving.has(kind)) return leaving.has(step.kind) && (!e.line || e.line === step.line);
  return Object.hasOwn(goesOn, kind) && !leaving.has(step.kind) && isSameLine(call, e) && goesOn[kind](call, e);
}

// What a call records for its gradient, or a pass releases, belongs to it; where a pass goes back through a call is a step.
const isOfGraph = (e) => (kindOf(e) === 'tensor' && e.saved === true) || (kindOf(e) === 'graph' && e.what !== 'run') || (kindOf(e) === 'drop' && e.why === 'graph') || ['grad', 'state'].includes(kindOf(e));

const isSameLine = ({ step, th }, e) => int(e.th) === th && (!(e.line > 0) || !step.line || (e.line === step.line && e.file === step.file));

// Does an event of the same line go on with the call?
const goesOn = {
  segment: (call) => call.prepares,
  segment_free: (call) => call.prepares,
  alloc: (call) => call.prepares,
  sync: (call, e) => (e.cause >= call.step.from && e.cause <= call.step.to) || (isHiddenWait(e) && (call.prepares || isUnfilled(call))),
  tensor: (call, e) => (e.view_of ? isNextPart(call, e) : isAllocated(call, e.storage)),
  host_write: (call, e) => isAllocated(call, e.storage),
  given: (call, e) => isAllocated(call, e.storage),
  copy: (call, e) => call.prepares || (isUnfilled(call) && e.dst?.storage === call.step.storage),
  op: (call, e) => fills(call, e) && (isUnfilled(call) || isFurtherPart(call, e)),
  error: ({ step }, e) => step.kind === 'oom' && e.code === 'oom',
  host_read: (call, e) => call.step.kind === 'answer' || (call.read > 0 && e.storage === call.read),
};

const isHiddenWait = (e) => kindOf(e) === 'sync' && hidden.has(e.why);
const isPreparing = (e) => kindOf(e) === 'segment' || (kindOf(e) === 'segment_free' && e.why === 'oom') || isHiddenWait(e);

const isAllocated = ({ step }, storage) => step.kind === 'alloc' && step.storage > 0 && storage === step.storage;
const isUnfilled = ({ step, by }) => step.kind === 'alloc' && step.storage > 0 && !by;

// An op into what the call allocated. One that reads it too is a call of its own, in place.
function fills({ step }, e) {
  const uses = (list) => Array.isArray(list) && list.some((use) => use?.storage === step.storage);
  return step.storage > 0 && !e.inplace && uses(e.out) && !uses(e.in);
}

// cat and stack copy one tensor after the other into their result.
const isFurtherPart = ({ by }, e) => by === e.name && e.in?.length > 0;

// split and chunk make several views, called x.at[0], x.at[1], ...
function isNextPart({ last }, e) {
  const [, base, i] = /^(.+\.at\[)(\d+)\]$/.exec(e.name ?? '') ?? [];
  return i > 0 && last?.view_of === e.view_of && last.name === `${base}${i - 1}]`;
}

function extend(call, e, seq) {
  const { step } = call;
  const kind = kindOf(e);
  step.to = seq;
  if (always.has(kind) || isOfGraph(e)) return;
  if (e?.line > 0 && !step.line) {
    step.line = e.line;
    step.file = typeof e.file === 'string' ? e.file : '';
  }
  if (Object.hasOwn(notes, kind)) notes[kind](call, e);
  call.prepares &&= isPreparing(e);
  call.last = e;
}

// What the call's further events are compared with. The kind stays `alloc` where an op such as randn makes the first values.
const notes = {
  alloc({ step }, e) {
    if (step.kind === 'graph') return;
    step.kind = 'alloc';
    step.storage = int(e.storage);
  },
  error({ step }) {
    step.kind = 'error';
  },
  copy(call, e) {
    if (call.step.kind === 'graph') return;
    call.step.kind = call.by = 'copy';
    if (!e.dst?.storage) call.read = int(e.src?.storage); // into the program's own memory, to print it or read a value
  },
  op(call, e) {
    call.by = e.name;
    call.step.kernels = (call.step.kernels ?? 0) + 1;
    if (call.step.kind !== 'graph' && (e.in?.length > 0 || call.step.kind !== 'alloc')) call.step.kind = 'op';
  },
  host_write(call) {
    call.by = 'host_write';
  },
};
