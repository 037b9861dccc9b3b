// access_test.mjs: sizes, roles, names and contrast; nothing becomes markup; badges.
import assert from 'node:assert/strict';
import { DEMO, bench, check, done, go } from './browser.mjs';
import { logLines, serve } from './dev.mjs';
import { golden } from './logs.mjs';

const stage = bench();

check('on a phone nothing is wider than the screen, in any pane', async () => {
  const server = await serve({ mode: 'lessons', runs: [{ lines: stage.demo.lines, what: 'demo', lesson: DEMO }] });
  for (const width of [390, 320]) {
    const page = await stage.open(server.url, { viewport: { width, height: 844 } });
    await go(page, 8);
    for (const [tab, pane] of [['learn', 'learn'], ['code', 'program'], ['results', 'account'], ['watch', 'stage']]) {
      await page.locator(`#tab-${tab}`).click();
      assert.equal(await page.locator(`#${pane}`).isVisible(), true);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${tab} at ${width}: ${wide} px too wide`);
    }
    await done(page);
  }
  await server.close();
});

check('roles, names, labels, language and contrast', async () => {
  const server = await serve({ mode: 'lessons', runs: [{ lines: stage.demo.lines, what: 'demo', lesson: DEMO }] });
  for (const colorScheme of ['light', 'dark']) {
    const page = await stage.open(server.url, { colorScheme });
    await go(page, 8);
    const faults = await page.evaluate(faultsOfPage);
    assert.deepEqual(faults, [], colorScheme);
    await page.keyboard.press('i');
    await page.locator('#inspector-title').waitFor();
    assert.deepEqual(await page.evaluate(faultsOfPage), [], `${colorScheme}, inspector`);
    await done(page);
  }
  await server.close();
});

// Runs in the page: what an accessibility checker would say of the basics.
function faultsOfPage() {
  const faults = [];
  const seen = (node) => node.offsetParent !== null || node.getClientRects().length > 0;
  const name = (node) => node.getAttribute('aria-label') || node.getAttribute('title') || node.textContent.trim()
    || [...(node.labels ?? [])].map((l) => l.textContent.trim()).join('');
  if (!document.documentElement.lang) faults.push('no language');
  if (document.querySelectorAll('h1').length !== 1) faults.push('not exactly one h1');
  for (const node of document.querySelectorAll('button, input, select, textarea, [role="tab"], canvas')) {
    if (seen(node) && !name(node)) faults.push(`no name: ${node.outerHTML.slice(0, 80)}`);
  }
  for (const id of ['told', 'dirty', 'notice', 'hints']) {
    const node = document.getElementById(id);
    if (!node.getAttribute('aria-live') && node.getAttribute('role') !== 'status') faults.push(`${id} is not live`);
  }
  const ids = [...document.querySelectorAll('[id]')].map((n) => n.id);
  ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => faults.push(`two of id ${id}`));
  for (const node of document.querySelectorAll('[aria-controls], [aria-labelledby]')) {
    for (const id of (node.getAttribute('aria-controls') ?? node.getAttribute('aria-labelledby')).split(' ')) {
      if (!document.getElementById(id)) faults.push(`${node.id} points to ${id}, which is not there`);
    }
  }
  const rgb = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const light = (color) => rgb(color).slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (node) => {
    for (let n = node; n; n = n.parentElement) {
      const color = getComputedStyle(n).backgroundColor;
      if (rgb(color)[3] !== 0) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !seen(node) || node.disabled || node.closest('.hidden, #spots, option, .skip')) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(ground(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${node.tagName} .${node.className} “${node.textContent.trim().slice(0, 30)}”`);
  }
  return faults;
}

check('the badge says whose times these are; the ledger what was moved', async () => {
  const page = await stage.open(stage.view.url);
  await go(page, stage.demo.events.length - 1);
  assert.equal(await page.locator('#badge').innerText(), 'Simulated GPU — times are modelled');
  const copies = stage.demo.events.filter((e) => e.kind === 'copy');
  const figures = await page.locator('#figures').innerText();
  assert.ok(figures.includes(`${copies.length} copies`), figures);
  assert.equal(await page.locator('#learn').isVisible(), false);
  await done(page);
});

check('why the GPU is simulated is told behind the badge, with the model’s figures', async () => {
  const lines = logLines(golden('handmade-demo'));
  const server = await serve({ runs: [{ lines }] });
  const page = await stage.open(server.url);
  await go(page, 5);
  assert.match(await page.locator('#badge').getAttribute('title'), /no driver/);
  await page.locator('#badge').focus();
  await page.keyboard.press('Enter');
  const words = await page.locator('#times').innerText();
  for (const part of ['Simulated RTX 4090', 'no driver', '25 GB/s', '8 µs']) assert.ok(words.includes(part), `${part} in: ${words}`);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#times').isVisible(), false);
  await done(page);
  await server.close();
});

check('the server’s word on why there is no card stands where the log has none', async () => {
  const lines = logLines(golden('handmade-demo'));
  const first = JSON.parse(lines[0]);
  delete first.devices[1].why;
  const server = await serve({ why: 'FERRY_GPU=sim', runs: [{ lines: [JSON.stringify(first), ...lines.slice(1)] }] });
  const page = await stage.open(server.url);
  await go(page, 5);
  assert.match(await page.locator('#badge').getAttribute('title'), /No real card is used: FERRY_GPU=sim/);
  await done(page);
  await server.close();
});

check('a measured log says measured', async () => {
  const lines = logLines(golden('handmade-demo'));
  const first = JSON.parse(lines[0]);
  first.clock = 'measured';
  Object.assign(first.devices[1], { kind: 'real', card: 'NVIDIA H200' });
  const server = await serve({ runs: [{ lines: [JSON.stringify(first), ...lines.slice(1)] }] });
  const page = await stage.open(server.url);
  await go(page, 5);
  assert.equal(await page.locator('#badge').innerText(), 'NVIDIA H200 — times are measured');
  await done(page);
  await server.close();
});

check('of a lesson only text and web links are kept', async () => {
  const server = await serve();
  const page = await stage.open(server.url);
  const found = await page.evaluate(async () => {
    const { render } = await import('./lessons/text.js');
    const host = document.createElement('div');
    host.append(render('<h2 onclick="alert(1)">Title</h2><p><img src=x onerror=alert(1)><script>alert(1)</script><b>bold</b> <a href="javascript:alert(1)">x</a> '
      + '<a href="https://example.org" style="color:red">y</a> <em>this</em></p><ul><li>one</li><li>two</li></ul><pre><code class="language-c">int *here;\n</code></pre>'));
    const all = [...host.querySelectorAll('*')];
    return { kinds: [...new Set(all.map((n) => n.localName))].sort(), links: [...host.querySelectorAll('a')].map((a) => a.href),
      attributes: [...new Set(all.flatMap((n) => n.getAttributeNames()))].sort(), pre: host.querySelector('pre').textContent };
  });
  assert.deepEqual(found, { kinds: ['a', 'code', 'em', 'h2', 'li', 'p', 'pre', 'span', 'ul'], links: ['https://example.org/'],
    attributes: ['class', 'data-language', 'href', 'rel', 'tabindex', 'target'], pre: 'int *here;' });
  assert.ok(page.troubles.every((words) => /Content Security Policy/.test(words)), 'the policy says what it would have blocked, too');
  page.troubles.length = 0;
  await done(page);
  await server.close();
});

check('each two patterns differ in a tenth of their pixels', async () => {
  const server = await serve();
  const page = await stage.open(server.url);
  const alike = await page.evaluate(async () => {
    const { PATTERNS, tile } = await import('./stage/colours.js');
    const [size, c] = [48, Object.assign(document.createElement('canvas'), { width: 48, height: 48 }).getContext('2d', { willReadFrequently: true })];
    const painted = PATTERNS.map((kind) => {
      c.clearRect(0, 0, size, size);
      c.fillStyle = tile(c, kind, '#ffffff', '#000000', 1);
      c.fillRect(0, 0, size, size);
      return [...c.getImageData(0, 0, size, size).data].filter((_, i) => i % 4 === 0);
    });
    const differ = (a, b) => a.filter((v, i) => Math.abs(v - b[i]) > 96).length / a.length;
    return painted.flatMap((a, i) => painted.slice(0, i).map((b, j) => [`${PATTERNS[i]} and ${PATTERNS[j]}`, differ(a, b)])).filter(([, by]) => by < 0.1);
  });
  assert.deepEqual(alike, []);
  await done(page);
  await server.close();
});
