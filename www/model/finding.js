// finding.js: what the page says about a finding of the server: where it is, what it concerns and what it costs. Pure.

import { list, object } from './fields.js';
import * as units from './units.js';

/** The step, line and box of a finding in a run: {step, line, box, words: "step 9, line 8, box h"}. */
export function placeOf({ seq, line }, run) {
  const known = seq >= 0 && seq < run.events.length;
  const e = object(known ? run.events[seq] : null);
  const side = [e.dir === 'd2h' ? e.dst : e.src, e.src, list(e.out)[0], e].map(object).find((one) => one.tensor > 0);
  const box = side ? run.names.tensor(side.tensor) : '';
  const step = known ? run.stepOf(seq) : -1;
  const words = [step >= 0 && `step ${step + 1}`, line > 0 && `line ${line}`, box && `box ${box}`].filter(Boolean).join(', ');
  return { step, line: line > 0 ? line : 0, box, words };
}

/** What it costs: {figure: "4.07 ms", rest: "32 MiB, 4 times"}. What is wrong has no price. */
export function priceOf({ weight, ns, bytes, times }) {
  const often = times > 1 ? `${units.number(times)} times` : '';
  const wrong = weight === 'wrong';
  const parts = wrong ? [] : [ns > 0 && units.time(ns), bytes > 0 && units.bytes(bytes)].filter(Boolean);
  const [figure, ...rest] = parts.length ? parts : [wrong ? 'Wrong' : 'Hint'];
  return { figure, rest: [...rest, often].filter(Boolean).join(', ') };
}
