// run.js: one run as the page holds it: its events, their grouping into steps, the names they give,
// and how it ended. Pure; main.js feeds it from the network.

import { history } from './state.js';
import { steps } from './steps.js';
import { timeline } from './timeline.js';
import { names } from './words.js';

export function run({ run: number, lesson = '', what = '', label = '' }) {
  const past = history();
  const parts = steps();
  const known = names();
  const clock = timeline();
  const records = new Map(); // event id -> its event_records, in order
  let closed = false; // an `end` or `log_full` event arrived
  const self = {
    number, lesson, what, label,
    events: past.events, steps: parts.all, names: known, timeline: clock,
    ended: false, // no more events will arrive
    watched: false, // played to its end
    output: '', // what the program printed; known once it has ended
    total: 1, // ns: the latest time in any event
    firstCopy: -1, // the step of the first copy
    at: past.at,
    stepOf: parts.of,

    /** Adds events; skips those that are here already. */
    take(from, events) {
      if (from > past.events.length) return false; // a gap: the caller must request them again
      for (const e of events.slice(past.events.length - from)) add(e);
      return true;
    },

    /** The event_record that a wait in event seq refers to: {seq, device, stream}, or undefined. */
    recordOf: (event, seq) => records.get(event)?.findLast((r) => r.seq < seq),

    /** Did it end without an end event: crashed or killed? */
    get killed() {
      return self.ended && past.events.length > 0 && !closed;
    },
  };

  function add(e) {
    past.push(e);
    parts.add(e, past.events.length - 1);
    known.learn(e);
    clock.add(e, past.events.length - 1);
    if (e?.kind === 'event_record') record(e, past.events.length - 1);
    if (e?.kind === 'end' || e?.kind === 'log_full') closed = true;
    if (self.firstCopy < 0 && e?.kind === 'copy') self.firstCopy = parts.all.length - 1;
    for (const t of [e?.t, e?.end]) if (Number.isFinite(t) && t > self.total) self.total = t;
  }

  function record(e, seq) {
    if (!records.has(e.event)) records.set(e.event, []);
    records.get(e.event).push({ seq, device: e.device, stream: e.stream });
  }

  return self;
}

/** A run's title in the list. */
export function title({ number, what, label, lesson }) {
  const words = { demo: 'worked example', mine: 'your program', view: '' };
  return `${number}: ${label || words[what] || lesson || 'run'}`;
}
