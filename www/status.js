// status.js: the two badges of the header: whose times these are, and whether the picture is live.

/** "Simulated GPU — times are modelled", always visible, from the session event. */
export function badge(node, state) {
  const card = state.devices.find((d) => d.name !== 'cpu');
  const measured = state.session?.clock === 'measured';
  const times = measured ? 'times are measured' : 'times are modelled';
  const words = !card ? `No GPU — ${times}` : card.kind === 'sim' ? `Simulated GPU — ${times}` : `${card.card || card.name} — ${times}`;
  if (node.textContent === words) return;
  node.textContent = words;
  node.dataset.clock = measured ? 'measured' : 'model';
  node.title = card?.kind === 'sim' ? `${card.card}${card.why ? `; no real card is used: ${card.why}` : ''}` : words;
}

/** Live, playing, paused, finished, killed; or the server is gone. */
export function live(node, { position, run, link }) {
  const [state, words] = say(position, run, link);
  if (node.dataset.state !== state) node.dataset.state = state;
  if (node.textContent !== words) node.textContent = words;
}

function say(position, run, link) {
  if (link !== 'open' && !run.ended) return ['gone', 'Server gone'];
  if (position.playing && !run.ended && position.atEnd) return ['live', 'Live'];
  if (position.playing) return ['playing', run.ended ? 'Playing' : 'Playing · live'];
  if (!run.ended) return ['paused', 'Paused · live goes on'];
  if (position.atEnd) return run.killed ? ['killed', 'Killed'] : ['ended', 'Finished'];
  return ['paused', 'Paused'];
}
