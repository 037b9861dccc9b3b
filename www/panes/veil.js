// veil.js: lies over the picture of an earlier build, and says what became of the present one.

const $ = (id) => document.getElementById(id);

/** words: what became of it; '': the picture is of what is shown. */
export function veil(words) {
  $('veil').hidden = !words;
  $('veil-words').textContent = words;
  document.body.toggleAttribute('data-veiled', !!words);
}

$('lift').addEventListener('click', () => veil(''));
