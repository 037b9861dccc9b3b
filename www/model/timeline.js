// timeline.js: the events of one run by the run's clock: what had happened, what was queued, what was running and what
// each thread of the host was doing at a time t, in ns. Pure.
//
// An event is emitted when its call returns, so a call that blocked the host covers [t - held, t]; the work of a copy
// or an op has a start and an end of its own, which its `complete` tells, before or after the call's return. Every
// question is answered by a binary search, or by reading the few blocks of works that reach to t: a run may have a
// million events.

import { int } from './fields.js';
import { firstIndex } from './search.js';

const BLOCK = 1024;

/** Numbers in an array that grows. lastAt(t): of some that never fall, the last index whose number is at most t; -1: none. */
function numbers() {
  let list = new Float64Array(BLOCK);
  let n = 0;
  return {
    push(value) {
      if (n === list.length) {
        const grown = new Float64Array(2 * n);
        grown.set(list);
        list = grown;
      }
      list[n++] = value;
    },
    /** Puts one before the last. */
    before(value) {
      this.push(list[n - 1]);
      list[n - 2] = value;
    },
    at: (i) => list[i],
    last: () => (n ? list[n - 1] : 0),
    lastAt: (t) => firstIndex(n, (i) => list[i] > t) - 1,
    get length() {
      return n;
    },
  };
}

export function timeline() {
  const times = numbers(); // times[seq]: the clock when event seq was emitted, never falling
  const works = []; // copies and ops as they were issued: {id, seq, issued, start, end, event, complete}
  const blocks = []; // of BLOCK works each: {open: not ended yet, from: the first issue, until: the last end known}
  const byId = new Map(); // id -> index in works, of those that have not ended yet
  const calls = { seq: numbers(), from: numbers(), until: numbers() }; // that blocked a thread, as they were told
  const threads = new Map(); // th -> its calls, as indices into these, in order of time

  function add(e, seq) {
    times.push(Math.max(times.last(), int(e?.t)));
    if (!e || typeof e !== 'object') return;
    if (e.kind === 'copy' || e.kind === 'op') issue(e, seq);
    if (e.kind === 'complete') end(e);
    if (e.held > 0) block(e, seq);
  }

  function issue(e, seq) {
    const t = times.last();
    const at = works.length;
    const blockAt = Math.floor(at / BLOCK);
    const issued = Math.max(0, t - Math.max(0, int(e.held)));
    works.push({ id: e.id, seq, issued, start: Infinity, end: Infinity, event: e, complete: null });
    byId.set(e.id, at);
    blocks[blockAt] ??= { open: 0, from: Infinity, until: 0 };
    blocks[blockAt].open++;
    blocks[blockAt].from = Math.min(blocks[blockAt].from, issued);
  }

  function end(e) {
    const at = byId.get(e.id);
    if (at === undefined) return;
    byId.delete(e.id);
    const work = works[at];
    const of = blocks[Math.floor(at / BLOCK)];
    work.start = int(e.start, work.issued);
    work.end = Math.max(work.start, int(e.end, work.start));
    work.complete = e;
    of.open--;
    of.until = Math.max(of.until, work.end);
  }

  // The wait at the start of a blocking copy is told after the copy, but was before it: known here and nowhere else.
  function block(e, seq) {
    const th = int(e.th);
    if (!threads.has(th)) threads.set(th, numbers());
    const own = threads.get(th);
    const last = own.length ? own.last() : -1;
    const isBefore = e.kind === 'sync' && last >= 0 && e.cause === calls.seq.at(last) && int(e.t) === calls.until.at(last);
    const until = isBefore ? calls.from.at(last) : int(e.t);
    const earlier = isBefore ? own.length - 2 : own.length - 1;
    calls.seq.push(seq);
    calls.from.push(Math.max(earlier >= 0 ? calls.from.at(own.at(earlier)) : 0, until - e.held));
    calls.until.push(until);
    if (isBefore) own.before(calls.seq.length - 1);
    else own.push(calls.seq.length - 1);
  }

  // The last of a thread's calls that had begun at t, as an index into these; -1: none.
  const latest = (own, t) => firstIndex(own.length, (i) => calls.from.at(own.at(i)) > t) - 1;
  const callAt = (i) => ({ seq: calls.seq.at(i), from: calls.from.at(i), until: calls.until.at(i) });

  return {
    add,

    /** The last event that had been emitted at t; -1: none. */
    seqAt: (t) => times.lastAt(t),

    /** The clock when event seq was emitted. */
    timeOf: (seq) => (seq < 0 ? 0 : times.at(Math.min(seq, times.length - 1))),

    /** Works that were issued by t and had not ended: queued where start > t, else running. In order of issue. */
    worksAt(t) {
      const found = [];
      blocks.forEach((of, i) => {
        if (of.from > t || (!of.open && of.until <= t)) return;
        for (const work of works.slice(i * BLOCK, (i + 1) * BLOCK)) {
          if (work.issued <= t && t < work.end) found.push(work);
        }
      });
      return found;
    },

    /** Works whose event is one of from..to, in order. */
    worksIssued(from, to) {
      const found = [];
      const first = firstIndex(works.length, (i) => works[i].seq >= from);
      for (let i = first; i < works.length && works[i].seq <= to; i++) found.push(works[i]);
      return found;
    },

    /** When event seq blocked its thread: {seq, from, until}; null: it did not. */
    callOf(seq) {
      const i = calls.seq.lastAt(seq);
      return i >= 0 && calls.seq.at(i) === seq ? callAt(i) : null;
    },

    /** The call that blocks each thread at t: {th, seq, from, until}. A thread that computes in its own code has none. */
    callsAt(t) {
      const found = [];
      for (const [th, own] of threads) {
        const at = latest(own, t);
        if (at >= 0 && t < calls.until.at(own.at(at))) found.push({ th, ...callAt(own.at(at)) });
      }
      return found;
    },

    /** The waits that were over at t and are told only after the copy that follows each: {th, seq, from, until}. */
    waitsUntoldAt(t) {
      const found = [];
      for (const [th, own] of threads) {
        const at = latest(own, t);
        if (at < 1 || t >= calls.until.at(own.at(at))) continue;
        const before = own.at(at - 1);
        if (calls.seq.at(before) > calls.seq.at(own.at(at))) found.push({ th, ...callAt(before) });
      }
      return found;
    },
  };
}
