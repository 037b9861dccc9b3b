// page_live.mjs: a C program is watched while it runs, under FERRY_VIEW=1: one that emits 100,000 events a second for 10 s, and
// one whose single events are followed to the frame that shows them. Times of the program, of node and of the browser are
// CLOCK_MONOTONIC; a page's offset from it is found by asking it, to half of the quickest answer.
//
// "Followed without loss, freeze or a stuck first step" is read as: each event arrives once and in order, no two frames are FROZEN
// ms apart, the first step gives way within a second, and the step on show was made less than BEHIND s ago.
import { open, program } from '../page/browser.mjs';
import { emptyFrames, framesOf, part } from './page_frames.mjs';

const TURNS = 83333; // of 12 events each
const SECONDS = 10;
const FROZEN = 250; // ms from one frame to the next
const BEHIND = 2; // s: a run that is shown later than that is not followed
const SAMPLES = 100; // 0.7 s apart or more: a step of its kind plays for 0.56 s

const HEAD = `#include <ferry.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static int waits(void)
{
    char go;
    return read(0, &go, 1) == 1;
}
`;

const STREAM = `${HEAD}int main(void)
{
    fy_tensor *a = fy_ones((10, 10));
    if (!waits()) return 3;
    double start = now();
    for (int turn = 0; turn < ${TURNS}; turn++) {
        fy_tensor *b = fy_add(a, a);
        fy_tensor *c = fy_to(b, "cuda");
        fy_free(b);
        fy_free(c);
        if (turn % 16 == 0)
            while (now() < start + ${SECONDS}.0 * turn / ${TURNS}) usleep(200);
    }
    fprintf(stderr, "emitted from %.6f to %.6f\\n", start, now());
    return 0;
}
`;

const SINGLE = `${HEAD}int main(void)
{
    static fy_tensor *kept[${SAMPLES}];
    if (!waits()) return 3;
    for (int i = 0; i < ${SAMPLES}; i++) {
        usleep(700000 + 7919 * (unsigned)(i % 17));
        double before = now();
        kept[i] = fy_ones((32, 32));
        fprintf(stderr, "event at %.6f\\n", before);
    }
    return waits() ? 0 : 4;
}
`;

/** ms to add to a page's performance.now() to get CLOCK_MONOTONIC. */
async function offsetOf(page) {
  let [best, offset] = [Infinity, 0];
  for (let i = 0; i < 30; i++) {
    const before = performance.now();
    const there = await page.evaluate(() => performance.now());
    const after = performance.now();
    const monotonic = Number(process.hrtime.bigint()) / 1e6 - (performance.now() - after) - (after - before) / 2;
    if (after - before < best) [best, offset] = [after - before, monotonic - there];
  }
  return offset;
}

// A page of the server's that only counts what its socket gets: {page, heard() -> {from, to, at} ...}.
async function bareClient(browser, url) {
  const page = await browser.newPage();
  const [place, token] = url.split('#token=');
  await page.goto(`${place}licences.txt`);
  await page.evaluate((secret) => {
    window.heard = [];
    const socket = new WebSocket(`ws://${location.host}/ws?token=${secret}`);
    socket.onmessage = ({ data }) => {
      const head = JSON.parse(data.slice(0, data.indexOf('\n') + 1 || undefined));
      if (head.type === 'events') window.heard.push({ from: head.from, to: head.from + head.count, at: performance.now() });
      if (head.type === 'ended') window.over = true;
    };
  }, token);
  await page.waitForFunction(() => window.heard.length > 0);
  return page;
}

const span = (text) => /from (\S+) to (\S+)/.exec(text).slice(1).map((s) => Number(s) * 1000);

async function bareStream(browser) {
  const held = await program(STREAM);
  try {
    const page = await bareClient(browser, held.url);
    const offset = await offsetOf(page);
    held.child.stdin.write('x');
    await page.waitForFunction(() => window.over, null, { timeout: 120000 });
    const { at, to } = await page.evaluate(() => window.heard.at(-1));
    await page.close();
    return { late: (at + offset - span(held.output())[1]) / 1000, count: to };
  } finally {
    await held.stop();
  }
}

/** The rows of a live stream (page.mjs). */
export async function* stream(browser) {
  const empty = await emptyFrames(browser, 5000);
  const bare = await bareStream(browser);
  const held = await program(STREAM);
  try {
    const page = await open(browser, held.url);
    page.setDefaultTimeout(300000);
    await page.waitForFunction(() => window.ferry?.position.atEnd && document.getElementById('live').textContent === 'Live');
    const offset = await offsetOf(page);
    await page.evaluate(() => {
      window.seen = [];
      const look = () => {
        window.seen.push({ at: performance.now(), count: window.ferry.events.length, seq: window.ferry.seq });
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    const frames = await framesOf(page, async () => {
      held.child.stdin.write('x');
      await page.waitForFunction(() => window.ferry.events.at(-1)?.kind === 'end');
      await page.waitForTimeout(1500);
    });
    const [start, end] = span(held.output());
    const seen = await page.evaluate(() => window.seen);
    const { count, gaps } = await page.evaluate(() => ({ count: window.ferry.events.length, gaps: window.ferry.events.filter((e, i) => e?.seq !== i).length }));
    for (const trouble of page.troubles) throw new Error(trouble);
    yield* streamRows({ start, end, seen: seen.map((one) => ({ ...one, at: one.at + offset })), count, gaps, frames, bare, empty });
    await page.context().close();
  } finally {
    await held.stop();
  }
}

function* streamRows({ start, end, seen, count, gaps, frames, bare, empty }) {
  const first = seen[0].seq;
  const made = (seq) => start + ((seq - seen[0].count) / (count - seen[0].count)) * (end - start);
  const behind = seen.filter(({ at }) => at > start && at < end).map(({ at, seq }) => (seq > first ? at - made(seq) : at - start) / 1000).sort((a, b) => a - b);
  const moved = seen.find((one) => one.seq > first)?.at ?? Infinity;
  const whole = seen.find((one) => one.count === count)?.at ?? Infinity;
  yield { note: `the program emitted ${count} events, ${Math.round((count / (end - start)) * 1000)} a second` };
  yield { what: 'stream: events lost or out of place', value: gaps + Math.abs(bare.count - count), limit: 0, unit: 'events', beside: [['a bare WebSocket client got', bare.count]] };
  yield { what: 'stream: the first step gives way to a later one', value: moved - start, limit: 1000, unit: 'ms', beside: [['a refresh', 16.7]] };
  yield {
    what: `stream: no freeze, the longest of ${frames.n} frames`, value: frames.max, limit: FROZEN, unit: 'ms',
    beside: [['99 % of them', frames.p99], ['median', frames.p50], ['an empty page’s longest', empty.max]],
  };
  yield {
    what: 'stream: the step shown is behind the program, 99 % of frames', value: part(behind, 0.99), limit: BEHIND, unit: 's',
    beside: [['median', part(behind, 0.5)], ['the last event arrived after', (whole - end) / 1000], ['at a bare client after', bare.late]],
  };
}

// In the page: after each frame in which the stage's picture has changed and the step shown is of a later event, [seq, ms]. It is
// taken in the first task after the frame, which the browser has then painted.
function watchPixels() {
  window.shown = [];
  let [last, sum, due] = [-1, 0, false];
  const channel = new MessageChannel();
  const sumOf = () => {
    const canvas = document.getElementById('canvas');
    if (!canvas?.width) return 0;
    const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    let total = 0;
    for (let i = 0; i < pixels.length; i++) total = (Math.imul(total, 31) + pixels[i]) | 0;
    return total;
  };
  channel.port1.onmessage = () => {
    due = false;
    const at = performance.now();
    const seq = window.ferry?.seq ?? -1;
    if (seq <= last && window.ferry?.position.progress < 1) return; // reading it back takes time: before an event, and after
    const is = sumOf();
    if (seq > last && is !== sum) {
      window.shown.push([seq, at]);
      last = seq;
    }
    if (seq === last) sum = is;
  };
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) => request((now) => {
    callback(now);
    if (!due) channel.port2.postMessage(due = true);
  });
}

const times = (output) => [...output.matchAll(/event at (\S+)/g)].map((found) => Number(found[1]) * 1000);

async function bareArrivals(browser) {
  const held = await program(SINGLE);
  try {
    const page = await bareClient(browser, held.url);
    const offset = await offsetOf(page);
    const before = await page.evaluate(() => window.heard.length);
    held.child.stdin.write('x');
    await page.waitForFunction((n) => window.heard.length >= n, before + SAMPLES, { timeout: 300000, polling: 200 });
    const heard = (await page.evaluate(() => window.heard)).slice(before);
    held.child.stdin.write('x');
    await page.close();
    return times(held.output()).map((t) => (heard.find(({ at }) => at + offset > t)?.at ?? Infinity) + offset - t).sort((a, b) => a - b);
  } finally {
    await held.stop();
  }
}

/** The rows of single events (page.mjs): from before the call in the program to the end of the first frame that shows it. */
export async function* latency(browser) {
  const bare = await bareArrivals(browser);
  const held = await program(SINGLE);
  try {
    const page = await open(browser);
    await page.addInitScript(watchPixels);
    await page.goto(held.url);
    await page.waitForFunction(() => window.ferry?.position.atEnd);
    const offset = await offsetOf(page);
    held.child.stdin.write('x');
    await page.waitForFunction((n) => window.ferry.events.filter((e) => e?.kind === 'alloc').length >= n, SAMPLES, { timeout: 300000, polling: 500 });
    await page.waitForTimeout(500);
    const allocs = await page.evaluate(() => window.ferry.events.filter((e) => e?.kind === 'alloc').map((e) => e.seq));
    const shown = await page.evaluate(() => window.shown);
    held.child.stdin.write('x');
    const after = times(held.output()).map((t, i) => (shown.find(([seq]) => seq >= allocs[i])?.[1] ?? Infinity) + offset - t).sort((a, b) => a - b);
    for (const trouble of page.troubles) throw new Error(trouble);
    yield {
      what: `event to pixel, 99 % of ${after.length}: from before the call in C to the end of the first frame whose picture shows it`, value: part(after, 0.99), limit: 50, unit: 'ms',
      beside: [['median', part(after, 0.5)], ['longest', part(after, 1)], ['to a bare WebSocket client in the browser, 99 %', part(bare, 0.99)], ['median', part(bare, 0.5)]],
    };
    await page.context().close();
  } finally {
    await held.stop();
  }
}
