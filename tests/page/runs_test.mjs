// runs_test.mjs: links, dropped logs and the SVG context, without a browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { golden } from './logs.mjs';
import { closest } from '../../www/runs/closest.js';
import { readLink, writeLink } from '../../www/runs/deep_link.js';
import { logReader, readLog } from '../../www/runs/log_file.js';
import { svgContext } from '../../www/runs/svg_context.js';
import { visits } from '../../www/runs/visit.js';

const text = readFileSync(golden('overlap'), 'utf8');
const lines = text.split('\n').filter(Boolean);
const file = (content, name = 'a.jsonl') => Object.assign(new Blob([content]), { name });

test('a link says what it was made of', () => {
  for (const place of [{ lesson: '01-where-am-i', run: 2, step: 12 }, { run: 1, t: 7271598 }, { run: 3, t: 0 }, { lesson: 'a&b=#c', run: 1, step: 1 }]) {
    assert.deepEqual(readLink(writeLink(place)), { ...place, wrong: [] });
  }
  assert.equal(writeLink({ run: -1, step: 3 }), '#step=3');
  assert.equal(writeLink({}), '');
});

test('what is no number in a link is told', () => {
  assert.deepEqual(readLink('#run=0&step=two&other=1'), { wrong: ['run=0', 'step=two'] });
  assert.deepEqual(readLink('#step=-1&t=-5').wrong, ['step=-1', 't=-5']);
  assert.deepEqual(readLink(''), { wrong: [] });
});

test('the closest word is the one that was meant', () => {
  const lessons = ['01-where-am-i', '02-to-returns', '03-round-trip'];
  assert.equal(closest('02-to-return', lessons), '02-to-returns');
  assert.equal(closest('round', lessons), '03-round-trip');
  assert.equal(closest('zzzzzzzzzz', lessons), '');
});

// A page's host: what was asked of it.
function host(runs, shown = null) {
  const did = [];
  const self = {
    did, runs: new Map(runs.map((r) => [r.number, r])), shown: () => shown,
    select: (run) => { shown = run; did.push(['select', run.number]); },
    go: (step) => did.push(['go', step]), seek: (t) => did.push(['seek', t]), say: (words) => did.push(['say', words]),
  };
  return self;
}
const run = (number, steps, more = {}) => ({ number, steps: Array(steps).fill({}), ended: true, total: 100, ...more });

test('a link goes to its run and step when here', () => {
  const growing = run(2, 3, { ended: false });
  const at = host([run(1, 9), growing]);
  const visit = visits(at);
  visit.go({ run: 2, step: 5, wrong: [] }, 0);
  assert.deepEqual(at.did, [['select', 2]]);
  growing.steps.push({}, {});
  visit.arrived();
  assert.equal(at.did.length, 1); // the last step may still be joined with the one before
  growing.steps.push({});
  visit.arrived();
  visit.arrived();
  assert.deepEqual(at.did, [['select', 2], ['go', 4]]);
});

test('a link to what is not here is said', () => {
  const at = host([run(3, 9), run(4, 9)], run(4, 9));
  const visit = visits(at);
  visit.go({ run: 7, step: 2, wrong: [] }, 4);
  assert.match(at.did[0][1], /run 7, which is not here\. Runs 3, 4 are/);
  visit.go({ step: 12, wrong: [] }, 4);
  assert.match(at.did.at(-1)[1], /no step 12: this run has 9/);
  visit.ask({ lesson: '02-to-return', wrong: ['step=x'] });
  assert.equal(visit.lesson(['01-where-am-i', '02-to-returns']), null);
  assert.match(at.did.at(-1)[1], /Did you mean 02-to-returns\?/);
});

test('a tab that reconnects keeps its run', () => {
  const shown = run(3, 9);
  const visit = visits(host([shown, run(4, 9)], shown));
  assert.equal(visit.pick(4), 3);
  assert.equal(visits(host([shown, run(4, 9)])).pick(4), 4);
});

test('a log in pieces of any size gives its events', async () => {
  const whole = lines.map((line) => JSON.parse(line));
  for (const size of [1000, 4097, text.length]) {
    const reader = logReader('a.jsonl');
    for (let i = 0; i < text.length; i += size) reader.take(text.slice(i, i + size));
    reader.end();
    assert.deepEqual(reader.events, whole);
  }
  assert.deepEqual((await readLog(file(text))).events, whole);
  const cut = await readLog(file(`${lines[0]}\n${lines[1].slice(0, 30)}`));
  assert.equal(cut.events.length, 1);
  assert.match(cut.note, /a\.jsonl: line 2, the last one, is incomplete/);
});

test('a bad file is refused by name, line and fix', async () => {
  const bad = async (content, words) => assert.rejects(readLog(file(content, 'b.jsonl')), (e) => words.test(e.message) || assert.fail(e.message));
  await bad('', /^b\.jsonl is empty\. Record a run/);
  await bad('hello\n', /^b\.jsonl, line 1: this is not JSON\. Open a file that FERRY_TRACE wrote/);
  await bad('[1]\n', /line 1: this is not a Ferry log/);
  await bad(`${lines[1]}\n`, /line 1: the first event of a log must be a session event\. Open the complete file/);
  await bad(lines[0].replace('"schema":2', '"schema":9'), /the schema is version 9, this page reads version 2/);
  await bad([...lines.slice(0, 5), ...lines.slice(6)].join('\n'), /line 6: seq is 6 and should be 5\. Lines are missing/);
  await bad([...lines.slice(0, 5), '{"seq":5,', ...lines.slice(6)].join('\n'), /line 6: this is not JSON\. The file was edited or damaged/);
  await bad(new Uint8Array([...new TextEncoder().encode('FERRYLOG'), 0xff, 0, 1]), /binary log of a running or killed program\. Convert it: ferry log b\.jsonl > run\.jsonl/);
  await bad(new Uint8Array([0x7b, 0xff, 0xfe]), /not UTF-8 text/);
});

test('the SVG context escapes words and closes what it opens', () => {
  const ruler = { font: '', textBaseline: '', measureText: (words) => ({ width: 6 * String(words).length, actualBoundingBoxAscent: 8 }) };
  const c = svgContext(ruler, (tile, kind, hue) => { tile.fillStyle = hue; tile.fillRect(0, 0, 8, 8); });
  c.save();
  c.beginPath();
  c.rect(1, 2, 3, 4);
  c.clip();
  c.fillStyle = c.tile('dots', '#0072b2', '#fff');
  c.fillRect(0, 0, 9, 9);
  c.fillText('<b> & "c"\u0001', 1, 2);
  c.restore();
  c.beginPath();
  c.arc(5, 5, 2, Math.PI, 0);
  c.arcTo(9, 9, 20, 9, 3);
  c.stroke();
  const svg = c.svg(10, 20, 'a < b');
  assert.match(svg, /<title>a &lt; b<\/title>/);
  assert.match(svg, />&lt;b&gt; &amp; &quot;c&quot;<\/text>/);
  assert.match(svg, /<clipPath id="clip0">/);
  assert.match(svg, /fill="url\(#tile0\)"/);
  assert.match(svg, /A2 2 0 0 1 5 3A2 2 0 0 1 7 5/); // the upper half, clockwise
  for (const name of ['g', 'svg', 'defs', 'pattern', 'clipPath', 'text', 'title']) {
    assert.equal(svg.split(`<${name}`).length - 1, svg.split(`</${name}>`).length - 1 , name);
  }
  assert.doesNotMatch(svg, /NaN|undefined/);
});
