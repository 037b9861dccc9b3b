// selection.js: what the viewer chose, wherever that was: a slice of the lanes, a box, a line, a row of the table or a finding.
// Its slices, its boxes, its line and its rows are lit together, until another moment is shown.

import { lastOf } from '../model/inspect.js';
import { lanesOf } from '../model/lanes.js';
import { MARKED, storagesOf } from '../stage/lanes.js';

/** host: {run(): the one shown; time(): the clock; inspects(storage): does the inspector tell of it?}. */
export function selection(host) {
  let now = null; // {run, seq, t, parts: [first, last], whole: is it a step, not an event in it; storages, box: a storage, or 0; inLanes: was it chosen there, where it is in sight?}

  const hasSlice = (run) => (seq) => lanesOf(run).find(seq).length > 0;

  // Of a step, the event that is drawn in the lanes: `seq` if that one is, else the last one.
  function drawn(run, { from, to }, seq = to) {
    for (const one of [seq, ...upTo(from, to).reverse()]) if (hasSlice(run)(one)) return one;
    return seq;
  }

  const upTo = (from, to) => Array.from({ length: Math.min(to - from, MARKED) + 1 }, (_, i) => from + i);
  const touchedIn = (run, { from, to }) => new Set(upTo(from, to).flatMap((seq) => [...storagesOf(run.events[seq])]));

  // Shows step i.
  function show(i, move) {
    const run = host.run();
    const step = run?.steps[i];
    if (!step) return;
    now = { run, parts: step.parts, whole: true, t: run.span(step)[1], seq: drawn(run, step), storages: touchedIn(run, step), box: 0, inLanes: false };
    host.time().goThrough(step.parts, move);
  }

  // Shows the part of event seq, with the storages of the event; where that has none, those of all.
  function event(seq) {
    const run = host.run();
    const i = run.partOf(seq);
    const part = run.parts[i];
    if (!part) return;
    const own = storagesOf(run.events[seq]);
    now = { run, parts: [i, i], t: run.span(part)[1], seq: drawn(run, part, seq), storages: own.size ? own : touchedIn(run, part), box: 0, inLanes: false };
    host.time().go(i, true);
  }

  return {
    /** What is chosen at a position of the clock; null: nothing, or no more. */
    at({ by, playing, t, part }) {
      const is = now && now.run === host.run() && !playing && (by === 'clock' ? t === now.t : part >= now.parts[0] && part <= now.parts[1]) && (!now.box || host.inspects(now.box));
      if (!is) now = null;
      return now;
    },
    /** A slice of the lanes: shows its part, or its beginning. */
    slice(seq, t) {
      const run = host.run();
      const i = run.partOf(seq);
      now = { run, seq, t, parts: [i, i], storages: storagesOf(run.events[seq]), box: 0, inLanes: true };
      if (host.time().position.by === 'clock') host.time().seek(t);
      else host.time().go(i, true);
    },
    /** A box: the moment stays; what touched it last by then is lit. */
    box(storage) {
      const run = host.run();
      const { t, part } = host.time().position;
      if (!run?.parts[part]) return; // of a run that has no events yet, the last one's boxes are on show
      const seq = lastOf(run, storage, run.parts[part].to, hasSlice(run));
      if (seq >= 0) now = { run, seq, t, parts: [part, part], storages: new Set([storage]), box: storage, inLanes: false };
    },
    /** An event, from wherever it is named. */
    event,
    /** A line of the program: its first step. */
    line: (line) => show(host.run()?.steps.findIndex((step) => step.line === line), true),
    /** A step of a line that was chosen by key. */
    step: show,
  };
}
