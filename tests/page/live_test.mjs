// live_test.mjs: runs that are still going on, were killed, or lost their server.
import assert from 'node:assert/strict';
import { bench, boxesOf, check, done, ferry, go, program, settle, share } from './browser.mjs';
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

// The program is held by a pipe, so nothing here hangs on time: what the page shows while it is held cannot
// come from what the program does afterwards.
check('a C program’s first tensor is drawn before its second exists', async () => {
  const held = await program(`#include <ferry.h>
#include <unistd.h>
int main(void)
{
    fy_tensor *first = fy_ones((64, 64));
    char go;
    if (read(0, &go, 1) != 1) return 3;
    fy_tensor *second = fy_to(first, "cuda");
    return second ? 0 : 4;
}
`);
  try {
    const page = await stage.open(held.url);
    await page.waitForFunction(() => window.ferry?.boxes().some((b) => b.name === 'first'));
    await page.waitForFunction(() => document.getElementById('live').textContent === 'Live');
    const drawn = async () => {
      await page.waitForFunction(() => window.ferry.position.m === 1);
      const boxes = await boxesOf(page);
      for (const box of boxes) assert.ok(await share(page, box.band, box.hue) > 0.3, `${box.name} is painted`);
      return boxes.map((b) => `${b.name} ${b.device}`);
    };
    assert.deepEqual(await drawn(), ['first cpu']);
    assert.equal(await page.locator('#lines .lit .number').innerText(), '5');
    assert.deepEqual(await page.evaluate(() => window.ferry.events.filter((e) => e.kind === 'copy' || e.kind === 'end')), []);
    assert.equal(held.child.exitCode, null);

    held.child.stdin.write('x');
    await page.waitForFunction(() => window.ferry.boxes().some((b) => b.name === 'second'));
    const whole = () => page.waitForFunction(() => window.ferry?.events.at(-1)?.kind === 'end');
    await whole();
    await page.reload(); // the program has ended, and its run is still there
    await whole();
    assert.match(held.output(), /has ended; its run stays at http/);
    process.kill(held.child.pid, 'SIGTERM'); // it passes that on to its viewer
    assert.equal(await held.ended, 0);
    await page.locator('#notice', { hasText: /program and its server have ended/ }).waitFor();
    await page.context().close();
  } finally {
    await held.stop();
  }
});

check('the server goes: the page says so, and what has arrived stays usable', async () => {
  const server = await serve({ runs: [{ lines: logLines(golden('handmade-demo')).slice(0, -1), ended: false }] });
  const page = await stage.open(server.url);
  await go(page, 13);
  await server.close();
  await page.locator('#notice:not([hidden])').waitFor();
  assert.match(await page.locator('#notice').innerText(), /server does not answer/);
  await page.keyboard.press('ArrowRight');
  await settle(page);
  assert.ok(await page.evaluate(() => window.ferry.seq > 13));
  await page.context().close();
});

check('a server that goes after its program is not waited for', async () => {
  const lines = logLines(golden('handmade-demo')); // with its end, which the server had no time to confirm
  const server = await serve({ runs: [{ lines, ended: false }] });
  const page = await stage.open(server.url);
  await page.waitForFunction((n) => window.ferry?.events.length === n, lines.length);
  await server.close();
  await page.locator('#notice', { hasText: /program and its server have ended/ }).waitFor();
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

// A step each.
const marks = (from, n) => Array.from({ length: n }, (_, i) => JSON.stringify({ seq: from + i, t: 10 * (from + i), kind: 'mark', th: 0, calls: [{ id: from + i, file: 'p.c', line: 1 + (i % 9), fn: 'main' }], call: from + i, text: `mark ${i}` }));

check('a live run too fast to watch shows now; a saved one its beginning', async () => {
  const first = logLines(golden('handmade-demo')).slice(0, 1);
  const server = await serve({ runs: [{ lines: [...first, ...marks(1, 3000)], ended: false, over: true }] });
  const page = await stage.open(server.url);
  await page.waitForFunction(() => window.ferry?.position.step > 0);
  assert.ok(await page.evaluate(() => window.ferry.position.step < 1000));
  const run = server.add({ lines: first, ended: false });
  await page.waitForFunction(() => window.ferry.events.length === 1);
  server.more(run, marks(1, 3000));
  await page.waitForFunction(() => window.ferry.position.step === 3000);
  let [count, said] = [3001, ''];
  for (; said !== 'Live · skips steps' && count < 100000; count += 1100) {
    server.more(run, marks(count, 1100));
    said = await page.locator('#live').innerText();
  }
  assert.equal(said, 'Live · skips steps');
  server.end(run);
  await page.waitForFunction(() => document.getElementById('live').textContent === 'Killed'); // it has no end event
  assert.equal(await page.evaluate(() => window.ferry.seq), count - 1);
  await done(page);
  await server.close();
});
