// verdict.js: what the grader said: each check, and for one that failed what was expected, what came
// instead, and the event and line that decided. A click leads there.

const $ = (id) => document.getElementById(id);

const make = (tag, className, ...children) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
};

/** on: {event(seq), line(n)}: where a click leads. */
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

  /** {pass, message, checks, output, seed, seconds}, as the server or the log tells it. */
  function graded(v, linkOf) {
    const checks = v.checks ?? [];
    const failed = checks.filter((c) => !c.pass);
    const parts = [];
    if (v.message && !failed.some((c) => c.message === v.message)) parts.push(make('p', 'message', v.message));
    if (!checks.length && (v.line || Number.isFinite(v.seq))) parts.push(links(v, linkOf));
    parts.push(make('ul', 'checks', ...checks.map((c) => check(c, linkOf))));
    if (v.hint) parts.push(make('p', 'hint', `Fix: ${v.hint}`));
    if (v.output) parts.push(output(v.output));
    if (v.seed !== undefined) parts.push(make('p', 'small', `Inputs made from seed ${v.seed}.`));
    show(titleOf(v.pass, failed.length, checks.length), v.pass ? 'pass' : 'fail', ...parts);
  }

  function titleOf(pass, failed, all) {
    if (pass) return 'Passed';
    if (failed < 2) return failed ? 'Not yet: one check fails' : 'Not yet';
    return `Not yet: ${failed} of ${all} checks fail`;
  }

  function check(c, linkOf) {
    const li = make('li', c.pass ? 'pass' : 'fail');
    const mark = make('span', 'mark', c.pass ? '✓' : '✗');
    mark.setAttribute('aria-hidden', 'true');
    const name = make('b', '', String(c.check ?? '').replaceAll('-', ' '));
    li.append(mark, make('span', 'hidden', c.pass ? 'holds: ' : 'does not hold: '), name);
    if (c.pass) return li;
    if (c.message) li.append(make('p', '', c.message));
    if (c.expected || c.got) {
      li.append(make('dl', '', make('dt', '', 'expected'), make('dd', '', c.expected || 'nothing'), make('dt', '', 'got'), make('dd', '', c.got || 'nothing')));
    }
    li.append(links(c, linkOf));
    return li;
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

  const output = (words) => folded('What the program printed', words);

  /** A program that could not be built, or died without a word. */
  function broken(e) {
    const parts = [make('p', 'message', e.message ?? 'The program did not run.')];
    if (e.source) parts.push(make('pre', 'quoted', e.source));
    if (e.hint) parts.push(make('p', 'hint', e.hint));
    if (e.line) parts.push(links({ line: e.line }));
    if (e.compiler) parts.push(folded('What the compiler wrote', e.compiler));
    if (e.output) parts.push(output(e.output));
    show(e.line ? `It does not build yet: line ${e.line}` : 'It did not run', 'fail', ...parts);
  }

  function hide() {
    shown = '';
    $('verdict').hidden = true;
  }

  return { busy, graded, broken, hide };
}
