// one_call.js: which steps of a line are one call that runs several kernels. The log does not say; what tells it is what the
// kernels leave to each other: a tensor without a name, which a later kernel of the line reads and which the library frees
// in the same line. The arguments of a call are computed before it begins, and so all from the allocation of such a tensor
// to its end belongs to one call, and two nested calls stay two. Where both results of a call are kept (max with .indices),
// the program's text tells. Pure.

import { callsIn, ferryCalls, isMacro } from './calls.js';
import { int, list, text } from './fields.js';

// With .indices: the first and the last kernel of the call.
const TWO_RESULTS = { fy_sort: ['argsort', 'gather'], fy_topk: ['argsort', 'gather'], fy_max: ['max', 'argmax'], fy_min: ['min', 'argmin'] };
const THEIR_KERNELS = new Set([...Object.keys(TWO_RESULTS), 'fy_argsort', 'fy_gather', 'fy_argmax', 'fy_argmin']);
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
    line.first = Math.min(line.first, from);
    line.last.at = Math.min(line.last.at, from);
  }

  /** The function that the newest line calls in the steps from `from` on: 'topk'; '' where that is not known. */
  const name = (from) => line.name || (line.last.at >= from ? line.last.name : '');

  return { learn, joined, name };
}

// passed: tensors without a name that were made in this line; first: the step of the first kernel of two, or -1; last: the
// last kernel that has the name of its function, and its step.
function begun(e, sources) {
  const is = (o) => o.line === e.line && o.file === e.file && o.fn === e.fn && int(o.th) === int(e.th);
  const source = sources.get(text(e.file));
  const calls = source === undefined ? [] : ferryCalls(source, int(e.line));
  const frees = source !== undefined && (!calls.length || calls.some((call) => call.name === 'fy_free'));
  const making = calls.filter((call) => !AROUND.has(call.name));
  const name = making.length === 1 ? making[0].name.slice(3) : '';
  return { is, frees, name, passed: new Map(), first: -1, last: { name: '', at: -1 }, calls, kernels: kernelsOf(source, int(e.line), calls) };
}

function kernelsOf(source, line, calls) {
  const [one, ...others] = calls.filter(({ name }) => THEIR_KERNELS.has(name));
  const two = one && !others.length && one.args.some((arg) => /^\.indices\s*=/.test(arg)) && TWO_RESULTS[one.name];
  return two && !callsIn(source, line).some(({ name }) => isMacro(source, name)) ? two : [];
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
    const [first, last] = line.kernels;
    if (e.name === first) line.first = at;
    if (e.name !== last || line.first < 0) return Infinity;
    const from = line.first;
    line.first = -1;
    return from;
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
