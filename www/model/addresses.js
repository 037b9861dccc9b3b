// addresses.js: where the storages of a run lie, all that it ever had: what the memory maps are laid out from, so that
// nothing moves in them while a run is played. Pure.

const MOST = 4096; // starts that are kept for each device; a map of more would show nothing

export function addresses() {
  const devices = new Map(); // device -> start -> bytes of the longest storage that began there
  const self = { add, intervalsOf, longest: 0, version: 0 };

  function add(e) {
    if (e?.kind !== 'alloc' || !(e.bytes > 0)) return;
    const start = Number(e.addr);
    if (!Number.isFinite(start)) return;
    const device = e.device ?? 'cpu';
    if (!devices.has(device)) devices.set(device, new Map());
    const starts = devices.get(device);
    if ((starts.get(start) ?? 0) >= e.bytes || (starts.size >= MOST && !starts.has(start))) return;
    starts.set(start, e.bytes);
    self.longest = Math.max(self.longest, e.bytes);
    self.version++;
  }

  /** [[start, bytes], ...] in order. */
  function intervalsOf(device) {
    return [...(devices.get(device) ?? [])].sort((a, b) => a[0] - b[0]);
  }

  return self;
}
