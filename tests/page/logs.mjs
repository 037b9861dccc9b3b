// logs.mjs: what the page's tests share: the golden logs, the schema's kinds, a seeded generator.
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { callRecord } from '../../www/model/call_record.js';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const golden = (name) => `${root}tests/golden/${name}.jsonl`;

let read = null;

// Golden logs leave out `values` events, and what follows has the number that it had. A run of the page's numbers its events
// without a gap, and what refers to one by number has to find it.
const REFERENCES = ['cause', 'a', 'b', 'caused_by'];
function renumbered(events) {
  const now = new Map(events.map((e, i) => [e.seq, i]));
  return events.map((e, i) => {
    const found = REFERENCES.filter((key) => now.has(e[key])).map((key) => [key, now.get(e[key])]);
    return { ...e, seq: i, ...Object.fromEntries(found) };
  });
}

/** The events, with the places of their calls, as a run of the page has them. */
export function placed(events) {
  const called = callRecord();
  for (const e of events) called.place(e);
  return events;
}

/** The events as a log has them: those of a thread that follow one another at a place are of one call there. */
export function told(events) {
  let call = null;
  return events.map(({ file, line, fn, ...e }, i) => {
    if (!(line > 0)) return e;
    if (call && [file, line, e.th].every((one, n) => one === [call.file, call.line, call.th][n])) return { ...e, call: call.id };
    call = { id: i + 1, th: e.th, file, line, fn };
    return { ...e, calls: [call], call: call.id };
  });
}

const SHORT = 400; // events: only the long run reads the few longer ones

/** name -> events, for every log in tests/golden. */
export function logs() {
  read ??= new Map(readdirSync(`${root}tests/golden`).filter((f) => f.endsWith('.jsonl')).sort().map((file) => {
    const text = readFileSync(`${root}tests/golden/${file}`, 'utf8');
    return [file.replace('.jsonl', ''), placed(renumbered(text.split('\n').filter(Boolean).map((line) => JSON.parse(line))))];
  }).filter(([, events]) => process.env.LONG || events.length < SHORT));
  return read;
}

/** The kinds of lib/trace/schema.h, read from the table itself. */
export function kindsOfSchema() {
  const table = readFileSync(`${root}lib/trace/schema.h`, 'utf8');
  return [...table.matchAll(/^\s*KIND\((\w+),/gm)].map((m) => m[1]);
}

/** Numbers in [0, 1) that are the same in every run. */
export function random(seed) {
  let x = seed;
  return () => {
    x = (x + 0x6d2b79f5) | 0;
    let t = Math.imul(x ^ (x >>> 15), 1 | x);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const MISFITS = [null, 'x', NaN, -1, {}, [], [null], { device: 7 }, '0xzz', 1e300];

/** Events of which every tenth has a wrong field, or is none. next: random(). */
export function spoilt(events, next) {
  const odd = () => MISFITS[Math.floor(next() * MISFITS.length)];
  return events.map((e) => {
    if (next() > 0.1) return e;
    const keys = Object.keys(e);
    return next() < 0.2 ? odd() : { ...e, [keys[Math.floor(next() * keys.length)]]: odd() };
  });
}
