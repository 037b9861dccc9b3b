// loops.js: the iterations of a program's loops, as the log tells them: the turns of FY_TIMES and FY_EACH (lib/README.md). Of a plain
// `for` no iteration is known: how often a call was made in what it is in is all that is told. Pure.

import { int, list, text } from './fields.js';
import { perRun } from './per_run.js';
import * as units from './units.js';

const ELSEWHERE = new Set(['complete', 'values']); // they tell of earlier work, where the program is no more

/**
 * The loops that a run went through: {all, at(seq), timeAt(seq)}. all: [{th, depth, line, turns, iterations: [{n, from, until,
 * seq, to, loop}]}]: a loop each time that the program came to it, turns: how many there will be, 0: not known, and its iterations in
 * order, of those that left an event; n from 1; from, until: when the host was in it, in ns; seq, to: events. at(seq): the iterations that
 * event seq is in, the innermost first; timeAt(seq): how often its call was made
 * there by then, in the same turn or function.
 */
export const loopsOf = perRun(loops);

function loops(run) {
  const made = new Map(); // the id of a loop, or a turn -> what is told of it
  const times = new Map(); // the id of a call -> how often it was made there by then
  const places = new Map(); // place and name of a call, and what it is in -> how many there were
  const timeAt = (seq) => times.get(run.calls.get(run.events[seq]?.call)?.owner?.id) ?? 1;
  const self = { add, at, timeAt, all: [] };

  function add(e, seq) {
    for (const told of list(e.calls)) count(run.calls.get(told?.id));
    const call = run.calls.get(e.call);
    if (!call || ELSEWHERE.has(e.kind) || int(e.th) !== int(call.round?.th)) return; // a worker makes what a later turn takes
    for (let turn = call.round; turn; turn = turn.parent?.round) reach(turn, seq);
  }

  function count(call) {
    if (!call || call.region || call.owner !== call || times.has(call.id)) return;
    const key = `${call.in ?? 0} ${text(call.file)}:${int(call.line)} ${text(call.name)} ${text(call.args)}`;
    places.set(key, (places.get(key) ?? 0) + 1);
    times.set(call.id, places.get(key));
  }

  // The host was in this turn at event seq.
  function reach(turn, seq) {
    const known = made.get(turn.id);
    if (known) Object.assign(known, { to: seq, until: Math.max(known.until, run.timeline.timeOf(seq)) });
    else begin(turn, seq);
  }

  // A turn begins with the call of its first event, and lasts until the next one.
  function begin(turn, seq) {
    const loop = loopOf(turn);
    const before = loop.iterations.at(-1);
    const start = run.timeline.callOf(seq)?.from ?? run.timeline.timeOf(seq - 1);
    const from = Math.max(start, before?.until ?? 0);
    const iteration = { n: int(turn.turn) + 1, from, until: Math.max(from, run.timeline.timeOf(seq)), seq, to: seq, loop };
    if (before) before.until = from;
    made.set(turn.id, iteration);
    loop.iterations.push(iteration);
  }

  function loopOf({ parent, th }) {
    const known = made.get(parent?.id);
    if (known) return known;
    let depth = 0;
    for (let one = parent?.round; one; one = one.parent?.round) depth++;
    const loop = { th: int(th), depth, line: int(parent?.line), turns: int(parent?.turns), iterations: [] };
    if (parent) made.set(parent.id, loop);
    self.all.push(loop);
    return loop;
  }

  function at(seq) {
    const e = run.events[seq];
    const found = [];
    for (let turn = run.calls.get(e?.call)?.round; turn; turn = turn.parent?.round) if (made.has(turn.id) && int(e.th) === int(turn.th)) found.push(made.get(turn.id));
    return found;
  }

  return self;
}

/** How many iterations a loop has, as far as the log tells by now. */
export const countOf = ({ turns, iterations }) => turns || (iterations.at(-1)?.n ?? 0);

/** "iteration 3 of 128 of the loop in line 5" */
export const iterationWords = ({ n, loop }) => `iteration ${n} of ${countOf(loop)} of the loop in line ${loop.line}`;

/** "the 5th time at this call"; '' of the first. */
export const timeWords = (n) => (n > 1 ? `the ${units.ordinal(n)} time at this call` : '');
