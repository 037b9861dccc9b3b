// transfer.js: where the bytes of one copy are, at any time. Pure.
//
// A copy is sent in chunks, and each chunk takes one hop or two: a direct copy is one chunk with one hop over the bus;
// a staged copy from the host goes into a staging buffer first (the CPU copies) and then over the bus, a staged copy to
// the host the other way round; a copy between cards without peer access goes down and up again. Two buffers: a chunk
// enters when the chunk before the last one has left. The modelled card books its time in the same way
// (lib/devices/timing_model.c), so the times agree with the log; where the bus was busy in between, or where the log
// was measured, the same course is stretched to the start and end that the log gives.

import { int } from './fields.js';

const CHUNK = 4 << 20; // of a card whose log does not say
const CHUNKS = 1 << 16; // of a copy at most, whatever its log says

/** The part of the time from..to that is over at t, 0 to 1. */
export function share(t, from, to) {
  return to > from ? Math.min(1, Math.max(0, (t - from) / (to - from))) : Number(t >= to);
}

/**
 * The course of a copy: {bytes, start, end, chunks: [{bytes, hops: [{ready, from, to}, ...]}]}, times in ns. Bytes move
 * from `from` to `to`; before that, from `ready` on, the engine that moves them starts up.
 * copy, complete: its events; devices: those of the session. Without a complete nothing has moved yet.
 */
export function transfer(copy, complete, devices) {
  const bytes = Math.max(0, int(copy.bytes));
  const start = int(complete?.start, Infinity);
  const end = Math.max(start, int(complete?.end, Infinity));
  const course = { bytes, start, end, chunks: [] };
  if (!Number.isFinite(end)) return course;
  const wire = Math.max(0, int(complete.wire, end - start));
  if (copy.route === 'staged' && complete.staging > 0 && wire > 0) course.chunks = staged(copy, complete, devices, bytes, start);
  else if (copy.route === 'host' && wire > 0) course.chunks = throughHost(copy, complete, devices, bytes, start, wire);
  else course.chunks = [{ bytes, hops: [{ ready: start, from: Math.max(start, end - wire), to: end }] }];
  return stretched(course);
}

const modelOf = (devices, side) => devices.find((d) => d.name === side?.device)?.model ?? {};

function staged(copy, complete, devices, bytes, start) {
  const up = copy.dir === 'h2d';
  const card = modelOf(devices, up ? copy.dst : copy.src);
  const bus = { rate: bytes / complete.wire, latency: int(card.bus_latency) };
  const memory = { rate: bytes / complete.staging, latency: 0 };
  return pipeline(bytes, int(card.staging_chunk, CHUNK), start, up ? [memory, bus] : [bus, memory]);
}

// Without the time of each crossing both are drawn equally long.
function throughHost(copy, { wire_up: told }, devices, bytes, start, wire) {
  const [from, to] = [modelOf(devices, copy.src), modelOf(devices, copy.dst)];
  const up = int(told, wire / 2);
  const of = (card, time) => ({ rate: bytes / time, latency: int(card.bus_latency) });
  return pipeline(bytes, int(from.staging_chunk, CHUNK), start, [of(from, wire - up), of(to, up)]);
}

/** When a copy crosses the bus of a card: [{dir, hop}], hop: which of its chunks' hops that is, -1: the last. */
export function crossings({ dir, route }) {
  if (dir === 'p2p') return route === 'host' ? [{ dir: 'd2h', hop: 0 }, { dir: 'h2d', hop: -1 }] : [];
  return dir === 'h2d' || dir === 'd2h' ? [{ dir, hop: route === 'staged' && dir === 'h2d' ? -1 : 0 }] : [];
}

/** How long its bytes took on the bus in direction dir, in ns; by way of the host only where the log tells each crossing. */
export function wireOf({ dir, route }, complete, on) {
  const all = Math.max(0, int(complete.wire, int(complete.end) - int(complete.start)));
  if (dir !== 'p2p' || route !== 'host') return all;
  const up = Math.max(0, int(complete.wire_up));
  return on === 'h2d' ? up : up && Math.max(0, all - up);
}

// Chunks through two buffers: a hop begins when the one before it has ended, its own lane is free, and a buffer is.
function pipeline(bytes, size, start, [first, second]) {
  const chunks = [];
  const left = [start, start]; // when each buffer was last emptied
  let enter = start;
  let leave = start;
  const each = Math.max(1, size, bytes / CHUNKS);
  for (let at = 0; at < bytes; at += each) {
    const n = Math.min(each, bytes - at);
    const into = hop(first, Math.max(enter, left[chunks.length % 2]), n);
    const out = hop(second, Math.max(leave, into.to), n);
    enter = into.to;
    leave = left[chunks.length % 2] = out.to;
    chunks.push({ bytes: n, hops: [into, out] });
  }
  return chunks;
}

function hop({ rate, latency }, ready, bytes) {
  return { ready, from: ready + latency, to: ready + latency + bytes / rate };
}

function stretched(course) {
  const last = course.chunks.at(-1)?.hops.at(-1).to ?? course.end;
  const factor = last > course.start ? (course.end - course.start) / (last - course.start) : 1;
  const moved = (t) => course.start + (t - course.start) * factor;
  for (const chunk of course.chunks) chunk.hops = chunk.hops.map((of) => ({ ready: moved(of.ready), from: moved(of.from), to: moved(of.to) }));
  const final = course.chunks.at(-1)?.hops.at(-1);
  if (final) final.to = course.end; // not a rounding error later
  return course;
}

/**
 * The bytes that have not left their source, that lie in the staging buffers or are between two hops, and that have
 * arrived; their sum is the copy. buffers: what lies in each of the two. moving: the hops that are on: {hop: which, bytes:
 * of its chunk, done: bytes, reach: the part of its start-up that is over}.
 */
export function progress(course, t) {
  let left = 0;
  let arrived = 0;
  const buffers = [0, 0];
  const moving = [];
  for (const [i, chunk] of course.chunks.entries()) {
    if (t <= chunk.hops[0].ready) break; // so are all chunks after it
    const parts = chunk.hops.map(({ from, to }) => share(t, from, to));
    left += chunk.bytes * parts[0];
    arrived += chunk.bytes * parts.at(-1);
    buffers[i % 2] += chunk.bytes * (parts[0] - parts.at(-1));
    chunk.hops.forEach(({ ready, from, to }, hop) => {
      if (t >= ready && t < to) moving.push({ hop, bytes: chunk.bytes, done: chunk.bytes * parts[hop], reach: share(t, ready, from) });
    });
  }
  if (t >= course.end) return { waiting: 0, buffered: 0, arrived: course.bytes, buffers: [0, 0], moving: [] };
  return { waiting: course.bytes - left, buffered: left - arrived, arrived, buffers, moving };
}
