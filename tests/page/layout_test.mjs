// layout_test.mjs: boxes stand in the right memory and apart from each other, whatever happens.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { addresses } from '../../www/model/addresses.js';
import { apply, initial } from '../../www/model/state.js';
import { linkWords } from '../../www/stage/bus.js';
import { layout as place } from '../../www/stage/layout.js';
import { rows } from '../../www/stage/map.js';
import { route } from '../../www/stage/route.js';
import { tensorStyle, PATTERNS } from '../../www/stage/colours.js';
import { instant } from '../../www/model/instant.js';
import { capacityOf, figures } from '../../www/stage/capacity.js';
import { groupWords } from '../../www/stage/groups.js';
import { inUse } from '../../www/stage/tag_places.js';
import { lens } from '../../www/stage/lens.js';
import { run } from '../../www/model/run.js';
import { actions } from '../../www/model/step_actions.js';
import { momentSentence } from '../../www/model/moment.js';
import { stepSentence } from '../../www/model/words.js';
import { logs, random, root, spoilt } from './logs.mjs';

// The whole run's addresses, as the page knows them; of a state alone, those of its storages.
function layout(state, w, h, events = [...state.storages.values()].map((s) => ({ kind: 'alloc', ...s })), now = []) {
  const known = addresses();
  events.forEach(known.add);
  return place(state, known, w, h, now);
}

const SIZES = [[1000, 400], [640, 380], [1900, 700], [366, 480], [320, 420]];

const EXPERIMENTS = new Set(['pinning', 'overlap']); // too many tensors for a small phone

const CROWDED = 24; // px: of many boxes in use at once, and of those without a name of their own, the narrower may lack a label
const NARROWEST = 2.5; // px: what has fewer is drawn as wide as that, over its neighbour if need be
const apart = (a, b) => a.x + a.w <= b.x + NARROWEST || b.x + b.w <= a.x + NARROWEST || a.y + a.h <= b.y + 0.01 || b.y + b.h <= a.y + 0.01;
const inside = (a, b) => a.x >= b.x - 0.01 && a.y >= b.y - 0.01 && a.x + a.w <= b.x + b.w + 0.01 && a.y + a.h <= b.y + b.h + 0.01;

function check(state, [w, h], where) {
  const plan = layout(state, w, h);
  for (const box of plan.boxes) {
    const home = plan.memories.find((m) => m.device === box.device);
    assert.ok(home, `${where}: ${box.device} has a memory`);
    const edge = { ...home.inner, w: home.inner.w + NARROWEST };
    for (const piece of box.pieces) assert.ok(inside(piece, edge), `${where}: ${box.name} lies within ${box.device}`);
    assert.equal(box.device, state.storages.get(box.storage).device);
  }
  const parts = plan.boxes.flatMap((b) => b.pieces.map((piece) => ({ ...piece, name: b.name })));
  parts.forEach((a, i) => parts.slice(i + 1).forEach((b) => assert.ok(apart(a, b), `${where}: ${a.name} and ${b.name} overlap`)));
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
        const legs = route(plan, { src: e.src.storage, dst: e.dst.storage, dir: e.dir, route: e.route });
        const box = (id) => plan.boxes.find((b) => b.storage === id);
        assert.ok(touches(legs[0].points[0], box(e.src.storage)));
        assert.ok(touches(legs.at(-1).points.at(-1), e.dst.storage ? box(e.dst.storage) : plan.memories[0].compute), 'what is printed or read goes to the CPU');
        for (const { band: [from, to] } of legs) assert.ok(from >= 0 && from < to && to <= 1.001, `${from}..${to}`);
        if (e.dir === 'p2p') continue;
        const { slot } = plan.bus.lanes.get(e.dir === 'h2d' ? e.dst.device : e.src.device)[e.dir];
        assert.ok(inside(slot, plan.memories[0].rect), 'the staging buffers lie in RAM');
        assert.equal(legs.length, e.route === 'staged' ? 2 : 1);
        assert.equal(legs.some(({ points }) => points.some((at) => touches(at, slot))), e.route === 'staged', 'what is staged, and nothing else, stops there');
        legs.slice(1).forEach((leg, i) => assert.deepEqual(leg.points[0], legs[i].points.at(-1), 'one leg goes on where the other ends'));
      }
    }
  });
}

const touches = ([x, y], b) => inside({ x, y, w: 0, h: 0 }, b);

test('a lane is as thick as its bandwidth', () => {
  const state = initial();
  const card = (name, bus) => ({ name, kind: 'sim', capacity: 1 << 30, model: { bus_bandwidth: bus, staging_bandwidth: 10e9, peer_bandwidth: 20e9 } });
  apply(state, { kind: 'session', devices: [{ name: 'cpu', kind: 'cpu' }, card('cuda:0', 50e9), card('cuda:1', 25e9)] });
  const { lanes, staging } = layout(state, 1000, 500).bus;
  const wide = lanes.get('cuda:0').h2d.thick;
  assert.deepEqual([lanes.get('cuda:1').d2h.thick / wide, staging / wide], [0.5, 0.2]);
  for (const [w, h] of SIZES) assert.equal(layout(state, w, h).bus.lanes.get('cuda:0').h2d.thick, wide);
});

test('a link drawn narrower than its bandwidth says so', () => {
  const links = (bus, peer) => {
    const state = initial();
    const card = (name) => ({ name, kind: 'sim', capacity: 1 << 30, model: { bus_bandwidth: bus, peer_bandwidth: peer } });
    apply(state, { kind: 'session', devices: [{ name: 'cpu', kind: 'cpu' }, card('cuda:0'), card('cuda:1')] });
    const { bus: wires } = layout(state, 1000, 500);
    return [linkWords('bus', [wires.lanes.get('cuda:0').h2d])[0], linkWords('link', [wires.peer])[0]];
  };
  assert.deepEqual(links(50e9, 20e9), ['bus 50 GB/s', 'link 20 GB/s']);
  assert.deepEqual(links(100e9, 390e9), ['bus 100 GB/s', 'link 390 GB/s, drawn narrower']);
  assert.deepEqual(links(450e9, undefined), ['bus 450 GB/s, drawn narrower', 'link']);
});

test('a copy between cards goes as it can', () => {
  const state = initial();
  apply(state, { kind: 'session', devices: ['cpu', 'cuda:0', 'cuda:1'].map((name) => ({ name, capacity: 1 << 30 })) });
  ['cuda:0', 'cuda:1'].forEach((device, i) => apply(state, { kind: 'alloc', storage: i + 1, device, addr: '0x1000', bytes: 4096 }));
  const plan = layout(state, 1000, 500);
  const [ram, one, two] = plan.memories;
  const [link] = route(plan, { src: 1, dst: 2, dir: 'p2p', route: 'direct' });
  assert.ok(link.points.every((at) => at[0] >= one.rect.x), 'the link stays on the side of the cards');
  const legs = route(plan, { src: 1, dst: 2, dir: 'p2p', route: 'host' });
  assert.equal(legs.length, 2);
  assert.ok(touches(legs[0].points[0], one.rect) && touches(legs[0].points.at(-1), ram.rect) && touches(legs[1].points.at(-1), two.rect));
});

test('random allocations on three devices: apart, home, none lost silently', () => {
  const next = random(3);
  for (let round = 0; round < 40; round++) {
    const state = initial();
    state.devices = ['cpu', 'cuda:0', 'cuda:1'].slice(0, 2 + (round % 2)).map((name) => ({ name, kind: name === 'cpu' ? 'cpu' : 'sim', card: 'x', capacity: 1 << 29 }));
    const used = state.devices.map((d) => d.name);
    for (let id = 1, at = 4096; id < 4 + next() * 160; id++) {
      const bytes = Math.ceil(2 ** (next() * 34));
      at += Math.ceil(next() < 0.5 ? 0 : 2 ** (next() * 36)) + bytes;
      apply(state, { kind: 'alloc', storage: id, device: used[Math.floor(next() * used.length)], addr: `0x${(at - bytes).toString(16)}`, asked: bytes, bytes });
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

for (const [name, events] of logs()) {
  test(`${name}: the same bytes have the same area, everywhere`, () => {
    const state = initial();
    for (const e of events) {
      apply(state, e);
      if (e.kind !== 'alloc') continue;
      for (const [w, h] of SIZES) {
        const { boxes, map } = layout(state, w, h, events);
        for (const { name: of, pieces, bytes } of boxes) {
          for (const { row, w: width, h: height, bytes: part } of pieces) {
            if (width <= NARROWEST) continue;
            assert.ok(Math.abs(row.scale / row.lens / map.scale - 1) < 1e-9, `${of}: one scale, but for the lens`);
            const area = (width * height) / (map.scale * row.lens * map.height);
            assert.ok(Math.abs(area / part - 1) < 0.02, `${of} of ${bytes} bytes at ${w}x${h}: area of ${area}`);
          }
        }
      }
    }
  });

  test(`${name}: at any moment areas add up to live bytes`, () => {
    const one = run({ run: 1 });
    one.take(0, events);
    const next = random(5);
    for (let i = 0; i < 40; i++) {
      const state = one.at(Math.floor(next() * events.length));
      for (const [w, h] of SIZES) {
        const { boxes, more } = layout(state, w, h, events);
        for (const device of new Set([...state.storages.values()].map((one) => one.device))) {
          if (more.some((m) => m.device === device)) continue; // counted, not drawn
          const here = [...state.storages.values()].filter((one) => one.device === device && one.freed === null);
          const live = here.reduce((sum, one) => sum + (one.asked ?? one.bytes), 0); // what is lost by rounding is hatched beside the box
          const pieces = boxes.filter((b) => here.some((one) => one.id === b.storage)).flatMap((b) => b.pieces);
          const drawn = pieces.reduce((sum, p) => sum + (p.w <= NARROWEST ? p.bytes : p.w / p.row.scale), 0);
          assert.ok(Math.abs(drawn - live) <= 0.02 * live, `event ${state.seq}, ${device}, ${w}x${h}: ${drawn} of ${live} bytes`);
        }
      }
    }
  });

  test(`${name}: no storage moves while the run is played`, () => {
    const state = initial();
    const seen = new Map();
    for (const e of events) {
      apply(state, e);
      for (const { storage, x, y, w } of layout(state, 1000, 400, events).boxes) {
        assert.deepEqual(seen.get(storage) ?? [x, y, w], [x, y, w], `storage ${storage}, event ${e.seq}`);
        seen.set(storage, [x, y, w]);
      }
    }
  });
}

test('malformed events never make a picture or its sentences throw', () => {
  const next = random(17);
  for (const events of logs().values()) {
    for (let round = 0; round < 4; round++) {
      const one = run({ run: 1 });
      one.take(0, spoilt(events, next));
      one.ended = true;
      for (let i = 0; i < 10; i++) {
        const step = one.steps[Math.floor(next() * one.steps.length)];
        if (!step) continue;
        const state = one.at(step.to);
        const now = instant(one, Math.min(one.span(step)[1], 1e12));
        const does = actions(one, step, now.t ?? 0, state);
        const plan = place(state, one.addresses, 1000, 400, does, one.lostIn(state));
        for (const a of does.filter(({ type }) => type === 'copy')) route(plan, a);
        assert.equal(typeof stepSentence(one.events, step, one.names), 'string');
        assert.equal(typeof momentSentence(one, now), 'string');
      }
    }
  }
});

test('a map knows of addresses that come later', () => {
  const state = initial();
  const known = addresses();
  const first = { kind: 'alloc', storage: 1, device: 'cpu', addr: '0x0', asked: 4096, bytes: 4096 };
  known.add(first);
  apply(state, first);
  assert.equal(place(state, known, 1000, 400).memories[0].rows.length, 1);
  known.add({ ...first, storage: 2, addr: '0x1000' }); // as it arrives
  assert.equal(place(state, known, 1000, 400).memories[0].rows.length, 2);
});

test('rows are read like a hex dump', () => {
  const state = initial();
  const add = (id, addr, bytes) => apply(state, { kind: 'alloc', storage: id, device: 'cpu', addr, asked: bytes, bytes });
  add(1, '0x1000', 3000); // 4 KiB a row
  add(2, '0x1bb8', 1000);
  add(3, '0x1fa0', 3000); // no room in that row
  add(4, '0x900000', 4096);
  const { boxes, map } = layout(state, 1400, 500);
  assert.equal(map.bytes, 4096);
  const at = (id) => boxes.find((b) => b.storage === id);
  assert.ok(at(1).y === at(2).y && at(2).y < at(3).y && at(3).y < at(4).y);
  assert.ok(Math.abs(at(1).x + at(1).w - at(2).x) < 0.01, 'the next byte stands beside the last one');
  assert.ok(at(1).x === at(3).x && at(3).x === at(4).x);
});

test('a long storage goes on in the next row', () => {
  const list = rows({ longest: 100, intervalsOf: () => [[0, 100], [100, 300], [300, 400]] }, ['cpu'], 9);
  assert.deepEqual(list.of.get('cpu').map((r) => [r.base, r.end]), [[0, 100], [100, 228], [228, 356], [356, 484], [484, 612], [612, 700]]);
});

test('all lenses have one factor', () => {
  const state = initial();
  apply(state, { kind: 'session', devices: [{ name: 'cpu' }, { name: 'cuda:0' }] });
  const add = (id, device, addr, bytes, asked) => apply(state, { kind: 'alloc', storage: id, device, addr, asked, bytes });
  add(1, 'cpu', '0x0', 128, 128);
  add(2, 'cpu', '0x80', 131072, 131072);
  add(3, 'cuda:0', '0x1000', 512, 128);
  add(4, 'cuda:0', '0x1200', 512, 128);
  const { boxes } = layout(state, 1400, 500);
  const [source, , copy, other] = [1, 2, 3, 4].map((id) => boxes.find((b) => b.storage === id));
  assert.ok(copy.pieces[0].row.lens > 1);
  assert.deepEqual([copy.w, other.w], [source.w, source.w]);
});

test('a row of tiny storages has a lens', () => {
  const state = initial();
  const add = (id, addr, bytes) => apply(state, { kind: 'alloc', storage: id, device: 'cpu', addr, asked: bytes, bytes });
  add(1, '0x0', 128);
  add(2, '0x80', 131072);
  const { boxes, memories } = layout(state, 1400, 500);
  const [small, large] = memories[0].rows;
  assert.ok(small.lens > 1 && Number.isInteger(Math.log2(small.lens)));
  assert.equal(large.lens, 1);
  assert.ok(boxes[0].w >= 24);
});

test('names stand apart, each under its box', () => {
  const state = initial();
  apply(state, { kind: 'alloc', storage: 9, device: 'cuda:0', addr: '0x0', asked: 8192, bytes: 8192 }); // 8 KiB a row
  for (let i = 0; i < 5; i++) {
    apply(state, { kind: 'alloc', storage: i + 1, device: 'cpu', addr: `0x${(i * 1024).toString(16)}`, asked: 1024, bytes: 1024 });
    apply(state, { kind: 'tensor', tensor: i + 1, storage: i + 1, name: `a_rather_long_name_${i}`, shape: [256] });
  }
  const tags = layout(state, 1000, 500).boxes.filter((b) => b.device === 'cpu').map((b) => b.tag).filter(Boolean);
  assert.ok(tags.length >= 3 && new Set(tags.map((tag) => tag.y)).size > 1);
  tags.forEach((a, i) => tags.slice(i + 1).forEach((b) => assert.ok(a.y !== b.y || Math.abs(a.x - b.x) > 150)));
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

// ---- tags -----------------------------------------------------------------------------------------

// A storage of 24 floats on the CPU with the views that a program makes of it; and a second one.
function viewed() {
  const state = initial();
  const tensor = (id, name, shape, strides, offset, more = {}) => apply(state, { kind: 'tensor', tensor: id, storage: 1, name, shape, strides, offset, dtype: 'float32', device: 'cpu', fn: 'main', ...more });
  apply(state, { kind: 'alloc', storage: 1, device: 'cpu', addr: '0x1000', asked: 96, bytes: 128 });
  tensor(1, 'x', [24], [1], 0);
  tensor(2, 'm', [4, 6], [6, 1], 0, { view_of: 1 });
  tensor(3, 't', [6, 4], [1, 6], 0, { view_of: 2 });
  tensor(4, 'row', [6], [1], 12, { view_of: 2 });
  tensor(5, 'col', [4], [6], 3, { view_of: 2 });
  return state;
}

const namesOf = (box) => box.tags.map((tag) => tag.tensors.map((t) => t.name).join(' '));

test('each living tensor has a tag; equal bytes share one', () => {
  const [box] = layout(viewed(), 1000, 400).boxes;
  assert.deepEqual(namesOf(box), ['x m t', 'row', 'col']);
  const state = viewed();
  apply(state, { kind: 'drop', tensor: 4, why: 'free' });
  assert.deepEqual(namesOf(layout(state, 1000, 400).boxes[0]), ['x m t', 'col']);
});

test('a bracket spans exactly the bytes of its tensor', () => {
  const [box] = layout(viewed(), 1000, 400).boxes;
  const at = (byte) => box.x + (byte / 96) * box.w;
  const [whole, row, column] = box.tags;
  const near = (marks, expected) => marks.forEach(({ x, w }, i) => assert.ok(Math.abs(x - at(expected[i][0])) < 0.01 && Math.abs(w - expected[i][1] * (box.w / 96)) < 0.01, `${x}, ${w}`));
  near(whole.marks, [[0, 96]]);
  near(row.marks, [[48, 24]]);
  near(column.marks, [[12, 4], [36, 4], [60, 4], [84, 4]]);
  near(column.hullMarks, [[12, 76]]);
  assert.ok(whole.marks[0].y < row.marks[0].y && row.marks[0].y < column.marks[0].y, 'views lie under what they are views of');
});

const label = (tag) => ({ x: tag.label.x, y: tag.label.y - 7, w: tag.label.w - 8, h: 14, name: tag.tensors[0].name });

for (const [name, events] of logs()) {
  test(`${name}: names stand apart; what is used has one`, () => {
    const one = run({ run: 1 });
    one.take(0, events);
    one.ended = true;
    for (const [i, step] of one.steps.entries()) {
      const state = one.at(step.to);
      const now = actions(one, step, one.span(one.steps[i])[1], state);
      for (const [w, h] of SIZES) {
        const { boxes } = layout(state, w, h, events, now);
        const labels = boxes.flatMap((b) => b.tags).filter((tag) => tag.label).map(label);
        labels.forEach((a, k) => labels.slice(k + 1).forEach((b) => assert.ok(apart(a, b), `step ${i} at ${w}x${h}: ${a.name} and ${b.name}`)));
        const used = boxes.filter((b) => b.used);
        const named = used.filter((b) => b.w > CROWDED || (used.length <= 6 && !/^t\d+$/.test(b.name)));
        const unnamed = named.filter((b) => !b.tags.some((tag) => tag.label)).map((b) => b.name);
        assert.deepEqual(unnamed, [], `step ${i} at ${w}x${h}`);
      }
    }
  });
}

test('a write is the elements that it wrote', () => {
  const state = viewed();
  const uses = inUse(state, [{ type: 'op', id: 9, ins: [], outs: [1], fresh: false, event: { out: [{ tensor: 5, storage: 1 }] } }]);
  assert.deepEqual(uses.writes, [{ id: 9, storage: 1, runs: [[12, 4], [36, 4], [60, 4], [84, 4]] }]);
  const host = inUse(state, [{ type: 'write', storage: 1, tensor: 3, first: 4, count: 2 }]); // t[1][0], t[1][1]
  assert.deepEqual(host.writes[0].runs, [[4, 4], [28, 4]]);
  const fresh = inUse(state, [{ type: 'op', id: 9, ins: [], outs: [1], fresh: true, event: { out: [{ tensor: 1, storage: 1 }] } }]);
  assert.deepEqual(fresh.writes, [], 'what is written for the first time is filled, not marked');
});

test('a lens stands apart, with a line for each tensor', () => {
  for (const [w, h] of [...SIZES, [1392, 436], [992, 355]]) {
    const plan = layout(viewed(), w, h);
    const [box] = plan.boxes;
    const at = lens(plan, box);
    if (!at) continue;
    assert.ok(inside(at, { ...plan.memories[0].rect }), `${w}x${h}: in its memory`);
    for (const other of [...plan.boxes.flatMap((b) => b.pieces), ...plan.boxes.flatMap((b) => b.tags).filter((tag) => tag.label).map(label)]) assert.ok(apart(at, other), `${w}x${h}`);
    assert.equal(at.lines.length + at.left, 5);
    assert.ok(at.lines.every((line) => line.y + line.h <= at.y + at.h + 0.01));
  }
  const large = layout(viewed(), 1392, 436);
  const at = lens(large, large.boxes[0]);
  assert.deepEqual(at.lines.map((line) => [line.tensor.name, line.lines.length]), [['x', 1], ['m', 1], ['t', 6], ['row', 1], ['col', 1]]);
});

// x (12, 8), its transpose, a row and a column, first of all in a segment whose rows fill the card in the course of the run.
function viewedOnCard(more = [], device = 'cuda:0') {
  const state = initial();
  const alloc = (storage, addr) => ({ kind: 'alloc', storage, device, addr: `0x${addr.toString(16)}`, asked: 384, bytes: 512 });
  const tensor = (id, name, shape, strides, offset) => ({ kind: 'tensor', tensor: id, storage: 1, name, shape, strides, offset, dtype: 'float32', device, fn: 'main' });
  const events = [{ kind: 'session', devices: [{ name: 'cpu', kind: 'cpu' }, ...(device === 'cpu' ? [] : [{ name: device, kind: 'sim', capacity: 1 << 20 }])] },
    { kind: 'segment', device, addr: '0x1000', bytes: 4096 }, alloc(1, 0x1000), tensor(1, 'x', [12, 8], [8, 1], 0), tensor(2, 't', [8, 12], [1, 8], 0),
    tensor(3, 'row', [8], [1], 80), tensor(4, 'col', [12], [8], 6), ...more];
  events.forEach((e) => apply(state, e));
  return { state, all: [...events, ...Array.from({ length: 7 }, (_, i) => alloc(10 + i, 0x1200 + 512 * i))] };
}

test('a lens finds room in a full memory', () => {
  const found = new Set();
  const busy = Array.from({ length: 7 }, (_, i) => ({ kind: 'alloc', storage: 10 + i, device: 'cuda:0', addr: `0x${(0x1200 + 512 * i).toString(16)}`, asked: 512, bytes: 512 }));
  for (const more of [[], busy]) {
    const { state, all } = viewedOnCard(more);
    for (const [w, h] of [[1392, 436], [992, 355], [374, 578]]) {
      const plan = layout(state, w, h, all);
      const at = lens(plan, plan.boxes.find((b) => b.storage === 1));
      assert.ok(at, `${w}x${h}: there is room`);
      found.add(at.device);
      assert.ok(inside(at, plan.memories.find((m) => m.device === at.device).rect));
      const taken = [...plan.boxes.flatMap((b) => b.pieces), ...plan.boxes.flatMap((b) => b.tags).filter((tag) => tag.label).map(label)];
      for (const other of taken) assert.ok(apart(at, other), `${w}x${h}: over a box or a name`);
      assert.equal(at.left, 0, `${w}x${h}: a line for each`);
      if (more.length) assert.equal(at.device, 'cpu', `${w}x${h}: no bytes of the card are free`);
    }
  }
  assert.deepEqual([...found].sort(), ['cpu', 'cuda:0']);
});

test('a short staircase shows the written rows', () => {
  const { state, all } = viewedOnCard([], 'cpu');
  const now = [{ type: 'op', id: 9, ins: [1], outs: [1], fresh: false, event: { out: [{ tensor: 4, storage: 1 }] } }];
  let short = 0;
  for (let h = 220; h < 460; h += 6) {
    const plan = layout(state, 992, h, all, now);
    const t = lens(plan, plan.boxes.find((b) => b.storage === 1))?.lines.find((line) => line.tensor.name === 't');
    if (!t?.more) continue;
    short++;
    assert.ok(t.from <= 6 && 6 < t.from + t.lines.flat().length, `${h}: rows ${t.from} to ${t.from + t.lines.flat().length - 1}, and row 6 is written`);
  }
  assert.ok(short > 3);
});

test('one tensor alone has no lens', () => {
  const state = viewed();
  for (const id of [2, 3, 4, 5]) apply(state, { kind: 'drop', tensor: id });
  const plan = layout(state, 1392, 436);
  assert.equal(lens(plan, plan.boxes[0]), null);
});

test('bytes that no tensor sees have no bracket', () => {
  const state = viewed();
  const reach = () => layout(state, 1000, 400).boxes[0].unreachable;
  for (const id of [1, 2, 3, 4]) apply(state, { kind: 'drop', tensor: id });
  assert.equal(reach(), false, 'col still sees it');
  apply(state, { kind: 'drop', tensor: 5 });
  assert.equal(reach(), true);
  const [box] = layout(state, 1000, 400).boxes;
  assert.deepEqual(box.tags.map((tag) => [tag.tensors.length, tag.marks.length]), [[1, 0]]);
  apply(state, { kind: 'alloc', storage: 2, device: 'cpu', addr: '0x2000', asked: 96, bytes: 128 });
  assert.equal(layout(state, 1000, 400).boxes.find((b) => b.storage === 2).unreachable, false, 'its tensor is to come');
});

test('a name that moves on is struck', () => {
  const state = initial();
  ['x', 'h', 'h'].forEach((name, i) => {
    apply(state, { kind: 'alloc', storage: i + 1, device: 'cpu', addr: `0x${i + 1}000`, asked: 4096, bytes: 4096 });
    apply(state, { kind: 'tensor', tensor: i + 1, name, storage: i + 1, shape: [1024], strides: [1], dtype: 'float32', fn: 'main', line: i });
  });
  const { boxes } = layout(state, 1000, 400, undefined, [{ type: 'alloc', storage: 3 }]);
  assert.deepEqual(boxes.map((b) => [b.name, b.tags[0].tensors[0].lost?.to ?? 0, b.tags[0].used]), [['x', 0, false], ['h', 3, true], ['h', 0, false]]);
});

test('capacity: tensors, then holes and rounding, then what is free', () => {
  const one = run({ run: 1 });
  one.take(0, [
    { kind: 'session', devices: [{ name: 'cpu', capacity: 2 ** 34 }, { name: 'cuda:0', capacity: 2 ** 29 }] },
    { kind: 'segment', device: 'cuda:0', addr: '0x1000', bytes: 2 ** 21 }, { kind: 'alloc', storage: 1, device: 'cuda:0', addr: '0x1000', asked: 100, bytes: 512 },
    { kind: 'segment', device: 'cpu', mem: 'pinned', addr: '0x1000', bytes: 2 ** 20 }, { kind: 'alloc', storage: 2, device: 'cpu', mem: 'pinned', addr: '0x1000', asked: 512, bytes: 512 },
    { kind: 'alloc', storage: 3, device: 'cpu', addr: '0x900000', asked: 1000, bytes: 1024 },
  ]);
  const [ram, card] = instant(one, 0).memories;
  assert.deepEqual(capacityOf(card), { used: 100, taken: 2 ** 21, capacity: 2 ** 29 });
  assert.deepEqual(capacityOf(ram), { used: 1512, taken: 2 ** 20 + 1024, capacity: 2 ** 34 });
  assert.deepEqual(figures(card), ['100 B in use, 2 MiB reserved, of 512 MiB', '100 B of 512 MiB', '100 B in use']);
  assert.deepEqual(figures({ ...ram, capacity: 0, reserved: 0, segments: [] })[1], '1.48 KiB in use');
});

test('names in use displace others, and are shortened', () => {
  const state = initial();
  const add = (i) => {
    apply(state, { kind: 'alloc', storage: i + 1, device: 'cpu', addr: `0x${(0x1000 + i * 1024).toString(16)}`, asked: 1024 - 8 * i, bytes: 1024 });
    apply(state, { kind: 'tensor', tensor: i + 1, storage: i + 1, name: `a_rather_long_name_${i}`, shape: [256], strides: [1] });
  };
  for (let i = 0; i < 16; i++) add(i);
  apply(state, { kind: 'alloc', storage: 99, device: 'cuda:0', addr: '0x0', asked: 16384, bytes: 16384 }); // 16 KiB a row
  const named = (used) => layout(state, 1000, 500, undefined, used.map((storage) => ({ type: 'read', storage, tensor: storage }))).boxes
    .filter((b) => b.device === 'cpu' && b.tag).map((b) => ({ ...label(b.tags[0]), id: b.storage, letters: b.tag.letters }));
  const plain = named([]).map((one) => one.id);
  assert.ok(plain.length < 16 && !plain.includes(16));
  assert.ok(named([16]).some((one) => one.id === 16), 'the last and smallest has its name when it is used');
  const all = Array.from({ length: 16 }, (_, i) => i + 1);
  const shown = named(all);
  assert.deepEqual(shown.map((one) => one.id), all);
  assert.ok(shown.some((one) => one.letters < 'a_rather_long_name_0'.length));
  shown.forEach((a, i) => shown.slice(i + 1).forEach((b) => assert.ok(apart(a, b), `${a.name} and ${b.name}`)));
});

// So many tensors of 4 KiB on the card, by turns weight[i] and bias[i], each right after the other.
function crowd(count) {
  const state = initial();
  apply(state, { kind: 'session', devices: [{ name: 'cpu', kind: 'cpu', capacity: 1 << 30 }, { name: 'cuda:0', kind: 'sim', capacity: 1 << 30 }] });
  for (let i = 0; i < count; i++) {
    apply(state, { kind: 'alloc', storage: i + 1, device: 'cuda:0', addr: `0x${(0x100000 + i * 4096).toString(16)}`, asked: 4096, bytes: 4096 });
    apply(state, { kind: 'tensor', tensor: i + 1, storage: i + 1, name: `${i % 2 ? 'bias' : 'weight'}[${i >> 1}]`, shape: [1024], strides: [1], offset: 0, dtype: 'float32' });
  }
  return state;
}

test('of five hundred tensors those in use stand out', () => {
  const state = crowd(500);
  const [a, b] = [450, 499]; // beyond those that have boxes otherwise
  const now = [{ type: 'op', id: 9, ins: [a], outs: [b], fresh: false, event: { in: [{ tensor: a, storage: a }], out: [{ tensor: b, storage: b }] } }];
  for (const [w, h] of [[1392, 436], [992, 355], [366, 528]]) {
    const plan = layout(state, w, h, undefined, now);
    for (const id of [a, b]) {
      const box = plan.boxes.find((one) => one.storage === id);
      assert.ok(box && !box.group && box.tags[0].label, `${w}x${h}: ${id} has a box and a name`);
    }
    assert.ok(plan.groups.length > 1 && plan.groups.length < 16, `${plan.groups.length} groups`);
    const split = plan.boxes.filter((box) => box.pieces.length > 1).length;
    const grouped = plan.groups.reduce((sum, one) => sum + one.count, 0);
    assert.ok(grouped >= 470 && grouped <= 498 + 16, `${w}x${h}: ${grouped} grouped, ${split} in two rows`);
    for (const [i, one] of plan.groups.entries()) for (const other of plan.groups.slice(i + 1)) assert.ok(apart(one, other));
    for (const one of plan.groups) for (const id of [a, b]) assert.ok(apart(one, plan.boxes.find((box) => box.storage === id)), `${w}x${h}: a group over tensor ${id}`);
    assert.match(groupWords(plan.groups[0])[0], /^\d+ tensors: (weight, bias|bias, weight)$/);
  }
  assert.deepEqual(layout(crowd(3), 1392, 436).groups, []);
  const { members } = layout(state, 1392, 436).groups.at(-1);
  assert.ok(members.every(({ storage, name }) => name === state.tensors.get(storage).name), 'each member is known, with its name, box or none');
});

// In a process of its own: a layout that never ends is ended there.
test('without room a layout ends, too', () => {
  const script = `
    import { addresses } from '${root}www/model/addresses.js';
    import { apply, initial } from '${root}www/model/state.js';
    import { layout } from '${root}www/stage/layout.js';
    import { logs } from '${root}tests/page/logs.mjs';
    for (const events of logs().values()) {
      const known = addresses();
      events.forEach(known.add);
      const half = events.slice(0, events.length / 2).reduce(apply, initial());
      for (const [w, h] of [[0, 0], [1, 1], [30, 20], [60, 400], [400, 5], [90000, 3]]) layout(half, known, w, h, []);
    }`;
  const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 20000, encoding: 'utf8' });
  assert.deepEqual([status, signal, stderr], [0, null, '']);
});
