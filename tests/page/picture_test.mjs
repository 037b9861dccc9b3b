// picture_test.mjs: the README’s picture is still one of this page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { bench, check, done, pose } from './browser.mjs';

const stage = bench();

check('the README’s picture is one of this page', async () => {
  const page = await stage.open(stage.view.url);
  await pose(page);
  const shot = await page.screenshot();
  const kept = readFileSync(new URL('../golden/screenshot.png', import.meta.url));
  const size = (png) => [png.readUInt32BE(16), png.readUInt32BE(20)];
  assert.deepEqual(size(kept), size(shot));
  assert.ok(shot.length > 20000 && kept.length > 20000, 'neither is blank');
  await done(page);
});
