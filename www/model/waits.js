// waits.js: what it costs to wait for the card in each step of a loop, and once after it. From the times of a run that has done the
// same steps both ways. Pure.

import { int } from './fields.js';
import * as units from './units.js';

export const waits = {
  label: 'A wait in each step, and one wait at the end',
  counted: 'Steps',
  later: 'What a wait costs appears after your guess, once this run has done the same steps with a wait in each and with one at the end.',
  measure,
  bars: (n, { step, each, rest }) => [
    { name: 'each step', parts: [['work', n * step], ['idle', n * (each - step)]] },
    { name: 'at the end', parts: [['work', n * step], ['idle', rest]] },
  ],
  words,
};

/** In ns: {step: of the card's work, each: of a step that ends in a wait, rest: what one wait at the end adds}; null: the run has not
 * done the same steps both ways. */
function measure(run) {
  const groups = loops(run);
  const waited = groups.find((one) => one.waits > 1);
  const once = groups.find((one) => one.waits === 1 && waited && one.operations.length > waited.operations.length / waited.waits &&
    one.operations.length % (waited.operations.length / waited.waits) === 0 && same(one.operations, waited.operations));
  if (!once) return null;
  const per = waited.operations.length / waited.waits;
  const steps = once.operations.length / per;
  const each = waited.time / waited.waits;
  const step = Math.max(busy(run, once.operations.slice(-per)), once.operations.slice(0, per).reduce((sum, e) => sum + int(e.held), 0));
  return once.time > steps * step && each > step ? { step, each, rest: once.time - steps * step } : null;
}

const same = (some, others) => some.every((e, i) => e.name === others[i % others.length].name);

/** The waits of the program, those at one line together: [{waits, operations: on cards, time}]; time: since the wait before. */
function loops(run) {
  const groups = [];
  let operations = [];
  let before = 0;
  for (const e of run.events) {
    if (e?.kind === 'op' && e.device !== 'cpu') operations.push(e);
    if (e?.kind !== 'sync' || !operations.length) {
      if (e?.kind === 'sync') before = int(e.t);
      continue;
    }
    const last = groups.at(-1);
    const again = last?.line === e.line && last.file === e.file && last.size === operations.length;
    const group = again ? last : { line: e.line, file: e.file, size: operations.length, waits: 0, operations: [], time: 0 };
    if (!again) groups.push(group);
    group.waits++;
    group.operations.push(...operations);
    group.time += int(e.t) - before;
    before = int(e.t);
    operations = [];
  }
  return groups;
}

/** How long the card works on these operations. */
function busy(run, operations) {
  return operations.reduce((sum, { seq }) => {
    const work = run.timeline.worksIssued(seq, seq)[0];
    return sum + (work?.complete ? work.end - work.start : 0);
  }, 0);
}

/** "6 steps: 103 µs with a wait in each, 78.2 µs with one at the end. Each wait in between costs 5 µs." */
function words(n, { step, each, rest }) {
  const time = (ns) => units.time(Math.round(ns));
  const [every, once] = [n * each, n * step + rest];
  const more = n === 1 ? 'One step has one wait, either way' : `The waits in between cost ${time(every - once)}`;
  return `${n} ${n === 1 ? 'step' : 'steps'}: ${time(every)} with a wait in each, ${time(once)} with one at the end. ${more}.`;
}
