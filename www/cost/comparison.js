// comparison.js: two runs compared, in place of the picture: what one cost against the other, their lanes under each other, and
// the lines that differ. The second one is a saved run, or the first one as what-if changed it.

import { changes, ledgerRows, lineRows, stepPairs, summary, totalsOf } from '../model/compare.js';
import { doubleLanes } from './double.js';

const $ = (id) => document.getElementById(id);
const LINES = 40; // that differ, listed at most

const make = (tag, words = '', className = '') => Object.assign(document.createElement(tag), { textContent: words, className });

/** on: {jump(seq): to an event of the first run; choose(seq, t): a slice of it; closed(); poke()}. */
export function comparison(on) {
  const lanes = doubleLanes({ choose, poke: on.poke });
  let open = null; // {a, b, pairs, changes}
  let opener = null; // the element that had the focus
  let byLine = true;

  /** head: {title, first, name, notes, bySeq}: first, name: of the two runs; bySeq: the second is the first, changed. */
  function show(a, b, head) {
    const pairs = stepPairs(a, b, head.bySeq);
    open = { a, b, pairs, changes: changes(a, b, pairs), head };
    opener = document.activeElement;
    const [x, y] = [totalsOf(a), totalsOf(b)];
    $('compare-title').textContent = head.title;
    $('compare-sum').textContent = `${summary(x, y)}.`;
    $('compare-notes').textContent = head.notes.join(' ');
    for (const id of ['double-name-a', 'compare-first']) $(id).textContent = head.first;
    for (const id of ['double-name-b', 'compare-second']) $(id).textContent = head.name;
    $('compare-figures').replaceChildren(...ledgerRows(x, y).map(ledgerRow));
    fillLines(lineRows(a, b, pairs));
    lanes.open(open);
    visible(true);
    $('compare-back').focus();
    on.poke();
  }

  function visible(yes) {
    $('compare').hidden = !yes;
    document.body.toggleAttribute('data-compare', yes);
  }

  function close() {
    if (!open) return;
    open = null;
    visible(false);
    if (opener?.isConnected) opener.focus();
    on.closed();
  }

  function ledgerRow({ name, a, b, difference, better }) {
    const tr = make('tr');
    const head = make('th', name);
    head.scope = 'row';
    tr.append(head, make('td', a), make('td', b), make('td', difference, better > 0 ? 'better' : better < 0 ? 'worse' : ''));
    return tr;
  }

  function fillLines(rows) {
    $('compare-lines').replaceChildren(...rows.slice(0, LINES).map(lineRow));
    $('compare-more').textContent = rows.length > LINES ? `${rows.length - LINES} more lines differ less.` : rows.length ? '' : 'No line costs more or less.';
  }

  function lineRow({ a, b, seqA, seqB, source, words }) {
    const li = make('li');
    const button = make('button', a && b && a !== b ? `line ${a} → ${b}` : `line ${a || b}`);
    button.type = 'button';
    button.addEventListener('click', () => goTo(seqA, seqB));
    const only = !a ? ', only in the second run' : !b ? ', only in the first run' : '';
    li.append(button, ' ', make('span', words + only), ' ', make('code', source));
    return li;
  }

  // A line that only the second run has is shown where the first one was then.
  function goTo(seqA, seqB) {
    if (seqA >= 0) return on.jump(seqA);
    const j = open.b.stepOf(seqB);
    const [i] = open.pairs.findLast(([, other]) => other <= j) ?? [0];
    return on.jump(open.a.steps[i].from);
  }

  function choose(which, seq, t) {
    if (which === 'a') on.choose(seq, t);
    else goTo(-1, seq);
  }

  $('compare-back').addEventListener('click', close);
  for (const way of ['line', 'start']) {
    $(`align-${way}`).addEventListener('change', () => {
      byLine = way === 'line';
      on.poke();
    });
  }
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !open || event.target.closest?.('dialog[open], textarea, input[type="search"]')) return;
    event.preventDefault();
    close();
  });

  return {
    show,
    close,
    /** At each frame: the time and the step of the first run. */
    frame(run, position) {
      if (!open) return;
      if (run !== open.a) close();
      else lanes.show({ t: position.t, step: run.parts[position.part].step, byLine });
    },
    repaint: lanes.repaint,
    get open() {
      return open;
    },
    seen: lanes.seen,
  };
}
