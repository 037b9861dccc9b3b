// call_record.js: the calls that a log tells, each with the first event that belongs to it (lib/README.md). Every event
// gets the place of its call: `file`, `line` and `fn`. Of a node that a backward pass runs, that is the place of the call
// whose gradient it computes. Pure.

/** A reader of events, in the order of the log. */
export function callRecord() {
  const calls = new Map(); // id -> {id, in, region, name, args, turn, turns, node, of, batch, item, th, file, line, fn, parent}

  /** What a call leaves out is its parent's. */
  function add(told, th) {
    if (!(told?.id > 0) || calls.has(told.id)) return; // it may be told again
    const parent = calls.get(told.in);
    const { file, line, fn } = told.file === undefined && parent ? parent : told;
    calls.set(told.id, { th, ...told, file, line, fn, parent });
  }

  return {
    calls,

    /** Sets the event's place. */
    place(e) {
      if (!e || typeof e !== 'object') return;
      for (const told of Array.isArray(e.calls) ? e.calls : []) add(told, e.th);
      const call = calls.get(e.call);
      if (!call) return;
      const at = (e.kind === 'graph' && e.what === 'run' && calls.get(call.of)) || call;
      if (at.file === undefined) return;
      e.file = at.file;
      e.line = at.line;
      if (at.fn !== undefined) e.fn = at.fn;
    },
  };
}
