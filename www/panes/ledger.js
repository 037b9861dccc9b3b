// ledger.js: the cost so far: what has arrived and ended by now, and for how long calls have blocked the host.

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

  /** now: an instant. hidden: the learner still has to guess the copies, so their figures are not shown. */
  function show({ t, cost: { h2d, d2h, held, cpu, gpu, running } }, hidden = false) {
    const share = t > 0 ? Math.min(100, Math.round((100 * held) / t)) : 0;
    if (hidden) hideCopies();
    else showCopies(h2d, d2h);
    set('In calls', units.time(Math.round(held)), held ? `${share} % of ${units.time(Math.round(t))}` : 'not at all');
    set('Ops', (cpu + gpu).toLocaleString('en'), `${cpu} CPU, ${gpu} GPU${underway(running)}`);
  }

  const underway = (n) => (n ? ` + ${n} now` : '');

  function showCopies(h2d, d2h) {
    const trips = h2d.trips + d2h.trips;
    set('Bus', units.bytes(Math.floor(h2d.bytes + d2h.bytes)), units.plural(trips, 'trip') + underway(h2d.under + d2h.under));
    set('To GPU', units.bytes(Math.floor(h2d.bytes)), units.plural(h2d.trips, 'copy', 'copies') + underway(h2d.under));
    set('To CPU', units.bytes(Math.floor(d2h.bytes)), units.plural(d2h.trips, 'copy', 'copies') + underway(d2h.under));
  }

  function hideCopies() {
    set('Bus', '?', 'after your guess');
    set('To GPU', '?', 'copies');
    set('To CPU', '?', 'copies');
  }

  return { show };
}
