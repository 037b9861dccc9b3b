// inspect.js: everything that a log tells of one storage at a moment: what it is, who holds it, what happened to it, and the
// values known then (known_values.js). Read from the events, so that it also tells of what is not made yet or long freed. Pure.

import { int, list, object, text } from './fields.js';
import { knownValues } from './known_values.js';
import { perRun } from './per_run.js';
import { purposeLines } from './purpose.js';
import { firstIndex } from './search.js';
import { isStale, newerThan } from './state.js';
import * as units from './units.js';
import { memoryName, sentence, stream } from './words.js';

const MOST = 200; // events of a history that are told, the nearest to the moment

// ---- which events concern a storage -----------------------------------------------------------------

const indexOf = perRun(() => {
  const storages = new Map(); // id -> {alloc, seqs, tensors}
  const tensors = new Map(); // id -> its event
  const works = new Map(); // id of a copy or an op -> {seq, end: when it was done, once the log tells}
  const entry = (id) => {
    if (!storages.has(id)) storages.set(id, { alloc: null, seqs: [], tensors: [] });
    return storages.get(id);
  };
  const homeOf = (tensor) => int(tensors.get(tensor)?.storage);

  function add(e, seq) {
    if (e.kind === 'tensor' && e.tensor > 0) {
      tensors.set(e.tensor, e);
      if (e.storage > 0) entry(e.storage).tensors.push({ id: e.tensor, seq });
    }
    if (e.kind === 'alloc' && e.storage > 0) entry(e.storage).alloc = seq;
    if (e.kind === 'op' || e.kind === 'copy') works.set(e.id, { seq, end: Infinity });
    if (e.kind === 'complete' && works.has(e.id)) works.get(e.id).end = int(e.end);
    if (e.kind === 'values' && e.work > 0) index.hasResults = true;
    for (const id of touched(e, homeOf)) entry(id).seqs.push(seq);
  }

  const index = { add, storages, tensors, works, homeOf, hasResults: false };
  return index;
});

function touched(e, homeOf) {
  const uses = [e.src, e.dst, ...list(e.in), ...list(e.out), e].map(object);
  const named = [e.tensor, ...list(e.operands)].map(homeOf);
  return new Set([...uses.map((one) => int(one.storage)), ...named].filter((id) => id > 0));
}

/** What event e is about, for a slice that was chosen: {storage, tensor}; what it writes before what it reads; null: no storage. */
export function subjectOf(event) {
  const e = object(event);
  const uses = [...list(e.out), e.dst, ...list(e.in), e.src, e].map(object).filter((one) => one.storage > 0);
  return uses.length ? { storage: uses[0].storage, tensor: int(uses[0].tensor) } : null;
}

/** The last event by `seq` that concerned a storage and passes `test`, of the nearest ones; else the last one; -1: none. */
export function lastOf(run, storage, seq, test) {
  const all = indexOf(run).storages.get(storage)?.seqs ?? [];
  const end = firstIndex(all.length, (i) => all[i] > seq);
  const past = all.slice(Math.max(0, end - MOST), end);
  return past.findLast(test) ?? past.at(-1) ?? -1;
}

// ---- the moment -----------------------------------------------------------------------------------

/**
 * What is known of a storage after the last event of `state`, at time t of the run's clock. asked: {storage, tensor: which of its tensors; 0: the first};
 * lost: what no variable reaches (reach.js); step: the one shown; hidden: the learner still has to guess what comes later. null: the log has no such storage. Else {storage, phase:
 * 'later', 'live' or 'freed', at: the seq of what made or freed it, title, tensor: the one that is told, tensors: all that see it
 * by now: [{id, name}], facts: [[what, words], ...], notes: sentences, holders: {count, words, list: [{id, name, words, gone}]},
 * history: [{seq, step, line, role, words, when: 'past', 'now', 'later'}], left: events of it that are not told, values}.
 */
export function inspect(run, state, asked, { lost = null, step = null, hidden = false, t = Infinity } = {}) {
  const index = indexOf(run);
  const own = index.storages.get(asked.storage);
  if (!own || own.alloc === null) return null;
  const seq = state.seq;
  const storage = state.storages.get(asked.storage) ?? null;
  const free = own.seqs.find((at) => run.events[at].kind === 'free');
  const phase = own.alloc > seq ? 'later' : free !== undefined && free <= seq ? 'freed' : 'live';
  const all = own.tensors.filter((one) => one.seq <= seq || phase === 'later').map(({ id }) => tensorAt(run, state, index, id, phase));
  const tensor = all.find(({ id }) => id === asked.tensor) ?? all.find((one) => !one.dropped && !one.viewOf) ?? all.find((one) => !one.dropped) ?? all[0] ?? null;
  const writes = writesOf(run, own, asked.storage, seq);
  const alloc = run.events[own.alloc];
  const self = { run, state, seq, index, own, storage, alloc, tensor, all, writes, phase, lost };
  const values = tensor && phase !== 'later' ? knownValues(run, { ...self, seqs: own.seqs, t }) : null;
  return {
    storage: asked.storage, phase, at: phase === 'freed' ? free : own.alloc, tensor, tensors: all.map(({ id, name }) => ({ id, name })),
    bytes: int(alloc.bytes), addr: text(alloc.addr), device: text(alloc.device, 'cpu'),
    title: titleOf(self), facts: factsOf(self), notes: notesOf(self, free, values), holders: holdersOf(self), ...historyOf(self, step, hidden), values,
  };
}

const geometryOf = (e) => ({
  shape: list(e.shape).filter((n) => Number.isInteger(n) && n >= 0), strides: list(e.strides).filter(Number.isInteger), offset: Math.max(0, int(e.offset)), dtype: text(e.dtype),
});

// As the state has it; of what the state does not hold (any more), as it was made.
function tensorAt(run, state, index, id, phase) {
  const known = state.tensors.get(id);
  const e = index.tensors.get(id);
  const made = { id, ...geometryOf(e), viewOf: int(e.view_of), line: int(e.line), dropped: phase === 'freed' ? 'free' : null, lost: null, also: [], fn: text(e.fn) };
  const name = known?.name || run.names.at(phase === 'later' ? Infinity : state.seq).tensor(id);
  return { ...made, ...(known ? { dropped: known.dropped, lost: known.lost, also: known.also } : {}), name, nameless: !known?.name && /^t\d+$/.test(name) };
}

function titleOf({ tensor, alloc }) {
  return `${tensor ? tensor.name : `storage ${alloc.storage}`} in ${memoryName(alloc.device)}`;
}

const kindsOfMemory = { pageable: 'pageable', pinned: 'pinned', device: 'of the card', foreign: "the program's own" };
const atLine = (e) => (int(e?.line) > 0 ? ` at line ${e.line}` : '');

function factsOf({ tensor, alloc, writes, run, own }) {
  const { asked = alloc.bytes, bytes } = alloc;
  const version = writes.at(-1)?.version ?? 0;
  const facts = [];
  if (tensor) {
    facts.push(['shape', `${units.tuple(tensor.shape)} of ${tensor.dtype}`], ['strides', `${units.tuple(tensor.strides)}, in elements`], ['offset', `element ${units.number(tensor.offset)}`]);
  }
  facts.push(['memory', `${memoryName(alloc.device)} (${text(alloc.device, 'cpu')}), ${kindsOfMemory[alloc.mem] ?? text(alloc.mem, 'unknown')}${int(alloc.stream) > 0 ? `, of ${stream(alloc)}` : ''}`]);
  facts.push(['address', `${text(alloc.addr, 'unknown')}${alloc.tenant > 0 ? `, used before by ${units.plural(alloc.tenant, 'storage')}` : ''}`]);
  facts.push(['bytes', asked === bytes ? units.number(int(bytes)) : `${units.number(int(asked))} requested, ${units.number(int(bytes))} allocated`]);
  facts.push(['version', version ? `${version}${writes.length ? `, last written${atLine(run.events[writes.at(-1).seq])}` : ''}` : '0: never written']);
  facts.push(['allocated', `event ${own.alloc}${atLine(alloc)}`]);
  return facts;
}

function notesOf({ run, state, storage, phase, tensor, alloc, lost, own, seq, writes }, free, values) {
  const notes = [];
  if (phase === 'later') notes.push(`Not allocated yet at this step: it will be${atLine(alloc)}.`);
  if (phase === 'freed') notes.push(`Freed${atLine(run.events[free])}: its bytes may hold something else by now.`);
  if (phase !== 'live') return notes;
  if (storage) notes.push(...purposeLines(state, storage).map((words) => `${words[0].toUpperCase()}${words.slice(1)}.`));
  if (lost?.storages.has(alloc.storage)) notes.push('No variable reaches these bytes any more: they stay allocated until the program ends.');
  if (tensor?.lost) notes.push(`The variable ${tensor.name} ${tensor.lost.declared ? 'is a new one' : 'was assigned again'}${tensor.lost.line ? ` at line ${tensor.lost.line}` : ''}: it is no longer the name of this tensor.`);
  if (storage && isStale(state, storage)) notes.push(`Older than ${newerThan(state, storage)}, which was written since.`);
  const races = own.seqs.filter((at) => at <= seq && run.events[at].kind === 'data_race' && run.events[at].storage === alloc.storage);
  if (races.length) notes.push(`A data race${atLine(run.events[races.at(-1)])}: what these bytes hold is undefined; a simulated card makes it poison.`);
  if (alloc.mem !== 'foreign' && !writes.length) notes.push(POISON);
  else if (values?.unwritten > 0) notes.push(`${units.plural(values.unwritten, 'element')} of ${tensor.name} ${values.unwritten === 1 ? 'was' : 'were'} never written: poison.`);
  return notes;
}

const POISON = 'Never written: what it holds is undefined. On a simulated card it is poison, bytes of 0xff: NaN in a float tensor, −1 in int32 or int64, 255 in uint8.';

// ---- who holds it -----------------------------------------------------------------------------------

function holdersOf({ all, phase, lost, alloc, storage, index }) {
  if (phase === 'later') return { count: 0, words: 'Nobody yet.', list: [] };
  const held = phase === 'freed' ? [] : all.filter((one) => !one.dropped);
  const nameOf = (id) => all.find((one) => one.id === id)?.name ?? text(index.tensors.get(id)?.name, `t${id}`);
  const rows = all.map((one) => ({ id: one.id, name: one.name, gone: !held.includes(one), words: holderWords(one, nameOf, held.includes(one)) }));
  const users = (storage?.streams ?? []).map((one) => stream(one));
  const kept = users.length ? ` Its memory is kept for ${[...new Set(users)].join(', ')} too.` : '';
  const which = held.length && lost?.storages.has(alloc.storage) ? ' No variable of the program is one of them.' : '';
  const words = held.length ? `${units.plural(held.length, 'tensor refers', 'tensors refer')} to these bytes; they are freed with the last one.${which}` : phase === 'freed' ? 'Nobody: the last tensor was released.' : 'Nobody refers to these bytes.';
  return { count: held.length, words: words + kept, list: rows.sort((a, b) => a.gone - b.gone) };
}

function holderWords(one, nameOf, isHeld) {
  const parts = [`${units.tuple(one.shape)}${one.viewOf ? `, a view of ${nameOf(one.viewOf)}` : ''}`];
  if (one.line) parts.push(`made at line ${one.line}`);
  for (const { name, fn } of one.also) parts.push(`also ${name} in ${fn}`);
  if (!isHeld) parts.push('released');
  else if (one.lost) parts.push(`its variable has another tensor${one.lost.line ? ` since line ${one.lost.line}` : ''}`);
  else if (one.nameless) parts.push('no variable');
  return parts.join('; ');
}

// ---- what happened to it ------------------------------------------------------------------------------

const has = (uses, id) => list(uses).some((one) => one?.storage === id);

const roles = {
  alloc: () => 'allocated', free: () => 'freed', name: () => 'renamed', drop: () => 'released', host_read: () => 'read', host_write: () => 'written',
  tensor: (e) => (e.saved ? 'saved for a gradient' : e.view_of ? 'viewed' : 'made'), record_stream: () => 'kept', data_race: () => 'data race', given: () => 'given', answer: () => 'submitted', error: () => 'error',
  copy: (e, id) => (e.dst?.storage !== id ? 'copied from' : e.src?.storage === id ? 'copied within' : 'copied to'),
  op: (e, id) => (!has(e.out, id) ? 'read' : has(e.in, id) || e.inplace ? 'changed in place' : 'written'),
};

function historyOf({ run, own, seq, alloc }, step, hidden) {
  const told = own.seqs.filter((at) => Object.hasOwn(roles, text(run.events[at].kind)) && (at <= seq || !hidden));
  const before = told.findLastIndex((at) => at <= seq);
  const from = Math.max(0, Math.min(before - MOST / 2, told.length - MOST));
  const history = told.slice(from, from + MOST).map((at) => {
    const e = run.events[at];
    const when = at > seq ? 'later' : step && at >= step.from ? 'now' : 'past';
    return { seq: at, step: run.stepOf(at), line: int(e.line), role: roles[e.kind](e, alloc.storage), words: sentence(e, run.names.at(at)), when };
  });
  return { history, left: told.length - history.length };
}

/** The writes into a storage by event `seq`: [{seq, tensor: its geometry or null, first, count, version}]. */
function writesOf(run, own, id, seq) {
  const index = indexOf(run);
  const geometry = (tensor) => {
    const e = index.tensors.get(tensor);
    return e ? geometryOf(e) : null;
  };
  const found = [];
  for (const at of own.seqs) {
    if (at > seq) break;
    const e = run.events[at];
    const outs = e.kind === 'op' ? list(e.out).map(object) : e.kind === 'copy' ? [object(e.dst)] : e.kind === 'host_write' ? [e] : [];
    for (const out of outs) {
      if (out.storage !== id) continue;
      const part = e.kind === 'host_write' ? { first: int(e.first), count: int(e.count, Infinity) } : { first: 0, count: Infinity };
      found.push({ seq: at, tensor: geometry(out.tensor), ...part, version: int(out.version, (found.at(-1)?.version ?? 0) + 1) });
    }
  }
  return found;
}
