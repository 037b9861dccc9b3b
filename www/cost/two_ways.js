// two_ways.js: two bars and a slider where a lesson's text asks for them with a block ```break-even, ```overlap, ```waits or ```detour: what
// the same work costs in two ways, and from when on one of them is the better one. The times are those of the run shown.

import { breakEven } from '../model/break_even.js';
import { clockWords } from '../model/cost_words.js';
import { detour } from '../model/detour.js';
import { overlap } from '../model/overlap.js';
import * as units from '../model/units.js';
import { waits } from '../model/waits.js';
import { make } from './fare.js';

const KINDS = { 'break-even': breakEven, detour, overlap, waits };
const MOST = 20; // of what the slider counts

/** Replaces the blocks of a lesson's text. */
export function twoWays(article) {
  const all = [...article.querySelectorAll('pre[data-language]')].filter((block) => KINDS[block.dataset.language]).map((block) => {
    const one = plot(KINDS[block.dataset.language]);
    block.replaceWith(one.root);
    return one;
  });
  return { show: (run, hidden) => all.forEach((one) => one.show(run, hidden)), repaint() {} };
}

/** kind: of model/: {label, counted, later, measure(run), bars(n, measured), words(n, measured)}. */
function plot(kind) {
  const input = make('input', { type: 'range', min: 1, max: MOST, step: 1, value: 1 });
  const value = make('output');
  const bars = make('div', { className: 'bars' });
  bars.setAttribute('aria-hidden', 'true'); // the sentence says the same
  const told = make('p', { className: 'told' });
  told.setAttribute('role', 'status');
  const later = make('p', { className: 'small', textContent: kind.later });
  const source = make('p', { className: 'small' });
  const slider = make('label', {}, make('span', { textContent: kind.counted }), input, value);
  const shown = make('div', { hidden: true }, bars, told, make('div', { className: 'sliders' }, slider), source);
  const root = make('figure', { className: 'fare' }, shown, later);
  root.setAttribute('aria-label', kind.label);
  let measured = null;

  function paint() {
    const n = Number(input.value);
    value.textContent = String(n);
    if (!measured) return;
    const longest = Math.max(...kind.bars(MOST, measured).map(total));
    bars.replaceChildren(...kind.bars(n, measured).map((one) => bar(one, longest)));
    told.textContent = kind.words(n, measured);
  }

  /** hidden: the learner still has to guess. */
  function show(run, hidden) {
    measured = hidden ? null : kind.measure(run) ?? measured;
    shown.hidden = !measured;
    later.hidden = !!measured;
    if (measured) {
      const { session, devices } = run.at(run.events.length - 1);
      source.textContent = clockWords(session?.clock ?? 'model', devices.find((one) => one.name !== 'cpu')?.card ?? '');
    }
    paint();
  }

  input.addEventListener('input', paint);
  input.addEventListener('keydown', (event) => event.stopPropagation()); // the page's own keys step
  return { root, show };
}

const total = ({ parts }) => parts.reduce((sum, [, ns]) => sum + ns, 0);

/** Its parts, in order, each as long as its time; a part says what it is if there is room. */
function bar({ name, parts }, longest) {
  const track = make('span', { className: 'track' }, ...parts.map(([of, ns]) => {
    const part = make('span', { className: of, textContent: ns > (0.045 + 0.037 * of.length) * longest ? of : '', title: `${of}: ${units.time(Math.round(ns))}` });
    part.style.width = `${(100 * ns) / longest}%`;
    return part;
  }));
  const sum = make('b', { textContent: units.time(Math.round(total({ parts }))) });
  return make('p', {}, make('span', { textContent: name }), track, sum);
}
