// transport.js: playback controls and keyboard shortcuts.

import * as units from '../model/units.js';
import { stoppedWords } from './status.js';

const $ = (id) => document.getElementById(id);

const PLAY = 'M4 2.5v11l9-5.5z';
const PAUSE = 'M4 3h3v10H4zM9 3h3v10H9z';

const TICKS = 1000; // of the slider, by clock

/** time: the clock; current(): the selected run. on: {byHand(): the learner chose a step; line(step, move): that of another line}. */
export function transport(time, current, pane, { byHand, line: choose }) {
  function go(part, move) {
    time.go(part, move);
    byHand();
  }

  const shownStep = () => current()?.parts[time.position.part]?.step ?? 0;

  function goTo(i, move) {
    const steps = current()?.steps ?? [];
    const step = steps[Math.max(0, Math.min(steps.length - 1, i))];
    if (!step) return;
    time.goThrough(step.parts, move);
    byHand();
  }

  function seek(t) {
    time.seek(t);
    byHand();
  }

  const step = (by) => goTo(shownStep() + by, by > 0);
  const part = (by) => go(time.position.part + by, by > 0);
  const toggle = () => (time.position.playing ? time.pause() : time.play());

  // To the nearest step of a different line.
  function line(by) {
    const steps = current()?.steps ?? [];
    let i = shownStep();
    const from = steps[i]?.line;
    while (steps[i + by] && (steps[i].line === from || !steps[i].line)) i += by;
    choose(i, by > 0);
    byHand();
  }

  $('back').addEventListener('click', () => step(-1));
  $('forward').addEventListener('click', () => step(1));
  $('play').addEventListener('click', toggle);
  $('scrub').addEventListener('input', () => {
    const value = Number($('scrub').value);
    if (time.position.by === 'clock') seek((value / TICKS) * (current()?.total ?? 0));
    else go(value);
  });
  for (const way of ['step', 'clock']) $(`by-${way}`).addEventListener('change', () => time.by(way));
  $('speed').addEventListener('change', () => time.speed(Number($('speed').value)));
  $('help').addEventListener('click', () => $('keys').showModal());
  $('explain').addEventListener('click', () => $('legend').showModal());

  const write = (node, key, value) => node[key] !== value && (node[key] = value);

  /** Shows the clock's position. The DOM is written only on change. */
  function show(position, run) {
    const last = Math.max(0, run.parts.length - 1);
    const byClock = position.by === 'clock';
    const failed = run.stopped >= 0 && run.parts[position.part]?.to >= run.stopped;
    const where = byClock ? units.time(Math.round(position.t)) : placeWords(run, position);
    $('where').classList.toggle('failed', failed);
    $('where').classList.toggle('parted', run.parts.length > run.steps.length);
    write($(`by-${position.by}`), 'checked', true);
    write($('scrub'), 'max', String(byClock ? TICKS : last));
    write($('scrub'), 'value', String(byClock ? Math.round((position.t / run.total) * TICKS) : position.part));
    write($('scrub'), 'ariaValueText', where + (failed ? `: ${stoppedWords(run)}` : ''));
    write($('where'), 'textContent', where);
    $('where').dataset.brief = where.replace('step ', '').replace(', part ', ' · ').replaceAll(' of ', ' / '); // where there is little room
    const shape = position.playing ? PAUSE : PLAY;
    if ($('play-shape').getAttribute('d') !== shape) {
      $('play-shape').setAttribute('d', shape);
      $('play').setAttribute('aria-label', position.playing ? 'Pause' : 'Play');
    }
    write($('back'), 'disabled', position.part === 0);
    write($('forward'), 'disabled', position.part >= last);
  }

  const busy = (target) => target.closest?.('input:not([type="range"]), textarea, select, dialog[open], [contenteditable]');

  /** on: {save(), edit(), present(), leave() -> did it leave the presenter's view?}. */
  function keys(on) {
    document.addEventListener('keydown', (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 's') {
        event.preventDefault();
        on.save();
        return;
      }
      if (busy(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      const act = action(event, on);
      if (!act) return;
      event.preventDefault();
      act();
    });
  }

  function action(event, on) {
    const { key, shiftKey, target } = event;
    if (key === 'ArrowRight') return shiftKey ? () => line(1) : () => step(1);
    if (key === 'ArrowLeft') return shiftKey ? () => line(-1) : () => step(-1);
    if (key === 'Home') return () => goTo(0);
    if (key === 'End') return () => goTo(Infinity);
    if (key === ' ') return target.closest?.('button, summary, a') && !target.dataset.storage ? null : toggle;
    if (key === 'Escape') return on.leave;
    const letters = {
      '?': () => $('keys').showModal(), l: () => $('legend').showModal(), t: pane.toggleTable, e: on.edit, p: on.present,
      ',': () => part(-1), '.': () => part(1), c: () => time.by(time.position.by === 'step' ? 'clock' : 'step'),
    };
    return letters[key.toLowerCase()];
  }

  return { show, keys };
}

/** "step 12 of 40, part 3 of 9"; of a step that is shown as a whole: "step 12 of 40, 9 parts". */
export function placeWords(run, position) {
  const { step = 0 } = run.parts[position.part] ?? {};
  const [first, last] = run.steps[step]?.parts ?? [0, 0];
  const of = `step ${step + 1} of ${run.steps.length}`;
  if (first === last) return of;
  return position.whole ? `${of}, ${last - first + 1} parts` : `${of}, part ${position.part - first + 1} of ${last - first + 1}`;
}
