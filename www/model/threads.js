// threads.js: what a thread of the host is called: a worker of a loader by its number there; and the batch that it makes. Pure;
// reads each event once.

import { int } from './fields.js';
import { perRun } from './per_run.js';
import { firstIndex } from './search.js';

const workersOf = perRun(() => {
  const workers = new Map(); // th -> number of the worker
  const batches = new Map(); // th -> [{seq, index: of the batch that it begins there; -1: it has made one}]
  return {
    workers, batches,
    add(e, seq) {
      if (e.kind !== 'batch') return;
      const th = int(e.th);
      if (th > 0) workers.set(th, int(e.worker));
      if (!batches.has(th)) batches.set(th, []);
      batches.get(th).push({ seq, index: e.what === 'begin' ? int(e.index) : -1 });
    },
  };
});

/** "worker 1", or "thread 2". */
export function threadName(run, th) {
  const { workers } = workersOf(run);
  return workers.has(th) ? `worker ${workers.get(th)}` : `thread ${th}`;
}

/** The batch that a thread makes at event seq; -1: none. */
export function batchOf(run, th, seq) {
  const all = workersOf(run).batches.get(th) ?? [];
  return all[firstIndex(all.length, (i) => all[i].seq > seq) - 1]?.index ?? -1;
}
