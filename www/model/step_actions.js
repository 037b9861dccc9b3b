// step_actions.js: what is shown of a step at a moment, as plain data for drawing: what the step itself did, and the
// copies and ops that it issued or that are in flight, which may be those of other steps. Pure.

import { int, list as array, text } from './fields.js';
import { worksOf } from './instant.js';
import { mistake } from './mistakes.js';
import { allocatedBy } from './pace.js';
import { value } from './units.js';

/** The actions of step `step` of a run at time t, by step or by clock, given the state after it. Copies and ops have a phase of their own. */
export function actions(run, step, t, state, by = 'step') {
  let list = [];
  for (let seq = step.from; seq <= step.to; seq++) {
    const e = run.events[seq];
    if (e && typeof e === 'object' && Object.hasOwn(readers, e.kind)) readers[e.kind](list, e, state, { run, seq });
  }
  if (step.kind === 'check' && run.stopped >= 0) readers.error(list, run.events[run.stopped], state, { run, seq: run.stopped }); // still the reason
  if (step.kind === 'copy') list = list.filter((a) => a.type !== 'read'); // print and item: the copy shows it
  const [first, ...later] = list.filter((a) => a.type === 'alloc');
  if (first) first.by = allocatedBy(run, step);
  for (const a of later) a.by = run.timeline.timeOf(a.seq) <= t ? 0.001 : Infinity; // of a call with several kernels: when it is there
  if (run.races) list.push(...racing(run, step, t, state));
  return [...list, ...worksOf(run, step, t, by).map((w) => (w.type === 'copy' ? copyAction(w, state) : opAction(w, state)))];
}

// A race that an earlier step began, while the work that races runs.
function racing(run, step, t, state) {
  const running = new Set(run.timeline.worksAt(t).map((work) => work.seq));
  const earlier = state.dataRaces.filter(({ seq }) => seq < step.from && running.has(run.events[seq].b));
  return earlier.map(({ seq }) => ({ type: 'race', mistake: mistake(run, seq, state), earlier: true }));
}

const last = (list, type, test = () => true) => list.findLast((a) => a.type === type && test(a));

const readers = {
  alloc: (list, e, state, { seq }) => list.push({ type: 'alloc', storage: e.storage, seq }),
  free: (list, e) => list.push({ type: 'free', storage: e.storage }),

  // The wait at the start of a copy to the host is part of that copy.
  sync(list, e) {
    if (e.scope !== 'copy') list.push({ type: 'sync', device: e.device, held: e.held ?? 0, why: e.why });
  },

  host_read(list, e) {
    if (!last(list, 'answer')) list.push({ type: 'read', storage: e.storage, tensor: e.tensor, via: e.via });
  },

  host_write(list, e) {
    if (!last(list, 'alloc')) list.push({ type: 'write', storage: e.storage, tensor: e.tensor, first: int(e.first), count: int(e.count, Infinity), via: e.via });
  },

  tensor(list, e, state) {
    if (e.saved) return; // its tag appears; nothing is made
    if (e.view_of) list.push({ type: 'view', storage: e.storage, tensor: e.tensor, name: e.name });
    else if (!last(list, 'alloc') && state.storages.has(e.storage)) list.push({ type: 'view', storage: e.storage, tensor: e.tensor, name: e.name });
  },

  answer: (list, e) => list.push({ type: 'answer', storage: e.storage, name: e.name }),
  // An oom has the figures of the error that follows it.
  error(list, e, state, { run, seq }) {
    const full = last(list, 'error');
    const made = mistake(run, seq, state);
    if (full && e.code === 'oom') full.mistake = { ...full.mistake, call: made.call, name: made.name };
    else list.push({ type: 'error', code: e.code, mistake: made });
  },

  oom: (list, e, state, { run, seq }) => list.push({ type: 'error', code: 'out of memory', device: e.device, mistake: mistake(run, seq, state) }),
  data_race: (list, e, state, { run, seq }) => list.push({ type: 'race', mistake: mistake(run, seq, state) }),
  mark: (list, e) => list.push({ type: 'mark', text: e.text, now: e.now }),
  scalar: (list, e) => list.push({ type: 'mark', text: `${text(e.name)} = ${value(e.value)}` }),
};

function copyAction(w, state) {
  const fresh = (state.storages.get(w.dst.storage)?.version ?? 0) <= 1;
  const { why, cast } = w.event;
  return {
    ...w, src: w.src.storage, dst: w.dst.storage, why, cast, fresh, time: w.end - w.start,
    part: w.bytes ? w.arrived / w.bytes : w.m,
  };
}

function opAction(w, state) {
  const fresh = w.outs.every((id) => (state.storages.get(id)?.version ?? 0) <= 1);
  return {
    ...w, detail: detail(w.event), time: w.end - w.start, fresh, birth: fresh && array(w.event.in).length === 0 && !w.event.inplace,
  };
}

function detail(e) {
  if (e.blas) return e.blas;
  if (!e.kernel) return '';
  const grid = array(e.grid).filter((n) => n > 1).join('×') || '1';
  const block = array(e.block).reduce((a, b) => a * b, 1);
  return e.grid ? `${e.kernel} · ${grid} blocks × ${block} threads` : e.kernel;
}

/** How long the host was blocked in the events from..to, in ns: by a copy or a sync, not by its own work or by calls. */
export function waitIn(events, { from, to }) {
  let sum = 0;
  for (let seq = from; seq <= to; seq++) {
    const e = events[seq];
    if (e?.held > 0 && (e.kind === 'sync' || (e.kind === 'copy' && !e.was_async))) sum += e.held;
  }
  return sum;
}
