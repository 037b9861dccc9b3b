// scale_test.mjs: same bytes, same area, in all memories, or the picture says where not: a row under a lens, by its factor; boxes
// too thin for the scale, beside the scale. On logs where one memory has hundreds of tensors and the other two.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { opened, stageAt } from './recorder.mjs';
import { logs } from './logs.mjs';

const SIZES = [[1000, 420], [640, 380], [1900, 700], [366, 480]];

/** `n` tensors in RAM and two on the card, all of `bytes`; in RAM also one of `big` bytes. */
function lopsided(n, bytes, big) {
  const card = { name: 'cuda:0', kind: 'sim', card: 'H200', capacity: 2 ** 34, model: { bus_bandwidth: 5e10 } };
  const events = [{ kind: 'session', clock: 'model', devices: [{ name: 'cpu', kind: 'cpu', capacity: 2 ** 34 }, card] }];
  let id = 0;
  const make = (device, addr, size) => {
    const use = { tensor: ++id, storage: id, version: 1 };
    events.push({ kind: 'alloc', storage: id, device, mem: device === 'cpu' ? 'pageable' : 'device', addr: `0x${addr.toString(16)}`, asked: size, bytes: size, tenant: 0 },
      { kind: 'tensor', tensor: id, name: `x${id}`, storage: id, shape: [size / 4], strides: [1], offset: 0, dtype: 'float32', device },
      { kind: 'op', id, name: 'ones', device, stream: 0, in: [], out: [use] }, { kind: 'complete', id, start: id * 10, end: id * 10 + 5, engine: device === 'cpu' ? 'host' : 'compute' });
  };
  for (let i = 0; i < n; i++) make('cpu', 0x55000000 + i * (bytes + 64), bytes);
  if (big) make('cpu', 0x66000000, big);
  for (let i = 0; i < 2; i++) make('cuda:0', 0x7000000000 + i * 0x10000, bytes);
  return events.map((e, seq) => ({ seq, t: seq * 10, th: 0, file: 'a.c', line: seq + 1, fn: 'main', ...e }));
}

// The bodies of boxes as they are painted: a rounded rectangle in the colour of the panel, within the map.
const painted = (seen, { x, y, h }) => seen.filter((s) => s.what === 'fill' && s.style === 'panel' && s.y === y && s.h === h && Math.abs(s.x - x) < 0.01)
  .sort((a, b) => Math.abs(a.x - x) - Math.abs(b.x - x));

let [compared, thin, enlarged] = [0, 0, 0];

/** How the picture of a run lies about areas: [words], after what it says itself. */
function lies(one, seq, [width, height]) {
  const { seen, plan } = stageAt(one, seq, width, height);
  const texts = seen.filter((s) => s.what === 'text');
  const found = [];
  for (const box of plan.boxes.filter((b) => !b.group && !b.freed)) {
    for (const piece of box.pieces) {
      const drawn = painted(seen, piece)[0];
      if (!drawn) continue; // an outline: nothing is in it
      const { row } = piece;
      const label = texts.find((s) => /^× \d+$/.test(s.words) && s.y < row.y + row.h / 2 + 8 && s.y + s.h > row.y + row.h / 2 - 8 && s.x > row.x && s.x < row.right);
      const factor = label ? Number(label.words.slice(2)) : 1;
      const honest = piece.bytes * plan.map.scale * factor * plan.map.height;
      const off = (drawn.w * drawn.h) / honest - 1;
      compared++;
      thin += off > 0.02;
      enlarged += factor > 1;
      const isSaid = off > 0 && drawn.w <= 2.51 && texts.some((s) => /^[\d.]+ \w+[;,] thin/.test(s.words));
      if (Math.abs(off) > 0.02 && !isSaid) found.push(`${box.name} in ${box.device}: ${drawn.w} x ${drawn.h} px for ${piece.bytes} B, × ${factor}: ${(100 * off).toFixed(1)} %`);
    }
  }
  return found;
}

test('five hundred tensors against two: areas tell bytes', () => {
  for (const [n, bytes, big] of [[500, 4096], [500, 4096, 2 ** 22], [500, 64], [500, 1024, 2 ** 26], [2, 64, 2 ** 20], [2, 4096]]) {
    const one = opened(lopsided(n, bytes, big));
    for (const size of SIZES) assert.deepEqual(lies(one, one.events.length - 1, size), [], `${n} of ${bytes} B, one of ${big} B, at ${size}`);
  }
  assert.ok(compared > 40 && thin > 10 && enlarged > 20, `${compared} boxes, ${thin} thin, ${enlarged} under a lens`);
});

test('areas tell bytes in every log', () => {
  for (const [name] of logs()) {
    const one = opened(name);
    for (const { to } of one.steps.filter((_, i) => i % 5 === 4)) {
      for (const size of SIZES) assert.deepEqual(lies(one, to, size), [], `${name} after ${to} at ${size}`);
    }
  }
});

test('a group is as long as its bytes', () => {
  let count = 0;
  for (const [n, bytes, big] of [[500, 4096], [500, 64], [500, 4096, 2 ** 22]]) {
    const one = opened(lopsided(n, bytes, big));
    for (const size of SIZES) {
      const { seen, plan } = stageAt(one, one.events.length - 1, ...size);
      for (const group of plan.groups) {
        const storages = group.members.map((m) => one.at(Infinity).storages.get(m.storage));
        const span = Math.max(...storages.map((s) => Math.min(s.start + s.bytes, group.row.limit))) - Math.max(group.row.base, Math.min(...storages.map((s) => s.start)));
        const frame = seen.find((s) => s.what === 'stroke' && s.style === 'faint' && s.width === 1.25 && s.x === group.x && s.y === group.y);
        assert.ok(Math.abs(frame.w - span * group.row.scale) < Math.max(2.5, 0.02 * frame.w), `${n} of ${bytes} at ${size}: ${frame.w} px for ${span} B`);
        count++;
      }
    }
  }
  assert.ok(count > 10, `${count}`);
});
