// state_test.mjs: the reducer on logs, without a browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { localNames } from '../../www/model/aliases.js';
import { lostWords } from '../../www/model/reach.js';
import { apply, history, initial, kinds } from '../../www/model/state.js';
import { run } from '../../www/model/run.js';
import { actions } from '../../www/model/step_actions.js';
import { sentence } from '../../www/model/words.js';
import { logs, kindsOfSchema, random } from './logs.mjs';

const fold = (events) => events.reduce(apply, initial());
const live = (state) => [...state.storages.values()].filter((s) => s.freed === null);

for (const [name, events] of logs()) {
  test(`${name}: bytes are conserved after every event`, () => {
    const state = initial();
    const expected = {};
    for (const e of events) {
      apply(state, e);
      if (e.kind === 'alloc') expected[e.device] = (expected[e.device] ?? 0) + e.bytes;
      if (e.kind === 'free') expected[device(events, e.storage)] -= e.bytes;
      for (const [where, bytes] of Object.entries(expected)) {
        assert.equal(sum(live(state).filter((s) => s.device === where)), bytes, `event ${e.seq}, ${where}`);
        assert.equal(state.ledger.live[where], bytes, `event ${e.seq}, ${where}`);
      }
    }
  });

  test(`${name}: bytes and copies over the bus match the copies`, () => {
    const { ledger } = fold(events);
    for (const dir of ['h2d', 'd2h']) {
      const copies = events.filter((e) => e.kind === 'copy' && e.dir === dir);
      assert.equal(ledger[dir].copies, copies.length);
      assert.equal(ledger[dir].bytes, sum(copies));
    }
    assert.equal(ledger.held, events.reduce((total, e) => total + (e.held ?? 0), 0));
  });

  test(`${name}: own wait and memory allocation are two sums`, () => {
    const state = fold(events);
    const of = (segment) => events.reduce((total, e) => total + (e.line > 0 && (e.kind === 'segment') === segment ? e.held ?? 0 : 0), 0);
    const sums = [...state.lines.values()].reduce(([held, taking], l) => [held + l.held, taking + l.taking], [0, 0]);
    assert.deepEqual(sums, [of(false), of(true)]);
  });

  test(`${name}: stepping back gives what folding forward gave`, () => {
    for (const interval of [1, 3, 7, 1024]) {
      const past = history(interval);
      events.forEach((e) => past.push(e));
      const forward = events.map((_, n) => structuredClone(past.at(n)));
      for (let n = events.length - 1; n >= 0; n--) assert.deepEqual(past.at(n), forward[n], `interval ${interval}, event ${n}`);
      for (const n of [5, 0, events.length - 1, 2]) assert.deepEqual(past.at(n), forward[n]);
      assert.deepEqual(past.at(events.length - 1), fold(events));
    }
  });

  test(`${name}: two readers do not disturb each other`, () => {
    const next = random(5);
    for (const interval of [1, 16, 1024]) {
      const past = history(interval);
      events.forEach((e) => past.push(e));
      const [one, other] = [past.at, past.reader()];
      for (let i = 0; i < 60; i++) {
        const [a, b] = [0, 0].map(() => Math.floor(next() * events.length));
        const [first, second] = [one(a), other(b)];
        assert.deepEqual(first, fold(events.slice(0, a + 1)), `interval ${interval}, event ${a}`);
        assert.deepEqual(second, fold(events.slice(0, b + 1)), `interval ${interval}, event ${b}`);
      }
    }
  });

  test(`${name}: steps cover every event once, in order`, () => {
    const one = run({ run: 1 });
    one.take(0, events);
    assert.equal(one.steps[0].from, 0);
    assert.equal(one.steps.at(-1).to, events.length - 1);
    one.steps.forEach((s, i) => i && assert.equal(s.from, one.steps[i - 1].to + 1));
    events.forEach((_, seq) => {
      const s = one.steps[one.stepOf(seq)];
      assert.ok(s.from <= seq && seq <= s.to);
    });
  });
}

const device = (events, storage) => events.find((e) => e.kind === 'alloc' && e.storage === storage).device;
const sum = (list) => list.reduce((total, s) => total + s.bytes, 0);

test('arguments name a tensor where it is sure', () => {
  const names = (line, e) => localNames(new Map([['p.c', `#define W w\n\n${line}`]]), { kind: 'op', file: 'p.c', line: 3, ...e });
  const use = (...ids) => ids.map((tensor) => ({ tensor }));
  const matmul = { name: 'matmul', in: use(1, 2) };
  assert.deepEqual(names('y = fy_matmul(x, w);', matmul), [[1, 'x'], [2, 'w']]);
  assert.deepEqual(names('y = fy_matmul(fy_t(x), w); // fy_matmul(a, b)', matmul), [[2, 'w']]);
  assert.deepEqual(names('y = fy_relu(fy_matmul(/* x, */ a,\n      b));', matmul), [[1, 'a'], [2, 'b']]);
  assert.deepEqual(names('y = fy_linear(x, w, b);', { name: 'addmm', in: use(3, 1, 2) }), [[3, 'b'], [1, 'x'], [2, 'w']]);
  assert.deepEqual(names('fy_add_(x, b);', { name: 'add', inplace: true, in: use(1, 2), out: use(1) }), [[1, 'x'], [2, 'b']]);
  assert.deepEqual(names('y = fy_sum(x, (0), .keepdim = true);', { name: 'sum', in: use(1) }), [[1, 'x']]);
  for (const line of ['y = fy_add(fy_matmul(x, w), fy_matmul(a, b));', 'y = fy_matmul(l->x, o[i]);', 'y = MATMUL(x, w);', 'y = f("fy_matmul(x, w)");', 'y = fy_matmul(x', 'y = my_fy_matmul(x, w);']) {
    assert.deepEqual(names(line, matmul), [], line);
  }
  assert.deepEqual(names('y = fy_matmul(x, W);', matmul), [[1, 'x']], 'a macro is no name');
  assert.deepEqual(names('y = fy_mul(x, rate);', { name: 'mul', in: use(1) }), [], 'which of the two is the tensor?');
  assert.deepEqual(names('y = fy_to(x, "cuda");', { kind: 'copy', why: 'user', src: { tensor: 1 } }), [[1, 'x']]);
  assert.deepEqual(names('fy_print(x);', { kind: 'host_read', via: 'print', tensor: 1 }), [[1, 'x']]);
  assert.deepEqual(names('y = fy_t(x);', { kind: 'tensor', view_of: 1 }), [[1, 'x']]);
  assert.deepEqual(names('y = fy_linear(fy_t(x), w);', { kind: 'tensor', view_of: 1 }), []);
});

test('a tensor has the names of parameters too', () => {
  const text = 'f(fy_tensor *x) {\n  return fy_relu(x);\n}\nmain() {\n  h = fy_ones((2)); f(h); g = fy_ones((2)); f(g); fy_relu(h);\n}';
  const site = (line, fn) => ({ file: 'p.c', line, fn });
  const tensor = (id, name) => ({ kind: 'tensor', ...site(5, 'main'), tensor: id, storage: id, name, shape: [2] });
  const relu = (id, ...at) => ({ kind: 'op', ...site(...at), name: 'relu', in: [{ tensor: id, storage: id }] });
  const events = [{ kind: 'source', path: 'p.c', text }, tensor(1, 'h'), relu(1, 2, 'f'), tensor(2, 'g'), relu(2, 2, 'f'), relu(1, 5, 'main')];
  const also = (n) => [1, 2].map((id) => fold(events.slice(0, n)).tensors.get(id)?.also.map(({ name, fn }) => `${name} in ${fn}`).join());
  assert.deepEqual([also(2), also(3), also(5), also(6)], [['', undefined], ['x in f', undefined], ['', 'x in f'], ['', 'x in f']]);
  const one = run({ run: 1 });
  one.take(0, events);
  assert.match(sentence(events[2], one.names), /^relu\(x \(h\)\) runs/);
});

test('every kind of lib/trace/schema.h is handled, or listed as silent', () => {
  const known = kindsOfSchema();
  assert.ok(known.length > 20);
  assert.deepEqual(known.filter((kind) => !kinds.has(kind)), []);
  assert.deepEqual([...kinds].filter((kind) => !known.includes(kind)), [], 'the page knows kinds that the schema has not');
});

test('a copy is the same tensor; an op makes another', () => {
  const state = fold(logs().get('handmade-demo'));
  const by = (name) => state.storages.get([...state.tensors.values()].find((t) => t.name === name).storage);
  assert.equal(by('x').lineage, by('x_gpu').lineage);
  assert.equal(by('r').lineage, by('home').lineage);
  assert.notEqual(by('x').lineage, by('y').lineage);
});

test('writing one copy makes the other older than it', async () => {
  const { isStale, newerThan } = await import('../../www/model/state.js');
  const state = fold(logs().get('handmade-demo').slice(0, 14));
  const stale = () => [1, 3].map((id) => isStale(state, state.storages.get(id)));
  assert.deepEqual(stale(), [false, false]);
  apply(state, { seq: 14, kind: 'host_write', tensor: 1, storage: 1, version: 2, count: 1 });
  assert.deepEqual(stale(), [false, true]);
  const [x, gpu] = [state.storages.get(1), state.storages.get(3)];
  assert.deepEqual([newerThan(state, x), newerThan(state, gpu)], ['', 'x']);
  state.tensors.set(x.tensors[0], { ...state.tensors.get(x.tensors[0]), name: 'x_gpu' }); // x_gpu = fy_cuda(x) may as well be called x
  assert.equal(newerThan(state, gpu), 'x_gpu on cpu');
});

test('only a run that ended without `end` was killed', () => {
  const ended = (name) => {
    const one = run({ run: 1 });
    one.take(0, logs().get(name));
    one.ended = true;
    return one.killed;
  };
  assert.equal(ended('handmade-killed'), true);
  assert.equal(ended('handmade-demo'), false);
});

test('events that come twice count once; a hole is noticed', () => {
  const events = logs().get('handmade-demo');
  const one = run({ run: 1 });
  assert.equal(one.take(0, events.slice(0, 10)), true);
  assert.equal(one.take(4, events.slice(4, 20)), true);
  assert.equal(one.events.length, 20);
  assert.equal(one.take(25, events.slice(25)), false);
  assert.deepEqual(one.events, events.slice(0, 20));
});

test('random prefixes and malformed events never throw', () => {
  const next = random(7);
  const all = [...logs().values()];
  const junk = [null, undefined, 0, -1, 1e300, NaN, '', '__proto__', 'cuda:0', [], {}, [null], [{}], { storage: {} }, true];
  const names = [...kinds, 'no such kind', '__proto__', 'constructor', 7];
  const pick = (list) => list[Math.floor(next() * list.length)];
  for (let round = 0; round < 300; round++) {
    const events = pick(all);
    const one = run({ run: 1 });
    one.take(0, events.slice(0, next() * events.length));
    for (let i = 0; i < 25; i++) one.take(one.events.length, [bad(events)]);
    const state = one.at(Infinity);
    one.steps.forEach((s, i) => actions(one, s, one.span(one.steps[i])[1], state));
    one.at(Math.floor(next() * one.events.length));
  }

  function bad(events) {
    if (next() < 0.1) return pick(junk);
    const e = structuredClone(pick(events));
    const fields = Object.keys(e);
    for (let i = 0; i < 3; i++) e[pick(fields)] = pick(junk);
    if (next() < 0.5) e.kind = pick(names);
    if (next() < 0.5) delete e[pick(fields)];
    return e;
  }
});

test('the page keeps only live and a few freed boxes', () => {
  const state = initial();
  for (let i = 1; i <= 5000; i++) {
    apply(state, { kind: 'alloc', storage: i, device: 'cpu', addr: '0x1000', asked: 4, bytes: 64 });
    apply(state, { kind: 'tensor', tensor: i, storage: i, shape: [1], dtype: 'float32', device: 'cpu' });
    apply(state, { kind: 'drop', tensor: i, why: 'free' });
    apply(state, { kind: 'free', storage: i, bytes: 64 });
  }
  assert.ok(state.storages.size < 100);
  assert.ok(state.tensors.size < 100);
  assert.ok(state.lineages.size < 100);
  assert.equal(state.ledger.live.cpu, 0);
});

test('a look anywhere folds few events, though many tensors live', () => {
  const past = history();
  let read = 0;
  const event = (kind, fields) => past.push({ get kind() { read++; return kind; }, ...fields });
  for (let i = 1; i <= 10000; i++) {
    event('alloc', { storage: i, device: 'cpu', addr: '0x1000', asked: 4, bytes: 64 });
    event('tensor', { tensor: i, storage: i, shape: [1], dtype: 'float32', device: 'cpu' });
    event('drop', { tensor: i - 600, why: 'free' });
    event('free', { storage: i - 600, bytes: 64 });
  }
  past.at(Infinity);
  const each = read / past.events.length;
  const next = random(23);
  for (let i = 0; i < 50; i++) {
    read = 0;
    const n = Math.floor(next() * past.events.length);
    assert.equal(past.at(n).seq, n);
    assert.ok(read / each < 1500, `${read / each} events for event ${n}`); // 600 live storages with a tensor each
  }
});

test('state.js, layout.js and their kin touch neither document nor clock', () => {
  for (const file of ['model/state', 'model/steps', 'model/c_text', 'model/reach', 'model/aliases', 'model/run', 'model/pace', 'model/step_actions', 'model/timeline', 'model/transfer', 'model/instant', 'model/addresses', 'model/search', 'model/tensor_names', 'model/fields', 'model/moment', 'stage/layout', 'stage/map', 'stage/groups', 'stage/route', 'model/words', 'model/units']) {
    const code = readFileSync(new URL(`../../www/${file}.js`, import.meta.url), 'utf8').replace(/\/\/.*$/gm, '');
    assert.doesNotMatch(code, /\b(document|window|Date|performance|requestAnimationFrame|setTimeout|fetch|WebSocket)\b/, `${file}.js`);
  }
});

const scoped = (...lines) => {
  const s = initial();
  apply(s, { kind: 'source', path: 'a.c', text: lines.join('\n') });
  return s;
};

test('a variable of an inner block is another one', () => {
  const text = ['int main(void) {', 'fy_tensor *h = fy_ones((4)), *g = 0;', '{', 'fy_tensor *h = fy_zeros((4));', 'h = fy_relu(h);', '}', 'h = fy_relu(h);', 'if (1) g = fy_relu(h);', 'g = fy_abs(g);', '}'];
  const lines = [2, 4, 5, 7].map((line) => ({ name: 'h', line }));
  assert.deepEqual(named(lines, scoped(...text)).map((lost) => lost?.line), [7, 5, undefined, undefined]);
  assert.deepEqual(named([{ name: 'g', line: 8 }, { name: 'g', line: 9 }], scoped(...text))[0], { seq: 5 - 1, line: 9, to: 2 });
  const iterations = scoped('static fy_tensor *all;', 'void f(void) {', 'fy_tensor *x = fy_ones((4));', 'all = fy_relu(x);', '}', 'void g(void) { all = fy_ones((4)); }');
  const made = named([{ name: 'x', line: 3, fn: 'f' }, { name: 'all', line: 4, fn: 'f' }, { name: 'x', line: 3, fn: 'f' }, { name: 'all', line: 6, fn: 'g' }], iterations);
  assert.deepEqual(made.map((lost) => lost && [lost.line, lost.declared ?? false]), [[3, true], [6, false], null, null]);
});

// Tensors by name, each on a storage of its own: {name, fn, line} in order.
function named(tensors, s = initial()) {
  tensors.forEach(({ name, fn = 'main', line = 1, th = 0 }, i) => {
    apply(s, { kind: 'alloc', storage: i + 1, device: 'cpu', addr: `0x${i + 1}000`, bytes: 64 });
    apply(s, { kind: 'tensor', tensor: i + 1, storage: i + 1, name, fn, line, th, file: 'a.c', shape: [4] });
  });
  return tensors.map((_, i) => s.tensors.get(i + 1).lost);
}

test('a variable that is assigned again leaves its older tensor', () => {
  assert.deepEqual(named([{ name: 'h', line: 5 }, { name: 'h', line: 6 }, { name: 'h', line: 7 }]), [{ seq: 3, line: 6, to: 2 }, { seq: 5, line: 7, to: 3 }, null]);
});

test('another variable of that name leaves nothing', () => {
  assert.deepEqual(named([{ name: 'h' }, { name: 'h', fn: 'other' }, { name: 'h', th: 1 }, { name: 'x' }]), [null, null, null, null]);
  assert.deepEqual(named([{ name: 'batch[0]' }, { name: 'batch[1]' }, { name: 'batch[i]' }, { name: 'batch[i]' }]), Array(4).fill(null));
  assert.deepEqual(named([{ name: 'p.at[0]' }, { name: 'p.at[0]' }, { name: 'p->w' }, { name: 'p->w' }, { name: '' }, { name: '' }]), Array(6).fill(null));
  assert.deepEqual(named([{ name: 'h', fn: '' }, { name: 'h', fn: '' }]), [null, null]);
});

// A program's text and what its calls made: [line, name, {fn, ins}], each on a storage of its own of 4 KiB; what is lost after each.
function lostAfter(lines, made, ...more) {
  const one = run({ run: 1 });
  one.take(0, [{ kind: 'source', path: 'a.c', text: lines.join('\n') }]);
  const add = (e) => one.take(one.events.length, [{ th: 0, file: 'a.c', fn: 'main', ...e }]);
  const ends = made.map(([line, name, { fn = 'main', ins = [] } = {}], i) => {
    add({ kind: 'alloc', line, fn, storage: i + 1, device: 'cpu', addr: `0x${i + 1}000`, asked: 4096, bytes: 4096 });
    add({ kind: 'tensor', line, fn, tensor: i + 1, storage: i + 1, name, shape: [1024] });
    add({ kind: 'op', line, fn, id: i + 1, name: 'relu', device: 'cpu', in: ins.map((tensor) => ({ tensor, storage: tensor })), out: [{ tensor: i + 1, storage: i + 1 }] });
    return one.events.length - 1;
  });
  more.forEach(add);
  return { one, sums: [...ends, one.events.length - 1].map((seq) => one.lostIn(one.at(seq)).sum / 4096) };
}

const leaking = ['int main(void) {', 'fy_tensor *h = fy_ones((1024));', 'h = fy_relu(h);', 'h = fy_relu(h);', 'fy_print(fy_relu(h));', '}'];
const chain = [[2, 'h'], [3, 'h', { ins: [1] }], [4, 'h', { ins: [2] }]];

test('what no variable reaches is lost, with its sum', () => {
  const { one, sums } = lostAfter(leaking, chain, { kind: 'end', line: 0, status: 0, live: [1, 2, 3] });
  assert.deepEqual(sums, [0, 1, 2, 2]);
  const lost = one.lostIn(one.at(one.events.length - 1));
  assert.deepEqual([[...lost.storages], lost.bytes.get('cpu'), lost.lines], [[1, 2], 8192, [2, 3]]);
  assert.equal(lostWords(lost), '8 KiB are leaked: what lines 2 and 3 made was not freed, and no variable holds it any more.');
  assert.equal(lostWords(one.lostIn(one.at(2))), '');
  const nameless = lostAfter(leaking, [...chain, [5, '', { ins: [3] }]], { kind: 'host_read', line: 5, tensor: 4, storage: 4 }, { kind: 'end', line: 0, status: 0, live: [1, 2, 3, 4] });
  assert.deepEqual(nameless.sums, [0, 1, 2, 2, 3]);
});

test('what something may still reach is not lost', () => {
  const none = (lines, made, ...more) => assert.deepEqual(lostAfter(lines, made, ...more).sums.filter(Boolean), [], lines.join(' '));
  none(leaking, chain.slice(0, 2), { kind: 'op', line: 5, id: 9, name: 'exp', device: 'cpu', in: [{ tensor: 1, storage: 1 }], out: [] }, { kind: 'drop', tensor: 1, why: 'free' }); // used and freed later
  none(leaking, chain, { kind: 'drop', tensor: 1, why: 'scope' }, { kind: 'drop', tensor: 2, why: 'scope' });
  for (const kept of ['all[n++] = h;', 'fy_tensor *g = h;', 'return h;', 'keep(&h);', 'fy_tensor *list[] = {h};']) none([...leaking.slice(0, 2), `h = fy_relu(h); ${kept}`, ...leaking.slice(3)], chain);
  none([], chain); // without its text
  none(['int main(void) {', 'for (;;) w[i] = fy_relu(x);', 'exit(0); }'], [[2, 'w[i]'], [2, 'w[i]']]);
  none(['int main(void) {', 'h = layer(fy_ones((2)));', 'h = fy_relu(h); }'], [[2, ''], [3, 'h', { ins: [1] }]]);
});

test('a block that is over loses its variables', () => {
  const text = ['fy_tensor *layer(fy_tensor *x) {', 'fy_tensor *t = fy_relu(x);', 'fy_tensor *y = fy_relu(t);', 'return y; }', 'int main(void) {', 'fy_tensor *h = fy_ones((1024));', 'h = layer(h);', '{ fy_tensor *i = fy_relu(h);', 'fy_print(i); }', 'fy_print(h); }'];
  const made = [[6, 'h'], [2, 't', { fn: 'layer', ins: [1] }], [3, 'y', { fn: 'layer', ins: [2] }], [8, 'i', { ins: [3] }]];
  const reads = (line, tensor) => ({ kind: 'host_read', line, tensor, storage: tensor });
  assert.deepEqual(lostAfter(text, made, reads(9, 4)).sums, [0, 0, 0, 1, 1]);
  assert.deepEqual(lostAfter(text, made, reads(9, 4), reads(10, 3)).sums.at(-1), 2);
});
