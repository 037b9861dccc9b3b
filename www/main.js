// main.js: wires all modules. Events from net.js are added to their run; clock.js selects the current
// step; the views are updated when it changes.

import { announcer } from './panes/announcer.js';
import { clock } from './stage/clock.js';
import { costs } from './cost/cost.js';
import { editor } from './lessons/editor.js';
import { ledger } from './panes/ledger.js';
import { lanesView } from './stage/lanes_view.js';
import { lessons } from './lessons/lessons.js';
import { letters } from './panes/letters.js';
import { api as ask, connect, takeToken } from './net.js';
import { panes } from './panes/panes.js';
import { run as makeRun, title } from './model/run.js';
import { instant } from './model/instant.js';
import { summaryWords } from './model/cost_words.js';
import { lostWords } from './model/reach.js';
import { momentSentence } from './model/moment.js';
import { actions, waitIn } from './model/step_actions.js';
import { sourcePane } from './panes/source.js';
import { stage } from './stage/stage.js';
import { storagesOf } from './stage/lanes.js';
import { badge, behind, folder, live } from './panes/status.js';
import { duration } from './model/steps.js';
import { eventTable } from './panes/table.js';
import { transport } from './panes/transport.js';
import { verdict } from './lessons/verdict.js';
import { sentence, stepSentence } from './model/words.js';

const FIRST_MOVE = 1200; // ms: the first copy starts within this time

const $ = (id) => document.getElementById(id);
const token = takeToken();
const api = ask(token);

const runs = new Map(); // number -> run
let shown = null; // the selected run
let drawn = { run: null, step: -1, to: -1 }; // what the panes show
let mode = '';
let why = ''; // why no real card is used, from the server
let link = 'connecting';
let chosen = null; // the slice of the lanes that was chosen, until another moment is shown: {run, seq, t, step, storages}
let scene = { waits: 0, line: 0, sentence: '', wrong: false }; // of the step shown

const views = {
  stage: stage(() => time.poke()),
  lanes: lanesView({ choose, seek: (t) => seek(t), poke: () => time.poke() }),
  source: sourcePane($('lines'), $('source-title'), (line) => jumpToLine(line)),
  ledger: ledger($('figures'), $('clock-words')),
  table: eventTable($('rows'), $('rows-more'), (seq) => jump(seq)),
  cost: costs(api, { runs: () => [...runs.values()], go: jump, choose: (seq, t) => choose(seq, t), poke: () => time.poke(), failed: (error) => notice(error.message, 'bad') }),
  verdict: verdict({ event: (seq) => jump(seq), line: (n) => showLine(n) }),
};
const pane = panes(() => refresh());

const time = clock({
  count: () => shown?.steps.length ?? 0,
  duration(i) {
    if (!shown) return 1;
    const ms = duration(shown.steps[i] ?? {});
    return shown.firstCopy > i ? Math.min(ms, FIRST_MOVE / shown.firstCopy) : ms;
  },
  span: (i) => shown?.span(i) ?? [0, 0],
  timeIn: (i, m) => shown?.timeIn(i, m) ?? 0,
  stepAt: (t) => shown?.stepAt(t) ?? 0,
  after: (t, part) => views.lanes.after(t, part),
  changed: frame,
});

letters();
const tell = announcer($('told'));
const controls = transport(time, () => shown, pane, () => byHand());

// ---- showing --------------------------------------------------------------------------------------

function frame(position) {
  if (!shown?.steps.length) return;
  const step = shown.steps[position.step];
  const state = shown.at(step.to);
  if (chosen && !isChosen(position)) chosen = null;
  const told = chosen ? shown.steps[shown.stepOf(chosen.seq)] : step;
  if (views.stage.measure() || drawn.run !== shown || drawn.step !== position.step || drawn.to !== step.to || drawn.told !== told) {
    arrange(state, step, position.step, told);
  }
  const { t } = position;
  const now = instant(shown, t, position.by === 'step' ? step.to : Infinity);
  const hidden = shown.what === 'demo' && !!course?.guessing;
  views.ledger.show(now, state.session, hidden);
  views.cost.show(shown, position, hidden);
  const words = chosen || position.by === 'step' ? scene.sentence : momentSentence(shown, now);
  say(words, position, step.kind === 'error' || scene.wrong);
  tell.show(position, words, () => summaryWords(position, shown, now, hidden));
  views.stage.paint({
    now, by: position.by, names: shown.names.at(step.to), actions: actions(shown, step, t, state), m: position.m, line: scene.line, t,
    waited: waitIn(shown.events, { from: step.from, to: Math.min(step.to, now.seq) }), from: step.from, to: step.to, lit: chosen?.storages,
  });
  views.lanes.show(shown, { t, by: position.by, from: told.from, to: told.to, line: position.playing ? '' : `${told.file}:${told.line}`, chosen, touched: views.stage.focused() });
  controls.show(position, shown);
  live($('live'), { position, run: shown, link });
  if (position.atEnd && shown.ended && shown.what === 'demo') watched(state);
}

// The sentence, in a box of its own height: one that is too long for it can be scrolled by keyboard, too.
function say(words, { playing }, wrong) {
  const node = $('say');
  if (node.textContent !== words) node.textContent = words;
  node.toggleAttribute('data-wrong', wrong);
  if (!playing) node.tabIndex = node.scrollHeight > node.clientHeight ? 0 : -1;
}

// A new step: updates the layout, the highlighted line and the sentence; those of `told`, the step of what was chosen.
function arrange(state, step, index, told) {
  const line = told.line || (state.site?.line ?? 0);
  const does = actions(shown, step, time.position.t, state);
  const wrong = told === step ? does.find((a) => a.mistake)?.mistake : null;
  const lost = shown.lostIn(state);
  const leaked = told.kind === 'end' ? lostWords(lost) : '';
  const words = [stepSentence(shown.events, told, shown.names), ...(wrong?.more ?? []), leaked].filter(Boolean).join(' ');
  scene = { waits: waitIn(shown.events, step), line: step.line || line, sentence: words, wrong: Boolean(wrong) };
  views.stage.arrange(state, shown.addresses, does, lost);
  views.source.show(state, { file: told.file || state.site?.file || '', line, held: told === step && scene.waits > 0, wrong });
  badge($('badge'), state, why);
  if (pane.table) views.table.show(shown.events, shown.names, told);
  if (mode === 'view' && state.checks.length) showLoggedVerdict(state);
  drawn = { run: shown, step: index, to: step.to, told };
}

function refresh() {
  drawn.step = -1;
  views.table.reset();
  time.poke();
}

function showLoggedVerdict(state) {
  const pass = state.grade?.pass ?? state.checks.every((c) => c.pass);
  views.verdict.graded({ pass, message: state.grade?.message, checks: state.checks, seed: state.session?.seed }, lineOf);
}

const lineOf = (seq) => shown?.events[seq]?.line ?? null;

function jump(seq) {
  if (!shown || seq >= shown.events.length) return;
  pane.show('watch');
  time.go(shown.stepOf(seq), true);
}

const byHand = () => shown?.what === 'demo' && course?.stepped();

// A slice of the lanes: shows its step, or its beginning, and lights its line, boxes and row.
function choose(seq, t) {
  const step = shown.stepOf(seq);
  chosen = { run: shown, seq, t, step, storages: storagesOf(shown.events[seq]) };
  if (time.position.by === 'clock') time.seek(t);
  else time.go(step, true);
  byHand();
}

const isChosen = (position) => chosen.run === shown && !position.playing && (position.by === 'clock' ? position.t === chosen.t : position.step === chosen.step);

// A time on the axis: by step, the step at that time, finished.
function seek(t) {
  if (time.position.by === 'clock') time.seek(t);
  else time.go(shown.stepAt(t));
  byHand();
}

function jumpToLine(line) {
  const i = shown?.steps.findIndex((s) => s.line === line) ?? -1;
  if (i >= 0) time.go(i, true);
}

// A line of the learner's file: in the editor, or in the run where there is none.
function showLine(line) {
  if (mode === 'lessons' && shown?.what !== 'demo') {
    pane.show('watch');
    pane.program('editor');
    write.goTo(line);
  } else jumpToLine(line);
}

function select(run, play) {
  shown = run;
  $('runs').value = run.number;
  showOutput();
  time.follow(!run.ended);
  views.table.reset();
  time.by(run.overlaps ? 'clock' : 'step');
  if (play) time.restart();
  else time.poke();
}

// An example's output is shown after its end: it may contain the answer to the question.
function showOutput() {
  $('printed').hidden = !shown?.output || (shown.what === 'demo' && !shown.watched);
  $('printed').dataset.what = shown?.what ?? '';
  $('output').textContent = shown?.output ?? '';
}

// A crash may have logged an error event; a kill logs nothing.
function killed(run) {
  const crash = run.events.findLast((e) => e?.kind === 'error' && (e.code === 'crash' || e.code === 'device_pointer'));
  return `The program ${crash ? 'crashed' : 'crashed or was killed'}. The log holds everything until then.`;
}
const OVER = 'The program and its server have ended. You can still use this page.';

const died = (run) => run.killed && run.what !== 'demo';

let unsettled = ''; // a conflict that the learner has to resolve; shown whenever there is no other notice

function notice(words, kind = '') {
  $('notice').textContent = words || unsettled;
  $('notice').dataset.kind = kind;
  $('notice').hidden = !$('notice').textContent;
}

// Two saved files: `ferry view A B`.
const pair = (head) => mode === 'view' && head.runs?.length === 2 && head.runs.every((run) => run.what === 'view');

// ---- runs and their events --------------------------------------------------------------------------

function addRun(info) {
  if (runs.has(info.run)) return runs.get(info.run);
  const run = makeRun(info);
  runs.set(info.run, run);
  const option = Object.assign(document.createElement('option'), { value: info.run, textContent: title(run) });
  $('runs').append(option);
  return run;
}

$('runs').addEventListener('change', () => {
  const run = runs.get(Number($('runs').value));
  if (!run) return;
  select(run, true);
  wire.watch(run.number);
});

const on = {
  hello(head) {
    document.body.dataset.mode = mode = head.mode;
    why = typeof head.why === 'string' ? head.why : '';
    folder($('folder'), head);
    for (const info of head.runs ?? []) addRun(info);
    if (pair(head)) head.current = head.runs[0].run; // of two files the first, beside the second
    const run = runs.get(head.current);
    if (run && run !== shown) select(run, true);
    if (mode === 'lessons' && !course) begin(!run);
  },

  run(head) {
    notice('');
    if (head.what !== 'mine') views.verdict.hide();
    select(addRun(head), true);
  },

  events(head, events) {
    const run = runs.get(head.run) ?? addRun(head);
    const before = run.overlaps;
    if (!run.take(head.from, events)) wire.watch(run.number);
    if (run === shown && run.overlaps && !before) time.by('clock');
    if (run === shown) time.poke();
    else if (!shown) select(run, true);
    wire.ack(run.number, run.events.length - 1);
  },

  ended(head) {
    const run = runs.get(head.run);
    if (!run) return;
    run.ended = true;
    if (run !== shown) return;
    time.follow(false);
    if (died(run)) notice(killed(run), 'bad');
    if (pair({ runs: [...runs.values()] }) && !run.asked) views.cost.compare(run, [...runs.values()][1]);
    time.poke();
  },

  status(head) {
    printed(head);
    if (course?.open && head.lesson && head.lesson !== course.open.id) return elsewhere(head);
    if (head.state === 'compiling') views.verdict.busy('Building your program …');
    else if (head.state === 'running') views.verdict.busy('Running your program …');
    else if (head.state === 'error') failed(head);
    else if (head.state === 'done' && head.verdict) graded(head);
    if (head.state === 'compiling') reload();
    return undefined;
  },

  link(state) {
    const before = link;
    link = state;
    if (state === 'open' && before !== 'open') notice('');
    if (state === 'lost') {
      if (mode === 'view' && shown && died(shown)) notice(killed(shown), 'bad');
      else notice(mode === 'view' && shown?.ended ? OVER : 'The server does not answer; reconnecting. You can still use this page.');
    }
    if (state === 'replaced' && token) notice('Another Ferry run uses this address now: open the URL that it printed. You can still use this page.');
    else if (state === 'replaced' || state === 'refused') {
      notice(token ? 'No connection. Open the URL that the terminal printed last; this one may be from an earlier start.'
        : 'This page needs the full URL that the terminal printed, with #token= at its end.', 'bad');
    }
    time.poke();
  },
};

// An example was played to its end.
function watched(state) {
  course?.watched(state.ledger);
  if (shown.watched) return;
  shown.watched = true;
  showOutput();
}

// The program's output arrives when it has ended.
function printed(head) {
  const run = runs.get(head.run);
  const words = head.output ?? head.verdict?.output;
  if (!run || typeof words !== 'string') return;
  run.output = words;
  showOutput();
}

// Another lesson's file was saved in another editor: opens that lesson.
function elsewhere(head) {
  if (head.state === 'compiling' && !write.isDirty()) course.attempt(() => course.choose(head.lesson, false));
}

function failed(head) {
  write.mistake(head.line ? head : null);
  views.verdict.broken(head);
}

function graded(head) {
  write.mistake(null);
  views.verdict.graded(head.verdict, lineOf);
  course?.graded(head.verdict.pass);
}

// The file may have been saved in another editor: reloads it.
function reload() {
  const id = course?.open?.id;
  if (id) api.get(`/api/lessons/${id}`).then((l) => course.open.id === id && write.update(l.source ?? ''), () => {});
}

// ---- lessons ------------------------------------------------------------------------------------------

let course = null;
const write = editor(api, {
  saved: () => notice(''),
  clash(path) {
    unsettled = path && `${path} has changed on disk while “Your file” has unsaved text. Choose under “Your file” which version to keep.`;
    notice('');
  },
  failed: (error) => notice(error.message, 'bad'),
});

/** Opens the first lesson that is not done; with `play`, plays its example. */
async function begin(play) {
  course = lessons(api, {
    opened(lesson) {
      write.show(lesson);
      views.cost.lesson($('lesson-text'));
      views.verdict.hide();
    },
    ran(what, stay) {
      if (!stay) pane.show('watch');
      if (what === 'demo') pane.program('source');
    },
    unsaved: () => write.isDirty(),
    save: () => write.save(),
    guessed: () => shown && time.restart(),
    known: refresh,
    failed: (error) => notice(error.message, 'bad'),
  });
  await course.attempt(async () => {
    const all = await course.load();
    const current = shown?.lesson && all.some((l) => l.id === shown.lesson) ? shown.lesson : null;
    const first = current ?? (all.find((l) => !l.done) ?? all[0])?.id;
    if (first) await course.choose(first, play);
  });
}

controls.keys({
  save: () => mode === 'lessons' && write.save(),
  edit: () => mode === 'lessons' && pane.program('editor', true),
});

$('badge').addEventListener('click', () => {
  if (!shown?.events.length) return;
  const { words, figures } = behind(shown.at(window.ferry.seq), why);
  const pair = ([name, value]) => ['dt', 'dd'].map((tag, i) => Object.assign(document.createElement(tag), { textContent: [name, value][i] }));
  $('times-words').textContent = words;
  $('times-figures').replaceChildren(...figures.flatMap(pair));
  $('times').showModal();
});

const wire = connect(token, on, (number) => runs.get(number)?.events.length ?? 0);

const resized = new ResizeObserver(() => time.poke());
for (const id of ['stage', 'lanes']) resized.observe($(id));
for (const query of ['(prefers-color-scheme: dark)', '(prefers-contrast: more)']) {
  matchMedia(query).addEventListener('change', () => {
    views.stage.repaint();
    views.lanes.repaint();
    views.cost.repaint();
    time.poke();
  });
}
const calm = matchMedia('(prefers-reduced-motion: reduce)');
calm.addEventListener('change', () => time.reduced(calm.matches));
time.reduced(calm.matches);

/* For tests. */
window.ferry = {
  get idle() {
    return !!shown?.steps.length && drawn.run === shown && time.settled && views.stage.settled && views.lanes.settled;
  },
  get seq() {
    return shown?.steps[time.position.step]?.to ?? -1;
  },
  get position() {
    return time.position;
  },
  get events() {
    return shown?.events ?? [];
  },
  state: () => shown?.at(window.ferry.seq) ?? null,
  boxes: () => views.stage.boxes(),
  slices: () => views.lanes.seen(),
  view: () => views.lanes.view,
  double: () => views.cost.seen(),
  works: () => actions(shown, shown.steps[time.position.step], time.position.t, window.ferry.state()).filter((a) => a.phase),
  go: (seq) => shown && time.go(shown.stepOf(seq)),
  seek(t) {
    time.by('clock');
    time.seek(t);
  },
  sentence: (seq) => sentence(shown.events[seq], shown.names),
};
