// layout_page_test.mjs: the page fits its window.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DEMO, bench, check, chooseLesson, done, ferry, go, settle, write } from './browser.mjs';
import { serve } from './dev.mjs';
import { shape } from './mishaps.mjs';

const stage = bench();

// The first lesson, its example ready to play; the server goes with the test.
async function served(t) {
  const server = await serve({ mode: 'lessons', runs: [{ lines: stage.demo.lines, what: 'demo', lesson: DEMO }] });
  t.after(() => server.close());
  return server;
}

const overflow = (page) => page.evaluate(() => [document.documentElement.scrollHeight - innerHeight, document.documentElement.scrollWidth - innerWidth]);

// Eight checks, half of them failing, each with a long message.
function verdict() {
  const checks = Array.from({ length: 8 }, (_, i) => ({
    check: `check-number-${i}`, pass: i % 2 === 0, expected: '1 copy to the card allowed', got: `${i} copies to the card`, seq: i, line: i + 1,
    message: 'Copies to the card: 5, and the limit is 1. The first one over it is the copy at line 13. '.repeat(3),
  }));
  return { pass: false, message: checks[1].message, checks, output: 'line\n'.repeat(60), seconds: 0.1, seed: 0 };
}

check('a long verdict scrolls in its own place: the document never does', async (t) => {
  const server = await served(t);
  for (const height of [900, 720, 620]) {
    const page = await stage.open(server.url, { viewport: { width: 1440, height } });
    await page.waitForFunction(() => document.getElementById('path').textContent && window.ferry.events.length);
    server.all({ type: 'status', lesson: DEMO, what: 'mine', state: 'done', verdict: verdict() });
    await page.locator('#verdict[data-kind="fail"]').waitFor({ state: 'attached' });
    assert.deepEqual(await overflow(page), [0, 0], `${height} px high`);
    for (const seen of ['#verdict-title', '#scrub', '#run-mine']) {
      await page.locator(seen).scrollIntoViewIfNeeded();
      assert.equal(await page.locator(seen).isVisible(), true, seen);
    }
    assert.deepEqual(await overflow(page), [0, 0], `${height} px high, scrolled`);
    await done(page);
  }
});

check('the editor opens at the learner’s part', async (t) => {
  const server = await served(t);
  const page = await stage.open(server.url);
  await page.waitForFunction(() => document.getElementById('path').textContent);
  await page.locator('#tab-editor').click();
  await page.waitForFunction(() => document.querySelector('.CodeMirror').CodeMirror.getCursor().line > 0);
  const [line, top] = await page.evaluate(() => {
    const cm = document.querySelector('.CodeMirror').CodeMirror;
    return [cm.getLine(cm.getCursor().line), cm.cursorCoords(true, 'page').top - cm.getWrapperElement().getBoundingClientRect().top];
  });
  assert.match(line, /--- your code ---/);
  assert.ok(top >= 0 && top < 400, `${top}`);
  await done(page);
});

check('the counts are kept back until a guess, a step by hand, or a wish to be shown', async (t) => {
  const server = await served(t);
  const figures = (page) => page.locator('#figures').innerText();
  const ways = [
    (page) => page.locator('.predict button', { hasText: 'Just show me' }).click(),
    (page) => page.locator('#forward').click(),
    async (page) => {
      for (const field of await page.locator('.predict input').all()) await field.fill('1');
      await page.locator('.predict [type=submit]').click();
    },
  ];
  for (const way of ways) {
    const page = await stage.open(server.url);
    await page.waitForFunction(() => window.ferry?.events.length && /\?/.test(document.getElementById('figures').textContent));
    assert.doesNotMatch(await figures(page), /(\d|No) cop(y|ies)/);
    await way(page);
    await page.waitForFunction(() => /(\d|No) cop(y|ies)/.test(document.getElementById('figures').textContent));
    assert.doesNotMatch(await figures(page), /\?/);
    await done(page);
  }
});

check('on a phone the sentence stands above the picture', async (t) => {
  const events = readFileSync(new URL('./scenes/race.jsonl', import.meta.url), 'utf8').split('\n').filter(Boolean);
  const server = await serve({ runs: [{ lines: events }] });
  const page = await stage.open(server.url, { viewport: { width: 390, height: 844 } });
  await page.waitForFunction((n) => window.ferry?.events.length >= n, events.length);
  const boxes = async () => Promise.all(['#say', '#stage'].map((id) => page.locator(id).boundingBox()));
  for (const seq of [12, events.findIndex((line) => line.includes('"data_race"'))]) {
    await go(page, seq);
    const [say, picture] = await boxes();
    assert.ok(say.y > 0 && say.y + say.height <= picture.y && picture.y + picture.height <= 844, JSON.stringify([say, picture]));
  }
  const hidden = await page.locator('#say').evaluate((node) => node.scrollWidth - node.clientWidth);
  assert.equal(hidden, 0, 'no word is cut');
  assert.match(await page.locator('#say').innerText(), /Fix: call/);
  await page.context().close();
  await server.close();
});

check('on a phone one screen; code one touch away', async (t) => {
  const server = await served(t);
  for (const [mode, height] of [['view', 844], ['lessons', 844], ['view', 664]]) {
    const of = mode === 'view' ? await serve({ runs: [{ lines: stage.demo.lines }] }) : server;
    const page = await stage.open(of.url, { viewport: { width: 390, height }, hasTouch: true });
    await go(page, stage.seqOf('copy'));
    const parts = (...ids) => page.evaluate((all) => all.map((id) => document.querySelector(id).getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]), ids);
    const apart = (list) => list.every(([top, bottom], i) => bottom > top && top >= (list[i - 1]?.[1] ?? 0));
    const lanes = mode === 'view' && height > 760 ? ['#timeline'] : [];
    const picture = await parts('#panes', '#say', '#stage', ...lanes, '.bar');
    assert.ok(apart(picture) && picture.at(-1)[1] <= height, `${mode} ${height}: ${JSON.stringify(picture)}`);
    const [top, bottom] = picture[2];
    assert.ok(bottom - top >= 0.45 * height, `${mode} ${height}: the picture has ${bottom - top} px`);
    if (height > 760) assert.ok((await overflow(page))[0] <= 0, `${mode}: the page does not scroll`);
    const { x, y, width, height: h } = await page.locator('#tab-code').boundingBox();
    await page.touchscreen.tap(x + width / 2, y + h / 2);
    await settle(page);
    const code = await parts('#panes', '#say', '#program', ...lanes, '.bar');
    assert.ok(apart(code), `${mode} ${height}: nothing covers the code: ${JSON.stringify(code)}`);
    const [line, pane] = await parts('#lines .lit', '#source');
    assert.ok(line[0] >= pane[0] && line[1] <= pane[1], 'the line of the step is in sight');
    await page.context().close();
    if (of !== server) await of.close();
  }
});

check('the line of the step stays in sight as its pane shrinks', async (t) => {
  const server = await served(t);
  const page = await stage.open(server.url, { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
  await page.waitForFunction(() => window.ferry?.events.some((e) => e?.kind === 'end'));
  await page.locator('.predict button[type="button"]').click();
  await page.evaluate(() => window.ferry.go(window.ferry.events.length - 1));
  for (const height of [900, 768, 700]) {
    await page.setViewportSize({ width: 1024, height });
    await settle(page);
    await page.waitForFunction(() => document.querySelector('#lines .lit').getBoundingClientRect().bottom <= document.getElementById('source').getBoundingClientRect().bottom + 1, null, { timeout: 5000 }).catch(() => {}); // its size is told to it a frame later
    const [[top, bottom], [from, to]] = await page.evaluate(() => ['#lines .lit', '#source'].map((id) => document.querySelector(id).getBoundingClientRect()).map((box) => [box.top, box.bottom]));
    assert.ok(top >= from - 1 && bottom <= to + 1, `${height}: ${top} to ${bottom} in ${from} to ${to}`);
  }
  await done(page);
});

check('header and controls end inside the window at every width', async (t) => {
  const server = await serve({ mode: 'lessons', runs: [{ lines: shape.map((e) => JSON.stringify(e)), what: 'mine', lesson: DEMO }] });
  t.after(() => server.close());
  const page = await stage.open(server.url, { reducedMotion: 'reduce' });
  await page.waitForFunction(() => document.getElementById('path').textContent && window.ferry.events.at(-1)?.kind === 'end');
  for (const [width, height] of [[1440, 900], [1280, 720], [1024, 768], [900, 768], [861, 700], [390, 844], [360, 640]]) {
    await page.setViewportSize({ width, height });
    for (const tab of width > 860 ? ['#tab-source', '#tab-editor'] : ['#tab-watch']) {
      await page.locator(tab).click();
      await settle(page);
      const over = await page.evaluate(() => ['.tools > :last-child', '.live', '.ways', '.speed'].map((id) => [id, document.querySelector(id).getBoundingClientRect().right, document.querySelector(id).closest('header, .bar').getBoundingClientRect().right])
        .filter(([, right, end]) => right > end));
      assert.deepEqual(over, [], `${width}x${height} ${tab}`);
    }
  }
  await done(page);
});

check('on a phone a lesson that is chosen stays on show', async (t) => {
  const server = await served(t);
  const page = await stage.open(server.url, { viewport: { width: 390, height: 844 } });
  await page.waitForFunction(() => document.getElementById('path').textContent);
  await page.locator('#tab-learn').click();
  await chooseLesson(page, '02-to-returns');
  assert.equal(await page.locator('#lesson-text').isVisible(), true);
  await page.locator('#play-demo').click();
  await page.locator('#stage').waitFor();
  await done(page);
});

check('“Check” runs what stands in the editor; what it printed is shown', async () => {
  const lessons = await ferry('serve', '--port', '8897');
  try {
    const page = await stage.open(lessons.url);
    await page.waitForFunction(() => window.ferry?.events.length);
    await page.locator('#tab-editor').click();
    await write(page, '#include <ferry.h>\nint main(void)\n{\n    fy_print(fy_full((2), 7.0));\n}\n');
    await page.locator('#act', { hasText: 'Check' }).click();
    await page.locator('#verdict[data-kind="fail"]').waitFor();
    assert.match(readFileSync(`${lessons.my}/${DEMO}.c`, 'utf8'), /7\.0/);
    assert.equal(await page.locator('#dirty').innerText(), 'saved');
    assert.match(await page.locator('#printed').innerText(), /Output[\s\S]*7/);
    await done(page);
  } finally {
    await lessons.stop();
  }
});

check('another server at the old address: the page says so, and stops asking', async (t) => {
  const first = await serve({ runs: [{ lines: stage.demo.lines }] });
  const page = await stage.open(first.url);
  await page.waitForFunction(() => window.ferry?.events.length);
  await first.close();
  const second = await serve({ port: first.port, token: 'another' });
  t.after(() => second.close());
  await page.waitForFunction(() => /Another Ferry run uses this address now/.test(document.getElementById('notice').textContent));
  const asked = second.asked.length;
  await page.waitForTimeout(1500);
  assert.equal(second.asked.length, asked);
  await page.context().close();
});
