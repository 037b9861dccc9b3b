// route.js: the way of a copy through the picture, in legs: one for each hop that the bytes take. Pure.
//
// A direct copy has one leg, from box to box. A staged one stops in its card's staging buffers in RAM: one leg that the
// CPU copies, one over the bus. Between cards it takes the peer link, or without peer access both buses, by way of RAM.

import { distance, middle } from './canvas_util.js';

const GUTTER = 9; // px from the wall of a memory

export const boxOf = (layout, storage) => layout.boxes.find((b) => b.storage === storage);

/**
 * [{points, band: [from, to], thick}, ...] in the order of the hops; [] if an end is not shown. band: the part of the leg, by
 * length, on which its packet is drawn, with `thick` px.
 */
export function route(layout, a) {
  const src = boxOf(layout, a.src);
  const dst = boxOf(layout, a.dst);
  if (!src || !dst) return [];
  if (a.dir === 'h2d') return a.route === 'staged' ? byStaging(layout, src, dst) : [direct(layout, src, dst)];
  if (a.dir === 'd2h') return (a.route === 'staged' ? byStaging(layout, dst, src) : [direct(layout, dst, src)]).reverse().map(reversed);
  if (a.dir === 'p2p' && src.device !== dst.device) return a.route === 'host' ? throughHost(layout, src, dst) : [peer(layout, src, dst)];
  return [whole([middle(src), middle(dst)], 4)];
}

const whole = (points, thick) => ({ points, band: [0, 1], thick });
const reversed = ({ points, band: [from, to], thick }) => ({ points: points.toReversed(), band: [1 - to, 1 - from], thick });

// Legs go from the host to the card, by the lane of this direction.
const laneOf = (layout, card, dir) => layout.bus.lanes.get(card.device)[dir];

function direct(layout, host, card) {
  const lane = laneOf(layout, card, host === boxOf(layout, host.storage) && card.lane ? card.lane : 'h2d');
  return onBus(layout, lane, fromHost(layout, host, lane.from), card);
}
