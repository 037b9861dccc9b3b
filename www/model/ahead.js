// ahead.js: the state at a moment of the clock, where several threads run. The log has an event when its call returns: while one
// thread is in a call, others go on, and what they do comes after it in the log although it was earlier. By clock it is shown. Pure.

import { int } from './fields.js';
import { perRun } from './per_run.js';
import { firstIndex } from './search.js';
import { apply } from './state.js';

const threadsOf = perRun(() => {
  const threads = new Map(); // th -> {seqs, times}: of its events, in order; its times never fall
  return {
    threads,
    add(e, seq) {
      const th = int(e.th);
      if (!threads.has(th)) threads.set(th, { seqs: [], times: [] });
      const { seqs, times } = threads.get(th);
      seqs.push(seq);
      times.push(Math.max(times.at(-1) ?? 0, int(e.t)));
    },
  };
});

// The events after `seq` that had happened by t, in order.
function since(run, seq, t) {
  const { threads } = threadsOf(run);
  if (threads.size < 2) return [];
  return [...threads.values()].flatMap(({ seqs, times }) => {
    const [from, to] = [firstIndex(seqs.length, (i) => seqs[i] > seq), firstIndex(seqs.length, (i) => times[i] > t)];
    return from < to ? seqs.slice(from, to) : [];
  }).sort((a, b) => a - b);
}

/**
 * at(seq, t): the state after event seq, with what other threads had done by t; valid until its next call, `ahead` of its own
 * events. after(seq): the state after an event; fork(seq): a copy of it.
 */
export function moments(run, after, fork) {
  let known = { seq: -2, done: new Set(), state: null };
  return (seq, t) => {
    const more = since(run, seq, t);
    if (!more.length) return after(seq);
    if (known.seq !== seq || more.length < known.done.size) known = { seq, done: new Set(), state: fork(seq) };
    const { state, done } = known;
    for (const n of more) {
      if (done.has(n)) continue;
      done.add(n);
      state.seq = n - 1;
      apply(state, run.events[n]);
    }
    return Object.assign(state, { seq, ahead: done.size });
  };
}
