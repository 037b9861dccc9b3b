// loops.js: the iterations of a program's loops. Where its loops are is read from its text; a log does not tell iterations apart, but
// within a loop the program goes back to an earlier line, or does again what its iteration began with: then an iteration begins. What
// cannot be seen is not told: a loop that holds nothing but another one has one iteration. Pure.

import { blocksOf } from './blocks.js';
import { callsIn } from './calls.js';
import { int, text } from './fields.js';
import { perRun } from './per_run.js';
import { firstIndex } from './search.js';

const DOES = new Set(['op', 'copy', 'host_write', 'host_read', 'mark', 'event_record']); // what an iteration may begin with
const ELSEWHERE = new Set(['complete', 'graph', 'values']); // they name the line of earlier work, where the program is no more
const NEAR = 64; // iterations that are looked at for one event

/** The loops of a program's text: [{first, last}], lines, an outer one before those in it. */
export function loopsIn(source) {
  const { clean, starts, root } = blocksOf(source);
  const lineOf = (at) => firstIndex(starts.length, (i) => starts[i] > at);
  const found = [];
  const visit = (node) => {
    const body = node.kind === 'loop' ? clean.slice((node.head?.to ?? node.from + node.word.length) + 1, node.to) : '';
    if (/[^\s;][^]*[;}]/.test(body)) found.push({ first: lineOf(node.from), last: lineOf(node.to - 1) });
    node.children.forEach(visit);
  };
  visit(root);
  return found;
}

/**
 * The loops that a run went through: {all, at(seq)}. all: [{th, depth, first, last, iterations: [{n, from, until, seq, to, loop}]}]: a
 * loop each time that the program came to it, and its iterations in order; from, until: when the host was in it, in ns; seq, to:
 * events. at(seq): the iterations that event seq is in, the innermost first.
 */
export const loopsOf = perRun(loops);

function loops(run) {
  const files = new Map(); // path -> {text, lines: line -> the loops around it, the outermost first}
  const threads = new Map(); // th -> the functions that it is in: {name, inside: the loops that it is in there, base}
  const iterations = []; // of all loops, in order
  const names = new Map(); // of tensors
  const self = { add, at, all: [] };

  function add(e, seq) {
    if (e.kind === 'tensor') names.set(int(e.tensor), text(e.name));
    if (e.kind === 'source') files.set(text(e.path), linesOf(text(e.text)));
    if (!(e.line > 0) || ELSEWHERE.has(e.kind)) return;
    const file = files.get(text(e.file));
    const { inside, base } = functionOf(e, seq);
    const chain = file?.lines.get(e.line) ?? [];
    leave(inside, chain);
    chain.forEach((site, depth) => enter(inside, site, depth, e, seq, file.text, base));
    for (const one of inside) went(one, e, seq);
  }

  // A function that was there before has called those after it, which are over: until now an iteration of it, or of them, went on.
  function functionOf(e, seq) {
    const name = `${text(e.file)} ${text(e.fn)}`;
    const th = int(e.th);
    const stack = threads.get(th) ?? threads.set(th, []).get(th);
    const at = stack.findIndex((one) => one.name === name);
    if (at < 0) return stack[stack.push({ name, inside: [], base: stack.reduce((sum, { inside }) => sum + inside.length, 0) }) - 1];
    const start = run.timeline.callOf(seq)?.from ?? run.timeline.timeOf(seq - 1);
    for (const one of stack.slice(at).flatMap(({ inside }) => inside)) reach(one.loop.iterations.at(-1), seq - 1, start);
    stack.length = at + 1;
    return stack[at];
  }

  // Those that do not hold the line are over.
  function leave(inside, chain) {
    const keep = inside.findIndex((one, depth) => one.site !== chain[depth]);
    if (keep >= 0) inside.length = keep;
  }

  // base: how many loops are around the function.
  function enter(inside, site, depth, e, seq, source, base) {
    const one = inside[depth];
    if (one && !isAgain(one, inside[depth + 1], e, seq, source)) return;
    if (!one) inside[depth] = opened(site, { th: int(e.th), depth: base + depth, ...site, iterations: [] });
    begin(inside[depth], seq);
  }

  // Two copies of a line are told apart by what they make.
  const signOf = (e) => `${e.kind} ${e.kind === 'copy' ? names.get(int(e.dst?.tensor)) ?? '' : e.name ?? ''} ${e.line}`;
  const opened = (site, loop) => ({ site, loop, last: 0, sign: '', seq: 0, again: 0 });

  // Does event e begin another iteration? inner: the loop in it that the program was in, and still is.
  function isAgain(one, inner, e, seq, source) {
    if (inner || endsScope(e, one)) return false;
    if (e.line < one.last) return true;
    if (!DOES.has(e.kind) || signOf(e) !== one.sign || run.stepOf(seq) === run.stepOf(one.seq)) return false;
    one.seq = seq;
    one.again++;
    const calls = callsIn(source, e.line).filter(({ name }) => name.replace(/^fy_|_$/g, '') === e.name);
    return one.again >= Math.max(1, calls.length);
  }

  // An iteration begins with the step of its first event.
  function begin(one, seq) {
    const { loop } = one;
    const before = loop.iterations.at(-1);
    const first = Math.max(run.steps[run.stepOf(seq)]?.from ?? seq, before ? before.seq + 1 : 0);
    const from = run.timeline.callOf(first)?.from ?? run.timeline.timeOf(first - 1);
    if (before) Object.assign(before, { to: first - 1, until: Math.max(before.from, from) });
    const iteration = { n: loop.iterations.length + 1, from: Math.max(from, before?.until ?? 0), until: from, seq: first, to: seq, loop };
    loop.iterations.push(iteration);
    iterations.push(iteration);
    if (!before) self.all.push(loop);
    Object.assign(one, { sign: '', again: 0 });
  }

  function reach(iteration, to, until) {
    iteration.to = Math.max(iteration.to, to);
    iteration.until = Math.max(iteration.until, until);
  }

  function went(one, e, seq) {
    reach(one.loop.iterations.at(-1), seq, run.timeline.timeOf(seq));
    if (endsScope(e, one)) return;
    one.last = e.line;
    if (!one.sign && DOES.has(e.kind)) Object.assign(one, { sign: signOf(e), seq });
  }

  function at(seq) {
    const th = int(run.events[seq]?.th);
    const found = [];
    for (let i = firstIndex(iterations.length, (k) => iterations[k].seq > seq) - 1, n = 0; i >= 0 && n < NEAR; i--, n++) {
      const one = iterations[i];
      if (one.loop.th === th && one.to >= seq && !found.some((other) => other.loop.depth <= one.loop.depth)) found.push(one);
    }
    return found;
  }

  return self;
}

// What FY_TIMES frees at the end of an iteration, in the line of its head, belongs to that iteration.
const endsScope = (e, { site }) => (e.kind === 'drop' || e.kind === 'free') && e.line === site.first;

function linesOf(source) {
  const lines = new Map();
  for (const site of loopsIn(source)) {
    for (let line = site.first; line <= site.last; line++) lines.set(line, [...(lines.get(line) ?? []), site]);
  }
  return { text: source, lines };
}

/** "iteration 3 of 128, of the loop in lines 5 to 9" */
export function iterationWords({ n, loop: { iterations, first, last } }) {
  return `iteration ${n} of ${iterations.length} of the loop ${first === last ? `in line ${first}` : `in lines ${first} to ${last}`}`;
}
