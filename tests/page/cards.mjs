// cards.mjs: a log of several cards.

const MiB = 2 ** 20;

/** `n` cards, a tensor on each that a kernel fills, and a copy from the first card to the last, from 100 to 30100 ns. */
export function cardsLog(n) {
  const model = { bus_bandwidth: 5e10, bus_latency: 2000, staging_bandwidth: 1e10, staging_chunk: 1 << 20, peer_bandwidth: 4e10 };
  const card = (i) => ({ name: `cuda:${i}`, kind: 'sim', card: 'H200', capacity: 2 ** 29, model });
  const events = [{ kind: 'session', clock: 'model', devices: [{ name: 'cpu', kind: 'cpu', capacity: 2 ** 34, model: {} }, ...Array.from({ length: n }, (_, i) => card(i))] }];
  const make = (id, device, name) => events.push(
    { kind: 'alloc', line: id, storage: id, device, mem: device === 'cpu' ? 'pageable' : 'device', addr: `0x${(id * 0x1000000).toString(16)}`, asked: MiB, bytes: MiB, tenant: 0 },
    { kind: 'tensor', line: id, tensor: id, storage: id, name, shape: [512, 512], strides: [512, 1], offset: 0, dtype: 'float32', device });
  make(1, 'cpu', 'host_x');
  for (let i = 0; i < n; i++) make(i + 2, `cuda:${i}`, `part${i}`);
  for (let i = 0; i < n; i++) {
    const use = { tensor: i + 2, storage: i + 2, version: 1 };
    events.push({ kind: 'op', line: 10 + i, id: 10 + i, name: 'fill', device: `cuda:${i}`, stream: 0, in: [], out: [use], inplace: true }, { kind: 'complete', id: 10 + i, start: 0, end: 90, engine: 'compute' });
  }
  const side = (storage, device) => ({ tensor: storage, storage, device, version: 1, mem: 'device' });
  events.push({ kind: 'copy', line: 20, t: 100, id: 1, src: side(2, 'cuda:0'), dst: side(n + 1, `cuda:${n - 1}`), bytes: MiB, dir: 'p2p', stream: 0, async: true, was_async: true, route: 'direct', why: 'user', held: 50 },
    { kind: 'complete', id: 1, t: 100, start: 100, end: 30100, wire: 26000, engine: 'p2p' });
  return events.map((e, seq) => ({ seq, t: 0, th: 0, file: 'cards.c', fn: 'main', ...e }));
}
