// every_item_test.mjs: each row of the page's list of keys is done by mouse, by keys while those of one letter are off, and by
// its letter; and so is all that the list calls the rest: lessons, hints, findings, sliders. One page, no error.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { bench, check, done, ferry, settle } from './browser.mjs';
import { golden } from './logs.mjs';

const stage = bench();
const LESSON = '03-round-trip'; // it has a fare, findings, a question and hints

/** Rows of the list: {what: {mouse, keys, letters}}, each a function that does it and waits for what it does. */
function items(page) {
  const $ = (selector) => page.locator(selector).first();
  const click = (selector) => $(selector).click();
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  const shown = (selector, yes = true) => $(selector).waitFor({ state: yes ? 'visible' : 'hidden' });
  const until = (test, arg) => page.waitForFunction(test, arg).catch((error) => { throw new Error(`${test} of ${arg}`, { cause: error }); });
  const get = (what) => page.evaluate(what);
  const focused = (selector) => page.evaluate((s) => document.activeElement.closest(s) !== null, selector);
  const at = async (step) => { await page.evaluate((n) => window.ferry.go(n), (await get(() => window.ferry.events.length)) * step | 0); await settle(page); };

  /** Tab, from a place before it, to what the selector names: as far as Tab leads there, it can be reached. */
  async function tabTo(selector, from) {
    await $(from).focus();
    for (let i = 0; i < 60; i++) {
      if (await focused(selector)) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`Tab leads from ${from} to no ${selector}`);
  }
  const tabAnd = (selector, from, ...keys) => async () => { await tabTo(selector, from); await press(...keys); };

  /** Does it, and draws until `read` gives something else than before. */
  async function changes(read, act) {
    const now = async () => JSON.stringify(await page.evaluate(read));
    const before = await now();
    await act();
    for (let frames = 0; await now() === before; frames++) {
      assert.ok(frames < 300, `nothing changed: ${read} is ${before}`);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await settle(page);
  }

  const step = () => window.ferry.position.step;
  const part = () => window.ferry.position.part;
  const view = () => window.ferry.view();
  const way = () => window.ferry.position.by;
  const moved = (read, first, ...acts) => async () => { await first(); for (const act of acts) await changes(read, act); };
  const toggles = (selector, on, off) => async () => { await on(); await shown(selector); await off(); await shown(selector, false); };

  const lanes = async (part = 0.6) => {
    const { x, y, width, height } = await $('#lanes').boundingBox();
    return { x: Math.round(x + part * width), y: Math.round(y + height - 30), top: y + 8 };
  };
  const inLanes = async (...keys) => { await $('#lanes').focus(); await press(...keys); };
  const wheel = async (by) => { const { x, y } = await lanes(); await page.mouse.move(x, y); await page.mouse.wheel(0, by); };
  async function drag(from, to, y) {
    await page.mouse.move(from, y);
    await page.mouse.down();
    await page.mouse.move(to, y, { steps: 3 });
    await page.mouse.up();
  }
  const dragLanes = (by) => async () => { const { x, y } = await lanes(); await drag(x, x + by, y); };
  const near = async () => { await at(0.5); await inLanes('PageUp', 'PageUp', 'PageUp'); await settle(page); };
  const slice = async () => (await get(() => window.ferry.slices())).find((s) => s.count === 1 && s.w > 6);
  const box = () => get(() => { const { pageX, pageY, w, h } = window.ferry.boxes()[0]; return [pageX + w / 2, pageY + h / 2]; });
  const tipped = (id) => until((tip) => !document.getElementById(tip).hidden && document.getElementById(tip).innerText.length > 10, id);
  
  const compared = async (act) => {
    await act();
    await shown('#compare');
    await until(() => window.ferry.double());
  };
  const double = () => [window.ferry.double()].map(({ a, b }) => [a, b]);
  const doubleMid = async () => { const { x, y, width, height } = await $('#double-a').boundingBox(); return [x + width * 0.6, y + height - 12]; };
  const overDouble = async (by) => { await page.mouse.move(...await doubleMid()); await page.mouse.wheel(0, by); };
  const inDouble = (...keys) => async () => { await $('#double').focus(); await press(...keys); };

  return {
    'play, pause': {
      async mouse() { await at(0.2); await click('#play'); await until(() => window.ferry.position.playing); await click('#play'); await until(() => !window.ferry.position.playing); },
      async keys() { await at(0.2); await $('#lanes').focus(); await press(' '); await until(() => window.ferry.position.playing); await press(' '); await until(() => !window.ferry.position.playing); },
    },
    'one step back, on': {
      mouse: moved(step, () => at(0.3), () => click('#forward'), () => click('#back')),
      keys: moved(step, () => at(0.4), () => $('#play').focus().then(() => press('ArrowRight')), () => press('ArrowLeft')),
    },
    'one part of a step back, on': {
      mouse: moved(part, () => at(0.3), async () => { const { x, y, width, height } = await $('#scrub').boundingBox(); await page.mouse.click(x + width / 2, y + height / 2); }),
      keys: moved(part, () => at(0.4), tabAnd('#scrub', '#play', 'ArrowUp'), () => press('ArrowDown')),
      letters: moved(part, () => at(0.4), () => $('#play').focus().then(() => press('.')), () => press(',')),
    },
    'to the previous, the next line': {
      mouse: moved(step, () => at(0.3), () => page.locator('#lines li').filter({ hasText: 'fy_cpu' }).last().click(), () => page.locator('#lines li').filter({ hasText: 'fy_cuda' }).last().click()),
      keys: moved(step, () => at(0.4), () => $('#play').focus().then(() => press('Shift+ArrowRight')), () => press('Shift+ArrowLeft')),
    },
    'to the first, the last step': {
      async mouse() {
        await at(0.4);
        const { x, y, width, height } = await $('#scrub').boundingBox();
        await page.mouse.click(x + 3, y + height / 2);
        await until(() => window.ferry.position.step === 0);
        await page.mouse.click(x + width - 3, y + height / 2);
        await until(() => window.ferry.position.atEnd);
      },
      async keys() { await $('#play').focus(); await press('Home'); await until(() => window.ferry.position.step === 0); await press('End'); await until(() => window.ferry.position.atEnd); },
    },
    'by step (each call is shown) or by clock (time passes evenly)': {
      mouse: moved(way, () => at(0.4), () => click('label:has(#by-clock)'), () => click('label:has(#by-step)')),
      keys: moved(way, () => at(0.4), tabAnd('#by-step', '#forward', 'ArrowRight'), () => press('ArrowLeft')),
      letters: moved(way, () => $('#play').focus(), () => press('c'), () => press('C')),
    },
    'zoom in, zoom out': {
      async mouse() { await at(0.5); await changes(view, () => wheel(-300)); await changes(view, () => wheel(300)); },
      async keys() { await at(0.5); await changes(view, tabAnd('#lanes', '#say', 'PageUp')); await changes(view, () => press('PageDown')); },
      async letters() { await at(0.5); for (const [key, back] of [['w', 's'], ['+', '-']]) { await changes(view, () => inLanes(key)); await changes(view, () => inLanes(back)); } },
    },
    'pan left, right': {
      async mouse() { await near(); await changes(view, dragLanes(-120)); await changes(view, dragLanes(120)); },
      async keys() { await near(); await changes(view, () => press('Shift+PageDown')); await changes(view, () => press('Shift+PageUp')); },
      async letters() { await near(); await changes(view, () => press('d')); await changes(view, () => press('a')); },
    },
    'zoom out to the whole run': {
      async mouse() { await near(); const { x, y } = await lanes(); await changes(view, () => page.mouse.dblclick(x, y)); },
      async keys() { await near(); await changes(view, tabAnd('#fit', '#lanes', 'Enter')); },
      async letters() { await near(); await changes(view, () => press('0')); },
    },
    'zoom to the step, and follow later steps': {
      mouse: () => fits(() => click('#fit')), keys: () => fits(tabAnd('#fit', '#lanes', 'Enter')), letters: () => fits(() => inLanes('f')),
    },
    'go to a time': {
      async mouse() { await at(0.2); const { x, top } = await lanes(0.7); await changes(step, () => page.mouse.click(x, top)); },
      async keys() { await at(0.2); await changes(step, tabAnd('#scrub', '#play', 'PageUp')); },
    },
    'select a slice; its details': {
      async mouse() {
        await at(0.9);
        const { x, w, y } = await slice();
        await page.mouse.move(x + w / 2, y);
        await tipped('lanes-tip');
        await changes(step, () => page.mouse.click(x + w / 2, y));
      },
      async keys() {
        await at(0.5);
        await changes(step, () => inLanes('ArrowLeft'));
        await tipped('lanes-tip');
        await changes(() => document.getElementById('lanes').getAttribute('aria-valuetext'), () => press('ArrowDown'));
        for (let i = 0; i < 12; i++) await press('ArrowDown');
        await until(() => / live in /.test(document.getElementById('lanes-tip').innerText) && / live in /.test(document.getElementById('found').innerText));
      },
    },
    'find a name, an operation, a line': {
      async mouse() { await at(0.1); await click('#find'); await page.keyboard.type('relu'); await changes(step, () => press('Enter')); await press('Escape'); },
      async keys() {
        await at(0.1);
        await tabTo('#find', '#lanes');
        await page.keyboard.type('parcel');
        await changes(step, () => press('Enter'));
        await changes(step, () => press('Enter'));
        await changes(step, () => press('Shift+Enter'));
        await press('Escape');
        assert.ok(await focused('#lanes'));
      },
      async letters() { await $('#play').focus(); await press('/'); assert.ok(await focused('#find')); await press('Escape'); },
    },
    'draw breaks to scale': {
      mouse: () => breaks(() => click('label:has(#to-scale)')), keys: () => breaks(tabAnd('#to-scale', '#letters', ' ')),
      async letters() { await at(0.5); for (let i = 0; i < 2; i++) await changes(() => window.ferry.slices().map((s) => s.w), () => inLanes('b')); },
    },
    'a tensor’s details': {
      async mouse() { await at(0.6); await page.mouse.move(...await box()); await tipped('tip'); },
      async keys() { await at(0.6); await tabTo('#spots button', '#act'); await tipped('tip'); },
    },
    'inspect it': {
      mouse: toggles('#inspector', async () => { await at(0.6); await page.mouse.click(...await box()); }, () => click('#inspector [data-key="close"]')),
      keys: toggles('#inspector', async () => { await at(0.6); await tabTo('#spots button', '#act'); await press('Enter'); }, () => press('Escape')),
      letters: toggles('#inspector', async () => { await at(0.6); await $('#play').focus(); await press('i'); }, () => press('Escape')),
    },
    'a table of all events, in place of the picture': {
      mouse: toggles('#events', () => click('#as-table'), () => click('#as-table')),
      keys: toggles('#events', tabAnd('#as-table', '#runs', 'Enter'), () => press('Enter')),
      letters: toggles('#events', () => press('t'), () => press('t')),
    },
    'what the colours and signs mean': {
      mouse: toggles('#legend', () => click('#explain'), () => click('#legend form button')),
      keys: toggles('#legend', tabAnd('#explain', '#runs', 'Enter'), () => press('Escape')),
      letters: toggles('#legend', () => press('L'), () => press('Escape')),
    },
    'for a projector': {
      mouse: toggles('#leave', async () => { await click('#help'); await click('#present'); }, () => click('#leave')),
      keys: toggles('#leave', async () => { await tabTo('#help', '#runs'); await press('Enter'); await tabTo('#present', '#letters'); await press('Enter'); }, () => press('Escape')),
      letters: toggles('#leave', () => $('#play').focus().then(() => press('p')), () => press('Escape')),
    },
    'zoom in, out; pan left, right; whole run': {
      async mouse() {
        await at(0.5);
        await compared(() => click('.try'));
        const [x, y] = await doubleMid();
        await changes(double, () => overDouble(-300));
        await changes(double, () => drag(x, x - 60, y));
        await changes(double, () => page.mouse.dblclick(x, y));
        await click('#compare-back');
      },
      async keys() {
        await at(0.5);
        await compared(tabAnd('.try', '#account', 'Enter'));
        for (const key of ['PageUp', 'Shift+PageDown', 'Shift+PageUp', 'PageDown']) await changes(double, inDouble(key));
        await press('Escape');
      },
      async letters() {
        await compared(() => click('.try'));
        for (const key of ['w', 'd', 'a', '0']) await changes(double, inDouble(key));
        await press('Escape');
      },
    },
    'back to the picture': {
      mouse: toggles('#compare', () => click('.try'), () => click('#compare-back')),
      keys: toggles('#compare', tabAnd('.try', '#account', 'Enter'), () => press('Escape')),
    },
    'go to it': {
      mouse: toggles('#editor', () => click('#tab-editor'), () => click('#tab-source')),
      keys: toggles('#editor', tabAnd('#tab-source', '#say', 'ArrowRight'), () => press('ArrowLeft')),
      letters: toggles('#editor', () => $('#play').focus().then(() => press('e')), () => click('#tab-source')),
    },
    'save, build, run and grade': { mouse: () => grades(() => click('#save')), keys: () => grades(() => press('Control+s')) },
    'find, undo, complete a name': {
      async keys() {
        await openEditor();
        await press('Control+End', 'Enter');
        await page.keyboard.type('fy_cud');
        await press('Control+ ');
        await until(() => /fy_cuda/.test(document.querySelector('.CodeMirror').CodeMirror.getValue().split('\n').at(-1)) || document.querySelector('.CodeMirror-hints'));
        await press('Escape');
        for (let i = 0; i < 20 && await $('#dirty').innerText() !== 'saved'; i++) await press('Control+z');
        assert.equal(await $('#dirty').innerText(), 'saved');
        await press('Control+f');
        await shown('.CodeMirror-dialog');
        await press('Escape', 'Escape', 'Tab');
        assert.ok(!await focused('.CodeMirror'));
        await click('#tab-source');
      },
    },
    'save the run or a picture, open a log': {
      async mouse() {
        for (const what of ['log', 'png', 'svg']) await saves(what, () => click('#save-run'), () => click(`#save-${what}`));
        await opens(async () => {
          const text = readFileSync(golden('handmade-demo'), 'utf8');
          await page.evaluate((words) => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([words], 'dropped.jsonl'));
            document.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
          }, text);
        });
      },
      async keys() {
        for (const what of ['log', 'png', 'svg']) await saves(what, tabAnd('#save-run', '#runs', 'Enter'), tabAnd(`#save-${what}`, '#saving', 'Enter'));
        await opens(async () => {
          await tabAnd('#save-run', '#runs', 'Enter')();
          const [chooser] = await Promise.all([page.waitForEvent('filechooser'), tabAnd('#open-log', '#saving button', 'Enter')()]);
          await chooser.setFiles(golden('handmade-demo'));
        });
      },
    },
    'this list': {
      mouse: toggles('#keys', () => click('#help'), () => click('#keys form button')),
      keys: toggles('#keys', tabAnd('#help', '#runs', 'Enter'), () => press('Escape')),
      letters: toggles('#keys', () => $('#play').focus().then(() => press('?')), () => press('Escape')),
    },
    'all else: lessons, hints, findings, sliders': {
      mouse: () => rest((selector) => click(selector), async (selector) => {
        await $(selector).scrollIntoViewIfNeeded();
        const { x, y, width, height } = await $(selector).boundingBox();
        await drag(x + width / 2, x + width / 4, y + height / 2);
      }, () => click('label:has(#align-start)')),
      keys: () => rest((selector, from) => tabAnd(selector, from, 'Enter')(), (selector) => tabAnd(selector, '#runs', 'ArrowRight')(), async () => { await $('#compare-back').focus(); await press('Shift+Tab', 'ArrowRight'); }),
    },
  };

  // A step that is too narrow where all of the run is seen, and the hand wants to see all.
  async function fits(act) {
    await inLanes('PageUp', 'PageDown', 'PageDown');
    for (let i = 0; i < 30 && await $('#fit').textContent() !== 'Fit step'; i++) {
      await page.evaluate((n) => window.ferry.go(n), i);
      await settle(page);
    }
    await changes(view, act);
  }

  async function breaks(act) {
    await at(0.5);
    for (let i = 0; i < 2; i++) {
      await click('#help');
      await changes(() => window.ferry.slices().map((s) => s.w), act);
      await press('Escape');
    }
  }

  async function openEditor() {
    await click('#tab-editor');
    await page.locator('.CodeMirror-code').click();
  }

  async function grades(act) {
    await openEditor();
    const runs = await page.locator('#runs option').count();
    await act();
    await until((n) => document.querySelectorAll('#runs option').length > n, runs);
    await shown('#verdict[data-kind="fail"]');
    await demo();
  }

  // The example again.
  async function demo() {
    await page.locator('#runs').selectOption('1');
    await until(() => window.ferry.events.at(-1)?.kind === 'end');
    await click('#tab-source');
    if (await $('#unfold').isVisible()) await click('#unfold');
    await until(() => document.getElementById('findings').dataset.state === 'here');
    await at(0.5);
  }

  async function saves(what, open, save) {
    await open();
    const [file] = await Promise.all([page.waitForEvent('download'), save()]);
    assert.match(file.suggestedFilename(), what === 'log' ? /\.jsonl$/ : new RegExp(`\\.${what}$`));
    await shown('#saving', false);
  }

  async function opens(act) {
    await act();
    await until(() => Number(document.getElementById('runs').value) < 0);
    await demo();
  }

  // What is a button, a field or a slider like any other.
  async function rest(use, slide, align) {
    const count = (selector) => page.locator(selector).count();
    await at(0.9);
    await moved(step, () => {}, () => use('#finding-list .where', '#account'))();
    await changes(() => document.querySelector('.fare output').textContent, () => slide('.fare input'));
    await use('.fare button', '.fare input:last-of-type');
    await use('#badge', '#runs');
    await shown('#times');
    await press('Escape');
    await use('#as-table', '#runs');
    await moved(step, () => {}, () => use('#rows tr:nth-child(3) button', '#events'))();
    await use('#as-table', '#runs');
    await use('#more-hint', '#account');
    await shown('#hints li');

    const graded = await count('#runs option'); // an older verdict may still be on show
    await use('#run-mine', '#lesson-text a, #lesson-list li:last-child button');
    await until((n) => document.querySelectorAll('#runs option').length > n, graded);
    await shown('#verdict[data-kind="fail"]');
    await moved(step, () => at(0.9), () => use('#verdict .links button', '#account'))();
    await use('#verdict summary', '#account');
    await demo();
    const runs = await count('#compare-run option');
    assert.ok(runs > 0);
    await use('#compare-go', '#compare-run');
    await shown('#compare');
    await changes(() => document.getElementById('align-start').checked, align);
    await press('Escape');

    await use('#lesson-menu summary', '#lesson-text');
    await use('#lesson-list [data-lesson^="01"]', '#act');
    await until(() => document.getElementById('path').textContent.includes('01-'));
    await shown('.predict');
    await page.locator('.predict input').first().fill('1');
    await page.locator('.predict input').last().fill('1');
    await use('.predict [type="submit"]', '.predict input');
    await until(() => /Guess saved|Correct|it is/.test(document.querySelector('.predict .answer').textContent));
    await use('#lesson-menu summary', '#lesson-text');
    await use(`#lesson-list [data-lesson="${LESSON}"]`, '#act');
    await until((id) => document.getElementById('path').textContent.includes(id), LESSON);
    await use('.predict form [type="button"]', '.predict input');
    await until(() => document.getElementById('findings').dataset.state === 'here');
    await at(0.5);
  }
}

check('every item acts by mouse, by keys and by letter', async (t) => {
  const lessons = await ferry('serve', '--port', '8898');
  t.after(() => lessons.stop());
  const page = await stage.open(`${lessons.url}&lesson=${LESSON}`, { reducedMotion: 'reduce' });
  page.setDefaultTimeout(8000);
  await page.waitForFunction((id) => document.getElementById('path').textContent.includes(id), LESSON);
  await page.getByRole('button', { name: 'Just show me' }).click();
  await page.locator('#play').click(); // it plays: stop
  await page.evaluate(() => window.ferry.go(0));
  await page.waitForFunction(() => document.getElementById('findings').dataset.state === 'here');
  const all = items(page);
  const rows = await page.locator('#keys tbody tr:has([scope="row"])').evaluateAll((list) => list.map((tr) => [...tr.cells].map((cell) => cell.textContent)));
  assert.deepEqual(rows.map(([what]) => what), Object.keys(all), 'the list and this test have the same items');
  const letters = (on) => page.evaluate((yes) => document.getElementById('letters').checked !== yes && document.getElementById('letters').click(), on);
  const failed = [];
  for (const [how, column] of [['mouse', 1], ['keys', 2], ['letters', 3]]) {
    await letters(how === 'letters');
    for (const [what, ...cells] of rows) {
      assert.equal(typeof all[what][how] === 'function', !['', '–'].includes(cells[column - 1]), `the list says how: ${what}, ${how}`);
      await all[what][how]?.().catch(async (error) => {
        failed.push(`${what}, ${how}: ${error.stack.split('\n').filter((line) => !/node_modules|node:/.test(line)).slice(0, 6).join(' ')}`);
        for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
      });
    }
  }
  assert.equal(failed.join('\n'), '');
  await done(page);
});
