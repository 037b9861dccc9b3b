// addresses.js: where the storages of a run lie, all that it ever had: what the memory maps are laid out from, so that
// nothing moves in them while a run is played. Pure.

import { list } from './fields.js';

const MOST = 4096; // starts that are kept for each device; a map of more would show nothing

export function addresses() {
  const devices = new Map(); // device -> start -> bytes of the longest storage that began there
  const capacities = new Map(); // device -> bytes
  const ends = new Map(); // device -> the end of its last segment
  const purposes = new Set();
  let passes = 0; // backward passes that have begun and not ended
  const self = { add, intervalsOf, longest: 0, version: 0, purposes }; // purposes: of devices whose bytes have some (purpose.js)

  function add(e) {
    learn(e);
    if (e?.kind === 'session') for (const one of list(e.devices)) capacities.set(one?.name, one?.capacity);
    if (e?.kind === 'segment' && e.mem === 'device') ends.set(e.device, Math.max(ends.get(e.device) ?? 0, Number(e.addr) + e.bytes || 0));
    if (e?.kind === 'oom' && e.asked > 0) reserve(e.device ?? 'cpu', e.asked);
    if (e?.kind !== 'alloc' || !(e.bytes > 0)) return;
    const start = Number(e.addr);
    if (Number.isFinite(start)) put(e.device ?? 'cpu', start, e.bytes);
  }

  // A program trains where its backward passes run, and its batches lie in RAM and where they are copied from there.
  function learn(e) {
    if (e?.kind === 'backward') passes += e.what === 'begin' ? 1 : -1;
    if (e?.kind === 'batch') purposes.add('cpu');
    if (e?.kind === 'op' && passes > 0 && e.device) purposes.add(e.device);
    if (e?.kind === 'copy' && purposes.has('cpu') && e.dir === 'h2d' && e.dst?.device) purposes.add(e.dst.device);
  }

  // What found no room is drawn too: behind all the rest there is a place for its beginning, if the card goes on there.
  function reserve(device, asked) {
    const all = intervalsOf(device);
    const end = all.reduce((most, [start, bytes]) => Math.max(most, start + bytes), ends.get(device) ?? 0);
    const left = capacities.get(device) > 0 ? all[0]?.[0] + capacities.get(device) - end : asked;
    if (end && left >= self.longest) put(device, end, Math.min(asked, self.longest));
  }

  function put(device, start, bytes) {
    if (!devices.has(device)) devices.set(device, new Map());
    const starts = devices.get(device);
    if ((starts.get(start) ?? 0) >= bytes || (starts.size >= MOST && !starts.has(start))) return;
    starts.set(start, bytes);
    self.longest = Math.max(self.longest, bytes);
    self.version++;
  }

  /** [[start, bytes], ...] in order. */
  function intervalsOf(device) {
    return [...(devices.get(device) ?? [])].sort((a, b) => a[0] - b[0]);
  }

  return self;
}
