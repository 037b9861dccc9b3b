// state.js: events in, plain data out. No DOM and no clock, so that it runs under plain node.
//
// `apply(state, event)` changes the state and returns it. It takes anything: an event with missing,
// unknown or malformed fields changes what it can and never throws. `history()` stores the events of
// a run and returns the state after event n, with a snapshot every 1024 events or more.

import { isDeclared, localNames, variableOf } from './aliases.js';
import { learnSize } from './elements.js';
import { int, list, object, text } from './fields.js';
import { carried, learned, madeFor, released } from './purpose.js';
import { firstIndex } from './search.js';
import { nameOf, savedName } from './tensor_names.js';
import { crossings, wireOf } from './transfer.js';

const FREED_KEPT = 48; // freed storages that are kept, so that their old place can be shown
const SNAPSHOT = 1024;

export function initial() {
  return {
    seq: -1, // last event applied
    ahead: 0, // later ones that were applied too (ahead.js)
    t: 0, // the program's clock, ns
    session: null, // {program, clock, seed, args, ferry}
    devices: [{ name: 'cpu', kind: 'cpu', card: '', capacity: 0, why: '' }],
    sources: new Map(), // path -> text
    storages: new Map(), // id -> storage, live and recently freed
    freed: [], // ids of the recently freed ones, oldest first
    segments: new Map(), // device and address -> segment that the caching allocator holds
    tensors: new Map(), // id -> handle
    locals: new Map(), // the same -> id of the handle that the program used by this name last (aliases.js)
    variables: new Map(), // thread, function and name -> id of the handle that the variable had last
    lineages: new Map(), // id -> {id, index, rev, name, uses}: a tensor and the copies of it
    indexCount: 0, // lineages with an index, which selects hue and pattern: all that were ever written
    passes: new Set(), // threads in a backward pass
    making: new Map(), // thread -> the batch that it makes (purpose.js)
    work: new Map(), // copies and ops in progress: id -> {kind, dir}
    site: null, // {file, line} of the newest event that names one
    ledger: { h2d: flow(), d2h: flow(), held: 0, own: 0, ops: {}, busy: 0, live: {} },
    lines: new Map(), // "file:line" -> {bytes, held, copies}
    marks: [],
    answers: [],
    checks: [],
    grade: null,
    errors: [],
    dataRaces: [],
    lost: 0,
    full: false,
    ended: null, // {status, live}
  };
}

const flow = () => ({ copies: 0, bytes: 0, wire: 0 });

const dims = (v) => list(v).filter(Number.isFinite);

// What the maps hold is shared with the copies of a state (copyOf): a change replaces it.
function change(map, key, fields) {
  const one = { ...map.get(key), ...fields };
  map.set(key, one);
  return one;
}

// ---- the kinds ----------------------------------------------------------------------------------

const on = {
  session(s, e) {
    s.session = {
      program: text(e.program), clock: text(e.clock, 'model'), seed: int(e.seed), ferry: text(e.ferry),
      knows: Array.isArray(e.knows) ? e.knows.filter((one) => typeof one === 'string') : null,
    };
    const devices = list(e.devices).map(object).filter((d) => typeof d.name === 'string');
    if (devices.length) s.devices = devices.map(device);
  },

  source(s, e) {
    s.sources.set(text(e.path), text(e.text));
  },

  alloc(s, e) {
    const id = int(e.storage);
    if (s.storages.has(id)) forget(s, id);
    s.storages.set(id, {
      id, device: text(e.device, 'cpu'), mem: text(e.mem), addr: text(e.addr, '0x0'), start: Number(text(e.addr, '0x0')) || 0,
      asked: Math.max(0, int(e.asked, int(e.bytes))), bytes: Math.max(0, int(e.bytes)), tenant: int(e.tenant),
      created: site(e), createdSeq: s.seq, freed: null, deferred: false, streams: [], lineage: id, rev: 0, version: 0, tensors: [], sample: null,
    });
    const lineage = s.lineages.get(id);
    if (lineage) change(s.lineages, id, { uses: lineage.uses + 1 });
    else s.lineages.set(id, { id, index: -1, rev: 0, name: '', uses: 1 });
    const live = text(e.device, 'cpu');
    s.ledger.live[live] = (s.ledger.live[live] ?? 0) + Math.max(0, int(e.bytes));
  },

  free(s, e) {
    const storage = s.storages.get(int(e.storage));
    if (!storage || storage.freed !== null) return;
    change(s.storages, storage.id, { freed: s.seq, deferred: e.deferred === true });
    s.ledger.live[storage.device] -= storage.bytes;
    s.freed.push(storage.id);
    while (s.freed.length > FREED_KEPT) forget(s, s.freed.shift());
  },

  tensor(s, e) {
    const id = int(e.tensor);
    const storage = s.storages.get(int(e.storage));
    const isSaved = e.saved === true; // the graph's handle is no variable
    learnSize(text(e.dtype), int(e.itemsize));
    const name = isSaved ? savedName(s.tensors.get(int(e.view_of))?.name) : nameOf(e);
    s.tensors.set(id, {
      id, name, written: text(e.name), storage: int(e.storage), shape: dims(e.shape), strides: dims(e.strides),
      offset: int(e.offset), dtype: text(e.dtype), device: text(e.device), viewOf: int(e.view_of),
      created: site(e), fn: text(e.fn), th: int(e.th), dropped: null, lost: null, also: [], ...madeFor(s, e), // also: [{name, fn}], its other names; lost: {seq, line, to, declared}: its variable was assigned again, the tensor `to`, or is a new one now
    });
    if (!isSaved) assign(s, id, e);
    if (storage) change(s.storages, storage.id, { tensors: [...storage.tensors, id] });
    if (storage && name && !isSaved) nameLineage(s, storage, name);
  },

  name(s, e) {
    const tensor = s.tensors.get(int(e.tensor));
    if (!tensor) return;
    const { name } = change(s.tensors, tensor.id, { name: nameOf(e), written: text(e.name) });
    const storage = s.storages.get(tensor.storage);
    if (storage) nameLineage(s, storage, name);
  },

  drop(s, e) {
    const tensor = s.tensors.get(int(e.tensor));
    if (!tensor) return;
    change(s.tensors, tensor.id, { dropped: text(e.why, 'free') });
    released(s, tensor, e.why, change);
  },

  copy(s, e) {
    const src = object(e.src);
    const dst = object(e.dst);
    const from = s.storages.get(int(src.storage));
    let to = s.storages.get(int(dst.storage));
    if (from && to) to = follow(s, from, to);
    carried(s, e, change);
    if (to) change(s.storages, to.id, { version: int(dst.version, to.version) });
    const over = crossings(e); // only copies over the bus are counted
    for (const { dir } of over) {
      s.ledger[dir].copies++;
      s.ledger[dir].bytes += int(e.bytes);
    }
    addHeld(s, e);
    const cost = lineCost(s, e);
    if (cost && over.length) change(s.lines, lineOf(e), { bytes: cost.bytes + over.length * int(e.bytes), copies: cost.copies + 1 });
    s.work.set(int(e.id), { kind: 'copy', dir: text(e.dir), route: text(e.route) });
  },

  op(s, e) {
    for (const use of list(e.out).map(object)) {
      const storage = s.storages.get(int(use.storage));
      if (storage) write(s, storage, int(use.version));
    }
    addHeld(s, e);
    lineCost(s, e);
    const where = text(e.device, 'cpu') === 'cpu' ? 'cpu' : 'gpu';
    s.ledger.ops[where] = (s.ledger.ops[where] ?? 0) + 1;
    s.work.set(int(e.id), { kind: 'op' });
  },

  complete(s, e) {
    const id = int(e.id);
    const work = s.work.get(id);
    if (!work) return;
    s.work.delete(id);
    const start = int(e.start);
    const end = Math.max(start, int(e.end));
    for (const { dir } of crossings(work)) s.ledger[dir].wire += wireOf(work, e, dir);
    if (work.kind === 'op') s.ledger.busy += end - start;
  },

  sync(s, e) {
    addHeld(s, e);
    lineCost(s, e);
  },

  segment(s, e) {
    const device = text(e.device, 'cpu');
    s.segments.set(`${device} ${text(e.addr)}`, {
      device, mem: text(e.mem), addr: Number(text(e.addr, '0x0')) || 0, bytes: Math.max(0, int(e.bytes)),
      pool: text(e.pool), stream: int(e.stream), created: site(e),
    });
    addHeld(s, e);
    lineCost(s, e);
  },

  segment_free(s, e) {
    s.segments.delete(`${text(e.device, 'cpu')} ${text(e.addr)}`);
    addHeld(s, e);
    lineCost(s, e);
  },

  record_stream(s, e) {
    const storage = s.storages.get(int(e.storage));
    if (storage) change(s.storages, storage.id, { streams: [...storage.streams, { device: text(e.device), stream: int(e.stream) }] });
  },

  host_write(s, e) {
    const storage = s.storages.get(int(e.storage));
    if (storage) write(s, storage, int(e.version));
  },

  values(s, e) {
    const tensor = s.tensors.get(int(e.tensor));
    const storage = tensor && s.storages.get(tensor.storage);
    if (!storage) return;
    change(s.storages, storage.id, { sample: {
      data: list(e.data).slice(0, 8), count: int(e.count), min: int(e.min, null), max: int(e.max, null),
      mean: int(e.mean, null), nan: int(e.nan),
    } });
  },

  oom(s, e) {
    s.errors.push({ seq: s.seq, code: 'oom', message: `${text(e.device)} is out of memory`, hint: '', ...site(e) });
  },

  data_race(s, e) {
    s.dataRaces.push({ seq: s.seq, type: text(e.type), storage: int(e.storage), fix: text(e.fix), ...site(e) });
  },

  mark(s, e) {
    s.marks.push({ seq: s.seq, text: text(e.text) });
  },

  answer(s, e) {
    s.answers.push({ seq: s.seq, name: text(e.name), tensor: int(e.tensor), device: text(e.device) });
  },

  error(s, e) {
    s.errors.push({ seq: s.seq, code: text(e.code), message: text(e.message), hint: text(e.hint), ...site(e) });
  },

  check(s, e) {
    s.checks.push({
      check: text(e.check), pass: e.pass === true, at: dims(e.at), expected: text(e.expected), got: text(e.got),
      message: text(e.message), seq: dims(e.at)[0] ?? null, lesson: text(e.lesson),
    });
  },

  grade(s, e) {
    s.grade = { pass: e.pass === true, passed: int(e.passed), checks: int(e.checks), message: text(e.message) };
  },

  ...Object.fromEntries(Object.entries(learned).map(([kind, learn]) => [kind, (s, e) => learn(s, e, change)])),

  lost(s) {
    s.lost++;
  },

  log_full(s) {
    s.full = true;
  },

  end(s, e) {
    s.ended = { status: int(e.status), live: dims(e.live) };
  },
};

// Kinds that change nothing drawn: they only have a sentence.
export const silent = new Set([
  'host_read', 'given', 'event_record', 'event_wait', 'query', 'set_device', 'set_stream',
  'peer', 'mode', 'scalar', 'same', 'results',
]);

export const kinds = new Set([...Object.keys(on), ...silent]);

function device(d) {
  return {
    name: d.name, kind: text(d.kind), card: text(d.card), capacity: Math.max(0, int(d.capacity)), why: text(d.why),
    model: object(d.model),
  };
}

function site(e) {
  return { file: text(e.file), line: int(e.line) };
}

const VARIABLE = /^[A-Za-z_]\w*(?:\[\d+\])*$/; // or an element of an array, where it is known which

// A variable that gets another tensor is no longer the name of the one that it had.
function assign(s, id, e) {
  const { name } = s.tensors.get(id);
  if (!e.fn || !VARIABLE.test(name)) return;
  const variable = variableOf(s.sources, e, name);
  const before = s.tensors.get(s.variables.get(variable));
  if (before && before.id !== id && before.name === name) {
    const lost = { seq: s.seq, line: int(e.line), to: id };
    change(s.tensors, before.id, { lost: isDeclared(s.sources, e, name) ? { ...lost, declared: true } : lost });
  }
  s.variables.set(variable, id);
  unbind(s, variable, id);
}

// A tensor is used by another name than its own. A name is that of the tensor it was used for last.
function bind(s, id, name, e) {
  let tensor = s.tensors.get(id);
  if (tensor && !tensor.name && tensor.viewOf) tensor = s.tensors.get(tensor.viewOf); // made on the way by the call itself
  if (!tensor) return;
  const fn = text(e.fn);
  const variable = variableOf(s.sources, e, name);
  unbind(s, variable, tensor.id);
  if (tensor.name === name || tensor.also.some((one) => one.name === name && one.fn === fn)) return;
  s.locals.set(variable, tensor.id);
  change(s.tensors, tensor.id, { also: [...tensor.also, { name, fn }] });
}

function unbind(s, variable, id) {
  const before = s.locals.get(variable);
  if (before === undefined || before === id) return;
  s.locals.delete(variable);
  const tensor = s.tensors.get(before);
  if (tensor) change(s.tensors, before, { also: tensor.also.filter(({ name, fn }) => !variable.endsWith(` ${fn} ${name}`)) });
}

function addHeld(s, e) {
  s.ledger.held += Math.max(0, int(e.held));
  if (isOwnWork(e)) s.ledger.own += Math.max(0, int(e.held));
}

/** Is the call that blocked the program work of the CPU itself, and no wait? */
export const isOwnWork = (e) => (e?.kind === 'op' && text(e.device, 'cpu') === 'cpu') || (e?.kind === 'copy' && e.dir === 'h2h');

const lineOf = (e) => `${text(e.file)}:${int(e.line)}`;
const NO_COST = { bytes: 0, held: 0, copies: 0, taking: 0 };

function lineCost(s, e) {
  if (!int(e.line)) return null;
  const cost = s.lines.get(lineOf(e)) ?? NO_COST;
  const what = e.kind === 'segment' ? 'taking' : 'held'; // a segment serves later tensors too
  return change(s.lines, lineOf(e), { ...cost, [what]: cost[what] + Math.max(0, int(e.held)) });
}

// The destination joins the source's lineage, with the same revision.
function follow(s, from, to) {
  if (to.lineage !== from.lineage) {
    leaveLineage(s, to);
    change(s.lineages, from.lineage, { uses: lineageOf(s, from).uses + 1 });
  }
  assignIndex(s, from.lineage, 0);
  return change(s.storages, to.id, { lineage: from.lineage, rev: Math.max(1, from.rev) });
}

// New content: every other copy of this tensor is older from now on.
function write(s, storage, version) {
  const { rev } = assignIndex(s, storage.lineage, 1);
  change(s.storages, storage.id, { rev, version: version || storage.version + 1 });
}

const lineageOf = (s, storage) => s.lineages.get(storage.lineage);

function assignIndex(s, id, newer) {
  const { index, rev } = s.lineages.get(id);
  return change(s.lineages, id, { index: index < 0 ? s.indexCount++ : index, rev: Math.max(1, rev + newer) });
}

function leaveLineage(s, storage) {
  const { id, uses } = lineageOf(s, storage);
  if (uses === 1) s.lineages.delete(id);
  else change(s.lineages, id, { uses: uses - 1 });
}

function nameLineage(s, storage, name) {
  const lineage = lineageOf(s, storage);
  if (!lineage.name) change(s.lineages, lineage.id, { name });
}

function forget(s, id) {
  const storage = s.storages.get(id);
  if (!storage) return;
  for (const tensor of storage.tensors) s.tensors.delete(tensor);
  leaveLineage(s, storage);
  s.storages.delete(id);
}

/** Does another copy of this tensor hold newer content? */
export function isStale(s, storage) {
  return storage.rev < (s.lineages.get(storage.lineage)?.rev ?? 0) && storage.rev > 0;
}

/** The name of the copy with the newest content, where that is another one; else ''. A living copy's before a freed one's. */
export function newerThan(s, storage) {
  if (!isStale(s, storage)) return '';
  const { rev } = lineageOf(s, storage);
  const newest = [...s.storages.values()].filter((one) => one.lineage === storage.lineage && one.rev === rev);
  const one = newest.find((copy) => copy.freed === null) ?? newest.at(-1);
  const handle = one && handleOf(s, one);
  if (!handle) return 'a freed copy';
  const name = handle.name || `t${handle.id}`;
  return name === handleOf(s, storage)?.name ? `${name} on ${one.device}` : name;
}

/** The handle that names a storage: the first that is not dropped, else the last one. */
export function handleOf(s, storage) {
  const handles = storage.tensors.map((id) => s.tensors.get(id)).filter(Boolean);
  return handles.find((h) => !h.dropped && !h.viewOf) ?? handles.find((h) => !h.dropped) ?? handles.at(-1) ?? null;
}

/** Applies one event. */
export function apply(s, event) {
  const e = object(event);
  s.seq++;
  if (Number.isFinite(e.t) && e.t > s.t) s.t = e.t;
  if (Number.isFinite(e.line) && e.line > 0) s.site = site(e);
  if (Object.hasOwn(on, text(e.kind))) on[e.kind](s, e);
  for (const [id, name] of localNames(s.sources, e)) bind(s, id, name, e);
  return s;
}

// A copy that shares nothing that changes: what its maps and lists hold never does.
function copyOf(s) {
  const { h2d, d2h, ops, live } = s.ledger;
  return {
    ...s,
    sources: new Map(s.sources), storages: new Map(s.storages), segments: new Map(s.segments), tensors: new Map(s.tensors),
    locals: new Map(s.locals), variables: new Map(s.variables), lineages: new Map(s.lineages), lines: new Map(s.lines), work: new Map(s.work),
    passes: new Set(s.passes), making: new Map(s.making),
    freed: s.freed.slice(), marks: s.marks.slice(), answers: s.answers.slice(),
    checks: s.checks.slice(), errors: s.errors.slice(), dataRaces: s.dataRaces.slice(),
    ledger: { ...s.ledger, h2d: { ...h2d }, d2h: { ...d2h }, ops: { ...ops }, live: { ...live } },
  };
}

/**
 * The events of one run, and the state after any of them: folded from the nearest copy before it. Copies are `interval`
 * events apart, or further where many tensors live: a copy then costs as much as folding the events up to the next one.
 * Each `reader()` has a state of its own, so that two who look at different parts of a run do not disturb each other; fork(n):
 * a state that is only the caller's.
 */
export function history(interval = SNAPSHOT) {
  const events = [];
  const copies = [initial()]; // by seq; all readers share them

  const copyBefore = (seq) => copies[firstIndex(copies.length, (i) => copies[i].seq > seq) - 1];

  function keep(state) {
    const passed = state.seq - copies.at(-1).seq;
    if (passed >= interval && passed >= state.storages.size + state.tensors.size) copies.push(copyOf(state));
  }

  /** A function at(n): the state after event n, valid until its next call. */
  function reader() {
    let state = initial();
    return (n) => {
      const seq = Math.min(Math.max(n, -1), events.length - 1);
      const copy = copyBefore(seq);
      if (seq < state.seq || copy.seq > state.seq) state = copyOf(copy);
      while (state.seq < seq) keep(apply(state, events[state.seq + 1]));
      return state;
    };
  }

  const forked = reader();
  return { events, at: reader(), reader, fork: (n) => copyOf(forked(n)), push: (e) => events.push(e) };
}
