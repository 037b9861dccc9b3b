// page.mjs: what the page costs, in Chromium: `make bench-page`. Each figure stands beside its goal and another figure of the
// same run, a peer or what this machine gives an empty page; ends in `N goals met, N missed, N not measured`.
// Usage: node tests/bench/page.mjs [PART...], of those below; B=FOLDER: the build.
import os from 'node:os';
import { WINDOWED, launch, missing } from '../page/browser.mjs';
import { endless } from './page_endless.mjs';
import { latency, stream } from './page_live.mjs';
import { longRun } from './page_long_run.mjs';

const parts = { long: longRun, stream, latency, endless };
const asked = process.argv.slice(2);
const wrong = asked.find((name) => !Object.hasOwn(parts, name));
if (wrong) {
  console.error(`page.mjs: there is no part ${wrong}; name some of ${Object.keys(parts).join(', ')}`);
  process.exit(2);
}

const short = (value) => (value >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(3))));
const load = () => os.loadavg()[0].toFixed(1);
let [met, missed, none] = [0, 0, 0];

/** rows: {what, value, limit, unit, beside: [what, value, unit] ...}, or {note}; met: below the limit, or 0 of what must be none. */
function report({ what, value, limit, unit, beside, note }) {
  if (note) return console.log(`              ${note}`);
  const isMet = value < limit || value === limit;
  if (isMet) met++;
  else missed++;
  const others = beside.map(([name, figure, of = unit]) => `${name}: ${short(figure)} ${of}`).join('; ');
  return console.log(`${isMet ? 'met   ' : 'missed'}        ${what}: ${short(value)} ${unit}, goal ${short(limit)}; ${others}`);
}

for (const name of asked.length ? asked : Object.keys(parts)) {
  const before = load();
  let why = missing;
  if (!why) {
    const browser = await launch(WINDOWED);
    try {
      for await (const row of parts[name](browser)) report(row);
    } catch (error) {
      why = error.message.split('\n')[0];
    } finally {
      await browser.close();
    }
  }
  if (why) {
    none++;
    console.log(`not measured  ${name}: ${why}`);
  }
  console.log(`              load average ${before} before, ${load()} after, of ${os.cpus().length} processors`);
}
console.log(`${met} goals met, ${missed} missed, ${none} not measured`);
