// saved_run.js: the run that an exported page carries in itself (viewer/export/page_file.c), sent to the page as net.js
// sends those of a server. Lines are read piece by piece, so that the page is there before a long run is.

const pieces = () => [...document.querySelectorAll('script.saved-lines')];

/** Does this page carry a run? */
export const carriesRun = () => !!document.getElementById('saved-run');

/** on: as in net.js. Returns {watch, ack}: nothing is asked for, and nobody waits. */
export function playSaved(on) {
  const { label = '' } = JSON.parse(document.getElementById('saved-run').textContent);
  const left = pieces();
  let count = 0;

  function next() {
    const piece = left.shift();
    if (piece) {
      const events = piece.textContent.split('\n').filter(Boolean).map((line) => JSON.parse(line));
      piece.remove(); // the text is not needed twice
      on.events({ run: 1, from: count }, events);
      count += events.length;
    }
    if (left.length) setTimeout(next);
    else on.ended({ run: 1, count });
  }

  setTimeout(() => {
    on.link('open');
    on.hello({ mode: 'view', runs: [{ run: 1, what: 'view', label, over: true }], current: 1 });
    next();
  });
  return { watch() {}, ack() {} };
}
