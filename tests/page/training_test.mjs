// training_test.mjs: a training step, as the page tells and draws it: what the forward pass saves, and the backward pass.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { costLines } from '../../www/model/cost_words.js';
import { curvesOf } from '../../www/model/curves.js';
import { label } from '../../www/model/lane_words.js';
import { lanesOf } from '../../www/model/lanes.js';
import { loopsOf } from '../../www/model/loops.js';
import { passesOf, passWords } from '../../www/model/passes.js';
import { run } from '../../www/model/run.js';
import { stepSentence } from '../../www/model/words.js';
import { curveWords } from '../../www/stage/lane_curves.js';
import { bracketWords } from '../../www/stage/lane_loops.js';
import { lanePlan } from '../../www/stage/lanes.js';

const events = readFileSync(new URL('./scenes/training-step.jsonl', import.meta.url), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const one = run({ run: 1 });
one.take(0, events);
const { steps, parts } = one;
const say = (step) => stepSentence(events, step, one.names);
const find = (kind, n = 0) => events.filter((e) => e.kind === kind)[n];
const stepOf = (seq) => steps[one.stepOf(seq)];
const partOf = (seq) => parts[one.partOf(seq)];

test('what a call saves belongs to its step', () => {
  const made = events.find((e) => e.kind === 'graph' && e.what === 'make' && e.op === 'relu');
  const step = stepOf(made.seq);
  assert.equal(step.kind, 'op');
  assert.match(say(step), /^relu\(hidden\).* runs on the GPU into active/);
});

test('a pass is a step, each call a part', () => {
  const [begin, end] = [find('backward'), find('backward', 1)].map((e) => one.partOf(e.seq));
  const runs = events.filter((e) => e.kind === 'graph' && e.what === 'run' && e.seq < find('backward', 1).seq);
  assert.equal(end - begin - 1, runs.length);
  assert.deepEqual(parts.slice(begin + 1, end).map((part) => [part.kind, part.line]), runs.map((e) => ['gradient', e.line]));
  assert.match(say(parts[begin]), /^The gradients of loss.* are computed, back through the calls that computed it\.$/);
  const step = steps[parts[begin].step];
  assert.deepEqual([step.kind, step.line, step.call.name, parts[end].step], ['backward', events[step.from].line, 'fy_backward', parts[begin].step]);
  assert.match(say(step), /^The gradients of loss are computed, back through 9 calls: div, sum, nll_loss, log_softmax, matmul, permute and 3 more\. Then w2, b1 and w1 have gradients\.$/);
});

test('the part names call, kernels and the gradient stored', () => {
  const relu = events.find((e) => e.kind === 'graph' && e.what === 'run' && e.op === 'relu');
  assert.match(say(partOf(relu.seq)), /^The gradient of active.* goes back through relu on line \d+\. It runs as threshold_backward on the GPU\. Then what was kept for it is released\.$/);
  assert.match(say(partOf(find('grad').seq)), /w2\.grad is the gradient of w2\./);
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

// ---- a loop of training: four steps of Adam, its loss logged (scenes/training-loop.c) ----

const scene = (name) => {
  const it = run({ run: 2 });
  it.take(0, readFileSync(new URL(`./scenes/${name}.jsonl`, import.meta.url), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)));
  return it;
};
const loop = scene('training-loop');

test('a line with two copies is in one iteration', () => {
  const [training] = loopsOf(loop).all;
  assert.deepEqual(training.iterations.map((i) => i.n), [1, 2, 3, 4]);
  const first = loop.events.filter((e) => e.kind === 'copy' && e.line === 14)[0];
  assert.equal(training.iterations[0].seq <= first.seq, true);
});

test('backward passes are told from the rest of an iteration', () => {
  const [passes] = passesOf(loop);
  const [training] = loopsOf(loop).all;
  assert.equal(passes.iterations.length, 4);
  passes.iterations.forEach((pass, i) => {
    const { from, until } = training.iterations[i];
    assert.equal(from < pass.from && pass.from < pass.until && pass.until < until, true);
  });
  assert.equal(passWords(passes.iterations[2]), 'backward pass 3 of 4');
  const brackets = bracketWords({ iterations: [passes.iterations[0], passes.iterations[3]], loop: passes });
  assert.deepEqual(brackets, ['backward, 4 ×', '4 ×']);
});

test('what the program logs is a curve over the run', () => {
  const [curve, ...others] = curvesOf(loop);
  const logged = loop.events.filter((e) => e.kind === 'scalar');
  assert.equal(others.length, 0);
  assert.equal(curve.name, 'loss');
  assert.deepEqual(curve.points.map((p) => p.value), logged.map((e) => e.value));
  assert.equal(curve.high, logged[0].value);
  assert.equal(curve.low, logged[3].value);
  assert.equal(curve.at(curve.points[0].t - 1), -1);
  assert.equal(curve.at(curve.points[1].t), 1);
  assert.match(curveWords(curve, curve.points[1].t)[0], /^loss is 2\.01\d*, logged at .*: the 2nd of 4 numbers$/);
  assert.equal(curveWords(curve, 0)[0], 'loss: nothing logged yet; 4 numbers in all');
});

test('no number leaves a gap in its curve', () => {
  const it = run({ run: 3 });
  it.take(0, [1, 'nan', 3].map((value, seq) => ({ seq, t: seq * 100, kind: 'scalar', th: 0, name: 'loss', value })));
  it.take(3, [{ seq: 3, t: 300, kind: 'scalar', th: 0, name: 'lr', value: 9 }]);
  const [curve, other] = curvesOf(it);
  assert.deepEqual([other.name, other.points.length], ['lr', 1]);
  assert.deepEqual([curve.low, curve.high, curve.points.length], [1, 3, 3]);
  assert.equal(Number.isNaN(curve.points[1].value), true);
});

test('curves lie under memory, passes over the lanes', () => {
  const parts = { rows: [{ group: 'host', label: '', lanes: [] }], flags: false, memory: true, curves: 3, iterations: { rows: [], most: 1, passes: passesOf(loop) } };
  const plan = lanePlan(parts, 1000, 20);
  const bare = lanePlan({ ...parts, curves: 0, iterations: { rows: [], most: 1, passes: [] } }, 1000, 20);
  assert.equal(plan.curves.length, 2);
  assert.equal(plan.curves[0].y, plan.memory.y + plan.memory.h);
  assert.equal(plan.top - bare.top, 14);
  assert.equal(plan.height, plan.bottom + plan.curves[0].h * 2);
});

// ---- a loader with two workers (scenes/loader.c) ----

const loader = scene('loader');

test('workers have rows, and the loop waits for a batch', () => {
  const lanes = lanesOf(loader);
  assert.deepEqual(lanes.rows().slice(0, 3).map((row) => row.label), ['thread 0', 'worker 0', 'worker 1']);
  const taken = loader.events.find((e) => e.kind === 'batch' && e.what === 'taken' && e.held > 0);
  const lane = lanes.threads.get(0);
  const slice = lane.of(taken.seq, taken.t);
  assert.equal(slice.look, 'wait');
  assert.equal(label(slice, lane, loader, lanes), 'waits for batch 0');
});

test('the cost of several threads says that it is', () => {
  const cost = { h2d: { copies: 0, bytes: 0, wire: 0, under: 0 }, d2h: { copies: 0, bytes: 0, wire: 0, under: 0 }, held: 300, own: 50, cpu: 1, gpu: 0, running: 0 };
  const waited = (t) => costLines({ t, cost }).find((line) => line.key === 'waited');
  assert.deepEqual(waited(400), { key: 'waited', figure: 'The program waited 250 ns', rest: '; 300 ns in Ferry calls, 400 ns in total' });
  assert.deepEqual(waited(200), { key: 'waited', figure: "The program's threads waited 250 ns", rest: '; 300 ns in Ferry calls, all threads together, 200 ns in total' });
});

test('moving a module is one step with all copies', () => {
  const step = loop.steps.find(({ call }) => call?.name === 'fy_module_to');
  assert.match(stepSentence(loop.events, step, loop.names), /^module_to copies 0\.weight, 0\.bias, 2\.weight and 2\.bias, 37\.5 KiB in 4 copies from CPU RAM to GPU VRAM\. The program waits /);
});
