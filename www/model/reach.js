// reach.js: what no variable of the program reaches any more: bytes that are lost until it ends. The log does not say so. It is told
// where it is sure: the tensor's variable was given another one, or its block is over; the text shows that nothing else kept
// it; and no later event uses it, which only the whole log tells: while a run still arrives, a tensor may turn out to be
// reached. A tensor without a name is lost when its line is over, if it was made for a call of that line. Pure.

import { callsIn, escapes, scopeOf, startsOf } from './c_text.js';
import { int, list, object, text } from './fields.js';
import * as units from './units.js';
import { and, few } from './words.js';

const LINES = 4; // that are named

/** `learn` each event once, in order; `lost(state, events)`: see below. */
export function reach() {
  const last = new Map(); // tensor -> {seq, line}: the last event that uses it

  function learn(e, seq) {
    for (const id of usedBy(object(e))) last.set(id, { seq, line: int(e.line) });
  }

  /**
   * What is lost after the last event of a state: {storages: ids, bytes: device -> bytes that were asked for, sum, lines: that
   * made them}.
   */
  function lost(state, events) {
    const found = { storages: new Set(), bytes: new Map(), sum: 0, lines: [] };
    const { knows } = state.session ?? {};
    if (Array.isArray(knows) && !(knows.includes('frees') && knows.includes('sources') && knows.includes('calls'))) return found; // what goes unseen is not lost
    const places = new Map(); // thread -> its newest event that has a line
    const placeOf = (th) => {
      if (!places.has(th)) places.set(th, placeBefore(events, state.seq, th));
      return places.get(th);
    };
    for (const storage of state.storages.values()) {
      const tensors = storage.freed === null ? storage.tensors.map((id) => state.tensors.get(id)).filter((one) => one && !one.dropped) : [];
      if (!tensors.length || !tensors.every((one) => isLost(state, one, last.get(one.id), placeOf))) continue;
      found.storages.add(storage.id);
      found.bytes.set(storage.device, (found.bytes.get(storage.device) ?? 0) + storage.asked);
      found.sum += storage.asked;
      if (storage.created.line > 0 && !found.lines.includes(storage.created.line)) found.lines.push(storage.created.line);
    }
    return found;
  }

  return { learn, lost };
}

const uses = {
  op: (e) => [...list(e.in), ...list(e.out)].map((one) => one?.tensor),
  copy: (e) => [e.src?.tensor, e.dst?.tensor],
  tensor: (e) => [e.view_of],
  drop: (e) => (e.why === 'exit' ? [] : [e.tensor]), // who frees it reaches it, a scope too
};

function usedBy(e) {
  if (e.kind === 'values' || e.kind === 'complete') return [];
  return (Object.hasOwn(uses, e.kind) ? uses[e.kind](e) : [e.tensor]).filter((id) => id > 0);
}

function placeBefore(events, seq, th) {
  for (let i = seq; i >= 0 && i > seq - 4096; i--) if (events[i]?.line > 0 && int(events[i].th) === th && events[i].kind !== 'complete') return events[i];
  return null;
}

// Does nothing reach a tensor any more?
function isLost(state, tensor, last, placeOf) {
  if (!last || last.seq > state.seq) return false;
  const source = state.sources.get(tensor.created.file);
  if (typeof source !== 'string') return false;
  const place = placeOf(tensor.th);
  if (!tensor.name) return isArgument(source, tensor, last) && (Boolean(state.ended) || isPast(tensor, place));
  if (tensor.also.some(({ fn }) => fn === tensor.fn || fn === 'main')) return false;
  const name = tensor.name.replace(/\[.*/, '');
  const scope = scopeOf(source, tensor.created.line, name);
  const isGone = tensor.lost || (scope && isOver(startsOf(source), scope, tensor, place));
  return Boolean(isGone && scope) && !escapes(source, scope, name);
}

// Was it made for a call of its line, and could no function but the library's keep it?
function isArgument(source, { created }, last) {
  const calls = callsIn(source, created.line);
  return last.line === created.line && calls.length > 1 && calls.every(({ name }) => name.startsWith('fy_'));
}

const isPast = ({ created, fn }, place) => place !== null && (text(place.fn) === fn ? place.line !== created.line : place.fn === 'main');

// main calls the others: when it goes on, they are over.
function isOver(starts, scope, { fn }, place) {
  if (scope.kind === 'file' || !place) return false;
  if (text(place.fn) !== fn) return place.fn === 'main';
  const at = starts[place.line] ?? Infinity; // the end of the line
  return at <= scope.from || starts[place.line - 1] >= scope.to;
}

/** "12 KiB are leaked: what lines 6, 7 and 8 made was not freed, and no variable holds it any more."; '' where nothing is lost. */
export function lostWords({ sum, lines }) {
  const which = and(few(lines, LINES));
  const who = lines.length ? `what line${lines.length > 1 ? 's' : ''} ${which} made` : 'memory';
  return sum ? `${units.bytes(sum)} are leaked: ${who} was not freed, and no variable holds it any more.` : '';
}
