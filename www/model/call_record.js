// call_record.js: the calls that a log tells, each with the first event that belongs to it (lib/README.md). Every event
// gets the place of its call: `file`, `line` and `fn` (of a node that a backward pass runs, the place of the call whose gradient it
// computes); and one that names a tensor `told`, its name in this turn of a loop. Pure.

import { nameIn } from './tensor_names.js';

/** A reader of events, in the order of the log. */
export function callRecord() {
  /**
   * id -> a call as the log tells it, with the place that it leaves out, and:
   *   parent  the call or region that it is in
   *   owner   the innermost one, it or what it is in, that the program wrote, or that is a turn; null: none
   *   part    by which the owner's step is divided (steps.js)
   *   round   the innermost turn of a loop, it or what it is in
   */
  const calls = new Map();

  /** What a call leaves out is its parent's. */
  function add(told, th) {
    if (!(told?.id > 0) || calls.has(told.id)) return; // it may be told again
    const parent = calls.get(told.in);
    const { id, region, name, args, turn, turns, of } = told;
    const { file, line, fn } = told.file === undefined && parent ? parent : told;
    const call = { id, in: told.in, region, name, args, turn, turns, of, th: told.th ?? th, file, line, fn, parent, owner: parent?.owner ?? null, part: null, round: parent?.round };
    if (told.region === 'turn') call.round = call;
    if (told.region === 'turn' || told.file !== undefined) call.owner = call;
    call.part = call === call.owner || !parent || isPassedOver(parent) ? call : parent.part;
    calls.set(told.id, call);
  }

  return {
    calls,

    /** Sets the event's place and name; returns its call, or undefined. */
    place(e) {
      if (!e || typeof e !== 'object') return undefined;
      for (const told of Array.isArray(e.calls) ? e.calls : []) add(told, e.th);
      const call = calls.get(e.call);
      if (!call) return undefined;
      if (NAMES.has(e.kind)) tell(e, nameIn(e, call));
      const at = (e.kind === 'graph' && e.what === 'run' && calls.get(call.of)) || call;
      if (at.file === undefined) return call;
      e.file = at.file;
      e.line = at.line;
      if (at.fn !== undefined) e.fn = at.fn;
      return call;
    },
  };
}

const NAMES = new Set(['tensor', 'name', 'same']);

function tell(e, name) {
  if (name !== e.name) e.told = name;
}

// Does a call in it begin a part of its own? In a module those that it is made of do.
const isPassedOver = ({ part, owner }) => part === owner || part.region === 'module';
