// route.js: the way of a copy through the picture, in legs: one for each hop that its bytes take. Pure.
//
// A direct copy has one leg, from box to box. A staged one stops in its card's staging buffers, which lie in RAM: one leg
// that the CPU copies, one over the bus. Between cards there is the peer link; without it both buses, by way of RAM.

import { distance, middle } from './canvas_util.js';

const GUTTER = 9; // px from the wall of a memory

export const boxOf = (layout, storage) => layout.boxes.find((b) => b.storage === storage);

/**
 * The legs of copy a {src, dst, dir, route}: [{points, band: [from, to], thick}], in the order of the hops; [] if an end is
 * not shown. Without dst the program itself takes the bytes, to print or to save them: they end at the CPU. band: the part of the leg, by length, on which its packet is drawn; thick: its px.
 */
export function route(layout, a) {
  const src = boxOf(layout, a.src);
  const dst = a.dst || a.dir !== 'd2h' ? boxOf(layout, a.dst) : { device: 'cpu', isCpu: true, ...layout.memories[0].compute };
  if (!src || !dst) return [];
  const lanes = (box) => layout.bus.lanes.get(box.device);
  if (a.dir === 'h2d' && lanes(dst)) return fromHost(layout, src, dst, lanes(dst).h2d, a.route);
  if (a.dir === 'd2h' && lanes(src)) return fromHost(layout, dst, src, lanes(src).d2h, a.route).reverse().map(reversed);
  if (a.dir !== 'p2p' || src.device === dst.device || !lanes(src) || !lanes(dst)) return [whole([middle(src), middle(dst)], 4)];
  return a.route === 'host' ? throughHost(layout, src, dst, lanes(src).d2h, lanes(dst).h2d) : [peer(layout, src, dst)];
}

const whole = (points, thick) => ({ points, band: [0, 1], thick });
const reversed = ({ points, band: [from, to], thick }) => ({ points: points.toReversed(), band: [1 - to, 1 - from], thick });

// Legs from the host to a card, by one lane; for the other direction they are reversed.
function fromHost(layout, host, card, lane, way) {
  if (way !== 'staged') return [overBus(layout, leaveHost(layout, host, lane.from), lane, card)];
  return [whole([...leaveHost(layout, host, middle(lane.slot)), middle(lane.slot)], layout.bus.staging), overBus(layout, [middle(lane.slot)], lane, card)];
}

// The band lies between the two ends of the lane: from `before`, which ends at its height, to the card's box.
function overBus(layout, before, lane, card) {
  const join = layout.tall ? [lane.from[0], before.at(-1)[1]] : [before.at(-1)[0], lane.from[1]];
  const start = [...before, join, lane.from];
  const points = [...start, lane.to, ...reachCard(layout, card, lane.to)].filter((p, i, all) => !i || distance(p, all[i - 1]) > 0.01);
  const at = (end) => shareUpTo(points, points.findIndex((p) => distance(p, end) <= 0.01));
  return { points, band: [at(lane.from), at(lane.to)], thick: lane.thick };
}

// Without peer access: down one bus, over to the other card's staging buffer, and up its bus.
function throughHost(layout, src, dst, down, up) {
  const first = overBus(layout, [middle(down.slot)], down, src);
  const second = overBus(layout, [middle(down.slot), middle(up.slot)], up, dst);
  return [reversed(first), second];
}

// The link lies at the far wall of the cards' memories.
function peer(layout, src, dst) {
  const { x } = layout.bus.peer;
  const points = [...doorstep(layout, src, x), ...doorstep(layout, dst, x).reverse()];
  return { ...whole(points, layout.bus.peer.thick), band: [shareUpTo(points, points.findIndex((p) => p[0] === x)), shareUpTo(points, points.findLastIndex((p) => p[0] === x))] };
}

// From a box of the host to the height (on a tall picture: the column) of `to`, which lies beside (below) its map.
function leaveHost(layout, box, to) {
  const { inner } = layout.memories[0];
  if (!layout.tall) return [...doorstep(layout, box, inner.x + inner.w + GUTTER), [inner.x + inner.w + GUTTER, to[1]]];
  const x = box.x + box.w / 2;
  const { y } = layout.bus.dock;
  const out = box.isCpu ? [[x, box.y]] : isFree(layout, box, x, box.y + box.h, y) ? [[x, box.y + box.h]] : doorstep(layout, box, wallOf(inner, to[0]));
  return [...out, [out.at(-1)[0], y + 4], [to[0], y + 4]];
}

// The wall of a tall picture's map that is nearer to the lane at x.
const wallOf = (inner, x) => (x < inner.x + inner.w / 2 ? inner.x - 7 : inner.x + inner.w + 7);

// Does no box lie in the column at x, from top to bottom?
const isFree = ({ boxes }, box, x, top, bottom) => !boxes.some((b) => b !== box && b.y + b.h > top && b.y < bottom && b.x < x && b.x + b.w > x);

function reachCard(layout, box, from) {
  if (!layout.tall) return [[from[0] + GUTTER, from[1]], ...doorstep(layout, box, from[0] + GUTTER).reverse()];
  const x = box.x + box.w / 2;
  const { inner } = layout.memories.find((m) => m.device === box.device);
  if (isFree(layout, box, x, from[1], box.y)) return [[x, from[1]], [x, box.y]];
  const wall = wallOf(inner, from[0]);
  return [[wall, from[1]], ...doorstep(layout, box, wall).reverse()];
}

// From a box to the wall at x: straight if nothing is in between, else through the gap above.
function doorstep(layout, box, x) {
  const y = box.y + box.h / 2;
  const side = x > box.x ? box.x + box.w : box.x;
  const between = (b) => b !== box && b.y < y && b.y + b.h > y && b.x < Math.max(x, side) && b.x + b.w > Math.min(x, side);
  if (!layout.boxes.some(between)) return [[side, y], [x, y]];
  const above = box.y - 6;
  return [[box.x + box.w / 2, box.y], [box.x + box.w / 2, above], [x, above]];
}

export const lengthOf = (points) => points.slice(1).reduce((sum, p, i) => sum + distance(points[i], p), 0);

/** The point so many px along a path, and the direction there: {x, y, dx, dy}. */
export function pointAt(points, px) {
  let i = 1;
  while (i < points.length - 1 && px > distance(points[i - 1], points[i])) px -= distance(points[i - 1], points[i++]);
  const [[x, y], to] = [points[i - 1], points[i]];
  const of = Math.max(1e-9, distance(points[i - 1], to));
  const [dx, dy] = [(to[0] - x) / of, (to[1] - y) / of];
  return { x: x + dx * px, y: y + dy * px, dx, dy };
}

// The fraction of the path that lies before point n of it.
const shareUpTo = (points, n) => lengthOf(points.slice(0, n + 1)) / Math.max(1, lengthOf(points));

/**
 * The stretch of a leg that the packet of a hop covers, by length, {from, to, isCut}: it is as long as its bytes at the scale
 * of their box, and what has arrived is no longer in it; isCut: it is longer than its lane, which shows its head. While the engine
 * starts up, the head goes ahead to the end of the lane. hop: {bytes, done, reach} of transfer.js; scale: px a byte.
 */
export function packet({ points, band: [start, end] }, { bytes, done, reach }, scale) {
  const length = Math.max(3, bytes * scale) / Math.max(1, lengthOf(points));
  const head = start + (end - start) * reach;
  const left = bytes > 0 ? 1 - done / bytes : 0;
  const tail = head - length * left;
  return { from: Math.max(start, tail), to: head, isCut: reach >= 1 && tail < start - 1e-9 };
}
