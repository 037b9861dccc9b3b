// picture_test.mjs: the README’s picture is still one of this page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { bench, check, done, ferry, go, pose } from './browser.mjs';

const stage = bench();
const NEAR = 48; // how far red, green and blue may be off together: fonts are smoothed differently

/** Share of pixels that two pictures of the same size have in common, about; 0 for different sizes. */
async function alike(page, a, b) {
  return page.evaluate(async ([one, other, near]) => {
    const pixels = async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const c = new OffscreenCanvas(image.width, image.height).getContext('2d');
      c.drawImage(image, 0, 0);
      return { width: image.width, data: c.getImageData(0, 0, image.width, image.height).data };
    };
    const [p, q] = [await pixels(one), await pixels(other)];
    if (p.width !== q.width || p.data.length !== q.data.length) return 0;
    let same = 0;
    for (let i = 0; i < p.data.length; i += 4) {
      if (Math.abs(p.data[i] - q.data[i]) + Math.abs(p.data[i + 1] - q.data[i + 1]) + Math.abs(p.data[i + 2] - q.data[i + 2]) <= near) same++;
    }
    return same / (p.data.length / 4);
  }, [a.toString('base64'), b.toString('base64'), NEAR]);
}

// Made as screenshot.mjs makes it. `npm run picture` makes it again after a wanted change.
check('the README’s picture is one of this page', async () => {
  const kept = readFileSync(new URL('../golden/screenshot.png', import.meta.url));
  const lessons = await ferry('serve', '--port', '8880');
  try {
    const page = await stage.open(lessons.url, { colorScheme: 'light' });
    const blank = await stage.open('about:blank');
    await pose(page);
    const fresh = await alike(blank, kept, await page.screenshot());
    await go(page, 2);
    const early = await alike(blank, kept, await page.screenshot());
    const message = `${(100 * fresh).toFixed(1)} % of the pixels are alike; cd tests/page && npm run picture`;
    assert.ok(fresh >= 0.9, message);
    assert.ok(fresh > early, `${message} (the run's beginning: ${(100 * early).toFixed(1)} %)`);
    await done(page);
  } finally {
    await lessons.stop();
  }
});
