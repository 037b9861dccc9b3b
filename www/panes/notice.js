// notice.js: the line over the page: what its reader must know now. What stands is said whenever there is nothing newer.

const $ = (id) => document.getElementById(id);

// conflict: one that the learner has to resolve; link: what a link asked for and is not here, until the reader chose
// something else.
const standing = { conflict: '', link: '' };

/** words: '' for what stands; kind: 'bad' for an error. */
export function notice(words, kind = '') {
  $('notice').textContent = words || standing.conflict || standing.link;
  $('notice').dataset.kind = kind;
  $('notice').hidden = !$('notice').textContent;
}

/** From now on these words stand; '': none do. */
export function stand(what, words) {
  standing[what] = words;
}

export const stands = (what) => standing[what] !== '';

/** What is said of a connection that is not open (net.js); over: the program has ended; token: is there one. */
export function connectionNotice(state, { over, token }) {
  if (state === 'lost') {
    notice(over ? 'The program and its server have ended. You can still use this page.'
      : 'The server does not answer; reconnecting. You can still use this page.');
  } else if (state === 'replaced' && token) {
    notice('Another Ferry run uses this address now: open the URL that it printed. You can still use this page.');
  } else {
    notice(token ? 'No connection. Open the URL that the terminal printed last; this one may be from an earlier start.'
      : 'This page needs the full URL that the terminal printed, with #token= at its end.', 'bad');
  }
}
