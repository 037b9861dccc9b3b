// break_even.js: what page-locking costs once and saves with every copy: from how many copies of the same memory on it is the
// cheaper way. From the times of a run that has sent the same bytes both ways. Pure.

import { int } from './fields.js';
import { copiesOf } from './fare.js';
import * as units from './units.js';

/** {bytes, lock, fill, ordinary, locked} in ns, the last two a copy; null: the run has not sent the same bytes both ways. */
export function bothWays(run) {
  const up = copiesOf(run).filter((one) => one.dir === 'h2d');
  const ordinary = up.find((one) => !one.pinned && up.some((other) => other.pinned && other.bytes === one.bytes));
  const locked = up.find((one) => one.pinned && one.bytes === ordinary?.bytes);
  const lock = run.events.find((e) => e?.kind === 'segment' && e.mem === 'pinned');
  if (!locked || !lock || locked.ns >= ordinary.ns) return null;
  const fill = run.events.find((e) => e?.kind === 'op' && e.device === 'cpu' && e.line === lock.line && e.file === lock.file);
  return { bytes: ordinary.bytes, lock: int(lock.held), fill: int(fill?.held), ordinary: ordinary.ns, locked: locked.ns };
}

/** What n copies cost each way, in ns: {ordinary, locked}. */
export const costs = (n, { lock, fill, ordinary, locked }) => ({ ordinary: n * ordinary, locked: lock + fill + n * locked });

/** "3 copies: 110 µs from ordinary memory, 201 µs with page-locked memory. Page-locking costs 91.5 µs more." */
export function breakEvenWords(n, ways) {
  const { ordinary, locked } = costs(n, ways);
  const time = (ns) => units.time(Math.round(ns));
  const more = locked > ordinary ? `Page-locking costs ${time(locked - ordinary)} more` : `Page-locking saves ${time(ordinary - locked)}`;
  return `${n} ${n === 1 ? 'copy' : 'copies'}: ${time(ordinary)} from ordinary memory, ${time(locked)} with page-locked memory. ${more}.`;
}
