// next.js: what the learner does next, which the page's one filled button says: predict, watch, edit, check, and on to the
// next lesson. nextAction is pure.

const $ = (id) => document.getElementById(id);

export const STEPS = ['Predict', 'Watch', 'Edit', 'Next'];

/**
 * s: {guessing, watched, playing, editing, dirty, verdict ('', 'busy', 'fail', 'pass'), line (that it points to), last}.
 * Returns {step (of STEPS), words, act ('predict', 'watch', 'end', 'edit', 'line', 'check', 'wait', 'next', 'over')}.
 */
export function nextAction(s) {
  if (s.verdict === 'busy') return { step: 2, words: 'Checking …', act: 'wait' };
  if (s.editing && s.dirty) return { step: 2, words: 'Check', act: 'check' };
  if (s.verdict === 'pass') return s.last ? { step: 3, words: 'All lessons done', act: 'over' } : { step: 3, words: 'Next lesson', act: 'next' };
  if (s.verdict === 'fail') return { step: 2, words: s.line ? `Edit line ${s.line}` : 'Edit', act: 'line' };
  if (s.guessing) return { step: 0, words: 'Predict', act: 'predict' };
  if (s.playing && !s.watched) return { step: 1, words: 'To the end', act: 'end' };
  if (!s.watched) return { step: 1, words: 'Watch', act: 'watch' };
  return s.editing ? { step: 2, words: 'Check', act: 'check' } : { step: 2, words: 'Edit', act: 'edit' };
}

/** on[act](): does it. Returns show(s), which writes the DOM only on change. */
export function nextBar(on) {
  let shown = '';
  let now = null;
  $('act').addEventListener('click', () => on[now?.act]?.());
  $('steps').replaceChildren(...STEPS.map((words) => Object.assign(document.createElement('li'), { textContent: words })));

  return function show(s) {
    now = nextAction(s);
    const key = `${now.words} ${now.step} ${now.act}`;
    if (key === shown) return;
    shown = key;
    $('act').textContent = now.words;
    $('act').disabled = !on[now.act];
    [...$('steps').children].forEach((li, i) => {
      li.toggleAttribute('data-done', i < now.step);
      if (i === now.step) li.setAttribute('aria-current', 'step');
      else li.removeAttribute('aria-current');
    });
  };
}
