// errors_page_test.mjs: errors as they are drawn: where the page is red, and what it says; and that nothing else is red.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { bench, check, done, go, settle } from './browser.mjs';
import { serve } from './dev.mjs';
import { logs, random, spoilt } from './logs.mjs';
import * as mishaps from './mishaps.mjs';

const stage = bench();
const SIZES = [{ viewport: { width: 1440, height: 900 } }, { viewport: { width: 390, height: 844 } }, { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' }];

async function opened(t, events, options) {
  const server = await serve({ runs: [{ lines: events.map((e) => JSON.stringify(e)) }] });
  t.after(() => server.close());
  const page = await stage.open(server.url, options);
  await page.waitForFunction((n) => window.ferry?.events.length >= n, events.length);
  return page;
}

/** A page at the step of the run's first error or data race. */
async function failed(t, events, options) {
  const page = await opened(t, events, options);
  await go(page, events.findIndex((e) => e.kind === 'error' || e.kind === 'data_race'));
  return page;
}

/** How many pixels of the stage are the red of errors, in a rectangle of the page or in all of it. */
const red = (page, rect = null) => page.evaluate((within) => {
  const canvas = document.getElementById('canvas');
  const at = canvas.getBoundingClientRect();
  const scale = canvas.width / at.width;
  const wanted = getComputedStyle(document.body).getPropertyValue('--bad').trim().match(/\w\w/g).map((v) => Number.parseInt(v, 16));
  const [x, y, w, h] = within ? [(within.x - at.x) * scale, (within.y - at.y) * scale, within.w * scale, within.h * scale] : [0, 0, canvas.width, canvas.height];
  const { data } = canvas.getContext('2d').getImageData(x, y, w, h);
  let same = 0;
  for (let i = 0; i < data.length; i += 4) if (wanted.every((v, k) => Math.abs(v - data[i + k]) < 4)) same++;
  return same;
}, rect);

const boxes = (page) => page.evaluate(() => window.ferry.boxes());
const around = (box) => ({ x: box.pageX - 7, y: box.pageY - 7, w: box.w + 14, h: 6 });
const wrongAt = async (page) => {
  const { x, y, width: w, height: h } = await page.locator('#wrong').boundingBox();
  return { x, y, w, h };
};

check('both operands of a mismatch are framed, and the kernel between them is crossed out', async (t) => {
  for (const size of SIZES) {
    const page = await failed(t, mishaps.scene('mismatch'), size);
    for (const box of await boxes(page)) assert.ok(await red(page, around(box)) > box.w, `${box.name} is framed`);
    assert.ok(await red(page, await wrongAt(page)) > 60, 'a cross');
    assert.match(await page.locator('#wrong').getAttribute('aria-label'), /mat1 is on cpu.*mat2 is on cuda:0/);
    const button = await page.locator('button[data-storage="2"]').getAttribute('aria-label');
    assert.match(button, /fy_matmul, which never ran: this one is on cuda:0/);
    await done(page);
  }
});

check('a cut sentence says so and opens', async (t) => {
  const long = mishaps.scene('full').map((e) => (e.kind === 'error' ? { ...e, message: `${e.message} ${'And more. '.repeat(20)}` } : e));
  const page = await failed(t, long, SIZES[1]);
  const [say, height] = [page.locator('#say'), async () => (await page.locator('#say').boundingBox()).height];
  const more = () => say.evaluate((node) => [getComputedStyle(node, '::after').content, node.scrollHeight > node.clientHeight + 1]);
  const before = await height();
  assert.deepEqual(await more(), ['"more ▾"', true]);
  await say.focus(); // as a click and Tab do
  await settle(page);
  assert.deepEqual(await more(), ['none', false]);
  assert.ok(await height() > before);
  await page.keyboard.press('Tab');
  await settle(page);
  assert.deepEqual([await height(), (await more())[1]], [before, true]);
  await done(page);
});

check('an error is read whole, or seen to go on', async (t) => {
  const long = mishaps.scene('full').map((e) => (e.kind === 'error' ? { ...e, message: `${e.message} ${'And more. '.repeat(60)}` } : e));
  const cut = async (events, size) => {
    const page = await failed(t, events, size);
    const found = await page.evaluate(() => [document.getElementById('say')].map((say) => [say.scrollHeight > say.clientHeight + 1, say.hasAttribute('data-more'), say.tabIndex])[0]);
    await done(page);
    return found;
  };
  assert.deepEqual(await cut(mishaps.scene('full'), SIZES[0]), [false, false, -1]);
  assert.deepEqual(await cut(long, SIZES[1]), [true, true, 0]);
});

check('a full card shows the request from the largest hole on, in the length of its bytes', async (t) => {
  const page = await failed(t, mishaps.scene('full'));
  const [hole, beside] = await boxes(page);
  assert.ok(await red(page, around(hole)) > hole.w * 0.5, 'over the hole');
  assert.ok(await red(page, { ...around(beside), y: beside.pageY - 10, h: 8 }) > beside.w * 0.5, 'and on over what lives beside it');
  assert.ok(await red(page, { x: beside.pageX + 12, y: beside.pageY + 6, w: beside.w - 24, h: beside.h + 4 }) < 4, 'which is neither covered nor framed');
  const last = (await boxes(page)).at(-1);
  assert.equal(await red(page, { ...around(last), y: last.pageY - 4 }), 0, '300 MiB do not reach the last row');
  assert.ok(await red(page, await wrongAt(page)) > 60, 'the figures');
  assert.match(await page.locator('#say').innerText(), /272 MiB free, too little: the largest free block is 40 MiB/);
  assert.match(await page.locator('#wrong').getAttribute('aria-label'), /Held by line 6: 240 MiB in 6 tensors/);
  await done(page);
});

check('wrong shapes, freed tensors, crashes and races are red where they are', async (t) => {
  const cases = [[mishaps.shape, [1, 2]], [mishaps.freed, [2]], [mishaps.pointer, [1]], [mishaps.race, [1]], [mishaps.segfault, []]];
  for (const [events, framed] of cases) {
    for (const size of SIZES.slice(0, 2)) {
      const page = await failed(t, events, size);
      for (const box of await boxes(page)) {
        const count = await red(page, around(box));
        assert.equal(count > box.w * 0.5, framed.includes(box.storage), `${box.name}: ${count} px of ${box.w}`);
      }
      if (events !== mishaps.race) assert.ok(await red(page, await wrongAt(page)) > 60, 'it is told');
      await done(page);
    }
  }
});

check('a run that failed ends so: in the header, in the number of its step and at its line', async (t) => {
  const page = await failed(t, mishaps.shape);
  assert.equal(await page.locator('#live').innerText(), 'Stopped by an error at line 6');
  assert.equal(await page.locator('#live').getAttribute('data-state'), 'failed');
  assert.equal(await page.locator('#where').getAttribute('class'), 'failed');
  assert.match(await page.locator('#scrub').evaluate((node) => node.ariaValueText), /step 4 of 4: Stopped by an error/);
  assert.equal(await page.locator('#lines .wrong .number').innerText(), '6');
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => !document.querySelector('#lines .wrong') && !document.getElementById('wrong'));
  assert.equal(await page.locator('#where').getAttribute('class'), '');
  await done(page);
  const crashed = await failed(t, mishaps.segfault);
  assert.equal(await crashed.locator('#live').innerText(), 'Crashed');
  assert.match(await crashed.locator('#say').innerText(), /The last call of Ferry before it was at line 3: fy_tensor \*x/);
  assert.equal(await crashed.locator('#lines .wrong-after .number').innerText(), '3');
  await done(crashed);
  const raced = await failed(t, mishaps.race);
  await raced.keyboard.press('End');
  await raced.waitForFunction(() => document.getElementById('live').textContent === 'Finished, with 1 data race');
  await done(raced);
});

check('the lanes have a red cross where the program stopped, and none before', async (t) => {
  const page = await failed(t, mishaps.shape);
  await page.waitForFunction(() => window.ferry.idle && window.ferry.slices().length);
  const lanes = await page.evaluate(() => {
    const canvas = document.getElementById('lanes-canvas');
    const wanted = getComputedStyle(document.body).getPropertyValue('--bad').trim().match(/\w\w/g).map((v) => Number.parseInt(v, 16));
    const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const xs = [];
    for (let i = 0; i < data.length; i += 4) if (wanted.every((v, k) => Math.abs(v - data[i + k]) < 4)) xs.push((i / 4) % width / width);
    return { count: xs.length, first: Math.min(...xs) };
  });
  assert.ok(lanes.count > 20, `${lanes.count} px`);
  assert.ok(lanes.first > 0.9, 'at the end, where the error is');
  await done(page);
});

/** In the page: goes through the steps up to an error, and to the last one; how many it looked at, and the first with red. on: where. */
async function scan({ wrong, every, on }) {
  const { ferry } = window;
  const red = getComputedStyle(document.body).getPropertyValue('--bad').trim().match(/\w\w/g).map((v) => Number.parseInt(v, 16));
  const near = (data, i) => Math.abs(data[i] - red[0]) < 4 && Math.abs(data[i + 1] - red[1]) < 4 && Math.abs(data[i + 2] - red[2]) < 4;
  const isRed = (id) => {
    const canvas = document.getElementById(id);
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4) if (near(data, i)) return true;
    return false;
  };
  const wanted = `rgb(${red.join(', ')})`;
  const isWrong = (style) => [style.color, style.backgroundColor, style.borderTopColor, style.borderBottomColor, style.borderLeftColor, style.outlineColor].includes(wanted);
  const element = () => [...document.querySelectorAll('body *')].find((node) => isWrong(getComputedStyle(node)) && node.checkVisibility());
  const end = ferry.events.findIndex((e) => wrong.includes(e.kind));
  const last = ferry.events.length - 1;
  let scanned = 0;
  for (let seq = 0; ; seq = Math.min(last, ferry.seq + every)) {
    ferry.go(seq);
    do await new Promise(requestAnimationFrame); while (!ferry.idle);
    if (end >= 0 && ferry.seq >= end) break;
    scanned++;
    const looks = { stage: () => isRed('canvas'), lanes: () => isRed('lanes-canvas'), text: () => element()?.outerHTML.slice(0, 80) };
    const where = on.find((name) => looks[name]());
    if (where) return { scanned, at: ferry.seq, where };
    if (ferry.seq >= last) break;
  }
  return { scanned, at: -1, to: ferry.seq };
}

const SHORT = 100; // events of a log of which each step is looked at, also in a short run

// In a short run in one theme and then the other. The lanes show all of a run, and so the error that it comes to;
// of one that was killed the notice says so.
// Of every log, ten a test, where there is time; else of each sixth.
const scans = [...logs()].filter((_, i) => process.env.LONG || i % 6 === 0);
for (let from = 0; from < scans.length; from += process.env.LONG ? 10 : Infinity) {
  check(`red is only for errors: no other step of a golden log has a pixel of it${from ? `, from ${scans[from][0]} on` : ''}`, async (t) => {
    const themes = ['light', 'dark'];
    const wrong = ['error', 'oom', 'data_race'];
    for (const [i, [name, events]] of scans.slice(from, process.env.LONG ? from + 10 : Infinity).entries()) {
      const fails = events.some((e) => wrong.includes(e.kind));
      const on = ['stage', ...(fails ? [] : ['lanes']), ...(events.some((e) => e.kind === 'end') ? ['text'] : [])];
      for (const colorScheme of process.env.LONG ? themes : [themes[i % 2]]) {
        const page = await opened(t, events, { viewport: { width: 1024, height: 768 }, colorScheme, reducedMotion: 'reduce' });
        const every = process.env.LONG || events.length < SHORT ? 1 : 24;
        const { scanned, at, where, to } = await page.evaluate(scan, { wrong, every, on });
        assert.equal(at, -1, `${name}, ${colorScheme}, event ${at}: ${where}`);
        assert.ok(scanned > 3, name);
        if (!fails) assert.equal(to, events.length - 1, `${name} to its end`);
        await done(page);
      }
    }
  });
}

check('an error is red on stage, lanes and text', async (t) => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await opened(t, mishaps.shape, { viewport: { width: 1024, height: 768 }, colorScheme, reducedMotion: 'reduce' });
    const error = mishaps.shape.findIndex((e) => e.kind === 'error');
    for (const where of ['stage', 'lanes', 'text']) assert.ok((await page.evaluate(scan, { wrong: [], every: 1, on: [where] })).at >= (where === 'lanes' ? 0 : error), where);
    await done(page);
  }
});

check('malformed events never stop the page', async (t) => {
  const next = random(23);
  for (const name of ['demo-01-where-am-i', 'overlap', 'handmade-graded']) {
    const lines = spoilt(logs().get(name), next).map((e, seq) => JSON.stringify(e && typeof e === 'object' && !Array.isArray(e) ? { ...e, seq } : { seq, odd: e }));
    const server = await serve({ runs: [{ lines }] });
    t.after(() => server.close());
    const page = await stage.open(server.url, { reducedMotion: 'reduce' });
    await page.waitForFunction((n) => window.ferry?.events.length >= n, lines.length);
    for (let i = 0; i < 8; i++) {
      await go(page, Math.floor(next() * lines.length));
      await page.keyboard.press(['i', 't', 'ArrowRight'][i % 3]);
      await settle(page);
    }
    await done(page);
  }
});

check('a race is drawn with the value that came of it', async (t) => {
  const events = readFileSync(new URL('./scenes/race.jsonl', import.meta.url), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const page = await opened(t, events, { reducedMotion: 'reduce' });
  await page.evaluate(() => {
    const of = CanvasRenderingContext2D.prototype;
    const whole = of.fillText;
    window.drawn = [];
    of.fillText = function (text, ...more) {
      window.drawn.push(text);
      return whole.call(this, text, ...more);
    };
  });
  const words = async (t) => {
    await page.evaluate(() => { window.drawn = []; });
    await page.evaluate((at) => window.ferry.seek(at), t);
    await settle(page);
    return page.evaluate(() => window.drawn.join('|'));
  };
  const [copy, product] = events.filter((e) => e.kind === 'complete').slice(-4).filter((e) => e.id === 3 || e.id === 4);
  await go(page, events.findIndex((e) => e.kind === 'data_race'));
  assert.ok(copy.end < product.start);
  assert.match(await words(product.start + 5), /line 8 writes or line 9 reads\| first: NaN, NaN, NaN …/);
  assert.doesNotMatch(await words(product.end + 5), /line 8 writes/, 'it is over');
  await done(page);
});
