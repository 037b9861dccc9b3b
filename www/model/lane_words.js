// lane_words.js: what a slice of a lane is called, and what is known about it. Pure; the sentences of events are those
// of words.js.

import { list, object, text } from './fields.js';
import { countOf, loopsOf, iterationWords, timeWords } from './loops.js';
import { batchOf } from './threads.js';
import * as units from './units.js';
import { sentence } from './words.js';

/** A few words for a slice, to stand in it. */
export const label = (slice, lane, run, lanes) => labels(slice, lane, run, lanes)[0];

/** Words for a slice, the longest first. */
export function labels(slice, lane, run, lanes) {
  const e = object(run.events[slice.seq]);
  if (!Object.hasOwn(sayings, e.kind)) return [text(e.kind)];
  const what = () => awaited(slice, e, run, lanes);
  const said = [sayings[e.kind](e, namesAt(run, slice.seq), lane.kind === 'thread', what)].flat();
  const batch = lane.kind === 'thread' && e.kind !== 'batch' ? batchOf(run, lane.thread, slice.seq) : -1;
  if (batch < 0) return said;
  return [`batch ${batch}: ${said[0]}`, ...(e.kind === 'segment' ? [`batch ${batch}`] : said)];
}

// The names that the picture shows when the call is over.
const namesAt = (run, seq) => run.names.at(run.parts[run.partOf(seq)]?.to ?? seq);

const sayings = {
  op(e, n, host) {
    const name = n.called(e);
    return [host && e.device !== 'cpu' ? `launch ${name}` : `${name}${into(e, n)}`, name];
  },
  copy(e, n, host) {
    const name = n.tensor(object(e.src).tensor);
    if (!host) return name;
    return [e.was_async ? `issue ${name}` : `copy of ${name}`, name];
  },
  sync(e, n, host, what) {
    const awaits = what();
    return [`waits for ${awaits}`, `for ${awaits}`, awaits.replace(/^the copy of /, '')];
  },
  batch: (e) => [`waits for batch ${e.index}`, `batch ${e.index}`, `${e.index}`],
  segment: (e) => [`${e.mem === 'pinned' ? 'page-locks' : 'reserves'} ${units.bytes(e.bytes)}`, units.bytes(e.bytes)],
  segment_free: (e) => [`returns ${units.bytes(e.bytes)}`, `−${units.bytes(e.bytes)}`],
};

function into(e, n) {
  const [first, ...others] = list(e.out).map((use) => n.tensor(object(use).tensor));
  return first === undefined ? '' : ` → ${first}${others.length ? ` and ${others.length} more` : ''}`;
}

// What a wait ended with: the work on the card that was over then; else what the event names.
function awaited(slice, e, run, lanes) {
  const streams = [...(lanes.cards.get(text(e.device))?.streams.values() ?? [])];
  const [ended] = streams.filter((one) => e.scope !== 'stream' || one.stream === (e.stream ?? 0))
    .map((one) => one.before(slice.until)).filter((one) => one?.until > slice.from).sort((a, b) => b.until - a.until);
  if (!ended) {
    const named = { event: `event ${e.event ?? '?'}`, stream: `stream ${e.stream ?? 0}` };
    return named[e.scope] ?? text(e.device, 'the card');
  }
  const work = object(run.events[ended.seq]);
  if (work.kind !== 'copy') return text(work.name, 'work');
  return `the copy of ${namesAt(run, ended.seq).tensor(object(work.src).tensor)}`;
}

/** All that is known about what is drawn there (lanes.js: between), as lines of a tooltip. */
export function about({ from, until, busy, count, slice, open }, lane, run, lanes) {
  if (count > 1 && !open) {
    const many = `${units.plural(count, 'slice')} from ${units.time(from)} to ${units.time(until)}`;
    return [many, `${units.time(busy)} together; zoom in to tell them apart`];
  }
  const e = object(run.events[slice.seq]);
  const where = e.line > 0 ? `, line ${e.line}` : '';
  const first = lane.kind === 'thread' ? label(slice, lane, run, lanes) : sentence(e, namesAt(run, slice.seq));
  const when = open ? `issued at ${units.time(slice.work.issued)}; the log does not tell its end`
    : `${units.took(until - from, slice.work?.complete)}, from ${exact(from, until)} to ${exact(until, from)}`;
  return [
    first, when + where,
    slice.work && !open && slice.work.start > slice.work.issued ? queued(slice, lane, run, lanes) : '',
    lane.kind === 'thread' ? sentence(e, namesAt(run, slice.seq)) : '',
    loopsOf(run).at(slice.seq).filter(({ loop }) => countOf(loop) > 1).map(iterationWords).join('; in '),
    timeWords(loopsOf(run).timeAt(slice.seq)),
    lanes.races.has(slice.seq) ? sentence(run.events[lanes.races.get(slice.seq)], run.names) : '',
  ].filter(Boolean);
}

// How long it was queued, and what was in its way last.
function queued(slice, lane, run, lanes) {
  const words = `queued for ${units.time(slice.work.start - slice.work.issued)} before`;
  const why = queuedBehind(slice, lane, run, lanes);
  return why ? `${words}, ${why}` : words;
}

/** Behind what work was queued, in a few words: what ended last before it began, of its stream, on its engine, behind
 *  an event that its stream waited for, or on a link of its card; '' if nothing was in its way. */
export function queuedBehind({ work, seq }, lane, run, lanes) {
  const card = lanes.cards.get(lane.device);
  const stream = card?.streams.get(work.event.stream ?? 0);
  const engine = [...(card?.engines.values() ?? [])].find((one) => one.of(seq, work.start));
  const arrows = lanes.arrows(work.start, work.start);
  const event = arrows.find((one) => one.to.lane === stream && one.to.t === work.start);
  const peers = [...lanes.peers.values()].filter((one) => one.pair.split(' → ').includes(lane.device));
  const ahead = [stream, engine, event?.from.lane, ...peers].map((one) => one?.before(work.start))
    .filter((one) => one && one.seq !== seq && one.until > work.issued).sort((a, b) => b.until - a.until)[0];
  return ahead ? `behind ${label(ahead, { kind: 'stream' }, run, lanes)}` : '';
}

// As many digits as tell the two times apart.
function exact(t, other) {
  const apart = Math.abs(t - other);
  const inMs = Math.max(t, other) >= 1e6 && apart >= 1e5;
  const digits = { maximumFractionDigits: inMs ? 2 : apart < 1e3 ? 3 : 1 };
  return inMs ? `${(t / 1e6).toLocaleString('en', digits)} ms` : `${(t / 1e3).toLocaleString('en', digits)} µs`;
}

/** What a break leaves out: {time, what, bytes, sentences}. */
export function breakWords({ from, until, seqs }, run) {
  const all = seqs.map((seq) => object(run.events[seq]));
  const verbs = [...new Set(all.map(verbOf))];
  const bytes = verbs.length > 1 ? '' : units.bytes(all.reduce((sum, e) => sum + (e.bytes > 0 ? e.bytes : 0), 0));
  const said = all.slice(0, TOLD).map((e) => sentence(e, run.names));
  const left = all.length - TOLD;
  const more = left > 0 ? [`And ${units.plural(left, 'more call', 'more calls')} of the kind.`] : [];
  return { time: units.time(until - from), what: `to ${verbs.join(', ')}`, bytes, sentences: [...said, ...more] };
}

const TOLD = 3; // calls of a break that its tooltip tells
const verbOf = (e) => (e.kind === 'segment_free' ? 'return' : e.mem === 'pinned' ? 'page-lock' : 'reserve');
