// aliases.js: what the program calls a tensor where it uses it. A tensor called `h` in main is `x` inside of
// layer(fy_tensor *x): no event says so, but the line of an op or a copy does, as its arguments are names of its operands.
// Told only where it is sure: a plain name, as many tensors as the event has, one such call in the line. Pure.

import { callsIn, isMacro, scopeOf } from './c_text.js';
import { int, list, text } from './fields.js';

// Functions that run an op of another name: which argument each of its operands is; -1: none.
const PAIR = [0, 1];
const OF_OP = {
  matmul: { fy_mm: PAIR, fy_bmm: PAIR, fy_mv: PAIR, fy_dot: PAIR, fy_linear: PAIR }, addmm: { fy_linear: [2, 0, 1] },
  log_softmax: { fy_cross_entropy: [0] }, nll_loss: { fy_cross_entropy: [-1, 1] }, sub: { fy_mse_loss: PAIR },
  argsort: { fy_sort: [0], fy_topk: [0] }, gather: { fy_sort: [0, -1], fy_topk: [0, -1] },
  argmax: { fy_max: [0] }, argmin: { fy_min: [0] },
};
const COPIES = ['fy_to', 'fy_cuda', 'fy_cpu', 'fy_pin_memory', 'fy_copy_'];
const READS = { print: ['fy_print'], item: ['fy_item', 'fy_item_int'] };
const VIEWS = new Set(['fy_view', 'fy_reshape', 'fy_t', 'fy_transpose', 'fy_permute', 'fy_select', 'fy_narrow', 'fy_slice', 'fy_unsqueeze', 'fy_squeeze', 'fy_expand', 'fy_flatten', 'fy_split', 'fy_chunk', 'fy_at']);
const NO_NAMES = new Set(['NULL', 'nullptr', 'true', 'false']);

/**
 * Which variable `name` is where event e happens, as a key: one of that name in an inner block is another one. What ends in
 * its function and name; of the file's own variables without the function.
 */
export function variableOf(sources, e, name) {
  const scope = scopeIn(sources, e, name);
  const fn = scope?.kind === 'file' ? '' : text(e.fn);
  return `${int(e.th)} ${text(e.file)} ${scope?.from ?? ''} ${fn} ${name}`;
}

/** Does event e's line declare the variable `name`? Each time that its block is entered it is a new one. */
export const isDeclared = (sources, e, name) => scopeIn(sources, e, name)?.declared === true;

function scopeIn(sources, e, name) {
  const source = sources.get(text(e.file));
  return typeof source === 'string' && int(e.line) > 0 ? scopeOf(source, e.line, name.replace(/\[.*/, '')) : null;
}

/** The names that the program's text gives the tensors of event e in its line: [[tensor, name], ...]. sources: path -> text. */
export function localNames(sources, e) {
  const kind = text(e?.kind);
  const source = Object.hasOwn(readers, kind) && e.line > 0 ? sources.get(text(e.file)) : undefined;
  if (typeof source !== 'string') return [];
  return readers[kind](e, callsIn(source, e.line)).filter(([tensor, arg]) => tensor > 0 && isName(source, arg));
}

const isName = (source, arg) => /^[A-Za-z_]\w*$/.test(arg ?? '') && !NO_NAMES.has(arg) && !isMacro(source, arg);

const readers = {
  op(e, calls) {
    const name = text(e.name);
    const others = Object.hasOwn(OF_OP, name) ? OF_OP[name] : {};
    const one = only(calls, [`fy_${name}`, `fy_${name}_`, ...Object.keys(others)]);
    if (!one) return [];
    const used = (e.inplace && !list(e.in).length ? list(e.out) : list(e.in)).map((use) => use?.tensor);
    const order = others[one.name];
    if (order) return order.length === used.length ? used.map((tensor, i) => [tensor, one.args[order[i]]]) : [];
    const args = one.args.filter(mayBeTensor);
    return args.length === used.length ? used.map((tensor, i) => [tensor, args[i]]) : [];
  },
  copy(e, calls) {
    if (Object.hasOwn(READS, text(e.why))) return read(e.src?.tensor, e.why, calls);
    const one = e.why === undefined || e.why === 'user' ? only(calls, COPIES) : null;
    if (!one) return [];
    return one.name === 'fy_copy_' ? [[e.dst?.tensor, one.args[0]], [e.src?.tensor, one.args[1]]] : [[e.src?.tensor, one.args[0]]];
  },
  host_read: (e, calls) => (Object.hasOwn(READS, text(e.via)) ? read(e.tensor, e.via, calls) : []),
  tensor(e, calls) {
    const [one, ...others] = calls.filter(({ name }) => name.startsWith('fy_'));
    return e.view_of && one && !others.length && VIEWS.has(one.name) ? [[e.view_of, one.args[0]]] : [];
  },
};

function read(tensor, how, calls) {
  const one = only(calls, READS[how]);
  return one ? [[tensor, one.args[0]]] : [];
}

// The call of one of these functions, where there is one.
function only(calls, names) {
  const found = calls.filter(({ name }) => names.includes(name));
  return found.length === 1 ? found[0] : null;
}

// Neither a number, an option, nor a list.
const mayBeTensor = (arg) => !/^([-+.(0-9]|["'])/.test(arg) && arg !== '';

// ---- the call that an op is -----------------------------------------------------------------------

const FILLS = ['fy_zeros', 'fy_ones', 'fy_full', 'fy_zeros_like', 'fy_ones_like', 'fy_full_like', 'fy_zero_', 'fy_fill_'];

/**
 * What op e is in the program: {name: of its function, as PyTorch has it, call}; call: null where the text does not tell which
 * of its calls it is. An op that a function runs on its way keeps its own name.
 */
export function calledBy(sources, e) {
  const name = text(e.name, 'an operation');
  const source = sources.get(text(e.file));
  const all = typeof source === 'string' && e.line > 0 ? callsIn(source, e.line) : [];
  if (all.some((one) => isMacro(source, one.name))) return { name, call: null };
  const own = only(all, name === 'fill' ? FILLS : [`fy_${name}`, `fy_${name}_`]);
  return { name: own ? own.name.slice(3) : name, call: own };
}

/** "zero_(row)", "c = matmul(a, b)", "add_(h, 1)": numbers and words as the program writes them, tensors by `nameOf`. */
export function callWords(sources, e, nameOf) {
  const { name, call } = calledBy(sources, e);
  const [ins, outs] = [list(e.in), list(e.out)].map((uses) => uses.map((use) => nameOf(use?.tensor)));
  if (outs.length > 1) return `${name}(${outs.length} tensors)`;
  const inPlace = e.inplace || name.endsWith('_');
  const tensors = inPlace ? [...new Set([...outs, ...ins])] : ins;
  const args = call ? call.args.filter((arg) => !/^[.([{]/.test(arg)) : []; // neither options nor lists
  const said = args.filter(mayBeTensor).length === tensors.length ? args.map((arg) => (mayBeTensor(arg) ? tensors.shift() : arg)) : tensors;
  const own = inPlace && !name.endsWith('_') ? `${name}_` : name;
  return `${!inPlace && outs.length ? `${outs.join(', ')} = ` : ''}${own}(${said.join(', ')})`;
}
