// axe_test.mjs: axe-core, the accessibility checker, finds nothing: in each state of the page, at four sizes, light
// and dark. Each state is loaded once, and resized. A short run looks at each state once, at another size or in
// another theme than the last; LONG=1 at all eight.
import assert from 'node:assert/strict';
import axe from 'axe-core';
import { bench, check, done, ferry, go, settle, write } from './browser.mjs';
import { serve } from './dev.mjs';
import { shape } from './mishaps.mjs';

const stage = bench();

const SIZES = [[1440, 900], [1280, 720], [1024, 768], [390, 844]];
const LOOKS = SIZES.flatMap((size) => ['light', 'dark'].map((scheme) => ({ size, scheme })));

const looks = (state) => (process.env.LONG ? LOOKS : [LOOKS[(state * 3) % LOOKS.length]]); // 3: eight states see all

async function faults(page) {
  if (!await page.evaluate(() => typeof window.axe === 'object')) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations.flatMap(({ id, nodes }) => nodes.map((n) => `${id}: ${n.target.join(' ')}: ${n.failureSummary.split('\n').slice(1).join(';').trim()}`));
}

// `tabs`: those of a narrow page that are looked at.
async function look(page, state, tabs = ['watch']) {
  const found = [];
  for (const { size: [width, height], scheme } of looks(state)) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    for (const tab of width < 860 && tabs.length > 1 ? tabs : ['']) {
      if (tab) await page.locator(`#tab-${tab}`).click();
      await settle(page);
      found.push(...(await faults(page)).map((words) => `${width}x${height} ${scheme} ${tab}: ${words}`));
    }
  }
  assert.deepEqual(found, []);
}

check('axe finds nothing where a log is watched', async () => {
  const page = await stage.open(stage.view.url, { reducedMotion: 'reduce' });
  await go(page, stage.seqOf('copy'));
  await look(page, 0);
  await page.keyboard.press('t');
  await look(page, 1);
  await done(page);
});

check('axe finds nothing in the dialogs', async () => {
  const page = await stage.open(stage.view.url, { reducedMotion: 'reduce' });
  await go(page, stage.seqOf('copy'));
  for (const [i, id] of ['explain', 'help', 'badge', 'save-run'].entries()) {
    await page.locator(`#${id}`).click();
    await look(page, i + 2);
    await page.keyboard.press('Escape');
  }
  await done(page);
});

check('axe finds nothing where an error is shown', async () => {
  const server = await serve({ runs: [{ lines: shape.map((e) => JSON.stringify(e)) }] });
  const page = await stage.open(server.url, { reducedMotion: 'reduce' });
  await go(page, shape.length - 1);
  await look(page, 7);
  await done(page);
  await server.close();
});

check('axe finds nothing in a lesson, its question, editor and verdict', async () => {
  const lessons = await ferry('serve', '--port', '8869');
  try {
    const page = await stage.open(lessons.url, { reducedMotion: 'reduce' });
    await page.waitForFunction(() => window.ferry?.events.length && document.getElementById('path').textContent);
    await look(page, 5, ['learn', 'watch']);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.locator('#play-demo').click();
    await page.keyboard.press('End');
    await page.locator('#tab-editor').click();
    await page.locator('#save').click();
    await page.locator('#verdict[data-kind="fail"]').waitFor();
    await look(page, 6, ['learn', 'watch']);
    await page.setViewportSize({ width: 1440, height: 900 }); // the editor is in sight again
    await page.locator('#tab-editor').click();
    await write(page, 'int main(void) { return 0 }\n');
    await page.locator('#save').click();
    await page.locator('#mistake').waitFor();
    await look(page, 7, ['learn', 'watch']);
    await done(page);
  } finally {
    await lessons.stop();
  }
});
