// export_test.mjs: `ferry export`: what it writes, what it leaves alone, and what it says when it cannot.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { FERRY } from './browser.mjs';
import { golden, told } from './logs.mjs';

const skip = existsSync(FERRY) ? false : `${FERRY} is not built`;
const check = (name, run) => test(name, { skip }, run);
const folder = mkdtempSync(join(tmpdir(), 'ferry-export-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** `ferry export ...` in the folder: {status, said}. */
function ferry(...args) {
  const { status, stdout, stderr } = spawnSync(FERRY, ['export', ...args], { cwd: folder, encoding: 'utf8', timeout: 60000, maxBuffer: 1 << 28 });
  return { status, said: stdout + stderr };
}
const refused = (status, words, ...args) => {
  const { status: got, said } = ferry(...args);
  assert.equal(got, status, said);
  assert.match(said, words);
};

const LOG = golden('overlap');
const HOSTILE = '</script><script>window.hacked = 1</script><!--<img src=x onerror="window.hacked = 2">';

/** A log whose texts try to end the element that they are in. */
function hostile(name) {
  const events = [
    { seq: 0, t: 0, kind: 'session', th: 0, schema: 2, ferry: '0', program: HOSTILE, args: [], clock: 'model', seed: 0, devices: [{ name: 'cpu', kind: 'cpu' }] },
    { seq: 1, t: 0, kind: 'source', th: 0, path: 'a.c', hash: '', text: `int main;\n/* ${HOSTILE} */` },
    { seq: 2, t: 1, kind: 'mark', th: 0, file: 'a.c', line: 1, fn: 'main', text: HOSTILE },
    { seq: 3, t: 2, kind: 'end', th: 0, status: 0, live: [] },
  ];
  writeFileSync(join(folder, name), told(events).map((e) => `${JSON.stringify(e)}\n`).join(''));
  return name;
}

check('a page in one file allows its own script and style alone', () => {
  assert.equal(ferry(LOG, '--html', '-o', 'run.html').status, 0);
  const page = readFileSync(join(folder, 'run.html'), 'utf8');
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)[1];
  const [, nonce] = /script-src 'nonce-(\w{32})'/.exec(policy);
  const scripts = [...page.matchAll(/<script type="module" nonce="(\w+)">([\s\S]*?)<\/script>/g)].map((m) => m[2]);
  const styles = [...page.matchAll(/<style nonce="(\w+)">/g)];
  assert.deepEqual([scripts.length, styles.length], [1, 1]);
  assert.equal(policy, `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; form-action 'none'`);
  assert.equal(page.split(`nonce="${nonce}"`).length, 3);
  assert.equal(ferry(LOG, '--html', '-o', 'again.html').status, 0);
  assert.ok(!readFileSync(join(folder, 'again.html'), 'utf8').includes(nonce), 'another one each time');
  assert.doesNotMatch(page.replace(/<script[\s\S]*?<\/script>/g, ''), /(src|href)="(?!data:|#)/);
  assert.doesNotMatch(scripts[0], /^(import|export) /m);
});

check('the lines in a page are those of the log, whatever they say', () => {
  for (const [log, lines] of [[LOG, readFileSync(LOG, 'utf8')], [hostile('bad</script>.jsonl'.replace('/', '')), null]]) {
    assert.equal(ferry(log, '--html', '-o', 'run.html').status, 0);
    const page = readFileSync(join(folder, 'run.html'), 'utf8');
    const held = [...page.matchAll(/<script type="application\/x-ndjson" class="saved-lines">\n([\s\S]*?)<\/script>/g)].map((m) => m[1]).join('');
    const events = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
    assert.deepEqual(events(held), events(lines ?? readFileSync(join(folder, log), 'utf8')));
    assert.ok(!held.includes('<'), 'no letter that could end the element');
  }
});

check('a page carries the findings of its run', () => {
  const log = new URL('scenes/blocking-copy.jsonl', import.meta.url).pathname;
  assert.equal(ferry(log, '--html', '-o', 'found.html').status, 0);
  const [, held] = /<script type="application\/json" id="saved-findings">([\s\S]*?)<\/script>/.exec(readFileSync(join(folder, 'found.html'), 'utf8'));
  const { stdout } = spawnSync(FERRY, ['explain', log, '--json'], { encoding: 'utf8' });
  assert.deepEqual(JSON.parse(held).findings, JSON.parse(stdout).findings);
  assert.equal(JSON.parse(held).findings.length, 2);
  assert.ok(!held.includes('<'));
});

check('bad input is refused with its name and the fix', () => {
  const lines = readFileSync(LOG, 'utf8').split('\n');
  writeFileSync(join(folder, 'torn.jsonl'), [...lines.slice(0, 4), '{"seq":4,', ...lines.slice(5)].join('\n'));
  writeFileSync(join(folder, 'empty.jsonl'), '');
  for (const to of ['--html', '--perfetto', '--svg']) {
    refused(1, /cannot open missing\.jsonl: No such file/, 'missing.jsonl', to);
    refused(1, /torn\.jsonl, line 5: this is not JSON; the file was edited or damaged/, 'torn.jsonl', to);
    refused(1, /empty\.jsonl is empty; record a run/, 'empty.jsonl', to);
    refused(1, / is a folder/, folder, to);
  }
  refused(2, /say what to write, one of --html, --perfetto, --svg and --png/, LOG);
  refused(2, /say what to write/, LOG, '--html', '--svg');
  refused(2, /name a log/, '--html');
  refused(2, /invalid value: '0'/, LOG, '--svg', '--step', '0');
  refused(2, /invalid value: 'x'/, LOG, '--svg', '--step=x');
  refused(2, /--step belongs to --svg and --png/, LOG, '--html', '--step', '3');
  assert.deepEqual(readdirSync(folder).filter((name) => /empty\.|missing\.|torn\./.test(name)).sort(), ['empty.jsonl', 'torn.jsonl']);
});

check('an output that cannot be written is said, and leaves what was there', () => {
  writeFileSync(join(folder, 'kept.html'), 'before');
  mkdirSync(join(folder, 'there'));
  refused(1, /cannot write \/dev\/full: No space left on device; free some space/, LOG, '--html', '-o', '/dev/full');
  refused(1, /cannot write \/dev\/full: No space left/, LOG, '--perfetto', '-o', '/dev/full');
  refused(1, /cannot write nowhere\/a\.html: No such file or directory; name another place with -o FILE/, LOG, '--html', '-o', 'nowhere/a.html');
  refused(1, /cannot write there: Is a directory/, LOG, '--html', '-o', 'there');
  writeFileSync(join(folder, 'own.jsonl'), readFileSync(LOG));
  refused(1, /own\.jsonl is the log itself/, 'own.jsonl', '--html', '-o', 'own.jsonl');
  refused(1, /cannot open missing/, 'missing.jsonl', '--html', '-o', 'kept.html');
  assert.equal(readFileSync(join(folder, 'kept.html'), 'utf8'), 'before');
  assert.deepEqual(readdirSync(folder).filter((name) => /\.[A-Za-z0-9]{6}$/.test(name) && !/\.(jsonl|html)$/.test(name)), []);
});

check('without a browser a picture says which are looked for', () => {
  const bare = join(folder, 'bin');
  mkdirSync(bare);
  const { status, stderr } = spawnSync(FERRY, ['export', LOG, '--svg'], { cwd: folder, encoding: 'utf8', env: { ...process.env, PATH: bare } });
  assert.equal(status, 1);
  assert.match(stderr, /none of chromium, chromium-browser, chromium-headless-shell, google-chrome, microsoft-edge and brave-browser is in PATH; install one, name one with --browser PATH/);
  refused(1, /cannot start the browser \/nowhere: No such file/, LOG, '--svg', '--browser', '/nowhere');
  writeFileSync(join(bare, 'mute'), '#!/bin/sh\necho nothing\n');
  chmodSync(join(bare, 'mute'), 0o755);
  refused(1, /mute showed no picture/, LOG, '--png', '--browser', join(bare, 'mute'));
});

check('the output is named after the log, in the current folder', () => {
  for (const [to, name] of [['--html', 'overlap.html'], ['--perfetto', 'overlap.perfetto.json']]) {
    const { status, said } = ferry(LOG, to);
    assert.equal(status, 0);
    assert.match(said, new RegExp(`wrote ${name} \\(`));
    assert.ok(existsSync(join(folder, name)));
  }
});
