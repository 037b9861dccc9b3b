// bus.js: the bus, and the copies on it. A lane is as thick as its bandwidth. The packet of a copy is what has not
// arrived: as long as those bytes are in their box; its head goes ahead to the destination's door while the copy starts
// up, and its tail follows as the destination fills. A staged copy has a packet on each hop, and what lies in the staging
// buffers between. What a step has finished stays visible as a trail, so that a still picture shows the same.

import * as units from '../model/units.js';
import { tensorStyle, tile } from './colours.js';
import { arrow, path, rounded, text, wording } from './canvas_util.js';
import { boxOf, lengthOf, packet, pointAt, route } from './route.js';

/** Lanes, staging buffers and the scale; drawn below everything that moves. */
export function drawBus(c, scene) {
  const { layout, theme: th } = scene;
  const { bus } = layout;
  if (!bus.lanes.size) return;
  drawDock(c, th, layout);
  for (const lanes of bus.lanes.values()) for (const dir of ['h2d', 'd2h']) drawLane(c, th, lanes[dir], dir);
  if (scene.actions.some((a) => isPeer(layout, a))) drawPeer(c, th, layout);
  drawNames(c, th, layout);
  drawScale(c, th, layout);
}

// Where RAM's map ends, and the staging buffers begin.
function drawDock(c, th, { bus, tall }) {
  const { dock } = bus;
  c.strokeStyle = th.line;
  c.lineWidth = 1;
  c.beginPath();
  if (tall) {
    c.moveTo(dock.x + 12, dock.y + 0.5);
    c.lineTo(dock.x + dock.w - 12, dock.y + 0.5);
  } else {
    c.moveTo(dock.x - 5.5, dock.y + 14);
    c.lineTo(dock.x - 5.5, dock.y + dock.h - 14);
  }
  c.stroke();
  const slots = [...bus.lanes.values()].flatMap((lanes) => Object.values(lanes)).map(({ slot }) => slot);
  for (const cell of slots.flatMap(cells)) drawCell(c, th, cell);
}

// The two buffers of a slot, that of the first chunk on top.
const cells = ({ x, y, w, h }) => [0, 1].map((i) => ({ x, y: y + (i * (h + 2)) / 2, w, h: (h - 2) / 2 }));

function drawCell(c, th, cell) {
  rounded(c, cell, 2);
  c.fillStyle = th.paper;
  c.fill();
  c.lineWidth = 1;
  c.strokeStyle = th.faint;
  c.setLineDash([3, 3]);
  c.stroke();
  c.setLineDash([]);
}

function drawLane(c, th, { from, to, thick }, dir) {
  c.lineWidth = thick;
  c.strokeStyle = th.well;
  line(c, from, to);
  c.lineWidth = 1;
  c.strokeStyle = th.line;
  const [dx, dy] = from[0] === to[0] ? [thick / 2, 0] : [0, thick / 2];
  const beside = ([x, y], side) => [x + side * dx, y + side * dy];
  for (const side of [-1, 1]) line(c, beside(from, side), beside(to, side));
  drawChevrons(c, th, from, to, dir === 'h2d' ? 1 : -1);
}

function backdrop(c, color, x, y, w, h) {
  c.fillStyle = color;
  c.fillRect(x, y, w, h);
}

function line(c, from, to) {
  c.beginPath();
  c.moveTo(...from);
  c.lineTo(...to);
  c.stroke();
}

function drawChevrons(c, th, from, to, way) {
  const [dx, dy] = [Math.sign(to[0] - from[0]) * way, Math.sign(to[1] - from[1]) * way];
  c.strokeStyle = th.faint;
  c.lineWidth = 1.25;
  for (const t of [0.25, 0.5, 0.75]) {
    const x = from[0] + (to[0] - from[0]) * t;
    const y = from[1] + (to[1] - from[1]) * t;
    c.beginPath();
    c.moveTo(x - 3 * dx - 3 * dy, y - 3 * dy - 3 * dx);
    c.lineTo(x, y);
    c.lineTo(x - 3 * dx + 3 * dy, y - 3 * dy + 3 * dx);
    c.stroke();
  }
}

const deviceOf = ({ boxes }, storage) => boxes.find((b) => b.storage === storage)?.device;
const isOnCard = (layout, storage) => layout.bus.lanes.has(deviceOf(layout, storage));
const isPeer = (layout, a) => a.dir === 'p2p' && a.route !== 'host' && isOnCard(layout, a.src)
  && isOnCard(layout, a.dst);

function drawPeer(c, th, { bus, memories }) {
  const { x, thick } = bus.peer;
  c.lineWidth = thick;
  c.strokeStyle = th.well;
  line(c, [x, memories[1].inner.y], [x, memories.at(-1).inner.y + memories.at(-1).inner.h]);
}

/**
 * What is said of the link between the cards in the heading of one, longest first: of the card that a copy goes to, how far it
 * is; of the first other one, the link's name and bandwidth. [] where nothing takes the link.
 */
export function peerWords(scene, { device }) {
  const { layout } = scene;
  const all = scene.actions.filter((a) => a.type === 'copy' && a.phase !== 'later' && isPeer(layout, a) && isSpokenOf(scene, a));
  const here = all.find((a) => cardOf(layout, a) === device);
  if (here) return progress(scene, here).map((said) => said.filter(Boolean).join(' · '));
  const other = layout.memories.find((m) => layout.bus.lanes.has(m.device) && !all.some((a) => cardOf(layout, a) === m.device));
  return all.length && other?.device === device ? linkWords('link', [layout.bus.peer]) : [];
}

const perSecond = (bandwidth) => (bandwidth > 0 ? `${+(bandwidth / 1e9).toPrecision(3)} GB/s` : '');

/** What stands beside links: name and bandwidth; of those drawn narrower than that, so much. Longest first. */
export function linkWords(name, links) {
  const rates = [...new Set(links.map((one) => perSecond(one.bandwidth)))].join(', ');
  const whole = `${name} ${rates}`.trim();
  const all = [whole, rates];
  return links.some((one) => one.narrow) ? [...all.map((words) => `${words}, ${NARROWER}`), NARROWER] : all;
}

const NARROWER = 'drawn narrower';

function drawNames(c, th, { bus, tall, low }) {
  const { rect, dock } = bus;
  const small = { font: `12px ${th.sans}`, color: th.soft, align: 'center' };
  const bold = { ...small, font: `600 12px ${th.sans}` };
  const links = [...bus.lanes.values()].map((lane) => lane.h2d);
  const [rates] = linkWords('', links.map((one) => ({ ...one, narrow: false })));
  const narrower = links.some((one) => one.narrow) ? NARROWER : '';
  const x = rect.x + rect.w / 2;
  if (tall) {
    ['bus', rates, narrower].forEach((words, i) => text(c, words, x, rect.y + 16 + 16 * i, i ? small : bold));
    text(c, 'staging', dock.x + dock.w / 2, dock.y + 13, small);
    return;
  }
  const [above] = links;
  if (above.from[1] - above.thick / 2 < rect.y + (narrower ? 58 : 44)) {
    c.font = bold.font;
    const words = linkWords('bus', links);
    text(c, words.find((one) => c.measureText(one).width <= rect.w - 4) ?? words.at(-1), x, rect.y + 11, bold);
    return;
  }
  ['PCIe bus', rates, narrower].forEach((words, i) => text(c, words, x, rect.y + 18 + 17 * i, i ? small : bold));
  if (low || above.slot.y < rect.y + 44) return;
  text(c, 'staging', dock.x + dock.w / 2 - 6, rect.y + 18, small);
  text(c, 'buffers', dock.x + dock.w / 2 - 6, rect.y + 35, small);
}

// The scale, which holds in all memories and on the bus.
function drawScale(c, th, layout) {
  const { rect, tall, lanes } = layout.bus;
  const room = tall ? 60 : rect.w - 40;
  let bytes = layout.map.bytes;
  while (bytes * layout.map.scale > room && bytes > 1) bytes /= 2;
  const w = bytes * layout.map.scale;
  const x = rect.x + (rect.w - w) / 2;
  const [first, second] = lanes.values(); // of several cards between the lanes of the first two
  const y = second && !tall ? second.h2d.from[1] - second.h2d.thick / 2 - 30 : rect.y + rect.h - (tall ? 22 : 26);
  c.strokeStyle = th.soft;
  c.lineWidth = 1.5;
  line(c, [x, y - 4], [x, y + 4]);
  line(c, [x, y], [x + w, y]);
  line(c, [x + w, y - 4], [x + w, y + 4]);
  const style = { font: `12px ${th.sans}`, color: th.soft, align: 'center' };
  text(c, wording(c, scaleWords(units.bytes(bytes), layout.boxes), style.font, tall ? first.d2h.from[0] - first.h2d.from[0] - first.h2d.thick - 6 : rect.w - 4), x + w / 2, y + 14, style);
}

// The scale does not hold for boxes that are too thin for it, except in a group, which is as long as its bytes.
function scaleWords(bytes, boxes) {
  const isThin = boxes.some((box) => !box.group && box.pieces.some((piece) => piece.thin));
  return isThin ? [`${bytes}; thin boxes wider`, `${bytes}, thin wider`] : [bytes];
}

// ---- copies ---------------------------------------------------------------------------------------

/** The way of a copy, below the boxes: dotted while it is queued, dashed if it is implicit. */
export function drawWay(c, { layout }, a) {
  const legs = route(layout, a);
  if (!legs.length || a.phase === 'later') return;
  c.save();
  c.lineWidth = 2.25;
  c.strokeStyle = styleOf(layout, a).hue;
  if (a.phase === 'queued') c.setLineDash([2, 5]);
  else if (a.why === 'policy') c.setLineDash([7, 5]);
  for (const leg of legs) path(c, leg.points);
  c.restore();
}

const styleOf = (layout, a) => tensorStyle((boxOf(layout, a.dst) ?? boxOf(layout, a.src)).index);

/** The packets of a copy in flight, or afterwards an arrow and the cost. */
export function drawCopy(c, scene, a) {
  const { layout } = scene;
  const legs = route(layout, a);
  if (!legs.length || a.phase === 'later') return;
  const style = styleOf(layout, a);
  if (a.phase === 'done') {
    c.fillStyle = style.hue;
    arrow(c, legs.at(-1).points.at(-2), legs.at(-1).points.at(-1), 9);
  } else if (a.phase !== 'queued') {
    drawBuffered(c, scene, a, style);
    const scale = boxOf(layout, a.src).pieces[0].row.scale;
    for (const hop of a.moving) if (legs[hop.hop]) drawPacket(c, scene, legs[hop.hop], packet(legs[hop.hop], hop, scale), style);
  }
  drawBeside(c, scene, a, progress(scene, a));
}

function drawPacket(c, { scale, theme: th }, { points, thick }, { from, to, isCut }, { hue, pattern }) {
  if (to <= from) return;
  const length = lengthOf(points);
  c.save();
  c.lineWidth = Math.max(2, thick - 2);
  c.lineJoin = 'round';
  c.strokeStyle = tile(c, pattern, hue, 'rgba(255,255,255,.62)', scale);
  c.setLineDash([(to - from) * length, 2 * length]);
  c.lineDashOffset = -from * length;
  c.beginPath();
  points.forEach((p, i) => (i ? c.lineTo(...p) : c.moveTo(...p)));
  c.stroke();
  c.restore();
  if (isCut) drawCut(c, th, pointAt(points, from * length + CUT), thick);
}

const CUT = 10; // px behind the tail of a packet that is longer than its lane

// A double stroke across it, as where an axis is broken.
function drawCut(c, th, { x, y, dx, dy }, thick) {
  const half = thick / 2 + 2;
  c.save();
  c.translate(x, y);
  c.rotate(Math.atan2(dy, dx));
  for (const [color, w] of [[th.ink, 6.5], [th.paper, 4]]) {
    c.strokeStyle = color;
    c.lineWidth = w;
    line(c, [-2.5, half], [2.5, -half]);
  }
  c.restore();
}

// The buffers that a staged copy stops in: those of the card, for its direction; between two cards those of both.
function slotsOf(layout, a) {
  const lanes = (storage) => layout.bus.lanes.get(boxOf(layout, storage)?.device);
  if (a.route === 'staged') return [(lanes(a.src) ?? lanes(a.dst))?.[a.dir]?.slot];
  return a.route === 'host' ? [lanes(a.src)?.d2h.slot, lanes(a.dst)?.h2d.slot] : [];
}

function drawBuffered(c, { layout, scale }, a, { hue, pattern }) {
  for (const slot of slotsOf(layout, a).filter(Boolean)) {
    for (const [i, cell] of cells(slot).entries()) {
      const part = a.buffers[i] / Math.max(1, a.chunk);
      c.fillStyle = tile(c, pattern, hue, 'rgba(255,255,255,.62)', scale);
      c.fillRect(cell.x + 1, cell.y + 1, Math.max(0, Math.min(1, part) * cell.w - 2), cell.h - 2);
    }
  }
}

// How far a copy is: [what stands first, what stands under it], longest first; the last are lines for a phone.
function progress({ layout, t }, a) {
  if (a.phase === 'queued') return [['queued', '']];
  if (a.phase === 'done') return [[`${units.bytes(a.bytes)}${a.why === 'policy' ? ', implicit' : ''}`, a.time ? units.time(a.time) : '']];
  const time = units.time(Math.max(0, Math.round(a.end - t)));
  const left = `${time} to go`;
  const part = `${Math.floor(a.part * 100)} %`;
  if (!a.arrived && !a.buffered && a.moving.every((hop) => !hop.done)) return [['the copy starts up', left], ['starts up', left]];
  const arrived = `${units.bytes(Math.floor(a.arrived))} of ${units.bytes(a.bytes)}`;
  if (isPeer(layout, a)) return [[arrived, left], [part, left], ['', left]];
  const staged = `${units.bytes(Math.floor(a.buffered))} staged`;
  const through = `${Math.floor((100 * (a.buffered + a.arrived)) / a.bytes)} % staged`;
  if (!a.buffered) return [[arrived, `arrived, ${left}`], [arrived, left], [part, left]];
  return [[`${arrived} arrived`, `${staged}, ${left}`], [arrived, `${staged}, ${time}`], [part, `${through}, ${time}`], [part, left], [`${part} arrived`, through, left]];
}

const cardOf = (layout, a) => deviceOf(layout, isOnCard(layout, a.dst) ? a.dst : a.src);
const laneOf = (layout, a) => layout.bus.lanes.get(cardOf(layout, a))?.[a.dir === 'd2h' ? 'd2h' : 'h2d'];

// Of several copies on a lane, of several cards those on all lanes of one, the one that runs is spoken of, else the last
// that has ended, else the next.
function isSpokenOf({ layout, actions }, a) {
  if (!spoken.has(actions)) spoken.set(actions, spokenIn(layout, actions));
  return spoken.get(actions).has(a);
}

const spoken = new WeakMap(); // actions -> those of its copies that are spoken of: thousands may be queued

function spokenIn(layout, actions) {
  const place = (b) => (layout.bus.lanes.size > 1 ? layout.tall || cardOf(layout, b) : laneOf(layout, b));
  const [links, lanes] = [new Map(), new Map()];
  for (const a of actions) {
    if (a.type !== 'copy' || a.phase === 'later') continue;
    const first = isPeer(layout, a) ? links : lanes;
    const other = first.get(place(a));
    if (!other || (other.phase !== 'running' && (a.phase === 'running' || a.phase === 'done'))) first.set(place(a), a);
  }
  return new Set([...links.values(), ...lanes.values()]);
}

// What is said of a copy, beside its lane: above that to a card, below the other; of several cards below both. What takes
// the link is spoken of in the destination's heading. Where the page is narrow there is room for the shortest words only.
function drawBeside(c, scene, a, said) {
  const { layout, theme: th } = scene;
  const lane = laneOf(layout, a);
  if (!lane || !isSpokenOf(scene, a) || (isPeer(layout, a) && !layout.tall)) return;
  const bold = { font: `700 13px ${th.sans}`, color: th.ink, align: 'center' };
  const thin = { font: `12px ${th.sans}`, color: th.soft, align: 'center' };
  const up = a.dir !== 'd2h';
  if (layout.tall && isPeer(layout, a)) { // above the link, which begins there at the wall
    const [words, more] = said.findLast(([first]) => first);
    const [link] = linkWords('link', [{ ...layout.bus.peer, narrow: false }]);
    [link, words, more].forEach((one, i) => text(c, one, layout.bus.rect.x + layout.bus.rect.w - 4, layout.bus.rect.y + 22 + 17 * i, { ...thin, ...(i ? {} : { font: `700 12px ${th.sans}`, color: th.ink }), align: 'right' }));
    return;
  }
  if (layout.tall) {
    const x = up ? lane.from[0] - lane.thick / 2 - 8 : lane.from[0] + lane.thick / 2 + 8;
    const align = up ? 'right' : 'left';
    const [words, ...more] = said.findLast(([first]) => first);
    text(c, words, x, layout.bus.rect.y + 24, { ...bold, font: `700 12px ${th.sans}`, align });
    more.forEach((one, i) => text(c, one, x, layout.bus.rect.y + 42 + 16 * i, { ...thin, align }));
    return;
  }
  const fits = (words, { font }) => {
    c.font = font;
    return c.measureText(words).width <= layout.bus.rect.w - 4;
  };
  const pairs = said.filter((one) => one.length === 2);
  const [words, more] = pairs.find(([first, second]) => fits(first, bold) && fits(second, thin)) ?? pairs.at(-1);
  const below = layout.bus.lanes.get(cardOf(layout, a)).d2h;
  const x = (lane.from[0] + lane.to[0]) / 2;
  const several = layout.bus.lanes.size > 1;
  const y = up && !several ? lane.from[1] - lane.thick / 2 - 30 : below.from[1] + below.thick / 2 + 14;
  const wide = Math.min(128, layout.bus.rect.w - 4);
  if (several) backdrop(c, th.paper, x - wide / 2, y - 10, wide, more ? 36 : 20);
  text(c, words, x, y, bold);
  text(c, more, x, y + 17, thin);
}
