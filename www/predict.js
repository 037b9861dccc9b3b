// predict.js: a question first. Under "Before you run" the learner says how many copies will cross the
// bus each way; when the example has been watched to its end, the trace itself gives the answer.

/** Turn the section of `article` into a card with a form. Returns {reveal(ledger), clear()} or null. */
export function prediction(article, onGuess) {
  const heading = [...article.querySelectorAll('h2, h3')].find((h) => /before you run|predict/i.test(h.textContent));
  if (!heading) return null;
  const card = document.createElement('section');
  card.className = 'predict';
  heading.before(card);
  const inside = [heading];
  for (let node = heading.nextSibling; node && !/^H[1-3]$/.test(node.nodeName); node = node.nextSibling) inside.push(node);
  card.append(...inside);
  const { form, fields, verdict } = makeForm();
  card.append(form, verdict);
  let guess = null;

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    guess = fields.map((f) => Number(f.value));
    verdict.textContent = 'Noted. Watch the example to its end, then compare.';
    verdict.className = 'answer';
    onGuess();
  });

  function reveal(ledger) {
    if (!guess) return;
    const truth = [ledger.h2d.trips, ledger.d2h.trips];
    const right = guess.every((n, i) => n === truth[i]);
    verdict.textContent = right
      ? `You said ${guess[0]} and ${guess[1]}, and so it was.`
      : `You said ${guess[0]} to the card and ${guess[1]} home. It was ${truth[0]} and ${truth[1]}. Step back and look at each crossing.`;
    verdict.className = right ? 'answer right' : 'answer wrong';
  }

  return { reveal };
}

function makeForm() {
  const form = document.createElement('form');
  const fields = ['copies to the card', 'copies home'].map((words) => {
    const label = document.createElement('label');
    const field = document.createElement('input');
    Object.assign(field, { type: 'number', min: 0, max: 99, required: true, inputMode: 'numeric' });
    label.append(field, ` ${words}`);
    form.append(label);
    return field;
  });
  const button = document.createElement('button');
  button.type = 'submit';
  button.textContent = 'That is my guess';
  form.append(button);
  const verdict = document.createElement('p');
  verdict.className = 'answer';
  verdict.setAttribute('role', 'status');
  return { form, fields, verdict };
}
