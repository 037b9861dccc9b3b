// findings.js: what the server found wasteful or wrong in the run shown, dearest first: where it is, what it costs, how to mend
// it; and a button that tries the change on the model.

import { placeOf, priceOf } from '../model/finding.js';
import { lostWords } from '../model/reach.js';
import * as units from '../model/units.js';

const $ = (id) => document.getElementById(id);

const make = (tag, words = '', className = '') => Object.assign(document.createElement(tag), { textContent: words, className });

/** on: {go(seq), tryIt(finding)}. */
export function findingList(on) {
  let shown = ''; // what the list was made for

  /** run: shown now. later: why its findings are not told yet: guess, unpassed, or ''. */
  function show(run, later) {
    const { found = null } = run;
    const state = later || (!run.ended ? 'running' : !found ? 'asking' : found.error ? 'failed' : 'here');
    const key = `${run.number} ${state} ${run.events.length}`;
    if (key === shown) return;
    shown = key;
    const list = state === 'here' ? found.findings : [];
    $('finding-list').replaceChildren(...list.map((one) => row(one, run)));
    $('finding-count').textContent = list.length ? String(list.length + (found.more ?? 0)) : '';
    $('finding-note').textContent = note(state, found, list, run);
    $('findings').dataset.state = state;
    $('to-findings').hidden = !list.length;
    $('to-findings').textContent = `${list.length === 1 ? '1 finding' : `${list.length + (found?.more ?? 0)} findings`} ↓`;
  }

  function row(one, run) {
    const li = make('li');
    li.dataset.weight = one.weight;
    const { figure, rest } = priceOf(one);
    const price = make('p', '', 'price');
    price.append(make('b', figure), ' ', make('span', rest));
    const place = placeOf(one, run);
    const go = make('button', place.words || `event ${one.seq}`, 'where');
    go.type = 'button';
    go.title = 'Go there';
    go.addEventListener('click', () => on.go(one.seq));
    const words = make('p', '', 'words');
    words.append(make('span', units.micro(one.what)), ' ', make('span', one.fix && `Fix: ${units.micro(one.fix)}.`, 'fix'));
    const does = make('p', '', 'does');
    does.append(go);
    if (one.try) does.append(trial(one));
    else if (one.no_try) does.append(make('span', `No what-if: ${one.no_try}.`, 'small'));
    li.append(price, words, does);
    li.addEventListener('click', (event) => !event.target.closest('button') && !String(getSelection()) && on.go(one.seq));
    return li;
  }

  function trial(one) {
    const button = make('button', 'Try it', 'try');
    button.type = 'button';
    button.title = `What if: the same run, ${one.try}. Modelled.`;
    button.setAttribute('aria-label', `Try it: the same run, ${one.try}`);
    button.addEventListener('click', () => on.tryIt(one));
    return button;
  }

  // In a narrow column the list is below what is seen.
  $('to-findings').addEventListener('click', () => {
    $('findings').scrollIntoView({ block: 'start' });
    $('finding-list').querySelector('button')?.focus({ preventScroll: true });
  });

  return { show };
}

function note(state, found, list, run) {
  if (state === 'guess') return 'After your guess.';
  if (state === 'unpassed') return 'When your program has passed.';
  if (state === 'running') return 'When the run has ended.';
  if (state === 'asking') return 'Looking …';
  if (state === 'failed') return `No findings: ${found.error}`;
  const lost = list.length ? '' : lostWords(run.lostIn(run.atEnd()));
  return [
    lost && `At the end ${lost}`, list.length ? '' : `Nothing${lost && ' else'} wasteful or wrong was found in this run.`,
    found.more ? `${found.more} more; ferry explain lists all of them.` : '',
    found.shown ? 'What the program shows on purpose (fy_mark "demo: …") is left out.' : '',
    found.note ? `Note: ${found.note}.` : '',
  ].filter(Boolean).join(' ');
}
