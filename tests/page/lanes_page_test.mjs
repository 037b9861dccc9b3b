// lanes_page_test.mjs: the lanes under the picture: always in sight; what pointer, wheel and keys do to them.
import assert from 'node:assert/strict';
import { DEMO, bench, check, done, go, settle } from './browser.mjs';
import { logLines, serve } from './dev.mjs';
import { golden, root } from './logs.mjs';

const stage = bench();

async function opened(t, log, options, mode = {}) {
  const server = await serve({ ...mode, runs: [{ lines: logLines(golden(log)), ...mode.run }] });
  t.after(() => server.close());
  const page = await stage.open(server.url, options);
  await page.waitForFunction(() => window.ferry?.events.some((e) => e?.kind === 'end') && window.ferry.view); // and has lanes
  return page;
}

const seek = (page, t) => page.evaluate((at) => window.ferry.seek(at), t).then(() => settle(page));
const slices = (page) => page.evaluate(() => window.ferry.slices());
const middle = (slice) => [slice.x + slice.w / 2, slice.y];
const eventOf = (page, seq) => page.evaluate((n) => window.ferry.events[n], seq);
const boxOf = (page, id) => page.evaluate((of) => document.getElementById(of).getBoundingClientRect().toJSON(), id);

check('the lanes are in sight at every size, and with every panel open', async (t) => {
  const server = await serve({ mode: 'lessons', runs: [{ lines: stage.demo.lines, what: 'demo', lesson: '01-where-am-i' }] });
  t.after(() => server.close());
  const inSight = async (page, what) => {
    const { top, bottom, height } = await boxOf(page, 'lanes');
    const high = page.viewportSize().height;
    const edge = await page.evaluate(() => document.querySelector('main').getBoundingClientRect().top); // what scrolls is cut there
    assert.ok(height > 60 && top >= Math.max(0, edge - 0.5) && bottom <= high + 0.5, `${what}: ${top} to ${bottom} of ${high}`);
  };
  for (const [width, height] of [[1440, 900], [1280, 720], [1280, 380], [1024, 768], [853, 480], [390, 844], [390, 664]]) {
    const page = await stage.open(server.url, { viewport: { width, height } });
    await page.waitForFunction(() => document.getElementById('path').textContent && window.ferry.idle !== undefined);
    if (await page.locator('#tab-watch').isVisible()) await page.locator('#tab-watch').click();
    await page.evaluate(() => document.querySelector('.predict button[type="button"]').click()); // “Just show me”
    await page.waitForFunction(() => window.ferry.slices().length);
    for (const button of ['#tab-editor', '#tab-source', '#as-table']) {
      const tab = page.locator(button === '#as-table' ? '#tab-watch' : '#tab-code');
      if (await tab.isVisible()) await tab.click();
      await page.locator(button).click();
      await page.evaluate(() => scrollTo(0, 0));
      await inSight(page, `${width}x${height} ${button}`);
    }
    await page.locator('#as-table').click();
    for (const tab of ['results', 'learn', 'watch'].map((name) => page.locator(`#tab-${name}`))) {
      if (!await tab.isVisible()) continue;
      await tab.click();
      await inSight(page, `${width}x${height} ${await tab.innerText()}`);
    }
    await page.keyboard.press('i');
    await page.locator('#inspector').waitFor();
    await inSight(page, `${width}x${height} inspector`);
    await page.evaluate(() => [document.documentElement, document.querySelector('main'), document.getElementById('watch')].forEach((of) => of.scrollTo(0, of.scrollHeight)));
    await inSight(page, `${width}x${height} scrolled down`);
    await done(page);
  }
});

check('the picture keeps 45 % of the height', async (t) => {
  const lessons = await serve({ mode: 'lessons', runs: [{ lines: stage.demo.lines, what: 'demo', lesson: DEMO }] });
  t.after(() => lessons.close());
  const tall = async (page, what) => { // once it is laid out
    const share = () => page.evaluate(() => document.getElementById('stage').clientHeight / innerHeight);
    await page.waitForFunction(() => document.getElementById('stage').clientHeight >= 0.45 * innerHeight, null, { timeout: 5000 }).catch(() => {});
    assert.ok(await share() >= 0.45, `${what}: ${await share()}`);
  };
  for (const [width, height] of [[1440, 900], [1024, 768]]) {
    const page = await opened(t, height < 800 ? 'handmade-demo' : 'overlap', { viewport: { width, height } }); // of two streams the lanes take more
    await page.waitForFunction(() => document.querySelector('#lines li'));
    const lines = async (of) => (await boxOf(of, 'source')).height / await of.locator('#lines li').evaluateAll((all) => Math.min(...all.map((li) => li.clientHeight)));
    await tall(page, width);
    assert.ok(await lines(page) >= 5, `${width}: ${await lines(page)} lines`);
    await done(page);
    const before = await stage.open(lessons.url, { viewport: { width, height } });
    await before.waitForFunction(() => 'guessing' in document.body.dataset && document.querySelector('#lines li'));
    await tall(before, `${width}, before the guess`);
    assert.ok(await lines(before) >= 10, `${width}, before the guess: ${await lines(before)} lines`);
    await done(before);
  }
});

check('a slice that is clicked lights its line, its boxes and its row', async (t) => {
  const page = await opened(t, 'overlap');
  await seek(page, 7.9e6);
  const copy = (await slices(page)).filter((s) => s.row.endsWith('stream 1') && s.count === 1)[1];
  const e = await eventOf(page, copy.seq);
  await page.locator('#as-table').click();
  await page.mouse.click(...middle(copy));
  await page.waitForFunction((n) => document.querySelector('#rows [aria-current]')?.dataset.seq <= n, copy.seq);
  const seen = await page.evaluate(() => ({
    t: window.ferry.position.t, line: Number(document.querySelector('#lines .lit .number').textContent),
    rows: [...document.querySelectorAll('#rows [aria-current]')].map((tr) => Number(tr.dataset.seq)),
  }));
  assert.equal(seen.line, e.line);
  assert.ok(seen.rows.includes(copy.seq), `${seen.rows}`);
  assert.equal(seen.t, (await page.evaluate((id) => window.ferry.events.find((x) => x.kind === 'complete' && x.id === id), e.id)).start);
  await page.locator('#as-table').click();
  await settle(page);
  const print = () => page.evaluate(() => document.getElementById('canvas').toDataURL());
  const lit = await print();
  await page.evaluate((at) => window.ferry.seek(at + 1), seen.t);
  await page.evaluate((at) => window.ferry.seek(at), seen.t);
  await settle(page);
  assert.notEqual(await print(), lit, 'its boxes have a ring, until another moment is shown');
  await done(page);
});

check('by step, a slice shows the step of its event', async (t) => {
  const page = await opened(t, 'demo-01-where-am-i');
  await page.locator('.ways span', { hasText: 'by step' }).click();
  const kernel = (await slices(page)).find((s) => s.row.endsWith('compute'));
  await page.mouse.click(...middle(kernel));
  const [step, words] = await page.evaluate(() => [window.ferry.position.step, document.getElementById('say').textContent]);
  assert.match(words, /weights is created|randn/);
  assert.equal(await page.evaluate(() => window.ferry.position.by), 'step');
  assert.ok(step > 0);
  await done(page);
});

check('a tooltip says what a slice is, what it waits for, and what a break leaves out', async (t) => {
  const page = await opened(t, 'demo-03-round-trip');
  await seek(page, 0);
  const tip = async (slice) => {
    await page.mouse.move(...middle(slice));
    await page.locator('#lanes-tip').waitFor({ state: 'visible' });
    return page.locator('#lanes-tip').innerText();
  };
  const all = await slices(page);
  const waits = [];
  for (const one of all) if (one.row === 'host' && (await eventOf(page, one.seq)).kind === 'sync') waits.push(one);
  for (const one of waits) if (one.w > 3) assert.match(await tip(one), /waits for/);
  const copy = all.find((s) => s.row.endsWith('copies in'));
  assert.match(await tip(copy), /go over the bus from CPU RAM to GPU VRAM[^]*queued|line/);
  const first = await page.evaluate(() => window.ferry.events.findIndex((e) => e.kind === 'segment'));
  const segment = all.find((s) => s.seq === first);
  await page.mouse.move(segment.x + segment.w / 2, (await boxOf(page, 'lanes')).top + 40);
  assert.match(await page.locator('#lanes-tip').innerText(), /reserve/);
  await done(page);
});

check('the wheel zooms about the pointer, a drag pans, a double click shows all', async (t) => {
  const page = await opened(t, 'overlap');
  await seek(page, 7.9e6);
  const at = (all, seq, row) => all.find((s) => s.seq === seq && s.row === row);
  const before = (await slices(page)).filter((s) => s.row.endsWith('stream 1') && s.count === 1)[1];
  const [x, y] = middle(before).map(Math.round); // as a wheel's event has it
  await page.mouse.move(x, y);
  for (let i = 0; i < 3; i++) await page.mouse.wheel(0, -200);
  await page.waitForFunction((w) => window.ferry.slices().some((s) => s.w > 2 * w), before.w);
  await settle(page);
  const near = at(await slices(page), before.seq, before.row);
  assert.ok(near.w > 2 * before.w, `${near.w}`);
  const under = (slice) => (x - slice.x) / slice.w;
  assert.ok(Math.abs(under(near) - under(before)) < 0.01, `${under(near)}, not ${under(before)}`);
  await page.mouse.down();
  await page.mouse.move(x - 100, y, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  assert.ok(Math.abs(at(await slices(page), before.seq, before.row).x - (near.x - 100)) < 1.5);
  await page.mouse.dblclick(x - 300, y - 38);
  await settle(page);
  assert.ok(Math.abs(at(await slices(page), before.seq, before.row).w - before.w) < 0.5);
  await done(page);
});

check('a drag on the axis moves the time', async (t) => {
  const page = await opened(t, 'overlap');
  await seek(page, 100);
  const { x, y, width } = await boxOf(page, 'lanes');
  await page.mouse.move(x + 500, y + 8);
  await page.mouse.down();
  await page.mouse.move(x + width - 200, y + 8, { steps: 5 });
  const late = await page.evaluate(() => window.ferry.position.t);
  await page.mouse.move(x + width - 400, y + 8, { steps: 5 });
  await page.mouse.up();
  const earlier = await page.evaluate(() => window.ferry.position.t);
  assert.ok(late > 7.5e6 && earlier < late && earlier > 100, `${earlier}, ${late}`);
  await done(page);
});

check('keys go from slice to slice and say each, zoom, pan, and leave the steps alone', async (t) => {
  const page = await opened(t, 'demo-01-where-am-i');
  await page.locator('.ways span', { hasText: 'by clock' }).click();
  await seek(page, 118000);
  const said = () => page.locator('#lanes').getAttribute('aria-valuetext');
  await page.locator('#lanes').focus();
  const words = new Set();
  for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowDown', 'ArrowRight', 'ArrowDown', 'Home', 'End']) {
    await page.keyboard.press(key);
    await settle(page);
    words.add(await said());
  }
  assert.ok(words.size >= 5, [...words].join('\n'));
  assert.ok([...words].some((w) => /rows|moved/.test(w)) && [...words].every((w) => /line \d+/.test(w)), [...words].join('\n'));
  const total = (all) => all.reduce((sum, s) => sum + s.w, 0);
  const far = total(await slices(page));
  for (const key of ['w', 'w', 'd', 'a']) await page.keyboard.press(key);
  await settle(page);
  assert.ok((await slices(page)).some((s) => s.w > 0));
  const near = await slices(page);
  await page.keyboard.press('0');
  await settle(page);
  assert.ok(Math.abs(total(await slices(page)) - far) < 1 && near.length !== 0);
  await page.keyboard.press('b');
  await settle(page);
  const segment = (await slices(page)).find((s) => s.row === 'host' && s.w > 600);
  assert.ok(segment, 'drawn to scale, the first segment fills most of the axis');
  await done(page);
});

check('memory over time says how much lives, and of which line', async (t) => {
  const page = await opened(t, 'overlap');
  await seek(page, 8e6);
  const { right, bottom } = await boxOf(page, 'lanes');
  await page.mouse.move(right - 60, bottom - 6);
  const words = await page.locator('#lanes-tip').innerText();
  assert.match(words, /32 MiB live in VRAM of cuda:0[^]*line 58: 16 MiB, line 59: 16 MiB[^]*16 MiB in CPU RAM/);
  await done(page);
});

check('slash finds a slice by name, and Escape goes back', async (t) => {
  const page = await opened(t, 'demo-01-where-am-i');
  await page.keyboard.press('/');
  await page.keyboard.type('matmul');
  await page.keyboard.press('Enter');
  await settle(page);
  const matmul = await page.evaluate(() => window.ferry.events.findIndex((e) => e.name === 'matmul'));
  const [from, to] = await page.evaluate(() => [window.ferry.seq, document.getElementById('say').textContent]);
  assert.ok(from >= matmul, `${from}`);
  assert.match(to, /matmul|result/);
  assert.match(await page.locator('#found').textContent(), /matmul/);
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'lanes');
  assert.equal(await page.locator('#find').inputValue(), '');
  await done(page);
});

check('by clock the line that waits is lit', async (t) => {
  const server = await serve({ runs: [{ lines: logLines(`${root}tests/page/scenes/race.jsonl`) }] });
  t.after(() => server.close());
  const page = await stage.open(server.url);
  await page.waitForFunction(() => window.ferry?.events.some((e) => e?.kind === 'end'));
  const [wait] = (await page.evaluate(() => window.ferry.events)).filter((e) => e.kind === 'sync');
  await go(page, (await page.evaluate(() => window.ferry.events.findIndex((e) => e.kind === 'data_race')))); // its step ends when the wait begins
  assert.deepEqual(await page.locator('#lines .lit .number').allInnerTexts(), [String(wait.line)]);
  await done(page);
});

check('marks have flags, a data race is red on both accesses', async (t) => {
  const work = (id, t0, stream, start, end) => [
    { kind: 'op', t: t0, th: 0, id, name: 'add', device: 'cuda:0', stream, in: [], out: [{ storage: 1 }], held: 500 },
    { kind: 'complete', t: t0, th: 0, id, start, end, engine: 'compute' }];
  const events = [{ kind: 'session', t: 0, devices: [{ name: 'cpu' }, { name: 'cuda:0', capacity: 1 << 20 }] }, { kind: 'mark', t: 1000, text: 'the race' },
    ...work(1, 1500, 0, 2000, 9000), ...work(2, 2500, 1, 3000, 8000), { kind: 'data_race', t: 2500, type: 'race', storage: 1, a: 2, b: 4, fix: 'wait' },
    { kind: 'end', t: 9500, status: 0 }].map((e, seq) => ({ seq, th: 0, ...e }));
  const server = await serve({ runs: [{ lines: events.map((e) => JSON.stringify(e)) }] });
  t.after(() => server.close());
  const page = await stage.open(server.url);
  await page.waitForFunction(() => window.ferry?.slices().length);
  await seek(page, 9500);
  const count = (x, y, w, h, variable) => page.evaluate(([left, top, width, height, name]) => {
    const canvas = document.getElementById('lanes-canvas');
    const at = canvas.getBoundingClientRect();
    const wanted = getComputedStyle(document.body).getPropertyValue(name).trim().match(/\w\w/g).map((v) => Number.parseInt(v, 16));
    const { data } = canvas.getContext('2d').getImageData(left - at.x, top - at.y, width, height);
    let same = 0;
    for (let i = 0; i < data.length; i += 4) if (wanted.every((v, k) => Math.abs(v - data[i + k]) < 12)) same++;
    return same;
  }, [x, y, w, h, variable]);
  const lanes = await boxOf(page, 'lanes');
  assert.ok(await count(lanes.x + 100, lanes.y + 22, lanes.width - 110, 16, '--ink') > 300, 'a flag');
  for (const one of (await slices(page)).filter((s) => s.row.includes('stream'))) {
    assert.ok(await count(one.x - 3, one.y - one.h / 2, one.w + 6, one.h, '--bad') > 2 * one.w, one.row);
    await page.mouse.move(...middle(one));
    assert.match(await page.locator('#lanes-tip').innerText(), /Data race/);
  }
  await done(page);
});

check('in a narrow page the lanes keep their height and their names', async (t) => {
  const page = await opened(t, 'overlap', { viewport: { width: 390, height: 844 } });
  const rows = new Set((await slices(page)).map((s) => s.row));
  assert.deepEqual([...rows], ['host', 'cuda:0 stream 0', 'cuda:0 stream 1', 'cuda:0 copies in']);
  await done(page);
});

check('by step a short step is shown with its neighbours, and the view follows', async (t) => {
  const page = await opened(t, 'overlap');
  await page.evaluate(() => window.ferry.seek(100));
  await page.locator('.ways span', { hasText: 'by step' }).click();
  const copies = await page.evaluate(() => window.ferry.events.filter((e) => e.kind === 'op' && e.device !== 'cpu').map((e) => e.seq));
  const sizes = [];
  for (const seq of copies.slice(8, 14)) {
    await page.evaluate((n) => window.ferry.go(n), seq);
    await settle(page);
    const own = (await slices(page)).filter((s) => s.seq === seq && s.count === 1);
    assert.ok(own.length > 1 && own.every((s) => s.x > 100), `${seq} is in sight`);
    const [from, to] = await page.evaluate(() => window.ferry.view());
    sizes.push(to - from);
    const ends = [Math.min(...own.map((s) => s.x)), Math.max(...own.map((s) => s.x + s.w))];
    assert.ok(ends[1] - ends[0] >= 24, `${ends}`);
  }
  const whole = await page.evaluate(() => window.ferry.view());
  await page.evaluate(() => window.ferry.go(window.ferry.events.length - 1));
  await settle(page);
  const ended = await page.evaluate(() => window.ferry.view());
  assert.ok(ended[0] === 0 && ended[1] > whole[1], `a run that has ended is seen whole: ${ended}`);
  await page.evaluate((n) => window.ferry.go(n), copies[13]);
  await settle(page);
  assert.equal(await page.locator('#fit').textContent(), 'Whole run');
  await page.locator('#fit').click();
  await settle(page);
  assert.ok((await page.evaluate(() => window.ferry.view()))[1] > whole[1]);
  assert.equal(await page.locator('#fit').textContent(), 'Fit step');
  await page.keyboard.press('ArrowRight'); // the button has the focus: a step, and still the whole run
  await settle(page);
  const all = await page.evaluate(() => window.ferry.view());
  assert.equal(all[0], 0);
  await page.locator('#lanes').focus();
  await page.keyboard.press('f');
  await settle(page);
  const near = await page.evaluate(() => window.ferry.view());
  assert.ok(near[1] - near[0] < all[1] / 4, `${near}`);
  assert.ok(new Set(sizes.map(Math.round)).size <= 3, `the view changes its scale seldom: ${sizes}`);
  await done(page);
});

// Fingers on the page, by Chromium's own input: from -> to, a list of [x, y] each.
async function swipe(page, from, to, steps = 6) {
  const client = await page.context().newCDPSession(page);
  const send = (type, at) => client.send('Input.dispatchTouchEvent', { type, touchPoints: at.map(([x, y], id) => ({ x, y, id })) });
  await send('touchStart', from);
  for (let i = 1; i <= steps; i++) await send('touchMove', from.map(([x, y], k) => [x + ((to[k][0] - x) * i) / steps, y + ((to[k][1] - y) * i) / steps]));
  await send('touchEnd', []);
  await settle(page);
}
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

check('one finger pans, two zoom about what they hold', async (t) => {
  const page = await opened(t, 'overlap', phone);
  await seek(page, 7.9e6);
  const { x, y, width } = await boxOf(page, 'lanes');
  const [left, at] = [x + 80, y + 60];
  const view = () => page.evaluate(() => window.ferry.view());
  const whole = await view();
  const size = ([from, to]) => to - from;
  const unit = (part, px) => part[0] + ((px - left + 6) / (width - 76)) * size(part);
  await swipe(page, [[x + 200, at], [x + 260, at]], [[x + 140, at], [x + 320, at]]);
  const near = await view();
  assert.ok(Math.abs(size(near) / size(whole) - 1 / 3) < 0.02, `${size(near) / size(whole)}`);
  assert.ok(Math.abs(unit(near, x + 140) - unit(whole, x + 200)) < 0.01 * size(whole), 'what was under a finger still is');
  await swipe(page, [[x + 300, at]], [[x + 200, at]]);
  const panned = await view();
  assert.ok(Math.abs(size(panned) - size(near)) < 1 && panned[0] > near[0] + 0.2 * size(near), `${panned}`);
  await swipe(page, [[x + 140, at], [x + 320, at]], [[x + 210, at], [x + 230, at]]);
  assert.deepEqual(await view(), whole);
  await done(page);
});

check('fingers that zoom choose nothing and set no time; a tap does', async (t) => {
  const page = await opened(t, 'overlap', phone);
  await seek(page, 7.9e6);
  const time = () => page.evaluate(() => window.ferry.position.t);
  const { x, y } = await boxOf(page, 'lanes');
  await swipe(page, [[x + 200, y + 60], [x + 260, y + 60]], [[x + 150, y + 60], [x + 300, y + 60]]);
  assert.equal(await time(), 7.9e6);
  await page.touchscreen.tap(x + 150, y + 14);
  await settle(page);
  assert.notEqual(await time(), 7.9e6);
  await done(page);
});

check('the last of many races is red in its lanes', async (t) => {
  const events = [{ kind: 'session', t: 0, devices: [{ name: 'cpu' }, { name: 'cuda:0', capacity: 1 << 20 }] }];
  const work = (id, at, stream, end) => [{ kind: 'op', t: at, id, name: 'add', device: 'cuda:0', stream, in: [], out: [{ storage: 1 }] }, ...(end ? [{ kind: 'complete', t: at, id, start: at, end, engine: 'compute' }] : [])];
  for (let i = 0; i < 60; i++) {
    const at = 1000 * i + 100;
    const [a, last] = [events.length, i === 59];
    events.push(...work(2 * i + 1, at, 0, !last && at + 700), ...work(2 * i + 2, at + 50, 1, !last && at + 800));
    events.push({ kind: 'data_race', t: at + 50, type: 'race', storage: 1, a, b: a + (last ? 1 : 2) });
  }
  events.push({ kind: 'end', t: 60000, status: 0 });
  const server = await serve({ runs: [{ lines: events.map((e, seq) => JSON.stringify({ seq, th: 0, ...e })) }] });
  t.after(() => server.close());
  const page = await stage.open(server.url);
  await page.waitForFunction(() => window.ferry?.slices().length);
  await seek(page, 60000);
  const red = await page.evaluate(() => {
    const canvas = document.getElementById('lanes-canvas');
    const wanted = getComputedStyle(document.body).getPropertyValue('--bad').trim().match(/\w\w/g).map((v) => Number.parseInt(v, 16));
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const found = new Set();
    for (let i = 0; i < data.length; i += 4) if (wanted.every((v, k) => Math.abs(v - data[i + k]) < 12)) found.add(Math.floor(((i / 4) % canvas.width) / 10));
    return { parts: found.size, last: Math.max(...found) * 10 > canvas.width - 40 };
  });
  assert.ok(red.parts > 60 && red.last, JSON.stringify(red));
  await done(page);
});
