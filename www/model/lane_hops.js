// lane_hops.js: when the thread, or the bus, really works on a staged copy: the CPU copies chunks into the staging buffers
// (or out of them) while the bus takes (or brings) others; in between, each waits for the other. Pure.

import { list, object } from './fields.js';
import { transfer } from './transfer.js';

const MOST = 64; // chunks that are told apart
const LARGEST = 2 ** 40; // bytes: more is no copy
const known = new WeakMap(); // work -> its course

/** [[from, to], ...] in ns: of a copy's slice in a thread's lane, when the CPU copies; in others, when bytes cross the bus. */
export function hopsOf(slice, lane, run) {
  const [work] = slice.work ? [slice.work] : run.timeline.worksIssued(slice.seq, slice.seq);
  if (work?.event.kind !== 'copy' || work.event.route !== 'staged' || !work.complete || !(work.event.bytes < LARGEST)) return [];
  if (!known.has(work)) known.set(work, transfer(work.event, work.complete, list(object(run.events[0]).devices).map(object)));
  const { chunks } = known.get(work);
  if (chunks.length > MOST || !(chunks[0]?.hops.length > 1)) return [];
  const hop = (lane.kind === 'thread') === (work.event.dir === 'h2d') ? 0 : 1;
  return chunks.map(({ hops }) => [hops[hop].from, hops[hop].to]);
}
