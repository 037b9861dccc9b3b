// predict.js: the question before the example. In "Before you run" the learner guesses how many copies cross the bus in each
// direction, or draws them (arrows.js); nothing plays before, and the page hides the numbers, unless the learner asks to see
// them. After the example was played to its end, the trace gives the answer in any case.

import { arrows } from './arrows.js';

const NOTED = 'Guess saved. Play the example to its end: then the page compares.';

/**
 * Turns the section of `article` into a card with a form, right under the title. `known`: the answer is not
 * hidden. on: {play(), known()}. Returns {reveal(state, events), show(), ask(), open} or null.
 */
export function prediction(article, known, on) {
  const heading = [...article.querySelectorAll('h2, h3')].find((h) => /before you run|predict/i.test(h.textContent));
  if (!heading) return null;
  const inside = [heading];
  for (let node = heading.nextSibling; node && !/^H[1-3]$/.test(node.nodeName); node = node.nextSibling) inside.push(node);
  const card = make('section', 'predict');
  const title = article.querySelector('h2');
  if (title && title !== heading) title.after(card);
  else heading.before(card);
  const block = inside.find((node) => node.dataset?.language === 'arrows');
  const question = block ? arrows(block) : numbers();
  const just = Object.assign(make('button', '', 'Just show me'), { type: 'button' });
  const form = make('form', '');
  form.append(...question.nodes, Object.assign(make('button', '', 'That is my guess'), { type: 'submit' }), just);
  const verdict = make('p', 'answer');
  verdict.setAttribute('role', 'status');
  const invite = make('p', 'invite', 'Predict first');
  card.append(invite, ...inside.filter((node) => node !== block), form, verdict);
  block?.remove();
  const self = { open: !known, reveal, show, ask };
  let guessed = false;
  just.hidden = invite.hidden = !self.open;

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    guessed = true;
    question.take();
    showAnswer(NOTED);
    show();
    on.play();
  });
  just.addEventListener('click', () => {
    show();
    on.play();
  });

  /** Stops hiding the numbers. */
  function show() {
    if (!self.open) return;
    self.open = false;
    just.hidden = invite.hidden = true;
    on.known();
  }

  /** Takes the answers as the guess, or leads to the first that is missing. */
  function ask() {
    const empty = question.fields.find((f) => !f.checkValidity());
    if (empty) empty.focus();
    else form.requestSubmit();
  }

  /** The example was played to its end: compares the guess with the trace. */
  function reveal(state, events) {
    show(); // in any case
    if (!guessed) return;
    guessed = false;
    const { words, right } = question.tell(state, events);
    showAnswer(words, right ? 'right' : 'wrong');
  }

  function showAnswer(words, kind = '') {
    if (verdict.textContent !== words) verdict.textContent = words;
    verdict.className = `answer ${kind}`.trim();
  }

  return self;
}

function make(tag, className, words = '') {
  return Object.assign(document.createElement(tag), { className, textContent: words });
}

// How many copies cross in each direction.
function numbers() {
  const nodes = ['copies to the card', 'copies back to the CPU'].map((words) => {
    const label = make('label', '');
    const field = Object.assign(make('input', ''), { type: 'number', min: 0, max: 99, required: true, inputMode: 'numeric', autocomplete: 'off' });
    label.append(field, ` ${words}`);
    return label;
  });
  const fields = nodes.map((label) => label.firstChild);
  let guess = [];
  return {
    nodes, fields,
    take() {
      guess = fields.map((f) => Number(f.value));
    },
    tell({ ledger }) {
      const truth = [ledger.h2d.copies, ledger.d2h.copies];
      if (guess.every((n, i) => n === truth[i])) return { right: true, words: `You guessed ${guess[0]} and ${guess[1]}: correct.` };
      return { right: false, words: `You guessed ${guess[0]} to the card and ${guess[1]} back. There were ${truth[0]} and ${truth[1]}. Step back and look at each copy.` };
    },
  };
}
