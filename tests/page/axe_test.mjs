// axe_test.mjs: axe-core, the accessibility checker, finds nothing: in each state of the page, at four sizes, light
// and dark. Each state is loaded once, and resized. A short run looks at each state once, at another size or in
// another theme than the last; LONG=1 at all eight.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import { bench, check, done, ferry, go, settle, write } from './browser.mjs';
import { serve } from './dev.mjs';
import { golden } from './logs.mjs';
import { crowded, shape } from './mishaps.mjs';

const stage = bench();

const SIZES = [[1440, 900], [1280, 720], [1024, 768], [390, 844]];
const LOOKS = SIZES.flatMap((size) => ['light', 'dark'].map((scheme) => ({ size, scheme })));
const isPhone = ({ size: [width] }) => width < 860;

let states = 0; // so far
const taken = new Set(); // of LOOKS

// Eight states see all of LOOKS: 3 and 8 have no common divisor. On a phone alone, one theme and then the other.
function looks(phone) {
  const all = phone ? LOOKS.filter(isPhone) : LOOKS;
  return process.env.LONG ? all : [all[(states++ * 3) % all.length]];
}

async function faults(page) {
  if (!await page.evaluate(() => typeof window.axe === 'object')) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations.flatMap(({ id, nodes }) => nodes.map((n) => `${id}: ${n.target.join(' ')}: ${n.failureSummary.split('\n').slice(1).join(';').trim()}`));
}

/** Lays the page out anew. */
async function resize(page, [width, height]) {
  await page.setViewportSize({ width, height });
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); })); // observers have heard of it
  await settle(page);
}

// shown: what must be in sight then; tabs: those of a narrow page that are looked at; phone: there alone.
async function look(page, { shown = 'body', tabs = [''], phone = false } = {}) {
  const found = [];
  for (const one of looks(phone)) {
    const { size, scheme } = one;
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await resize(page, size);
    for (const tab of isPhone(one) ? tabs : ['']) {
      if (tab) await page.locator(`#tab-${tab}`).click();
      await settle(page);
      const where = `${size.join('x')} ${scheme} ${tab}`;
      if (!isPhone(one) || phone || tabs.length === 1) assert.ok(await page.locator(shown).first().isVisible(), `${shown}, ${where}`);
      found.push(...(await faults(page)).map((words) => `${where}: ${words}`));
    }
    taken.add(one);
  }
  await resize(page, SIZES[0]); // where all is in sight that is clicked next
  assert.deepEqual(found, []);
}

/** To the last step, which is still. */
const toEnd = (page) => page.evaluate(() => window.ferry.go(window.ferry.events.length - 1));

/** A page with a lesson's example, played by a server of the tests' own. */
async function lesson(t, id) {
  const lines = readFileSync(golden(`demo-${id}`), 'utf8').split('\n').filter(Boolean);
  const server = await serve({ mode: 'lessons', runs: [{ lines, what: 'demo', lesson: id }] });
  t.after(() => server.close());
  server.add({ lines, what: 'demo', lesson: id });
  const page = await stage.open(`${server.url}&lesson=${id}`, { reducedMotion: 'reduce' });
  await page.waitForFunction(() => window.ferry?.events.some((e) => e?.kind === 'end'));
  return page;
}

check('axe finds nothing where a log is watched', async () => {
  const page = await stage.open(stage.view.url, { reducedMotion: 'reduce' });
  await go(page, stage.seqOf('copy'));
  await look(page);
  await page.keyboard.press('t');
  await look(page, { shown: '#events' });
  await done(page);
});

check('axe finds nothing in the dialogs', async () => {
  const page = await stage.open(stage.view.url, { reducedMotion: 'reduce' });
  await go(page, stage.seqOf('copy'));
  for (const id of ['explain', 'help', 'badge', 'save-run']) {
    await page.locator(`#${id}`).click();
    await look(page, { shown: 'dialog[open]' });
    await page.keyboard.press('Escape');
  }
  await done(page);
});

check('axe finds nothing in the inspector', async () => {
  const page = await stage.open(stage.view.url, { reducedMotion: 'reduce' });
  await go(page, stage.seqOf('copy', (e) => e.dir === 'd2h'));
  await page.keyboard.press('i');
  await look(page, { shown: '#inspector-title' });
  const { pageX, pageY, w, h } = await page.evaluate(() => window.ferry.boxes().find((b) => b.name === 'moved'));
  await page.mouse.click(pageX + w / 2, pageY + h / 2);
  await page.locator('#inspector-title', { hasText: 'moved' }).waitFor();
  await look(page, { shown: '#inspector-title' });
  await done(page);
});

check('axe finds nothing for a projector', async () => {
  const page = await stage.open(stage.view.url, { reducedMotion: 'reduce' });
  await go(page, stage.seqOf('copy'));
  await page.locator('#help').click();
  await page.locator('#present').click();
  await look(page, { shown: '#leave' });
  await done(page);
});

check('axe finds nothing where an error is shown', async () => {
  const server = await serve({ runs: [{ lines: shape.map((e) => JSON.stringify(e)) }] });
  const page = await stage.open(server.url, { reducedMotion: 'reduce' });
  await go(page, shape.length - 1);
  await look(page, { shown: '#wrong' });
  await done(page);
  await server.close();
});

check('axe finds nothing in the list of a group', async (t) => {
  const lines = crowded(500);
  const server = await serve({ runs: [{ lines }] });
  t.after(() => server.close());
  const page = await stage.open(server.url, { reducedMotion: 'reduce' });
  await go(page, lines.length - 1);
  await page.locator('#spots button.group').first().focus();
  await page.keyboard.press('Enter');
  await look(page, { shown: '#lens li' });
  await done(page);
});

check('axe finds nothing where two runs are compared', async () => {
  const scene = (name) => new URL(`./scenes/${name}.jsonl`, import.meta.url).pathname;
  const server = await ferry('view', scene('two-cards-no-peer'), scene('two-cards-peer'), '--port', '8873');
  try {
    const page = await stage.open(server.url, { reducedMotion: 'reduce' });
    await page.locator('#compare-lines button').first().waitFor();
    await toEnd(page);
    await look(page, { shown: '#compare' });
    await page.locator('#compare-back').click();
    await page.locator('.try').first().click(); // the run as it would be
    await page.locator('#compare-title', { hasText: 'What if' }).waitFor();
    await look(page, { shown: '#compare' });
    await done(page);
  } finally {
    await server.stop();
  }
});

check('axe finds nothing in arrows, before and after the run', async (t) => {
  const page = await lesson(t, '02-to-returns');
  await page.locator('.arrow').first().waitFor();
  for (const [i, way] of ['h2d', 'h2d', 'none'].entries()) await page.locator(`.arrow >> nth=${i} >> input[value="${way}"]`).press('Space');
  await look(page, { shown: '.arrow', tabs: ['learn'] });
  await page.locator('.arrow >> nth=3 >> input[value="d2h"]').press('Space');
  await page.locator('.predict input[type=number]').fill('2');
  await page.locator('#act').click();
  await toEnd(page);
  await page.locator('.predict .answer', { hasText: 'lines right' }).waitFor({ state: 'attached' });
  await look(page, { shown: '.arrow .truth', tabs: ['learn'] });
  await done(page);
});

check('axe finds nothing in the plot of the fare', async (t) => {
  const page = await lesson(t, '03-round-trip');
  await page.locator('.predict button', { hasText: 'Just show me' }).click();
  await page.locator('.fare canvas').waitFor();
  await toEnd(page);
  await look(page, { shown: '.fare canvas', tabs: ['learn'] });
  await done(page);
});

check('axe finds nothing in a lesson, its question, editor and verdict', async () => {
  const lessons = await ferry('serve', '--port', '8869');
  try {
    const page = await stage.open(lessons.url, { reducedMotion: 'reduce' });
    await page.waitForFunction(() => window.ferry?.events.length && document.getElementById('path').textContent);
    await look(page, { tabs: ['learn', 'watch'] });
    await page.locator('#play-demo').click();
    await page.keyboard.press('End');
    await page.locator('#tab-editor').click();
    await page.locator('#save').click();
    await page.locator('#verdict[data-kind="fail"]').waitFor();
    await look(page, { tabs: ['learn', 'watch'], shown: '#verdict' });
    await look(page, { tabs: ['code', 'results', 'learn', 'watch'], phone: true });
    await page.locator('#tab-editor').click();
    await write(page, 'int main(void) { return 0 }\n');
    await page.locator('#save').click();
    await page.locator('#mistake').waitFor();
    await look(page, { tabs: ['learn', 'watch'], shown: '#mistake' });
    await look(page, { tabs: ['code', 'results'], phone: true });
    await done(page);
  } finally {
    await lessons.stop();
  }
});

check('a whole run looks at each size, light and dark', (t) => {
  if (!taken.size) return t.skip('none was looked at');
  return assert.deepEqual(LOOKS.filter((one) => !taken.has(one)), []);
});
