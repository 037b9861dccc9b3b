// purpose.js: what bytes are for when a program trains: parameters, their gradients, what an optimizer keeps for them, the batches
// of loaders, what is kept for gradients, and what a backward pass needs on its way. The log tells it of tensors (`learned`, for
// state.js); a storage has the purpose of those that see it. Pure.

import { int, list, text } from './fields.js';
import * as units from './units.js';

// ---- what the events tell of tensors ---------------------------------------------------------------

/** kind -> what it changes: (state, event, change), change(map, key, fields). */
export const learned = {
  graph(s, e, change) {
    const fields = (id, is) => s.tensors.has(id) && change(s.tensors, id, is);
    if (e.what !== 'make') return;
    if (e.op === 'leaf') fields(int(e.tensor), { leaf: true });
    for (const id of list(e.saves)) fields(id, { savedBy: { op: text(e.op), line: int(e.line) } });
  },

  backward(s, e) {
    if (e.what === 'begin') s.passes.add(int(e.th));
    else s.passes.delete(int(e.th));
  },

  // A leaf has one gradient at most; fy_zero_grad drops it (released).
  grad(s, e, change) {
    const leaf = s.tensors.get(int(e.leaf));
    const id = int(e.tensor);
    const before = leaf && s.tensors.get(leaf.grad);
    if (before && before.id !== id) change(s.tensors, before.id, { gradOf: 0 });
    if (leaf) change(s.tensors, leaf.id, { grad: s.tensors.has(id) ? id : 0 });
    if (s.tensors.has(id)) change(s.tensors, id, { gradOf: int(e.leaf) });
  },

  state(s, e, change) {
    const { tensor, parameter } = e;
    if (s.tensors.has(tensor)) change(s.tensors, tensor, { state: { of: int(parameter), what: text(e.what), optimizer: text(e.optimizer, 'an optimizer') } });
  },

  // What a thread makes between the begin of a batch and its end belongs to it: items, and what they are put together in.
  batch(s, e, change) {
    const batch = { loader: int(e.loader), epoch: int(e.epoch), index: int(e.index), worker: int(e.worker, -1), phase: text(e.what) };
    if (e.what === 'begin') s.making.set(int(e.th), { ...batch, phase: 'making' });
    else if (s.making.get(int(e.th))?.index === batch.index) s.making.delete(int(e.th));
    for (const id of list(e.tensors)) if (s.tensors.has(id)) change(s.tensors, id, { batch });
  },
};

/** What is so of a tensor that is made now. */
export function madeFor(s, e) {
  const th = int(e.th);
  return {
    saved: e.saved === true, savedBy: null, leaf: false, grad: 0, gradOf: 0, state: null,
    batch: s.making.get(th) ?? null, inPass: s.passes.has(th),
  };
}

/** A copy of a batch is that batch, too. */
export function carried(s, e, change) {
  const from = s.tensors.get(e.src?.tensor);
  const to = s.tensors.get(e.dst?.tensor);
  if (from?.batch && from.batch.phase !== 'making' && to && !to.batch) change(s.tensors, to.id, { batch: { ...from.batch, phase: 'copied' } });
}

/** A tensor is released: fy_module_to has put another one in its place, or it was a gradient. */
export function released(s, tensor, why, change) {
  const leaf = s.tensors.get(tensor.gradOf);
  if (leaf?.grad === tensor.id) change(s.tensors, leaf.id, { grad: 0 });
  if (why !== 'data' || !tensor.name) return;
  const next = [...s.tensors.values()].findLast((one) => one.id > tensor.id && one.name === tensor.name && !one.dropped && !one.saved);
  if (!next) return;
  change(s.tensors, next.id, { leaf: next.leaf || tensor.leaf });
  for (const one of s.tensors.values()) if (one.state?.of === tensor.id) change(s.tensors, one.id, { state: { ...one.state, of: next.id } });
}

// ---- what a storage is for -------------------------------------------------------------------------

/** Every purpose, in the order in which they are told. */
export const PURPOSES = ['parameter', 'gradient', 'optimizer', 'batch', 'saved', 'pass'];

const living = (state, storage) => storage.tensors.map((id) => state.tensors.get(id)).filter((one) => one && !one.dropped);
const nameOf = (one) => one?.name || (one ? `t${one.id}` : 'a tensor');

/**
 * What a living storage is for: {kind: of PURPOSES, tensor: the one that says so, of: id of the tensor that it is for, or 0,
 * batch: null or {index, worker, phase ...}, optimizer: its name or ''}; null: nothing of these.
 */
export function purposeOf(state, storage) {
  if (storage.freed !== null) return null;
  const all = living(state, storage);
  const is = (kind, tensor, of = 0) => ({ kind, tensor, of, batch: tensor.batch, optimizer: tensor.state?.optimizer ?? '' });
  const find = (test) => all.find(test);
  const gradient = find((one) => one.gradOf > 0);
  if (gradient) return is('gradient', gradient, gradient.gradOf);
  const kept = find((one) => one.state);
  if (kept) return is('optimizer', kept, kept.state.of);
  const parameter = find((one) => one.leaf);
  if (parameter) return is('parameter', parameter, parameter.id);
  const batch = find((one) => one.batch);
  if (batch) return is('batch', batch);
  const saved = find((one) => one.saved);
  if (saved) return is('saved', saved);
  const first = state.tensors.get(storage.tensors[0]);
  return first?.inPass ? is('pass', first) : null;
}

/** The storages that belong together with one: a parameter, its gradient and an optimizer's state; all of a batch. */
export function kinOf(state, id) {
  const storage = state.storages.get(id);
  const is = storage && purposeOf(state, storage);
  if (!is || !(is.of || is.batch)) return new Set();
  const mine = is.of
    ? (one) => one.id === is.of || one.gradOf === is.of || one.state?.of === is.of
    : (one) => one.batch && sameBatch(one.batch, is.batch);
  const found = [...state.tensors.values()].filter((one) => !one.dropped && mine(one)).map((one) => one.storage);
  return new Set(found.filter((one) => one !== id));
}

const sameBatch = (a, b) => a.index === b.index && a.epoch === b.epoch && a.loader === b.loader;

// ---- in words ---------------------------------------------------------------------------------------

const titles = { parameter: 'parameters', gradient: 'gradients', optimizer: 'optimizer', batch: 'batches', saved: 'kept for gradients', pass: 'of the backward pass', other: 'other' };

const shorts = { ...titles, saved: 'kept', pass: 'backward' };

/** What the purpose is called where all of its kind are told together, longest first. */
export function titlesOf(kind, optimizers) {
  if (kind !== 'optimizer') return [titles[kind], shorts[kind]];
  return [`optimizer (${optimizers.join(', ')})`, optimizers.join(', ')];
}

const makes = {
  making: (who) => `${who || 'the loop'} makes it`, ready: (who) => `${who} has made it; the loop has not taken it yet`,
  taken: (who) => `${who ? `made by ${who}, ` : ''}the loop has it`, copied: () => 'copied from there',
};
const workerOf = ({ worker }) => (worker >= 0 ? `worker ${worker}` : '');

/** What a storage is for, as lines of its tooltip. */
export function purposeLines(state, storage) {
  const is = purposeOf(state, storage);
  if (!is) return [];
  const { tensor, batch } = is;
  const whose = nameOf(state.tensors.get(is.of));
  if (is.kind === 'gradient') return [`the gradient of ${whose}`];
  if (is.kind === 'optimizer') return [`${is.optimizer}, the optimizer, keeps it for ${whose}: ${tensor.state.what}`];
  if (is.kind === 'parameter') return [gradientLine(state, tensor), stateLine(state, tensor)].filter(Boolean);
  if (is.kind === 'batch') return [batchLine(batch)];
  if (is.kind === 'saved') return [savedLine(tensor)];
  return ['made on the way of the backward pass'];
}

function batchLine(batch) {
  const which = [`of batch ${batch.index}`, batch.epoch && `epoch ${batch.epoch}`, batch.loader > 1 && `loader ${batch.loader}`].filter(Boolean).join(', ');
  return `${which}: ${makes[batch.phase]?.(workerOf(batch)) ?? 'made'}`;
}

const savedLine = ({ savedBy }) => `kept for a gradient${savedBy?.op ? `, by ${savedBy.op}${savedBy.line ? ` on line ${savedBy.line}` : ''}` : ''}`;

function gradientLine(state, tensor) {
  const grad = gradientOf(state, tensor);
  return grad ? `its gradient: ${grad.name}, ${units.bytes(grad.bytes)}` : 'a leaf of the graph; it has no gradient now';
}

function stateLine(state, tensor) {
  const kept = [...state.tensors.values()].filter((one) => one.state?.of === tensor.id && !one.dropped);
  const bytes = kept.reduce((sum, one) => sum + (state.storages.get(one.storage)?.asked ?? 0), 0);
  return kept.length ? `${kept[0].state.optimizer} keeps ${units.bytes(bytes)} for it: ${kept.map((one) => one.state.what).join(', ')}` : '';
}

/** The gradient that a tensor has now: {name, bytes, storage}; null: none. */
export function gradientOf(state, tensor) {
  const grad = tensor?.grad ? state.tensors.get(tensor.grad) : null;
  const storage = grad && state.storages.get(grad.storage);
  return storage ? { name: nameOf(grad), bytes: storage.asked, storage: storage.id } : null;
}

/** What a batch is called, longest first. */
export function batchTitles(batch) {
  const who = workerOf(batch) || 'the loop';
  const how = { making: `${who} makes it`, ready: `ready, by ${who}`, taken: 'in use', copied: 'in use' }[batch.phase] ?? '';
  return [`batch ${batch.index}, ${how}`, `batch ${batch.index}`];
}

/** What is written over boxes beside each other of the same kind, longest first. all: their purposes. */
export function spanWords(kind, all) {
  if (kind === 'optimizer') {
    const which = [...new Set(all.map((is) => is.optimizer))].join(', ');
    return [`optimizer: ${which}`, which];
  }
  if (kind === 'batch') return batchWords(all.map((is) => is.batch));
  const one = { parameter: 'parameter', gradient: 'gradient', saved: 'kept for gradients', pass: 'backward pass' }[kind];
  const short = { parameter: 'param.', gradient: 'grad', saved: 'kept', pass: 'pass' }[kind];
  return [all.length > 1 && kind in { parameter: 1, gradient: 1 } ? `${one}s` : one, short];
}

const phases = { making: 'being made', ready: 'ready', taken: 'in use', copied: '' };

function batchWords(batches) {
  const numbers = (key) => [...new Set(batches.map((one) => one[key]))].filter((n) => n >= 0).sort((a, b) => a - b);
  const indices = numbers('index');
  const workers = numbers('worker');
  const name = `${indices.length > 1 ? 'batches' : 'batch'} ${indices.length > 3 ? `${indices[0]} to ${indices.at(-1)}` : indices.join(', ')}`;
  const [phase, ...others] = new Set(batches.map((one) => one.phase));
  const by = workers.length && phase !== 'copied' ? `, ${workers.length > 1 ? 'workers' : 'worker'} ${workers.join(', ')}` : '';
  const said = others.length ? '' : phases[phase];
  return [`${name}${said && `, ${said}`}${by}`, `${name}${by}`, name];
}
