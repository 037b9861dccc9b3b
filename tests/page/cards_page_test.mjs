// cards_page_test.mjs: of several cards each keeps its name, its tensor's name and its lanes in a small window, as drawn: whole, and
// under nothing. The drawing is the page's own as SVG, so that the browser itself says what is on top at a point.
import assert from 'node:assert/strict';
import { bench, check, done, settle } from './browser.mjs';
import { cardsLog } from './cards.mjs';
import { serve } from './dev.mjs';
import { told } from './logs.mjs';

const stage = bench();

/** The words of the page's drawing at time t: [{words, x, y, isClear: nothing cuts or covers them}]. */
async function wordsOf(page, t) {
  await page.evaluate((at) => window.ferry.seek(at), t);
  await settle(page);
  const svg = await page.evaluate(() => window.ferry.picture('svg'));
  const sheet = await stage.open('about:blank', { viewport: { width: 2000, height: 2000 } });
  await sheet.setContent(`<style>body { margin: 0 } text { white-space: pre }</style>${svg}`);
  const words = await sheet.evaluate(() => [...document.querySelectorAll('text')].filter((one) => one.textContent.trim()).map((one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    const isClear = [0.02, 0.25, 0.5, 0.75, 0.98].every((part) => document.elementFromPoint(x + part * width, y + height / 2) === one);
    return { words: one.textContent, x, y, isClear };
  }));
  await sheet.context().close();
  return words;
}

check('small windows keep each card’s names and lanes', async (t) => {
  for (const [n, width, height] of [[4, 853, 480], [2, 853, 480], [2, 390, 844], [4, 390, 844]]) {
    const server = await serve({ runs: [{ lines: told(cardsLog(n)).map((e) => JSON.stringify(e)) }] });
    t.after(() => server.close());
    const page = await stage.open(server.url, { viewport: { width, height } });
    await page.waitForFunction(() => window.ferry?.slices().length);
    const all = await wordsOf(page, 15000);
    const { top, edge } = await page.evaluate(() => ({ top: document.getElementById('canvas').clientHeight, edge: document.getElementById('canvas').clientWidth / 4 }));
    const first = all.find(({ words }) => words === 'CPU RAM').y - 12; // where the picture begins, under the sentence
    const where = `${n} cards at ${width}x${height}`;
    const inPicture = ({ y }) => y < first + top;
    for (let i = 0; i < n; i++) {
      const named = (words) => words.split(' ').includes(`cuda:${i}`);
      const heading = all.filter((one) => inPicture(one) && named(one.words) && one.y >= first);
      assert.ok(heading.some((one) => one.isClear), `${where}: the memory of cuda:${i} has its name: ${JSON.stringify(heading)}`);
      const tensor = all.filter((one) => inPicture(one) && new RegExp(`^part${i}\\b`).test(one.words));
      assert.ok(tensor.some((one) => one.isClear), `${where}: part${i} has its name: ${JSON.stringify(tensor)}`);
      const lane = all.filter((one) => !inPicture(one) && named(one.words) && one.x < 24 + edge);
      assert.ok(lane.some((one) => one.isClear), `${where}: the lanes of cuda:${i} have its name: ${JSON.stringify(lane)}`);
    }
    const [bottom, lanes] = await page.evaluate(() => {
      scrollTo(0, document.documentElement.scrollHeight);
      return [document.getElementById('stage').getBoundingClientRect().bottom, document.getElementById('timeline').getBoundingClientRect().top];
    });
    assert.ok(bottom <= lanes + 1, `${where}: the last card can be scrolled out of the lanes: ${bottom}, ${lanes}`);
    assert.equal(await page.evaluate(() => new Set(window.ferry.slices().map((s) => s.row).filter((row) => row.startsWith('cuda:'))).size), n, `${where}: each card has a row`);
    await done(page);
  }
});
