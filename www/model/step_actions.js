// step_actions.js: what happens in one step, as plain data for drawing: which storages a copy connects,
// which ones an op reads and writes, what waits for what. Pure.

/** The actions of the events from..to, given the state after them. */
export function actions(events, from, to, state) {
  const list = [];
  for (let seq = from; seq <= to; seq++) {
    const e = events[seq];
    if (e && typeof e === 'object' && Object.hasOwn(readers, e.kind)) {
      readers[e.kind](list, e, state);
    }
  }
  return list;
}

const array = (v) => (Array.isArray(v) ? v : []);
const last = (list, type, test = () => true) => list.findLast((a) => a.type === type && test(a));

const readers = {
  alloc: (list, e) => list.push({ type: 'alloc', storage: e.storage }),
  free: (list, e) => list.push({ type: 'free', storage: e.storage }),

  copy(list, e, state) {
    const src = e.src?.storage;
    const dst = e.dst?.storage;
    const fresh = (state.storages.get(dst)?.version ?? 0) <= 1;
    list.push({
      type: 'copy', id: e.id, src, dst, dir: e.dir, route: e.route, bytes: e.bytes, held: e.held ?? 0,
      why: e.why, device: { src: e.src?.device, dst: e.dst?.device }, fresh, time: null,
    });
  },

  op(list, e, state) {
    const ids = (uses) => [...new Set(array(uses).map((u) => u?.storage).filter(Boolean))];
    const outs = ids(e.out);
    list.push({
      type: 'op', id: e.id, name: e.name, device: e.device, ins: ids(e.in), outs, held: e.held ?? 0,
      detail: detail(e), fresh: outs.every((id) => (state.storages.get(id)?.version ?? 0) <= 1), time: null,
      birth: array(e.in).length === 0 && !e.inplace,
    });
  },

  complete(list, e) {
    const work = list.findLast((a) => a.id !== undefined && a.id === e.id);
    if (work && Number.isFinite(e.end - e.start)) Object.assign(work, { time: e.end - e.start, end: e.end });
  },

  // The wait at the start of a copy to the host is part of that copy.
  sync(list, e) {
    const copy = last(list, 'copy');
    if (copy) copy.held += e.held > 0 ? e.held : 0;
    else list.push({ type: 'sync', device: e.device, held: e.held ?? 0, why: e.why });
  },

  host_read(list, e) {
    if (!last(list, 'answer')) list.push({ type: 'read', storage: e.storage, via: e.via });
  },

  host_write(list, e) {
    if (!last(list, 'alloc')) list.push({ type: 'write', storage: e.storage, via: e.via });
  },

  tensor(list, e, state) {
    if (e.view_of) list.push({ type: 'view', storage: e.storage, name: e.name });
    else if (!last(list, 'alloc') && state.storages.has(e.storage)) list.push({ type: 'view', storage: e.storage, name: e.name });
  },

  answer: (list, e) => list.push({ type: 'answer', storage: e.storage, name: e.name }),
  error: (list, e) => list.push({ type: 'error', code: e.code }),
  oom: (list, e) => list.push({ type: 'error', code: 'out of memory', device: e.device }),
  mark: (list, e) => list.push({ type: 'mark', text: e.text, now: e.now }),
};

function detail(e) {
  if (e.blas) return e.blas;
  if (!e.kernel) return '';
  const grid = array(e.grid).filter((n) => n > 1).join('×') || '1';
  const block = array(e.block).reduce((a, b) => a * b, 1);
  return e.grid ? `${e.kernel} · ${grid} blocks × ${block} threads` : e.kernel;
}

/** How long the host was blocked in this step, in ns: by a copy or a sync, not by its own work. */
export function waitIn(list) {
  return list.reduce((sum, a) => sum + (a.type !== 'op' && Number.isFinite(a.held) ? a.held : 0), 0);
}
