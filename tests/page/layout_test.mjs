// layout_test.mjs: boxes stand in the right memory and apart from each other, whatever happens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apply, initial } from '../../www/model/state.js';
import { layout } from '../../www/stage/layout.js';
import { route } from '../../www/stage/motion.js';
import { tensorStyle, PATTERNS } from '../../www/stage/colours.js';
import { logs, random } from './logs.mjs';

const SIZES = [[1000, 400], [640, 380], [1900, 700], [366, 480], [320, 420]];

const EXPERIMENTS = new Set(['pinning', 'overlap']); // too many tensors for a small phone

const apart = (a, b) => a.x + a.w <= b.x + 0.01 || b.x + b.w <= a.x + 0.01 || a.y + a.h <= b.y + 0.01 || b.y + b.h <= a.y + 0.01;
const inside = (a, b) => a.x >= b.x - 0.01 && a.y >= b.y - 0.01 && a.x + a.w <= b.x + b.w + 0.01 && a.y + a.h <= b.y + b.h + 0.01;

function check(state, [w, h], where) {
  const plan = layout(state, w, h);
  for (const box of plan.boxes) {
    const home = plan.memories.find((m) => m.device === box.device);
    assert.ok(home, `${where}: ${box.device} has a memory`);
    assert.ok(inside(box, home.inner), `${where}: ${box.name} lies within ${box.device}`);
    assert.equal(box.device, state.storages.get(box.storage).device);
  }
  plan.boxes.forEach((a, i) => plan.boxes.slice(i + 1).forEach((b) => assert.ok(apart(a, b), `${where}: ${a.name} and ${b.name} overlap`)));
  plan.memories.forEach((a, i) => plan.memories.slice(i + 1).forEach((b) => assert.ok(apart(a.rect, b.rect), `${where}: memories overlap`)));
  return plan;
}

for (const [name, events] of logs()) {
  test(`${name}: boxes are apart and at home after every event`, () => {
    const state = initial();
    for (const e of events) {
      apply(state, e);
      for (const size of SIZES) {
        const plan = check(state, size, `event ${e.seq} at ${size}`);
        const live = [...state.storages.values()].filter((s) => s.freed === null);
        const unseen = live.map((s) => s.id).filter((id) => !plan.boxes.some((b) => b.storage === id));
        assert.equal(unseen.length, plan.more.reduce((n, m) => n + m.count, 0), `event ${e.seq}: what is not shown is counted`);
        if (!EXPERIMENTS.has(name)) assert.deepEqual(unseen, [], `event ${e.seq}: a lesson's are all shown`);
      }
    }
  });

  test(`${name}: copies go from source to destination on own lanes`, () => {
    const state = initial();
    for (const e of events) {
      apply(state, e);
      if (e.kind !== 'copy') continue;
      for (const [w, h] of SIZES) {
        const plan = layout(state, w, h);
        const points = route(plan, { src: e.src.storage, dst: e.dst.storage, dir: e.dir, route: e.route });
        const box = (id) => plan.boxes.find((b) => b.storage === id);
        const touches = ([x, y], b) => inside({ x, y, w: 0, h: 0 }, b);
        assert.ok(touches(points[0], box(e.src.storage)));
        assert.ok(touches(points.at(-1), box(e.dst.storage)));
        const { slot } = plan.bus[e.dir];
        assert.ok(points.some((p) => touches(p, slot)), 'through the staging slot of its lane');
      }
    }
  });
}

test('random allocations on three devices: apart, home, none lost silently', () => {
  const next = random(3);
  for (let round = 0; round < 40; round++) {
    const state = initial();
    state.devices = ['cpu', 'cuda:0', 'cuda:1'].slice(0, 2 + (round % 2)).map((name) => ({ name, kind: name === 'cpu' ? 'cpu' : 'sim', card: 'x', capacity: 1 << 29 }));
    const used = state.devices.map((d) => d.name);
    for (let id = 1; id < 4 + next() * 160; id++) {
      const bytes = Math.ceil(2 ** (next() * 34));
      apply(state, { kind: 'alloc', storage: id, device: used[Math.floor(next() * used.length)], addr: `0x${Math.floor(next() * 2 ** 40).toString(16)}`, asked: bytes, bytes });
      if (next() < 0.3) apply(state, { kind: 'free', storage: Math.ceil(next() * id) });
    }
    for (const size of SIZES) {
      const plan = check(state, size, `round ${round} at ${size}`);
      const live = [...state.storages.values()].filter((s) => s.freed === null).length;
      const shown = plan.boxes.filter((b) => !b.freed).length;
      assert.equal(shown + plan.more.reduce((n, m) => n + m.count, 0), live);
    }
  }
});

test('boxes stand in address order; more bytes, larger box', () => {
  const state = initial();
  const add = (id, addr, bytes) => apply(state, { kind: 'alloc', storage: id, device: 'cpu', addr, asked: bytes, bytes });
  add(1, '0x9000', 512);
  add(2, '0x1000', 1 << 20);
  add(3, '0x4000000', 1 << 10);
  const { boxes } = layout(state, 1400, 500);
  assert.deepEqual(boxes.map((b) => b.storage), [2, 1, 3]);
  const area = (id) => boxes.filter((b) => b.storage === id).map((b) => b.w * b.h)[0];
  assert.ok(area(2) > area(3) && area(3) > area(1));
});

test('a freed block stays until another takes its address', () => {
  const state = initial();
  const add = (id, addr) => apply(state, { kind: 'alloc', storage: id, device: 'cpu', addr, asked: 512, bytes: 512 });
  add(1, '0x1000');
  add(2, '0x2000');
  const before = layout(state, 1000, 400).boxes.find((b) => b.storage === 2);
  apply(state, { kind: 'free', storage: 1, bytes: 512 });
  const after = layout(state, 1000, 400).boxes;
  assert.deepEqual([before.x, before.y], [after.find((b) => b.storage === 2).x, after.find((b) => b.storage === 2).y]);
  assert.ok(after.find((b) => b.storage === 1).freed);
  add(3, '0x1000');
  assert.ok(!layout(state, 1000, 400).boxes.some((b) => b.storage === 1));
});

test('the first 49 tensors differ in hue or in pattern', () => {
  const looks = new Set(Array.from({ length: 49 }, (_, i) => JSON.stringify(tensorStyle(i))));
  assert.equal(looks.size, 49);
  assert.equal(PATTERNS.length, 7);
});
