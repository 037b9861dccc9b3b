// page_endless.mjs: a learner's program that never ends, saved in a lesson under `ferry serve`: one that is silent, and one
// that emits events as fast as it can. From the moment at which the page says that it runs to the one at which it says why it ended.
import { ferry, open, write } from '../page/browser.mjs';
import { emptyFrames, framesOf } from './page_frames.mjs';

const LIMIT = 10; // s, of the server
const MORE = 2; // s, until it is shown

const SILENT = '    for (volatile int turn = 0;; turn++) continue;\n';
const LOUD = '    for (;;) fy_free(fy_to(a, "cuda"));\n';
const source = (loop) => `#include <ferry.h>\n\nint main(void)\n{\n    fy_tensor *a = fy_ones((4, 4));\n${loop}    fy_print(a);\n}\n`;

/** The rows of endless loops (page.mjs). */
export async function* endless(browser) {
  const empty = await emptyFrames(browser, 3000);
  for (const [name, loop] of [['silent', SILENT], ['loud', LOUD]]) {
    const lessons = await ferry('serve', '--port', '8860');
    try {
      const page = await open(browser, lessons.url);
      page.setDefaultTimeout(120000);
      await page.waitForFunction(() => window.ferry?.events.length);
      await page.locator('#tab-editor').click();
      await write(page, source(loop));
      const runs = await page.evaluate(() => document.getElementById('runs').length);
      let took = NaN;
      const frames = await framesOf(page, async () => {
        await page.keyboard.press('Control+s');
        await page.waitForFunction((n) => document.getElementById('runs').length > n, runs);
        const began = performance.now();
        await page.locator('#verdict[data-kind="fail"]').waitFor();
        took = (performance.now() - began) / 1000;
      });
      const words = await page.locator('#verdict .message').innerText();
      if (!words.includes(`${LIMIT} s`)) throw new Error(`the page says of an endless loop: ${words}`);
      const events = await page.evaluate(() => window.ferry.events.length);
      yield { note: `endless loop, ${name}: "${words.trim()}"; ${events} events by then` };
      yield {
        what: `endless loop, ${name}: from its start to the words that it was stopped`, value: took, limit: LIMIT + MORE, unit: 's',
        beside: [['the limit', LIMIT], ['longest frame meanwhile', frames.max, 'ms'], ['99 %', frames.p99, 'ms'], ['an empty page’s longest', empty.max, 'ms']],
      };
      for (const trouble of page.troubles) throw new Error(trouble);
      await page.context().close();
    } finally {
      await lessons.stop();
    }
  }
}
