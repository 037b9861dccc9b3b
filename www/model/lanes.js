// lanes.js: what each thread of the host, each stream and each engine of a card did when: rows of slices that never
// overlap, for a timeline. Pure; reads a run as far as it has arrived, and each event once.
//
// A thread's slices are the calls that blocked it. A card with one stream has a row for each of its engines, where work
// ran; one with several has a row for each stream, where work was issued, and rows for the copy engines that streams
// share. A row answers what lies between two times by binary search, and joins what is too narrow to be seen: a run may
// have a million events.

import { int, list, object, text } from './fields.js';
import { arrowsOf } from './lane_arrows.js';
import { perRun } from './per_run.js';
import { firstIndex } from './search.js';
import { threadName } from './threads.js';

const ENGINES = ['h2d', 'compute', 'd2h'];

/** The lanes of a run, with all events that have arrived. */
export const lanesOf = perRun(lanes);

function lanes(run) {
  const threads = new Map(); // th -> lane
  const cards = new Map(); // device -> {device, streams: Map, engines: Map, users: engine -> Set of streams}
  const peers = new Map(); // "from to" -> lane
  const pending = new Map(); // id -> {work, index} of works that have not ended
  const colours = lineages();
  const held = arrowsOf(arrowOf, () => run.events.length);
  const self = {
    add, rows, find, arrows: held.between, threads, cards, peers, marks: [], memoryCalls: [], races: new Map(),
  };
  threadOf(0);

  function add(e, seq) {
    colours.learn(e);
    if (e.kind === 'copy' || e.kind === 'op') begin(run.timeline.worksIssued(seq, seq)[0]);
    if (e.kind === 'complete') end(e.id);
    if (e.held > 0) call(e, seq);
    if (e.kind === 'mark' && text(e.text)) self.marks.push({ seq, t: run.timeline.timeOf(seq), text: e.text });
    if (e.kind === 'event_wait' || (e.kind === 'sync' && e.scope === 'event')) held.add(seq);
    if (e.kind === 'data_race') for (const side of [e.a, e.b]) self.races.set(int(side, -1), seq);
  }

  function threadOf(th) {
    if (!threads.has(th)) threads.set(th, lane({ kind: 'thread', thread: th }));
    return threads.get(th);
  }

  function cardOf(device) {
    if (!cards.has(device)) cards.set(device, { device, streams: new Map(), engines: new Map(), users: new Map() });
    return cards.get(device);
  }

  const inMap = (map, key, fields) => map.get(key) ?? map.set(key, lane(fields)).get(key);

  // The lanes of a work: its stream's and its engine's. Work of the host has none: its call is what the thread did.
  function homes({ event: e }, engine) {
    const device = deviceOf(e);
    if (device === 'cpu') return [];
    const card = cardOf(device);
    const stream = Math.max(0, int(e.stream));
    const found = [inMap(card.streams, stream, { kind: 'stream', device, stream })];
    if (engine === 'p2p') {
      const pair = `${text(object(e.src).device)} → ${text(object(e.dst).device)}`;
      return [...found, inMap(peers, pair, { kind: 'peer', device, pair })];
    }
    if (!ENGINES.includes(engine)) return found;
    if (!card.users.has(engine)) card.users.set(engine, new Set());
    card.users.get(engine).add(stream);
    return [...found, inMap(card.engines, engine, { kind: 'engine', device, engine })];
  }

  function begin(work) {
    const index = colours.of(work.event);
    pending.set(work.id, { work, index });
    for (const home of homes(work, engineOf(work.event))) home.open.set(work.id, { work, index, seq: work.seq });
    if (work.complete) end(work.id);
  }

  function end(id) {
    const { work, index } = pending.get(id) ?? {};
    if (!work?.complete) return;
    pending.delete(id);
    for (const home of homes(work, engineOf(work.event))) home.open.delete(id);
    for (const home of homes(work, engineOf(work.event, work.complete))) {
      home.add({ from: work.start, until: work.end, seq: work.seq, index, work, look: 'work' });
    }
  }

  // A call that blocked its thread; when, the timeline knows.
  function call(e, seq) {
    const { from, until } = run.timeline.callOf(seq);
    const index = e.kind === 'op' || e.kind === 'copy' ? colours.of(e) : -1;
    const slice = { from: Math.max(0, from), until, seq, index, work: null, look: lookOf(e), device: text(e.device) };
    threadOf(int(e.th)).add(slice);
    if (slice.look === 'memory') self.memoryCalls.push(slice);
  }

  /** The rows to draw, at most about `most`: a card's are folded into one where they are too many. */
  function rows(most = Infinity) {
    const full = [...threadRows(), ...[...cards.values()].flatMap(cardRows), ...peerRows()];
    if (full.length <= most) return full;
    return [...threadRows(), ...[...cards.values()].map(folded), ...peerRows()];
  }

  const rowOf = (group, label, ...lanes) => ({ group, label, lanes });
  const nameOf = (one) => (threads.size > 1 ? threadName(run, one.thread) : '');
  const threadRows = () => [...threads.values()].map((one) => rowOf('host', nameOf(one), one));
  const peerRows = () => [...peers.values()].map((one) => rowOf('cards', one.pair.replaceAll('cuda:', ''), one));
  const enginesOf = (card) => ENGINES.map((name) => card.engines.get(name)).filter(Boolean);

  // A card of many rows, as one.
  function folded(card) {
    const engines = enginesOf(card);
    return rowOf(card.device, engines.length > 1 ? 'all' : ENGINE_WORDS[[...card.engines.keys()][0]], ...engines);
  }

  function cardRows(card) {
    const streams = [...card.streams.values()].sort((a, b) => a.stream - b.stream);
    const engines = enginesOf(card);
    const engineRow = (one) => rowOf(card.device, ENGINE_WORDS[one.engine], one);
    if (streams.length < 2) return engines.map(engineRow);
    const shared = engines.filter((one) => one.engine !== 'compute' && card.users.get(one.engine).size > 1);
    return [...streams.map((one) => rowOf(card.device, `stream ${one.stream}`, one)), ...shared.map(engineRow)];
  }

  /** The slices of event seq: {lane, slice}, in the order of the rows. */
  function find(seq) {
    const t = run.timeline.timeOf(seq);
    const [work] = run.timeline.worksIssued(seq, seq);
    const found = [];
    for (const { lanes: all } of rows()) {
      for (const one of all) {
        const slice = one.kind === 'thread' ? one.of(seq, t) : work && one.of(seq, work.start);
        if (slice) found.push({ lane: one, slice });
      }
    }
    return found;
  }

  // What an event of CUDA held up: from the record in its stream to the first work behind the wait, or to the end of the
  // host's wait.
  function arrowOf(seq) {
    const from = recorded(object(run.events[seq]), seq);
    const to = from && released(object(run.events[seq]), seq);
    return to ? { seq, from, to } : null;
  }

  const streamLane = (device, stream) => cards.get(text(device))?.streams.get(Math.max(0, int(stream)));

  function recorded(e, seq) {
    const record = run.recordOf(e.event, seq);
    const one = record && streamLane(record.device, record.stream);
    const before = one?.before(Infinity, record.seq);
    const t = record && int(object(run.events[record.seq]).when, before?.until ?? NaN);
    return one && Number.isFinite(t) ? { lane: one, t } : null;
  }

  function released(e, seq) {
    if (e.kind === 'sync') {
      const one = threadOf(int(e.th));
      const slice = one.of(seq, int(e.t));
      return slice && { lane: one, t: slice.until };
    }
    const one = streamLane(e.device, e.stream);
    const slice = one?.issuedAfter(seq);
    return slice ? { lane: one, t: slice.from } : null;
  }

  return self;
}

const ENGINE_WORDS = { h2d: 'copies in', compute: 'compute', d2h: 'copies out' };

// A copy between cards is issued in a stream of the one that it comes from.
function deviceOf(e) {
  if (e.kind === 'op') return text(e.device, 'cpu');
  const src = text(object(e.src).device, 'cpu');
  return src === 'cpu' ? text(object(e.dst).device, 'cpu') : src;
}

const likelyEngine = (e) => (e.kind === 'op' ? 'compute' : text(e.dir).replace('d2d', 'compute'));
const engineOf = (e, complete) => text(complete?.engine) || likelyEngine(e);

// What a call that blocked its thread was: the CPU's own work, a wait, or something short.
function lookOf(e) {
  if (e.kind === 'segment' || e.kind === 'segment_free') return 'memory';
  if (e.kind === 'sync' || e.kind === 'batch') return 'wait';
  if (e.kind === 'copy') return e.was_async || e.dir === 'h2h' ? 'call' : 'copy';
  return e.kind === 'op' && text(e.device, 'cpu') === 'cpu' ? 'work' : 'call';
}

/**
 * Slices in order of time: {from, until, seq, index, work, look}. index: of the tensor written, which selects hue and
 * pattern (as in state.js); -1: none. Where a malformed log has two at once, the later one begins when the first ends.
 */
function lane(fields) {
  const all = [];
  const busy = [0]; // busy[i]: ns that slices 0..i - 1 take
  let late = []; // added since the slices were last put in order
  const self = { ...fields, open: new Map(), add, between, near, before, after, issuedAfter, of };

  function add(slice) {
    late.push(slice);
  }

  function settle() {
    if (!late.length) return;
    const byTime = (a, b) => a.from - b.from || a.seq - b.seq;
    late.sort(byTime);
    const keep = firstIndex(all.length, (i) => all[i].from > late[0].from);
    const tail = keep < all.length ? all.splice(keep).concat(late).sort(byTime) : late;
    busy.length = keep + 1;
    late = [];
    for (const slice of tail) {
      slice.from = Math.max(slice.from, all.at(-1)?.until ?? 0);
      slice.until = Math.max(slice.from, slice.until);
      all.push(slice);
      busy.push(busy.at(-1) + slice.until - slice.from);
    }
  }

  /**
   * What is to be drawn between t0 and t1: {from, until, busy, count, slice}. Neighbours shorter than `least` ns are
   * joined: count: how many; busy: how long they took together; slice: the first of them. Work that has no end is open.
   */
  function between(t0, t1, least = 0) {
    settle();
    const found = [];
    for (let i = firstIndex(all.length, (k) => all[k].until > t0); i < all.length && all[i].from < t1;) {
      const end = all[i].until - all[i].from >= least ? i + 1 : joined(i, least);
      const [first, last] = [all[i], all[end - 1]];
      const took = busy[end] - busy[i];
      found.push({ from: first.from, until: last.until, busy: took, count: end - i, slice: first, open: false });
      i = end;
    }
    for (const { work, index, seq } of self.open.values()) {
      const from = Math.max(work.issued, all.at(-1)?.until ?? 0);
      if (from >= t1) continue;
      const slice = { from, until: Infinity, seq, index, work, look: 'work' };
      found.push({ from, until: Infinity, busy: Infinity, count: self.open.size, slice, open: true });
      break;
    }
    return found;
  }

  // The first slice after i that is not joined with it: it begins `least` later, or is long enough to stand alone.
  function joined(i, least) {
    const limit = all[i].from + least;
    let reach = 1; // what is joined is near: no search through all slices
    while (i + reach < all.length && all[i + reach].from < limit) reach *= 2;
    const low = i + Math.ceil(reach / 2);
    const end = low + firstIndex(Math.min(all.length, i + reach) - low, (k) => all[low + k].from >= limit);
    const last = all[end - 1];
    return end - 1 > i && last.until - last.from >= least ? end - 1 : end;
  }

  /** The slice at t, or the nearest one within `slack` ns; null: none. */
  function near(t, slack = 0) {
    settle();
    const i = firstIndex(all.length, (k) => all[k].until > t);
    const gap = ({ from, until }) => Math.max(from - t, t - until, 0);
    const [best] = [all[i], all[i - 1]].filter(Boolean).sort((a, b) => gap(a) - gap(b));
    return best && gap(best) <= slack ? best : null;
  }

  /** The last slice that had ended at t, of events before `seq`; null: none. */
  function before(t, seq = Infinity) {
    settle();
    const ended = firstIndex(all.length, (i) => all[i].until > t);
    const earlier = firstIndex(all.length, (i) => all[i].seq >= seq);
    return all[Math.min(ended, earlier) - 1] ?? null;
  }

  /** Of a stream, which works in order: the first slice of an event after `seq`; null: none. */
  function issuedAfter(seq) {
    settle();
    return all[firstIndex(all.length, (i) => all[i].seq > seq)] ?? null;
  }

  /** The slice `by` places after another one; at an end, the last one there. */
  function after(slice, by) {
    settle();
    const isAt = ({ from, seq }) => from > slice.from || (from === slice.from && seq >= slice.seq);
    const i = firstIndex(all.length, (k) => isAt(all[k]));
    return all[Math.max(0, Math.min(all.length - 1, i + by))] ?? null;
  }

  /** The slice of event seq, which begins near time t: before it in a thread, at it on a card. */
  function of(seq, t) {
    settle();
    for (let i = firstIndex(all.length, (k) => all[k].from > t) - 1; i >= 0 && i < all.length; i--) {
      if (all[i].seq === seq) return all[i];
      if (all[i].until < t) break;
    }
    const after = all[firstIndex(all.length, (k) => all[k].from >= t)];
    return after?.seq === seq ? after : null;
  }

  return self;
}

// The number of the tensor that each storage holds a copy of, in the order in which tensors are first written: the same
// as in state.js.
function lineages() {
  const held = new Map(); // storage -> {index}
  let count = 0;
  const numbered = (one) => {
    if (one && one.index < 0) one.index = count++;
    return one;
  };

  function learn(e) {
    if (e.kind === 'alloc') held.set(int(e.storage), { index: -1 });
    if (e.kind === 'host_write') numbered(held.get(int(e.storage)));
    if (e.kind === 'op') for (const out of list(e.out)) numbered(held.get(int(object(out).storage)));
    if (e.kind !== 'copy') return;
    const [from, to] = [int(object(e.src).storage), int(object(e.dst).storage)];
    if (held.has(from) && held.has(to)) held.set(to, numbered(held.get(from)));
  }

  /** Of what a copy or an op writes, in the event learned last; none for a launch of many tensors. */
  function of(e) {
    if (list(e.out).length > 1) return -1;
    const written = e.kind === 'copy' ? object(e.dst) : object(list(e.out)[0]);
    return held.get(int(written.storage))?.index ?? held.get(int(object(e.src).storage))?.index ?? -1;
  }

  return { learn, of };
}
