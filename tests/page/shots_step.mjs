import { serve } from './dev.mjs'; import { launch, open, settle } from './browser.mjs'; import { readFileSync } from 'node:fs';
// node shots_step.mjs LOG OUT step:ms...   steps by hand and freezes the animation at m (0..1)
const [log, out, ...moments] = process.argv.slice(2);
const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean);
const server = await serve({ runs: [{ lines }] }); const b = await launch();
const w = Number(process.env.W ?? 1440), h = Number(process.env.H ?? 900);
const page = await open(b, server.url, { viewport: { width: w, height: h }, colorScheme: process.env.DARK ? 'dark' : 'light' });
await page.waitForFunction(() => window.ferry?.events.length > 3); await page.waitForTimeout(300);
for (const m of moments) {
  await page.evaluate((seq) => { window.ferry.go(seq); }, Number(m));
  await page.waitForTimeout(300); await page.screenshot({ path: `${out}-s${m}.png` });
}
console.log(page.troubles); await b.close(); await server.close();
