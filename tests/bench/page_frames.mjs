// page_frames.mjs: the frames that a page shows while something is done with it: the time from one animation frame to the next.
// A display of 60 Hz refreshes every 16.7 ms, so that a page which misses one refresh has a gap of 33.3 ms; what misses two is
// over the goal.

export const LIMIT = 34; // ms: two refreshes, and what their timestamps round

/** The gaps between a page's frames while `act` runs: {n, p50, p99, max, over: longer than LIMIT}, in ms. */
export async function framesOf(page, act) {
  await page.evaluate(() => {
    const frames = [];
    const next = (now) => frames.push(now) && window.measured === frames && requestAnimationFrame(next);
    window.measured = frames;
    requestAnimationFrame(next);
  });
  await act();
  const frames = await page.evaluate(() => {
    const frames = window.measured;
    window.measured = null;
    return frames;
  });
  const gaps = frames.slice(1).map((now, i) => now - frames[i]).sort((a, b) => a - b);
  return { n: gaps.length, p50: part(gaps, 0.5), p99: part(gaps, 0.99), max: part(gaps, 1), over: gaps.filter((gap) => gap > LIMIT).length };
}

/** Of numbers in order, the one below which this part of them lies. */
export const part = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))];

/** What this machine gives a page that does nothing, in the same browser: its frames during `ms`. */
export async function emptyFrames(browser, ms) {
  const page = await browser.newPage();
  await page.goto('about:blank');
  const frames = await framesOf(page, () => page.waitForTimeout(ms));
  await page.close();
  return frames;
}

/** The rows of frames: their longest gap beside the goal. */
export function* frameRows(what, frames, empty) {
  yield {
    what: `${what}: the longest of ${frames.n} frames`, value: frames.max, limit: LIMIT, unit: 'ms',
    beside: [['99 % of them', frames.p99], ['median', frames.p50], ['over the goal', frames.over, 'frames'], ['an empty page’s longest', empty.max], ['99 %', empty.p99]],
  };
}
