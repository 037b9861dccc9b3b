// detour.js: what it costs to send a tensor to another card by way of CPU RAM, in place of one copy from card to card. From the times
// of a run that has done both. Pure.

import { int } from './fields.js';
import * as units from './units.js';

export const detour = {
  label: 'Two copies by way of CPU RAM, and one copy from card to card',
  counted: 'Crossings',
  later: 'What the detour costs appears after your guess, once this run has gone both ways.',
  measure,
  bars: (n, { home, out, direct }) => [
    { name: 'detour', parts: [['copy', n * home], ['copy', n * out]] },
    { name: 'one call', parts: [['copy', n * direct]] },
  ],
  words,
};

/** {home, out, direct} in ns, with their calls: of three copies of the same bytes; null: the run has not gone both ways. */
function measure(run) {
  const works = run.timeline.worksIssued(0, run.events.length - 1).filter(({ event: e, complete }) => complete && e.kind === 'copy');
  const direct = works.find(({ event: e }) => e.dir === 'p2p');
  const same = (dir) => works.find(({ event: e }) => e.dir === dir && e.bytes === direct?.event.bytes);
  const [home, out] = [same('d2h'), same('h2d')];
  return home && out ? { home: taken(home), out: taken(out), direct: taken(direct) } : null;
}

const taken = ({ start, end, issued, complete }) => end - start + Math.min(Math.max(0, start - issued), Math.max(0, int(complete.overhead)));

/** "4 crossings take 308 µs by way of CPU RAM, and 22.7 µs by one call each: 13.6 times as long." */
function words(n, { home, out, direct }) {
  const time = (ns) => units.time(Math.round(ns));
  const crossings = n === 1 ? '1 crossing takes' : `${n} crossings take`;
  return `${crossings} ${time(n * (home + out))} by way of CPU RAM, and ${time(n * direct)} by one call${n === 1 ? '' : ' each'}: ${+((home + out) / direct).toPrecision(2)} times as long.`;
}
