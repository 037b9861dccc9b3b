// screenshot.mjs: pictures of the page for the documentation, made by the real server and the first
// lesson's example.
//
//     node screenshot.mjs FOLDER            desktop and phone, light and dark
//     node screenshot.mjs --readme FILE     the one picture of the README

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ferry, launch, missing, open, pose } from './browser.mjs';

const sizes = { desktop: { viewport: { width: 1440, height: 900 } }, phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 } };

if (missing) {
  console.error(`screenshot: ${missing}`);
  process.exit(1);
}
const [first, second] = process.argv.slice(2);
if (!first || (first === '--readme' && !second)) {
  console.error('usage: node screenshot.mjs FOLDER | --readme FILE');
  process.exit(2);
}

async function shoot(browser, url, path, options) {
  const page = await open(browser, url, options);
  await pose(page);
  await page.screenshot({ path });
  await page.context().close();
  console.log(path);
}

const browser = await launch();
const server = await ferry('serve', '--port', '8880');
try {
  if (first === '--readme') await shoot(browser, server.url, second, { ...sizes.desktop, colorScheme: 'light' });
  else {
    mkdirSync(first, { recursive: true });
    for (const [size, options] of Object.entries(sizes)) {
      for (const colorScheme of ['light', 'dark']) await shoot(browser, server.url, join(first, `${size}-${colorScheme}.png`), { ...options, colorScheme });
    }
  }
} finally {
  await browser.close();
  await server.stop();
}
