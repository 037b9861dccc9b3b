// door_test.mjs: who gets in, by which address, and what becomes of the token.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import { DEMO, bench, check, done, ferry, write } from './browser.mjs';

const stage = bench();

check('the token leaves the address bar, and a reload still gets in', async () => {
  const page = await stage.open(stage.view.url);
  await page.waitForFunction(() => window.ferry?.events.length);
  assert.doesNotMatch(page.url(), /token/);
  await page.reload();
  await page.waitForFunction(() => window.ferry?.events.length);
  assert.doesNotMatch(page.url(), /token/);
  await done(page);
});

check('the page names the folder that it is of, by its end where it is long', async () => {
  const lessons = await ferry('serve', '--port', '8835');
  try {
    const page = await stage.open(lessons.url);
    await page.locator('#folder:not([hidden])').waitFor();
    const end = lessons.my.split('/').slice(-2).join('/');
    assert.equal(await page.title(), `${end} · Ferry`);
    assert.ok((await page.locator('#folder').innerText()).endsWith(end));
    assert.equal(await page.locator('#folder').getAttribute('title'), `Your files are in ${lessons.my}`);
    await done(page);
  } finally {
    await lessons.stop();
  }
});

check('without a token the page says what to open', async () => {
  const page = await stage.open(stage.view.url.replace(/#.*/, ''));
  await page.locator('#notice:not([hidden])').waitFor();
  assert.match(await page.locator('#notice').innerText(), /#token=/);
  await page.context().close();
});

// As `ssh -L 9999:127.0.0.1:8700` does: bytes go through, and Host and Origin name another port.
async function forward(port) {
  const open = new Set();
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    for (const socket of [from, to]) {
      open.add(socket);
      socket.on('error', () => [from, to].forEach((s) => s.destroy()));
      socket.on('close', () => open.delete(socket));
    }
    from.pipe(to).pipe(from);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const close = () => new Promise((closed) => {
    server.close(closed);
    for (const socket of open) socket.destroy();
  });
  return { port: server.address().port, close };
}

check('through a forwarded port events come, and a saved file is graded', async () => {
  const lessons = await ferry('serve', '--port', '8845');
  const there = new URL(lessons.url);
  const tunnel = await forward(Number(there.port));
  try {
    assert.notEqual(String(tunnel.port), there.port);
    there.port = tunnel.port;
    const page = await stage.open(there.href);
    await page.waitForFunction(() => window.ferry?.events.length);
    await page.locator('#tab-editor').click();
    await write(page, readFileSync(new URL(`../../lessons/${DEMO}/solution.c`, import.meta.url), 'utf8'));
    await page.locator('#save').click();
    await page.locator('#verdict[data-kind="pass"]').waitFor();
    assert.equal(new URL(page.url()).port, String(tunnel.port));
    await done(page);
  } finally {
    await tunnel.close();
    await lessons.stop();
  }
});
