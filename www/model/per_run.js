// per_run.js: what is made of the events of a run, kept with it: each event is read once, when it is first asked for after it
// arrived. Pure.

import { object } from './fields.js';

/** make(run) -> {add(e, seq), ...}. of(run): what was made, the same for the same run, with all events that have arrived. */
export function perRun(make) {
  const known = new WeakMap(); // run -> {made, next: the first event that was not read}
  return function of(run) {
    if (!known.has(run)) known.set(run, { made: make(run), next: 0 });
    const one = known.get(run);
    for (; one.next < run.events.length; one.next++) one.made.add(object(run.events[one.next]), one.next);
    return one.made;
  };
}
