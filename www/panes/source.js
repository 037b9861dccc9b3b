// source.js: the program's text. The current line is highlighted, a waiting line is marked, and the margin
// shows what each line has cost so far.

import { saying } from '../model/mistakes.js';
import * as units from '../model/units.js';
import { highlightLines } from './highlight.js';

/** root: the <ol> for the lines; title: the element for the file's name; jump(line): called on a click. */
export function sourcePane(root, title, jump) {
  let shown = ''; // path and text on show
  let rows = [];
  let lit = null;
  let caller = null; // the row of the call that the line shown is a part of

  function fill(path, text) {
    const key = `${path}\n${text}`;
    if (key === shown) return;
    shown = key;
    title.textContent = units.baseName(path);
    rows = highlightLines(text.replace(/\n$/, '')).map(row);
    root.replaceChildren(...rows.map((r) => r.li));
    lit = caller = null;
  }

  function row(code, i) {
    const li = document.createElement('li');
    const number = document.createElement('span');
    const words = document.createElement('code');
    const cost = document.createElement('span');
    number.className = 'number';
    number.textContent = i + 1;
    words.append(code);
    words.style.setProperty('--indent', `${/^\s*/.exec(words.textContent)[0].replaceAll('\t', '    ').length}ch`);
    cost.className = 'cost';
    li.append(number, words, cost);
    li.addEventListener('click', () => jump(i + 1));
    return { li, cost };
  }

  function light(line, held, wrong) {
    const next = rows[line - 1] ?? null;
    if (lit && lit !== next) lit.li.className = lit.li.title = '';
    if (next) {
      next.li.className = `lit${held ? ' held' : ''}${wrong ? failure(wrong) : ''}`;
      next.li.title = wrong ? saying(wrong) : '';
      if (lit !== next) reveal(next.li);
    }
    if (lit !== next) {
      lit?.li.removeAttribute('aria-current');
      next?.li.setAttribute('aria-current', 'step');
    }
    lit = next;
  }

  function mark(line) {
    const next = line > 0 ? rows[line - 1] ?? null : null;
    if (caller && caller !== next && caller !== lit) caller.li.className = caller.li.title = '';
    caller = next === lit ? null : next;
    if (caller) [caller.li.className, caller.li.title] = ['caller', 'The program is in this call.'];
  }

  // Of a crash the log may know only the last call before it.
  const failure = ({ type, line }) => (type === 'race' ? '' : line > 0 ? ' wrong' : ' wrong-after');

  // Scrolls only this pane, never the page.
  function reveal(li) {
    const pane = root.parentElement;
    const [top, room] = [li.offsetTop - root.offsetTop, Math.max(0, pane.clientHeight - li.offsetHeight)];
    const margin = Math.min(30, room / 2); // around the line
    if (top < pane.scrollTop + margin || top > pane.scrollTop + room - margin) pane.scrollTop = top - room / 2;
  }
  new ResizeObserver(() => lit && reveal(lit.li)).observe(root.parentElement);

  // "12 KiB · 6.6 µs + 100 µs": bytes over the bus, time blocked, and time to reserve a segment, which a narrow margin
  // leaves to the tooltip (style.css).
  function entry({ bytes, held, taking }) {
    const own = [bytes && units.bytes(bytes), held && units.time(held)].filter(Boolean).join(' · ');
    return [own, taking ? `${own && ' + '}${units.time(taking)}` : ''];
  }

  function inFull({ bytes, held, taking }) {
    const parts = [bytes && `${units.bytes(bytes)} over the bus`, held && `the program waited ${units.time(held)}`,
      taking && `${units.time(taking)} to reserve memory that tensors share`];
    return parts.filter(Boolean).join('; ');
  }

  // All lines have a margin as wide as the longest entry; long code wraps beside it.
  function cost(lines, path) {
    let [longest, longestOwn] = [0, 0];
    rows.forEach(({ cost: cell }, i) => {
      const spent = lines.get(`${path}:${i + 1}`);
      const [own, taking] = spent ? entry(spent) : ['', ''];
      if (cell.textContent !== own + taking) {
        cell.replaceChildren(own, Object.assign(document.createElement('span'), { className: own ? 'taking' : '', textContent: taking }));
        cell.title = spent ? inFull(spent) : '';
      }
      cell.classList.toggle('moved', !!spent?.bytes);
      longest = Math.max(longest, own.length + taking.length);
      longestOwn = Math.max(longestOwn, own.length || taking.length);
    });
    root.classList.toggle('costed', longest > 0);
    root.style.setProperty('--cost', `${longest * 0.57}em`);
    root.style.setProperty('--cost-own', `${longestOwn * 0.57}em`);
  }

  /** Shows the state after a step: its file, its line, whether that line waits, and what went wrong there (mistakes.js);
   *  caller: of a node of a backward pass, the line of the pass. */
  function show(state, { file, line, held, wrong = null, caller: pass = 0 }) {
    const path = state.sources.has(file) ? file : (state.sources.keys().next().value ?? '');
    if (path) fill(path, state.sources.get(path));
    else fill(file || 'no source', `The log does not contain the source of ${file || 'the program'}.`);
    light(file === path || !file ? line : 0, held, wrong);
    mark(pass);
    cost(state.lines, path);
  }

  return { show };
}
