// arrows.js: the question before the example as arrows, where a lesson's text has a block ```arrows: for each line of code that
// the block names, the learner draws its copy from one memory to the other, or says that it makes none; by mouse or finger on
// the two memories, or by the buttons under them. Then the copies of the trace are drawn beside those arrows.

import * as units from '../model/units.js';

const WAYS = { h2d: 'to the card', none: 'no copy', d2h: 'to the CPU' };

const make = (tag, className, ...children) => {
  const node = Object.assign(document.createElement(tag), { className });
  node.append(...children);
  return node;
};

/**
 * What a run did at each of `rows`, lines of code as written: {rows: [{line, way, bytes}], others: lines of further copies}.
 * sources: file -> text.
 */
export function copyCounts(rows, sources, events) {
  const copies = events.filter((e) => e?.kind === 'copy' && (e.dir === 'h2d' || e.dir === 'd2h'));
  const places = rows.map((row) => [...sources].map(([file, text]) => ({ file, line: 1 + text.split('\n').findIndex((one) => one.includes(row)) })).find(({ line }) => line));
  const isAt = (e, place) => e.file === place?.file && e.line === place?.line;
  return {
    rows: places.map((place) => {
      const copy = copies.find((e) => isAt(e, place));
      return { line: place?.line ?? 0, way: copy?.dir ?? 'none', bytes: copy?.bytes ?? 0 };
    }),
    others: [...new Set(copies.filter((e) => !places.some((place) => isAt(e, place))).map((e) => e.line))],
  };
}

/** drawn: a way for each row. Which arrows were right, in words: {words, right}. */
export function compared(drawn, { rows, others }) {
  const lines = (differs) => rows.filter((row, i) => differs(row.way, drawn[i])).map((row) => row.line);
  const told = [
    ['You forgot a copy', lines((way, mine) => way !== 'none' && mine === 'none')],
    ['A copy that you drew never happened', lines((way, mine) => way === 'none' && mine !== 'none')],
    ['A copy went the other way', lines((way, mine) => way !== mine && way !== 'none' && mine !== 'none')],
    ['Not asked about, but copied', others],
  ].filter(([, at]) => at.length).map(([words, at]) => ` ${words}: line ${at.join(', ')}.`);
  const hit = rows.filter(({ way }, i) => way === drawn[i]).length;
  if (hit === rows.length) return { right: true, words: `All ${hit} lines right.${told.join('')}` };
  return { right: false, words: `${hit} of ${rows.length} lines right.${told.join('')}` };
}

/** block: the lines' text. Returns the question: {nodes, fields, take(), tell(state, events)}, as predict.js asks it. */
export function arrows(block) {
  const rows = block.textContent.split('\n').map((line) => line.trim()).filter(Boolean);
  const lanes = rows.map(question);
  const key = make('p', 'small', 'Dashed: your arrow. Solid: what the run copied.');
  key.hidden = true;
  let drawn = [];
  return {
    nodes: [...lanes.map((one) => one.root), key],
    fields: lanes.map((one) => one.field),
    take() {
      drawn = lanes.map((one) => one.way());
      lanes.forEach((one) => one.tell(null));
      key.hidden = true;
    },
    tell(state, events) {
      const truth = copyCounts(rows, state.sources, events);
      lanes.forEach((one, i) => one.tell(truth.rows[i], drawn[i]));
      key.hidden = false;
      return compared(drawn, truth);
    },
  };
}

// One line of code: the two memories, the arrow between them, and the same as a choice of three.
function question(code, i) {
  const [mine, truth] = [make('i', 'mine'), make('i', 'truth')];
  const strip = make('div', 'lane', make('b', '', 'CPU RAM'), mine, truth, make('b', '', 'VRAM'));
  strip.setAttribute('aria-hidden', 'true'); // the choice says the same
  const inputs = Object.keys(WAYS).map((value) => Object.assign(make('input', ''), { type: 'radio', name: `arrow-${i}`, value, required: true }));
  const ways = make('div', 'ways', ...inputs.map((input) => make('label', '', input, make('span', '', WAYS[input.value]))));
  const told = make('p', 'small');
  const root = make('fieldset', 'arrow', make('legend', '', make('code', '', code)), strip, ways, told);
  const way = () => inputs.find((input) => input.checked)?.value ?? '';
  const draw = () => {
    mine.removeAttribute('style');
    mine.dataset.way = way();
  };
  ways.addEventListener('change', draw);
  drags(strip, mine, (from, to) => {
    if (from !== null) inputs.find(({ value }) => value === (from === to ? 'none' : from === 0 ? 'h2d' : 'd2h')).checked = true;
    draw();
  });
  return {
    root, way, field: inputs[0],
    /** what: of copyCounts; null: nothing is told. */
    tell(what, guess) {
      truth.dataset.way = what?.way ?? '';
      told.textContent = what ? `Line ${what.line}, ${what.way === guess ? 'as you drew' : 'not as you drew'}: ${what.way === 'none' ? WAYS.none : `${units.bytes(what.bytes)} ${WAYS[what.way]}`}.` : '';
    },
  };
}

// From the half where a finger or the mouse went down to where it is let go: drop(0 or 1, 0 or 1); drop(null): given up.
function drags(strip, arrow, drop) {
  let from = null;
  const place = (event) => {
    const box = strip.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  strip.addEventListener('pointerdown', (event) => {
    if (!event.isPrimary || event.button) return;
    from = place(event);
    strip.setPointerCapture(event.pointerId);
  });
  strip.addEventListener('pointermove', (event) => {
    if (from === null) return;
    const to = place(event);
    arrow.dataset.way = to > from ? 'h2d' : 'd2h';
    Object.assign(arrow.style, { left: `${100 * Math.min(from, to)}%`, right: `${100 * (1 - Math.max(from, to))}%` });
  });
  strip.addEventListener('pointerup', (event) => {
    if (from !== null) drop(Number(from > 0.5), Number(place(event) > 0.5));
    from = null;
  });
  strip.addEventListener('pointercancel', () => {
    from = null;
    drop(null);
  });
}
