// mistakes.js: what an error of a run concerns, as plain data: the operands that do not fit and what of them differs,
// the request that found no room and the largest hole, the tensor that was freed, the last call before a crash, both
// accesses of a data race and the value that was read. The log says which tensors an error is about; what they were
// then is looked up in the state. Only of a pointer into VRAM the message alone names the tensor. Pure.

import { callsIn } from './c_text.js';
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
 *   operands   {name, device, shape, dtype, storage, wrong}; wrong: what of it does not fit: {device, dtype,
 *              dims: indices into shape}
 *   request    of a full memory {bytes, free, hole: {start, bytes}, holders}; start: null: its address is not known
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
  const call = text(e.written);
  const operands = operandsOf(run, seq, e, state);
  const base = {
    seq, type: 'other', line: int(e.line), call, name: /^\w+/.exec(call)?.[0] ?? '',
    device: operands[0]?.device ?? '', operands,
    request: null, freed: null, last: null, race: null, words: text(e.code, 'error').replaceAll('_', ' '), more: [],
  };
  const kind = e.kind === 'oom' ? 'oom' : e.kind === 'data_race' ? 'race' : text(e.code);
  return { ...base, ...(Object.hasOwn(kinds, kind) ? kinds[kind](run, e, state, base) : {}) };
}

const kinds = {
  device_mismatch(run, e, state, { operands }) {
    const devices = [...new Set(operands.map((one) => one.device))];
    const differ = devices.length > 1;
    for (const one of operands) one.wrong.device = differ;
    return { type: 'mismatch', device: '', words: differ ? `operands on ${and(devices)}` : 'device mismatch' };
  },

  shape(run, e, state, { name, operands }) {
    const dims = wrongDims(name, operands.map((one) => one.shape));
    operands.forEach((one, i) => { one.wrong.dims = dims[i] ?? []; });
    const sizes = operands.flatMap((one) => one.wrong.dims.map((i) => one.shape[i]));
    const what = sizes.length === 2 ? `sizes ${sizes[0]} and ${sizes[1]}` : 'shapes';
    return { type: 'shape', words: `${what} do not fit` };
  },

  dtype(run, e, state, { operands }) {
    for (const one of operands) one.wrong.dtype = true;
    return {};
  },

  oom(run, e, state) {
    const [device, bytes] = [text(e.device), int(e.asked)];
    if (!device || !(bytes > 0)) return {};
    const hole = largestHole(run, e, state, device);
    const free = int(e.free) + Math.max(0, int(e.reserved) - int(e.allocated));
    const request = { bytes, free, hole, holders: holdersOf(state, device) };
    const room = `${memoryName(device)} has ${units.bytes(free)} free, ${free < bytes ? 'too little' : 'enough, but in pieces'}: the largest free block is ${units.bytes(hole.bytes)}`;
    return { type: 'full', device, request, words: `no room for ${units.bytes(bytes)}`, more: [`${room}.`] };
  },

  use_after_free(run, e, state) {
    const handle = list(e.operands).map((id) => state.tensors.get(id)).find((one) => one?.dropped);
    const storage = state.storages.get(handle?.storage);
    if (!storage) return {};
    const line = int(run.events.findLast((one) => one?.kind === 'drop' && one.tensor === handle.id)?.line);
    const { id, asked, device } = storage;
    const freed = { name: handle.name, storage: id, addr: Number(storage.addr) || 0, bytes: asked, device, line };
    return { type: 'freed', freed, device, operands: [], words: `${freed.name} was freed${atLine(line)}` };
  },

  crash(run, e, state, { seq }) {
    const [signal] = text(e.message, 'crash').split(':');
    return crashed(run, e, state, seq, 'crash', signal);
  },

  device_pointer(run, e, state, { seq }) {
    const [, did, name, device] = /host (read|wrote).* '([^']+)', which lives on (\w+:\d+)/.exec(text(e.message)) ?? [];
    const isIt = (h) => !h.dropped && h.device === device && (h.name === name || h.written === name);
    const handle = [...state.tensors.values()].findLast(isIt);
    const operands = handle ? [operand(handle, name)] : [];
    for (const one of operands) one.wrong.device = true;
    const words = `the CPU cannot ${did === 'wrote' ? 'write' : 'read'} ${name || 'VRAM'}`;
    return { ...crashed(run, e, state, seq, handle ? 'pointer' : 'crash', words), operands };
  },

  race(run, e) {
    const ends = [e.a, e.b].map((seq) => access(run, seq, int(e.storage)));
    const value = valueAfter(run, int(e.b, -1), int(e.storage));
    const words = `${ends.map(({ line, does }) => `line ${line} ${does}`).join(', ')}: nothing orders them`;
    const more = value ? [`What was read: ${value}.`] : [];
    return { type: 'race', device: '', race: { storage: int(e.storage), ends, value }, words, more };
  },
};

export const atLine = (line) => (line > 0 ? ` at line ${line}` : '');

/** "Held by line 5: 240 MiB in 6 tensors, line 4: 64 MiB" */
export function held(holders) {
  const words = holders.map(({ line, bytes, count }) => {
    const where = line > 0 ? `line ${line}` : 'no line';
    return `${where}: ${units.bytes(bytes)}${count > 1 ? ` in ${count} tensors` : ''}`;
  });
  return words.length ? `Held by ${words.join(', ')}` : 'No tensor holds any of it';
}

// ---- operands -------------------------------------------------------------------------------------

// A tensor without a name is called as the call has it: "fy_relu(x)".
function operandsOf(run, seq, e, state) {
  const args = callsIn(text(e.written), 1)[0]?.args ?? [];
  return list(e.operands).flatMap((id, i) => {
    const handle = state.tensors.get(id);
    if (!state.storages.has(handle?.storage)) return [];
    const name = !handle.name && /^\w+\(/.test(args[i]) ? args[i] : run.names.at(seq).tensor(id);
    return [operand(handle, name)];
  });
}

function operand({ device, shape, dtype, storage }, name) {
  return { name, device, shape, dtype, storage, wrong: { device: false, dims: [], dtype: false } };
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
  const here = [...state.storages.values()].filter((s) => s.device === device && s.freed === null);
  const living = here.map((s) => [Number(s.addr) || 0, s.bytes]);
  const holes = segments.flatMap((s) => gaps(s.addr, s.addr + s.bytes, living));
  const card = state.devices.find((d) => d.name === device);
  const base = run.addresses.intervalsOf(device)[0]?.[0];
  const taken = [...segments.map((s) => [s.addr, s.bytes]), ...living];
  const isOneRange = card?.kind === 'sim' && card.capacity > 0 && base !== undefined;
  if (isOneRange) holes.push(...gaps(base, base + card.capacity, taken));
  else holes.push({ start: null, bytes: int(e.free) });
  const least = { start: null, bytes: Math.max(0, int(e.largest)) };
  return holes.reduce((most, one) => (one.bytes > most.bytes ? one : most), least);
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

// ---- crashed, raced ------------------------------------------------------------------------

// Where the log of a crash has no line, it was after the last call that was logged.
function crashed(run, e, state, before, type, words) {
  if (e.line > 0) return { type, words: `${words}${atLine(e.line)}` };
  let seq = before - 1;
  while (seq >= 0 && !(run.events[seq]?.line > 0 && run.events[seq].kind !== 'complete')) seq--;
  if (seq < 0) return { type, words };
  const { line, file } = run.events[seq];
  const code = (state.sources.get(text(file)) ?? '').split('\n')[line - 1]?.trim() ?? '';
  const more = `The last call of Ferry before it was at line ${line}${code ? `: ${code}` : '.'}`;
  return { type, last: { seq, line, code }, words: `${words} after line ${line}`, more: [more] };
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
  const values = run.events.slice(seq + 1, seq + 40).find((one) => one?.kind === 'values' && seen.has(one.tensor) && (one.work ?? e.id) === e.id);
  const data = list(values?.data);
  return data.slice(0, 3).map((x) => (x === 'nan' ? 'NaN' : units.value(x))).join(', ') + (int(values?.count, data.length) > 3 ? ' …' : '');
}

/** What a mistake says of one storage, for its tooltip; '' if it does not concern it. */
export function saysOf(m, storage) {
  const one = m.operands.find((operand) => operand.storage === storage);
  const of = m.name ? ` of ${m.name}` : '';
  if (m.type === 'pointer' && one) return `${m.words}: this tensor lives on ${one.device}`;
  if (one?.wrong.device) return `operand${of}, which never ran: this one is on ${one.device}, another is not`;
  const sizes = one?.wrong.dims.map((i) => one.shape[i]).join(', ');
  if (sizes) return `operand${of}, which never ran: the size ${sizes} does not fit`;
  if (one) return `operand${of}, which never ran`;
  if (m.freed?.storage === storage && storage) return `freed${atLine(m.freed.line)}, used${atLine(m.line)}`;
  if (m.race?.storage === storage) return `data race: ${m.words}${m.race.value ? `; read: ${m.race.value}` : ''}`;
  return '';
}

/** All that is drawn of a mistake, in words. */
export function saying(m) {
  const stopped = m.type === 'race' ? 'Data race' : `Stopped${atLine(m.line)}`;
  const operands = m.operands.map((one) => `${one.name} is on ${one.device}, ${units.tuple(one.shape)} ${one.dtype}.`);
  const holders = m.request ? [`${held(m.request.holders)}.`] : [];
  return [`${stopped}: ${m.words}.`, ...operands, ...m.more, ...holders].join(' ');
}
