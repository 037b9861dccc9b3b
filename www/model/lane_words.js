// lane_words.js: what a slice of a lane is called, and what is known about it. Pure; the sentences of events are those of
// words.js.

import { list, object, text } from './fields.js';
import * as units from './units.js';
import { sentence } from './words.js';

/** A few words for a slice, to stand in it. */
export function label(slice, lane, run, lanes) {
  const e = object(run.events[slice.seq]);
  const say = Object.hasOwn(labels, e.kind) ? labels[e.kind] : null;
  return say ? say(e, namesAt(run, slice.seq), lane.kind === 'thread', () => awaited(slice, e, run, lanes)) : text(e.kind);
}

// The names that the picture shows when the call is over.
const namesAt = (run, seq) => run.names.at(run.steps[run.stepOf(seq)]?.to ?? seq);

const labels = {
  op: (e, n, host) => (host && e.device !== 'cpu' ? `launch ${n.called(e)}` : `${n.called(e)}${into(e, n)}`),
  copy: (e, n, host) => (!host ? n.tensor(object(e.src).tensor) : e.was_async ? `issue ${n.tensor(object(e.src).tensor)}` : `copy of ${n.tensor(object(e.src).tensor)}`),
  sync: (e, n, host, what) => `waits for ${what()}`,
  segment: (e) => `${e.mem === 'pinned' ? 'page-locks' : 'reserves'} ${units.bytes(e.bytes)}`,
  segment_free: (e) => `returns ${units.bytes(e.bytes)}`,
};

const into = (e, n) => (list(e.out).length ? ` → ${n.tensor(object(e.out[0]).tensor)}` : '');

// What a wait ended with: the work on the card that was over then; else what the event names.
function awaited(slice, e, run, lanes) {
  const card = lanes.cards.get(text(e.device));
  const ended = [...(card?.streams.values() ?? [])].filter((one) => e.scope !== 'stream' || one.stream === (e.stream ?? 0))
    .map((one) => one.before(slice.until)).filter((one) => one && one.until > slice.from).sort((a, b) => b.until - a.until)[0];
  if (!ended) return e.scope === 'event' ? `event ${e.event ?? '?'}` : e.scope === 'stream' ? `stream ${e.stream ?? 0}` : text(e.device, 'the card');
  const work = object(run.events[ended.seq]);
  return work.kind === 'copy' ? `the copy of ${namesAt(run, ended.seq).tensor(object(work.src).tensor)}` : text(work.name, 'work');
}

/** All that is known about what is drawn there (lanes.js: between), as lines of a tooltip. */
export function about({ from, until, busy, count, slice, open }, lane, run, lanes) {
  if (count > 1 && !open) return [`${units.plural(count, 'slice')} from ${units.time(from)} to ${units.time(until)}`, `${units.time(busy)} together; zoom in to tell them apart`];
  const e = object(run.events[slice.seq]);
  const where = e.line > 0 ? `, line ${e.line}` : '';
  const first = lane.kind === 'thread' ? label(slice, lane, run, lanes) : sentence(e, namesAt(run, slice.seq));
  return [
    first,
    open ? `issued at ${units.time(slice.work.issued)}; the log does not tell its end${where}` : `${units.time(until - from)}, from ${exact(from, until)} to ${exact(until, from)}${where}`,
    slice.work && !open && slice.work.start > slice.work.issued ? queued(slice, lane, run, lanes) : '',
    lane.kind === 'thread' ? sentence(e, namesAt(run, slice.seq)) : '',
    lanes.races.has(slice.seq) ? sentence(run.events[lanes.races.get(slice.seq)], run.names) : '',
  ].filter(Boolean);
}

// How long it was queued, and what was in its way last: what ended when it began, of its stream, else on its engine, else
// behind an event that its stream waited for.
function queued({ work, seq }, lane, run, lanes) {
  const card = lanes.cards.get(lane.device);
  const stream = card?.streams.get(work.event.stream ?? 0);
  const engine = [...(card?.engines.values() ?? [])].find((one) => one.of(seq, work.start));
  const event = lanes.arrows(work.issued - 1e6, work.start).find((one) => one.to.lane === stream && one.to.t === work.start);
  const ahead = [stream, engine, event?.from.lane].map((one) => one?.before(work.start))
    .filter((one) => one && one.seq !== seq && one.until > work.issued).sort((a, b) => b.until - a.until)[0];
  const words = `queued for ${units.time(work.start - work.issued)} before`;
  return ahead ? `${words}, behind ${label(ahead, { kind: 'stream' }, run, lanes)}` : words;
}

// As many digits as tell the two times apart.
function exact(t, other) {
  const unit = Math.max(t, other) >= 1e6 && Math.abs(t - other) >= 1e5 ? ['ms', 1e6] : ['µs', 1e3];
  return `${(t / unit[1]).toLocaleString('en', { maximumFractionDigits: unit[0] === 'ms' ? 2 : Math.abs(t - other) < 1e3 ? 3 : 1 })} ${unit[0]}`;
}

/** What a break leaves out. */
export function breakWords({ from, until, seq }, run) {
  const e = object(run.events[seq]);
  const what = e.kind === 'segment_free' ? 'return' : e.mem === 'pinned' ? 'page-lock' : 'reserve';
  return { time: units.time(until - from), what: `to ${what}`, bytes: units.bytes(e.bytes), sentence: sentence(e, run.names) };
}
