// run.js: one run as the page holds it: its events, their grouping into steps, the names they give,
// and what is known about its end. Pure; main.js feeds it from the network.

import { history } from './state.js';
import { steps } from './steps.js';
import { names } from './words.js';

export function run({ run: number, lesson = '', what = '', label = '' }) {
  const past = history();
  const parts = steps();
  const called = names();
  let closed = false; // the program or its log said that this is all
  const self = {
    number, lesson, what, label,
    events: past.events, steps: parts.all, names: called,
    ended: false, // nothing more will come
    watched: false, // it was seen to its end
    output: '', // what the program printed, told when it has ended
    total: 1, // ns: the latest time that any event tells of
    firstCopy: -1, // the step in which something first moves
    at: past.at,
    stepOf: parts.of,

    /** Take events in; those that are here already are passed over. */
    take(from, events) {
      if (from > past.events.length) return false; // a hole: the caller must ask again
      for (const e of events.slice(past.events.length - from)) add(e);
      return true;
    },

    /** Was it killed? Only a run that ended without saying so was. */
    get killed() {
      return self.ended && past.events.length > 0 && !closed;
    },
  };

  function add(e) {
    past.push(e);
    parts.add(e, past.events.length - 1);
    called.learn(e);
    if (e?.kind === 'end' || e?.kind === 'log_full') closed = true;
    if (self.firstCopy < 0 && e?.kind === 'copy') self.firstCopy = parts.all.length - 1;
    for (const t of [e?.t, e?.end]) if (Number.isFinite(t) && t > self.total) self.total = t;
  }

  return self;
}

/** What to call a run in the list. */
export function title({ number, what, label, lesson }) {
  const words = { demo: 'worked example', mine: 'your program', view: '' };
  return `${number}: ${label || words[what] || lesson || 'run'}`;
}
