import { serve } from './dev.mjs'; import { launch, open, settle } from './browser.mjs'; import { readFileSync } from 'node:fs';
const [log, out, ...moments] = process.argv.slice(2);
const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean);
const server = await serve({ runs: [{ lines }] }); const b = await launch();
const w = Number(process.env.W ?? 1440), h = Number(process.env.H ?? 900);
const page = await open(b, server.url, { viewport: { width: w, height: h }, colorScheme: process.env.DARK ? 'dark' : 'light' });
await page.waitForFunction(() => window.ferry?.events.some((e) => e?.kind === 'end'));
for (const m of moments) {
  await page.evaluate((t) => window.ferry.seek(t), Number(m));
  await page.waitForTimeout(300); await page.screenshot({ path: `${out}-${m}.png` });
}
console.log(page.troubles); await b.close(); await server.close();
