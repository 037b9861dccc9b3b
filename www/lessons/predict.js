// predict.js: a question first. From "Before you run" the learner says how many copies will cross the bus
// each way; when the example has been watched to its end, the trace itself gives the answer. Until then
// the page does not tell the numbers, unless the learner asks to be shown them.

const NOTED = 'Noted. Watch the example to its end, then compare.';

/**
 * Turn the section of `article` into a card with a form, right under the title. `known`: no secret is made
 * of the answer. on: {guessed(), known()}. Returns {reveal(ledger), show(), open} or null.
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
  const { form, fields, just } = makeForm();
  const verdict = make('p', 'answer');
  verdict.setAttribute('role', 'status');
  const invite = make('p', 'invite', 'Guess first, or just play');
  card.append(invite, ...inside, form, verdict);
  const self = { open: !known, reveal, show };
  let guess = null;
  just.hidden = invite.hidden = !self.open;

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    guess = fields.map((f) => Number(f.value));
    say(NOTED);
    show();
    on.guessed();
  });
  just.addEventListener('click', show);

  /** No secret is left: the copies are told. */
  function show() {
    if (!self.open) return;
    self.open = false;
    just.hidden = invite.hidden = true;
    on.known();
  }

  /** The example came to its end: so many copies there were. */
  function reveal(ledger) {
    if (!guess) return;
    const truth = [ledger.h2d.trips, ledger.d2h.trips];
    const right = guess.every((n, i) => n === truth[i]);
    if (right) say(`You said ${guess[0]} and ${guess[1]}, and so it was.`, 'right');
    else say(`You said ${guess[0]} to the card and ${guess[1]} home. It was ${truth[0]} and ${truth[1]}. Step back and look at each crossing.`, 'wrong');
  }

  function say(words, kind = '') {
    if (verdict.textContent !== words) verdict.textContent = words;
    verdict.className = `answer ${kind}`.trim();
  }

  return self;
}

function make(tag, className, words = '') {
  return Object.assign(document.createElement(tag), { className, textContent: words });
}

function makeForm() {
  const form = make('form', '');
  const fields = ['copies to the card', 'copies home'].map((words) => {
    const label = make('label', '');
    const field = Object.assign(make('input', ''), { type: 'number', min: 0, max: 99, required: true, inputMode: 'numeric' });
    label.append(field, ` ${words}`);
    form.append(label);
    return field;
  });
  const just = Object.assign(make('button', '', 'Just show me'), { type: 'button' });
  form.append(Object.assign(make('button', 'first', 'That is my guess'), { type: 'submit' }), just);
  return { form, fields, just };
}
