// capacity.js: how much of a memory is used, reserved and free: a thin bar under its name, and the same in words.

import * as units from '../model/units.js';
import { tile } from './colours.js';

/**
 * What is so of a memory of an instant: {used: bytes that tensors asked for, taken: those that nobody else can get: blocks
 * with what rounding added, segments with their holes; capacity; 0: not known}.
 */
export function capacityOf({ asked, reserved, capacity, loose }) {
  return { used: asked, taken: Math.max(asked, reserved + loose), capacity: capacity ?? 0 };
}

/** The figures as words, longest first: what has room is said. lost: bytes that no variable reaches. */
export function figures(memory, lost = 0) {
  const { used, taken, capacity } = capacityOf(memory);
  const of = capacity ? ` of ${units.bytes(capacity)}` : '';
  if (lost) return [`${units.bytes(used)} in use${of}, ${units.bytes(lost)} that no variable reaches`, `${units.bytes(used)} in use, ${units.bytes(lost)} that no variable reaches`, `${units.bytes(used)}, ${units.bytes(lost)} unreachable`];
  const short = of ? `${units.bytes(used)}${of}` : `${units.bytes(used)} in use`;
  if (!memory.reserved || units.bytes(taken) === units.bytes(used)) return [`${units.bytes(used)} in use${of}`, short, `${units.bytes(used)} in use`];
  return [`${units.bytes(used)} in use, ${units.bytes(taken)} reserved${of && `,${of}`}`, short, `${units.bytes(used)} in use`];
}

/** The bar in rect: used is filled, reserved beyond that hatched, the rest empty; as long as the capacity; the end of what is used is
 *  dotted where no variable reaches it. */
export function drawCapacity(c, th, rect, memory, hue, scale, lost = 0) {
  const { used, taken, capacity } = capacityOf(memory);
  if (!capacity) return;
  const end = (bytes) => (bytes > 0 ? Math.max(1.5, Math.min(1, bytes / capacity) * rect.w) : 0);
  c.fillStyle = th.well;
  c.fillRect(rect.x, rect.y, rect.w, rect.h);
  c.fillStyle = tile(c, 'hatch', '', th.soft, scale);
  c.fillRect(rect.x, rect.y, Math.max(end(taken), taken > used ? end(used) + 1.5 : 0), rect.h);
  c.fillStyle = hue;
  c.fillRect(rect.x, rect.y, end(used), rect.h);
  drawLost(c, th, rect, [end(used - lost), end(used)]);
  c.fillStyle = th.faint;
  c.fillRect(rect.x, rect.y + rect.h - 0.5, rect.w, 0.5);
  c.fillRect(rect.x + rect.w - 1.5, rect.y - 1.5, 1.5, rect.h + 3); // here it ends
}

function drawLost(c, th, rect, [from, to]) {
  if (to - from < 1) return;
  c.fillStyle = th.panel;
  c.fillRect(rect.x + from, rect.y, to - from, rect.h);
  c.fillStyle = th.faint;
  for (let x = from; x < to; x += 3) c.fillRect(rect.x + x, rect.y, Math.min(1.5, to - x), rect.h);
}
