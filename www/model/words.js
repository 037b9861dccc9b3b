// words.js: one plain sentence for every event. The narration, the live region, the table and the
// tooltips all use this file, so that they agree. Pure.

import { callWords, calledBy, localNames } from './aliases.js';
import { int, list, object } from './fields.js';
import { nameOf, savedName } from './tensor_names.js';
import * as units from './units.js';

/**
 * The names that the events give to tensors and storages. `learn` each event once, in order. A tensor may get another name
 * later: at(n) tells those that it has after event n, as the picture of that state shows them. events: of the run.
 */
export function names(events = []) {
  const tensors = new Map();
  const storages = new Map();
  const firstUse = new Map(); // card -> its first segment
  const handles = new Map(); // storage -> its tensor, or a list of them
  const sources = new Map(); // path -> text
  let count = 0; // events
  let stopped = 0; // line of the error that ended the program
  let simulated = false; // its cards

  function learn(e) {
    count++;
    if (!e || typeof e !== 'object') return;
    if (e.kind === 'session') simulated = list(e.devices).some((one) => one?.kind === 'sim');
    if (e.kind === 'source') sources.set(e.path, e.text);
    if (e.kind === 'alloc') storages.set(e.storage, { device: e.device, bytes: e.asked ?? e.bytes, name: '' });
    if (e.kind === 'tensor') {
      const name = e.saved ? savedName(tensors.get(e.view_of)?.name) : nameOf(e);
      tensors.set(e.tensor, { name, older: null, shape: e.shape, dtype: e.dtype, storage: e.storage, created: e.seq, dropped: Infinity });
      const others = handles.get(e.storage);
      handles.set(e.storage, others === undefined ? e.tensor : [others, e.tensor].flat());
      const storage = storages.get(e.storage);
      if (storage && !storage.name) storage.name = name;
    }
    if (e.kind === 'segment' && e.mem !== 'pinned' && !firstUse.has(e.device)) firstUse.set(e.device, e);
    if (e.kind === 'name' && tensors.has(e.tensor)) rename(tensors.get(e.tensor), nameOf(e));
    if (e.kind === 'drop' && tensors.has(e.tensor)) tensors.get(e.tensor).dropped = e.seq;
    if (e.kind === 'error') stopped = e.line > 0 ? e.line : 0;
    if (e.kind === 'end' && e.status === 0) stopped = 0;
  }

  function rename(one, name) {
    one.older = [...(one.older ?? []), { until: count - 1, name: one.name }];
    one.name = name;
  }

  const nameAt = (one, seq) => one?.older?.find(({ until }) => seq < until)?.name ?? one?.name;
  const storage = (id) => storages.get(id)?.name || `storage ${id ?? '?'}`;
  const deviceOf = (id) => storages.get(id)?.device;
  const bytesOf = (id) => storages.get(id)?.bytes;
  const dtypeOf = (id) => tensors.get(id)?.dtype;
  const holdsFloats = (id) => [handles.get(id) ?? []].flat().some((one) => /float/.test(dtypeOf(one)));
  const isFirstUse = (e) => firstUse.get(e.device) === e || (e.seq !== undefined && firstUse.get(e.device)?.seq === e.seq);
  const stoppedAt = () => stopped;
  const isSimulated = () => simulated;
  const event = (n) => events[n];

  function at(seq) {
    const own = (id) => nameAt(tensors.get(id), seq);
    const tensor = (id) => own(id) || `t${id ?? '?'}`;
    /** A tensor as event e has it: by the name that the program uses there, and its own. */
    const used = (id, e) => {
      const local = localNames(sources, e).find(([one]) => one === id)?.[1];
      return local && local !== own(id) ? `${local}${own(id) ? ` (${own(id)})` : ''}` : tensor(id);
    };
    /** The call that an op is, as the program writes it, with the names of its tensors: "zero_(row)", "c = matmul(a, b)". */
    const call = (e) => callWords(sources, e, tensor);
    const called = (e) => calledBy(sources, e).name;
    /** The other tensors that share a tensor's bytes after event `last`. */
    const keepers = (id, last) => [handles.get(tensors.get(id)?.storage) ?? []].flat()
      .filter((other) => other !== id && tensors.get(other)?.created < last && tensors.get(other).dropped > last).map(tensor);
    return { tensor, used, call, called, storage, deviceOf, bytesOf, dtypeOf, holdsFloats, isFirstUse, keepers, stoppedAt, isSimulated, event, at };
  }

  return { learn, ...at(Infinity) };
}

/** Between two cards, each is named. */
export const placeBeside = (device, other) => (device !== other && device !== 'cpu' && other !== 'cpu' && device && other ? `GPU VRAM of ${device}` : memoryName(device));

/** "cpu" -> "CPU RAM", "cuda:0" -> "GPU VRAM". */
export function memoryName(device) {
  if (!device) return 'memory';
  if (device === 'cpu') return 'CPU RAM';
  return device === 'cuda:0' ? 'GPU VRAM' : `GPU VRAM of ${device}`;
}

export const processor = (device) => (!device || device === 'cpu' ? 'the CPU' : device === 'cuda:0' ? 'the GPU' : device);
const quoted = (v) => `“${v ?? ''}”`;
const heldFor = (e) => (e.held > 0 ? ` The program waits ${units.time(e.held)}.` : '');
/** At most `most` of a list, and how many more there are. */
export const few = (all, most) => (all.length > most ? [...all.slice(0, most), `${all.length - most} more`] : all);
export const and = (words) => (words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`);

const because = {
  op: ', because an operation needs it there', print: ', because it is printed', item: ', because its value is read',
  save: ', because it is saved', size: ', because the size of a result depends on it',
  grad: ', because the gradient belongs there', policy: ': an implicit copy, which FERRY_POLICY=silent allows',
};

const sentences = {
  session: (e) => `${e.program ?? 'The program'} starts${cards(e)}.`,
  source: (e) => `The source file is ${units.baseName(e.path ?? 'unknown')}.`,
  alloc: (e) => (e.before ? `${units.bytes(e.bytes)} in ${memoryName(e.device)} were there before the log begins.` : e.mem === 'foreign'
    ? `${units.bytes(e.bytes)} of the program's own memory are used by a tensor: nothing is allocated or copied.`
    : `${units.bytes(e.bytes)} are allocated in ${memoryName(e.device)}${rounding(e)}.`),
  free: (e, n) => `${units.bytes(n.bytesOf(e.storage) ?? e.bytes)} of ${n.storage(e.storage)} are freed in ${memoryName(n.deviceOf(e.storage))}.`,
  tensor: (e, n) => (e.saved
    ? `${n.used(e.view_of, e)} is kept for a gradient.` : e.view_of
    ? `${n.tensor(e.tensor)} is a view of ${n.used(e.view_of, e)}: same bytes, nothing copied.`
    : `${n.tensor(e.tensor)}, ${units.tuple(list(e.shape))} of ${e.dtype}, lives in ${memoryName(e.device)}.`),
  name: (e) => `The tensor is now called ${nameOf(e)}.`,
  same: (e, n) => `${n.tensor(e.tensor)} has the device and the dtype that are asked for: nothing is copied${e.name ? `, and ${nameOf(e)} is the same tensor` : ''}.`,
  results: (e, n) => `The call gives back ${and(list(e.tensors).map((id) => n.tensor(id)))}.`,
  drop: (e, n) => `The handle ${n.tensor(e.tensor)} is released (${whyReleased[e.why] ?? 'dropped'}).`,
  graph: (e, n) => {
    if (e.what === 'run') return `The gradient of ${n.tensor(e.tensor)} goes back through ${e.op ?? 'a call'}${onLine(e)}.`;
    if (e.what === 'make' && e.op === 'leaf') return `${n.tensor(e.tensor)} is to get a gradient.`;
    return e.what === 'make' ? `The graph records ${e.op ?? 'a call'}, for gradients.` : 'The graph releases what it kept for a gradient.';
  },
  backward: (e, n) => (e.what === 'begin'
    ? `The gradients of ${n.tensor(e.tensor)} are computed, back through the calls that computed it.`
    : `The gradients of ${n.tensor(e.tensor)} are complete.`),
  batch: (e) => {
    const whose = Number.isFinite(e.worker) ? `Worker ${int(e.worker)}` : 'The loop';
    if (e.what === 'begin') return `${whose} begins batch ${int(e.index)}.`;
    return e.what === 'ready' ? `${whose} has made batch ${int(e.index)}.` : `The loop takes batch ${int(e.index)}.${heldFor(e)}`;
  },
  grad: (e, n) => (e.added
    ? `A gradient is added to ${n.tensor(e.tensor)}, that of ${n.tensor(e.leaf)}.`
    : `${n.tensor(e.tensor)} is the gradient of ${n.tensor(e.leaf)}.`),
  state: (e, n) => `${e.optimizer ?? 'The optimizer'} keeps ${n.tensor(e.tensor)} for ${n.tensor(e.parameter)}.`,
  copy: (e, n) => copied(e, n) + heldFor(e),
  op: (e, n) => operated(e, n),
  complete: (e) => `The work took ${units.took(e.end - e.start, e)}${e.launch >= 0 ? ': its stream was idle, so its launch is in that time' : ''}.${parts(e)}`,
  sync: (e) => `The program waits for ${awaited(e)}${whySync[e.why] ?? ''}${e.held > 0 ? `: ${units.time(e.held)}` : ''}.`,
  host_read: (e, n) => `The program reads ${units.plural(e.count ?? 0, 'value')} of ${n.used(e.tensor, e)} (${e.via ?? 'data'}).`,
  host_write: (e, n) => `The program writes ${units.plural(e.count ?? 0, 'value')} into ${n.tensor(e.tensor)} (${e.via ?? 'data'}).`,
  segment: (e, n) => reserved(e, n),
  segment_free: (e) => `${units.bytes(e.bytes)} that no tensor uses are returned to ${memoryName(e.device)}${e.why === 'oom' ? whySync.oom : ''}.`,
  event_record: (e) => `Event ${e.event ?? '?'} is recorded in ${stream(e)}: it completes when all work queued there so far is done.`,
  event_wait: (e) => `Later work in ${stream(e)} waits for event ${e.event ?? '?'}; the program does not.`,
  query(e) {
    const what = e.scope === 'event' ? `event ${e.event ?? '?'}` : stream(e);
    return `The program asks whether ${what} is complete: ${e.done ? 'yes' : 'not yet; a query does not wait'}.`;
  },
  record_stream: (e, n) => `${n.tensor(e.tensor)} is also used in ${stream(e)}: its memory is kept until that work is complete.`,
  data_race(e, n) {
    const [first, then] = [e.a, e.b].map((seq) => accessed(n.event(seq), e.storage));
    const known = first && then;
    const between = Object.hasOwn(dataRaces, e.type) ? dataRaces[e.type] : 'two accesses without synchronization';
    const what = known ? `${first}, ${then}, and nothing orders them` : between;
    const comes = n.holdsFloats(e.storage) ? 'gives NaN' : 'makes the value wrong';
    const so = !known ? '' : n.isSimulated() && e.type !== 'write_early' ? `: the simulated card ${comes} on every run` : ': the value is chance';
    const fix = String(e.fix ?? '').replace(/, or .*$/s, ''); // the first way; the finding has all
    return `Data race at ${n.storage(e.storage)}: ${what}${so}.${fix ? ` Fix: ${lines(fix)}` : ''}`;
  },
  set_device: (e) => `${e.device ?? 'Another card'} is now the current device.`,
  set_stream: (e) => `The current stream is now ${stream(e)}.`,
  peer(e) {
    const [from, to] = [e.from ?? 'A card', e.to ?? 'another'];
    if (e.can) return `${from} can reach ${to} directly.`;
    return `${from} cannot reach ${to} directly: copies between them go through CPU RAM.`;
  },
  mode: (e) => `${e.mode === 'launch_blocking' ? 'Launch blocking' : e.mode ?? 'A mode'} is ${e.on ? 'on' : 'off'}.`,
  oom(e) {
    const [asked, free, largest] = [e.asked, e.free, e.largest].map(units.bytes);
    return `Out of memory in ${memoryName(e.device)}: ${asked} requested, ${free} free, largest free block in a segment ${largest}.`;
  },
  mark(e) {
    if (e.text === undefined) return `The program reads the clock: ${units.time(e.now)} since its start.`;
    return `Mark: ${quoted(e.text)}.`;
  },
  scalar: (e) => `The program logs ${quoted(e.name)}: ${units.value(e.value)}.`,
  given: (e) => `The lesson provides ${quoted(e.name)}, in ${memoryName(e.device)}.`,
  answer: (e) => `${quoted(e.name)} is submitted as an answer, from ${memoryName(e.device)}.`,
  values: (e, n) => `${n.tensor(e.tensor)} holds ${sample(e, n.dtypeOf(e.tensor))}.`,
  error: (e) => `Error: ${lines(e.message ?? e.code ?? 'a call failed')}${e.hint ? ` Fix: ${lines(e.hint)}` : ''}`,
  check: (e) => `Check ${e.check ?? ''}: ${e.pass ? 'passed' : 'failed'}. ${e.message ?? ''}`,
  grade(e, n) {
    const passed = `${e.passed ?? 0} of ${e.checks ?? 0} checks passed`;
    if (e.pass) return `Passed: ${passed}. ${e.message ?? ''}`;
    return `Not yet: ${n.stoppedAt() ? `the program stopped at line ${n.stoppedAt()}` : passed}.`; // why: its checks say it
  },
  lost: () => 'The program was killed while it recorded this event.',
  log_full: (e) => `The log is full at ${units.plural(e.limit ?? 0, 'event')}; nothing later is recorded.`,
  end: (e) => `${ended(e)}${living(e)}`,
};

// A card's first segment looks like the cost of its first tensor.
function reserved(e, n) {
  const bytes = units.bytes(e.bytes);
  if (e.mem === 'pinned') {
    return `Ferry page-locks ${bytes} of CPU RAM, which the card's copy engine reads and writes directly.${heldFor(e)}`;
  }
  if (n.isFirstUse(e)) {
    const once = e.held > 0 ? `once, ${units.time(e.held)}` : 'once';
    return `First use of ${processor(e.device)}: Ferry reserves ${bytes} to share among tensors (${once}).`;
  }
  return `Ferry reserves another segment, ${bytes} of ${memoryName(e.device)}, to share among tensors.${heldFor(e)}`;
}

export const stream = (e) => (e.stream > 0 ? `stream ${e.stream}` : 'the default stream') + (e.device && e.device !== 'cuda:0' ? ` of ${e.device}` : '');
const side = (e) => (e.stream > 0 ? ` in stream ${e.stream}` : '');
const dataRaces = {
  read_early: 'the program reads what the GPU may not have written yet',
  write_early: 'the program writes what the GPU may still be using',
  race: 'two streams access it without synchronization',
  reuse: "another stream may still use this memory's previous tensor",
};

// "line 8 copies into it in stream 1"; '' where the event is no access to that storage.
function accessed(e, storage) {
  const has = (one) => object(one).storage === storage;
  const does = {
    copy: () => (has(e.dst) ? 'copies into it' : has(e.src) ? 'copies it' : ''),
    op: () => (list(e.out).some(has) ? `writes it (${e.name})` : list(e.in).some(has) ? `reads it (${e.name})` : ''),
    host_read: () => 'reads it', host_write: () => 'writes it',
  };
  const what = Object.hasOwn(does, e?.kind) && does[e.kind]();
  const isHost = what && (e.kind.startsWith('host') || e.device === 'cpu' || e.dir === 'h2h');
  return what ? `${e.line > 0 ? `line ${e.line}` : 'one call'} ${what} ${isHost ? 'on the CPU' : `in ${stream(e)}`}` : '';
}

export const awaited = (e) => (e.scope === 'event' ? `event ${e.event ?? '?'}` : e.scope === 'stream' ? stream(e) : processor(e.device));
const whyReleased = { free: 'freed', scope: 'its scope ended', exit: 'the program ended', graph: 'no gradient needs it any more' };
const whySync = {
  item: ', to read a value', print: ', to print', save: ', to save', size: ', to know the size of a result',
  copy: ', before the bytes can be copied back', free: ', before it frees memory',
  oom: ', to retry a failed allocation', policy: ', because of launch blocking',
};

export const spoken = new Set(Object.keys(sentences));

/** The sentence of an event. Unknown kinds get one too. */
export function sentence(e, n) {
  if (!e || typeof e !== 'object' || !e.kind) return 'This line of the log cannot be read.';
  const say = Object.hasOwn(sentences, e.kind) ? sentences[e.kind] : null;
  return say ? say(e, n).trim() : `An event of kind ${quoted(e.kind)}, which this page does not know.`;
}

// A step's sentence is that of its first event kind in this order.
const WEIGHT = [
  'error', 'oom', 'data_race', 'grade', 'check', 'copy', 'op', 'sync', 'answer', 'given', 'same', 'host_read', 'tensor', 'mark', 'scalar',
  'grad', 'backward', 'graph', 'batch', 'free', 'drop', 'end', 'lost', 'log_full', 'session', 'alloc', 'event_record', 'event_wait', 'query', 'record_stream',
  'set_stream', 'set_device', 'peer', 'mode', 'segment', 'segment_free',
];

/** The sentence of a step, or of a part of one: its most important event's, or a summary; where it allocates, and the segment that it took. */
export function stepSentence(events, step, all) {
  const n = all.at(step.to);
  const inside = events.slice(step.from, step.to + 1);
  const of = (kind) => inside.find((e) => e?.kind === kind && !e.saved);
  if (step.kind === 'gradient') return backThrough(inside, n);
  if (step.kind === 'backward' && step.parts) return passSentence(inside, n);
  if (step.kind === 'drop' || step.kind === 'free') {
    return leaving(inside, inside.filter((e) => e?.kind === 'free'), inside.filter((e) => e?.kind === 'drop'), n);
  }
  if (step.kind === 'end') return ended(inside[0]);
  if (step.kernels > 1 && !STOPS.some((kind) => of(kind))) return calledSentence(step, inside, n);
  const copies = inside.filter((e) => e?.kind === 'copy');
  if (copies.length > 1 && !step.kernels && !STOPS.some((kind) => of(kind))) return copiesSentence(step, copies, n);
  const alloc = of('alloc');
  const made = alloc && of('tensor');
  const found = inside.find((e) => e?.kind === WEIGHT.find((k) => of(k) && !(made && k === 'op' && isBirth(of(k))))) ?? inside[0];
  const room = found?.kind === 'segment' ? null : of('segment');
  return [main(found, alloc, made, inside, n), room && sentence(room, n)].filter(Boolean).join(' ');
}

const onLine = (e) => (e.line > 0 ? ` on line ${e.line}` : '');

const STOPS = ['error', 'oom', 'data_race']; // what matters more than all else that the call did

// A whole backward pass.
function passSentence(inside, n) {
  const of = (kind) => inside.filter((e) => e?.kind === kind);
  const calls = of('graph').filter((e) => e.what === 'run');
  const grads = of('grad').map((e) => n.tensor(e.leaf));
  const [begin] = of('backward');
  const through = `, back through ${units.plural(calls.length, 'call')}: ${and(few(calls.map((e) => e.op ?? 'a call'), 6))}.`;
  return `The gradients of ${n.tensor(begin.tensor)} are computed${calls.length ? through : '.'}${grads.length ? ` Then ${and(few(grads, 6))} ${grads.length > 1 ? 'have gradients' : 'has a gradient'}.` : ''}`;
}

// A part of a backward pass: the call, what runs for it, and the gradients that are stored by it.
function backThrough(inside, n) {
  const of = (kind) => inside.filter((e) => e?.kind === kind);
  const names = of('op').map((e) => e.name ?? 'an operation');
  const saved = of('drop').some((e) => e.why === 'graph') && of('graph').some((e) => e.what === 'release');
  const runs = names.length ? ` It runs as ${and(few(names, 6))} on ${processor(of('op')[0].device)}.` : '';
  return [sentence(of('graph')[0], n) + runs, ...of('grad').map((e) => sentence(e, n)), saved ? 'Then what was kept for it is released.' : ''].filter(Boolean).join(' ');
}

// randn and the like: what they make is the news.
const isBirth = (op) => !op.in?.length && !op.inplace;

function main(found, alloc, made, inside, n) {
  if (found === made && alloc) return createdSentence(made, alloc, inside, n);
  if (alloc && found?.kind === 'copy') return copied(found, n, alloc) + heldFor(found);
  if (alloc && found?.kind === 'op') return operated(found, n, alloc, inside.flatMap((e) => (e?.kind === 'op' ? list(e.in) : [])));
  const views = inside.filter((e) => e?.kind === 'tensor' && e.view_of && !e.saved);
  return views.length > 1 ? viewsSentence(views, n) : sentence(found, n);
}

// One call of several copies, such as that of a module to a card.
function copiesSentence({ call }, copies, n) {
  const [{ src, dst }] = copies;
  const isOneWay = copies.every((e) => e.src?.device === src?.device && e.dst?.device === dst?.device);
  const way = isOneWay ? ` from ${placeBeside(src?.device, dst?.device)} to ${placeBeside(dst?.device, src?.device)}` : '';
  const bytes = copies.reduce((sum, e) => sum + (e.bytes ?? 0), 0);
  const held = copies.reduce((sum, e) => sum + (e.held ?? 0), 0);
  const names = and(few([...new Set(copies.map((e) => n.used(e.src?.tensor, e)))], 6));
  return `${calledName(call)} copies ${names}, ${units.bytes(bytes)} in ${copies.length} copies${way}.${heldFor({ held })}`;
}

const LONGEST = 60; // letters of what a program wrote

// "call(net, x)"
const asWritten = (call) => (typeof call?.args === 'string' && call.args.length <= LONGEST ? `${calledName(call)}(${call.args.replace(/\s+/g, ' ')})` : null);

const calledName = (call) => String(call?.name ?? '').replace(/^fy_/, '') || 'One call';

// One call of several kernels: what it was given, what is left of it, and what it freed on its way.
function calledSentence({ call, kernels }, inside, n) {
  const of = (kind) => inside.filter((e) => e?.kind === kind);
  const made = new Map(of('tensor').filter((e) => !e.saved).map((e) => [e.tensor, e]));
  const dropped = new Set(of('drop').map((e) => e.tensor));
  const given = (id) => (made.get(id)?.view_of ? given(made.get(id).view_of) : id);
  const ins = of('op').flatMap((e) => list(e.in).filter((u) => !made.has(given(u?.tensor))).map((u) => n.used(u?.tensor, e)));
  const outs = [...made.keys()].filter((id) => !dropped.has(id));
  const each = (names) => and(few([...new Set(names)], 6));
  const { device } = of('op')[0];
  const parts = of('op').map((e) => e.name ?? 'an operation');
  const shown = parts.length > 8 ? [...parts.slice(0, 7), '…'] : parts;
  const freed = of('free');
  const bytes = freed.reduce((sum, e) => sum + (n.bytesOf(e.storage) ?? e.bytes ?? 0), 0);
  return [
    `${asWritten(call) ?? `${calledName(call)}${ins.length ? ` of ${each(ins)}` : ''}`} runs on ${processor(device)} as ${units.plural(kernels, device === 'cpu' ? 'operation' : 'kernel')} (${shown.join(', ')})`,
    outs.length ? ` into ${each(outs.map(n.tensor))}, newly allocated in ${memoryName(device)}` : '',
    freed.length ? `; ${units.plural(freed.length, 'tensor')} that it needs on the way ${freed.length > 1 ? 'are' : 'is'} freed again, ${units.bytes(bytes)}` : '', '.',
  ].join('');
}

function viewsSentence(views, n) {
  const names = views.map((e) => n.tensor(e.tensor));
  const who = names.length > 4 ? `${names[0]} to ${names.at(-1)}` : and(names);
  return `${who} are views of ${n.tensor(views[0].view_of)}: same bytes, nothing copied.`;
}

function createdSentence(tensor, alloc, inside, n) {
  const empty = !inside.some((e) => e?.kind === 'op' || e?.kind === 'host_write' || e?.kind === 'values');
  const where = `${units.tuple(list(tensor.shape))} of ${tensor.dtype}, ${units.bytes(alloc.asked ?? alloc.bytes)}`;
  return empty
    ? `${n.tensor(tensor.tensor)} is allocated, still empty, in ${memoryName(alloc.device)}: ${where}.`
    : `${n.tensor(tensor.tensor)} is created in ${memoryName(alloc.device)}: ${where}.`;
}

function leaving(inside, frees, drops, n) {
  const released = drops.map((e) => n.tensor(e.tensor));
  const bytes = frees.reduce((sum, e) => sum + (n.bytesOf(e.storage) ?? e.bytes ?? 0), 0);
  if (drops.length === 0) return frees.length === 1 ? sentence(frees[0], n) : `${units.bytes(bytes)} are freed.`;
  const why = whyReleased[drops[0].why] ?? 'released';
  const who = released.length > 4 ? units.plural(released.length, 'tensor') : and(released);
  const many = released.length > 1;
  const users = [...new Set(drops.flatMap((e) => n.keepers(e.tensor, drops.at(-1).seq)))];
  const others = users.length > 4 ? units.plural(users.length, 'tensor') : and(users);
  const stay = users.length ? `: ${others} still use${users.length > 1 ? '' : 's'} them` : '';
  const given = bytes ? `; ${units.bytes(bytes)} are freed` : `; ${many ? 'their' : 'its'} bytes stay${stay}`;
  return `${who} ${many ? 'are' : 'is'} released (${why})${given}.`;
}

/** Everything known about a box, as lines of its tooltip. newer: the name of a copy with newer content, or ''. */
export function about(storage, handle, name, newer) {
  const created = storage.created?.line ? `, created at line ${storage.created.line}` : '';
  const rounded = storage.asked !== storage.bytes ? `${units.number(storage.asked)} bytes requested, ${units.number(storage.bytes)} allocated`
    : `${units.number(storage.bytes)} bytes`;
  const what = handle ? `${units.tuple(handle.shape)} ${handle.dtype}` : 'no tensor yet';
  const reuse = storage.tenant ? `; this address was used before${storage.tenant > 1 ? `, ${storage.tenant} times` : ''}` : '';
  const marks = [storage.freed !== null && 'freed', storage.rev === 0 && storage.freed === null && 'not written yet', newer && `older than ${newer}, which was written since`];
  const state = marks.filter(Boolean).join(', ');
  const values = storage.sample?.data.length ? `Values: ${storage.sample.data.map((x) => units.value(x, handle?.dtype)).join(', ')}${storage.sample.count > storage.sample.data.length ? ' …' : ''}` : '';
  return [
    `${name} in ${memoryName(storage.device)} (${storage.device})${state ? `, ${state}` : ''}`,
    what, `${rounded} at ${storage.addr}${reuse}${created}`, values,
  ].filter(Boolean);
}

function cards(e) {
  const card = list(e.devices).find((d) => d && d.kind !== 'cpu');
  if (!card) return ' without a GPU';
  const name = card.card ?? card.name;
  return card.kind === 'sim' ? ` with a simulated GPU (${String(name).replace(/ \(simulated\)$/, '')}); times are modelled` : ` on ${name}; times are ${e.clock ?? 'measured'}`;
}

const rounding = (e) => (e.asked !== undefined && e.asked !== e.bytes ? ` (${units.bytes(e.asked)} requested, rounded up)` : '');

// What holds the result, where a call has just allocated it.
const fresh = (who, alloc, other) => `${who}, newly allocated in ${placeBeside(alloc.device, other ?? alloc.device)}`;

/** What a copy goes through, and why. */
export function wayOf(e) {
  if (e.route === 'staged') return 'through the staging buffer';
  return e.route === 'host' && e.dir === 'p2p' ? 'through CPU RAM, as the two cards cannot reach each other' : '';
}

export const after = (words) => words && `, ${words}`;

/** alloc: the allocation of the destination, if it is part of the same call. */
function copied(e, n, alloc = null) {
  const from = e.src?.device;
  const to = e.dst?.device;
  const name = n.used(e.src?.tensor, e);
  const crosses = from && to ? (from === 'cpu') !== (to === 'cpu') : e.dir === 'h2d' || e.dir === 'd2h';
  const over = crosses ? 'over the bus ' : '';
  const place = (device, other) => (device ? placeBeside(device, other) : 'memory that the log does not name');
  const into = alloc?.storage === e.dst?.storage && alloc ? fresh(n.tensor(e.dst?.tensor), alloc, from) : place(to, from);
  const dtype = e.cast ? n.dtypeOf(e.src?.tensor) : ''; // converted before or after: these are the bytes that go
  return `${units.bytes(e.bytes)} of ${name}${dtype ? `, as ${dtype},` : ''} go ${over}from ${place(from, to)} to ${into}${side(e)}${after(wayOf(e))}${because[e.why] ?? ''}.`;
}

const PLAIN = new Set(['self', 'other', 'exponent']); // numbers in place of a tensor: by their place alone

/** A call as a program writes it, with what it read and its numbers: "mul(x, 0.5)", "sum(x, dim=1)". */
function callText(name, read, numbers) {
  const all = Object.entries(numbers && numbers.part === undefined ? numbers : {});
  const words = ([key, value]) => `${PLAIN.has(key) ? '' : `${key}=`}${Array.isArray(value) ? `(${value.join(', ')})` : value}`;
  const first = all.filter(([key]) => key === 'self').map(words);
  const last = all.filter(([key]) => key !== 'self').map(words);
  return `${name}(${[...first, ...read, ...last].join(', ')})`;
}

/** alloc: the allocation of the result, if it is part of the same call. */
function operated(e, n, alloc = null, read = list(e.in)) {
  const name = n.called(e);
  const by = e.kernel ? `, kernel ${e.kernel}` : e.blas ? `, by ${library(e)}` : '';
  const outs = list(e.out).map((u) => n.tensor(u?.tensor));
  const sides = list(e.sides).map((one) => one?.device).filter(Boolean);
  if (sides.length) return `${name} runs on ${and(few(sides, 4))} together${outs.length ? `, into ${and(few(outs, 3))}` : ''}${by}.`;
  if (outs.length > 1) return `${name} runs on ${processor(e.device)}${side(e)} for ${outs.length} tensors at once, into ${and(few(outs, 3))}${by}.`;
  const ins = read.map((u) => n.used(u?.tensor, e));
  const inPlace = e.inplace || name.endsWith('_');
  const call = ins.length || inPlace ? callText(name, ins.length ? ins : outs, e.numbers) : name;
  const also = inPlace ? n.keepers(list(e.out)[0]?.tensor, e.seq) : [];
  const into = inPlace ? `in place${also.length ? `: ${and(few(also, 3))} ${also.length > 1 ? 'see' : 'sees'} it, too` : ''}` : outs.length ? `into ${alloc ? fresh(and(outs), alloc) : and(outs)}` : '';
  return `${e.name ? call : `An operation${ins.length ? ` of ${and(ins)}` : ''}`} runs on ${processor(e.device)}${side(e)} ${into}`.trim() + `${by}.`;
}

// A simulated card multiplies with OpenBLAS, a real one with cuBLAS.
function library(e) {
  const simulated = e.device !== 'cpu' && String(e.blas).startsWith('cblas_');
  return simulated ? `OpenBLAS (${e.blas}), which stands in for cuBLAS here` : e.blas;
}

// A message of several lines, as sentences.
function lines(words) {
  const all = String(words).split('\n').map((line) => line.trim()).filter(Boolean);
  return all.map((line) => (/[.!?:)]$/.test(line) ? line : `${line}.`)).join(' ');
}

function parts(e) {
  const named = [['overhead', 'overhead'], ['staging', 'staging'], ['wire', 'on the bus']];
  const costs = named.filter(([key]) => e[key] > 0).map(([key, label]) => `${units.time(e[key])} ${label}`);
  return costs.length > 1 ? ` Its cost: ${costs.join(', ')}.` : '';
}

function sample(e, dtype) {
  const data = list(e.data);
  const shown = data.slice(0, 6).map((x) => units.value(x, dtype)).join(', ');
  return `${shown || 'nothing'}${(e.count ?? data.length) > 6 ? ' …' : ''}`;
}

const ended = (e) => `The program ends${e.status > 0 ? ` with exit status ${e.status}` : ''}.`;

function living(e) {
  if (!Array.isArray(e.live)) return '';
  const { live } = e;
  if (!live.length) return ' All memory was freed.';
  return ` ${units.plural(live.length, 'tensor')} ${live.length === 1 ? 'was' : 'were'} not freed.`;
}
