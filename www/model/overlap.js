// overlap.js: what is saved when a copy runs while the card works: at most the shorter of the two. From the times of a run that has
// done operations and a copy at the same time. Pure.

import { copiesOf } from './fare.js';
import * as units from './units.js';

export const overlap = {
  label: 'Work and a copy, one after the other and at the same time',
  counted: 'Operations',
  later: 'What overlapping saves appears after your guess, once this run has copied while the card worked.',
  measure,
  bars: (n, { work, copy }) => [
    { name: 'in turn', parts: [['work', n * work], ['copy', copy]] },
    { name: 'together', parts: [['both', Math.min(n * work, copy)], [n * work > copy ? 'work' : 'copy', Math.abs(n * work - copy)]] },
  ],
  words,
};

/** {work, copy} in ns: of one operation, and of the copy that ran beside the card's work; null: none did. */
function measure(run) {
  const works = run.timeline.worksIssued(0, run.events.length - 1);
  const operations = works.filter(({ event: e, complete }) => complete && e.kind === 'op' && e.device !== 'cpu');
  const beside = copiesOf(run).find(({ seq }) => {
    const copy = works.find((one) => one.seq === seq);
    return operations.some((one) => one.event.stream !== copy.event.stream && one.start < copy.end && copy.start < one.end);
  });
  const copy = beside && works.find((one) => one.seq === beside.seq);
  const last = copy && operations.filter((one) => one.seq < copy.seq).at(-1);
  return last ? { work: last.end - last.start, copy: copy.end - copy.start } : null;
}

/** "4 operations take 45 µs, the copy 44 µs: 89 µs in turn, 45 µs together. That saves 44 µs: all of the copy." */
function words(n, { work, copy }) {
  const time = (ns) => units.time(Math.round(ns));
  const all = n * work;
  const saved = all < copy ? (n === 1 ? 'all of the operation' : 'all of the operations') : 'all of the copy';
  const take = n === 1 ? '1 operation takes' : `${n} operations take`;
  return `${take} ${time(all)}, the copy ${time(copy)}: ${time(all + copy)} in turn, ${time(Math.max(all, copy))} together. That saves ${time(Math.min(all, copy))}: ${saved}.`;
}
