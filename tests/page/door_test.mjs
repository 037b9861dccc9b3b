// door_test.mjs: who gets in, by which address, and what becomes of the token.
import assert from 'node:assert/strict';
import { bench, check, done } from './browser.mjs';

const stage = bench();

check('the token leaves the address bar, and a reload still gets in', async () => {
  const page = await stage.open(stage.view.url);
  await page.waitForFunction(() => window.ferry?.events.length);
  assert.equal(new URL(page.url()).hash, '');
  await page.reload();
  await page.waitForFunction(() => window.ferry?.events.length);
  assert.doesNotMatch(page.url(), /token/);
  await done(page);
});

check('without a token the page says what to open', async () => {
  const page = await stage.open(stage.view.url.replace(/#.*/, ''));
  await page.locator('#notice:not([hidden])').waitFor();
  assert.match(await page.locator('#notice').innerText(), /#token=/);
  await page.context().close();
});
