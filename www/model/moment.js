// moment.js: what is so at a time of the clock, as a sentence: what the host does, and what runs beside it. It names things
// and leaves out figures that grow, so that it changes, and is spoken, only when something begins or ends. Pure.

import { int } from './fields.js';
import { lostWords } from './reach.js';
import { batchOf, threadName } from './threads.js';
import * as units from './units.js';
import { after, and, awaited, memoryName, placeBeside, processor, sentence, stream, wayOf } from './words.js';

const WRONG = ['error', 'oom', 'data_race'];
const NAMED = 3; // works that are named; of more, the number

/** run: run.js; now: its instant. */
export function momentSentence(run, now) {
  const { events } = run;
  const names = run.names.at(now.seq);
  const hosts = now.threads.map((call) => hostSentence(run, call, names));
  const own = new Set(now.threads.map((call) => call.seq));
  const works = [...now.copies, ...now.ops].filter((w) => !own.has(w.seq));
  if (!hosts.length) hosts.push(between(run, now, events[now.seq], names));
  return [wrongAt(run, now), ...hosts, beside(works, events, names)].filter(Boolean).join(' ');
}

/** What the last call that returned did wrong, which comes first; '' : nothing. */
export function wrongAt({ events, names, steps, stepOf }, { seq }) {
  if (seq < 0) return '';
  const inside = events.slice(steps[stepOf(seq)].from, seq + 1);
  const found = WRONG.map((kind) => inside.findLast((e) => e?.kind === kind)).find(Boolean);
  return found ? sentence(found, names) : '';
}

const who = (run, { th, seq, event }) => {
  const batch = batchOf(run, th, seq);
  const line = int(event.line) > 0 ? `ine ${event.line}` : '';
  const name = th ? threadName(run, th) : '';
  const what = [batch >= 0 && `for batch ${batch}`, line && `at l${line}`].filter(Boolean).join(', ');
  if (th) return `${name[0].toUpperCase()}${name.slice(1)}${what && `, ${what},`}`;
  return line ? `L${line}` : 'The program';
};

function hostSentence(run, call, names) {
  const { event: e } = call;
  if (e.kind === 'copy') {
    const verb = e.was_async ? 'issues a copy:' : 'waits while';
    return `${who(run, call)} ${verb} ${moved(e, names)}${after(wayOf(e))}.`;
  }
  if (e.kind === 'sync') return `${who(run, call)} waits for ${awaited(e)}.`;
  if (e.kind === 'op') return `${who(run, call)} ${!e.device || e.device === 'cpu' ? 'computes' : 'launches'} ${e.name ?? 'an operation'} on ${processor(e.device)}.`;
  return `${who(run, call).replace(/,$/, '')}: ${sentence(e, names)}`;
}

function moved(e, names) {
  const [from, to] = [e.src?.device, e.dst?.device];
  return `${units.bytes(e.bytes)} of ${names.tensor(e.src?.tensor)} go from ${placeBeside(from, to)} to ${placeBeside(to, from)}`;
}

function between(run, now, e, names) {
  if (!e) return 'The program starts.';
  if (e.kind === 'end' || (run.ended && now.seq === run.events.length - 1)) {
    return `${sentence(e, names)} ${lostWords(run.lostIn(run.atTime(now.seq)))}`.trim();
  }
  return int(e.line) > 0 ? `The program continues after line ${e.line}.` : 'The program continues.';
}

function beside(works, events, names) {
  const running = works.filter((w) => w.phase === 'running');
  const queued = works.length - running.length;
  const words = running.slice(0, NAMED).map((w) => workWords(events[w.seq], names));
  if (running.length > NAMED) words.push(`${running.length - NAMED} more run`);
  if (queued) words.push(`${queued}${words.length ? ' more' : ''} ${queued === 1 ? 'is' : 'are'} queued`);
  return words.length ? `Meanwhile ${and(words)}.` : '';
}

function workWords(e, names) {
  if (e.kind !== 'copy') return `${e.name ?? 'an operation'} runs on ${processor(e.device)}${aside(e.stream > 0 && stream(e))}`;
  const into = e.dst?.tensor > 0 ? `${names.tensor(e.dst.tensor)} in ` : '';
  const way = e.dir === 'p2p' ? wayOf(e) || 'straight from card to card' : e.route === 'direct' ? 'without the CPU' : '';
  return `${units.bytes(e.bytes)} of ${names.tensor(e.src?.tensor)} go to ${into}${memoryName(e.dst?.device)}${aside(e.stream > 0 && stream(e), way)}`;
}

const aside = (...words) => (words.some(Boolean) ? ` (${words.filter(Boolean).join(', ')})` : '');
