// selection.js: what the viewer chose, wherever that was: a slice of the lanes, a box, a line, a row of the table or a finding.
// Its slices, its boxes, its line and its rows are lit together, until another moment is shown.

import { lastOf } from '../model/inspect.js';
import { lanesOf } from '../model/lanes.js';
import { MARKED, storagesOf } from '../stage/lanes.js';

/** host: {run(): the one shown; time(): the clock; inspects(storage): does the inspector tell of it?}. */
export function selection(host) {
  let now = null; // {run, seq, t, step, storages, box: a storage, or 0; inLanes: was it chosen there, where it is in sight?}

  const hasSlice = (run) => (seq) => lanesOf(run).find(seq).length > 0;

  // Of a step, the event that is drawn in the lanes: `seq` if that one is, else the last one.
  function drawn(run, { from, to }, seq = to) {
    for (const one of [seq, ...upTo(from, to).reverse()]) if (hasSlice(run)(one)) return one;
    return seq;
  }

  const upTo = (from, to) => Array.from({ length: Math.min(to - from, MARKED) + 1 }, (_, i) => from + i);
  const touchedIn = (run, { from, to }) => new Set(upTo(from, to).flatMap((seq) => [...storagesOf(run.events[seq])]));

  // Shows step i, with the storages of its event seq; where that has none, and without it, those of all.
  function show(i, move, seq) {
    const run = host.run();
    const step = run?.steps[i];
    if (!step) return;
    const own = storagesOf(run.events[seq]);
    now = { run, step: i, t: run.span(i)[1], seq: drawn(run, step, seq), storages: own.size ? own : touchedIn(run, step), box: 0, inLanes: false };
    host.time().go(i, move);
  }

  return {
    /** What is chosen at a position of the clock; null: nothing, or no more. */
    at({ by, playing, t, step }) {
      const is = now && now.run === host.run() && !playing && (by === 'clock' ? t === now.t : step === now.step) && (!now.box || host.inspects(now.box));
      if (!is) now = null;
      return now;
    },
    /** A slice of the lanes: shows its step, or its beginning. */
    slice(seq, t) {
      const run = host.run();
      const step = run.stepOf(seq);
      now = { run, seq, t, step, storages: storagesOf(run.events[seq]), box: 0, inLanes: true };
      if (host.time().position.by === 'clock') host.time().seek(t);
      else host.time().go(step, true);
    },
    /** A box: the moment stays; what touched it last by then is lit. */
    box(storage) {
      const run = host.run();
      const { t, step } = host.time().position;
      if (!run?.steps[step]) return; // of a run that has no events yet, the last one's boxes are on show
      const seq = lastOf(run, storage, run.steps[step].to, hasSlice(run));
      if (seq >= 0) now = { run, seq, t, step, storages: new Set([storage]), box: storage, inLanes: false };
    },
    /** An event, from wherever it is named. */
    event: (seq) => show(host.run().stepOf(seq), true, seq),
    /** A line of the program: its first step. */
    line: (line) => show(host.run()?.steps.findIndex((step) => step.line === line), true),
    /** A step of a line that was chosen by key. */
    step: show,
  };
}
