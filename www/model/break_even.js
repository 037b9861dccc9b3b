// break_even.js: what page-locking costs once and saves with every copy: from how many copies of the same memory on it is the
// cheaper way. From the times of a run that has sent the same bytes both ways. Pure.

import { int } from './fields.js';
import { copiesOf } from './fare.js';
import * as units from './units.js';

export const breakEven = {
  label: 'Copies from ordinary and from page-locked memory',
  counted: 'Copies',
  later: 'What both ways cost appears after your guess, once this run has sent the same bytes both ways.',
  measure,
  bars: (n, { lock, fill, ordinary, locked }) => [
    { name: 'ordinary', parts: [['copies', n * ordinary]] },
    { name: 'page-locked', parts: [['lock', lock], ['fill', fill], ['copies', n * locked]] },
  ],
  words,
};

/** {bytes, lock, fill, ordinary, locked} in ns, the last two a copy; null: the run has not sent the same bytes both ways. */
function measure(run) {
  const up = copiesOf(run).filter((one) => one.dir === 'h2d');
  const ordinary = up.find((one) => !one.pinned && up.some((other) => other.pinned && other.bytes === one.bytes));
  const locked = up.find((one) => one.pinned && one.bytes === ordinary?.bytes);
  const lock = run.events.find((e) => e?.kind === 'segment' && e.mem === 'pinned');
  if (!locked || !lock || locked.ns >= ordinary.ns) return null;
  const fill = run.events.find((e) => e?.kind === 'op' && e.device === 'cpu' && e.line === lock.line && e.file === lock.file);
  return { bytes: ordinary.bytes, lock: int(lock.held), fill: int(fill?.held), ordinary: ordinary.ns, locked: locked.ns };
}

/** "3 copies: 110 µs from ordinary memory, 201 µs with page-locked memory. Page-locking costs 91.5 µs more." */
function words(n, { lock, fill, ordinary: each, locked: eachLocked }) {
  const ordinary = n * each;
  const locked = lock + fill + n * eachLocked;
  const time = (ns) => units.time(Math.round(ns));
  const more = locked > ordinary ? `Page-locking costs ${time(locked - ordinary)} more` : `Page-locking saves ${time(ordinary - locked)}`;
  return `${n} ${n === 1 ? 'copy' : 'copies'}: ${time(ordinary)} from ordinary memory, ${time(locked)} with page-locked memory. ${more}.`;
}
