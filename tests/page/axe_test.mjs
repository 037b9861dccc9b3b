// axe_test.mjs: axe-core, the accessibility checker, finds nothing: in each state of the page, at four sizes, light
// and dark. Each state is loaded once, and resized. A short run looks at two of its eight looks, LONG=1 at all.
import assert from 'node:assert/strict';
import axe from 'axe-core';
import { bench, check, done, ferry, go, settle } from './browser.mjs';
import { serve } from './dev.mjs';
import { shape } from './mishaps.mjs';

const stage = bench();

const SIZES = [[1440, 900], [1280, 720], [1024, 768], [390, 844]];
const LOOKS = SIZES.flatMap((size, i) => ['light', 'dark'].map((scheme) => ({ size, scheme, i })));

// Each state has another size light, and the next one dark: four states see all.
const short = (state) => LOOKS.filter(({ scheme, i }) => i === (state + (scheme === 'dark' ? 1 : 0)) % SIZES.length);

async function faults(page) {
  if (!await page.evaluate(() => typeof window.axe === 'object')) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations.flatMap(({ id, nodes }) => nodes.map((n) => `${id}: ${n.target.join(' ')}: ${n.failureSummary.split('\n').slice(1).join(';').trim()}`));
}

// `tabs`: those of a narrow page that are looked at.
async function look(page, state, tabs = ['watch']) {
  const found = [];
  for (const { size: [width, height], scheme } of process.env.LONG ? LOOKS : short(state)) {
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
  for (const [i, id] of ['explain', 'help', 'badge'].entries()) {
    await page.locator(`#${id}`).click();
    await look(page, i + 1);
    await page.keyboard.press('Escape');
  }
  await done(page);
});

check('axe finds nothing where an error is shown', async () => {
  const server = await serve({ runs: [{ lines: shape.map((e) => JSON.stringify(e)) }] });
  const page = await stage.open(server.url, { reducedMotion: 'reduce' });
  await go(page, shape.length - 1);
  await look(page, 2);
  await done(page);
  await server.close();
});

check('axe finds nothing in a lesson, its question, editor and verdict', async () => {
  const lessons = await ferry('serve', '--port', '8865');
  try {
    const page = await stage.open(lessons.url, { reducedMotion: 'reduce' });
    await page.waitForFunction(() => window.ferry?.boxes().length);
    await look(page, 3, ['learn', 'watch']);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.locator('#tab-editor').click();
    await page.locator('#run-mine').click();
    await page.locator('#verdict[data-kind="fail"]').waitFor();
    await page.locator('#tab-editor').click();
    await look(page, 0, ['learn', 'watch']);
    await done(page);
  } finally {
    await lessons.stop();
  }
});
