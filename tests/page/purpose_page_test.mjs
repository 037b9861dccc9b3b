// purpose_page_test.mjs: what bytes are for, for pointer, keyboard and screen reader: a training loop in a browser.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { check, go, launch, missing, open, settle } from './browser.mjs';
import { logLines, serve } from './dev.mjs';

const scene = (name) => logLines(new URL(`./scenes/${name}.jsonl`, import.meta.url).pathname);
let browser = null;
let server = null;

before(async () => {
  if (missing) return;
  browser = await launch();
  server = await serve({ runs: [{ lines: scene('training-loop') }] });
});
after(async () => {
  await browser?.close();
  await server?.close();
});

async function training(viewport = { width: 1440, height: 900 }) {
  const page = await open(browser, server.url, { viewport });
  await go(page, 640); // after the second backward pass
  return page;
}

const spot = (page, name) => page.locator(`#spots button[aria-label^="${name} in GPU VRAM"]`);
const canvas = (page) => page.evaluate(() => document.getElementById('canvas').toDataURL());

check('pointing at a parameter tells its gradient and lights it', async () => {
  const page = await training();
  const plain = await canvas(page);
  await spot(page, '2.weight').hover();
  await page.waitForFunction(() => /its gradient: 2\.weight\.grad, 5 KiB/.test(document.getElementById('tip').textContent));
  const lit = await canvas(page);
  assert.notEqual(lit, plain);
  await spot(page, '2.weight.grad').hover();
  await page.waitForFunction(() => /the gradient of 2\.weight/.test(document.getElementById('tip').textContent));
  assert.deepEqual(page.troubles, []);
  await page.context().close();
});

check('each purpose is a button that lights its boxes', async () => {
  const page = await training();
  await page.waitForFunction(() => document.querySelectorAll('#spots .purpose').length > 3);
  const labels = await page.locator('#spots .purpose').evaluateAll((all) => all.map((one) => one.ariaLabel));
  assert.ok(labels.includes('optimizer (Adam): 75.1 KiB in GPU VRAM, 8 storages'), labels.join('; '));
  assert.ok(labels.some((one) => /^gradients: 37\.5 KiB in GPU VRAM, 4 storages$/.test(one)), labels.join('; '));
  await settle(page);
  const plain = await canvas(page);
  await page.locator('#spots .purpose[aria-label^="optimizer"]').focus();
  await settle(page);
  assert.notEqual(await canvas(page), plain);
  await page.locator('#spots .purpose[aria-label^="optimizer"]').blur();
  await settle(page);
  assert.equal(await canvas(page), plain);
  await page.context().close();
});

check('a phone has a summary too', async () => {
  const page = await training({ width: 390, height: 844 });
  await page.waitForFunction(() => document.querySelectorAll('#spots .purpose').length > 2);
  const inside = await page.locator('#spots .purpose').evaluateAll((all) => all.every((one) => one.offsetLeft + one.offsetWidth <= document.getElementById('stage').clientWidth));
  assert.ok(inside);
  await page.context().close();
});
