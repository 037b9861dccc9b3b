// fare.js: the price of a copy over the bus: time = latency + bytes / bandwidth. The copies of a run, the line through them, and
// what a copy would cost with other figures. Pure.

import { int, object } from './fields.js';
import * as units from './units.js';

/** The copies of a run over the bus, from the call to the arrival: [{seq, bytes, ns, dir, pinned}]; ns: without waiting for earlier work. */
export function copiesOf(run) {
  const works = run.timeline.worksIssued(0, run.events.length - 1);
  return works.filter(({ event: e, complete }) => complete && (e.dir === 'h2d' || e.dir === 'd2h') && int(e.bytes) > 0).map((work) => {
    const { event: e, complete } = work;
    const call = Math.min(Math.max(0, work.start - work.issued), Math.max(0, int(complete.overhead)));
    return { seq: work.seq, bytes: e.bytes, ns: work.end - work.start + call, dir: e.dir, pinned: [e.src, e.dst].some((side) => object(side).mem === 'pinned') };
  });
}

/** The same, those of one size and time together: [{bytes, ns, dir, count}], the smallest first. */
export function grouped(copies) {
  const groups = new Map();
  for (const { bytes, ns, dir } of copies) {
    const key = `${bytes} ${Math.round(ns)} ${dir}`;
    if (!groups.has(key)) groups.set(key, { bytes, ns, dir, count: 0 });
    groups.get(key).count++;
  }
  return [...groups.values()].sort((a, b) => a.bytes - b.bytes || a.ns - b.ns);
}

/** Latency in ns and bandwidth in bytes a second that fit copies best, each by its own size; null: they are all of one size. */
export function fit(copies) {
  if (new Set(copies.map((copy) => copy.bytes)).size < 2) return null;
  let [w, x, y, xx, xy] = [0, 0, 0, 0, 0];
  for (const { bytes, ns } of copies) {
    const weight = 1 / Math.max(1, ns) ** 2; // relative errors count
    w += weight;
    x += weight * bytes;
    y += weight * ns;
    xx += weight * bytes * bytes;
    xy += weight * bytes * ns;
  }
  const slope = (w * xy - x * y) / (w * xx - x * x);
  const latency = (y - slope * x) / w;
  return slope > 0 && latency > 0 && Number.isFinite(slope) ? { latency, bandwidth: 1e9 / slope } : null;
}

/** What a card's model says of a pinned copy. */
export function modelled(model) {
  const latency = int(model?.call_overhead) + int(model?.bus_latency);
  return { latency: latency || 5000, bandwidth: int(model?.bus_bandwidth) || 50e9 };
}

/** What a copy costs: {fare, weight, total} in ns. */
export function price(bytes, { latency, bandwidth }) {
  const weight = (bytes / bandwidth) * 1e9;
  return { fare: latency, weight, total: latency + weight };
}

/** Where the fare is half of the price. */
export const even = ({ latency, bandwidth }) => (latency * bandwidth) / 1e9;

export const rate = (bandwidth) => (bandwidth >= 1e12 ? `${+(bandwidth / 1e12).toPrecision(3)} TB/s` : `${+(bandwidth / 1e9).toPrecision(3)} GB/s`);

/** "128 KiB take 20.7 µs: 5 µs fare and 15.7 µs weight. Three quarters are weight." */
export function priceWords(bytes, line) {
  const { fare, weight, total } = price(bytes, line);
  const share = Math.round((100 * fare) / total);
  const words = share > 99 ? 'Nearly all of it is the fare' : share < 1 ? 'Nearly all of it is the weight' : `The fare is ${share} % of it`;
  return `${units.bytes(bytes)} take ${units.time(Math.round(total))}: ${units.time(Math.round(fare))} fare and ${units.time(Math.max(0, Math.round(weight)))} weight. ${words}.`;
}

export const evenWords = (line) => `Up to ${units.bytes(Math.round(even(line)))} a copy costs mostly its fare (latency).`;
