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

/** Numbers that never fall, in an array that grows. lastAt(t): the last index whose number is at most t; -1: none. */
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
      this.push(this.last());
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
  const threads = new Map(); // th -> {from, until, seq}: the calls that blocked it, in order

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

  function block(e, seq) {
    const th = int(e.th);
    if (!threads.has(th)) threads.set(th, { from: numbers(), until: numbers(), seq: numbers() });
    const calls = threads.get(th);
    if (e.kind === 'sync' && calls.seq.length && e.cause === calls.seq.last() && int(e.t) === calls.until.last()) return blockBefore(calls, e, seq);
    calls.from.push(Math.max(calls.from.last(), int(e.t) - e.held));
    calls.until.push(int(e.t));
    calls.seq.push(seq);
    return undefined;
  }

  // The wait at the start of a blocking copy is told after the copy.
  function blockBefore({ from, until, seq: seqs }, e, seq) {
    const end = from.last();
    const earlier = from.length > 1 ? from.at(from.length - 2) : 0;
    from.before(Math.max(earlier, end - e.held));
    until.before(end);
    seqs.before(seq);
  }

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
        for (const work of works.slice(i * BLOCK, (i + 1) * BLOCK)) if (work.issued <= t && t < work.end) found.push(work);
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

    /** The call that blocks each thread at t: {th, seq, from, until}. A thread that computes in its own code has none. */
    callsAt(t) {
      const found = [];
      for (const [th, calls] of threads) {
        const at = calls.from.lastAt(t);
        if (at >= 0 && t < calls.until.at(at)) found.push({ th, seq: calls.seq.at(at), from: calls.from.at(at), until: calls.until.at(at) });
      }
      return found;
    },
  };
}
