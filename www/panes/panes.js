// panes.js: which pane is visible: on a narrow page the lesson, the picture, the code or what it cost; on a wide one, in the column at the left, the
// lesson or the program; in the program's pane the run's source or the learner's file; on the stage the picture or the
// event table.

const $ = (id) => document.getElementById(id);
const PANES = ['learn', 'watch', 'code', 'results']; // of a narrow page

/** changed(): called when the picture needs a new layout. */
export function panes(changed) {
  let table = false;

  function tabs(pairs, chosen) {
    for (const id of pairs) $(id).setAttribute('aria-selected', id === chosen);
    for (const id of pairs) $(id).tabIndex = id === chosen ? 0 : -1;
  }

  function show(which) {
    document.body.dataset.pane = which;
    tabs(PANES.map((one) => `tab-${one}`), `tab-${which}`);
    changed();
  }

  function program(which, focus = false) {
    tabs(['tab-source', 'tab-editor'], `tab-${which}`);
    $('source').hidden = which !== 'source';
    $('editor').hidden = which !== 'editor';
    document.body.dataset.program = which;
    if (which === 'editor') column('code');
    if (focus) {
      show('code');
      $('code').focus();
    }
  }

  // The program beside the stage, in the lesson's place, or under it (style.css).
  function column(which) {
    if (document.body.dataset.column === which) return;
    document.body.dataset.column = which;
    changed();
  }

  function toggleTable() {
    table = !table;
    $('events').hidden = !table;
    $('stage').hidden = table;
    $('as-table').setAttribute('aria-pressed', table);
    $('as-table').textContent = table ? 'Picture' : 'Table';
    changed();
  }

  // Arrow keys move between tabs, as ARIA recommends.
  function arrows(list) {
    list.addEventListener('keydown', (event) => {
      if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
      event.stopPropagation();
      const all = [...list.querySelectorAll('[role="tab"]')].filter((t) => t.offsetParent);
      const next = all[(all.indexOf(document.activeElement) + 1) % all.length];
      next?.focus();
      next?.click();
    });
  }

  for (const which of PANES) $(`tab-${which}`).addEventListener('click', () => show(which));
  $('tab-source').addEventListener('click', () => program('source'));
  $('tab-editor').addEventListener('click', () => program('editor'));
  $('unfold').addEventListener('click', () => column('lesson'));
  $('as-table').addEventListener('click', toggleTable);
  document.querySelectorAll('[role="tablist"]').forEach(arrows);
  program('source');
  tabs(PANES.map((one) => `tab-${one}`), 'tab-watch');

  return {
    show,
    program,
    column,
    toggleTable,
    get editing() {
      return !$('editor').hidden;
    },
    get table() {
      return table;
    },
  };
}
