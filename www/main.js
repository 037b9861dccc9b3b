// main.js: wires all modules. Events from net.js are added to their run; clock.js selects the current
// part of a step; the views are updated when it changes.

import { announcer } from './panes/announcer.js';
import { clock } from './stage/clock.js';
import { costs } from './cost/cost.js';
import { editor } from './lessons/editor.js';
import { ledger } from './panes/ledger.js';
import { connectionNotice, notice, stand, stands } from './panes/notice.js';
import { lanesView } from './stage/lanes_view.js';
import { lessons } from './lessons/lessons.js';
import { letters } from './panes/letters.js';
import { nextBar } from './lessons/next.js';
import { api as ask, connect, tabName, takeToken } from './net.js';
import { panes } from './panes/panes.js';
import { run as makeRun, title } from './model/run.js';
import { holdOf } from './model/host.js';
import { instant } from './model/instant.js';
import { summaryWords } from './model/cost_words.js';
import { subjectOf } from './model/inspect.js';
import { inspector } from './panes/inspector.js';
import { lostWords } from './model/reach.js';
import { momentSentence, wrongAt } from './model/moment.js';
import { actions, waitIn } from './model/step_actions.js';
import { selection } from './panes/selection.js';
import { sourcePane } from './panes/source.js';
import { stage } from './stage/stage.js';
import { deepLink } from './runs/deep_link.js';
import { deliver, tellingPart } from './runs/picture.js';
import { presenter } from './runs/presenter.js';
import { carriesRun, playSaved, savedFindings } from './runs/saved_run.js';
import { saving } from './runs/saving.js';
import { visits } from './runs/visit.js';
import { badge, behind, folder, killed, live } from './panes/status.js';
import { veil } from './panes/veil.js';
import { duration } from './model/steps.js';
import { eventTable } from './panes/table.js';
import { probe } from './probe.js';
import { placeWords, transport } from './panes/transport.js';
import { verdict } from './lessons/verdict.js';
import * as units from './model/units.js';
import { stepSentence } from './model/words.js';

const FIRST_MOVE = 1200; // ms: the first copy starts within this time

const $ = (id) => document.getElementById(id);
const carried = carriesRun(); // this page is a file with a run in it
const token = carried ? '' : takeToken();
const tab = carried ? '' : tabName();
const api = ask(token, tab);
const address = deepLink({
  go(to) {
    settleLink();
    visit.go(to, shown?.number);
  },
});

const runs = new Map(); // number -> run
let shown = null; // the selected run
let drawn = { run: null, part: -1, to: -1 }; // what the panes show
let mode = '';
let why = ''; // why no real card is used, from the server
let link = 'connecting';
let arrived = 0; // events since the last picture
let scene = { waits: 0, line: 0, sentence: '', wrong: false }; // of what is shown

const views = {
  stage: stage(() => time.poke(), (subject) => inspect(subject)),
  inspector: inspector({ subject: () => subject(), go: jump, changed: () => refresh() }),
  lanes: lanesView({ choose, seek: (t) => seek(t), poke: () => time.poke(), untold: (words) => untold(words) }),
  source: sourcePane($('lines'), $('source-title'), (line) => picks.line(line)),
  ledger: ledger($('figures'), $('clock-words')),
  table: eventTable($('rows'), $('rows-more'), { jump: (seq) => jump(seq), untold: (words) => untold(words) }),
  cost: costs(api, { runs: () => [...runs.values()], served: (run) => run.number > 0 && !carried, carried: (run) => (run.number > 0 ? savedFindings() : null), go: jump, choose: (seq, t) => choose(seq, t), poke: () => time.poke(), failed: (error) => notice(error.message, 'bad') }),
  verdict: verdict({ event: (seq) => jump(seq), line: (n) => showLine(n) }),
};
const pane = panes(() => {
  refresh();
  advise();
});

const picks = selection({ run: () => shown, time: () => time, inspects: (storage) => views.inspector.lit?.has(storage) });
const present = presenter(() => refresh());
const visit = visits({
  runs, shown: () => shown,
  say(words) {
    stand('link', words);
    notice(words, 'bad');
  },
  select(run) {
    select(run, true);
    follow(run);
  },
  go(i) {
    time.by('step');
    time.goThrough(shown.steps[i].parts);
  },
  seek(t) {
    time.by('clock');
    time.seek(t);
  },
});

const time = clock({
  count: () => shown?.parts.length ?? 0,
  duration(i) {
    if (!shown) return 1;
    const ms = duration(shown.parts[i] ?? {});
    return shown.firstCopy > i ? Math.min(ms, FIRST_MOVE / shown.firstCopy) : ms;
  },
  span: (i) => (shown?.parts[i] ? shown.span(shown.parts[i]) : [0, 0]),
  timeIn: (i, m) => shown?.timeIn(i, m) ?? 0,
  partAt: (t) => shown?.partAt(t) ?? 0,
  arrived: () => arrived,
  after: (t, part) => views.lanes.after(t, part),
  changed: frame,
});

letters();
for (const type of ['focus', 'blur']) $('say').addEventListener(type, () => time.poke());
const tell = announcer($('told'));
const controls = transport(time, () => shown, pane, { byHand: () => byHand(), line: (i, move) => picks.step(i, move) });

// ---- showing --------------------------------------------------------------------------------------

function frame(position) {
  arrived = 0;
  if (!shown?.parts.length) return;
  const part = shown.parts[position.part];
  const state = position.by === 'clock' ? shown.atMoment(part.to, position.t) : shown.at(part.to);
  const chosen = picks.at(position);
  const { t } = position;
  const now = instant(shown, t, position.by === 'step' ? part.to : Infinity);
  const call = chosen ? !chosen.whole && chosen : position.by === 'clock' && holdOf(now); // by clock, the line that waits is lit
  const told = call ? shown.parts[shown.partOf(call.seq)] : position.whole ? shown.steps[part.step] : part;
  if (views.stage.measure() || drawn.run !== shown || drawn.part !== position.part || drawn.to !== part.to || drawn.ahead !== state.ahead || drawn.told !== told) {
    arrange(state, part, position.part, told, chosen);
  }
  views.inspector.at(t);
  const hidden = shown.what === 'demo' && !!course?.guessing;
  views.ledger.show(now, state.session, hidden);
  views.cost.show(shown, position, hidden, unpassed(shown));
  const words = chosen || position.by === 'step' ? scene.sentence : momentSentence(shown, now);
  say(words, position, part.kind === 'error' || scene.wrong || (position.by === 'clock' && wrongAt(shown, now) !== ''));
  tell.show(position, words, () => summaryWords({ ...position, step: part.step }, shown, now, hidden));
  views.stage.paint({
    now, by: position.by, names: shown.names.at(part.to), actions: actions(shown, part, t, state, position.by), m: position.m, line: scene.line, t,
    waited: waitIn(shown.events, { from: part.from, to: Math.min(part.to, now.seq) }), from: part.from, to: part.to, lit: chosen?.storages ?? views.inspector.lit,
  });
  views.lanes.show(shown, { t, by: position.by, from: told.from, to: told.to, line: position.playing ? '' : `${told.file}:${told.line}`, chosen, touched: views.stage.focused() || (chosen?.box ?? 0) });
  controls.show(position, shown);
  live($('live'), { position, run: shown, link });
  if (!position.playing && time.settled) address.show({ lesson: course?.open?.id, run: shown.number, step: part.step + 1, t: position.by === 'clock' ? t : undefined });
  advise();
  if (position.atEnd && shown.ended && shown.what === 'demo') watched(state);
}

// The sentence, in a box of its own height: one that is too long for it is whole while it has the focus.
function say(words, { playing }, wrong) {
  const node = $('say');
  if (node.textContent !== words) node.textContent = words;
  node.toggleAttribute('data-wrong', wrong);
  const isCut = !playing && node.scrollHeight > node.clientHeight + 1;
  if (!playing) node.tabIndex = isCut || node === document.activeElement ? 0 : -1;
  node.toggleAttribute('data-more', isCut); // it says that there is more
}

// Another part: updates the layout, the highlighted line and the sentence; those of `told`, which is what was chosen, or the whole step.
function arrange(state, part, index, told, chosen) {
  const line = told.line || (state.site?.line ?? 0);
  const does = actions(shown, part, time.position.t, state);
  const isShown = told.from <= part.from && part.to <= told.to;
  const wrong = isShown ? actions(shown, told, time.position.t, state).find((a) => a.mistake && !a.earlier)?.mistake : null;
  const lost = shown.lostIn(state);
  const leaked = told.kind === 'end' ? lostWords(lost) : '';
  const words = untold([stepSentence(shown.events, told, shown.names), ...(part.kind === 'check' ? [] : wrong?.more ?? []), leaked].filter(Boolean).join(' '));
  scene = { waits: waitIn(shown.events, told), line: shown.steps[part.step].line || line, sentence: words, wrong: Boolean(wrong) };
  views.stage.arrange(state, shown.addresses, does, lost);
  views.source.show(state, { file: told.file || state.site?.file || '', line, held: isShown ? scene.waits > 0 : !chosen, wrong, caller: told.kind === 'gradient' ? shown.steps[told.step].line : 0 });
  views.inspector.show(shown, state, (id) => ({ t: time.position.t, step: told, lost, hidden: shown.what === 'demo' && !!course?.guessing, box: views.stage.boxes().find((b) => b.storage === id) }));
  badge($('badge'), state, why);
  if (pane.table) views.table.show(shown.events, shown.names, told, shown.what === 'demo' && !!course?.guessing);
  if (mode === 'view' && state.checks.length) showLoggedVerdict(state);
  drawn = { run: shown, part: index, to: part.to, ahead: state.ahead, told };
}

// In a lesson the fix of an error is told by the verdict, to who asks for it.
const untold = (words) => (mode === 'lessons' ? words.replace(/ Fix: .*$|^ *fix: .*\n?/gm, '') : words);

// A learner's program that has not passed: what else it could have done would tell the answer.
const unpassed = (run) => mode === 'lessons' && run.what === 'mine' && !run.events.slice(-2).some((e) => e?.kind === 'grade' && e.pass);

function refresh() {
  drawn.part = -1;
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
  picks.event(seq);
}

function byHand() {
  if (stands('link')) settleLink();
  if (isExample(shown)) course.stepped();
}

// Of the lesson that is open: the one before it may still be on show, and says nothing of this one's question.
const isExample = (run) => run?.what === 'demo' && !!course?.open && run.lesson === course.open.id;

function settleLink() {
  stand('link', '');
  visit.forget();
  notice('');
}

// A slice of the lanes.
function choose(seq, t) {
  picks.slice(seq, t);
  views.inspector.follow(subjectOf(shown.events[seq]));
  byHand();
}

// A box, or a name of a tensor over it.
function inspect(subject) {
  picks.box(subject.storage);
  views.inspector.open(subject);
}

// What the inspector opens for: the box that has the focus, which is chosen then, what was chosen, or what the step shown does.
function subject() {
  const chosen = picks.at(time.position);
  const box = views.stage.focused() || chosen?.box;
  if (box) picks.box(box);
  if (box) return { storage: box, tensor: 0 };
  const { from = 0, to = -1 } = shown?.parts[time.position.part] ?? {};
  return subjectOf(shown?.events[chosen?.seq]) ?? shown?.events.slice(from, to + 1).map(subjectOf).findLast(Boolean) ?? null;
}

// A time on the axis: by step, the part at that time, finished.
function seek(t) {
  if (time.position.by === 'clock') time.seek(t);
  else time.go(shown.partAt(t));
  byHand();
}

// A line of the learner's file: in the editor, or in the run where there is none.
function showLine(line) {
  if (mode === 'lessons' && shown?.what !== 'demo') {
    pane.show('code');
    pane.program('editor');
    write.goTo(line);
  } else picks.line(line);
}

function select(run, play) {
  shown = run;
  veil('');
  if (run.what === 'demo' && (!course || course.guessing)) play = false; // a prediction comes first
  $('runs').value = run.number;
  showOutput();
  time.follow(!run.ended, mode === 'view' && !run.over);
  views.table.reset();
  time.by(run.overlaps ? 'clock' : 'step');
  if (play) time.restart();
  else time.go(0);
  advise();
}

// An example's output is shown after its end: it may contain the answer to the question.
function showOutput() {
  $('printed').hidden = !shown?.output || (shown.what === 'demo' && !shown.watched);
  $('printed').dataset.what = shown?.what ?? '';
  $('output').textContent = untold(shown?.output ?? '');
}

const died = (run) => run.killed && run.what !== 'demo';
// A server that is told to stop may not have said so any more: the program did.
const hasEnded = (run) => run?.ended || run?.events.at(-1)?.kind === 'end';

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
  settleLink();
  select(run, true);
  follow(run);
});

// Of a run that is not the server's, all events are here.
function follow(run) {
  if (run.number > 0) wire.watch(run.number);
}

// A log that was dropped on the page.
function opened(name, { events, note }) {
  const run = addRun({ run: -1 - [...runs.keys()].filter((number) => number < 0).length, what: 'file', label: name });
  run.take(0, events);
  run.ended = true;
  notice(note);
  if (!mode) document.body.dataset.mode = mode = 'view';
  visit.forget();
  select(run, true);
  if (died(run)) notice(killed(run), 'bad');
}

// Each tab is a reader of its own: it goes to the runs that it asked for, and to those of its lesson that no tab asked for.
function isMine(head) {
  if (mode !== 'lessons' || head.by) return mode !== 'lessons' || head.by === tab;
  return !course?.open || !head.lesson || head.lesson === course.open.id;
}

const on = {
  hello(head) {
    document.body.dataset.mode = mode = head.mode;
    why = typeof head.why === 'string' ? head.why : '';
    folder($('folder'), head);
    for (const info of head.runs ?? []) addRun(info);
    if (pair(head)) head.current = head.runs[0].run; // of two files the first, beside the second
    if (!shown) visit.ask(address.asked); // as the page was opened
    const run = runs.get(visit.pick(head.current));
    if (run && run !== shown) select(run, true);
    if (mode === 'lessons' && !course) begin(!run);
    return run?.number > 0 ? run.number : 0;
  },

  run(head) {
    const run = addRun(head);
    if (!isMine(head)) {
      if (shown && !shown.ended) follow(shown);
      return;
    }
    notice('');
    visit.forget();
    if (head.what !== 'mine') {
      views.verdict.hide();
      if (judged.verdict === 'busy') judged = { verdict: '', line: 0 }; // the example stopped it
    }
    select(run, true);
    follow(run);
  },

  events(head, events) {
    const run = runs.get(head.run) ?? addRun(head);
    const before = run.overlaps;
    arrived += events.length;
    if (!run.take(head.from, events)) wire.watch(run.number);
    if (run === shown && run.overlaps && !before) time.by('clock');
    if (run === shown && time.position.skips) run.readAhead();
    if (run === shown) time.poke();
    else if (!shown && mode === 'view') select(run, true);
    visit.arrived();
  },

  ended(head) {
    const run = runs.get(head.run);
    if (!run) return;
    run.ended = true;
    if (run !== shown) return;
    time.follow(false);
    if (died(run)) notice(killed(run), 'bad');
    if (pair({ runs: [...runs.values()] }) && !run.asked) views.cost.compare(run, [...runs.values()][1]);
    visit.arrived();
    if (carried && address.asked.picture && !address.asked.step) time.go(tellingPart(run));
    if (carried && address.asked.picture) deliver(address.asked.picture, shot(), $('notice').dataset.kind === 'bad' && !died(run) ? $('notice').textContent : '');
    time.poke();
  },

  status(head) {
    printed(head);
    if (head.verdict?.pass) course?.passed(head.lesson); // in whichever tab
    if (course?.open && head.lesson && head.lesson !== course.open.id) return elsewhere(head);
    if (head.by && head.by !== tab) return head.state === 'compiling' ? reload() : undefined; // another tab's
    if (head.state === 'compiling') busy('Building your program …');
    else if (head.state === 'running') busy('Running your program …');
    else if (head.state === 'error') failed(head);
    else if (head.state === 'done' && head.verdict) graded(head);
    if (head.state === 'compiling') reload();
    advise();
    return undefined;
  },

  link(state) {
    const before = link;
    link = state;
    if (state === 'open' && before !== 'open') notice('');
    if (state === 'lost' && mode === 'view' && shown && died(shown)) notice(killed(shown), 'bad');
    else if (state !== 'open') connectionNotice(state, { over: mode === 'view' && hasEnded(shown), token });
    time.poke();
  },
};

// An example was played to its end.
function watched(state) {
  if (isExample(shown)) course.watched(state, shown.events);
  if (shown.watched) return;
  shown.watched = true;
  showOutput();
}

// The program's output arrives when it has ended.
function printed(head) {
  const run = runs.get(head.run);
  const words = head.output ?? head.verdict?.output;
  if (head.answers) course.answers(head.lesson, head.answers);
  if (!run || typeof words !== 'string') return;
  run.output = words;
  showOutput();
}

// Another lesson's file was saved in another editor: opens that lesson, if this is the only tab.
function elsewhere(head) {
  if (head.by || head.pages > 1 || head.state !== 'compiling' || write.isDirty()) return;
  course.attempt(async () => {
    await course.choose(head.lesson, false);
    const run = [...runs.values()].findLast((one) => one.lesson === head.lesson); // it may have begun meanwhile
    if (run && run !== shown && !run.ended) visit.go({ run: run.number, wrong: [] }, 0);
  });
}

let judged = { verdict: '', line: 0 }; // of the learner's program, for next.js

function busy(words) {
  judged = { verdict: 'busy', line: 0 };
  views.verdict.busy(words);
}

function failed(head) {
  judged = { verdict: 'fail', line: head.line ?? 0 };
  write.mistake(head.line ? head : null);
  views.verdict.broken(head);
  course?.graded(false);
  veil(head.line ? `Line ${head.line} does not compile: this version of your file has not run.` : 'This version of your file has not run.');
}

function graded({ verdict: v }) {
  const wrong = (v.checks ?? []).filter((c) => !c.pass).map((c) => ({ line: c.line ?? lineOf(c.seq) ?? 0, words: `${c.check}: ${c.got}` }));
  judged = { verdict: v.pass ? 'pass' : 'fail', line: v.line ?? wrong.find((c) => c.line)?.line ?? 0 };
  write.mistake(null);
  write.notes(wrong.filter((c) => c.line));
  views.verdict.graded(v, lineOf);
  pane.show('results');
  course?.graded(v.pass);
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
    stand('conflict', path && `${path} has changed on disk while “Your file” has unsaved text. Choose under “Your file” which version to keep.`);
    notice('');
  },
  failed: (error) => notice(error.message, 'bad'),
  edited: () => advise(),
});

// The one filled button: what comes next.
const showNext = nextBar({
  predict() {
    pane.show('learn');
    pane.column('lesson');
    course.predict();
  },
  watch() {
    pane.show('watch');
    if (shown?.what === 'demo') time.play();
    else course.attempt(() => course.run('demo'));
  },
  end: () => time.go(Infinity),
  edit: () => pane.program('editor', true),
  line() {
    pane.program('editor', true);
    if (judged.line) write.goTo(judged.line);
  },
  check: () => course.mine(),
  next: () => course.next(),
});

function advise() {
  if (!course?.open) return;
  const { guessing } = course.progress;
  document.body.toggleAttribute('data-guessing', guessing && shown?.what === 'demo');
  document.body.toggleAttribute('data-tried', judged.verdict !== '');
  showNext({ ...course.progress, ...judged, playing: time.position.playing, editing: pane.editing, dirty: write.isDirty() });
}

/** Opens the first lesson that is not done; with `play`, plays its example. */
async function begin(play) {
  course = lessons(api, {
    opened(lesson) {
      judged = { verdict: '', line: 0 };
      write.show(lesson);
      views.cost.lesson($('lesson-text'));
      views.verdict.hide();
      pane.column('lesson');
    },
    ran(what, stay) {
      if (!stay) pane.show('watch');
      if (what === 'demo') pane.program('source');
    },
    unsaved: () => write.isDirty(),
    save: () => write.save(),
    play() {
      pane.show('watch');
      if (shown) time.restart();
    },
    known() {
      refresh();
      advise();
    },
    failed: (error) => notice(error.message, 'bad'),
  });
  await course.attempt(async () => {
    const [all] = await Promise.all([course.load(), write.load()]);
    const linked = visit.lesson(all.map((l) => l.id));
    const current = shown?.lesson && all.some((l) => l.id === shown.lesson) ? shown.lesson : null;
    const first = linked ?? current ?? (all.find((l) => !l.done) ?? all[0])?.id;
    if (first) await course.choose(first, play);
    if (shown?.what === 'demo' && !course.guessing) time.restart();
  });
}

const files = saving({
  run: () => shown, failed: (words) => notice(words, 'bad'), opened,
  log: (run) => (run.number > 0 && !carried ? api.text(`/api/runs/${run.number}/log`).catch(() => null) : null),
  shot: () => ({ run: shown, step: shown.parts[time.position.part].step + 1, shot: shot() }),
});

// The moment on show, as a picture.
function shot() {
  const part = shown.parts[time.position.part];
  const byClock = time.position.by === 'clock';
  const line = part.line && !byClock ? [`${part.file.split('/').pop()}, line ${part.line}`] : [];
  const source = [shown.label, ...line, byClock ? `at ${units.time(Math.round(time.position.t))}` : placeWords(shown, time.position), $('badge').textContent, 'Ferry'].filter(Boolean).join('  ·  ');
  const parts = [views.stage.part(), views.lanes.part()].filter(Boolean);
  return { parts, sentence: $('say').textContent, source, theme: parts[0].theme };
}

controls.keys({
  save: () => (mode === 'lessons' ? write.save() : files.open()),
  present: present.toggle,
  leave: present.leave,
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

const wire = carried ? playSaved(on) : connect(token, on, (number) => runs.get(number)?.events.length ?? 0);

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
probe({ shown: () => shown, isDrawn: () => drawn.run === shown, time, views, shot });
