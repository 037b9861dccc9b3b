// saved_run.js: the run that an exported page carries in itself (viewer/export/page_file.c), sent to the page as net.js
// sends those of a server. Lines are read piece by piece, so that the page is there before a long run is.

const pieces = () => [...document.querySelectorAll('script.saved-lines')];

/** Does this page carry a run? */
export const carriesRun = () => !!document.getElementById('saved-run');

/** Its findings, as a server would send them; null: it has none. Only a server can try what would have cost less. */
export function savedFindings() {
  const node = document.getElementById('saved-findings');
  if (!node) return null;
  const found = JSON.parse(node.textContent);
  const tried = found.findings.some((one) => one.try) ? 'ferry view has a button that tries what would have cost less' : '';
  return { ...found, findings: found.findings.map((one) => ({ ...one, try: undefined })), note: [found.note, tried].filter(Boolean).join('; ') };
}

/** on: as in net.js. Returns {watch}: nothing is asked for. */
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
  return { watch() {} };
}
