// verdict.js: the grader's verdict, as far as it says something: what differs, the first of it with its event and line, and
// every limit as a bar. Why, and how to fix it, is told when the learner asks. Also the error of a program that was not
// built or stopped.

const $ = (id) => document.getElementById(id);

const make = (tag, className, ...children) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
};

const plain = (name) => String(name ?? '').replaceAll('-', ' ');
const figure = (n) => Number(n).toLocaleString('en');

/** on: {event(seq), line(n)}: called on a click. */
export function verdict(on) {
  let shown = '';

  function show(title, kind, ...content) {
    const key = JSON.stringify([title, kind, ...content.map((n) => n.textContent)]);
    if (key === shown) return;
    shown = key;
    $('verdict').hidden = false;
    $('verdict').dataset.kind = kind;
    $('verdict-title').textContent = title;
    $('verdict-body').replaceChildren(...content);
    if (kind !== 'busy') $('verdict').scrollIntoView({ block: 'nearest' });
  }

  /** The program is being built or run. */
  function busy(words) {
    show(words, 'busy');
  }

  /** v: {pass, message, hint, checks, seed}, from the server or the log; lineOf(seq): the line of an event. */
  function graded(v, lineOf) {
    const checks = v.checks ?? [];
    const differ = checks.filter((c) => !c.pass);
    const hold = checks.filter((c) => c.pass);
    const parts = [];
    if (v.message && !checks.some((c) => c.message === v.message) && !v.pass) parts.push(make('p', 'message', v.message));
    if (!checks.length && (v.line || Number.isFinite(v.seq))) parts.push(links(v, lineOf));
    parts.push(...differ.filter((c) => !c.limit).map((c) => difference(c, c === differ[0], lineOf)));
    parts.push(...checks.filter((c) => c.limit).map((c) => bar(c, c === differ[0], lineOf)));
    if (v.board?.best?.length) parts.push(board(v.board));
    if (v.hint) parts.push(folded('How to fix it', make('p', '', v.hint)));
    if (hold.length) parts.push(folded(`${hold.length} ${hold.length === 1 ? 'check passed' : 'checks passed'}`, make('p', 'small', hold.map((c) => plain(c.check)).join(', '))));
    if (v.seed !== undefined && !v.pass) parts.push(make('p', 'small', `Inputs made from seed ${v.seed}.`));
    show(titleOf(v, differ.length), v.pass ? 'pass' : 'fail', ...parts);
  }

  function titleOf(v, differ) {
    if (v.pass) return 'Passed';
    if (v.stopped && v.line) return `Not yet: the program stopped at line ${v.line}`;
    if (!differ) return 'Not yet';
    return `Not yet: ${differ === 1 ? '1 check failed' : `${differ} checks failed`}`;
  }

  // A check that differs. Of the first, its event and line, and the reason when it is asked for.
  function difference(c, first, lineOf) {
    const name = make('h3', '', plain(c.check));
    const values = make('dl', 'values', make('dt', '', 'your run'), make('dd', 'yours', c.got || '–'), make('dt', '', 'expected'), make('dd', '', c.expected || '–'));
    return make('section', 'check fail', name, values, ...(first ? details(c, lineOf) : []));
  }

  // A limit: what was used of it in green, what is over it hatched.
  function bar(c, first, lineOf) {
    const { of, most, used } = c.limit;
    const over = used > most;
    const whole = Math.max(most, used, 1);
    const track = make('div', 'track', part('used', Math.min(most, used) / whole), ...(over ? [part('over', (used - most) / whole)] : []), limitMark(most, whole));
    track.setAttribute('role', 'img');
    track.setAttribute('aria-label', `${of}: ${figure(used)}, the limit is ${figure(most)}${over ? ': over it' : ''}`);
    const words = make('p', 'limit-words', make('span', '', of), track, make('b', '', figure(used)));
    return make('section', `check limit ${over ? 'fail' : 'pass'}`, words, ...(first ? details(c, lineOf) : []));
  }

  // The learner's own best runs, the least first.
  function board({ of, best }) {
    const rows = best.map(({ used, attempt, latest }) => {
      const row = make('li', latest ? 'latest' : '', make('b', '', figure(used)), ` attempt ${attempt}${latest ? ', this run' : ''}`);
      if (latest) row.ariaCurrent = 'true';
      return row;
    });
    return make('section', 'board', make('h3', '', `Your best: ${of}`), make('ol', '', ...rows));
  }

  function part(className, share) {
    const node = make('span', className);
    node.style.width = `${100 * share}%`;
    return node;
  }

  function limitMark(most, whole) {
    const node = make('span', most > 0.6 * whole ? 'most left' : 'most', make('span', '', `limit ${figure(most)}`));
    node.style.left = `${(100 * most) / whole}%`;
    return node;
  }

  const details = (c, lineOf) => [make('div', 'first-one', links(c, lineOf), ...(c.message ? [folded('Why', make('p', '', c.message))] : []))];

  function links(c, lineOf) {
    const line = c.line ?? lineOf?.(c.seq) ?? null;
    const row = make('p', 'links');
    if (Number.isFinite(c.seq)) row.append(button(`See event ${c.seq}`, () => on.event(c.seq)));
    if (line) row.append(button(`Line ${line}`, () => on.line(line)));
    return row;
  }

  function button(words, act) {
    const b = make('button', '', words);
    b.type = 'button';
    b.addEventListener('click', act);
    return b;
  }

  function folded(title, content) {
    if (content.localName === 'pre') content.tabIndex = 0;
    const more = make('details', '', make('summary', '', title), content);
    more.addEventListener('toggle', () => more.open && more.scrollIntoView({ block: 'nearest' }));
    return more;
  }

  /** A program that could not be built, or could not run. What is wrong and where; the fix when it is asked for. */
  function broken(e) {
    const parts = [make('p', 'message', e.message ?? 'The program did not run.')];
    if (e.source) parts.push(make('pre', 'quoted', e.source));
    if (e.line) parts.push(links({ line: e.line }));
    if (e.hint) parts.push(folded('How to fix it', make('p', 'hint', e.hint)));
    if (e.compiler) parts.push(folded('Compiler output', make('pre', '', e.compiler)));
    show(e.line ? `It doesn’t compile yet: line ${e.line}` : 'It did not run', 'fail', ...parts);
  }

  function hide() {
    shown = '';
    $('verdict').hidden = true;
  }

  return { busy, graded, broken, hide };
}
