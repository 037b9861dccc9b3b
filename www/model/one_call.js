// one_call.js: which steps of a line are one call that runs several kernels. The log does not say; what tells it is what the
// kernels leave to each other: a tensor without a name, which a later kernel of the line reads and which the library frees
// in the same line. The arguments of a call are computed before it begins, and so all from the allocation of such a tensor
// to its end belongs to one call, and two nested calls stay two. Where both results of a call are kept (max with .indices),
// the program's text tells that a call of the line does so; its kernels follow one another. Pure.

import { callsIn, ferryCalls, isMacro } from './calls.js';
import { int, list, text } from './fields.js';

// With .indices: the first and the last kernel of the call.
const TWO_RESULTS = { fy_sort: ['argsort', 'gather'], fy_topk: ['argsort', 'gather'], fy_max: ['max', 'argmax'], fy_min: ['min', 'argmin'] };
const BETWEEN = new Set(['clone', 'narrow', 'contiguous']); // what topk runs in between
const AROUND = new Set(['fy_print', 'fy_item', 'fy_item_int', 'fy_set', 'fy_keep', 'fy_data', 'fy_answer']);

/** `learn` each event once, in order, with the step that it is in. */
export function oneCall() {
  const sources = new Map(); // path -> text
  let line = begun({}, sources);

  /** The step from which on all are known to be one call, since event e, in step `at`, the last one; or Infinity. */
  function learn(e, at, steps) {
    const kind = text(e?.kind);
    if (kind === 'source') sources.set(text(e.path), text(e.text));
    if (!(e?.line > 0)) return Infinity;
    if (!line.is(e)) line = begun(e, sources);
    return Object.hasOwn(learns, kind) ? learns[kind](line, e, at, steps) ?? Infinity : Infinity;
  }

  /** Steps from..last have become one. */
  function joined(from) {
    for (const one of line.passed.values()) one.at = Math.min(one.at, from);
    if (line.first) line.first.at = Math.min(line.first.at, from);
    line.last.at = Math.min(line.last.at, from);
  }

  /** The function that the newest line calls in the steps from `from` on: 'topk'; '' where that is not known. */
  const name = (from) => line.name || (line.last.at >= from ? line.last.name : '');

  return { learn, joined, name };
}

// passed: tensors without a name that were made in this line; first: what may be the first kernel of two: its name and step, or null;
// last: the last kernel that has the name of its function, and its step.
function begun(e, sources) {
  const is = (o) => o.line === e.line && o.file === e.file && o.fn === e.fn && int(o.th) === int(e.th);
  const source = sources.get(text(e.file));
  const calls = source === undefined ? [] : ferryCalls(source, int(e.line));
  const frees = source !== undefined && (!calls.length || calls.some((call) => call.name === 'fy_free'));
  const making = calls.filter((call) => !AROUND.has(call.name));
  const name = making.length === 1 ? making[0].name.slice(3) : '';
  return { is, frees, name, passed: new Map(), first: null, last: { name: '', at: -1 }, calls, kernels: kernelsOf(source, int(e.line), calls) };
}

// The kernels of the calls with two results: last -> first; none that a call of its own in this line may run.
function kernelsOf(source, line, calls) {
  if (!calls.length || callsIn(source, line).some(({ name }) => isMacro(source, name))) return new Map();
  const two = calls.filter(({ name, args }) => Object.hasOwn(TWO_RESULTS, name) && args.some((arg) => /^\.indices\s*=/.test(arg)));
  return new Map(two.map(({ name }) => TWO_RESULTS[name].toReversed()).filter(([last]) => !calls.some(({ name }) => name === `fy_${last}`)));
}

const learns = {
  tensor(line, e, at) {
    use(line, e.view_of);
    if (!e.name) line.passed.set(e.tensor, { at, used: false });
  },
  name(line, e) {
    line.passed.delete(e.tensor);
  },
  copy(line, e) {
    use(line, e.src?.tensor);
  },
  op(line, e, at) {
    for (const one of list(e.in)) use(line, one?.tensor);
    if (line.calls.some(({ name }) => name === `fy_${e.name}`)) line.last = { name: e.name, at };
    const before = line.first;
    if (!BETWEEN.has(e.name)) line.first = { name: e.name, at };
    return before && line.kernels.get(e.name) === before.name ? before.at : Infinity;
  },
  drop(line, e, at, steps) {
    const one = line.passed.get(e.tensor);
    line.passed.delete(e.tensor);
    const isCopy = steps[one?.at]?.kind === 'copy'; // an implicit copy is seen beside the op that needs it
    return one?.used && e.why === 'free' && !line.frees && !isCopy ? one.at : Infinity;
  },
};

function use(line, tensor) {
  const one = line.passed.get(tensor);
  if (one) one.used = true;
}
