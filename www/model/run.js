// run.js: one run as the page holds it: its events, their grouping into steps and parts, the names they give,
// and how it ended. Pure; main.js feeds it from the network.

import { addresses } from './addresses.js';
import { moments } from './ahead.js';
import { callRecord } from './call_record.js';
import { int } from './fields.js';
import { pace, timeIn } from './pace.js';
import { reach } from './reach.js';
import { firstIndex } from './search.js';
import { history } from './state.js';
import { steps } from './steps.js';
import { timeline } from './timeline.js';
import { names } from './words.js';

export function run({ run: number, lesson = '', what = '', label = '', over = false }) {
  const past = history();
  const grouped = steps();
  const called = callRecord();
  const known = names(past.events);
  const clock = timeline();
  const places = addresses();
  const reached = reach();
  const newest = past.reader();
  const records = new Map(); // event id -> its event_records, in order
  let closed = false; // an `end` or `log_full` event arrived
  const self = {
    number, lesson, what, label,
    events: past.events, steps: grouped.all, parts: grouped.parts, calls: called.calls, names: known, timeline: clock, addresses: places,
    over, // it had ended before the page was told of it
    ended: false, // no more events will arrive
    watched: false, // played to its end
    output: '', // what the program printed; known once it has ended
    total: 1, // ns: the latest time in any event
    firstCopy: -1, // the part of the first copy
    stopped: -1, // the error that ended the program; -1: none so far
    races: 0, // data races that were found
    overlaps: false, // work was given to another stream than the default one
    at: past.at, // the state after event n: for the parts
    atTime: null, // (n, t) likewise, for moments of the clock: neither disturbs the other; with t, also what other threads had done by then
    atMoment: null, // the same, for the part that is shown at a moment
    stepOf: grouped.of,
    partOf: grouped.partOf,
    atEnd: () => newest(Infinity), // the state after the newest event: it disturbs neither
    readAhead: () => void newest(Infinity), // so that its newest moment is at hand (state.js: copies)
    lostIn: (state) => reached.lost(state, past.events), // what no variable reaches (reach.js)

    /** Adds events; skips those that are here already. */
    take(from, events) {
      if (from > past.events.length) return false; // a gap: the caller must request them again
      for (const e of events.slice(past.events.length - from)) add(e);
      return true;
    },

    /** The time that a step or a part covers, in ns: from the end of the one before it. The last one waits for all work,
     *  but for an error: then the program is gone. */
    span({ from, to }) {
      const start = from > 0 ? clock.timeOf(from - 1) : 0;
      const last = to >= past.events.length - 1 && self.ended && self.stopped < 0;
      return [start, last ? Math.max(self.total, start) : clock.timeOf(to)];
    },

    /** The time that is shown at the fraction m of part i, by step (pace.js). */
    timeIn: (i, m) => (grouped.parts[i] ? timeIn(pace(self, grouped.parts[i]), m) : 0),

    /** The part that is shown at time t: of the call that the host is in, else the last one that was over. */
    partAt(t) {
      const call = clock.callsAt(t)[0];
      return grouped.partOf(call ? call.seq : Math.max(0, clock.seqAt(t)));
    },

    /** The event_record that a wait in event seq refers to: {seq, device, stream}, or undefined. */
    recordOf(event, seq) {
      const all = records.get(event) ?? [];
      return all[firstIndex(all.length, (i) => all[i].seq >= seq) - 1];
    },

    /** Did it end without an end event: crashed or killed? */
    get killed() {
      return self.ended && past.events.length > 0 && !closed;
    },
  };

  const momentsOf = (after) => {
    const at = moments(self, after, past.fork);
    return (n, t) => (t === undefined ? after(n) : at(n, t));
  };
  self.atTime = momentsOf(past.reader());
  self.atMoment = momentsOf(past.at);

  function add(e) {
    const call = called.place(e);
    past.push(e);
    grouped.add(e, past.events.length - 1, call);
    known.learn(e);
    clock.add(e, past.events.length - 1);
    places.add(e);
    reached.learn(e, past.events.length - 1);
    if (e?.kind === 'event_record') record(e, past.events.length - 1);
    if (e?.kind === 'end' || e?.kind === 'log_full') closed = true;
    if (e?.kind === 'error') self.stopped = past.events.length - 1;
    if (e?.kind === 'end' && e.status === 0) self.stopped = -1;
    if (e?.kind === 'data_race') self.races++;
    if ((e?.kind === 'copy' || e?.kind === 'op') && e.stream > 0) self.overlaps = true;
    if (self.firstCopy < 0 && e?.kind === 'copy') self.firstCopy = grouped.parts.length - 1;
    self.total = Math.max(self.total, int(e?.t), int(e?.end));
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
  return `${number > 0 ? `${number}: ` : ''}${label || words[what] || lesson || 'run'}`;
}
