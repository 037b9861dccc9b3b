// ledger.js: the cost so far, in plain words: what has arrived and ended by now, and for how long calls have blocked the
// program. The words are those of cost_words.js.

import { clockWords, costLines } from '../model/cost_words.js';

/** root: a <ul>; source: the element that says where the times come from. The DOM is written only on change. */
export function ledger(root, source) {
  const rows = new Map();

  function add(key) {
    const li = document.createElement('li');
    const figure = document.createElement('b');
    const rest = document.createElement('span');
    li.append(figure, rest);
    rows.set(key, { li, figure, rest });
    return rows.get(key);
  }

  const write = (node, words) => node.textContent !== words && (node.textContent = words);

  /** now: an instant. session: of the run. hidden: the learner still has to guess the copies. */
  function show(now, session, hidden = false) {
    const lines = costLines(now, hidden);
    const wanted = lines.map((line) => rows.get(line.key) ?? add(line.key));
    if (wanted.length !== root.children.length || wanted.some(({ li }, i) => root.children[i] !== li)) root.replaceChildren(...wanted.map(({ li }) => li));
    lines.forEach((line, i) => {
      write(wanted[i].figure, line.figure);
      write(wanted[i].rest, line.rest);
    });
    const card = now.memories.find((one) => one.device !== 'cpu' && one.card)?.card ?? '';
    write(source, session ? clockWords(session.clock, card) : '');
  }

  return { show };
}
