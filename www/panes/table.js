// table.js: every event as a row, with the same sentences as the narration. Very long runs are shown in a
// window of PAGE rows.

import * as units from '../model/units.js';
import { sentence } from '../model/words.js';

const PAGE = 400;

/** root: the <tbody>; more: the element for the note on hidden rows. on: {jump(seq), untold(words): without the fixes}. */
export function eventTable(root, more, on) {
  let first = -1;
  let count = -1;
  let marked = null;

  function row(events, seq, names) {
    const e = events[seq] ?? {};
    const tr = document.createElement('tr');
    tr.dataset.seq = seq;
    const head = document.createElement('th');
    head.scope = 'row';
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = seq;
    button.setAttribute('aria-label', `Show event ${seq}`);
    button.addEventListener('click', () => on.jump(seq));
    head.append(button);
    const where = Number.isFinite(e.line) ? `${units.baseName(e.file ?? '')}:${e.line}` : '';
    const cells = [Number.isFinite(e.t) ? units.time(e.t) : '', e.kind ?? '?', where, on.untold(sentence(events[seq], names))];
    tr.append(head, ...cells.map((words) => Object.assign(document.createElement('td'), { textContent: words })));
    return tr;
  }

  /** Shows the rows around the step from..to, and marks that step's; none while the learner has to guess what they tell. */
  function show(events, names, { from, to }, guessing) {
    if (guessing) {
      reset();
      root.replaceChildren();
      more.textContent = 'After your guess.';
      return;
    }
    const start = events.length <= PAGE ? 0 : Math.max(0, Math.min(events.length - PAGE, from - PAGE / 2));
    const end = Math.min(events.length, start + PAGE);
    if (start !== first || end !== count) {
      root.replaceChildren(...Array.from({ length: end - start }, (_, i) => row(events, start + i, names)));
      more.textContent = end - start < events.length ? `Events ${start} to ${end - 1} of ${events.length}, around the current step.` : '';
      [first, count] = [start, end];
    }
    mark(from - start, to - start);
  }

  function mark(from, to) {
    for (const tr of marked ?? []) tr.removeAttribute('aria-current');
    marked = [...root.children].slice(from, to + 1);
    for (const tr of marked) tr.setAttribute('aria-current', 'step');
    const pane = root.closest('.scroll');
    const tr = marked[0];
    if (pane && tr && (tr.offsetTop < pane.scrollTop + 40 || tr.offsetTop > pane.scrollTop + pane.clientHeight - 60)) {
      pane.scrollTop = tr.offsetTop - pane.clientHeight / 3;
    }
  }

  function reset() {
    first = count = -1;
    marked = null;
  }

  return { show, reset };
}
