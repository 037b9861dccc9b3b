// mistakes.js: what an error of a run concerns, as plain data: the operands that do not fit and what of them differs, the
// request that found no room and the largest hole, the tensor that was freed, the last call before a crash, both accesses
// of a data race and the value that was read. The log names the call as written; its operands are looked up among the
// names of that moment, and described by the error's message. Pure.

import { variableOf } from './aliases.js';
import { callsIn } from './calls.js';
import { int, list, object, text } from './fields.js';
import * as units from './units.js';
import { and, memoryName } from './words.js';

const TOLD = 3; // lines that hold a full memory: of more, the largest

const found = new WeakMap(); // event -> {known: events when it was made, mistake}

/**
 * What event seq, an error, an oom or a data_race, concerns, given the state after it:
 *
 *   type       mismatch, shape, full, freed, crash, pointer, race or other
 *   seq, line, name, call   name: of the function; line 0: the log does not say
 *   device     where the call would have run, or what is full; ''
 *   operands   {name, device, shape, dtype, storages, wrong}: storages: which may be meant, one where it is sure; wrong: what of it
 *              does not fit: {device, dims: indices into shape, dtype}
 *   request    of a full memory {bytes, free, hole: {start, bytes}, holders}; start: null where the address is not known
 *   freed      {name, storage, addr, bytes, device, line}
 *   last       before a crash: the last call {seq, line, code}; code: that line of the program, or ''
 *   race       {storage, ends: [{seq, line, does}], value}; value: as text, '' where the log has none
 *   words      short, for the bar of a processor; more: sentences that the error's message does not contain
 */
export function mistake(run, seq, state) {
  const e = object(run.events[seq]);
  const kept = found.get(e);
  if (kept?.known === run.events.length) return kept.mistake;
  const made = describe(run, seq, e, state);
  found.set(e, { known: run.events.length, mistake: made });
  return made;
}

function describe(run, seq, e, state) {
  const call = text(e.call);
  const base = {
    seq, type: 'other', line: int(e.line), call, name: /^\w+/.exec(call)?.[0] ?? '', device: '', operands: [],
    request: null, freed: null, last: null, race: null, words: codeWords(e), more: [],
  };
  const kind = e.kind === 'oom' ? 'oom' : e.kind === 'data_race' ? 'race' : text(e.code);
  return { ...base, ...(Object.hasOwn(kinds, kind) ? kinds[kind] : failed)(run, e, state, base) };
}

const codeWords = (e) => text(e.code, 'error').replaceAll('_', ' ');

const kinds = {
  device_mismatch(run, e, state) {
    const operands = operandsOf(e, state);
    const devices = [...new Set(operands.map((one) => one.device))];
    for (const one of operands) one.wrong.device = devices.length > 1;
    return { type: 'mismatch', operands, device: '', words: devices.length > 1 ? `operands on ${and(devices)}` : 'device mismatch', more: unsure(operands) };
  },

  shape(run, e, state, { name }) {
    const operands = operandsOf(e, state);
    const dims = wrongDims(name, operands.map((one) => one.shape));
    operands.forEach((one, i) => { one.wrong.dims = dims[i] ?? []; });
    const sizes = operands.flatMap((one) => one.wrong.dims.map((i) => one.shape[i]));
    return { type: 'shape', operands, device: operands[0]?.device ?? '', words: sizes.length === 2 ? `sizes ${sizes[0]} and ${sizes[1]} do not fit` : 'shapes do not fit', more: unsure(operands) };
  },

  dtype(run, e, state) {
    const operands = operandsOf(e, state);
    for (const one of operands) one.wrong.dtype = true;
    return { operands, device: operands[0]?.device ?? '' };
  },

  oom(run, e, state) {
    const [device, bytes] = [text(e.device), int(e.asked)];
    if (!device || !(bytes > 0)) return {};
    const hole = largestHole(run, e, state, device);
    const free = int(e.free) + Math.max(0, int(e.reserved) - int(e.allocated));
    const request = { bytes, free, hole, holders: holdersOf(state, device) };
    const room = `${memoryName(device)} has ${units.bytes(free)} free, the largest piece ${units.bytes(hole.bytes)}`;
    return { type: 'full', device, request, words: `no room for ${units.bytes(bytes)}`, more: [`${room}.`] };
  },

  use_after_free(run, e, state) {
    const freed = freedBy(run, e, state);
    return freed ? { type: 'freed', freed, device: freed.device, words: `${freed.name} was freed${atLine(freed.line)}` } : {};
  },

  crash: (run, e, state, { seq }) => crashed(run, e, state, seq, { type: 'crash', words: /^[^:]+/.exec(text(e.message))?.[0] ?? 'crash' }),

  device_pointer(run, e, state, { seq }) {
    const [, name, device] = /'([^']+)', which lives on (\w+(?::\d+)?)/.exec(text(e.message)) ?? [];
    const one = name && operand(state, e, { name, device, shape: null, dtype: '' });
    const does = /host (read|wrote)/.exec(text(e.message))?.[1] === 'wrote' ? 'write' : 'read';
    const more = { type: one ? 'pointer' : 'crash', words: `the CPU cannot ${does} ${name || 'VRAM'}`, operands: one ? [{ ...one, wrong: { ...one.wrong, device: true } }] : [] };
    return crashed(run, e, state, seq, more);
  },

  race(run, e) {
    const ends = [e.a, e.b].map((seq) => access(run, seq, int(e.storage)));
    const value = valueAfter(run, int(e.b, -1), int(e.storage));
    const words = `${ends.map(({ line, does }) => `line ${line} ${does}`).join(', ')}: nothing orders them`;
    const more = value ? [`What was read: ${value}.`] : [];
    return { type: 'race', device: '', race: { storage: int(e.storage), ends, value }, words, more };
  },
};

// Any other refused call: its operands, none of them at fault more than another.
function failed(run, e, state) {
  const operands = operandsOf(e, state);
  return { operands, device: operands[0]?.device ?? '' };
}

export const atLine = (line) => (line > 0 ? ` at line ${line}` : '');

/** "Held by line 5: 240 MiB in 6 tensors, line 4: 64 MiB" */
export function held(holders) {
  const words = holders.map(({ line, bytes, count }) => `${line > 0 ? `line ${line}` : 'no line'}: ${units.bytes(bytes)}${count > 1 ? ` in ${count} tensors` : ''}`);
  return words.length ? `Held by ${words.join(', ')}` : 'No tensor holds any of it';
}

// ---- operands -------------------------------------------------------------------------------------

// Those that the message describes, else those that the call's text names.
function operandsOf(e, state) {
  const told = described(text(e.message));
  const named = told.length ? told : argsOf(text(e.call)).map(unknown);
  return named.map((one) => operand(state, e, one)).filter((one) => told.length || one.storages.length);
}

const unknown = (name) => ({ name, device: '', shape: null, dtype: '' });

const unsure = (operands) => operands.filter((one) => one.storages.length > 1)
  .map(({ name, storages }) => `${storages.length} tensors are called ${name}; the log does not say which of them it was.`);

// "mat1 is on cpu (64, 64) float32; mat2 is on cuda:0 (64, 64) float32"
function described(message) {
  const all = message.split(/; |! |\. |\n|, (?=')/).map((one) => /^'?(.+?)'? is on (cpu|\w+:\d+)(?: \(([\d, ]*)\) (\w+))?[.,]?$/.exec(one.trim()));
  return all.filter(Boolean).map(([, name, device, dims, dtype = '']) => (
    { name, device, shape: dims === undefined ? null : dims.split(',').map((n) => n.trim()).filter(Boolean).map(Number), dtype }));
}

// The arguments of a call as written that are names, or begin with one.
const argsOf = (call) => (callsIn(call, 1)[0]?.args ?? []).filter((one) => /^[A-Za-z_]/.test(one));

function operand(state, e, told) {
  const handles = handlesOf(state, e, told);
  const one = handles[0];
  return {
    ...told, device: told.device || text(one?.device), shape: told.shape ?? one?.shape ?? [], dtype: told.dtype || text(one?.dtype),
    storages: [...new Set(handles.map((h) => h.storage))], wrong: { device: false, dims: [], dtype: false },
  };
}

const isCalled = (handle, name) => handle.name === name || handle.written === name; // weight[3], written weight[i] (turns.js)
const isLiving = (handle) => !handle.dropped;

// A variable has one tensor; of what a loop made, each that fits may be meant, the newest first.
function handlesOf(state, e, told) {
  const variable = state.tensors.get(state.variables.get(variableOf(state.sources, e, told.name)));
  const fits = (h) => h && isLiving(h) && state.storages.has(h.storage) && (!told.device || h.device === told.device) && (!told.shape || String(h.shape) === String(told.shape));
  if (fits(variable)) return [variable];
  const all = [...state.tensors.values()].filter(fits).reverse();
  const named = all.filter((h) => isCalled(h, told.name));
  if (named.length) return named;
  return told.shape && !/^\w+$/.test(told.name) ? all.filter((h) => !h.name) : []; // the result of an inner call
}

// Which dimensions of two shapes do not fit, by the call's own rule: [[indices], [indices]].
function wrongDims(name, shapes) {
  const [a, b] = shapes;
  if (shapes.length !== 2) return [];
  if (/matmul|_mm$|_mv$|_bmm$|linear/.test(name)) {
    const other = /linear/.test(name) ? b.length - 1 : Math.max(0, b.length - 2);
    if (a.at(-1) !== b[other]) return [[a.length - 1], [other]];
  }
  const wrong = [[], []];
  for (let i = 1; i <= Math.min(a.length, b.length); i++) {
    if (a.at(-i) === b.at(-i) || a.at(-i) === 1 || b.at(-i) === 1) continue;
    wrong[0].push(a.length - i);
    wrong[1].push(b.length - i);
  }
  return wrong;
}

// ---- a full memory --------------------------------------------------------------------------------

// Of a simulated card, whose memory is one range of addresses, also what was never taken from it.
function largestHole(run, e, state, device) {
  const segments = [...state.segments.values()].filter((s) => s.device === device).sort((a, b) => a.addr - b.addr);
  const living = [...state.storages.values()].filter((s) => s.device === device && s.freed === null).map((s) => [Number(s.addr) || 0, s.bytes]);
  const holes = segments.flatMap((s) => gaps(s.addr, s.addr + s.bytes, living));
  const card = state.devices.find((d) => d.name === device);
  const base = run.addresses.intervalsOf(device)[0]?.[0];
  const taken = [...segments.map((s) => [s.addr, s.bytes]), ...living];
  if (card?.kind === 'sim' && card.capacity > 0 && base !== undefined) holes.push(...gaps(base, base + card.capacity, taken));
  else holes.push({ start: null, bytes: int(e.free) });
  return holes.reduce((most, one) => (one.bytes > most.bytes ? one : most), { start: null, bytes: Math.max(0, int(e.largest)) });
}

// What [[start, bytes], ...] leaves of from..to.
function gaps(from, to, taken) {
  const all = [];
  let at = from;
  for (const [start, bytes] of taken.filter(([s, n]) => s < to && s + n > from).sort((a, b) => a[0] - b[0])) {
    if (start > at) all.push({ start: at, bytes: start - at });
    at = Math.max(at, start + bytes);
  }
  if (to > at) all.push({ start: at, bytes: to - at });
  return all;
}

// The lines that made what lives there, by bytes.
function holdersOf(state, device) {
  const lines = new Map();
  for (const s of state.storages.values()) {
    if (s.device !== device || s.freed !== null) continue;
    const key = `${s.created.file}:${s.created.line}`;
    const one = lines.get(key) ?? { line: s.created.line, file: s.created.file, bytes: 0, count: 0 };
    lines.set(key, { ...one, bytes: one.bytes + s.bytes, count: one.count + 1 });
  }
  return [...lines.values()].sort((a, b) => b.bytes - a.bytes).slice(0, TOLD);
}

// ---- freed, crashed, raced ------------------------------------------------------------------------

// The tensor that a call was given though it was released before, by its variable or by its name.
function freedBy(run, e, state) {
  const [, name, line] = /(\S+) was already freed(?: on line (\d+))?/.exec(text(e.message)) ?? [];
  if (!name) return null;
  const variable = state.tensors.get(state.variables.get(variableOf(state.sources, e, name)));
  const handle = variable?.dropped ? variable : [...state.tensors.values()].findLast((h) => h.dropped && isCalled(h, name));
  const storage = handle && state.storages.get(handle.storage);
  if (!storage) return { name, storage: 0, addr: 0, bytes: 0, device: '', line: Number(line) || 0 };
  const drop = run.events.findLast((one) => one?.kind === 'drop' && one.tensor === handle.id);
  return { name, storage: storage.id, addr: Number(storage.addr) || 0, bytes: storage.asked, device: storage.device, line: Number(line) || int(drop?.line) };
}

// The log of a crash names no line where the program's own code failed: it was after the last call that was logged.
function crashed(run, e, state, before, more) {
  let seq = before - 1;
  while (seq >= 0 && !(run.events[seq]?.line > 0 && run.events[seq].kind !== 'complete')) seq--;
  const { line, file } = object(run.events[seq]);
  const last = seq >= 0 ? { seq, line, code: (state.sources.get(text(file)) ?? '').split('\n')[line - 1]?.trim() ?? '' } : null;
  const where = e.line > 0 ? atLine(e.line) : last ? ` after line ${last.line}` : '';
  return { ...more, last, words: `${more.words}${where}`, more: last && !(e.line > 0) ? [`The last call of Ferry before it was at line ${last.line}${last.code ? `: ${last.code}` : '.'}`] : [] };
}

const uses = (all, storage) => list(all).some((one) => one?.storage === storage);

function access(run, seq, storage) {
  const e = object(run.events[seq]);
  const writes = e.kind === 'host_write' || uses(e.out, storage) || object(e.dst).storage === storage;
  return { seq: int(seq, -1), line: int(e.line), does: writes ? 'writes' : 'reads' };
}

// The first values that were seen of what the later access read or made of it.
function valueAfter(run, seq, storage) {
  const e = object(run.events[seq]);
  const seen = new Set([e.tensor, ...list(e.out).map((one) => one?.tensor)].filter(Boolean));
  const wrote = uses(e.out, storage) || object(e.dst).storage === storage;
  if (wrote || !seen.size) return '';
  const values = run.events.slice(seq + 1, seq + 40).find((one) => one?.kind === 'values' && seen.has(one.tensor));
  const data = list(values?.data);
  return data.slice(0, 3).map((x) => units.value(x)).join(', ') + (int(values?.count, data.length) > 3 ? ' …' : '');
}

/** What a mistake says of one storage, for its tooltip; '' if it does not concern it. */
export function saysOf(m, storage) {
  const one = m.operands.find((operand) => operand.storages.includes(storage));
  const of = m.name ? ` of ${m.name}` : '';
  if (m.type === 'pointer' && one) return `${m.words}: this tensor lives on ${one.device}`;
  if (one?.wrong.device) return `operand${of}, which never ran: this one is on ${one.device}, another is not`;
  if (one?.wrong.dims.length) return `operand${of}, which never ran: the size ${one.wrong.dims.map((i) => one.shape[i]).join(', ')} does not fit`;
  if (one) return `operand${of}, which never ran`;
  if (m.freed?.storage === storage && storage) return `freed${atLine(m.freed.line)}, used${atLine(m.line)}`;
  if (m.race?.storage === storage) return `data race: ${m.words}${m.race.value ? `; read: ${m.race.value}` : ''}`;
  return '';
}

/** All that is drawn of a mistake, in words. */
export function saying(m) {
  const stopped = m.type === 'race' ? 'Data race' : `Stopped${atLine(m.line)}`;
  return [`${stopped}: ${m.words}.`, ...m.operands.map((one) => `${one.name} is on ${one.device}, ${units.tuple(one.shape)} ${one.dtype}.`), ...m.more, ...(m.request ? [`${held(m.request.holders)}.`] : [])].join(' ');
}
