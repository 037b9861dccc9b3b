// lessons.js: the list of lessons, the text of the open one, its hints, and the two buttons that run
// a program; what became of it so far, for next.js. It queries the server through `api` and reports choices to main.js; it draws no tensor.

import { prediction } from './predict.js';
import { render } from './text.js';

const $ = (id) => document.getElementById(id);

/** on: {opened(lesson), ran(what, stay), unsaved(), save(), play(), known(), failed(error)}. */
export function lessons(api, on) {
  let all = [];
  let open = null; // the open lesson, as the server sent it
  let question = null;
  let hintsShown = 0;
  let watched = false; // the example was played to its end

  async function load() {
    all = await api.get('/api/lessons');
    list();
    return all;
  }

  // By parts, folded away while a lesson is read: there are too many to stand above its text.
  function list() {
    const parts = [...new Set(all.map((lesson) => lesson.part))];
    $('lesson-list').replaceChildren(...parts.map(part));
    const at = all.findIndex((lesson) => lesson.id === open?.id);
    const done = all.filter((lesson) => lesson.done).length;
    $('lesson-where').textContent = open ? `Lesson ${at + 1} of ${all.length}` : `${all.length} lessons`;
    $('lesson-done').textContent = done ? `${done} done` : '';
  }

  function part(title) {
    const li = document.createElement('li');
    const entries = document.createElement('ol');
    entries.append(...all.filter((lesson) => lesson.part === title).map(entry));
    if (title) li.append(Object.assign(document.createElement('h3'), { textContent: title }));
    li.append(entries);
    return li;
  }

  function entry(lesson) {
    const i = all.indexOf(lesson);
    const li = document.createElement('li');
    const button = document.createElement('button');
    button.type = 'button';
    button.className = lesson.done ? 'done' : '';
    button.dataset.lesson = lesson.id;
    if (lesson.id === open?.id) button.setAttribute('aria-current', 'true');
    const mark = Object.assign(document.createElement('span'), { className: 'mark', textContent: lesson.done ? '✓' : i + 1 });
    mark.setAttribute('aria-hidden', 'true');
    const title = Object.assign(document.createElement('span'), { className: 'title', textContent: lesson.title });
    button.append(mark, title);
    if (lesson.minutes) button.append(Object.assign(document.createElement('span'), { className: 'minutes', textContent: `${lesson.minutes} min` }));
    if (lesson.done) button.append(Object.assign(document.createElement('span'), { className: 'hidden', textContent: ' (done)' }));
    button.title = lesson.summary ?? '';
    button.addEventListener('click', () => attempt(() => {
      $('lesson-menu').open = false;
      return choose(lesson.id, true);
    }));
    li.append(button);
    return li;
  }

  /** Opens a lesson; with `play` its worked example runs at once. */
  async function choose(id, play) {
    open = await api.get(`/api/lessons/${encodeURIComponent(id)}`);
    hintsShown = 0;
    watched = false;
    list();
    text();
    hints();
    on.opened(open);
    if (play) await run('demo', true);
  }

  function text() {
    const article = $('lesson-text');
    article.replaceChildren(render(open.html));
    const turn = [...article.querySelectorAll('h2, h3')].find((h) => /your turn/i.test(h.textContent));
    if (open.budget) (turn ?? article.querySelector('h2'))?.after(budget(open.budget));
    if (open.docs?.url) article.append(docs(open.docs));
    question = prediction(article, open.predict ?? [], open.done, on);
    if (open.goal) article.querySelector('h2')?.after(goal(open));
    if (open.answers?.length) question?.answers(open.answers);
    $('learn').scrollTop = 0;
  }

  function budget(words) {
    const p = document.createElement('p');
    p.className = 'budget';
    const b = document.createElement('b');
    b.textContent = 'Your limit: ';
    p.append(b, words);
    return p;
  }

  function goal({ goal: words, minutes }) {
    const p = Object.assign(document.createElement('p'), { className: 'goal', textContent: `After this: ${words[0].toLowerCase()}${words.slice(1)}` });
    if (minutes) p.append(Object.assign(document.createElement('span'), { className: 'minutes', textContent: ` About ${minutes} minutes.` }));
    return p;
  }

  function docs({ title, url }) {
    const p = Object.assign(document.createElement('p'), { className: 'docs', textContent: 'PyTorch’s own words: ' });
    p.append(Object.assign(document.createElement('a'), { href: url, textContent: title, target: '_blank', rel: 'noopener noreferrer' }));
    return p;
  }

  function hints() {
    const total = open.hints ?? 0;
    $('hints').replaceChildren();
    $('more-hint').hidden = total === 0;
    $('more-hint').textContent = `Show a hint (${total} left)`;
    $('more-hint').disabled = false;
    $('hint-section').hidden = !!open.done || total === 0;
  }

  async function hint() {
    const { html } = await api.get(`/api/lessons/${encodeURIComponent(open.id)}/hints/${hintsShown + 1}`);
    hintsShown++;
    const li = document.createElement('li');
    const told = Object.assign(document.createElement('details'), { open: true });
    told.append(Object.assign(document.createElement('summary'), { textContent: `Hint ${hintsShown}` }), render(html));
    li.append(told);
    $('hints').append(li);
    li.scrollIntoView({ block: 'nearest' });
    const left = (open.hints ?? 0) - hintsShown;
    $('more-hint').textContent = left > 0 ? `Show another hint (${left} left)` : 'That was the last hint';
    $('more-hint').disabled = left <= 0;
  }

  // `stay`: a narrow page keeps its pane, since the reader did not ask to watch.
  async function run(what, stay = false) {
    if (!open) return;
    on.ran(what, stay);
    await api.post(`/api/lessons/${encodeURIComponent(open.id)}/run`, { what });
  }

  // The editor's text is what runs: with unsaved text, saving is enough, since the server runs every save.
  async function mine() {
    if (!open || !on.unsaved()) return run('mine');
    on.ran('mine');
    return on.save();
  }

  async function attempt(action) {
    try {
      await action();
    } catch (error) {
      on.failed(error);
    }
  }

  $('more-hint').addEventListener('click', () => attempt(hint));
  $('play-demo').addEventListener('click', () => attempt(() => run('demo')));
  $('run-mine').addEventListener('click', () => attempt(mine));
  const isLast = () => all.at(-1)?.id === open?.id;

  /** Opens the lesson after this one. */
  function next() {
    const after = all[all.findIndex((l) => l.id === open?.id) + 1];
    if (after) attempt(() => choose(after.id, true));
  }

  return {
    load,
    choose,
    run,
    attempt,
    /** The example was played to its end. */
    watched(state, events) {
      watched = true;
      question?.reveal(state, events);
    },
    /** The server has read the answers to the questions in the log of an example. */
    answers(id, numbers) {
      if (id === open?.id) question?.answers(numbers);
    },
    next,
    mine: () => attempt(mine),
    /** Leads the learner to the question, or takes the answer that stands there. */
    predict: () => question?.ask(),
    /** For next.js. */
    get progress() {
      return { guessing: !!question?.open, watched, last: isLast() };
    },
    /** The learner stepped through the example by hand: nothing is left to guess. */
    stepped: () => question?.show(),
    /** Does the learner still have to guess the copies? */
    get guessing() {
      return !!question?.open;
    },
    /** A lesson was solved, here or in another tab: its mark in the list. */
    passed(id) {
      const lesson = all.find((l) => l.id === id);
      if (!lesson || lesson.done) return;
      lesson.done = true;
      list();
    },
    /** A verdict arrived for the open one. A hint was for what was wrong before; it stays to be opened again. */
    graded(pass) {
      $('hint-section').hidden = pass || !open?.hints;
      for (const told of $('hints').querySelectorAll('details')) told.open = false;
    },
    get open() {
      return open;
    },
  };
}
