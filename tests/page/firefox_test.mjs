// firefox_test.mjs: the page in Firefox: a log is drawn, stepped and played, a lesson opened and checked; nothing fails.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { tensorStyle } from '../../www/stage/colours.js';
import { DEMO, FERRY, ferry, trace } from './browser.mjs';
import { FIREFOX, firefox } from './firefox.mjs';

const skip = !FIREFOX ? 'no Firefox on this machine' : !existsSync(FERRY) ? `${FERRY} is not built` : false;
const check = (name, run) => test(name, { skip, timeout: 240000 }, run);

let browser;
before(async () => {
  if (!skip) browser = await firefox();
});
after(() => browser?.close());

// Shares of the canvas that are painted in a tensor's hue.
const PAINTED = `(async () => {
  const hues = ${JSON.stringify(Array.from({ length: 20 }, (_, i) => tensorStyle(i).hue))};
  const canvas = document.getElementById('canvas');
  const at = canvas.getBoundingClientRect();
  const scale = canvas.width / at.width;
  return window.ferry.boxes().map((b) => {
    const wanted = hues[b.index].match(/\\w\\w/g).map((v) => parseInt(v, 16));
    const { data } = canvas.getContext('2d').getImageData(b.x * scale, (b.y + 4) * scale, 12 * scale, (b.h - 8) * scale);
    let same = 0;
    for (let i = 0; i < data.length; i += 4) if (wanted.every((v, k) => Math.abs(v - data[i + k]) < 12)) same++;
    return same / (data.length / 4);
  });
})()`;

check('Firefox draws a log, steps it and plays it to its end', async (t) => {
  const demo = trace(DEMO);
  t.after(() => demo.remove());
  const view = await ferry('view', demo.path, '--port', '8831');
  t.after(() => view.stop());
  const page = await browser.open(view.url);
  await page.until('window.ferry?.events.length && window.ferry.idle');
  await page.press('Home');
  const first = await page.evaluate('document.getElementById("say").textContent');
  await page.press('ArrowRight');
  await page.until('window.ferry.position.step === 1 && window.ferry.idle');
  assert.notEqual(await page.evaluate('document.getElementById("say").textContent'), first);
  await page.click('#forward');
  await page.until('window.ferry.position.step === 2 && window.ferry.idle');
  await page.evaluate(`window.ferry.go(${demo.events.find((e) => e.kind === 'copy').seq})`);
  await page.until('window.ferry.idle');
  const painted = await page.evaluate(PAINTED);
  assert.ok(painted.length >= 2 && painted.every((share) => share > 0.2), `${painted}`);
  await page.click('#help');
  await page.until('document.getElementById("keys").open');
  await page.press('Escape');
  await page.until('!document.getElementById("keys").open');
  await page.evaluate('(() => { const s = document.getElementById("speed"); s.value = "12"; s.dispatchEvent(new Event("change")); })()');
  await page.evaluate(`window.ferry.go(${demo.events.length - 6})`);
  await page.click('#play');
  await page.until(`window.ferry.seq === ${demo.events.length - 1} && !window.ferry.position.playing`);
  assert.deepEqual(page.troubles, []);
  await page.close();
});

check('Firefox opens a lesson, takes text and shows the verdict', async (t) => {
  const lessons = await ferry('serve', '--port', '8834');
  t.after(() => lessons.stop());
  const page = await browser.open(lessons.url);
  await page.until('window.ferry?.events.length && document.getElementById("path").textContent');
  await page.click('#tab-editor');
  await page.click('#tab-source');
  await page.press('e'); // opens it, too, and goes there
  await page.until('document.activeElement.getAttribute("aria-label") === "Your program"');
  await page.press('x');
  await page.until('document.getElementById("dirty").textContent !== "saved"');
  await page.click('#save');
  await page.until('/compile/.test(document.getElementById("verdict-title").textContent)');
  assert.deepEqual(page.troubles, []);
  await page.close();
});
