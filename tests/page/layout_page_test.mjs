// layout_page_test.mjs: the page fits its window; the editor's numbers stand beside their lines.
import assert from 'node:assert/strict';
import { DEMO, bench, check, done } from './browser.mjs';
import { serve } from './dev.mjs';

const stage = bench();

const overflow = (page) => page.evaluate(() => [document.documentElement.scrollHeight - innerHeight, document.documentElement.scrollWidth - innerWidth]);

// Eight checks, half of them failing, each with a long message.
function verdict() {
  const checks = Array.from({ length: 8 }, (_, i) => ({
    check: `check-number-${i}`, pass: i % 2 === 0, expected: 'at most 1 to the card', got: `${i} to the card`, seq: i, line: i + 1,
    message: 'Copies to the card: 5, and the budget is 1. The first one too many is the copy at line 13. '.repeat(3),
  }));
  return { pass: false, message: checks[1].message, checks, output: 'line\n'.repeat(60), seconds: 0.1, seed: 0 };
}

check('a long verdict scrolls in its own place: the document never does', async () => {
  const server = await serve({ mode: 'lessons', runs: [{ lines: stage.demo.lines, what: 'demo', lesson: DEMO }] });
  for (const height of [900, 720, 620]) {
    const page = await stage.open(server.url, { viewport: { width: 1440, height } });
    await page.waitForFunction(() => window.ferry?.events.length);
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
  await server.close();
});

check('the editor opens at the learner’s part, and its numbers keep beside their lines', async () => {
  const server = await serve({ mode: 'lessons', runs: [{ lines: stage.demo.lines, what: 'demo', lesson: DEMO }] });
  const page = await stage.open(server.url);
  await page.waitForFunction(() => document.getElementById('path').textContent);
  await page.locator('#tab-editor').click();
  const at = () => page.evaluate(() => {
    const area = document.getElementById('code');
    return [area.value.slice(area.selectionStart).split('\n')[0], area.scrollTop, document.getElementById('gutter').scrollTop];
  });
  await page.waitForFunction(() => document.getElementById('code').selectionStart > 0);
  assert.equal((await at())[0], '// --- your code ---');
  // As a scrollbar does: it takes height from the text area alone.
  await page.evaluate(() => {
    const area = document.getElementById('code');
    area.style.borderBottom = '16px solid';
    area.scrollTop = area.scrollHeight;
  });
  await page.waitForFunction(() => document.getElementById('gutter').scrollTop > 0);
  const [, text, numbers] = await at();
  assert.equal(numbers, text);
  await done(page);
  await server.close();
});
