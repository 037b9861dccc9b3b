// browser.mjs: a browser and a real server for the page's tests, both ended by their own handles; and what
// the tests ask of a page.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { tensorStyle } from '../../www/stage/colours.js';
import { bandWidth } from '../../www/stage/draw.js';
import { root, placed } from './logs.mjs';

export const FERRY = resolve(root, process.env.FERRY_BIN ?? `${process.env.B ?? 'build'}/ferry`);
// The shell first: Chromium without windows opens a page in a third of the time.
const CHROMIUM = [process.env.CHROMIUM, '/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => p && existsSync(p));

/** Chromium as users have it, where it is installed: for what is measured. */
export const WINDOWED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => existsSync(p)) ?? CHROMIUM;

export const DEMO = '01-where-am-i';

export const missing = !CHROMIUM ? 'no chromium on this machine' : !existsSync(FERRY) ? `${FERRY} is not built` : '';

/** One browser for a whole file of tests; of `path`, in place of what suits tests. */
export function launch(path = CHROMIUM) {
  return chromium.launch({
    executablePath: path,
    timeout: 60000,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}

/** A page of its own at `url`. Scripts that fail and anything that the policy blocks end up in page.troubles. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  page.troubles = [];
  page.on('pageerror', (error) => page.troubles.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && page.troubles.push(message.text()));
  if (url) await page.goto(url.replace(/&lesson=[^&]*(?=.*&lesson=)/, '')); // what a test asks for goes before what its server opens
  return page;
}

/** Wait until drawing is settled; `playing` runs are paused first. */
export async function settle(page) {
  await page.waitForFunction(() => window.ferry?.idle);
}

/** Put `text` into the editor, as pasting over all of it does. */
export async function write(page, text) {
  await page.locator('#code').focus();
  await page.keyboard.press('Control+a');
  if (!text) return page.keyboard.press('Delete');
  await page.evaluate((words) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', words);
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, text);
  return page.waitForFunction((words) => document.querySelector('.CodeMirror').CodeMirror.getValue() === words, text);
}

/** The editor's text. */
export const written = (page) => page.evaluate(() => document.querySelector('.CodeMirror').CodeMirror.getValue());

/** Choose a lesson in the list. */
export async function chooseLesson(page, id) {
  if (!await page.locator('#lesson-list').isVisible()) await page.locator('#lesson-menu summary').click();
  await page.locator(`#lesson-list [data-lesson="${id}"]`).click();
  await page.waitForFunction((name) => document.getElementById('path').textContent.includes(name), id);
}

/** Show the step of event `seq`, and wait until it is drawn. */
export async function go(page, seq) {
  await page.waitForFunction((n) => window.ferry?.events.length > n, seq);
  await page.evaluate((n) => window.ferry.go(n), seq);
  await settle(page);
}

/** The moment of the documentation's pictures: the example's result has just been copied back over the bus. */
export async function pose(page) {
  await page.waitForFunction(() => window.ferry?.events.some((e) => e?.kind === 'end'));
  await page.evaluate(() => document.querySelector('.predict button[type="button"]')?.click()); // “Just show me”
  const home = await page.evaluate(() => window.ferry.events.findIndex((e) => e.kind === 'copy' && e.dir === 'd2h'));
  await go(page, home);
}

/** Run a lesson's worked example as built, with more in its environment: {path, lines, events, remove()} of its log. */
export function trace(lesson, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'ferry-trace-'));
  const path = join(folder, `${lesson}.jsonl`);
  execFileSync(join(dirname(FERRY), 'lessons', lesson), ['--trace', path], { stdio: 'ignore', timeout: 60000, env: { ...process.env, ...env } });
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return { path, lines, events: placed(lines.map((line) => JSON.parse(line))), remove: () => rmSync(folder, { recursive: true }) };
}

/** Start `ferry ...args` and read its address: {url, my, output(), stop(), ...}, as serving() tells. */
export async function ferry(...args) {
  const folder = mkdtempSync(join(tmpdir(), 'ferry-page-'));
  const env = { ...process.env, FERRY_HOME: root, FERRY_MY: join(folder, 'my'), XDG_STATE_HOME: join(folder, 'state') };
  const server = await serving(FERRY, [...args, '--no-browser'], folder, env);
  return { my: join(folder, 'my'), ...server, url: args[0] === 'serve' ? `${server.url}&lesson=${DEMO}` : server.url };
}

/** Build a C program as a user of the library does, with the viewer, and start it under FERRY_VIEW=1. */
export async function program(source) {
  const folder = mkdtempSync(join(tmpdir(), 'ferry-program-'));
  const [code, binary, built] = [join(folder, 'program.c'), join(folder, 'program'), dirname(FERRY)];
  writeFileSync(code, source);
  const core = execFileSync('make', ['-s', 'core-libs', `B=${built}`], { cwd: root, encoding: 'utf8' }).trim().split(/\s+/);
  execFileSync(process.env.CC ?? 'cc', ['-g', '-I', join(root, 'lib'), code, '-o', binary, `-L${built}`, '-Wl,-u,fy_viewer',
    '-lferry-view', '-lferry', '-lcivetweb', '-lcjson', '-ldl', ...core], { stdio: 'inherit', timeout: 60000 });
  return serving(binary, [], folder, { ...process.env, FERRY_VIEW: '1', BROWSER: 'none', FERRY_GPU: 'sim' }, true);
}

// Start a program that serves a page, and read its address: {url, child, ended, output(), stop()}. The
// folder goes when it has ended. A detached one has a viewer beside it: stop() ends their whole group.
async function serving(binary, args, folder, env, detached = false) {
  const child = spawn(binary, args, { cwd: root, env, detached });
  const ended = new Promise((done) => child.on('exit', done));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => { said += data; });
  const address = async () => {
    for (let i = 0; i < 600; i++) {
      const found = /http:\/\/\S+#token=\w+/.exec(said);
      if (found) return found[0];
      if (child.exitCode !== null) break;
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`${[binary, ...args].join(' ')} printed no address: ${said}`);
  };
  async function stop() {
    const signal = (name) => {
      try {
        process.kill(detached ? -child.pid : child.pid, name);
      } catch {} // it has ended already
    };
    signal('SIGINT');
    const late = setTimeout(signal, 5000, 'SIGKILL');
    await ended;
    clearTimeout(late);
    for (const stream of child.stdio) stream.destroy();
    rmSync(folder, { recursive: true, force: true });
  }
  try {
    return { url: await address(), child, ended, output: () => said, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * What each file of tests starts with, filled in before its first one: the browser, the log of the first
 * lesson's example, and `ferry view` of it.
 */
export function bench() {
  const stage = {
    browser: null,
    demo: null,
    view: null,
    /** A page of its own at `url`. */
    open: (url, options) => open(stage.browser, url, options),
    /** The number of the example's first event of a kind that passes `test`. */
    seqOf: (kind, wanted = () => true) => stage.demo.events.find((e) => e.kind === kind && wanted(e)).seq,
  };
  before(async () => {
    if (missing) return;
    stage.browser = await launch();
    stage.demo = trace(DEMO);
    stage.view = await ferry('view', stage.demo.path, '--port', '8830');
  });
  after(async () => {
    await stage.browser?.close();
    await stage.view?.stop();
    stage.demo?.remove();
  });
  return stage;
}

/** A test that needs the browser. The limit is a guard, not a claim. */
export const check = (name, run) => test(name, { skip: missing || false, timeout: 120000 }, run);

/** The end of a test whose page had no trouble. */
export async function done(page) {
  assert.deepEqual(page.troubles, []);
  await page.context().close();
}

/** Pixels of one colour in a rectangle of the canvas (page coordinates), by share of its area. */
export function share(page, rect, hue) {
  return page.evaluate(({ x, y, w, h, hue: wanted }) => {
    const canvas = document.getElementById('canvas');
    const at = canvas.getBoundingClientRect();
    const scale = canvas.width / at.width;
    const data = canvas.getContext('2d').getImageData((x - at.x) * scale, (y - at.y) * scale, w * scale, h * scale).data;
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(wanted.slice(i, i + 2), 16));
    let same = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 24) same++;
    }
    return same / (data.length / 4);
  }, { ...rect, hue });
}

/** The boxes on show, each with its hue and a band within it that is painted in that hue. */
export async function boxesOf(page) {
  const boxes = await page.evaluate(() => window.ferry.boxes());
  const band = (b) => ({ x: b.pageX + 1, y: b.pageY + 5, w: Math.max(1, bandWidth(b) - 1), h: b.h - 10 });
  return boxes.map((b) => ({ ...b, hue: tensorStyle(b.index).hue, band: band(b) }));
}
