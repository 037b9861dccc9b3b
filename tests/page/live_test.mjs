// live_test.mjs: runs that are still going on, were killed, or lost their server.
import assert from 'node:assert/strict';
import { bench, check, done, ferry, go, settle } from './browser.mjs';
import { logLines, serve } from './dev.mjs';
import { golden, logs } from './logs.mjs';

const stage = bench();

check('live: an event is shown before the next one exists, and the rest follows', async () => {
  const lines = logLines(golden('handmade-demo'));
  const server = await serve();
  const page = await stage.open(server.url);
  const run = server.add({ lines: lines.slice(0, 6), ended: false });
  await page.waitForFunction(() => window.ferry.boxes().some((b) => b.name === 'x'));
  assert.equal(await page.evaluate(() => window.ferry.events.length), 6);
  await page.waitForFunction(() => document.getElementById('live').textContent === 'Live');
  server.more(run, lines.slice(6));
  server.end(run);
  await page.waitForFunction(() => window.ferry.boxes().some((b) => b.name === 'x_gpu'));
  assert.equal(await page.evaluate(() => window.ferry.events.length), lines.length);
  await done(page);
  await server.close();
});

check('a killed program’s log says so and stays usable', async () => {
  const killed = await ferry('view', golden('handmade-killed'), '--port', '8850');
  try {
    const page = await stage.open(killed.url);
    await go(page, logs().get('handmade-killed').length - 1);
    await page.locator('#notice:not([hidden])').waitFor();
    assert.match(await page.locator('#notice').innerText(), /killed/);
    assert.equal(await page.locator('#live').innerText(), 'Killed');
    await page.keyboard.press('ArrowLeft');
    assert.ok(await page.evaluate(() => window.ferry.seq < window.ferry.events.length - 1));
    await done(page);
  } finally {
    await killed.stop();
  }
});

check('the server goes: the page says so, and what has arrived stays usable', async () => {
  const server = await serve({ runs: [{ lines: logLines(golden('handmade-demo')), ended: false }] });
  const page = await stage.open(server.url);
  await go(page, 13);
  await server.close();
  await page.locator('#notice:not([hidden])').waitFor();
  assert.match(await page.locator('#notice').innerText(), /server is gone/);
  await page.keyboard.press('ArrowRight');
  await settle(page);
  assert.ok(await page.evaluate(() => window.ferry.seq > 13));
  await page.context().close();
});

check('a connection that breaks is taken up again where it broke', async () => {
  const lines = logLines(golden('handmade-demo'));
  const server = await serve({ runs: [{ lines: lines.slice(0, 20), ended: false }] });
  const page = await stage.open(server.url);
  await page.waitForFunction(() => window.ferry?.events.length === 20);
  for (const socket of server.sockets) socket.terminate();
  await page.waitForFunction(() => !document.getElementById('notice').hidden);
  await page.waitForFunction(() => document.getElementById('notice').hidden);
  const seqs = await page.evaluate(() => window.ferry.events.map((e) => e.seq));
  assert.deepEqual(seqs, [...Array(20).keys()]);
  await page.context().close();
  await server.close();
});
