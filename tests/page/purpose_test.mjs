// purpose_test.mjs: what bytes are for when a program trains: parameters and their gradients, an optimizer's state, batches and who
// makes them; and names that stay apart where they are cut.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inspect } from '../../www/model/inspect.js';
import { instant } from '../../www/model/instant.js';
import { label, labels } from '../../www/model/lane_words.js';
import { lanesOf } from '../../www/model/lanes.js';
import { momentSentence } from '../../www/model/moment.js';
import { kinOf, purposeLines, purposeOf } from '../../www/model/purpose.js';
import { run } from '../../www/model/run.js';
import { stepSentence } from '../../www/model/words.js';
import { draw } from '../../www/stage/draw.js';
import { layout } from '../../www/stage/layout.js';
import { placeSummary, summaryOf } from '../../www/stage/spans.js';
import { cut } from '../../www/stage/tag_places.js';

function read(name) {
  const it = run({ run: 1 });
  it.take(0, readFileSync(new URL(`./scenes/${name}.jsonl`, import.meta.url), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)));
  return it;
}

function runOf(events) {
  const it = run({ run: 2 });
  it.take(0, events.map((e, seq) => ({ seq, t: seq, th: 0, ...e })));
  return it;
}

const loop = read('training-loop');
const step = read('training-step');
const loader = read('loader');
const seqOf = (it, test, n = 0) => it.events.filter(test)[n].seq;
const handle = (state, name) => [...state.tensors.values()].findLast((one) => one.name === name && !one.dropped);
const storageOf = (state, name) => state.storages.get(handle(state, name).storage);
const layoutAt = (it, state, width = 1392, height = 390) => layout(state, it.addresses, width, height, []);
const boxOf = (it, state, name) => layoutAt(it, state).boxes.find((box) => box.storage === storageOf(state, name).id);
const lines = (state, name) => purposeLines(state, storageOf(state, name)).join('; ');

// Of the second iteration: all gradients are there, and Adam's state.
const trained = () => loop.at(seqOf(loop, (e) => e.kind === 'backward' && e.what === 'end', 1));

test('a gradient is a tag of its parameter', () => {
  const state = trained();
  const [parameter, gradient] = ['0.weight', '0.weight.grad'].map((name) => boxOf(loop, state, name));
  assert.deepEqual([parameter.pair.words, parameter.pair.bytes, parameter.pair.index], ['grad', 32768, gradient.index]);
  assert.deepEqual([gradient.pair.words, gradient.pair.index], ['of 0.weight', parameter.index]);
  assert.match(lines(state, '0.weight'), /^its gradient: 0\.weight\.grad, 32 KiB; Adam keeps 64 KiB for it: exp_avg, exp_avg_sq$/);
  assert.equal(lines(state, '2.bias.grad'), 'the gradient of 2.bias');
});

test('the inspector tells what bytes are for', () => {
  const state = trained();
  const notes = (name) => inspect(loop, state, { storage: storageOf(state, name).id, tensor: 0 }).notes;
  assert.ok(notes('2.weight').includes('Its gradient: 2.weight.grad, 5 KiB.'), notes('2.weight').join(' '));
  assert.ok(notes('2.weight.grad').includes('The gradient of 2.weight.'), notes('2.weight.grad').join(' '));
});

test('a parameter, its gradient and its state are lit together', () => {
  const state = trained();
  const family = ['2.weight', '2.weight.grad', '2.weight.exp_avg', '2.weight.exp_avg_sq'].map((name) => storageOf(state, name).id);
  for (const id of family) assert.deepEqual([...kinOf(state, id), id].sort((a, b) => a - b), family.toSorted((a, b) => a - b));
  assert.equal(kinOf(state, storageOf(state, 'x').id).size, 0);
});

test('a gradient that is taken away leaves no tag', () => {
  const state = loop.at(seqOf(loop, (e) => e.kind === 'drop' && e.tensor === handle(loop.at(280), '0.weight.grad').id));
  assert.equal(boxOf(loop, state, '0.weight').pair, null);
  assert.match(lines(state, '0.weight'), /^a leaf of the graph; it has no gradient now/);
});

const made = (id, name) => [
  { kind: 'alloc', storage: id, device: 'cpu', addr: `0x${id}000`, bytes: 64, asked: 64 }, { kind: 'tensor', tensor: id, name, storage: id, shape: [16], strides: [1], dtype: 'float32', device: 'cpu' },
];

test('bytes of a gradient under another name are no tag', () => {
  const it = runOf([...made(1, 'w'), { kind: 'graph', what: 'make', op: 'leaf', tensor: 1 }, ...made(2, 'g'), { kind: 'grad', leaf: 1, tensor: 2, storage: 2 },
    { kind: 'tensor', tensor: 3, name: 'held', storage: 2, shape: [16], strides: [1], dtype: 'float32', device: 'cpu', view_of: 2 }, { kind: 'drop', tensor: 2, why: 'free' }]);
  assert.equal(purposeOf(it.at(5), it.at(5).storages.get(2)).of, 1);
  const state = it.at(7);
  assert.deepEqual([boxOf(it, state, 'w').pair, purposeOf(state, state.storages.get(2))], [null, null]);
});

test('a gradient that replaces another takes its tag', () => {
  const it = runOf([...made(1, 'w'), ...made(2, 'g'), ...made(3, 'h'), { kind: 'grad', leaf: 1, tensor: 2 }, { kind: 'grad', leaf: 1, tensor: 3 }]);
  const state = it.at(7);
  assert.deepEqual([state.tensors.get(1).grad, purposeOf(state, state.storages.get(2))?.kind, purposeOf(state, state.storages.get(3)).kind], [3, undefined, 'gradient']);
});

test('what fy_module_to put in place is the parameter', () => {
  const state = loop.at(seqOf(loop, (e) => e.kind === 'backward'));
  for (const name of ['0.weight', '0.bias', '2.weight', '2.bias']) assert.equal(purposeOf(state, storageOf(state, name)).kind, 'parameter', name);
});

test("an optimizer's state says whose it is", () => {
  const state = trained();
  const is = purposeOf(state, storageOf(state, '0.bias.exp_avg_sq'));
  assert.deepEqual([is.kind, is.optimizer, state.tensors.get(is.of).name], ['optimizer', 'Adam', '0.bias']);
  assert.equal(lines(state, '0.bias.exp_avg_sq'), 'Adam, the optimizer, keeps it for 0.bias: exp_avg_sq');
});

test('state is told by tensors, not by names', () => {
  const leaf = (tensor) => ({ kind: 'graph', what: 'make', op: 'leaf', tensor });
  const it = runOf([...made(1, 'weight'), leaf(1), ...made(2, 'weight'), leaf(2), ...made(3, 'weight.momentum_buffer'), { kind: 'state', parameter: 1, tensor: 3, storage: 3, what: 'momentum_buffer', optimizer: 'SGD' }]);
  const state = it.at(8);
  assert.deepEqual([purposeOf(state, state.storages.get(3)).of, [...kinOf(state, 1)], [...kinOf(state, 2)]], [1, [3], []]);
});

const told = (it, state, device) => summaryOf([...state.storages.values()].filter((one) => one.freed === null && one.device === device).map((storage) => ({ storage, purpose: purposeOf(state, storage) })));

test('the summary of a memory adds up', () => {
  for (let seq = 0; seq < loop.events.length; seq += 7) {
    const state = loop.at(seq);
    const all = told(loop, state, 'cuda:0');
    const live = [...state.storages.values()].filter((one) => one.freed === null && one.device === 'cuda:0').reduce((sum, one) => sum + one.asked, 0);
    if (all.length) assert.equal(all.reduce((sum, one) => sum + one.bytes, 0), live, `event ${seq}`);
  }
  const kinds = told(loop, trained(), 'cuda:0').map(({ titles, bytes }) => [titles[0], bytes]);
  assert.deepEqual(kinds.slice(0, 3), [['parameters', 38440], ['gradients', 38440], ['optimizer (Adam)', 76880]]);
});

test('a narrow summary says what is left as one', () => {
  const all = told(loop, loop.at(913), 'cuda:0');
  const bytes = (list) => list.reduce((sum, one) => sum + one.bytes, 0);
  for (const width of [900, 520, 360, 340, 200]) {
    const placed = placeSummary(all, 10, 0, width, 2);
    assert.equal(bytes(placed), bytes(all), `${width} px`);
    for (const item of placed) assert.ok(item.x + item.w <= 10 + width + 1, `${width} px: ${item.said}`);
  }
  assert.deepEqual(placeSummary(all, 10, 0, 340, 2).map(({ said }) => said[0]), ['parameters', 'gradients', 'Adam', 'kept', 'other']);
});

// The words of the picture, each with its place; letters are about as wide as those of the page's font.
function wordsOf(it, state, width = 1392, height = 417) {
  const said = [];
  const wide = (words, font) => String(words).length * Number(/(\d+)px/.exec(font)[1]) * 0.53;
  const c = new Proxy({
    font: '12px x', tile: () => '', measureText: (words) => ({ width: wide(words, c.font) }),
    fillText: (words, x, y) => said.push({ words, x: x - wide(words, c.font) * ({ center: 0.5, right: 1 }[c.textAlign] ?? 0), w: wide(words, c.font), y }),
  }, { get: (all, key) => all[key] ?? (() => {}) });
  draw(c, { layout: layout(state, it.addresses, width, height), now: instant(it, state.t), actions: [], by: 'step', m: 1, t: state.t, names: it.names, theme: {}, scale: 1, line: 0, waited: 0 });
  return said;
}

test('the tags are drawn, and gone with the gradient', () => {
  const words = (seq) => wordsOf(step, step.at(seq)).map((one) => one.words);
  const last = seqOf(step, (e) => e.kind === 'grad' && e.leaf === 3);
  const before = words(last);
  for (const one of ['grad 96 B', 'grad 24 B', 'grad 72 B', 'of w1', 'of b1', 'of w2']) assert.ok(before.includes(one), `${one} in ${before}`);
  const after = words(seqOf(step, (e) => e.kind === 'drop' && e.line === 21, 2));
  assert.deepEqual(after.filter((one) => /^(grad \d|of [wb]\d)/.test(one)), []);
});

test('boxes of one purpose have a bracket with its name', () => {
  const { spans, boxes } = layoutAt(loop, trained());
  const labelled = new Set(spans.map((span) => span.label?.words));
  for (const one of ['parameters', 'optimizer: Adam']) assert.ok(labelled.has(one), `${one} in ${[...labelled]}`);
  for (const span of spans) for (const id of span.storages) assert.equal(boxes.find((box) => box.storage === id).purpose.kind, span.kind);
  const over = spans.flatMap((one) => (one.label ? [{ ...one.label, row: one.row }] : []));
  over.forEach((a, i) => over.slice(i + 1).forEach((b) => assert.ok(a.row !== b.row || a.x + a.w <= b.x + 1 || b.x + b.w <= a.x + 1, `${a.words} on ${b.words}`)));
});

test('brackets and names do not cover each other', () => {
  for (const [width, height] of [[1392, 417], [1392, 390], [992, 288], [366, 384]]) {
    const { memories, spans } = layoutAt(loop, loop.at(913), width, height);
    for (const { label: at, row, y } of spans) {
      const above = memories.flatMap((m) => m.rows).filter((one) => one.y < row.y && one.x === row.x).at(-1);
      for (const name of at && above ? above.names ?? [] : []) {
        assert.ok(y - name.y >= 10 || name.x + name.w <= at.x || at.x + at.w <= name.x, `${at.words} at ${width}x${height}`);
      }
    }
    for (const { inner, summary } of memories) for (const item of summary) assert.ok(item.y > inner.y + inner.h, 'the summary stands under the map');
  }
});

test('no run without training has brackets or summaries', () => {
  for (const name of ['views', 'fifty', 'blocking-copy']) {
    const it = read(name);
    const { memories, spans } = layoutAt(it, it.at(Infinity));
    assert.deepEqual([spans.length, memories.flatMap((m) => m.summary).length], [0, 0], name);
  }
});

// ---- batches ----

const at = (t) => loader.atTime(loader.timeline.seqAt(t), t);
const batchesOf = (state) => new Map([...state.storages.values()].map((one) => purposeOf(state, one)?.batch).filter(Boolean).map((one) => [one.index, [one.phase, one.worker]]));

test('batches say who makes them, and how far they are', () => {
  assert.deepEqual([...batchesOf(at(400000))].sort((a, b) => a[0] - b[0]), [[0, ['taken', 0]], [1, ['ready', 1]], [2, ['making', 0]], [3, ['making', 1]]]);
  assert.deepEqual(told(loader, at(400000), 'cpu').map(({ titles }) => titles[0]), ['batch 0, in use', 'batch 1, ready, by worker 1', 'batch 2, worker 0 makes it', 'batch 3, worker 1 makes it']);
  const state = at(400000);
  const item = [...state.storages.values()].find((one) => purposeOf(state, one)?.batch.index === 3);
  assert.deepEqual(purposeLines(state, item), ['of batch 3: worker 1 makes it']);
});

test('a copy of a batch is that batch, too', () => {
  for (const index of [0, 1, 2]) {
    const state = loader.at(seqOf(loader, (e) => e.kind === 'copy' && e.dir === 'h2d', index));
    assert.equal(purposeOf(state, storageOf(state, 'x')).batch.index, index);
    assert.equal(told(loader, state, 'cuda:0')[0].titles[0], `batch ${index}, in use`);
  }
});

test('by clock, what other threads have done is there', () => {
  const events = loader.events.filter((e) => e.kind === 'alloc' || e.kind === 'free');
  for (let t = 1000; t < loader.total; t += 7919) {
    const live = new Set();
    for (const e of events) if (e.t <= t) live[e.kind === 'alloc' ? 'add' : 'delete'](e.storage);
    const state = at(t);
    const late = [...state.storages.values()].filter((one) => one.freed === null && !live.has(one.id));
    for (const id of live) assert.equal(state.storages.get(id)?.freed, null, `storage ${id} at ${t}`);
    assert.deepEqual(late.map((one) => one.id), [], `at ${t}`);
  }
});

test('what one reader looks ahead at changes no other', () => {
  const before = loader.at(274);
  const living = before.storages.size;
  assert.ok(loader.atMoment(274, 400000).ahead > 0);
  assert.ok(loader.atEnd().seq > 1000);
  assert.deepEqual([loader.at(274).seq, loader.at(274).storages.size, loader.at(274).ahead], [274, living, 0]);
});

test('the lane of a worker says its batch', () => {
  const lanes = lanesOf(loader);
  const lock = loader.events.filter((e) => e.kind === 'segment' && e.th === 2 && e.bytes > 1000).at(-1);
  const lane = lanes.threads.get(2);
  assert.deepEqual(labels(lane.of(lock.seq, lock.t), lane, loader, lanes), ['batch 3: page-locks 128 KiB', 'batch 3']);
  const main = lanes.threads.get(0);
  const copy = loader.events.find((e) => e.kind === 'segment' && e.th === 0 && e.line === 18);
  assert.equal(label(main.of(copy.seq, copy.t), main, loader, lanes), 'reserves 2 MiB');
  assert.match(momentSentence(loader, instant(loader, 400000)), /Worker 0, for batch 2, at line 16: .* Worker 1, for batch 3, at line 16: /);
});

// ---- words and names ----

test('names are cut where they stay apart', () => {
  const names = ['0.weight', '2.weight'].flatMap((name) => ['', '.grad', '.exp_avg', '.exp_avg_sq'].map((end) => name + end));
  for (const letters of [9, 10, 12]) assert.equal(new Set(names.map((name) => cut([name], letters)[0])).size, names.length, `${letters} letters`);
  assert.deepEqual(cut(['0.weight.exp_avg'], 10), ['0.wei…_avg']);
  assert.deepEqual(cut(['1.out (saved)'], 8), ['1.out…']);
  assert.deepEqual(cut(['x', 'x2', 'weight[17]'], 11), ['x', 'x2', 'we…]']);
  assert.deepEqual(cut(['alpha', 'beta'], 6), ['alpha…']);
  for (const all of [names, ['x', ...names]]) for (let n = 1; n < 80; n++) assert.ok(cut(all, n).join(', ').length <= n, `${n} letters: ${cut(all, n)}`);
});

test('a wide box has its name before a narrow one', () => {
  const { boxes } = layoutAt(loop, loop.at(913));
  for (const box of boxes.filter((one) => !one.freed && one.w > 100 && one.device === 'cuda:0')) assert.ok(box.tag, box.name);
});

test('what is kept of a tensor has no second name', () => {
  const { boxes } = layoutAt(loop, loop.at(seqOf(loop, (e) => e.kind === 'backward')));
  const x = boxes.find((box) => box.name === 'x' && box.device === 'cuda:0');
  assert.deepEqual(x.tag.tensors.map((one) => one.name), ['x']);
  assert.equal(purposeLines(loop.at(150), storageOf(loop.at(150), 'x'))[0], 'kept for a gradient, by addmm on line 15');
});
