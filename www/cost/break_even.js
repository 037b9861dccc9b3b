// break_even.js: two bars and a slider where a lesson asks for them with a block ```break-even: what n copies of the same bytes cost
// from ordinary memory, and from memory that is page-locked for them. The times are those of the run shown.

import { bothWays, breakEvenWords, costs } from '../model/break_even.js';
import { clockWords } from '../model/cost_words.js';
import * as units from '../model/units.js';
import { make } from './fare.js';

const MOST = 20; // copies

/** Replaces the blocks of a lesson's text. */
export function breakEvens(article) {
  const all = [...article.querySelectorAll('pre[data-language="break-even"]')].map((block) => {
    const one = breakEven();
    block.replaceWith(one.root);
    return one;
  });
  return { show: (run, hidden) => all.forEach((one) => one.show(run, hidden)), repaint() {} };
}

function breakEven() {
  const input = make('input', { type: 'range', min: 1, max: MOST, step: 1, value: 1 });
  const value = make('output');
  const bars = make('div', { className: 'bars' });
  bars.setAttribute('aria-hidden', 'true'); // the sentence says the same
  const told = make('p', { className: 'told' });
  told.setAttribute('role', 'status');
  const later = make('p', { className: 'small', textContent: 'What both ways cost appears after your guess, once this run has sent the same bytes both ways.' });
  const source = make('p', { className: 'small' });
  const plot = make('div', {}, bars, told, make('div', { className: 'sliders' }, make('label', {}, make('span', { textContent: 'Copies' }), input, value)), source);
  const root = make('figure', { className: 'fare' }, plot, later);
  root.setAttribute('aria-label', 'Copies from ordinary and from page-locked memory');
  let ways = null;

  function paint() {
    const n = Number(input.value);
    value.textContent = String(n);
    if (!ways) return;
    const longest = Math.max(...Object.values(costs(MOST, ways)));
    bars.replaceChildren(
      bar('ordinary', costs(n, ways).ordinary, longest, [['copies', n * ways.ordinary]]),
      bar('page-locked', costs(n, ways).locked, longest, [['lock', ways.lock], ['fill', ways.fill], ['copies', n * ways.locked]]),
    );
    told.textContent = breakEvenWords(n, ways);
  }

  // Its parts, in order, each as long as its time.
  function bar(name, total, longest, parts) {
    const track = make('span', { className: 'track' }, ...parts.map(([of, ns]) => {
      const part = make('span', { className: of, textContent: ns > 0.12 * longest ? of : '', title: `${of}: ${units.time(Math.round(ns))}` });
      part.style.width = `${(100 * ns) / longest}%`;
      return part;
    }));
    return make('p', {}, make('span', { textContent: name }), track, make('b', { textContent: units.time(Math.round(total)) }));
  }

  /** hidden: the learner still has to guess. */
  function show(run, hidden) {
    ways = hidden ? null : bothWays(run) ?? ways;
    plot.hidden = !ways;
    later.hidden = !!ways;
    if (ways) {
      const { session, devices } = run.at(run.events.length - 1);
      source.textContent = clockWords(session?.clock ?? 'model', devices.find((one) => one.name !== 'cpu')?.card ?? '');
    }
    paint();
  }

  input.addEventListener('input', paint);
  input.addEventListener('keydown', (event) => event.stopPropagation()); // the page's own keys step
  return { root, show };
}
