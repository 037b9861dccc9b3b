// threads.js: what a thread of the host is called: a worker of a loader by its number there. Pure; reads each event once.

import { int } from './fields.js';
import { perRun } from './per_run.js';

const workersOf = perRun(() => {
  const workers = new Map(); // th -> number of the worker
  return {
    workers,
    add(e) {
      if (e.kind === 'batch' && int(e.th) > 0) workers.set(int(e.th), int(e.worker));
    },
  };
});

/** "worker 1", or "thread 2". */
export function threadName(run, th) {
  const { workers } = workersOf(run);
  return workers.has(th) ? `worker ${workers.get(th)}` : `thread ${th}`;
}
