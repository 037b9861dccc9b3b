// lane_arrows.js: what an event of CUDA held up, from its record to the waiter, found by time. Pure.

import { firstIndex, thinned } from './search.js';

/**
 * arrowOf(seq) -> {seq, from: {lane, t}, to: {lane, t}} of a wait, or null while an end of it is not known; size() -> events of the
 * run so far. add(seq): of a wait, in order.
 */
export function arrowsOf(arrowOf, size) {
  let open = []; // waits without an arrow
  let all = []; // by where they end
  let begins = []; // begins[i]: the earliest begin of all[i] and those after it
  let asked = -1; // events of the run when they were asked for last

  function settle() {
    if (asked === size()) return;
    asked = size();
    const found = new Map(open.map((seq) => [seq, arrowOf(seq)]));
    open = open.filter((seq) => !found.get(seq));
    const late = [...found.values()].filter(Boolean);
    if (!late.length) return;
    all = [...all, ...late].sort((a, b) => a.to.t - b.to.t || a.seq - b.seq);
    begins = new Array(all.length);
    let earliest = Infinity;
    for (let i = all.length - 1; i >= 0; i--) begins[i] = earliest = Math.min(earliest, all[i].from.t);
  }

  /** Those of which a part lies between t0 and t1: of more than `most` some of everywhere. */
  function between(t0, t1, most = 200) {
    settle();
    const found = [];
    for (let i = firstIndex(all.length, (k) => all[k].to.t >= t0); i < all.length && begins[i] <= t1; i++) {
      if (all[i].from.t <= t1) found.push(all[i]);
    }
    return thinned(found, most);
  }

  return { add: (seq) => open.push(seq), between };
}
