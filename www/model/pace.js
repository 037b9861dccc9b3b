// pace.js: how the run's time passes while a step is shown. A step may take a segment for 100 us and then copy for one: shown
// evenly, its copy would not be seen. So each stretch of it has a share of the step that can be seen: what is allocated is
// shown first, then the copy or op plays, and what is waited for before it or after it is short. Pure.

const FIRST = 0.25; // the share of what is allocated, also where that takes no time,
const ALONE = 0.7; // and where that is all
const RUNS = 0.45; // at least so much is the share of the step's own copies and ops,
const WAITS = 0.1; // and of the rest. What is left is shared out by time.

/**
 * The stretches of a step of a run, or of a part of one: [{share, from, to}, ...]. Their shares add up to 1, and their times
 * follow one another, from the start of its span to its end.
 */
export function pace(run, step) {
  const [from, to] = run.span(step);
  const works = run.timeline.worksIssued(step.from, step.to).filter((w) => w.start < to && w.end > w.start);
  const made = allocated(run, step, from, to);
  const inside = works.flatMap((w) => [w.start, w.end]).filter((t) => t > (made ?? from) && t < to);
  const times = [...new Set([made ?? from, ...inside, to])].sort((a, b) => a - b);
  const all = times.slice(1).map((end, n) => ({ from: times[n], to: end, runs: works.some((w) => w.start <= times[n] && end <= w.end) }));
  share(all, made === null ? 1 : 1 - FIRST);
  if (made !== null) all.unshift({ from, to: made, share: all.length ? FIRST : 1 });
  return all.length ? all : [{ from, to, share: 1 }];
}

// When what the step allocates for its copy or op is there; null if it allocates nothing.
function allocated({ events, timeline }, step, from, to) {
  if (!step.storage) return null;
  let seq = step.from;
  while (seq < step.to && !['copy', 'op', 'host_write', 'sync'].includes(events[seq + 1]?.kind)) seq++;
  return Math.min(to, Math.max(from, timeline.timeOf(seq)));
}

function share(all, whole) {
  const runs = all.filter((p) => p.runs).length;
  const least = (p) => (p.runs ? RUNS / runs : WAITS / (all.length - runs)) * whole;
  const left = whole - all.reduce((sum, p) => sum + least(p), 0);
  const total = all.reduce((sum, p) => sum + p.to - p.from, 0);
  for (const p of all) p.share = least(p) + (left * (p.to - p.from)) / total;
}

/** The run's time at the fraction m of a step: never falling, exactly the start of its span at 0 and the end at 1. */
export function timeIn(all, m) {
  if (m >= 1) return all.at(-1).to;
  let before = 0;
  for (const { share: of, from, to } of all) {
    if (m < before + of) return Math.min(to, from + (to - from) * Math.max(0, (m - before) / of));
    before += of;
  }
  return all.at(-1).to;
}

/** The fraction of a step by which what it allocates is there. */
export const allocatedBy = (run, step) => (run.timeline.worksIssued(step.from, step.to).length ? FIRST : ALONE);
