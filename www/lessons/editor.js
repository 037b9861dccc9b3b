// editor.js: the learner's file. Saving writes my/ID.c on disk; the server then builds, runs and grades it, as for any
// other editor. A file that another editor changed is never overwritten without asking. The text field is field.js's.

import { plain, rich } from './field.js';

const $ = (id) => document.getElementById(id);

/** on: {saved(), clash(path), failed(error)}; clash(''): the conflict is resolved. */
export function editor(api, on) {
  let area = plain($('code'), refresh);
  let lesson = null;
  let saved = '';
  let wrong = 0; // line of the last compile error, 0 for none
  let fresh = false; // the caret was not placed yet
  let theirs = null; // the file's text, if it conflicts with unsaved text here
  let writing = 0; // requests in progress that write the file
  const drafts = new Map(); // lesson -> {text, base}: unsaved text, and the file's text that it was based on

  function show(next) {
    if (lesson && isDirty()) drafts.set(lesson.id, { text: area.text, base: saved });
    const draft = drafts.get(next.id);
    lesson = next;
    saved = draft?.base ?? next.source ?? '';
    area.text = draft?.text ?? saved;
    area.forget();
    drafts.delete(next.id);
    fresh = true;
    placeCaret();
    $('path').textContent = next.path ?? '';
    clash(null);
    mistake(null);
    update(next.source ?? '');
    refresh();
  }

  /** Shows the file's present text. Unsaved text stays until the learner has chosen. */
  function update(source) {
    if (writing) return;
    if (isDirty() && source !== area.text) {
      clash(source === saved ? null : source);
      return;
    }
    saved = source;
    if (area.text !== source) area.text = source;
    clash(null);
    refresh();
  }

  function clash(source) {
    if (source === null && theirs === null) return;
    theirs = source;
    $('clash').hidden = source === null;
    on.clash(source === null ? '' : lesson.path ?? lesson.id);
  }

  function choose(mine) {
    if (theirs === null) return;
    saved = theirs;
    if (!mine) area.text = theirs;
    clash(null);
    refresh();
    area.focus();
  }

  // Puts the caret where the learner's part starts; a field can scroll only once it is visible.
  function placeCaret() {
    const mark = area.text.indexOf('// --- your code ---');
    if (!fresh || !area.seen || mark < 0) return;
    fresh = false;
    area.caret(area.text.slice(0, mark).split('\n').length);
  }

  const isDirty = () => area.text !== saved;

  function refresh() {
    $('save').disabled = !lesson;
    $('dirty').textContent = isDirty() ? 'not saved' : 'saved';
    $('dirty').className = isDirty() ? 'dirty' : '';
    on.edited?.();
  }

  async function save() {
    if (!lesson || writing) return;
    const [mine, source, base, place] = [lesson, area.text, saved, `/api/lessons/${encodeURIComponent(lesson.id)}`];
    await write(async () => {
      const { source: current } = await api.get(place);
      if (lesson !== mine || saved !== base) return; // a choice made meanwhile is newer than this request
      if (typeof current === 'string' && current !== saved && current !== source) {
        clash(current);
        return;
      }
      mistake(null); // before the request: the compiler's result may arrive over the socket before the reply
      await api.post(`${place}/save`, { source });
      if (lesson === mine) saved = source;
      else if (drafts.get(mine.id)?.text === source) drafts.delete(mine.id);
      clash(null);
      refresh();
      on.saved();
    });
  }

  async function reset() {
    const mine = lesson;
    if (!mine || writing) return;
    await write(async () => {
      const { source } = await api.post(`/api/lessons/${encodeURIComponent(mine.id)}/reset`);
      if (typeof source !== 'string' || lesson !== mine) return;
      saved = area.text = source;
      clash(null);
      mistake(null);
      refresh();
    });
  }

  async function write(action) {
    writing++;
    try {
      await action();
    } catch (error) {
      on.failed(error);
    } finally {
      writing--;
    }
  }

  /** Shows a compile error at its line; null removes it. */
  function mistake(error) {
    const here = error?.line > 0 ? error.line : 0;
    if (!error && !wrong && $('mistake').hidden) return;
    wrong = here;
    $('mistake').hidden = !error;
    area.mark(here ? [{ line: here, words: error.message }] : []);
    area.invalid(!!error);
    if (!error) return;
    $('mistake-line').textContent = error.line ? `Line ${error.line}` : 'Error';
    $('mistake-words').textContent = error.message ?? '';
    if (here) area.reveal(here);
  }

  /** Selects a line. */
  function goTo(line) {
    area.focus();
    area.caret(line, true);
  }

  new ResizeObserver(placeCaret).observe($('editor'));
  $('save').addEventListener('click', save);
  $('keep-mine').addEventListener('click', () => choose(true));
  $('take-file').addEventListener('click', () => choose(false));
  $('reset').addEventListener('click', () => {
    if ($('reset').dataset.sure === 'yes') reset();
    sure($('reset').dataset.sure !== 'yes');
  });
  $('reset').addEventListener('blur', () => sure(false));

  // The reset button asks for confirmation in place.
  function sure(asking) {
    $('reset').dataset.sure = asking ? 'yes' : '';
    $('reset').textContent = asking ? 'Really? The old file is kept as .bak' : 'Start over';
  }
  $('mistake-line').addEventListener('click', () => goTo(wrong));

  window.addEventListener('beforeunload', (event) => {
    if (isDirty() || drafts.size) event.preventDefault();
  });

  return {
    show, update, save, mistake, goTo, isDirty,
    /** Before a lesson is shown: the text field gets what an editor has. */
    async load() {
      area = await rich($('code'), refresh) ?? area;
    },
    focus: () => area.focus(),
    /** Marks the lines of failed checks, [{line, words}]. */
    notes: (list) => area.mark(list),
  };
}
