// lane_search.js: finds copies, operations and waits by what they are called. Pure.

import { list, object, text } from './fields.js';

const KINDS = new Set(['copy', 'op', 'sync', 'segment', 'segment_free']);

/** Does event e have these words, in its name, kernel, direction or tensors? "line 7", or 7: is it of that line? */
export function matches(e, names, words) {
  const one = object(e);
  if (!KINDS.has(one.kind)) return false;
  const line = /^(?:line\s*)?(\d+)$/.exec(words);
  if (line) return one.line === Number(line[1]);
  const uses = [one.src, one.dst, ...list(one.in), ...list(one.out)].map((use) => object(use).tensor).filter((id) => id > 0);
  const all = [one.kind, text(one.name), text(one.kernel), text(one.blas), text(one.dir), ...uses.map(names.tensor)];
  return all.join(' ').toLowerCase().includes(words);
}

/** The next such event after `seq` (by -1: before it), round the end; -1: none. shown(seq): can it be seen? */
export function nextMatch(run, seq, by, words, shown) {
  const n = run.events.length;
  for (let i = 1; i <= n; i++) {
    const at = (((seq + by * i) % n) + n) % n;
    if (matches(run.events[at], run.names, words) && shown(at)) return at;
  }
  return -1;
}
