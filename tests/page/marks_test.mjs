// marks_test.mjs: each mark of picture and lanes as it is drawn: what it spans and says is what the log's events say.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loopsOf } from '../../www/model/loops.js';
import * as units from '../../www/model/units.js';
import { isWhole, lanesAt, opened, stageAt } from './recorder.mjs';
import { logs } from './logs.mjs';

const SIZES = [[1000, 420], [640, 380], [1900, 700], [366, 480]];
const near = (a, b, within = 0.6) => Math.abs(a - b) <= within;
const texts = (seen) => seen.filter((one) => one.what === 'text');
const hatched = (ink) => (one) => one.what === 'fill' && one.style?.kind === 'hatch' && one.style.ink === ink;
const inBox = (one, box) => one.x >= box.x - 1 && one.x + one.w <= box.x + box.w + 1 && one.y + one.h / 2 > box.y && one.y + one.h / 2 < box.y + box.h;

/** "32 KiB" as a number. */
function bytesIn(words) {
  const [, n, unit] = /^([\d.]+) (B|KiB|MiB|GiB)([;,] thin.*)?$/.exec(words) ?? [];
  return n * 1024 ** ['B', 'KiB', 'MiB', 'GiB'].indexOf(unit);
}

/** Moments of logs: the end of each third step. */
const moments = (names) => names.flatMap((name) => {
  const one = opened(name);
  return one.steps.filter((_, i) => i % 3 === 2 || i === one.steps.length - 1).map(({ to }) => ({ one, name, seq: to }));
});
const SOME = ['demo-01-where-am-i', 'demo-02-to-returns', 'demo-03-round-trip', 'pinning', 'pinned-overlap', 'fifty', 'leak'];

// ---- the picture ------------------------------------------------------------------------------------

test('the scale rule spans the bytes that it names', () => {
  let seen = 0;
  for (const { one, name, seq } of moments(SOME)) {
    for (const [w, h] of SIZES) {
      const { seen: drawn, plan } = stageAt(one, seq, w, h);
      const box = plan.boxes.find((b) => b.pieces.length === 1 && b.pieces[0].row.lens === 1 && b.w > 20);
      const rule = drawn.filter((s) => s.what === 'stroke' && s.style === 'soft' && s.width === 1.5 && s.h === 0).find((s) => inBox(s, plan.bus.rect));
      assert.ok(rule, `${name} at ${w}x${h}: there is one`);
      const words = texts(drawn).find((s) => near(s.x + s.w / 2, rule.x + rule.w / 2) && near(s.y + s.h / 2, rule.y + 14));
      const ends = drawn.filter((s) => s.style === 'soft' && s.width === 1.5 && s.w === 0 && near(s.y + 4, rule.y)).map((s) => s.x);
      assert.deepEqual(ends.map(Math.round), [rule.x, rule.x + rule.w].map(Math.round), 'with a stroke at both ends');
      if (!box) continue;
      assert.ok(near(rule.w / bytesIn(words.words), box.w / box.bytes, 0.02 * (box.w / box.bytes)), `${name} at ${w}x${h}: ${words.words} are ${rule.w} px, ${box.bytes} B are ${box.w}`);
      seen++;
    }
  }
  assert.ok(seen > 100, `${seen}`);
});

// Where a byte is drawn: {x, y, h} of its row, or null.
function placeOf(memory, addr) {
  const row = memory.rows.find(({ base, limit }) => addr >= base && addr < limit);
  return row ? { x: row.x + (addr - row.base) * row.scale, row } : null;
}

test('a segment’s frame spans its bytes, open where cut', () => {
  let [closed, open] = [0, 0];
  for (const { one, name, seq } of moments(SOME)) {
    const { seen, plan } = stageAt(one, seq);
    for (const memory of plan.memories) {
      const lines = seen.filter((s) => s.what === 'stroke' && s.style === 'line' && s.width === 1 && !s.dash.length).flatMap((s) => s.lines)
        .filter(([[x0, y0]]) => x0 >= memory.inner.x - 3 && x0 <= memory.inner.x + memory.inner.w + 3 && y0 > memory.inner.y - 4);
      const upright = lines.filter(([[x0], [x1]]) => x0 === x1);
      const wanted = memory.segments.flatMap(({ addr, bytes }) => {
        const [first, last] = [placeOf(memory, addr), placeOf(memory, addr + bytes - 1)];
        const right = last && last.x + last.row.scale;
        return [first && first.x - 2.5, right && right <= memory.inner.x + memory.inner.w + 0.01 ? right + 2.5 : null];
      });
      const edges = wanted.filter((x) => x !== null);
      closed += edges.length;
      open += wanted.length - edges.length;
      assert.deepEqual(upright.map(([[x]]) => x.toFixed(1)).sort(), edges.map((x) => x.toFixed(1)).sort(), `${name} after ${seq}: ${memory.device}`);
    }
  }
  assert.ok(closed > 20 && open > 20, `${closed} ends, ${open} open`);
});

// The topmost thing painted at a point.
const topAt = (seen, x, y) => seen.findLast((s) => s.what === 'fill' && x > s.x && x < s.x + s.w && y > s.y && y < s.y + s.h && (!s.clip || (x > s.clip.x && x < s.clip.x + s.clip.w)));

/** The blocks that live after event `seq`, by the log alone: [{addr, asked, bytes}]. */
function blocksAt(one, seq, device) {
  const live = new Map();
  for (const e of one.events.slice(0, seq + 1)) {
    if (e.kind === 'alloc' && e.device === device) live.set(e.storage, { storage: e.storage, addr: Number(e.addr), asked: e.asked, bytes: e.bytes });
    if (e.kind === 'free') live.delete(e.storage);
  }
  return [...live.values()].sort((a, b) => a.addr - b.addr);
}

test('holes of segments are hatched, blocks are not', () => {
  let [holes, blocks] = [0, 0];
  for (const { one, name, seq } of moments(SOME)) {
    const { seen, plan } = stageAt(one, seq);
    for (const memory of plan.memories) {
      const live = blocksAt(one, seq, memory.device);
      for (const { addr, bytes } of memory.segments) {
        const mine = live.filter((b) => b.addr >= addr && b.addr < addr + bytes);
        const looks = (from, to) => { // in the row of its first byte
          const at = placeOf(memory, from);
          const end = at && Math.min((to - from) * at.row.scale, (at.row.limit - from) * at.row.scale, memory.inner.x + memory.inner.w - at.x);
          const isFreed = plan.boxes.some((b) => b.freed && b.device === memory.device && b.addr < to && b.addr + b.bytes > from);
          return at && end > 8 && !isFreed ? topAt(seen, at.x + end - 2.2, at.row.y + at.row.h - 2.2) : null;
        };
        let from = addr;
        for (const block of [...mine, { addr: addr + bytes, bytes: 0 }]) {
          const hole = block.addr > from && looks(from, block.addr);
          if (hole) assert.ok(hatched('line')(hole) && hole.alpha === 0.55, `${name} after ${seq}: free bytes ${from - addr}..${block.addr - addr} look like ${JSON.stringify(hole.style)}`);
          if (hole) holes++;
          const own = block.bytes && looks(block.addr, block.addr + block.asked);
          if (own) assert.ok(!hatched('line')(own), `${name} after ${seq}: storage ${block.storage} is hatched`);
          if (own) blocks++;
          from = block.addr + block.bytes;
        }
      }
    }
  }
  assert.ok(holes > 20 && blocks > 40, `${holes} holes, ${blocks} blocks`);
});

test('what rounding adds is hatched behind its box', () => {
  let count = 0;
  for (const { one, name, seq } of moments(SOME)) {
    const { seen, plan } = stageAt(one, seq);
    for (const memory of plan.memories) {
      for (const { addr, asked, bytes, storage } of blocksAt(one, seq, memory.device)) {
        const at = placeOf(memory, addr + asked);
        const box = plan.boxes.find((b) => b.storage === storage);
        if (asked === bytes || !box || box.group || !at || (bytes - asked) * at.row.scale < 1) continue;
        const w = Math.min(bytes - asked, at.row.limit - addr - asked) * at.row.scale;
        const drawn = seen.find((s) => hatched('line')(s) && s.alpha === 1 && near(s.x, at.x, 0.01) && near(s.y, at.row.y, 0.01));
        assert.ok(drawn && near(drawn.w, w, 0.01), `${name} after ${seq}: ${bytes - asked} B of storage ${storage}: ${drawn?.w} px, not ${w}`);
        count++;
      }
    }
  }
  assert.ok(count > 10, `${count}`);
});

// `left` is copied to the card, then written: the copy there is older.
function olderLog() {
  const devices = [{ name: 'cpu', kind: 'cpu', capacity: 2 ** 34 }, { name: 'cuda:0', kind: 'sim', card: 'H200', capacity: 2 ** 29, model: { bus_bandwidth: 5e10 } }];
  const made = (id, name, device) => [
    { kind: 'alloc', storage: id, device, mem: 'pageable', addr: `0x${id}0000`, asked: 4096, bytes: 4096, tenant: 0 },
    { kind: 'tensor', tensor: id, name, storage: id, shape: [1024], strides: [1], offset: 0, dtype: 'float32', device }];
  const side = (id, device) => ({ tensor: id, storage: id, device, version: 1, mem: 'pageable' });
  return [
    { kind: 'session', clock: 'model', devices }, ...made(1, 'left', 'cpu'), { kind: 'host_write', tensor: 1, storage: 1, version: 1 }, ...made(2, 'there', 'cuda:0'),
    { kind: 'copy', id: 1, src: side(1, 'cpu'), dst: side(2, 'cuda:0'), bytes: 4096, dir: 'h2d', why: 'user', route: 'staged', held: 5 }, { kind: 'complete', id: 1, start: 0, end: 5, engine: 'h2d' },
    { kind: 'host_write', tensor: 1, storage: 1, version: 2, line: 7 }, { kind: 'end', status: 0 },
  ].map((e, seq) => ({ seq, t: seq * 10, th: 0, file: 'a.c', line: seq + 1, fn: 'main', ...e }));
}

test('a copy that is older says than which tensor', () => {
  const one = opened(olderLog());
  const said = (seq) => {
    const { seen, plan } = stageAt(one, seq);
    const box = plan.boxes.find((b) => b.name === 'there');
    return texts(seen).filter((s) => inBox(s, box)).map((s) => s.words).join(' ');
  };
  const write = one.events.findLastIndex((e) => e.kind === 'host_write');
  assert.match(said(write), /older than left/);
  assert.doesNotMatch(said(write - 1), /older/);
});

test('a reused address says which tensor it is there', () => {
  let count = 0;
  const events = [...olderLog().slice(0, 3), { kind: 'drop', tensor: 1 }, { kind: 'free', storage: 1 }];
  for (let i = 0; i < 3; i++) {
    const id = 5 + i;
    events.push({ kind: 'alloc', storage: id, device: 'cpu', addr: '0x10000', asked: 4096, bytes: 4096, tenant: i + 1 },
      { kind: 'tensor', tensor: id, name: `x${id}`, storage: id, shape: [1024], strides: [1], offset: 0, dtype: 'float32', device: 'cpu' }, { kind: 'host_write', tensor: id, storage: id, version: 1 });
    if (i < 2) events.push({ kind: 'drop', tensor: id }, { kind: 'free', storage: id });
  }
  const one = opened(events.map((e, seq) => ({ ...e, seq, t: seq, line: seq + 1 })));
  for (const e of one.events.filter((x) => x.kind === 'host_write')) {
    const { seen, plan } = stageAt(one, e.seq);
    const box = plan.boxes.find((b) => b.storage === e.storage && !b.freed);
    const words = texts(seen).filter((s) => inBox(s, box)).map((s) => s.words).join(' ');
    const { tenant } = one.events.find((a) => a.kind === 'alloc' && a.storage === e.storage);
    assert.match(words, tenant ? new RegExp(`${['', '2nd', '3rd', '4th'][tenant]} tensor here`) : /^4 KiB$/);
    count += tenant > 0;
  }
  assert.equal(count, 3);
});

test('the capacity bar is filled as far as bytes live', () => {
  for (const [name, device] of [['full', 'cuda:0'], ['pinned-overlap', 'cuda:0'], ['overlap', 'cuda:0']]) {
    const one = opened(name);
    for (const { to } of one.steps.filter((_, i) => i % 4 === 3)) {
      const { seen, plan } = stageAt(one, to);
      const { head } = plan.memories.find((m) => m.device === device);
      const { capacity } = one.events[0].devices.find((d) => d.name === device);
      const used = blocksAt(one, to, device).reduce((sum, b) => sum + b.asked, 0);
      const y = head.y + 50;
      const bar = seen.filter((s) => s.what === 'fill' && near(s.y, y, 0.01) && near(s.x, head.x, 0.01) && s.h === 4);
      const filled = bar.find((s) => s.style === 'gpu');
      assert.ok(near(filled?.w ?? 0, used && Math.max(1.5, (used / capacity) * head.w), 0.01), `${name} after ${to}: ${filled?.w} of ${head.w} px for ${used} of ${capacity}`);
      const end = seen.find((s) => s.what === 'fill' && s.style === 'faint' && near(s.w, 1.5, 0.01) && near(s.h, 7, 0.01) && near(s.y, y - 1.5, 0.01) && near(s.x + s.w, head.x + head.w, 0.01));
      assert.ok(end, 'where the capacity ends there is a mark');
      const reserved = one.events.slice(0, to + 1).reduce((sum, e) => sum + (e.device === device ? (e.kind === 'segment' ? e.bytes : e.kind === 'segment_free' ? -e.bytes : 0) : 0), 0);
      const held = bar.find(hatched('soft'));
      if (reserved > used) assert.ok(near(held.w, (reserved / capacity) * head.w, 2), `${name} after ${to}: ${held.w} px reserved`);
    }
  }
});

// ---- the lanes --------------------------------------------------------------------------------------

const rowOf = (plan, words) => plan.rows.find(({ group, label }) => `${group} ${label}`.trim() === words);
const inRow = (one, row) => one.y + one.h / 2 > row.y && one.y + one.h / 2 < row.y + row.h;

test('a wait is hatched, with what it awaits', () => {
  let count = 0;
  for (const name of ['pinned-overlap', 'overlap', 'demo-03-round-trip', 'race', 'blocking-copy']) {
    const one = opened(name);
    for (const e of one.events.filter((x) => x.held > 1000 && (x.kind === 'sync' || (x.kind === 'copy' && !x.was_async)))) {
      const { from, until } = one.timeline.callOf(e.seq);
      const { seen, plan, x } = lanesAt(one, { view: [from - 0.2 * e.held, until + 0.2 * e.held], whole: true });
      const drawn = seen.find((s) => hatched('wait')(s) && inRow(s, rowOf(plan, 'host')) && near(s.x, x(from)));
      assert.ok(drawn && near(drawn.w, x(until) - x(from)), `${name}: event ${e.seq} takes ${drawn?.w} px`);
      const ended = one.events.filter((c) => c.kind === 'complete' && c.engine !== 'host' && c.end <= until && c.end > from).sort((a, b) => a.end - b.end).at(-1);
      const work = e.kind === 'copy' ? e : one.events.find((w) => w.id === ended?.id && w.kind !== 'complete');
      const wanted = work?.kind === 'copy' ? `copy of ${one.names.at(one.steps[one.stepOf(work.seq)].to).tensor(work.src.tensor)}` : work?.name;
      const words = texts(seen).filter((s) => inRow(s, rowOf(plan, 'host')) && s.x >= drawn.x && s.x + s.w <= drawn.x + drawn.w);
      assert.ok(wanted && words.some((s) => s.words.includes(wanted) && isWhole(s, plan.width, plan.height)), `${name}: event ${e.seq} says ${words.map((s) => s.words)}, not ${wanted}`);
      count++;
    }
  }
  assert.ok(count >= 8, `${count}`);
});

test('a break says how long it is, and of what', () => {
  let count = 0;
  for (const name of ['demo-01-where-am-i', 'demo-02-to-returns', 'demo-03-round-trip', 'pinned-overlap', 'race']) {
    const one = opened(name);
    const { seen, plan, course, x } = lanesAt(one, { width: 1400 });
    for (const { gap, t0, t1 } of course.parts.filter((part) => part.gap)) {
      const all = gap.seqs.map((seq) => one.events[seq]);
      const [left, right] = [x(t0), x(t1)];
      const cut = seen.find((s) => s.what === 'fill' && s.style === 'paper' && near(s.x, left - 3) && near(s.x + s.w, right + 3));
      assert.ok(cut, `${name}: a break is cut out at ${left}`);
      const words = texts(seen.slice(seen.indexOf(cut))).filter((s) => s.x > left && s.x + s.w < right && s.y > plan.top - 4).map((s) => s.words).join(' ');
      const held = all.reduce((sum, e) => sum + e.held, 0);
      const [, n, unit] = /^([\d.,]+) (ns|µs|ms)/.exec(words) ?? [];
      const said = Number(n?.replaceAll(',', '')) * { ns: 1, 'µs': 1e3, ms: 1e6 }[unit];
      assert.ok(near(said, held, 0.05 * held), `${name}: “${words}” for ${held} ns`);
      const verb = { pinned: 'page-lock', device: 'reserve' }[all[0].mem];
      assert.ok(words.includes(verb) && words.includes(units.bytes(all.reduce((sum, e) => sum + e.bytes, 0))), `${name}: “${words}”`);
      count++;
    }
  }
  assert.ok(count >= 6, `${count}`);
});

test('a bracket spans its iteration, with its number', () => {
  const one = opened('training-loop');
  let count = 0;
  for (const { iterations } of loopsOf(one).all.filter((loop) => loop.iterations.length > 1)) {
    const view = [iterations[0].from, iterations.at(-1).until];
    const { seen, plan, x } = lanesAt(one, { view, whole: true, width: 1400 });
    for (const { n, from, until } of iterations) {
      const bracket = seen.find((s) => s.what === 'stroke' && s.style === 'faint' && s.points.length === 4 && s.y < plan.top && near(s.x, Math.max(x(from), plan.track.x - 4) + 1) && near(s.x + s.w, Math.min(x(until), plan.track.x + plan.track.w + 4) - 1));
      assert.ok(bracket, `iteration ${n} from ${from} to ${until} has a bracket`);
      const words = texts(seen).find((s) => near(s.y + s.h / 2, bracket.y + 0.5, 2) && s.x > bracket.x && s.x + s.w < bracket.x + bracket.w)?.words ?? '';
      assert.ok(new RegExp(`^(iteration )?${n}( of ${iterations.length})?$`).test(words), `iteration ${n}: “${words}”`);
      count++;
    }
  }
  assert.equal(count, 4, `${count}`);
});

test('an arrow leads from record to waiter', () => {
  let count = 0;
  for (const name of ['pinned-overlap', 'overlap']) {
    const one = opened(name);
    for (const wait of one.events.filter((e) => e.kind === 'event_wait')) {
      const record = one.events.findLast((e) => e.kind === 'event_record' && e.event === wait.event && e.seq < wait.seq);
      const released = one.events.find((e) => e.seq > wait.seq && (e.kind === 'op' || e.kind === 'copy') && e.stream === wait.stream && (e.device ?? e.dst.device) !== 'cpu');
      const { start } = one.events.find((e) => e.kind === 'complete' && e.id === released.id);
      const { seen, plan, x } = lanesAt(one, { view: [record.when - 60000, start + 60000], whole: true });
      const [a, b] = [record, wait].map((e) => rowOf(plan, `${e.device} stream ${e.stream}`));
      const [from, to] = [[x(record.when), a.y + a.h / 2], [x(start), b.y > a.y ? b.y + 3 : b.y + b.h - 3]];
      const line = seen.filter((s) => s.what === 'stroke' && s.style === 'ink').flatMap((s) => s.lines).find(([p, q]) => near(p[0], from[0]) && near(p[1], from[1]) && near(q[0], to[0]) && near(q[1], to[1]));
      assert.ok(line, `${name}: from ${from} to ${to}, for the wait ${wait.seq}`);
      assert.ok(seen.some((s) => s.what === 'fill' && s.style === 'ink' && near(s.points[0][0], to[0]) && near(s.points[0][1], to[1])), 'it has a head');
      count++;
    }
  }
  assert.ok(count >= 4, `${count}`);
});

test('a mark has its flag, with its words', () => {
  const one = opened('overlap');
  const { seen, plan, x } = lanesAt(one, { width: 1400 });
  const marks = one.events.filter((e) => e.kind === 'mark' && e.text);
  assert.equal(marks.length, 2);
  for (const { text, t } of marks) {
    const words = texts(seen).find((s) => s.words === text);
    assert.ok(words && isWhole(words, plan.width, plan.height), text);
    const pole = seen.find((s) => s.what === 'fill' && s.style === 'ink' && s.w === 1.5 && near(s.x + 0.75, x(t)) && s.h > plan.height - plan.top);
    assert.ok(pole, `${text}: a line through all lanes at ${x(t)}`);
    const flag = seen.find((s) => s.what === 'fill' && s.style === 'ink' && s.h === 14 && inBox(words, s));
    assert.ok(flag && x(t) >= flag.x - 1 && x(t) <= flag.x + flag.w + 1, 'the flag hangs on it');
  }
});

test('every log’s marks are drawn with numbers', () => {
  for (const [name] of logs()) {
    const one = opened(name);
    const all = [...lanesAt(one).seen, ...stageAt(one, one.events.length - 1).seen];
    for (const s of all) assert.ok([s.x, s.y, s.w, s.h].every(Number.isFinite), `${name}: ${JSON.stringify(s)}`);
  }
});
