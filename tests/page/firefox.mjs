// firefox.mjs: a Firefox as it is installed, driven over WebDriver BiDi, which it speaks itself: no driver and no patched
// browser. A few lines over the WebSocket that the tests have anyway; what a smoke test needs, no more.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';

export const FIREFOX = [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'].find((p) => p && existsSync(p));

const QUIET = { 'browser.shell.checkDefaultBrowser': false, 'datareporting.policy.dataSubmissionEnabled': false, 'app.update.enabled': false, 'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false, 'browser.startup.homepage_override.mstone': 'ignore', 'toolkit.telemetry.reportingpolicy.firstRun': false, 'ui.prefersReducedMotion': 1 };

const LIMIT = 60000; // ms, of each wait; a guard, not a claim

/** {open(url), close()} of a Firefox of its own, with a profile of its own, ended by its handle. */
export async function firefox() {
  const profile = mkdtempSync(join(tmpdir(), 'ferry-firefox-'));
  writeFileSync(join(profile, 'user.js'), Object.entries(QUIET).map(([key, value]) => `user_pref(${JSON.stringify(key)}, ${JSON.stringify(value)});\n`).join(''));
  const child = spawn(FIREFOX, ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'], { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: '1' } });
  const ended = new Promise((done) => child.on('exit', done));

  async function close() {
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 10000);
    await ended;
    clearTimeout(late);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
  try {
    const { send, on, hangUp } = await call(`${await address(child, ended)}/session`);
    await send('session.new', { capabilities: {} });
    await send('session.subscribe', { events: ['log.entryAdded'] });
    return { open: (url) => open(send, on, url), close: () => { hangUp(); return close(); } };
  } catch (error) {
    await close();
    throw error;
  }
}

function address(child, ended) {
  return new Promise((found, failed) => {
    let said = '';
    const late = setTimeout(() => failed(new Error(`${FIREFOX} gave no address in ${LIMIT} ms: ${said}`)), LIMIT);
    child.stderr.on('data', (data) => {
      said += data;
      const at = /WebDriver BiDi listening on (ws:\S+)/.exec(said);
      if (!at) return;
      clearTimeout(late);
      found(at[1]);
    });
    ended.then(() => failed(new Error(`${FIREFOX} ended: ${said}`)));
  });
}

// The wire: send(method, params) -> its result; on(act): called with each event.
async function call(url) {
  const socket = new WebSocket(url);
  const waiting = new Map();
  const heard = [];
  let count = 0;
  await new Promise((done, failed) => socket.on('open', done).on('error', failed));
  socket.on('message', (data) => {
    const message = JSON.parse(data);
    if (message.type === 'event') return heard.forEach((act) => act(message));
    const { done, failed, method } = waiting.get(message.id);
    waiting.delete(message.id);
    return message.type === 'success' ? done(message.result) : failed(new Error(`${method}: ${message.error}: ${message.message}`));
  });
  const send = (method, params) => new Promise((done, failed) => {
    waiting.set(++count, { done, failed, method });
    socket.send(JSON.stringify({ id: count, method, params }));
  });
  return { send, on: (act) => heard.push(act), hangUp: () => socket.terminate() };
}

const KEYS = { ArrowRight: '\uE014', ArrowLeft: '\uE012', End: '\uE010', Home: '\uE011', Escape: '\uE00C', Tab: '\uE004', Enter: '\uE007' };

/** A page: {troubles, evaluate(code), until(code), press(key), click(selector), close()}. `code` is an expression. */
async function open(send, on, url) {
  const { context } = await send('browsingContext.create', { type: 'tab' });
  const troubles = [];
  on(({ method, params }) => {
    if (method === 'log.entryAdded' && params.source.context === context && params.level === 'error') troubles.push(params.text);
  });
  await send('browsingContext.setViewport', { context, viewport: { width: 1280, height: 800 } });
  await send('browsingContext.navigate', { context, url, wait: 'complete' });

  async function evaluate(code) {
    const answer = await send('script.evaluate', { expression: `(async () => JSON.stringify(await (${code})))()`, target: { context }, awaitPromise: true });
    if (answer.type === 'exception') throw new Error(`${code}: ${answer.exceptionDetails.text}`);
    return answer.result.value === undefined ? undefined : JSON.parse(answer.result.value);
  }
  async function until(code) {
    for (const end = Date.now() + LIMIT; Date.now() < end;) {
      if (await evaluate(`!!(${code})`)) return;
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`never true: ${code}; troubles: ${troubles.join('; ')}`);
  }
  const perform = (type, actions) => send('input.performActions', { context, actions: [{ type, id: type, actions }] });
  const press = (key) => perform('key', ['keyDown', 'keyUp'].map((type) => ({ type, value: KEYS[key] ?? key })));
  async function click(selector) {
    const [x, y] = await evaluate(`(() => { const b = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect(); return [Math.round(b.x + b.width / 2), Math.round(b.y + b.height / 2)]; })()`);
    await perform('pointer', [{ type: 'pointerMove', x, y }, { type: 'pointerDown', button: 0 }, { type: 'pointerUp', button: 0 }]);
  }
  return { troubles, evaluate, until, press, click, close: () => send('browsingContext.close', { context }) };
}
