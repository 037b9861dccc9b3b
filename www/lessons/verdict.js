// verdict.js: the grader's verdict: a table of the checks with actual and expected values, and for each failed
// one the reason, with links to the event and line.

const $ = (id) => document.getElementById(id);

const make = (tag, className, ...children) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
};

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
  }

  /** The program is being built or run. */
  function busy(words) {
    show(words, 'busy');
  }

  /** v: {pass, message, checks, output, seed, seconds}, from the server or the log. */
  function graded(v, linkOf) {
    const checks = v.checks ?? [];
    const failed = checks.filter((c) => !c.pass);
    const parts = [];
    if (v.message && !failed.some((c) => c.message === v.message)) parts.push(make('p', 'message', v.message));
    if (!checks.length && (v.line || Number.isFinite(v.seq))) parts.push(links(v, linkOf));
    if (checks.length) parts.push(table(checks, linkOf));
    if (v.hint) parts.push(make('p', 'hint', `Fix: ${v.hint}`));
    if (v.seed !== undefined) parts.push(make('p', 'small', `Inputs made from seed ${v.seed}.`));
    show(titleOf(v, failed.length, checks.length), v.pass ? 'pass' : 'fail', ...parts);
  }

  function titleOf(v, failed, all) {
    if (v.pass) return 'Passed';
    if (v.stopped && v.line) return `Not yet: the program stopped at line ${v.line}`;
    if (failed < 2) return failed ? 'Not yet: one check fails' : 'Not yet';
    return `Not yet: ${failed} of ${all} checks fail`;
  }

  function table(checks, linkOf) {
    const heads = ['check', 'your run', 'expected'].map((words) => make('th', '', words));
    for (const head of heads) head.scope = 'col';
    const rows = checks.flatMap((c) => (c.pass ? [row(c)] : [row(c), why(c, linkOf)]));
    return make('table', 'checks', make('thead', '', make('tr', '', ...heads)), make('tbody', '', ...rows));
  }

  function row(c) {
    const mark = make('span', 'mark', c.pass ? '✓' : '✗');
    mark.setAttribute('aria-hidden', 'true');
    const name = make('th', '', mark, make('span', 'hidden', c.pass ? 'passed: ' : 'failed: '), String(c.check ?? '').replaceAll('-', ' '));
    name.scope = 'row';
    return make('tr', c.pass ? 'pass' : 'fail', name, make('td', 'yours', c.got || ''), make('td', '', c.expected || ''));
  }

  function why(c, linkOf) {
    const cell = make('td', '', ...(c.message ? [make('p', '', c.message)] : []), links(c, linkOf));
    cell.colSpan = 3;
    return make('tr', 'why', cell);
  }

  function links(c, linkOf) {
    const line = c.line ?? linkOf?.(c.seq) ?? null;
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

  function folded(title, words) {
    const pre = make('pre', '', words);
    pre.tabIndex = 0;
    return make('details', '', make('summary', '', title), pre);
  }

  /** A program that could not be built, or could not run. */
  function broken(e) {
    const parts = [make('p', 'message', e.message ?? 'The program did not run.')];
    if (e.source) parts.push(make('pre', 'quoted', e.source));
    if (e.hint) parts.push(make('p', 'hint', e.hint));
    if (e.line) parts.push(links({ line: e.line }));
    if (e.compiler) parts.push(folded('Compiler output', e.compiler));
    show(e.line ? `It doesn’t compile yet: line ${e.line}` : 'It did not run', 'fail', ...parts);
  }

  function hide() {
    shown = '';
    $('verdict').hidden = true;
  }

  return { busy, graded, broken, hide };
}
