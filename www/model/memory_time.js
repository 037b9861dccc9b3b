// memory_time.js: how many bytes lived in each memory at any time of a run, and which lines of the program had allocated
// them. Pure; reads a run as far as it has arrived, and each event once. Bytes count from their allocation to their
// release, by the host's clock.

import { int, text } from './fields.js';
import { perRun } from './per_run.js';
import { firstIndex } from './search.js';

const NAMED = 6; // lines that are told apart; of more, those with the highest peaks

/** The memories of a run: {of(device) -> {device, peak, lines, at(t), next(t)}, devices()}, with all events that have arrived. */
export const memoriesOf = perRun(memories);

function memories(run) {
  const all = new Map(); // device -> {device, total: steps, lines: "file:line" -> steps}
  const living = new Map(); // storage -> {device, line, bytes}

  function add(e, seq) {
    if (e.kind === 'alloc') born(e, run.timeline.timeOf(seq));
    if (e.kind === 'free') gone(int(e.storage), run.timeline.timeOf(seq));
  }

  function born(e, t) {
    const line = e.line > 0 ? `${text(e.file)}:${e.line}` : '';
    const one = { device: text(e.device, 'cpu'), line, bytes: Math.max(0, int(e.bytes)) };
    gone(int(e.storage), t);
    living.set(int(e.storage), one);
    change(one, t, one.bytes);
  }

  function gone(storage, t) {
    const one = living.get(storage);
    living.delete(storage);
    if (one) change(one, t, -one.bytes);
  }

  function change({ device, line }, t, by) {
    if (!all.has(device)) all.set(device, { device, total: steps(), lines: new Map() });
    const memory = all.get(device);
    if (!memory.lines.has(line)) memory.lines.set(line, steps());
    memory.total.add(t, by);
    memory.lines.get(line).add(t, by);
  }

  return { add, devices: () => [...all.keys()], of: (device) => view(all.get(device)) };
}

// The lines in order of their first allocation; '' at the end: those that are not told apart.
function view(memory) {
  if (!memory) return null;
  const high = [...memory.lines].sort((a, b) => b[1].peak - a[1].peak).slice(0, NAMED).map(([line]) => line);
  const lines = [...memory.lines].filter(([line]) => line && high.includes(line));
  return {
    device: memory.device, peak: memory.total.peak, lines: lines.map(([line]) => line),
    /** {total, lines: [{line, bytes}, ...]} at time t, in the order of `lines`. */
    at(t) {
      const total = memory.total.at(t);
      const parts = lines.map(([line, one]) => ({ line, bytes: one.at(t) }));
      const rest = total - parts.reduce((sum, part) => sum + part.bytes, 0);
      return { total, lines: rest > 0 ? [...parts, { line: '', bytes: rest }] : parts };
    },
    /** The next time after t at which it changes; Infinity: none. */
    next: (t) => memory.total.next(t),
  };
}

// A number that changes at times which never fall.
function steps() {
  const times = [];
  const values = [];
  const self = {
    peak: 0,
    add(t, by) {
      const value = (values.at(-1) ?? 0) + by;
      if (times.at(-1) === t) values[values.length - 1] = value;
      else {
        times.push(t);
        values.push(value);
      }
      self.peak = Math.max(self.peak, value);
    },
    at: (t) => values[firstIndex(times.length, (i) => times[i] > t) - 1] ?? 0,
    next: (t) => times[firstIndex(times.length, (i) => times[i] > t)] ?? Infinity,
  };
  return self;
}
