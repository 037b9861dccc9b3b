// instant.js: everything that is so at one moment of a run's clock. Pure: the same run and time give the same data.
//
// `state` (state.js) follows the order in which calls returned. At a moment of the clock, work of earlier calls may still
// be queued or running, and the call of a later event may have begun. Both are added here: what the memories' headings,
// the cores, the cost and, by clock, the sentence say is read off `instant(run, t)`.

import { int, list } from './fields.js';
import { firstIndex } from './search.js';
import { handleOf, isOwnWork } from './state.js';
import { crossings, progress, share, transfer, wireOf } from './transfer.js';

const courses = new WeakMap(); // work -> its course, which never changes once it has ended

function courseOf(work, devices) {
  if (!work.complete) return transfer(work.event, null, devices);
  if (!courses.has(work)) courses.set(work, transfer(work.event, work.complete, devices));
  return courses.get(work);
}

/**
 * What is so at time t (ns). until: the last event whose call counts, where others begin at t: by step, that of the step.
 *
 *   seq        the last event that had been emitted; -1: none
 *   memories   one for each device: {device, card, capacity, asked, live, loose, reserved, segments, storages}, in bytes; live:
 *              asked for, and rounded up; loose: of what lies in no segment
 *     segments   {addr, bytes, mem, pool, stream, free}: free bytes in it; by address
 *     storages   {id, addr, bytes, asked, mem, device, tenant, name, segment, tags, deferred, writing}; by address; made when
 *                they are first asked for, whatever the run was asked for meanwhile
 *       segment    the address of the segment that it lies in, or null
 *       tags       its handles: {tensor, name, shape, strides, offset, dtype, viewOf}
 *       deferred   freed by the program, but a stream that it was recorded on has not reached that point
 *       writing    what fills it at t: {work, phase, arrived, bytes}, or null; of queued work 0 bytes have arrived
 *   cost       what the run has cost by then (costAt)
 *   copies     that are queued or running: {id, seq, src, dst, dir, route, bytes, chunk, start, end, phase, waiting,
 *              buffered, arrived, moving}; waiting + buffered + arrived = bytes; chunk: bytes of one chunk
 *   ops        likewise: {id, seq, name, device, stream, ins, outs, start, end, phase, part}; part: 0 to 1, as time goes
 *   threads    the call that blocks each thread of the host: {th, seq, kind, event, from, until, for: [ids of works]}
 *   staging    bytes in the staging buffers of each card, in RAM: {device, bytes, capacity}
 */
export function instant(run, t, until = Infinity) {
  const seq = Math.min(run.timeline.seqAt(t), until);
  const at = () => (until === Infinity ? run.atTime(seq, t) : run.atTime(seq));
  const state = at();
  const works = run.timeline.worksAt(t).filter((w) => w.seq <= until);
  const copies = works.filter((w) => w.event.kind === 'copy').map((w) => copyAt(w, t, state.devices));
  const ops = works.filter((w) => w.event.kind === 'op').map((w) => opAt(w, t));
  const writing = writesOf(copies, ops);
  const threads = run.timeline.callsAt(t).filter((call) => call.seq <= until).map((call) => threadAt(run, call, works));
  return {
    t, seq,
    memories: state.devices.map((device) => memoryAt(at, state, device, works, writing)),
    copies, ops, threads,
    cost: costAt(state, t, copies, ops, threads, run.timeline.waitsUntoldAt(t).filter((wait) => wait.seq <= until)),
    staging: stagingAt(copies, state.devices),
  };
}

/**
 * Bytes that have arrived, copies and ops that have ended, and the time for which calls have blocked the host: {h2d, d2h:
 * {bytes, copies, wire, under}, held, own, cpu, gpu, running}. wire: ns for which the bus has carried them; under, running:
 * copies and ops that have begun or are queued; own: the part of held that was work of the CPU itself. The state counts a
 * call when it has returned: what is in flight of it is taken off, what a call that blocks has done is added, and a wait
 * that is over and not told yet.
 */
function costAt(state, t, copies, ops, threads, untold) {
  const { h2d, d2h, held, own, ops: counts } = state.ledger;
  const passed = (calls) => calls.reduce((sum, call) => sum + Math.min(t, call.until) - call.from, 0);
  const cost = {
    h2d: { bytes: h2d.bytes, copies: h2d.copies, wire: h2d.wire, under: 0 }, d2h: { bytes: d2h.bytes, copies: d2h.copies, wire: d2h.wire, under: 0 },
    held: held + passed([...threads, ...untold]), own: own + passed(threads.filter((call) => isOwnWork(call.event))), cpu: counts.cpu ?? 0, gpu: counts.gpu ?? 0, running: ops.length,
  };
  for (const c of copies) {
    const counted = c.seq <= state.seq;
    for (const { dir, done, all, told, bytes } of c.crossings) {
      const way = cost[dir];
      way.under++;
      way.copies -= Number(counted);
      way.bytes += bytes - (counted ? c.bytes : 0);
      way.wire += done - (told <= state.seq ? all : 0);
    }
  }
  for (const op of ops) if (op.seq <= state.seq) cost[op.device === 'cpu' ? 'cpu' : 'gpu']--;
  return cost;
}

/**
 * The copies and ops to show with a step at time t: those in flight, and those that the step issued, also before their
 * start and after their end; none of later steps, whose calls may begin at the same time. As in instant(), with phase
 * 'done' for what has ended; m: the part of their time that passed. by 'clock', the phase of what the step had not issued
 * by then is 'later'.
 */
export function worksOf(run, step, t, by = 'step') {
  const { devices } = run.at(step.to);
  const inFlight = run.timeline.worksAt(t).filter((w) => w.seq <= step.to);
  const works = new Set([...inFlight, ...run.timeline.worksIssued(step.from, step.to)]);
  return [...works].map((w) => ({
    ...(w.event.kind === 'copy' ? copyAt(w, t, devices) : opAt(w, t)), type: w.event.kind, event: w.event,
    m: share(t, w.start, w.end), ...(by === 'clock' && w.issued > t ? { phase: 'later' } : {}),
  }));
}

const phaseAt = (work, t) => (t >= work.end ? 'done' : t >= work.start ? 'running' : 'queued');

function copyAt(work, t, devices) {
  const { event: e } = work;
  const course = courseOf(work, devices);
  return {
    id: work.id, seq: work.seq, src: e.src ?? {}, dst: e.dst ?? {}, dir: e.dir, route: e.route, stream: e.stream,
    bytes: course.bytes, chunk: course.chunks[0]?.bytes ?? course.bytes, start: work.start, end: work.end, phase: phaseAt(work, t), crossings: crossings(e).map((one) => crossingAt(work, course, one, t)), ...progress(course, t),
  };
}

// How far it is over one bus: {dir, bytes, done, all}, of its bytes those that are over, and for how many ns of all the bus has
// carried them; told: the event that tells it, when the state counts all of it. Bytes count where they arrive.
function crossingAt({ event, complete }, course, { dir, hop }, t) {
  const chunks = course.chunks.map(({ bytes, hops }) => ({ bytes, ...hops.at(hop), last: hops.at(event.dir === 'p2p' ? hop : -1) }));
  const until = (time) => chunks.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(time, to) - from), 0);
  const all = complete ? wireOf(event, complete, dir) : 0;
  const bytes = t >= course.end ? course.bytes : chunks.reduce((sum, { bytes: n, last }) => sum + n * share(t, last.from, last.to), 0);
  return { dir, bytes, done: all * share(until(t), 0, until(Infinity)), all, told: int(complete?.seq, Infinity) };
}

function opAt(work, t) {
  const { event: e } = work;
  const ids = (uses) => [...new Set(list(uses).map((u) => u?.storage).filter(Boolean))];
  return {
    id: work.id, seq: work.seq, name: e.name, device: e.device, stream: e.stream, ins: ids(e.in), outs: ids(e.out),
    start: work.start, end: work.end, phase: phaseAt(work, t),
    part: share(t, work.start, work.end),
  };
}

// By storage: the running write, else the one that is queued first. An op fills its results evenly, for want of better.
function writesOf(copies, ops) {
  const writes = new Map();
  const put = (storage, write) => {
    const other = writes.get(storage);
    if (!other || (other.phase === 'queued' && write.phase === 'running')) writes.set(storage, write);
  };
  for (const c of copies) put(c.dst.storage, { work: c.id, phase: c.phase, part: c.bytes ? c.arrived / c.bytes : 0, bytes: c.bytes });
  for (const op of ops) for (const id of op.outs) put(id, { work: op.id, phase: op.phase, part: op.part, bytes: null });
  return writes;
}

function memoryAt(at, state, device, works, writing) {
  const { seq } = state;
  const segments = [...state.segments.values()].filter((s) => s.device === device.name).map((s) => ({ ...s, free: s.bytes })).sort(byAddress);
  const segmentOf = (addr) => {
    const one = segments[firstIndex(segments.length, (i) => segments[i].addr > addr) - 1];
    return one && addr < one.addr + one.bytes ? one : null;
  };
  const isHere = (s) => s.device === device.name && (s.freed === null || isDeferred(s, works));
  let [asked, live, loose] = [0, 0, 0];
  for (const s of state.storages.values()) {
    if (!isHere(s)) continue;
    const segment = segmentOf(s.start);
    if (segment) segment.free -= s.bytes;
    else loose += s.bytes;
    if (s.freed !== null) continue;
    asked += s.asked;
    live += s.bytes;
  }
  const storagesIn = (s) => [...s.storages.values()].filter(isHere).map((one) => storageAt(s, one, segmentOf(one.start), writing)).sort(byAddress);
  let storages = null; // thousands, which a picture does not need
  return {
    device: device.name, card: device.card, capacity: device.capacity, asked, live, loose, reserved: segments.reduce((sum, s) => sum + s.bytes, 0), segments,
    get storages() {
      storages ??= storagesIn(at()); // the state has gone on by now
      return storages;
    },
  };
}

// A freed block is reused when the streams that its storage was recorded on have done what they had to do by then.
function isDeferred(s, works) {
  return s.deferred && works.some((w) => w.seq < s.freed && s.streams.some((of) => of.device === deviceOf(w) && of.stream === w.event.stream));
}

const deviceOf = ({ event }) => event.device ?? (event.dst?.device === 'cpu' ? event.src?.device : event.dst?.device);

const byAddress = (a, b) => a.addr - b.addr || a.bytes - b.bytes;

function storageAt(state, s, segment, writing) {
  const write = writing.get(s.id);
  return {
    id: s.id, addr: s.start, bytes: s.bytes, asked: s.asked, mem: s.mem, device: s.device, tenant: s.tenant,
    segment: segment?.addr ?? null, deferred: s.freed !== null, name: handleOf(state, s)?.name ?? '',
    tags: s.tensors.map((id) => state.tensors.get(id)).filter((h) => h && !h.dropped)
      .map((h) => ({ tensor: h.id, name: h.name, shape: h.shape, strides: h.strides, offset: h.offset, dtype: h.dtype, viewOf: h.viewOf })),
    writing: write ? { work: write.work, arrived: Math.round((write.bytes ?? s.asked) * write.part), bytes: write.bytes ?? s.asked, phase: write.phase } : null,
  };
}

// What a thread waits for: of the work that was issued before its call returned, what its event names.
function threadAt(run, { th, seq, from, until }, works) {
  const e = run.events[seq];
  const before = works.filter((w) => w.seq <= seq);
  return { th, seq, kind: e.kind, event: e, from, until, for: before.filter((w) => isAwaited(run, e, seq, w)).map((w) => w.id) };
}

function isAwaited(run, e, seq, work) {
  const { event } = work;
  if (e.kind === 'copy' || e.kind === 'op') return work.seq === seq;
  if (e.kind !== 'sync') return false;
  if (e.scope === 'copy') return e.cause === work.seq;
  if (deviceOf(work) !== e.device) return false;
  if (e.scope === 'device') return true;
  if (e.scope === 'stream') return event.stream === e.stream;
  const record = run.recordOf(e.event, seq);
  return Boolean(record) && event.stream === record.stream && work.seq < record.seq;
}

function stagingAt(copies, devices) {
  const cards = devices.filter((d) => d.model?.staging_chunk > 0 && d.name !== 'cpu');
  return cards.map((d) => ({
    device: d.name, capacity: 2 * d.model.staging_chunk,
    bytes: copies.filter((c) => c.route !== 'direct' && [c.src.device, c.dst.device].includes(d.name))
      .reduce((total, c) => total + c.buffered, 0),
  }));
}
