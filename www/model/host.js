// host.js: where the program is at an instant, and what holds it up there: said in the heading of RAM, in the bar of the CPU,
// and nowhere from anything else than the instant. Pure.

import { int } from './fields.js';
import * as units from './units.js';

// A call that computes, or only hands work to a card, does not wait.
const waits = ({ event: e }) => e.kind !== 'op' && !e.was_async;

/** The call that holds the program up: its first thread's, else another one's; null: none. now: instant.js. */
export function holdOf(now) {
  const held = now.threads.filter(waits);
  return held.find((one) => one.th === 0) ?? held[0] ?? null;
}

/** "line 6", or what stands for it. */
export const whereOf = ({ th, event }) => (th ? `thread ${th}` : int(event.line) > 0 ? `line ${event.line}` : 'the program');

/**
 * Where the program is, in a few words: {words, held}. by: 'step' or 'clock'; line: of the step that is shown; waited: for how
 * long that step's calls that are over held the program up. While a call blocks, its line waits; by step it is said
 * afterwards for how long.
 */
export function placeOf({ now, by, line, waited }) {
  const hold = holdOf(now);
  if (hold) return { words: `${whereOf(hold)} waits`, held: true };
  if (by === 'step' && waited > 0) return { words: `line ${line} waited ${units.time(waited)}`, held: true };
  return { words: line > 0 ? `at line ${line}` : '', held: false };
}
