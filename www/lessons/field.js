// field.js: the text field of the learner's file: CodeMirror (library/codemirror.js, which make takes from the
// distribution's package), or the plain text area of the page where a build had none.

import { names } from '../library/names.js';

const TAB = 4; // columns

// ---- CodeMirror ---------------------------------------------------------------------------------------

/** CodeMirror in place of the text area; null if a build had none. It is loaded here: it is as large as the rest of the page, and only a learner edits. */
export async function rich(area, changed) {
  await import(new URL('library/codemirror.js', document.baseURI)).catch(() => {});
  const Editor = globalThis.CodeMirror;
  if (!Editor) return null;
  const host = area.parentElement;
  area.remove();
  const cm = Editor(host, {
    mode: 'text/x-csrc', theme: 'ferry', lineNumbers: true, gutters: ['CodeMirror-linenumbers', 'mistakes'],
    indentUnit: TAB, tabSize: TAB, lineWrapping: true, matchBrackets: true, autoCloseBrackets: true,
    inputStyle: 'contenteditable', // screen readers and phones see the text; all of it is in the document:
    viewportMargin: 400, screenReaderLabel: area.getAttribute('aria-label'),
    hintOptions: { hint: complete, completeSingle: false, alignWithWord: true },
  });
  const input = cm.getInputField();
  for (const name of ['id', 'aria-describedby']) input.setAttribute(name, area.getAttribute(name));
  input.setAttribute('role', 'textbox');
  input.setAttribute('aria-multiline', 'true');
  cm.addOverlay({ token: callToken });
  host.addEventListener('beforeinput', (event) => several(cm, event), true);
  cm.on('renderLine', (_, { text }, node) => hang(node, Editor.countColumn(text, null, TAB)));
  cm.refresh();
  keys(cm);
  cm.on('changes', changed);
  cm.on('inputRead', (_, { text }) => /[\w]/.test(text[0]) && /\bfy_\w*$/.test(before(cm)) && cm.showHint());
  new ResizeObserver(() => cm.refresh()).observe(host);
  let marked = [];

  /** The lines of `notes`, [{line, words}], are marked; no others are. */
  function mark(notes) {
    cm.operation(() => {
      cm.clearGutter('mistakes');
      for (const handle of marked) cm.removeLineClass(handle, 'wrap', 'wrong');
      marked = notes.map(({ line }) => cm.addLineClass(line - 1, 'wrap', 'wrong')).filter(Boolean);
      for (const { line, words } of notes) cm.setGutterMarker(line - 1, 'mistakes', sign(words));
    });
  }

  return {
    get text() { return cm.getValue(); },
    set text(text) {
      const at = cm.getCursor();
      cm.setValue(text);
      cm.setCursor(at, undefined, { scroll: false });
    },
    /** Another file: what was undone in the last one is not undone here. */
    forget: () => cm.clearHistory(),
    get seen() { return host.clientHeight > 0; },
    focus: () => cm.focus(),
    /** Puts the caret on a line, or selects it, with a few lines above it in sight. */
    caret(line, whole) {
      const length = cm.getLine(line - 1)?.length ?? 0;
      cm.setSelection({ line: line - 1, ch: 0 }, { line: line - 1, ch: whole ? length : 0 }, { scroll: false });
      cm.scrollTo(0, cm.heightAtLine(Math.max(0, line - 4), 'local'));
    },
    reveal: (line) => cm.scrollIntoView({ line: line - 1, ch: 0 }, 60),
    mark,
    invalid: (is) => input.setAttribute('aria-invalid', is),
  };
}

// Several lines in one input, as of dictation: CodeMirror would find lines in the page that it did not make.
function several(cm, event) {
  if (event.inputType !== 'insertText' || !event.data?.includes('\n')) return;
  event.preventDefault();
  event.stopPropagation();
  cm.replaceSelection(event.data);
}

const before = (cm) => cm.getLine(cm.getCursor().line).slice(0, cm.getCursor().ch);

// What a narrow field wraps goes on deeper than its line begins.
function hang(node, indent) {
  const hung = `min(${indent + TAB}ch, var(--hang))`;
  node.style.textIndent = `calc(-1 * ${hung})`;
  node.style.paddingLeft = `calc(4px + ${hung})`; // 4px: CodeMirror's own
}

function callToken(stream) {
  if (stream.match(/^fy_\w+(?=\s*\()/)) return 'call';
  stream.match(/^\w+/) || stream.next();
  return null;
}

const sign = (words) => Object.assign(document.createElement('span'), { className: 'sign', textContent: '●', title: words });

// After Escape, Tab leaves the field as it leaves any other; Shift-Tab always does.
function keys(cm) {
  let leaving = false;
  cm.setOption('extraKeys', {
    Tab: () => cm.execCommand(cm.somethingSelected() ? 'indentMore' : 'insertSoftTab'),
    'Ctrl-Space': () => cm.showHint(),
    'Ctrl-/': () => cm.toggleComment(),
  });
  cm.on('keydown', (_, event) => {
    if (event.key === 'Tab') event.codemirrorIgnore = leaving || event.shiftKey;
    else if (event.key !== 'Shift') leaving = event.key === 'Escape';
  });
}

// What begins like the word at the caret, with what it does.
function complete(cm) {
  const { line, ch } = cm.getCursor();
  const [word] = /\w*$/.exec(before(cm));
  const list = names.filter(([name]) => name.startsWith(word)).map(([name, form, words]) => ({ text: name, render: (node) => entry(node, form, words) }));
  if (list.length === 1 && list[0].text === word) list.pop();
  return { list, from: { line, ch: ch - word.length }, to: { line, ch } };
}

function entry(node, form, words) {
  const code = Object.assign(document.createElement('code'), { textContent: form });
  node.append(code, Object.assign(document.createElement('span'), { textContent: words }));
}

// ---- without it ---------------------------------------------------------------------------------------

/** The text area itself. area: in the page; changed(): the text changed. Lines count from 1. */
export function plain(area, changed) {
  const lines = () => area.value.split('\n');
  const start = (line) => lines().slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  const reveal = (line) => { area.scrollTop = Math.max(0, line - 4) * (area.scrollHeight / lines().length); };
  area.addEventListener('input', changed);
  return {
    get text() { return area.value; },
    set text(text) { area.value = text; },
    forget() {},
    get seen() { return area.clientHeight > 0; },
    focus: () => area.focus(),
    caret(line, whole) {
      area.setSelectionRange(start(line), start(line) + (whole ? (lines()[line - 1] ?? '').length : 0));
      reveal(line);
    },
    reveal,
    mark() {},
    invalid: (is) => area.setAttribute('aria-invalid', is),
  };
}
