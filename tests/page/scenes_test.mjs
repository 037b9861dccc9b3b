// scenes_test.mjs: what scenes/READINGS.md says was read off the pictures is what the model says of the same log and moment:
// a change that makes a reading untrue fails here, and the picture is to be read anew.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { placeOf } from '../../www/model/host.js';
import { instant, worksOf } from '../../www/model/instant.js';
import { lanesOf } from '../../www/model/lanes.js';
import { run } from '../../www/model/run.js';
import { actions } from '../../www/model/step_actions.js';
import * as units from '../../www/model/units.js';
import { stepSentence } from '../../www/model/words.js';
import { draw } from '../../www/stage/draw.js';
import { loopsOf } from '../../www/model/loops.js';
import { layout } from '../../www/stage/layout.js';
import { cardsLog } from './cards.mjs';

const here = (name) => readFileSync(fileURLToPath(new URL(`./scenes/${name}`, import.meta.url)), 'utf8');
const scenes = JSON.parse(here('scenes.json'));
const readings = here('READINGS.md');

/** A scene as it is drawn: {one: the run, step: the part shown, state, t, now, works, name(tensor), handle(name)}. */
function scene(name) {
  const one = run({ run: 1 });
  one.take(0, here(`${name}.jsonl`).split('\n').filter(Boolean).map((line) => JSON.parse(line)));
  one.ended = true;
  const { t: at, seq } = scenes[name];
  const step = one.parts[at === undefined ? one.partOf(seq) : one.partAt(at)];
  const t = at ?? one.span(step)[1];
  const state = one.at(step.to);
  const handle = (called) => [...state.tensors.values()].findLast((h) => !h.dropped && one.names.tensor(h.id) === called);
  const now = instant(one, t, at === undefined ? step.to : Infinity);
  return {
    one, step, state, t, now, works: worksOf(one, step, t),    name: (id) => one.names.tensor(id), handle, words: stepSentence(one.events, step, one.names),
  };
}

const storages = ({ now }, device) => now.memories.find((m) => m.device === device).storages;
const live = ({ now }, device) => now.memories.find((m) => m.device === device).asked;
const left = ({ t }, work) => units.time(Math.round(work.end - t));
const mistakeIn = ({ one, step, t, state }) => actions(one, step, t, state).find((a) => a.mistake)?.mistake;
const MiB = 2 ** 20;

/** What the reading says, in the words of the file: a figure that is changed there without the picture fails too. */
function read(name, ...figures) {
  const part = readings.split(/^## /m).find((one) => one.startsWith(`${name}\n`));
  assert.ok(part, `no reading of ${name}`);
  for (const figure of figures) assert.ok(part.includes(figure), `the reading of ${name} does not say ${figure}`);
}

/** The bytes that have arrived, as they are written beside the bus. */
const arrived = (copy) => `${units.bytes(Math.floor(copy.arrived))} of ${units.bytes(copy.bytes)}`;
const ends = (s, copy) => [s.name(copy.src.tensor), copy.src.device, s.name(copy.dst.tensor), copy.dst.device];
const place = (s) => placeOf({ now: s.now, by: 'clock', line: s.step.line, waited: 0 });
const tagNames = (storage) => storage.tags.map((tag) => tag.name).filter(Boolean);
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

test('each scene has a reading, and each reading a scene', () => {
  const read = [...readings.matchAll(/^## ([a-z-]+)$/gm)].map((m) => m[1]);
  assert.deepEqual(read, Object.keys(scenes));
});

test('blocking-copy: nothing has arrived, and the program waits', () => {
  const s = scene('blocking-copy');
  const [copy] = s.now.copies;
  assert.deepEqual(ends(s, copy), ['picture', 'cpu', 'there', 'cuda:0']);
  assert.deepEqual([arrived(copy), left(s, copy), copy.route], ['0 B of 1 MiB', '63.8 µs', 'staged']);
  assert.ok(copy.buffered > 0 && copy.moving[0].hop === 0, 'the CPU copies into the staging buffers');
  assert.deepEqual(place(s), { words: 'line 6 waits', held: true });
  assert.match(s.words, /through the staging buffer/);
  read('blocking-copy', '0 B of 1 MiB', '63.8 µs', 'line 6 waits', 'through the staging buffer');
});

test('pinned-overlap: a copy beside a kernel, without the CPU', () => {
  const s = scene('pinned-overlap');
  const [copy] = s.now.copies;
  assert.deepEqual(ends(s, copy), ['second', 'cpu', 'b', 'cuda:0']);
  assert.deepEqual([arrived(copy), left(s, copy), copy.route], ['380 KiB of 4 MiB', '76.1 µs', 'direct']);
  assert.deepEqual(s.now.ops.map((op) => [op.name, op.phase, Math.floor(op.part * 100)]), [['matmul', 'running', 88], ['add', 'queued', 0]]);
  const [matmul] = s.now.ops;
  assert.deepEqual([matmul.ins, matmul.outs, units.time(matmul.end - matmul.start)], [[s.handle('a').storage], [s.handle('product').storage], '35.1 µs']);
  assert.deepEqual(storages(s, 'cpu').filter((one) => one.mem === 'pinned').map((one) => one.name), ['first', 'second']);
  assert.deepEqual([place(s).held, sum(s.now.staging.map((one) => one.bytes))], [false, 0]);
  read('pinned-overlap', '380 KiB of 4 MiB arrived, 76.1 µs to go', '88 % of 35.1 µs', '`first` and `second`');
});

test('views: four names see the same bytes, row was written', () => {
  const s = scene('views');
  const all = s.now.memories.flatMap((m) => m.storages);
  assert.equal(all.length, 1);
  assert.deepEqual(tagNames(all[0]).sort(), ['half', 'row', 'table', 'x']);
  const row = s.handle('row');
  assert.deepEqual([row.offset, row.shape, row.strides], [6, [6], [1]]);
  const [fill] = s.works;
  assert.deepEqual([fill.name, s.name(fill.event.out[0].tensor), s.step.line], ['fill', 'row', 9]);
  assert.equal(live(s, 'cpu'), 192);
  read('views', 'elements 6 to 11', '192 B', 'x, table and half see it, too', 'by "zero_(row)"');
});

test('transposed: no bytes of its own, every fourth element', () => {
  const s = scene('transposed');
  const [m, turned] = [s.handle('m'), s.handle('turned')];
  assert.deepEqual([turned.storage, turned.shape, turned.strides], [m.storage, [4, 3], [1, 4]]);
  assert.deepEqual([s.now.copies.length, s.now.cost.h2d.copies + s.now.cost.d2h.copies, live(s, 'cpu')], [0, 0, 96]);
  assert.match(s.words, /turned is a view of m: same bytes, nothing copied/);
  read('transposed', '0,4,8 1,5,9 2,6,10', 'turned is a view of m: same bytes', 'nothing copied');
});

test('leak: three tensors that no name reaches, 12 KiB', () => {
  const s = scene('leak');
  const { boxes } = layout(s.state, s.one.addresses, 1440, 420, actions(s.one, s.step, s.t, s.state));
  const lost = boxes.filter((box) => box.unreachable || box.tags.flatMap((tag) => tag.tensors).every((one) => one.lost));
  const made = lost.map((box) => s.state.storages.get(box.storage));
  assert.deepEqual(made.map((one) => one.created.line), [6, 7, 8]);
  assert.equal(sum(made.map((one) => one.bytes)), 12 << 10);
  assert.equal(s.handle('h').storage, Math.max(...boxes.map((box) => box.storage)));
  assert.match(s.words, /into h, newly allocated/);
  read('leak', '12 KiB that no variable reaches', 'The three grey boxes with a struck-out h', 'of line 6, no variable reaches it');
});

test('mismatch: operands on two devices, and the fix', () => {
  const s = scene('mismatch');
  const m = mistakeIn(s);
  assert.deepEqual([m.type, m.name, m.line, m.words], ['mismatch', 'fy_matmul', 8, 'operands on cpu and cuda:0']);
  assert.deepEqual(m.operands.map((one) => [one.name, one.device]), [['mat1', 'cpu'], ['mat2', 'cuda:0']]);
  assert.match(s.words, /Fix: copy mat1 with fy_to\(mat1, "cuda"\) and use the copy, or create it there with \.device = "cuda"/);
  read('mismatch', 'at least two devices, cpu and cuda:0', 'fy_to(mat1, "cuda")');
});

test('full: 300 MiB asked for, the largest hole is 40', () => {
  const { request } = mistakeIn(scene('full'));
  assert.deepEqual([request.bytes, request.hole.bytes, request.free].map((n) => n / MiB), [300, 40, 272]);
  assert.deepEqual(request.holders.map(({ line, bytes, count }) => [line, bytes / MiB, count]), [[6, 240, 6]]);
  read('full', '300 MiB requested; largest free block: 40 MiB', '272 MiB', 'Held by line 6: 240 MiB in 6 tensors');
});

test('race: line 8 writes, line 9 reads', () => {
  const s = scene('race');
  const { race } = mistakeIn(s);
  assert.deepEqual(race.ends.map(({ line, does }) => [line, does]), [[8, 'writes'], [9, 'reads']]);
  assert.equal(race.storage, s.handle('there').storage);
  assert.deepEqual(race.ends.map(({ seq }) => s.one.events[seq].stream), [1, 0]);
  assert.match(s.words, /fy_stream_wait_stream\(fy_cuda_default_stream\(\), copies\) before line 9/);
  read('race', 'line 8 copies into it in stream 1, line 9 reads it (mul) in the default stream', 'NaN', 'fy_stream_wait_stream(fy_cuda_default_stream(), copies) before line 9');
});

test('two-cards-peer: card to card, and relu waits', () => {
  const s = scene('two-cards-peer');
  const [copy] = s.now.copies;
  assert.deepEqual(ends(s, copy), ['a', 'cuda:0', 'b', 'cuda:1']);
  assert.deepEqual([arrived(copy), left(s, copy), copy.route], ['756 KiB of 2 MiB', '3.39 µs', 'direct']);
  assert.deepEqual(s.now.ops.map((op) => [op.name, op.device, op.phase, op.ins, op.outs]), [['relu', 'cuda:1', 'queued', [copy.dst.storage], [s.handle('c').storage]]]);
  assert.equal(sum(s.now.staging.map((one) => one.bytes)), 0);
  read('two-cards-peer', '756 KiB of 2 MiB · 3.39 µs to go', '"c = relu(b) ... queued" on cuda:1');
});

test('two-cards-no-peer: by way of RAM, nothing has arrived', () => {
  const s = scene('two-cards-no-peer');
  const [copy] = s.now.copies;
  assert.deepEqual(ends(s, copy), ['a', 'cuda:0', 'b', 'cuda:1']);
  assert.deepEqual([arrived(copy), left(s, copy), copy.route], ['0 B of 2 MiB', '42.9 µs', 'host']);
  assert.ok(copy.moving.every((one) => one.hop === 1) && copy.buffered === copy.bytes);
  read('two-cards-no-peer', '0 B of 2 MiB', '42.9 µs to go', 'two staging buffers in the CPU RAM panel');
});

test('fifty: which of 51 tensors the product uses', () => {
  const s = scene('fifty');
  const [matmul] = s.now.ops;
  assert.deepEqual(s.works[0].event.in.map((use) => s.name(use.tensor)), ['moved', 'weight[7]']);
  assert.deepEqual([matmul.device, matmul.outs], ['cuda:0', [s.handle('output').storage]]);
  assert.deepEqual(matmul.ins.map((id) => s.state.storages.get(id).device), ['cuda:0', 'cuda:0']);
  assert.deepEqual(['cpu', 'cuda:0'].map((device) => storages(s, device).length), [25, 26]);
  read('fifty', 'moved and weight[7]', '25 boxes in CPU RAM and 26 in GPU VRAM', '"output = matmul(moved, weight[7])"');
});

// The words of the picture at one size, each with the place it takes; letters are as wide as those of the page's font.
function wordsAt(s, width, height) {
  const said = [];
  const wide = (words, font) => String(words).length * Number(/(\d+)px/.exec(font)[1]) * (/[67]00/.test(font) ? 0.56 : 0.5);
  const c = new Proxy({
    font: '12px x', tile: () => '', measureText: (words) => ({ width: wide(words, c.font) }),
    fillText(words, x, y) {
      const w = wide(words, c.font);
      said.push({ words, x: x - w * ({ center: 0.5, right: 1 }[c.textAlign] ?? 0), w, y });
    },
  }, { get: (all, key) => all[key] ?? (() => {}) });
  const now = actions(s.one, s.step, s.t, s.state);
  draw(c, { layout: layout(s.state, s.one.addresses, width, height, now), now: s.now, actions: now, by: 'clock', m: 1, t: s.t, names: s.one.names, theme: {}, scale: 1, line: s.step.line, waited: 0 });
  return said;
}

test('pinned memory is named in a word, wide or narrow', () => {
  const s = scene('pinned-overlap');
  for (const [width, height] of [[1392, 417], [720, 260], [366, 430]]) {
    const said = wordsAt(s, width, height);
    const name = said.find(({ words }) => words === 'second');
    assert.ok(said.some(({ words, x, y }) => /^(.*, )?pinned$/.test(words) && Math.abs(y - name.y) < 70 && x > name.x), `${width}x${height}`);
  }
});

test('two cards: what is not issued yet is not drawn', () => {
  const s = scene('two-cards-no-peer');
  const phases = (by) => actions(s.one, s.step, s.t, s.state, by).filter((a) => a.type === 'copy').map((a) => a.phase);
  assert.deepEqual(phases('step'), ['running', 'queued']);
  assert.deepEqual(phases('clock'), ['running', 'later']);
  assert.ok(s.one.timeline.worksIssued(s.step.from, s.step.to)[0].issued > s.t);
});

test('two cards: no words over others, wide or narrow', () => {
  for (const name of ['two-cards-peer', 'two-cards-no-peer']) {
    for (const [width, height] of [[992, 288], [992, 340], [1392, 417], [1160, 300], [720, 260]]) {
      const said = wordsAt(scene(name), width, height);
      said.forEach((a, i) => said.slice(i + 1).forEach((b) => {
        assert.ok(Math.abs(a.y - b.y) >= 10 || a.x + a.w <= b.x + 1 || b.x + b.w <= a.x + 1, `${name} at ${width}x${height}: “${a.words}” and “${b.words}”`);
      }));
      const side = (width - 72 - Math.min(190, Math.max(112, width * 0.15))) / 2;
      for (const { words, x, w } of said.filter((one) => /staged|to go/.test(one.words) && one.x < width - side)) assert.ok(x >= side + 72 && x + w <= width - side + 1, `${name} at ${width}: “${words}” leaves the bus`);
      assert.ok(said.some(({ words }) => /3\.39 µs to go|42\.9 µs/.test(words)), `${name} at ${width}: how long still`);
    }
  }
});

function manyCards(n) {
  const one = run({ run: 1 });
  one.take(0, cardsLog(n));
  const step = one.steps.at(-1);
  const t = 15000;
  return { one, step, state: one.at(step.to), t, now: instant(one, t) };
}

test('two and four cards keep their names and lanes', () => {
  for (const n of [2, 4]) {
    for (const [width, height] of [[1392, 417], [992, 340], [366, n < 4 ? 480 : 574], ...(n < 4 ? [[720, 300]] : [])]) {
      const s = manyCards(n);
      const said = wordsAt(s, width, height);
      const where = `${n} cards at ${width}x${height}`;
      for (let i = 0; i < n; i++) {
        assert.ok(said.some(({ words }) => words.includes(`part${i}`)), `${where}: part${i} has its name`);
        assert.ok(said.some(({ words }) => words.includes(i || n === 1 ? `cuda:${i}` : 'cuda:0')), `${where}: cuda:${i} is named`);
      }
      const { bus, boxes } = layout(s.state, s.one.addresses, width, height, []);
      assert.equal(boxes.length, n + 1, `${where}: every tensor is drawn`);
      assert.deepEqual([...bus.lanes.keys()], Array.from({ length: n }, (_, i) => `cuda:${i}`));
      const groups = new Set(lanesOf(s.one).rows().map((row) => row.group));
      for (let i = 0; i < n; i++) assert.ok(groups.has(`cuda:${i}`), `${where}: the timeline has lanes of cuda:${i}, ${[...groups]}`);
      if (width < height) continue; // there all cards share one picture of the bus
      const ends = [...bus.lanes.values()].flatMap(({ h2d, d2h }) => [h2d, d2h]).map(({ from, thick }) => ({ at: from[1], thick }));
      ends.forEach((a, i) => ends.slice(i + 1).forEach((b) => assert.ok(Math.abs(a.at - b.at) >= (a.thick + b.thick) / 2, `${where}: two lanes lie on each other`)));
    }
  }
});

test('training-step: the gradient goes back through relu', () => {
  const s = scene('training-step');
  assert.match(s.words, /^The gradient of active goes back through relu on line 15\./);
  const named = storages(s, 'cuda:0').flatMap(tagNames).filter((name) => /grad/.test(name));
  assert.deepEqual(named.toSorted(), ['grad of hidden', 'grad of loss', 'w2.grad']); // at the end of the step, where that of active is gone
  const [outer] = loopsOf(s.one).at(s.step.to).toReversed();
  assert.deepEqual([outer.n, outer.loop.iterations.length], [1, 2]);
  read('training-step', 'iteration 1 of 2', 'goes back through relu on line 15', 'grad of active', ...named);
});

const summaryAt = (s, device, width = 1440, height = 420) => layout(s.state, s.one.addresses, width, height, []).memories.find((m) => m.device === device).summary.map(({ said }) => said.join(' '));

test('training-loop: what VRAM is for, and what Adam keeps', () => {
  const s = scene('training-loop');
  const [outer] = loopsOf(s.one).at(s.step.to);
  assert.deepEqual([outer.n, outer.loop.iterations.length], [3, 4]);
  const wide = summaryAt(s, 'cuda:0');
  assert.deepEqual(wide.slice(0, 4), ['parameters 37.5 KiB', 'gradients 5.04 KiB', 'optimizer (Adam) 75.1 KiB', 'kept for gradients 192 KiB']);
  read('training-loop', 'iteration 3 of 4', wide.join(', '), summaryAt(s, 'cuda:0', 366, 384).join(', '));
});

test('loader: batches by worker, none on the card yet', () => {
  const s = scene('loader');
  const state = s.one.atMoment(s.step.to, s.t);
  const said = summaryAt({ ...s, state }, 'cpu');
  assert.deepEqual(said.map((one) => one.replace(/ \d+ KiB$/, '')), ['batch 0, in use', 'batch 1, ready, by worker 1', 'batch 2, worker 0 makes it', 'batch 3, worker 1 makes it']);
  assert.deepEqual(storages(s, 'cuda:0').map(tagNames), [['w']]);
  read('loader', ...said.map((one) => one.replace(/ \d+ KiB$/, '')), 'batch 0, in use 128 KiB', 'batches 1, 2, 3 640 KiB');
});
