// deep_link.js: the part of the URL behind #: which lesson, run and step (or time of the clock) the page shows. It follows
// the page without entries in the browser's history, and a page that is opened with it, or reloaded, goes there.

const LATER = 300; // ms of rest before the URL follows: browsers limit how often it may change

const FIELDS = { lesson: (v) => v, run: number, step: number, t: (v) => (/^\d+$/.test(v) ? Number(v) : NaN), picture: (v) => (v === 'svg' || v === 'png' ? v : NaN) };

function number(text) {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : NaN;
}

/** "#lesson=01-where-am-i&run=2&step=12" -> {lesson, run, step, wrong}; wrong: what is no number. t: ns, by clock; picture: svg
 *  or png, of an exported page (runs/picture.js). */
export function readLink(hash) {
  const link = { wrong: [] };
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ''))) {
    if (!Object.hasOwn(FIELDS, key)) continue;
    const read = FIELDS[key](value);
    if (Number.isNaN(read)) link.wrong.push(`${key}=${value}`);
    else link[key] = read;
  }
  return link;
}

/** The same back. Of a run that is not the server's (a negative number) the link says nothing. */
export function writeLink({ lesson, run, step, t }) {
  const parts = new URLSearchParams();
  if (lesson) parts.set('lesson', lesson);
  if (run > 0) parts.set('run', run);
  if (t !== undefined) parts.set('t', Math.round(t));
  else if (step > 0) parts.set('step', step);
  return parts.size ? `#${parts}` : '';
}

/**
 * The link of this page. on: {go(link): the reader changed the URL by hand}. `asked`: what the page was opened with, until
 * taken; show(place): the page rests there.
 */
export function deepLink(on) {
  let shown = '';
  let later = 0;
  let place = null;

  function show(now) {
    place = now;
    later ||= setTimeout(write, LATER);
  }

  function write() {
    later = 0;
    const wanted = writeLink(place);
    if (wanted === shown) return;
    shown = wanted;
    try {
      history.replaceState(null, '', location.pathname + location.search + wanted);
    } catch {} // too often, or a page without an address: the link stays behind
  }

  // By now the page may have written where it is: what was asked for is in the event.
  window.addEventListener('hashchange', ({ newURL }) => {
    const { hash } = new URL(newURL);
    if (hash === shown || /[#&]token=/.test(hash)) return;
    shown = hash;
    on.go(readLink(hash));
  });

  return { asked: readLink(location.hash), show };
}
