// where_test.mjs: `ferry where` says in text what the page shows: the same steps, and of each tensor the same memory, address
// and arrived bytes.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { FERRY } from './browser.mjs';
import { golden, logs, random, root } from './logs.mjs';
import { instant } from '../../www/model/instant.js';
import { run as makeRun } from '../../www/model/run.js';
import * as units from '../../www/model/units.js';

const skip = existsSync(FERRY) ? false : `${FERRY} is not built`;
const check = (name, run) => test(name, { skip }, run);
const folder = mkdtempSync(join(tmpdir(), 'ferry-where-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const VALUES = { kind: 'values', th: 0, tensor: 1, version: 1, first: 0, data: [], count: 0, min: 0, max: 0, mean: 0, nan: 0 };

// Committed logs omit `values`: one in their place keeps seq contiguous.
function whole(events) {
  const all = [];
  for (const e of events) {
    while (all.length < e.seq) all.push({ seq: all.length, t: all.at(-1).t, ...VALUES });
    all.push(e);
  }
  return all;
}

function runOf(events) {
  const run = makeRun({ run: 1 });
  run.take(0, events);
  run.ended = true;
  return run;
}

// Calls of several kernels, nested ones, macros, views made together, and what a scope frees.
const CALLS = `#include <ferry.h>
#define BOTH(x) fy_max(x, (1), .indices = &j)
static fy_tensor *i, *j;
static void work(fy_tensor *a, fy_tensor *b)
{
    fy_tensor *mse = fy_mse_loss(a, fy_relu(b));
    fy_tensor *p = fy_softmax(a, 1); /* fy_free(p) */
    fy_tensor *m = fy_max(a, (1), .indices = &i);
    fy_tensor *n = BOTH(b), *o = fy_relu(n);
    fy_tensor *v = fy_var(a,
                          (1));
    fy_print(mse), fy_print(fy_add(m, o));
    if (fy_item(fy_sum(p)) > 1e9) fy_free(v);
    for (int k = 0; k < 3; k++) fy_add_(a, fy_mul(b, 0.5));
    fy_free(fy_exp(v));
}
int main(void)
{
    fy_tensor *x = fy_randn((6, 4)), *y = fy_randn((6, 4), .device = "cuda");
    FY_SCOPE work(x, x);
    FY_SCOPE work(fy_to(x, "cuda"), y);
    fy_chunk(x, 3, 0);
    fy_tensor *c = fy_cat((x, x, x), 0);
    fy_print(fy_to(c, "cuda"));
}
`;

// Launches of many tensors, which are queued when the call returns.
const FOREACH = `#include <ferry.h>
int main(void)
{
    fy_tensor *u = fy_ones((400000), .device = "cuda", .requires_grad = true);
    fy_tensor *v = fy_ones((400000), .device = "cuda", .requires_grad = true);
    fy_tensor *w = fy_ones((400000), .device = "cuda", .requires_grad = true);
    fy_optimizer *o = fy_optim_adam((u, v, w), .lr = 0.5, .foreach = true);
    FY_TIMES(i, 2) {
        fy_zero_grad(o);
        fy_backward(fy_sum(fy_add(fy_mul(u, v), w)));
        fy_cuda_synchronize();
        fy_step(o);
        fy_mark("launched");
    }
    fy_cuda_synchronize();
    fy_print(fy_narrow(fy_detach(v), 0, 0, 2));
    fy_optimizer_free(o);
}
`;

function recorded(name, program) {
  const [code, binary, path, built] = [join(folder, `${name}.c`), join(folder, name), join(folder, `${name}.jsonl`), dirname(FERRY)];
  writeFileSync(code, program);
  const core = execFileSync('make', ['-s', 'core-libs', `B=${built}`], { cwd: root, encoding: 'utf8' }).trim().split(/\s+/);
  execFileSync(process.env.CC ?? 'cc', ['-g', '-I', join(root, 'lib'), code, '-o', binary, `-L${built}`, '-lferry', ...core], { stdio: 'inherit', timeout: 60000 });
  execFileSync(binary, { env: { ...process.env, FERRY_TRACE: path, FERRY_GPU: 'sim' }, stdio: 'ignore', timeout: 60000 });
  return readFileSync(path, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

const known = [];
function runs() {
  if (known.length) return known;
  const scenes = readdirSync(`${root}tests/page/scenes`).filter((f) => f.endsWith('.jsonl'))
    .map((f) => [f, readFileSync(`${root}tests/page/scenes/${f}`, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line))]);
  for (const [name, events] of [...logs(), ...scenes, ['calls', recorded('calls', CALLS)], ['foreach', recorded('foreach', FOREACH)]]) {
    const path = join(folder, `${name.replace('.jsonl', '')}.jsonl`);
    const all = whole(events);
    writeFileSync(path, all.map(({ file, line, fn, ...e }) => `${JSON.stringify(e)}\n`).join(''));
    const { status, stdout } = spawnSync(FERRY, ['where', path], { encoding: 'utf8', maxBuffer: 1 << 26 });
    if (status === 0) known.push({ name, path, said: stdout, run: runOf(all) });
  }
  return known;
}

const ferry = (...args) => {
  const { status, stdout, stderr } = spawnSync(FERRY, ['where', ...args], { cwd: folder, encoding: 'utf8' });
  return { status, said: stdout + stderr };
};

check('the steps are those of the page', () => {
  let joined = 0;
  assert.ok(runs().length >= 14, `${runs().length} logs`);
  for (const { name, said, run } of runs()) {
    const told = said.trim().split('\n').map((line) => {
      const [, n, place = '', from, to = from] = /^step (\d+)(?:, [^:]+:(\d+))?.*?\[events? (\d+)(?:-(\d+))?\]$/.exec(line) ?? assert.fail(line);
      return { n: Number(n), line: Number(place), from: Number(from), to: Number(to) };
    });
    assert.deepEqual(told, run.steps.map((s, i) => ({ n: i + 1, line: s.line, from: s.from, to: s.to })), name);
    joined += run.steps.filter((s) => s.kernels > 1).length;
  }
  assert.ok(joined >= 4, `${joined}: some calls of several kernels are among them`);
});

check('where a tensor is, and how much of it has arrived, is what the page shows', () => {
  const dice = random(7);
  let arriving = 0;
  for (const { name, path, run } of runs()) {
    const some = new Set(run.steps.map((_, i) => i).filter((i) => run.steps.length < 12 || dice() < 12 / run.steps.length));
    for (const i of some) {
      const now = instant(run, run.span(run.steps[i])[1], run.steps[i].to);
      const all = now.memories.flatMap((m) => m.storages.filter((s) => !s.deferred).map((s) => ({ ...s, device: m.device })));
      const named = all.flatMap((s) => s.tags.filter((t) => t.name).map((tag) => ({ s, tag })));
      const plain = named.filter(({ tag }) => !/\[\d+\]/.test(tag.name)); // in a turn of a loop the page has its number: batch[0]
      const single = plain.filter(({ tag }) => named.filter((one) => one.tag.name === tag.name).length === 1);
      for (const { s, tag } of single.slice(0, 3)) {
        const { status, said } = ferry(tag.name, '--at', String(i + 1), path);
        assert.equal(status, 0, `${name}: ${said}`);
        assert.ok(said.startsWith(`step ${i + 1} of ${run.steps.length}`), said);
        const [, where, addr] = /is in .*\((cpu|cuda:\d+)[^)]*\), at (0x[0-9a-f]+)/.exec(said) ?? assert.fail(`${name} step ${i + 1} ${tag.name}: ${said}`);
        assert.deepEqual([where, Number(addr)], [s.device, s.addr], `${name}: ${tag.name}`);
        assert.ok(said.includes(`${units.tuple(tag.shape)} of ${tag.dtype}`), said);
        const flight = now.copies.find((c) => c.id === s.writing?.work);
        assert.equal(/have arrived/.test(said), !!flight, `${name} step ${i + 1}: ${said}`);
        if (flight) {
          arriving++;
          const [, told] = /^ {2}(.*) of .* have arrived/m.exec(said);
          assert.equal(told.replace(' bytes', ' B').replace(/\.0+ /, ' '), units.bytes(Math.round(flight.arrived)), `${name} step ${i + 1}: ${said}`);
        }
      }
    }
  }
  assert.ok(arriving >= 3, `${arriving} tensors were arriving`);
});

check('copies are older or newer as on the page, and shared bytes are told', () => {
  const views = join(folder, 'views.jsonl');
  runs();
  assert.match(ferry('x', '--at', '5', views).said, /shares its bytes with table \(4, 6\) of int64, row \(6,\) of int64, half \(12,\) of int64/);
  assert.match(ferry('row', '--at', '5', views).said, /a view of table: from element 6, strides \(1,\)/);
  const log = join(folder, 'old.jsonl');
  const at = (line) => ({ th: 0, calls: [{ id: line, file: 'a.c', line, fn: 'main' }], call: line }); // of a call that is told again the first counts
  const [first, ...rest] = [
    { kind: 'alloc', ...at(3), storage: 1, device: 'cpu', mem: 'pageable', addr: '0x1000', asked: 64, bytes: 64, tenant: 0 },
    { kind: 'tensor', ...at(3), tensor: 1, name: 'w', storage: 1, shape: [16], strides: [1], offset: 0, dtype: 'float32', device: 'cpu' },
    { kind: 'host_write', ...at(3), tensor: 1, storage: 1, version: 1, first: 0, count: 16, via: 'set' },
    { kind: 'alloc', ...at(4), storage: 2, device: 'cpu', mem: 'pageable', addr: '0x2000', asked: 64, bytes: 64, tenant: 0 },
    { kind: 'tensor', ...at(4), tensor: 2, name: 'kept', storage: 2, shape: [16], strides: [1], offset: 0, dtype: 'float32', device: 'cpu' },
    { kind: 'copy', ...at(4), id: 1, src: { tensor: 1, storage: 1, device: 'cpu', mem: 'pageable', addr: '0x1000', version: 1 }, dst: { tensor: 2, storage: 2, device: 'cpu', mem: 'pageable', addr: '0x2000', version: 1 }, bytes: 64, dir: 'h2h', async: false, was_async: false, route: 'direct', why: 'user', held: 5 },
    { kind: 'host_write', ...at(5), tensor: 1, storage: 1, version: 2, first: 0, count: 16, via: 'set' },
    { kind: 'drop', ...at(6), tensor: 2, why: 'free' }, { kind: 'free', ...at(6), storage: 2, bytes: 64 },
  ];
  const session = { kind: 'session', th: 0, schema: 2, ferry: '0', program: 'p', args: [], clock: 'model', seed: 0, devices: [{ name: 'cpu', kind: 'cpu', capacity: 1 }] };
  writeFileSync(log, [session, first, ...rest].map((e, seq) => `${JSON.stringify({ seq, t: seq * 10, ...e })}\n`).join(''));
  assert.match(ferry('kept', '--at', '3', log).said, /another copy: w in CPU RAM, at 0x1000/);
  const list = ferry(log).said;
  const wrote = Number(/step (\d+), a\.c:5/.exec(list)[1]);
  assert.match(ferry('kept', '--at', String(wrote), log).said, /newer copy: w in CPU RAM, at 0x1000/);
  assert.match(ferry('w', '--at', String(wrote), log).said, /older copy: kept in CPU RAM, at 0x2000/);
  assert.match(ferry('kept', log).said, /kept was in CPU RAM \(cpu\), at 0x2000; its bytes were freed at step \d/);
});

check('every tensor of one launch is told to be computed', () => {
  const { run, path } = runs().find(({ name }) => name === 'foreach');
  const seq = run.events.findIndex((e) => e.kind === 'op' && e.name === 'foreach_addcdiv');
  const step = run.steps.findIndex((s) => s.from <= seq && s.to >= seq);
  for (const name of ['u', 'v', 'w']) {
    assert.match(ferry(name, '--at', String(step + 1), path).said, new RegExp(`its values are not there yet: the operation of event ${seq} `), name);
    assert.doesNotMatch(ferry(name, '--at', String(run.steps.length), path).said, /not there yet/, name);
  }
  const now = instant(run, run.span(run.steps[step])[1], run.steps[step].to);
  assert.deepEqual(now.ops.find((op) => op.seq === seq).outs.length, 3);
});

check('explain and whatif read launches of many tensors', () => {
  const { path } = runs().find(({ name }) => name === 'foreach');
  const said = (...args) => spawnSync(FERRY, args, { cwd: folder, encoding: 'utf8' });
  assert.equal(said('explain', path).status, 0);
  const { status, stdout } = said('whatif', path);
  assert.equal(status, 0);
  const rows = stdout.split('\n').filter((line) => line.includes('%'));
  assert.ok(rows.length > 2 && rows.every((line) => line.includes('100 %')), stdout);
});

check('an unknown name, step or file is said, with the closest', () => {
  runs();
  const overlap = golden('overlap');
  const refused = (status, words, ...args) => {
    const { status: got, said } = ferry(...args);
    assert.equal(got, status, said);
    assert.match(said, words);
  };
  refused(1, /there is no tensor 'batch' in this run; did you mean 'batch\[i\]'\?/, 'batch', overlap);
  refused(1, /there is no tensor 'tabel' in this run; did you mean 'table'\?/, 'tabel', join(folder, 'views.jsonl'));
  refused(1, /there is no tensor 'zzzzzz' in this run; its tensors are x, table, row, half/, 'zzzzzz', join(folder, 'views.jsonl'));
  refused(1, /there is no step 128: this run has 123/, 'x', '--at', '128', overlap);
  refused(1, /at step 2 there is no half yet: it is made at step 5/, 'half', '--at', '2', join(folder, 'views.jsonl'));
  refused(1, /cannot open missing\.jsonl: No such file/, 'x', 'missing.jsonl');
  refused(2, /invalid value: '0'/, 'x', '--at', '0', overlap);
  refused(2, /--at needs the name of a tensor/, '--at', '3', overlap);
  refused(2, /name a log/);
  writeFileSync(join(folder, 'torn.jsonl'), `${readFileSync(overlap, 'utf8').split('\n').slice(0, 3).join('\n')}\n{"seq":3\n{}\n`);
  refused(1, /torn\.jsonl, line 4: this is not JSON/, 'x', 'torn.jsonl');
  assert.throws(() => execFileSync('sh', ['-c', `"${FERRY}" where "${overlap}" > /dev/full`], { stdio: 'ignore' }));
});
