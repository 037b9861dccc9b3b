// ledger.js: the cost so far: bytes, trips, time blocked.

import * as units from '../model/units.js';

/** root: a <dl>. The DOM is written only on change. */
export function ledger(root) {
  const cells = new Map();

  function set(key, words, note = '') {
    if (!cells.has(key)) cells.set(key, add(key));
    const cell = cells.get(key);
    if (cell.figure.textContent !== words) cell.figure.textContent = words;
    if (cell.note.textContent !== note) cell.note.textContent = note;
  }

  function add(key) {
    const box = document.createElement('div');
    const term = document.createElement('dt');
    const figure = document.createElement('dd');
    const note = document.createElement('dd');
    term.textContent = key;
    figure.className = 'figure';
    note.className = 'note';
    box.append(term, figure, note);
    root.append(box);
    return { figure, note };
  }

  /** hidden: the learner still has to guess the copies, so their figures are not shown. */
  function show(state, hidden = false) {
    const { h2d, d2h, held, ops } = state.ledger;
    const share = state.t > 0 ? Math.min(100, Math.round((100 * held) / state.t)) : 0;
    if (hidden) hideCopies();
    else showCopies(h2d, d2h);
    set('Time spent waiting in Ferry calls', units.time(held), held ? `${share} % of ${units.time(state.t)}` : 'none so far');
    set('Operations', units.plural((ops.cpu ?? 0) + (ops.gpu ?? 0), 'op'), `${ops.cpu ?? 0} on CPU, ${ops.gpu ?? 0} on GPU`);
  }

  function showCopies(h2d, d2h) {
    set('Over the bus', units.bytes(h2d.bytes + d2h.bytes), units.plural(h2d.trips + d2h.trips, 'trip'));
    set('To the GPU', units.bytes(h2d.bytes), units.plural(h2d.trips, 'copy', 'copies'));
    set('Back to the CPU', units.bytes(d2h.bytes), units.plural(d2h.trips, 'copy', 'copies'));
  }

  function hideCopies() {
    set('Over the bus', '?', 'shown after your guess');
    set('To the GPU', '?', 'copies');
    set('Back to the CPU', '?', 'copies');
  }

  return { show };
}
