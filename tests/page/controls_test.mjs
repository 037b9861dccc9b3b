// controls_test.mjs: keys, the scrubber, the table, the lit line.
import assert from 'node:assert/strict';
import { bench, check, done, go, settle } from './browser.mjs';
import { serve } from './dev.mjs';

const stage = bench();

check('keys: steps, lines, ends, play and pause, table, list of keys', async () => {
  const page = await stage.open(stage.view.url);
  await go(page, 0);
  const step = () => page.evaluate(() => window.ferry.position.step);
  const press = async (key) => {
    await page.keyboard.press(key);
    return step();
  };
  assert.equal(await step(), 0);
  assert.equal(await press('ArrowRight'), 1);
  assert.equal(await press('ArrowRight'), 2);
  assert.equal(await press('ArrowLeft'), 1);
  const line = await page.evaluate(() => document.querySelector('#lines .lit .number').textContent);
  await press('Shift+ArrowRight');
  assert.notEqual(await page.evaluate(() => document.querySelector('#lines .lit .number').textContent), line);
  assert.equal(await press('Home'), 0);
  await press(' ');
  assert.equal(await page.evaluate(() => window.ferry.position.playing), true);
  assert.equal(await page.locator('#play').getAttribute('aria-label'), 'Pause');
  await press(' ');
  assert.equal(await page.evaluate(() => window.ferry.position.playing), false);
  await press('End');
  assert.equal(await page.evaluate(() => window.ferry.seq), stage.demo.events.length - 1);
  await press('t');
  assert.equal(await page.locator('#events').isVisible(), true);
  await press('t');
  assert.equal(await page.locator('#stage').isVisible(), true);
  await press('?');
  assert.equal(await page.locator('#keys').isVisible(), true);
  await press('Escape');
  assert.equal(await page.locator('#keys').isVisible(), false);
  await page.waitForFunction(() => !document.querySelector('dialog[open]') && !document.getElementById('keys').contains(document.activeElement)); // the focus is back
  await press('l');
  await page.locator('#legend').waitFor();
  await press('Escape');
  await done(page);
});

check('by clock the slider is time; c changes the way', async () => {
  const page = await stage.open(stage.view.url);
  await go(page, stage.seqOf('copy'));
  const before = await page.evaluate(() => window.ferry.position.t);
  await page.keyboard.press('c');
  const by = await page.evaluate(() => window.ferry.position);
  assert.deepEqual([by.by, by.t], ['clock', before]);
  assert.equal(await page.locator('#by-clock').isChecked(), true);
  await page.locator('#scrub').fill('500');
  const half = await page.evaluate(() => window.ferry.position.t);
  const total = Math.max(...stage.demo.events.map((e) => Math.max(e.t, e.end ?? 0)));
  assert.equal(half, total / 2);
  assert.match(await page.locator('#where').innerText(), /µs$/);
  await page.locator('label', { hasText: 'by step' }).click();
  assert.equal(await page.evaluate(() => window.ferry.position.by), 'step');
  await done(page);
});

check('a tensor that is reached by keyboard tells all that hovering tells', async () => {
  const page = await stage.open(stage.view.url);
  await go(page, stage.seqOf('copy'));
  const reached = [];
  await page.locator('#help').focus();
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press('Tab');
    const label = await page.evaluate(() => document.activeElement.closest('#spots') && document.activeElement.getAttribute('aria-label'));
    if (!label) continue;
    reached.push(label);
    const tip = await page.locator('#tip').innerText();
    assert.equal(tip.split('\n').filter(Boolean).join('. '), label);
  }
  assert.deepEqual(reached.map((l) => l.split(' ')[0]), ['rows', 'moved']);
  await done(page);
});

check('the table says the same as the log and as the live region', async () => {
  const page = await stage.open(stage.view.url);
  await go(page, stage.demo.events.findIndex((e) => e.kind === 'copy'));
  const said = await page.locator('#say').innerText();
  await page.locator('#as-table').click();
  await page.locator('#rows tr').first().waitFor();
  const rows = await page.locator('#rows tr').evaluateAll((list) => list.map((tr) => [...tr.cells].map((c) => c.textContent)));
  const events = stage.demo.events;
  assert.equal(rows.length, events.length);
  const sentences = await page.evaluate(() => window.ferry.events.map((_, i) => window.ferry.sentence(i)));
  events.forEach((e, i) => {
    assert.equal(rows[i][0], String(e.seq));
    assert.equal(rows[i][2], e.kind);
    if (e.line) assert.match(rows[i][3], new RegExp(`:${e.line}$`));
    assert.equal(rows[i][4], sentences[i]);
  });
  const current = await page.locator('#rows tr[aria-current]').evaluateAll((list) => list.map((tr) => tr.cells[4].textContent));
  const plain = said.replace(/\w+, newly allocated in /, ''); // a step also says where a result is allocated
  const main = current.find((one) => plain.startsWith(one));
  assert.ok(main && [...current, ''].includes(plain.slice(main.length).trim()), `${said} among ${current}`);
  await page.locator('#rows tr[data-seq="20"] button').click();
  await settle(page);
  assert.ok(await page.evaluate(() => window.ferry.seq >= 20));
  await done(page);
});

const lit = (page) => page.evaluate(() => [...document.querySelectorAll('#lines .lit .number')].map((n) => Number(n.textContent)));

check('at every event the lit line is the event’s line', async () => {
  const page = await stage.open(stage.view.url);
  const lines = new Set();
  for (const e of stage.demo.events.filter((one) => one.line)) {
    await go(page, e.seq);
    assert.deepEqual(await lit(page), [e.line], `event ${e.seq}, ${e.kind}`);
    lines.add(e.line);
  }
  assert.ok(lines.size >= 5, `${[...lines]}`);
  await done(page);
});

check('the scrubber, by value and by keyboard, shows what stepping shows', async () => {
  const page = await stage.open(stage.view.url, { reducedMotion: 'reduce' });
  await go(page, 0);
  const look = async () => {
    await settle(page);
    return page.evaluate(() => JSON.stringify({
      step: window.ferry.position.step,
      state: window.ferry.state(),
      storages: [...window.ferry.state().storages.values()],
      picture: document.getElementById('canvas').toDataURL(),
      say: document.getElementById('say').textContent,
      where: document.getElementById('where').textContent,
      lit: document.querySelector('#lines .lit .number')?.textContent,
    }));
  };
  const count = await page.evaluate(() => Number(document.getElementById('scrub').max)) + 1;
  assert.ok(count >= 6, `${count} steps`);
  const stepped = [await look()];
  while (stepped.length < count) {
    await page.locator('#forward').click();
    stepped.push(await look());
  }
  assert.equal(new Set(stepped).size, count, 'no two steps look the same');
  const scrub = page.locator('#scrub');
  for (const step of [3, count - 1, 0, Math.floor(count / 2)]) {
    await scrub.fill(String(step));
    assert.equal(await look(), stepped[step], `set to ${step}`);
  }
  await scrub.focus();
  for (const [key, step] of [['Home', 0], ['ArrowRight', 1], ['ArrowRight', 2], ['ArrowLeft', 1], ['End', count - 1], ['ArrowLeft', count - 2]]) {
    await page.keyboard.press(key);
    assert.equal(await look(), stepped[step], `${key} to ${step}`);
  }
  await page.keyboard.press('PageDown');
  const paged = await page.evaluate(() => Number(document.getElementById('scrub').value));
  assert.ok(paged < count - 2);
  assert.equal(await look(), stepped[paged], 'PageDown');
  await done(page);
});

check('lines cost in a margin of their own; code wraps beside it', async () => {
  const lines = stage.demo.lines.slice();
  const at = stage.seqOf('source');
  const text = stage.demo.events[at].text.replaceAll(');', '); // and a remark that is longer than any pane is wide, to its very end');
  lines[at] = JSON.stringify({ ...stage.demo.events[at], text });
  const server = await serve({ runs: [{ lines }] });
  for (const width of [1440, 390]) {
    const page = await stage.open(server.url, { viewport: { width, height: 844 } });
    await go(page, lines.length - 1);
    if (width === 390) await page.locator('#tab-code').click();
    const seen = await page.evaluate(() => {
      const right = document.getElementById('source').getBoundingClientRect().right;
      return [...document.querySelectorAll('#lines li')].map((li) => {
        const cost = li.querySelector('.cost').getBoundingClientRect();
        const code = document.createRange();
        code.selectNodeContents(li.querySelector('code'));
        const rows = [...code.getClientRects()];
        return { from: cost.left, to: cost.right, pane: right, end: code.getBoundingClientRect().right, first: rows[0]?.left, last: rows.at(-1)?.left, rows: new Set(rows.map((row) => Math.round(row.top))).size };
      });
    });
    assert.equal(new Set(seen.map((b) => Math.round(b.from))).size, 1, `one margin: ${seen.map((b) => b.from)}`);
    for (const b of seen) assert.ok(b.end <= b.from + 1 && b.to <= b.pane + 1, JSON.stringify(b));
    const wrapped = seen.filter((b) => b.rows > 1);
    assert.ok(wrapped.length && wrapped.every((b) => b.last > b.first + 10), `deeper than they begin: ${JSON.stringify(wrapped[0])}`);
    await done(page);
  }
  await server.close();
});

check('keys of one letter can be turned off, and stay so', async () => {
  const page = await stage.open(stage.view.url, { reducedMotion: 'reduce' });
  await go(page, 2);
  const setting = page.getByRole('dialog').getByRole('checkbox', { name: 'Single-key shortcuts (a letter, digit or sign)' });
  await page.keyboard.press('?');
  await setting.focus();
  await page.keyboard.press(' ');
  assert.match(await page.getByRole('dialog').innerText(), /They are off/);
  await page.keyboard.press('Escape');
  await page.reload();
  await go(page, 2);
  const look = () => page.evaluate(() => JSON.stringify([[...document.querySelectorAll('dialog')].map((d) => d.open), window.ferry.position.by,
    window.ferry.view(), document.getElementById('events').hidden, document.activeElement.id]));
  for (const where of ['#play', '#lanes', '#tab-source']) {
    await page.locator(where).focus();
    const before = await look();
    for (const key of ['?', 'l', 'c', 'C', 't', 'e', '/', 'f', 'w', 's', 'a', 'd', '0', 'b', '+']) {
      await page.keyboard.press(key);
      assert.equal(await look(), before, `${key} at ${where}`);
    }
  }
  await page.locator('#play').focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => window.ferry.position.step), 2, 'arrows still step');
  await page.locator('#find').focus();
  await page.keyboard.type('copy');
  assert.equal(await page.locator('#find').inputValue(), 'copy', 'a field is still typed into');
  await page.locator('#help').click();
  await setting.click();
  await page.keyboard.press('Escape');
  await page.keyboard.press('t');
  assert.equal(await page.locator('#events').isVisible(), true, 'on again');
  await done(page);
});

check('a screen reader is told the sentence of a step, and of a played run its sum', async () => {
  const page = await stage.open(stage.view.url, { reducedMotion: 'reduce' });
  await go(page, stage.seqOf('copy'));
  const told = page.getByRole('status').and(page.locator('#told'));
  const sentence = await page.locator('#say').innerText();
  await page.waitForFunction((words) => document.getElementById('told').textContent === words, sentence);
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction((words) => document.getElementById('told').textContent !== words, sentence);
  assert.equal(await told.textContent(), await page.locator('#say').innerText());
  await page.locator('#speed').selectOption('12');
  await page.keyboard.press(' ');
  await page.waitForFunction(() => /End of the run: Step (\d+) of \1\. \d+ copies/.test(document.getElementById('told').textContent));
  assert.equal(await page.locator('#where').getAttribute('aria-live'), 'off', 'and the step number is not told with each step');
  await done(page);
});

check('deeply indented code wraps in words, within its pane', async (t) => {
  const text = `int main(void)\n{\n${' '.repeat(44)}fy_add(x, w); fy_add(x, w); fy_add(x, w);\n${'\t'.repeat(30)}fy_free(w);\n}`;
  const events = [{ kind: 'session', t: 0, devices: [{ name: 'cpu' }] }, { kind: 'source', t: 0, path: 'a.c', text }, { kind: 'end', t: 9, status: 0 }];
  const server = await serve({ runs: [{ lines: events.map((e, seq) => JSON.stringify({ seq, th: 0, ...e })) }] });
  t.after(() => server.close());
  for (const viewport of [{ width: 1440, height: 900 }, { width: 320, height: 568 }]) {
    const page = await stage.open(server.url, { viewport });
    if (viewport.width < 860) await page.locator('#tab-code').click();
    await page.locator('#lines li').nth(3).waitFor();
    const [over, ...high] = await page.evaluate(() => [document.getElementById('source').scrollWidth - document.getElementById('source').clientWidth, ...[...document.querySelectorAll('#lines code')].map((one) => one.offsetHeight / document.querySelector('#lines code').offsetHeight)]);
    assert.ok(over <= 0 && Math.max(...high) < 7, `${viewport.width}: ${[over, ...high]}`);
    await done(page);
  }
});

check('an open sentence leaves room, a short one its height', async (t) => {
  const events = [{ kind: 'session', t: 0, devices: [{ name: 'cpu' }] }, { kind: 'mark', t: 1, calls: [{ id: 1, file: 'a.c', line: 1 }], call: 1, text: 'x/'.repeat(2500) }, { kind: 'mark', t: 2, calls: [{ id: 2, file: 'a.c', line: 2 }], call: 2, text: 'short' }, { kind: 'end', t: 9, status: 0 }];
  const server = await serve({ runs: [{ lines: events.map((e, seq) => JSON.stringify({ seq, th: 0, ...e })) }] });
  t.after(() => server.close());
  const page = await stage.open(server.url, { viewport: { width: 1366, height: 700 } });
  const sizes = async (seq) => {
    await page.waitForFunction(() => window.ferry?.events.length > 3);
    await page.evaluate((n) => { document.activeElement.blur(); window.ferry.go(n); }, seq);
    await settle(page);
    const height = () => page.evaluate(() => document.getElementById('say').clientHeight);
    const before = await height();
    await page.locator('#say').click({ position: { x: 5, y: 5 } });
    await settle(page);
    return [before, await height()];
  };
  const [short, clicked] = await sizes(2);
  assert.equal(clicked, short);
  const [cut, opened] = await sizes(1);
  assert.ok(opened > cut);
  assert.ok((await page.locator('#play').boundingBox()).y < 660, 'the controls stay in sight');
  await done(page);
});
