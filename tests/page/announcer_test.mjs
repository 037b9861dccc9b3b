// announcer_test.mjs: what a screen reader is told while a run is played, paused and stepped, and how often. No browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { announcer } from '../../www/panes/announcer.js';
import { summaryWords } from '../../www/model/cost_words.js';

const PLAYING = { playing: true, atEnd: false };
const PAUSED = { playing: false, atEnd: false };
const ENDED = { playing: false, atEnd: true };

/** An announcer with a clock of the test's own: `said` is all that was told, with its time. */
function started() {
  const said = [];
  const node = { words: '', get textContent() { return this.words; }, set textContent(words) { this.words = words; said.push([now, words]); } };
  let now = 1000;
  let due = null;
  const { show } = announcer(node, { now: () => now, later: (act, ms) => { due = { act, at: now + ms }; return 1; }, never: () => { due = null; } });
  const pass = (ms) => {
    now += ms;
    if (!due || due.at > now) return;
    const { act } = due;
    due = null;
    act();
  };
  return { show, pass, said, words: () => said.map(([, words]) => words) };
}

test('paused or stepping, each sentence is told at once', () => {
  const { show, pass, words } = started();
  for (const sentence of ['a is made.', 'a is copied.', 'It ends.']) {
    show(PAUSED, sentence, assert.fail);
    show(PAUSED, sentence, assert.fail); // the next frame
    pass(2000);
  }
  assert.deepEqual(words(), ['a is made.', 'a is copied.', 'It ends.']);
});

test('of quick steps only first and last are told', () => {
  const { show, pass, words } = started();
  for (let i = 0; i < 60; i++) {
    show(PAUSED, `step ${i}`, assert.fail);
    pass(30);
  }
  pass(1000);
  assert.deepEqual(words(), ['step 0', 'step 59']);
});

test('while a run plays only summaries are told', () => {
  const { show, pass, said } = started();
  for (let i = 0; i < 1250; i++) { // 20 s
    show(PLAYING, `step ${i}`, () => `summary at ${i}`);
    pass(16);
  }
  assert.ok(said.length >= 2 && said.length <= 5, `${said.length} in 20 s`);
  assert.ok(said.every(([, words]) => words.startsWith('summary')));
  for (let i = 1; i < said.length; i++) assert.ok(said[i][0] - said[i - 1][0] >= 3000);
  show(PAUSED, 'where it was paused', assert.fail);
  pass(1000);
  assert.equal(said.at(-1)[1], 'where it was paused');
});

test('a run played to its end is summed up once', () => {
  const { show, pass, words } = started();
  show(PLAYING, 'step 1', assert.fail);
  pass(100);
  for (let i = 0; i < 5; i++) {
    show(ENDED, 'It ends.', () => '3 copies');
    pass(500);
  }
  assert.deepEqual(words(), ['It ends. End of the run: 3 copies']);
});

test('a summary says where, and what has crossed', () => {
  const flow = (copies, bytes) => ({ copies, bytes });
  const now = { cost: { h2d: flow(2, 8 << 20), d2h: flow(1, 0) } };
  const run = { steps: Array(40), total: 2000 };
  assert.equal(summaryWords({ by: 'step', step: 11, t: 0 }, run, now), 'Step 12 of 40. 3 copies over the bus, 8 MiB so far.');
  assert.equal(summaryWords({ by: 'clock', step: 11, t: 1000 }, run, now), '1 µs of 2 µs. 3 copies over the bus, 8 MiB so far.');
  assert.equal(summaryWords({ by: 'step', step: 0, t: 0 }, run, { cost: { h2d: flow(0, 0), d2h: flow(0, 0) } }), 'Step 1 of 40. No copy over the bus so far.');
  assert.equal(summaryWords({ by: 'step', step: 11, t: 0 }, run, now, true), 'Step 12 of 40.');
});
