// status.js: the header: where the times come from, whether the picture is live, which folder this is.

import * as units from '../model/units.js';

/** "Simulated GPU — times are modelled", always visible, from the session event. */
export function badge(node, state, why) {
  const card = gpu(state);
  const measured = isMeasured(state);
  const times = measured ? 'times are measured' : 'times are modelled';
  const words = !card ? `No GPU — ${times}` : card.kind === 'sim' ? `Simulated GPU — ${times}` : `${card.card || card.name} — ${times}`;
  if (node.textContent !== words) node.textContent = words;
  node.dataset.brief = `${!card ? 'No GPU' : card.kind === 'sim' ? 'Simulated' : 'GPU'}, ${measured ? 'measured' : 'modelled'}`; // where there is little room
  node.dataset.clock = measured ? 'measured' : 'model';
  const title = reason(card, why) || words;
  if (node.title !== title) node.title = title;
}

/** The badge's details: {words, figures: [name, value] ...}. */
export function behind(state, why) {
  const card = gpu(state);
  const words = isMeasured(state) ? `The times were measured on ${card?.card || 'the machine that ran this'}.`
    : `These times are not measured but computed from the figures below, so they are the same on every machine. ${reason(card, why)}`;
  return { words: words.trim(), figures: Object.entries(card?.model ?? {}).map(([name, value]) => [name.replaceAll('_', ' '), figure(name, value)]) };
}

const gpu = (state) => state.devices.find((d) => d.name !== 'cpu');
const isMeasured = (state) => state.session?.clock === 'measured';

function reason(card, why) {
  const because = card?.why || why;
  if (card?.kind !== 'sim') return '';
  return `The GPU is simulated: ${card.card || card.name}${because ? `. No real card is used: ${because}` : ''}.`;
}

function figure(name, value) {
  if (!Number.isFinite(value)) return String(value);
  if (/flops/.test(name)) return `${value / 1e12} TFLOP/s`;
  if (/queue/.test(name)) return units.plural(value, 'launch', 'launches'); // a count
  if (/bandwidth|per_s/.test(name)) return `${value / 1e9} GB/s`;
  return /chunk|bytes/.test(name) ? units.bytes(value) : units.time(value);
}

/** Opening, live, playing, paused, finished, stopped by an error, killed, or disconnected. */
export function live(node, { position, run, link }) {
  const [state, words] = describe(position, run, link);
  if (node.dataset.state !== state) node.dataset.state = state;
  if (node.textContent !== words) node.textContent = words;
}

function describe(position, run, link) {
  if (link !== 'open' && !run.ended) return ['gone', 'Disconnected'];
  if (run.over && !run.ended) return ['loading', `Opening: ${units.number(run.events.length)} events`];
  if (position.playing && !run.ended && position.atEnd) return ['live', 'Live'];
  if (position.playing && position.skips) return ['live', 'Live · skips steps'];
  if (position.playing) return ['playing', run.ended ? 'Playing' : 'Playing · live'];
  if (!run.ended) return ['paused', 'Paused · run continues'];
  if (position.atEnd && run.stopped >= 0) return ['failed', stoppedWords(run)];
  if (position.atEnd && run.killed) return ['killed', 'Killed'];
  if (position.atEnd) return run.races ? ['failed', `Finished, with ${units.plural(run.races, 'data race')}`] : ['ended', 'Finished'];
  return ['paused', 'Paused'];
}

/** What ended a run that an error stopped. */
export function stoppedWords({ events, stopped }) {
  const { code, line } = events[stopped] ?? {};
  if (code === 'crash' || code === 'device_pointer') return line > 0 ? `Crashed at line ${line}` : 'Crashed';
  return `Stopped by an error${line > 0 ? ` at line ${line}` : ''}`;
}

/** The folder of this page, since several pages may be open. Long paths are shortened to their end. */
export function folder(node, { folder: path, mode }) {
  node.hidden = typeof path !== 'string' || !path;
  if (node.hidden) return;
  const end = path.split('/').filter(Boolean).slice(-2).join('/');
  node.firstElementChild.textContent = path.length > 34 && end.length < path.length - 2 ? `…/${end}` : path;
  node.title = `${mode === 'lessons' ? 'Your files are in' : 'This run is from'} ${path}`;
  document.title = `${end || path} · Ferry`;
}

/** What is said of a run that was killed. A crash may have logged an error event; a kill logs nothing. */
export function killed(run) {
  const crash = run.events.findLast((e) => e?.kind === 'error' && (e.code === 'crash' || e.code === 'device_pointer'));
  const how = !crash ? 'crashed or was killed' : crash.line > 0 ? `crashed at line ${crash.line}` : 'crashed';
  return `The program ${how}. The log holds everything until then.`;
}
