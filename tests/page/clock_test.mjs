// clock_test.mjs: the position in a run, by step and by clock, with a clock of the test's own. No browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock } from '../../www/stage/clock.js';

const SPANS = [[0, 100], [100, 100], [100, 300], [300, 1000]]; // ns; the second step takes no time

// after: the axis is even, but for a break: 300..900 passes as if it were 10 ns.
const BROKEN = { toUnits: (t) => (t < 300 ? t : t < 900 ? 300 + (t - 300) / 60 : t - 590), toTime: (u) => (u < 300 ? u : u < 310 ? 300 + (u - 300) * 60 : u + 590) };

// spans: of steps, more of which may come.
function started(pace = 1, after = (t, part) => t + part * 1000, spans = SPANS) {
  let now = 0;
  let next = null;
  globalThis.requestAnimationFrame = (f) => { next = f; return 1; };
  globalThis.performance = { now: () => now };
  const seen = [];
  const load = { arrived: 0 };
  const time = clock({
    count: () => spans.length, duration: () => 1000, span: (i) => spans[i],
    timeIn: (i, m) => spans[i][0] + (spans[i][1] - spans[i][0]) * m ** pace, after,
    partAt: (t) => spans.findLastIndex(([from]) => from <= t), arrived: () => load.arrived, changed: (position) => seen.push(position),
  });
  /** Lets `ms` pass in frames of 20 ms, `between` them; returns the last position. */
  function pass(ms, between = () => {}) {
    for (const end = now + ms; now < end;) {
      now += 20;
      between();
      const f = next;
      next = null;
      f?.(now);
    }
    return time.position;
  }
  return { time, pass, seen, load };
}

test('by step, a step plays through its own time', () => {
  const { time, pass } = started();
  time.restart();
  const half = pass(360); // 0.7 of a step's second are motion
  assert.equal(half.part, 0);
  assert.ok(Math.abs(half.t - 100 * (0.36 / 0.7)) < 4, `${half.t}`);
  assert.equal(pass(360).t, 100);
  assert.equal(pass(700).part, 1);
});

test('by step, time is that of its parts', () => {
  const { time, pass } = started(2); // the run's time passes with the square of the step's
  time.restart();
  const { t, m } = pass(360);
  assert.ok(Math.abs(t - 100 * m ** 2) < 1e-9 && m > 0.4 && m < 0.6, `${t} at ${m}`);
  assert.equal(pass(360).t, 100);
});

test('by clock, equal times pass equally fast, in each step', () => {
  const { time, pass } = started();
  time.by('clock');
  time.seek(0);
  time.play();
  const marks = Array.from({ length: 10 }, () => pass(800).t);
  const gaps = marks.slice(1).map((t, i) => t - marks[i]);
  for (const gap of gaps) assert.ok(Math.abs(gap - gaps[0]) < 1e-6, `${gaps}`);
});

test('by clock, a break passes as it is drawn', () => {
  const { time, pass } = started(1, (t, part) => BROKEN.toTime(BROKEN.toUnits(t) + part * 410));
  time.by('clock');
  time.seek(0);
  time.play();
  const marks = Array.from({ length: 15 }, () => BROKEN.toUnits(pass(1000).t));
  const gaps = marks.slice(1).map((u, i) => u - marks[i]);
  for (const gap of gaps) assert.ok(Math.abs(gap - 410 / 16) < 0.6, `${gaps}`);
  assert.ok(marks.at(-1) > 380, 'and what comes after it is seen');
});

test('by clock, a run plays to its end and stops', () => {
  const { time, pass } = started();
  time.by('clock');
  time.seek(900);
  time.play();
  const { t, playing, atEnd, part } = pass(16000);
  assert.deepEqual([t, playing, atEnd, part], [1000, false, true, 3]);
});

test('the moment stays when the way through the run changes', () => {
  const { time } = started();
  time.go(2);
  assert.equal(time.position.t, 300);
  time.by('clock');
  assert.equal(time.position.t, 300);
  time.seek(150);
  assert.deepEqual([time.position.part, time.position.m], [2, 0.25]);
  time.by('step');
  assert.equal(time.position.part, 2);
});

test('a jump shows the end of a step', () => {
  const { time } = started();
  time.by('clock');
  time.go(2);
  assert.deepEqual([time.position.t, time.position.part, time.position.playing], [300, 2, false]);
});

test('a step plays its parts, and rests as a whole', () => {
  const { time, pass, seen } = started();
  time.goThrough([1, 2], true);
  assert.deepEqual([time.position.part, time.position.whole], [1, false]);
  assert.deepEqual([pass(1200).part, time.position.whole], [2, false]);
  assert.deepEqual([pass(3000).part, time.position.whole, time.settled], [2, true, true], 'and the next step is not shown');
  time.goThrough([0, 1]);
  assert.deepEqual([time.position.part, time.position.whole, time.position.m], [1, true, 1], 'without motion it is shown finished');
  time.go(1);
  assert.equal(time.position.whole, false, 'a part was asked for');
  time.reduced(true);
  seen.length = 0;
  time.goThrough([0, 2], true);
  pass(2000);
  assert.ok(seen.every(({ part, whole }) => part === 2 && whole), 'under reduced motion, too');
});

test('reduced motion by clock is a picture a second', () => {
  const { time, pass, seen } = started();
  time.reduced(true);
  time.by('clock');
  time.seek(0);
  time.play();
  seen.length = 0;
  pass(5000);
  const pictures = new Set(seen.map(({ t }) => t));
  assert.ok(pictures.size >= 4 && pictures.size <= 7, `${pictures.size} pictures in 5 s`);
  assert.ok(pass(16000).atEnd, 'and it ends as soon as without');
});

test('events that arrive before each frame do not stop time', () => {
  const { time, pass } = started();
  time.restart();
  assert.equal(pass(1500, time.poke).part, 1);
});

const growing = (n) => Array.from({ length: n }, (_, i) => [i * 10, i * 10 + 10]);

test('a live run that runs away is shown as now', () => {
  const spans = growing(2);
  const { time, pass } = started(1, undefined, spans);
  time.follow(true, true);
  time.restart();
  spans.push(...growing(2000).slice(2));
  const { part, skips } = pass(1100);
  assert.deepEqual([part, skips], [1999, true]);
  spans.push(...growing(9000).slice(2000));
  assert.equal(pass(1100).part, 8999);
  spans.push(...growing(9100).slice(9000));
  const next = pass(600, time.poke);
  assert.deepEqual([next.part, next.skips], [9000, false], 'what there is time for is shown');
  spans.push(...growing(12000).slice(9100));
  pass(1100);
  spans.push(...growing(12500).slice(12000));
  time.follow(false);
  const { part: last, skips: still } = pass(1100);
  assert.deepEqual([last, still], [12499, false], 'and its end');
});

test('by clock what runs away is shown as it is', () => {
  const spans = growing(2);
  const { time, pass } = started(1, undefined, spans);
  time.follow(true, true);
  time.by('clock');
  time.restart();
  spans.push(...growing(5000).slice(2));
  assert.equal(pass(60).t, 50000);
});

test('no step is skipped of saved runs or after jumps', () => {
  const spans = growing(5000);
  const { time, pass } = started(1, undefined, spans);
  time.follow(true);
  time.restart();
  assert.equal(pass(2500).part, 2);
  time.follow(true, true);
  time.go(7);
  time.play();
  assert.equal(pass(2500).part, 10);
  time.go(Infinity);
  time.play();
  spans.push(...growing(9000).slice(5000));
  assert.equal(pass(2500).part, 8999, 'but at the end it is followed again');
});

test('while much arrives pictures are fewer, and time goes on', () => {
  const { time, pass, seen, load } = started();
  load.arrived = 1000;
  time.restart();
  assert.equal(pass(1500, time.poke).part, 1);
  assert.ok(seen.length >= 13 && seen.length <= 16, `${seen.length} pictures in 1.5 s`);
});
