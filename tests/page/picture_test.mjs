// picture_test.mjs: the README’s picture is still one of this page; and those of `ferry export` show the step asked for.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FERRY, bench, check, done, ferry, go, pose } from './browser.mjs';

const stage = bench();
const NEAR = 48; // how far red, green and blue may be off together: fonts are smoothed differently

// An SVG is drawn twice as large, as a PNG of the page is.
const source = (file) => (file[0] === 60 ? ['image/svg+xml', 2] : ['image/png', 1]).concat(file.toString('base64'));

/** Share of pixels that two pictures of the same size have in common, about; 0 for different sizes. */
async function alike(page, a, b) {
  return page.evaluate(async ([one, other, near]) => {
    const pixels = async ([type, scale, base64]) => {
      const image = Object.assign(new Image(), { src: `data:${type};base64,${base64}` });
      await image.decode();
      const [width, height] = [Math.ceil(image.width * scale), Math.ceil(image.height * scale)];
      const c = new OffscreenCanvas(width, height).getContext('2d');
      c.drawImage(image, 0, 0, width, height);
      return { width, data: c.getImageData(0, 0, width, height).data };
    };
    const [p, q] = [await pixels(one), await pixels(other)];
    if (p.width !== q.width || p.data.length !== q.data.length) return 0;
    let same = 0;
    for (let i = 0; i < p.data.length; i += 4) {
      if (Math.abs(p.data[i] - q.data[i]) + Math.abs(p.data[i + 1] - q.data[i + 1]) + Math.abs(p.data[i + 2] - q.data[i + 2]) <= near) same++;
    }
    return same / (p.data.length / 4);
  }, [source(a), source(b), NEAR]);
}

/** Of a PNG the part of its pixels that has its most frequent colour. */
const plainPart = (page, file) => page.evaluate(async (base64) => {
  const image = Object.assign(new Image(), { src: `data:image/png;base64,${base64}` });
  await image.decode();
  const c = new OffscreenCanvas(image.width, image.height).getContext('2d');
  c.drawImage(image, 0, 0);
  const colours = new Map();
  for (const one of new Uint32Array(c.getImageData(0, 0, image.width, image.height).data.buffer)) colours.set(one, (colours.get(one) ?? 0) + 1);
  return Math.max(...colours.values()) / (image.width * image.height);
}, file.toString('base64'));

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

check('ferry export draws the step asked for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ferry-picture-'));
  const exported = (kind, step) => {
    const file = join(folder, `${step}.${kind}`);
    const said = execFileSync(FERRY, ['export', stage.demo.path, `--${kind}`, '--step', String(step), '-o', file], { encoding: 'utf8', timeout: 90000 });
    assert.match(said, /^ferry: wrote .*\(\d+\.\d (kB|MB)\)\n$/);
    return readFileSync(file);
  };
  try {
    const page = await stage.open('about:blank');
    const [early, late] = [4, 8].map((step) => ({ png: exported('png', step), svg: exported('svg', step), step }));
    for (const { png, svg, step } of [early, late]) {
      assert.equal(png.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n');
      const [, w, h] = /^<svg [^>]*width="([\d.]+)" height="([\d.]+)"/.exec(svg.toString());
      assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [w, h].map((side) => Math.ceil(2 * side)), 'two pixels for one');
      assert.ok(svg.includes(`step ${step} of`), `step ${step}`);
      const empty = await plainPart(page, png);
      assert.ok(empty > 0.1 && empty < 0.8, `${(100 * empty).toFixed(1)} % of one colour`);
      assert.ok(await alike(page, png, svg) > 0.97, `both show step ${step}`);
    }
    const [own, other] = [await alike(page, late.png, late.svg), await alike(page, early.png, late.svg)];
    assert.ok(own > other + 0.02, `${own} is alike, and ${other} of another step`);
    await done(page);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
