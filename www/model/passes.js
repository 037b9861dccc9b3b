// passes.js: when the program was in a backward pass: from its begin to its end, as the host went through it. Pure; reads a run as far
// as it has arrived, and each event once.

import { int } from './fields.js';
import { perRun } from './per_run.js';

/** The passes of each thread, in the form of a loop's iterations (loops.js): [{th, pass: true, iterations: [{n, from, until, seq, to, loop}]}]. */
export const passesOf = (run) => known(run).all;

const known = perRun((run) => {
  const all = [];
  const of = (th) => all.find((one) => one.th === th) ?? all[all.push({ th, pass: true, iterations: [] }) - 1];
  return {
    all,
    add(e, seq) {
      if (e.kind !== 'backward') return;
      const loop = of(int(e.th));
      const { iterations } = loop;
      const t = run.timeline.timeOf(seq);
      const open = iterations.at(-1);
      if (e.what === 'begin') iterations.push({ n: iterations.length + 1, from: run.timeline.callOf(seq)?.from ?? t, until: t, seq, to: seq, loop });
      else if (open) Object.assign(open, { until: t, to: seq });
    },
  };
});

/** "backward pass 3 of 4" */
export const passWords = ({ n, loop: { iterations } }) => (iterations.length > 1 ? `backward pass ${n} of ${iterations.length}` : 'backward pass');
