// runs_page_test.mjs: runs as files, links and tabs, in a browser.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { DEMO, FERRY, bench, check, done, ferry, go, open, settle, write } from './browser.mjs';
import { serve } from './dev.mjs';
import { golden, logs, root } from './logs.mjs';

const stage = bench();
const folder = mkdtempSync(join(tmpdir(), 'ferry-runs-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const HOSTILE = '</script><script>window.hacked = 1</script><img src="http://127.0.0.1:9/x" onerror="window.hacked = 2">';

function exported(log, ...more) {
  const out = join(folder, `out${Math.random()}.${more[0]?.slice(2) ?? 'html'}`);
  execFileSync(FERRY, ['export', log, ...(more.length ? more : ['--html']), '-o', out], { stdio: 'ignore', timeout: 150000 });
  return out;
}

/** A page without a network, and what it asked for. */
async function offline(url) {
  const asked = [];
  const page = await open(stage.browser, '');
  await page.context().setOffline(true);
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(url);
  return { page, asked };
}

const step = (page) => page.evaluate(() => window.ferry.position.step + 1);
const hash = (page, wanted) => page.waitForFunction((words) => location.hash === words, wanted);
const noticed = async (page) => {
  await page.locator('#notice:not([hidden])').waitFor();
  return page.locator('#notice').innerText();
};

check('an exported page shows the run without any request', async () => {
  const url = pathToFileURL(exported(stage.demo.path)).href;
  const { page, asked } = await offline(url);
  await page.waitForFunction((n) => window.ferry?.events.length === n, stage.demo.events.length);
  await go(page, stage.seqOf('copy'));
  assert.ok((await page.evaluate(() => window.ferry.boxes())).some((b) => b.name === 'moved'));
  const at = await step(page);
  await page.keyboard.press('ArrowRight');
  await settle(page);
  assert.equal(await step(page), at + 1);
  await hash(page, `#run=1&step=${at + 1}`);
  await page.reload();
  await page.waitForFunction((n) => window.ferry?.position.step + 1 === n, at + 1);
  assert.equal(await page.locator('#live').innerText(), 'Paused');
  assert.deepEqual(asked, [url, url]);
  await done(page);
});

check('a long log that is being opened says how far it is', async (t) => {
  const server = await serve({ mode: 'view', runs: [{ lines: stage.demo.lines.slice(0, 20), ended: false, over: true }] });
  t.after(() => server.close());
  const page = await stage.open(server.url);
  await page.waitForFunction(() => window.ferry?.events.length === 20);
  await page.waitForFunction(() => document.getElementById('live').textContent === 'Opening: 20 events');
  await done(page);
});

check('an exported page lists its findings and tries none', async () => {
  const { page, asked } = await offline(pathToFileURL(exported(new URL('scenes/blocking-copy.jsonl', import.meta.url).pathname)).href);
  await page.waitForFunction(() => document.getElementById('findings').dataset.state === 'here');
  assert.equal(await page.locator('#finding-list li').count(), 2);
  assert.equal(await page.locator('.try').count(), 0);
  assert.match(await page.locator('#finding-note').innerText(), /^Note: ferry view has a button that tries what would have cost less\.$/);
  await page.locator('#finding-list .where').first().click();
  await settle(page);
  assert.equal(await page.locator('#lines .lit .number').innerText(), '6');
  assert.equal(asked.length, 1);
  await done(page);
});

check('an exported page runs no script of its log', async () => {
  const log = join(folder, 'bad<script>.jsonl');
  const lines = stage.demo.lines.map((line) => JSON.parse(line)).map((e) => JSON.stringify(e.kind === 'source' ? { ...e, text: `${HOSTILE}\n${e.text}` } : e.kind === 'session' ? { ...e, program: HOSTILE } : e));
  writeFileSync(log, `${lines.join('\n')}\n`);
  const { page, asked } = await offline(pathToFileURL(exported(log)).href);
  await page.waitForFunction((n) => window.ferry?.events.length === n, lines.length);
  await settle(page).catch(() => {});
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.evaluate(() => window.ferry.events[0].program), HOSTILE);
  assert.equal(asked.length, 1);
  await done(page);
});

check('a link leads to its step, and a reload stays there', async () => {
  const page = await stage.open(`${stage.view.url}&step=5`);
  await page.waitForFunction(() => window.ferry?.position.step === 4);
  await hash(page, '#run=1&step=5');
  await page.reload();
  await page.waitForFunction(() => window.ferry?.position.step === 4);
  await page.evaluate(() => { location.hash = '#step=7'; });
  await page.waitForFunction(() => window.ferry.position.step === 6);
  await page.evaluate(() => {
    location.hash = '#step=6';
    history.replaceState(null, '', '#run=1&step=7'); // as the page writes where it is, a moment late
  });
  await page.waitForFunction(() => window.ferry.position.step === 5);
  await page.evaluate(() => { location.hash = '#t=20000'; });
  await page.waitForFunction(() => window.ferry.position.by === 'clock' && window.ferry.position.t === 20000);
  await page.evaluate(() => { location.hash = '#step=999'; });
  assert.match(await noticed(page), /There is no step 999: this run has \d+\./);
  await page.evaluate(() => { location.hash = '#run=9&step=1'; });
  await page.waitForFunction(() => /run 9/.test(document.getElementById('notice').textContent));
  assert.match(await noticed(page), /run 9, which is not here\. Run 1 is/);
  await done(page);
});

check('a log that is dropped on the page opens, a bad one is refused', async () => {
  const page = await stage.open(stage.view.url);
  await page.waitForFunction(() => window.ferry?.events.length);
  const drop = (name, text) => page.evaluate(([n, t]) => {
    const data = new DataTransfer();
    data.items.add(new File([t], n));
    document.getElementById('stage').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [name, text]);
  await drop('broken.jsonl', '{"seq":0}\nnonsense\n');
  assert.match(await noticed(page), /^broken\.jsonl, line 1: the first event of a log must be a session event/);
  assert.equal(await page.locator('#runs option').count(), 1);
  await drop('overlap.jsonl', readFileSync(golden('overlap'), 'utf8'));
  await page.waitForFunction((n) => window.ferry.events.length === n, logs().get('overlap').length);
  assert.equal(await page.locator('#runs option:checked').innerText(), 'overlap.jsonl');
  await go(page, 60);
  await page.locator('#log-file').setInputFiles(golden('handmade-killed'));
  await page.waitForFunction((n) => window.ferry.events.length === n, logs().get('handmade-killed').length);
  assert.match(await noticed(page), /killed/);
  await page.locator('#runs').selectOption('1');
  await page.waitForFunction((n) => window.ferry.events.length === n, stage.demo.events.length);
  await done(page);
});

check('the log, a PNG and an SVG of the step are saved', async () => {
  const page = await stage.open(stage.view.url);
  await go(page, stage.seqOf('op', (e) => e.name === 'matmul'));
  const saved = async (button) => {
    await page.locator('#save-run').click();
    const [file] = await Promise.all([page.waitForEvent('download'), page.locator(button).click()]);
    await page.locator('#saving').waitFor({ state: 'hidden' });
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };
  const log = await saved('#save-log');
  assert.match(log.name, /\.jsonl$/);
  assert.equal(log.bytes.toString(), `${stage.demo.lines.join('\n')}\n`);
  const at = await step(page);
  const png = await saved('#save-png');
  assert.match(png.name, new RegExp(`-step${at}\\.png$`));
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  assert.ok(png.bytes.readUInt32BE(16) > 2000);
  const svg = (await saved('#save-svg')).bytes.toString();
  for (const word of ['CPU RAM', 'GPU VRAM', 'rows', 'moved', 'weights', `step ${at} of`]) assert.ok(svg.includes(word), word);
  assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
  const troubles = await page.evaluate((text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror')?.textContent ?? '', svg);
  assert.equal(troubles, '');
  await done(page);
});

check('ferry export draws what the page draws', async () => {
  const file = exported(stage.demo.path, '--svg', '--step', '6');
  const svg = readFileSync(file, 'utf8');
  assert.match(svg, /^<svg [\s\S]*<\/svg>\n$/);
  assert.match(svg, /step 6 of \d+/);
  assert.ok(svg.includes('CPU RAM') && svg.includes('rows'));
  assert.throws(() => exported(stage.demo.path, '--png', '--step', '999'));
  const whole = readFileSync(exported(stage.demo.path, '--svg'), 'utf8'); // no step asked: the memory is fullest
  assert.match(whole, /line 13 .*step 5 of 9/);
});

const shown = (page) => page.evaluate(() => ({
  run: document.getElementById('runs').value, file: document.getElementById('path').textContent, events: window.ferry.events.length,
  text: document.getElementById('code').value,
}));

check('two tabs are two readers', async () => {
  const lessons = await ferry('serve', '--port', '8865');
  try {
    const one = await stage.open(lessons.url);
    await one.waitForFunction(() => document.getElementById('path').textContent && window.ferry?.events.at(-1)?.kind === 'end');
    const two = await one.context().newPage();
    two.troubles = [];
    await two.goto(`${lessons.url.replace(/&lesson=.*/, '')}&lesson=02-to-returns`);
    await two.waitForFunction(() => document.getElementById('path').textContent.includes('02-') && window.ferry.events.at(-1)?.kind === 'end');
    const before = await shown(two);
    assert.notEqual(before.run, (await shown(one)).run);
    await one.locator('#run-mine').click();
    await one.locator('#verdict[data-kind="fail"]').waitFor();
    await one.locator('#play-demo').click();
    await one.waitForFunction(() => document.getElementById('runs').value === '4');
    await two.waitForFunction(() => document.getElementById('runs').length === 4); // it knows them
    assert.deepEqual(await shown(two), before);
    assert.equal(await two.locator('#verdict').isVisible(), false);

    const three = await one.context().newPage(); // another reader of the first lesson
    await three.goto(lessons.url);
    await three.waitForFunction(() => document.getElementById('path').textContent && window.ferry?.events.at(-1)?.kind === 'end');
    const its = await shown(three);
    await one.locator('#play-demo').click();
    await one.waitForFunction(() => document.getElementById('runs').value === '5');
    await three.waitForFunction(() => document.getElementById('runs').length === 5);
    assert.deepEqual([(await shown(three)).run, (await shown(three)).file], [its.run, its.file]);

    writeFileSync(`${lessons.my}/03-round-trip.c`, 'int main(void) { return 0; }\n'); // saved outside, while several tabs are open
    await two.waitForFunction(() => document.getElementById('runs').length === 6);
    assert.deepEqual([(await shown(two)).run, (await shown(two)).file], [before.run, before.file]);

    await one.locator('#run-mine').click();
    await one.locator('#verdict[data-kind="busy"]').waitFor();
    await three.locator('#play-demo').click(); // of the same lesson: it waits until the other's program is over
    await one.locator('#verdict[data-kind="fail"]').waitFor();
    await three.waitForFunction((was) => document.getElementById('runs').value !== was && window.ferry.events.at(-1)?.kind === 'end', its.run);
    assert.equal((await shown(three)).file, its.file);
    assert.match(await one.locator('#runs option:checked').textContent(), /my\/01/);

    await one.locator('#tab-editor').click();
    await write(one, readFileSync(`${root}/lessons/${DEMO}/solution.c`, 'utf8'));
    await one.locator('#save').click();
    for (const page of [one, two, three]) await page.locator('#lesson-list [data-lesson^="01"].done').waitFor({ state: 'attached' }); // the mark is in all tabs
    assert.deepEqual([(await shown(two)).run, (await shown(two)).file], [before.run, before.file]);
    await one.context().close();
  } finally {
    await lessons.stop();
  }
});

check('a lesson that a link misspells is named', async () => {
  const lessons = await ferry('serve', '--port', '8867');
  try {
    const page = await stage.open(`${lessons.url}&lesson=03-round-tripp`);
    assert.match(await noticed(page), /lesson 03-round-tripp, which is not here\. Did you mean 03-round-trip\?/);
    await page.waitForFunction((id) => document.getElementById('path').textContent.includes(id), '00-start');
    await done(page);
  } finally {
    await lessons.stop();
  }
});

check('the view for a projector is larger, and Escape leaves it', async () => {
  const page = await stage.open(stage.view.url);
  await go(page, stage.seqOf('copy'));
  await page.keyboard.press('p');
  await settle(page);
  for (const gone of ['body > header > .tools', '#below', '#find']) assert.equal(await page.locator(gone).isVisible(), false, gone);
  const canvas = await page.locator('#canvas').boundingBox();
  assert.ok(canvas.width > 1350 && canvas.height > 250);
  const [sharp, edge] = await page.evaluate(() => [document.getElementById('canvas').width, document.documentElement.scrollHeight - innerHeight]);
  assert.ok(Math.abs(sharp - canvas.width) < 3, 'a pixel of the canvas is one of the screen');
  assert.equal(edge, 0);
  const box = await page.evaluate(() => window.ferry.boxes().find((b) => b.name === 'moved'));
  await page.keyboard.press('Escape');
  await settle(page);
  assert.equal(await page.locator('body > header > .tools').isVisible(), true);
  assert.ok(box.w > 0);
  await done(page);
});
