// mishaps.mjs: small logs of runs that go wrong, for the tests of how errors are drawn; of one with many tensors; and those of
// the scenes.
import { readFileSync } from 'node:fs';
import { placed, root, told } from './logs.mjs';

const SOURCE = ['int main(void)', '{', '    fy_tensor *x = fy_ones((4, 8));', '    fy_tensor *w = fy_ones((6, 8));', '    fy_free(w);', '    fy_add(x, w);', '}'].join('\n');

const session = { kind: 'session', t: 0, devices: [{ name: 'cpu', kind: 'cpu', capacity: 1 << 30 }, { name: 'cuda:0', kind: 'sim', capacity: 1024 }] };
const source = { kind: 'source', t: 0, path: 'a.c', text: SOURCE };

/** A tensor's events: allocated, named, written. */
export function tensor(id, name, line, shape, { device = 'cpu', addr = 0x5000 + 0x1000 * id, bytes = 4 * shape.reduce((a, b) => a * b, 1) } = {}) {
  const at = { t: 100 * id, file: 'a.c', line, fn: 'main' };
  const strides = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
  return [
    { kind: 'alloc', ...at, storage: id, device, mem: device === 'cpu' ? 'pageable' : 'device', addr: `0x${addr.toString(16)}`, asked: bytes, bytes },
    { kind: 'tensor', ...at, tensor: id, storage: id, name, shape, strides, offset: 0, dtype: 'float32', device },
    { kind: 'op', ...at, id, name: 'fill', device, in: [], out: [{ tensor: id, storage: id, version: 1 }], held: 10 },
    { kind: 'complete', ...at, id, start: at.t - 10, end: at.t, engine: device === 'cpu' ? 'host' : 'compute' },
  ];
}

/** An error at a line of main, about these tensors. */
export const error = (code, message, call, operands) => ({ kind: 'error', t: 900, file: 'a.c', line: 6, fn: 'main', code, message, hint: 'mend it', written: call, operands });
export const crash = (code, message) => ({ kind: 'error', t: 900, code, message });
export const stopped = { kind: 'end', t: 900, status: 1, live: [] };

/** The events of a run, numbered. */
export const log = (...events) => placed(told([session, source, ...events.flat()].map((e, seq) => ({ seq, th: 0, ...e }))));

export const shape = log(tensor(1, 'x', 3, [4, 8]), tensor(2, 'w', 4, [6, 8]),
  error('shape', 'mat1 and mat2 shapes cannot be multiplied (4x8 and 6x8). x is on cpu (4, 8) float32; w is on cpu (6, 8) float32', 'fy_matmul(x, w)', [1, 2]), stopped);

export const freed = log(tensor(1, 'x', 3, [4, 8]), tensor(2, 'w', 4, [4, 8]), { kind: 'drop', t: 800, file: 'a.c', line: 5, tensor: 2, why: 'free' },
  { kind: 'free', t: 800, file: 'a.c', line: 5, storage: 2, bytes: 128 }, error('use_after_free', 'w was already freed on line 5', 'fy_add(x, w)', [1, 2]), stopped);

export const segfault = log(tensor(1, 'x', 3, [4, 8]), crash('crash', 'segmentation fault: the program accessed memory that it does not own'));

export const pointer = log(tensor(1, 'x', 3, [4, 8], { device: 'cuda:0' }),
  crash('device_pointer', "the host read element 3 of 'x', which lives on cuda:0: the CPU cannot access GPU memory through a pointer ('x' was made at a.c:3)"));

/** Of two copies on the card the program has since written what one was made of: w there is older than x. */
export const older = log(tensor(1, 'x', 3, [4, 8]), tensor(2, 'y', 4, [4, 8]), [[3, 1, 'w'], [4, 2, 'z']].flatMap(([id, from, name]) => {
  const at = { t: 100 * id, file: 'a.c', line: 5, fn: 'main' };
  return [...tensor(id, name, 5, [4, 8], { device: 'cuda:0' }).slice(0, 2),
    { kind: 'copy', ...at, id, src: { device: 'cpu', storage: from, tensor: from }, dst: { device: 'cuda:0', storage: id, tensor: id, version: 1 }, dir: 'h2d', bytes: 128, route: 'direct', held: 10 },
    { kind: 'complete', ...at, id, start: at.t - 10, end: at.t, engine: 'h2d', wire: 10 }];
}), { kind: 'host_write', t: 500, line: 6, file: 'a.c', storage: 1, tensor: 1, version: 2, count: 32 }, { kind: 'end', t: 900, status: 0, live: [] });

/** One address nobody orders: line 4 writes while line 6 reads, and prints 7. */
export const race = log(tensor(1, 'x', 3, [4, 8]), { kind: 'host_write', t: 500, line: 4, file: 'a.c', storage: 1, tensor: 1, version: 2, count: 32 },
  { kind: 'host_read', t: 600, line: 6, file: 'a.c', storage: 1, tensor: 1, version: 2, count: 1, via: 'item' },
  { kind: 'data_race', t: 600, line: 6, file: 'a.c', type: 'read_early', storage: 1, first: 0, bytes: 4, a: 6, b: 7, fix: 'wait' },
  { kind: 'values', t: 600, tensor: 1, version: 2, first: 0, data: [7], count: 1, min: 7, max: 7, mean: 7, nan: 0 }, { kind: 'end', t: 900, status: 0, live: [] });

/** The lines of a run of so many tensors of 4 KiB in RAM, made at lines 7 and 8 by turns, each right after the other. */
export function crowded(count) {
  const at = { t: 0, th: 0, file: 'a.c', fn: 'main' };
  const events = [{ kind: 'session', ...at, schema: 2, program: 'a', clock: 'model', devices: [{ name: 'cpu', kind: 'cpu', capacity: 2 ** 34 }] }];
  for (let i = 0; i < count; i++) {
    events.push({ kind: 'alloc', ...at, line: 7 + (i % 2), storage: i + 1, device: 'cpu', mem: 'pageable', addr: `0x${(0x100000 + i * 4096).toString(16)}`, asked: 4096, bytes: 4096 },
      { kind: 'tensor', ...at, line: 7 + (i % 2), tensor: i + 1, storage: i + 1, name: `weight[${i}]`, shape: [1024], strides: [1], offset: 0, dtype: 'float32', device: 'cpu' });
  }
  return [...events, { kind: 'end', ...at, exit: 0 }].map((e, seq) => JSON.stringify({ seq, ...e }));
}

/** A scene's events (scenes.mjs). */
export const scene = (name) => readFileSync(`${root}tests/page/scenes/${name}.jsonl`, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
