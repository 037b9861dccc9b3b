// editor.js: the learner's file, in a plain text area with line numbers. Saving writes my/ID.c on disk;
// the server then builds, runs and grades it, as for any other editor. A file that another editor changed is
// never overwritten without asking.

const $ = (id) => document.getElementById(id);

/** on: {saved(), clash(path), failed(error)}; clash(''): the conflict is resolved. */
export function editor(api, on) {
  const area = $('code');
  const gutter = $('gutter');
  let lesson = null;
  let saved = '';
  let wrong = 0; // line of the last compile error, 0 for none
  let fresh = false; // the caret was not placed yet
  let theirs = null; // the file's text, if it conflicts with unsaved text here
  let writing = 0; // requests in progress that write the file
  const drafts = new Map(); // lesson -> {text, base}: unsaved text, and the file's text that it was based on

  function show(next) {
    if (lesson && isDirty()) drafts.set(lesson.id, { text: area.value, base: saved });
    const draft = drafts.get(next.id);
    lesson = next;
    saved = draft?.base ?? next.source ?? '';
    area.value = draft?.text ?? saved;
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
    if (isDirty() && source !== area.value) {
      clash(source === saved ? null : source);
      return;
    }
    const at = area.selectionStart;
    saved = source;
    if (area.value !== source) {
      area.value = source;
      area.setSelectionRange(at, at);
    }
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
    if (!mine) area.value = theirs;
    clash(null);
    refresh();
    area.focus();
  }

  // Puts the caret where the learner's part starts; a text area can scroll only once it is visible.
  function placeCaret() {
    const mark = area.value.indexOf('// --- your code ---');
    if (!fresh || !area.clientHeight || mark < 0) return;
    fresh = false;
    area.setSelectionRange(mark, mark);
    scrollTo(area.value.slice(0, mark).split('\n').length);
  }

  const isDirty = () => area.value !== saved;

  function refresh() {
    const count = area.value.split('\n').length;
    if (gutter.childElementCount !== count) {
      gutter.replaceChildren(...Array.from({ length: count }, (_, i) => Object.assign(document.createElement('span'), { textContent: i + 1 })));
    }
    [...gutter.children].forEach((n, i) => n.classList.toggle('wrong', i + 1 === wrong));
    $('save').disabled = !lesson;
    $('dirty').textContent = isDirty() ? 'not saved' : 'saved';
    $('dirty').className = isDirty() ? 'dirty' : '';
    gutter.scrollTop = area.scrollTop;
  }

  async function save() {
    if (!lesson || writing) return;
    const [mine, source, place] = [lesson, area.value, `/api/lessons/${encodeURIComponent(lesson.id)}`];
    await write(async () => {
      const { source: current } = await api.get(place);
      if (lesson !== mine) return;
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
      saved = area.value = source;
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
    if (error) {
      $('mistake-line').textContent = error.line ? `Line ${error.line}` : 'Error';
      $('mistake-words').textContent = [error.message, error.hint].filter(Boolean).join(': ');
      scrollTo(wrong);
    }
    area.setAttribute('aria-invalid', error ? 'true' : 'false');
    refresh();
  }

  /** Puts the caret on a line. */
  function goTo(line) {
    const start = area.value.split('\n').slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    area.focus();
    area.setSelectionRange(start, start + (area.value.split('\n')[line - 1] ?? '').length);
    scrollTo(line);
  }

  function scrollTo(line) {
    const height = area.scrollHeight / Math.max(1, area.value.split('\n').length);
    if (line) area.scrollTop = Math.max(0, (line - 4) * height);
  }

  let leaving = false; // after Escape, Tab leaves the editor as it leaves any field

  function key(event) {
    if (event.key === 'Escape') leaving = true;
    else if (event.key === 'Tab' && !leaving && !event.shiftKey) indent(event);
    else if (event.key === 'Enter' && !event.ctrlKey) newLine(event);
    if (event.key !== 'Escape' && event.key !== 'Shift') leaving = false;
  }

  function indent(event) {
    event.preventDefault();
    insert('    ');
  }

  // A new line gets the indentation of the one before.
  function newLine(event) {
    const before = area.value.slice(0, area.selectionStart).split('\n').at(-1);
    const blank = /^\s*/.exec(before)[0];
    if (!blank) return;
    event.preventDefault();
    insert(`\n${blank}`);
  }

  function insert(words) {
    area.setRangeText(words, area.selectionStart, area.selectionEnd, 'end');
    refresh();
  }

  new ResizeObserver(placeCaret).observe(area);
  area.addEventListener('input', refresh);
  area.addEventListener('scroll', () => { gutter.scrollTop = area.scrollTop; });
  area.addEventListener('keydown', key);
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

  return { show, update, save, mistake, goTo, isDirty };
}
