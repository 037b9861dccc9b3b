// scenes.mjs: pictures of the named scenes, for eyes that know neither program nor log: a laptop and a phone. The logs are
// made by scenes/log; scenes/scenes.json says which moment is shown and what is asked of it; scenes/READINGS.md what was read.
//
//     node scenes.mjs FOLDER [NAME...]

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ferry, go, launch, missing, open, settle } from './browser.mjs';

const here = fileURLToPath(new URL('./scenes/', import.meta.url));
const sizes = { laptop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };

const [folder, ...names] = process.argv.slice(2);
if (missing || !folder) {
  console.error(missing ? `scenes: ${missing}` : 'usage: node scenes.mjs FOLDER [NAME...]');
  process.exit(missing ? 1 : 2);
}
mkdirSync(folder, { recursive: true });
const scenes = JSON.parse(readFileSync(join(here, 'scenes.json'), 'utf8'));
const browser = await launch();
try {
  for (const name of names.length ? names : Object.keys(scenes)) {
    const lines = readFileSync(join(here, `${name}.jsonl`), 'utf8').split('\n').filter(Boolean);
    const server = await ferry('view', join(here, `${name}.jsonl`)); // with its findings
    for (const [size, viewport] of Object.entries(sizes)) {
      const page = await open(browser, server.url, { viewport, deviceScaleFactor: size === 'phone' ? 2 : 1 });
      await page.waitForFunction((n) => window.ferry?.events.length >= n, lines.length);
      const { seq, t } = scenes[name];
      if (t === undefined) await go(page, seq);
      else await page.evaluate((at) => window.ferry.seek(at), t);
      await settle(page);
      await page.screenshot({ path: join(folder, `${name}-${size}.png`) });
      await page.context().close();
    }
    await server.stop();
  }
} finally {
  await browser.close();
}
