// training_test.mjs: a training step, as the page tells and draws it: what the forward pass saves, and the backward pass.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loopsOf } from '../../www/model/loops.js';
import { run } from '../../www/model/run.js';
import { stepSentence } from '../../www/model/words.js';

const events = readFileSync(new URL('./scenes/training-step.jsonl', import.meta.url), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const one = run({ run: 1 });
one.take(0, events);
const { steps } = one;
const say = (step) => stepSentence(events, step, one.names);
const find = (kind, n = 0) => events.filter((e) => e.kind === kind)[n];
const stepOf = (seq) => steps[one.stepOf(seq)];

test('what a call saves belongs to its step', () => {
  const made = events.find((e) => e.kind === 'graph' && e.what === 'make' && e.op === 'relu');
  const step = stepOf(made.seq);
  assert.equal(step.kind, 'op');
  assert.match(say(step), /^relu of hidden.* runs on the GPU into active/);
});

test('a pass has a step for each call', () => {
  const [begin, end] = [find('backward'), find('backward', 1)].map((e) => one.stepOf(e.seq));
  const runs = events.filter((e) => e.kind === 'graph' && e.what === 'run' && e.seq < find('backward', 1).seq);
  assert.equal(end - begin - 1, runs.length);
  assert.deepEqual(steps.slice(begin + 1, end).map((step) => [step.kind, step.line]), runs.map((e) => ['graph', e.line]));
  assert.match(say(steps[begin]), /^The gradients of loss.* are computed, back through the calls that computed it\.$/);
});

test('the step names call, kernels and the gradient stored', () => {
  const relu = events.find((e) => e.kind === 'graph' && e.what === 'run' && e.op === 'relu');
  assert.match(say(stepOf(relu.seq)), /^The gradient of active.* goes back through relu on line \d+\. It runs as threshold_backward on the GPU\. Then what was kept for it is released\.$/);
  assert.match(say(stepOf(find('grad').seq)), /w2\.grad is the gradient of w2\./);
});

test('a backward pass is no iteration of its own', () => {
  const [loop] = loopsOf(one).all;
  assert.deepEqual(loop.iterations.map((i) => i.n), [1, 2]);
});

test('what the graph keeps has a name of its own', () => {
  const made = events.find((e) => e.kind === 'graph' && e.what === 'make' && e.op === 'relu');
  const state = one.at(made.seq);
  const saved = state.tensors.get(made.saves[0]);
  assert.match(saved.name, /^active.* \(saved\)$/);
  const active = [...state.tensors.values()].find((t) => /^active/.test(t.name) && !/saved/.test(t.name));
  assert.equal(active.lost, null);
  assert.equal(saved.storage, active.storage);
  assert.equal(one.at(find('backward', 1).seq).tensors.get(made.saves[0]).dropped, 'graph');
});
