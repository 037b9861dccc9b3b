// letters.js: keys that are one letter, digit or sign can be turned off (WCAG 2.1.4): who speaks to the computer, or types
// by accident, else sets off one after the other. While they are off they reach no handler of the page, whoever
// listens; what is typed into a field still does. The choice is kept in this browser.

const KEPT = 'ferry.letters';
const OFF = 'They are off. Use the keys in the column “Keyboard”.';

const $ = (id) => document.getElementById(id);

/** Is this a key that the setting is about? Space is none: it is no character on its own, and presses buttons. */
export function isLetter({ key, ctrlKey, metaKey, altKey }) {
  return [...(key ?? '')].length === 1 && key !== ' ' && !ctrlKey && !metaKey && !altKey;
}

const TYPED = 'textarea, select, [contenteditable], input:not([type="range"], [type="radio"], [type="checkbox"])';

/** Puts the setting into the list of keys, and keeps it. */
export function letters() {
  let on = kept() !== 'off';

  // The first listener of all: before those of the page, of its parts and of its fields.
  window.addEventListener('keydown', (event) => {
    if (!on && isLetter(event) && !event.target.closest?.(TYPED)) event.stopImmediatePropagation();
  }, { capture: true });

  function show() {
    $('letters').checked = on;
    $('letters-words').textContent = on ? '' : OFF;
    document.body.toggleAttribute('data-no-letters', !on); // style.css strikes them in the list
    $('find').placeholder = on ? 'Find  /' : 'Find';
  }

  $('letters').addEventListener('change', () => {
    on = $('letters').checked;
    keep(on ? 'on' : 'off');
    show();
  });
  show();
}

// A browser may forbid a page to keep anything.
function kept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

function keep(value) {
  try {
    localStorage.setItem(KEPT, value);
  } catch {} // it holds until the page is closed
}
