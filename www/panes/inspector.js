// inspector.js: one storage in full: the values that the log tells, its tensors over its bytes, who holds it and what
// happened to it. It opens for a box or a name that is clicked, and with I; it follows the step shown until Escape.

import { inspect } from '../model/inspect.js';
import { slicesOf, tableOf } from '../model/known_values.js';
import * as units from '../model/units.js';
import { theme } from '../stage/colours.js';
import { drawEnlarged } from '../stage/draw_tags.js';
import { lensIn, orderOf } from '../stage/lens.js';
import { describe } from '../stage/tags.js';

const $ = (id) => document.getElementById(id);
const LENS = 320; // px of the enlarged storage at most

function make(tag, fields = {}, ...children) {
  const { data = {}, ...rest } = fields;
  const node = Object.assign(document.createElement(tag), rest);
  Object.assign(node.dataset, data);
  node.append(...children.filter(Boolean));
  return node;
}

/** on: {subject(): what I opens, {storage, tensor} or null; go(seq); changed(): its place on the page}. */
export function inspector(on) {
  const root = $('inspector');
  let asked = null; // {storage, tensor, slice}; null: it is closed
  let last = null; // {run, state, moment, box}: what it was shown with
  let before = null; // had the focus before it opened
  let isNew = false; // it opens: its title gets the focus

  /** Opens for a storage, or one of its tensors. */
  function open(subject) {
    if (!subject) return;
    if (!asked) before = document.activeElement;
    asked = { tensor: 0, slice: 0, ...subject };
    last = null;
    isNew = true;
    document.body.dataset.inspect = '';
    root.hidden = false;
    on.changed();
  }

  function close() {
    asked = last = null;
    root.hidden = true;
    delete document.body.dataset.inspect;
    on.changed();
    if (before?.isConnected) before.focus({ preventScroll: true });
  }

  /** moment: {t, step, lost, box: of the storage on the stage, or undefined}. Nothing is written while it is closed. */
  function show(run, state, momentOf) {
    if (!asked) return;
    if (last && last.run !== run) {
      close();
      return;
    }
    last = { run, state, moment: momentOf(asked.storage) };
    render();
  }

  /** Within a step, t: a result may have come. */
  function at(t) {
    if (!last || comeBy(t) === comeBy(last.moment.t)) return;
    last.moment.t = t;
    render();
  }

  const comeBy = (t) => last.ends.filter((end) => end <= t).length;

  function render() {
    const { run, state, moment } = last;
    const told = inspect(run, state, asked, moment);
    last.ends = told?.values?.ends ?? [];
    const key = root.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const at = root.scrollTop;
    root.replaceChildren(...(told ? partsOf(told, moment.box) : [head('Nothing to inspect', []), make('p', { textContent: 'The log has no such storage.' })]));
    if (told) drawMemory(told, moment.box);
    root.scrollTop = isNew ? 0 : at;
    if (isNew) reveal();
    else if (key) root.querySelector(`[data-key="${key}"]`)?.focus({ preventScroll: true });
  }

  // A screen reader begins at its title; where the page scrolls, it may lie below.
  function reveal() {
    isNew = false;
    $('inspector-title').focus({ preventScroll: true });
    root.scrollIntoView({ block: 'nearest' });
  }

  // ---- its parts ------------------------------------------------------------------------------------

  function partsOf(told, box) {
    const facts = make('dl', { className: 'facts' }, ...told.facts.flatMap(([what, words]) => [make('dt', { textContent: what }), make('dd', { textContent: words })]));
    return [
      head(told.title, told.tensors, told.tensor?.id), ...told.notes.map((words) => make('p', { className: 'note', textContent: words })),
      part('Values', valuesOf(told)), part('Memory layout', memoryOf(told, box)), part('References', holdersOf(told)), part('Where it is', [facts]), part('History', historyOf(told)),
    ];
  }

  const part = (title, nodes) => make('section', {}, make('h3', { textContent: title }), ...nodes);

  function head(title, tensors, shown) {
    const name = make('h2', { id: 'inspector-title', tabIndex: -1, textContent: title, data: { key: 'title' } });
    const leave = make('button', { type: 'button', data: { key: 'close' }, onclick: close }, 'Close ', make('kbd', { textContent: 'Esc' }));
    const others = tensors.length > 1 ? make('div', { className: 'which', role: 'group', ariaLabel: 'Which of its tensors' }, ...tensors.map(({ id, name: words }) => {
      const one = make('button', { type: 'button', textContent: words, data: { key: `tensor${id}` }, onclick: () => choose({ tensor: id, slice: 0 }) });
      one.setAttribute('aria-pressed', id === shown);
      return one;
    })) : null;
    return make('div', { className: 'top' }, make('div', {}, name, leave), others);
  }

  function choose(fields) {
    Object.assign(asked, fields);
    render();
  }

  function valuesOf({ tensor, values, phase }) {
    if (!values) return [make('p', { textContent: phase === 'later' ? 'None yet.' : 'No tensor sees these bytes.' })];
    const { source, since } = values;
    const nodes = [];
    if (since?.until) nodes.push(make('p', { className: 'since', textContent: `${since.line ? `Line ${since.line} writes` : 'The card writes'} them${Number.isFinite(since.until) ? ` until ${units.time(since.until)}` : '; the log does not say until when'}.` }));
    if (source) {
      const where = source.line ? `line ${source.line}` : `step ${source.step + 1}`;
      const other = source.own ? '' : ` of ${source.name}, which sees the same bytes`;
      const said = since?.until ? `Before that, as ${source.how} at ${where}${other}.` : since ? `As of ${where}${other}: written since${since.line ? `, at line ${since.line}` : ''}.` : `As ${source.how} at ${where}${other}; not written since.`;
      nodes.push(make('p', { className: since ? 'since' : '', textContent: `${said} ` }, goTo(source.seq, 'Go there', 'values')));
    } else if (!since?.until) nodes.push(make('p', { textContent: unknownWords(values) }));
    const shown = values.known || values.unwritten ? tableOf(tensor, values, asked.slice) : null;
    if (shown) nodes.push(tableNode(shown), ...slices(tensor, values));
    const more = [shown?.more, source && values.known < values.count && `${units.number(values.known)} of ${units.number(values.count)} values are known`].filter(Boolean).join('; ');
    if (more) nodes.push(make('p', { className: 'small', textContent: `${more}.` }));
    if (values.summary.length) nodes.push(make('dl', { className: 'summary' }, ...values.summary.map(([what, words]) => make('div', {}, make('dt', { textContent: what }), make('dd', { textContent: words })))));
    if (values.bins) nodes.push(histogram(values.bins));
    else if (values.why) nodes.push(make('p', { className: 'small', textContent: values.why }));
    return nodes;
  }

  function unknownWords({ hasResults, since }) {
    const none = 'The log has none of them, nor whether one is NaN or Inf.';
    if (hasResults && since) return `${none} Nothing waited for the card to write them, or the run had very many results before.`;
    if (hasResults) return none;
    return `${none} It has what the program prints, reads, is given or submits; with FERRY_VALUES=1, and not on a real card, every result.`;
  }

  // A tensor of more dimensions, one table at a time.
  function slices(tensor, values) {
    const count = slicesOf(tensor, values);
    if (count < 2) return [];
    const to = (by, words) => make('button', { type: 'button', textContent: words, disabled: asked.slice + by < 0 || asked.slice + by >= count, data: { key: words }, onclick: () => choose({ slice: asked.slice + by }) });
    return [make('p', { className: 'slices' }, to(-1, 'Previous'), `${asked.slice + 1} of ${count}`, to(1, 'Next'))];
  }

  const spoken = { poison: 'never written', unknown: 'not in the log', nan: 'not a number', inf: 'infinite', '': '' };

  function tableNode({ caption, columns, rows }) {
    const cell = ({ words, kind, index }) => make('td', { className: kind, textContent: words, title: [index, spoken[kind]].filter(Boolean).join(': ') }, kind === 'poison' || kind === 'unknown' ? make('span', { className: 'hidden', textContent: ` ${spoken[kind]}` }) : null);
    const body = rows.map(({ label, cells }) => make('tr', {}, make('th', { scope: 'row', textContent: label }), ...cells.map(cell)));
    const top = make('tr', {}, make('td', {}), ...columns.map((words) => make('th', { scope: 'col', textContent: words })));
    return make('div', { className: 'values scroll', tabIndex: 0, role: 'region', ariaLabel: 'Values', data: { key: 'cells' } }, make('table', {}, make('caption', { textContent: caption }), make('thead', {}, top), make('tbody', {}, ...body)));
  }

  function histogram({ from, to, counts, of }) {
    const most = Math.max(...counts);
    const edge = (i) => units.value(from + ((to - from) * i) / counts.length);
    const bars = counts.map((n, i) => {
      const bar = make('i', { title: `${units.number(n)} from ${edge(i)} to ${edge(i + 1)}` });
      bar.style.height = `${n ? Math.max(3, (n / most) * 100) : 0}%`;
      return bar;
    });
    const words = counts.map((n, i) => `${n} from ${edge(i)}`).join(', ');
    return make('figure', { className: 'bins' }, make('div', { role: 'img', ariaLabel: `Histogram: ${words}, up to ${units.value(to)}` }, ...bars),
      make('figcaption', {}, make('span', { textContent: units.value(from) }), make('span', { textContent: `${units.number(of)} values in ${units.plural(counts.length, 'bin')}` }), make('span', { textContent: units.value(to) })));
  }

  function memoryOf({ phase, bytes }, box) {
    const tensors = tensorsOf(box);
    if (phase !== 'live' || !tensors.length) return [make('p', { textContent: phase === 'live' ? 'No tensor sees these bytes.' : 'Nothing is there at this step.' })];
    const lines = tensors.map((one) => make('li', { textContent: `${describe(one, bytes)}; its order: ${orderOf(one)[0]}` }));
    return [make('canvas', { role: 'img', ariaLabel: 'The storage element by element, and which of them each tensor sees' }), make('ul', {}, ...lines)];
  }

  const tensorsOf = (box) => (box && !box.freed && box.bytes ? box.tags.flatMap((tag) => tag.tensors) : []);

  // The stage's own lens, in a room of this pane.
  function drawMemory(told, box) {
    const canvas = root.querySelector('canvas');
    const tensors = tensorsOf(box);
    if (!canvas || !tensors.length) return;
    const w = canvas.parentElement.clientWidth;
    const at = lensIn({ x: 0, y: -12, w, h: LENS, device: box.device }, box, tensors, 1);
    canvas.hidden = !at || !w;
    if (canvas.hidden) return;
    const scale = Math.max(1, window.devicePixelRatio || 1);
    const h = at.y + at.h + 4;
    canvas.width = Math.round(w * scale);
    canvas.height = Math.round(h * scale);
    Object.assign(canvas.style, { width: `${w}px`, height: `${h}px` });
    const c = canvas.getContext('2d');
    c.setTransform(scale, 0, 0, scale, 0, 0);
    drawEnlarged(c, { theme: theme(getComputedStyle(document.body)), scale }, box, at, []);
  }

  function holdersOf({ holders }) {
    const rows = holders.list.map(({ name, words, gone }) => make('li', { className: gone ? 'gone' : '' }, make('b', { textContent: name }), ` ${words}`));
    return [make('p', { textContent: holders.words }), make('ul', {}, ...rows)];
  }

  function goTo(seq, words, key) {
    return make('button', { type: 'button', className: 'go', textContent: words, data: { key: `${key}${seq}` }, onclick: () => on.go(seq) });
  }

  function historyOf({ history, left }) {
    const rows = history.map(({ seq, step, line, role, words, when }) => {
      const li = make('li', { className: when }, goTo(seq, line ? `line ${line}` : `step ${step + 1}`, 'event'), make('span', {}, make('b', { textContent: role }), ` ${when === 'later' ? 'later: ' : ''}${words}`));
      if (when === 'now') li.setAttribute('aria-current', 'step');
      return li;
    });
    return [make('ol', { className: 'history' }, ...rows), left ? make('p', { className: 'small', textContent: `${units.plural(left, 'more event')} further away.` }) : null].filter(Boolean);
  }

  $('next').addEventListener('click', () => asked && close(), true); // the lesson goes on, in its own column

  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest?.('input:not([type="range"]), textarea, select, dialog[open], [contenteditable]')) return;
    if (key === 'Escape' && asked && !('compare' in document.body.dataset)) close();
    else if (key === 'i' || key === 'I') open(on.subject());
    else return;
    event.preventDefault();
  });

  return {
    open, show, at,
    /** Something was chosen elsewhere: it goes there if it is open. */
    follow: (subject) => asked && subject && open(subject),
    /** The storage that it tells of, as a set; undefined: it is closed. */
    get lit() {
      return asked ? new Set([asked.storage]) : undefined;
    },
  };
}
