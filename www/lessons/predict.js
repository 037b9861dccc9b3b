// predict.js: the questions before the example. In "Before you run" the learner answers those of lesson.json, and draws copies
// where the text has arrows (arrows.js); nothing plays before, and the page hides the numbers, unless the learner asks to see
// them. After the example was played to its end, its log gives the answers in any case.

import { arrows } from './arrows.js';

const NOTED = 'Guess saved. Play the example to its end: then the page compares.';

/**
 * Turns the section of `article` into a card with a form, right under the title. asked: [{ask, choices}]. `known`: the
 * answer is not hidden. on: {play(), known()}. Returns {reveal(state, events), answers(numbers), show(), ask(), open} or null.
 */
export function prediction(article, asked, known, on) {
  const heading = [...article.querySelectorAll('h2, h3')].find((h) => /before you run|predict/i.test(h.textContent));
  if (!heading) return null;
  const inside = [heading];
  for (let node = heading.nextSibling; node && !/^H[1-3]$/.test(node.nodeName); node = node.nextSibling) inside.push(node);
  const card = make('section', 'predict');
  const title = article.querySelector('h2');
  if (title && title !== heading) title.after(card);
  else heading.before(card);
  const block = inside.find((node) => node.dataset?.language === 'arrows');
  const parts = [...(block ? [arrows(block)] : []), ...asked.map(question)];
  const fields = parts.flatMap((part) => part.fields);
  const just = Object.assign(make('button', '', 'Just show me'), { type: 'button' });
  const form = make('form', '');
  form.append(...parts.flatMap((part) => part.nodes), Object.assign(make('button', '', 'That is my guess'), { type: 'submit' }), just);
  const verdict = make('p', 'answer');
  verdict.setAttribute('role', 'status');
  const invite = make('p', 'invite', 'Predict first');
  card.append(invite, ...inside.filter((node) => node !== block), form, verdict);
  block?.remove();
  const self = { open: !known, reveal, answers, show, ask };
  let guessed = false;
  let played = null; // the example's last state and its events, once it was played
  let truth = null; // the answers, as the server read them in the log of the example
  just.hidden = invite.hidden = !self.open;

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    guessed = true;
    for (const part of parts) part.take();
    played = null;
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
    const empty = fields.find((f) => !f.checkValidity());
    if (empty) empty.focus();
    else form.requestSubmit();
  }

  /** The example was played to its end: compares the guess with its log. */
  function reveal(state, events) {
    show(); // in any case
    played = { state, events };
    tell();
  }

  /** The server has read the answers in the log of a run of the example. */
  function answers(numbers) {
    truth = numbers;
    tell();
  }

  function tell() {
    if (!guessed || !played || (asked.length && !truth)) return;
    guessed = false;
    const first = parts.length - asked.length;
    const told = parts.map((part, i) => (i < first ? part.tell(played.state, played.events) : part.tell(truth[i - first])));
    const right = told.every((one) => one.right);
    const words = told.map((one) => one.words).join(' ');
    showAnswer(right ? (asked.length ? `Correct. ${words}` : words) : `${words} Step back and look there.`, right ? 'right' : 'wrong');
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

// One question of lesson.json: a number, or one of its choices.
function question({ ask, choices }) {
  const label = make('label', '', `${ask} `);
  const field = choices.length ? choice(choices) : Object.assign(make('input', ''), { type: 'number', min: 0, inputMode: 'numeric', autocomplete: 'off' });
  field.required = true;
  label.append(field);
  const words = (n) => choices[n] ?? String(n);
  const name = ask.replace(/\?$/, '');
  let guess = 0;
  return {
    nodes: [label], fields: [field],
    take() {
      guess = Number(field.value);
    },
    tell(truth) {
      if (truth === null) return { right: true, words: '' };
      if (guess === truth) return { right: true, words: `${name}: ${words(truth)}.` };
      return { right: false, words: `${name}: you said ${words(guess)}; it is ${words(truth)}.` };
    },
  };
}

function choice(choices) {
  const field = make('select', '');
  field.append(Object.assign(make('option', '', 'choose'), { value: '' }));
  field.append(...choices.map((words, i) => Object.assign(make('option', '', words), { value: i })));
  return field;
}
