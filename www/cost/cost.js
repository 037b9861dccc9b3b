// cost.js: what a run cost and what would have cost less: asks the server for the findings of the run shown, tries a change, and
// compares two runs.

import { run as makeRun, title } from '../model/run.js';
import { comparison } from './comparison.js';
import { twoWays } from './two_ways.js';
import { farePlots } from './fare.js';
import { findingList } from './findings.js';

const $ = (id) => document.getElementById(id);

/** api: net.js. on: {runs(): all, served(run), carried(run): its findings, in the page itself, or null; go(seq), choose(seq, t), poke(), failed(error)}. */
export function costs(api, on) {
  const both = comparison({ jump: on.go, choose: on.choose, closed: on.poke, poke: on.poke });
  const list = findingList({ go: on.go, tryIt: (finding) => attempt(() => tryIt(finding)) });
  let run = null; // shown
  let busy = false;
  let plots = []; // of the lesson's text

  async function attempt(action) {
    if (busy) return;
    busy = true;
    try {
      await action();
    } catch (error) {
      on.failed(error);
    } finally {
      busy = false;
    }
  }

  // ---- findings ----------------------------------------------------------------------------------------

  /** At each frame. hidden: the learner still has to guess what the run costs; unpassed: or to solve the lesson. */
  function show(shown, position, hidden, unpassed) {
    run = shown;
    if (!on.served(run)) run.found ??= on.carried(run) ?? { error: 'this page has no server; ferry explain lists them' };
    else if (run.ended && !run.asked) ask(run);
    list.show(run, hidden ? 'guess' : unpassed ? 'unpassed' : '');
    plots.forEach((one) => one.show(run, hidden));
    choices();
    both.frame(run, position);
  }

  async function ask(one) {
    one.asked = true;
    try {
      one.found = await api.get(`/api/runs/${one.number}/findings`);
      if (!Array.isArray(one.found?.findings)) throw new Error('the server’s answer has no list of findings');
    } catch (error) {
      one.found = { error: error.message };
    }
    on.poke();
  }

  // ---- what if -----------------------------------------------------------------------------------------

  async function tryIt({ rule, seq, try: change }) {
    const mine = run;
    const [head, ...events] = await api.lines(`/api/runs/${mine.number}/whatif/${rule}/${seq}`);
    const changed = ended(makeRun({ run: mine.number, label: change }), events);
    on.go(seq);
    both.show(mine, changed, {
      title: `What if: the same run, ${change}`, first: 'as it was', name: 'what if', bySeq: true,
      notes: ['The second run is modelled.', ...(Array.isArray(head?.notes) ? head.notes : [])],
    });
  }

  function ended(one, events) {
    one.take(0, events);
    one.ended = true;
    return one;
  }

  // ---- two runs ----------------------------------------------------------------------------------------

  /** Compares the run shown with another one, whose events may have to be fetched. */
  async function compareWith(other) {
    const mine = run;
    if (!mine.ended) throw new Error(`Run ${mine.number} has not ended yet; compare it when it has.`);
    const theirs = other.ended && other.events.length ? other : ended(makeRun(other), await api.lines(`/api/runs/${other.number}/log`));
    if (run !== mine) return;
    both.show(mine, theirs, { title: `${name(mine)} against ${name(other)}`, first: name(mine), name: name(other), bySeq: false, notes: clocks(mine, theirs) });
  }

  const name = (one) => one.label || title(one);

  function clocks(a, b) {
    const [x, y] = [a, b].map((one) => one.at(one.events.length - 1).session?.clock ?? 'model');
    const word = { model: 'modelled', measured: 'measured' };
    if (x !== y) return [`Times of the first run are ${word[x]}, of the second ${word[y]}: not comparable.`];
    return [`All times are ${word[x]}.`];
  }

  // The other runs, to choose from.
  function choices() {
    const others = on.runs().filter((one) => one !== run);
    const wanted = others.map((one) => String(one.number)).join(' ');
    $('compare-with').hidden = !others.length;
    if ($('compare-run').dataset.runs === `${run.number}: ${wanted}`) return;
    $('compare-run').dataset.runs = `${run.number}: ${wanted}`;
    const option = (one) => Object.assign(document.createElement('option'), { value: one.number, textContent: title(one) });
    $('compare-run').replaceChildren(...others.map(option));
  }

  $('compare-go').addEventListener('click', () => attempt(() => {
    const other = on.runs().find((one) => one.number === Number($('compare-run').value));
    return other && compareWith(other);
  }));

  return {
    show,
    repaint() {
      both.repaint();
      plots.forEach((one) => one.repaint());
    },
    /** A lesson's text is on show. */
    lesson(article) {
      plots = [farePlots(article, on.poke), twoWays(article)];
      if (run) plots.forEach((one) => one.show(run, false));
    },
    /** `ferry view A B`: the first run is shown, and compared with the second at once. */
    compare: (first, second) => attempt(async () => {
      run = first;
      await compareWith(second);
    }),
    close: both.close,
    seen: both.seen,
    get comparing() {
      return both.open;
    },
  };
}
