// cost_words.js: what a run has cost by a moment, in plain words, and by how much two runs differ. Pure.

import * as units from './units.js';

const ns = (t) => units.time(Math.round(t));
const size = (n) => units.bytes(Math.floor(n));
const underway = (n) => (n ? `, ${n} in progress` : '');

const way = ({ copies, bytes, wire, under }, where) => `${units.plural(copies, 'copy', 'copies')} ${where}, ${size(bytes)}, ${ns(wire)} on the bus${underway(under)}`;

/**
 * The cost of an instant (instant.js) as lines: [{key, figure, rest}], each a sentence that begins with its figure. hidden: the learner still has to
 * guess the copies, so nothing about them is told.
 */
export function costLines({ t, cost }, hidden = false) {
  const { h2d, d2h, held, own, cpu, gpu, running } = cost;
  const waited = held - own;
  const bus = hidden ? [{ key: 'bus', figure: '?', rest: ' copies over the bus: after your guess' }] : copies(h2d, d2h);
  return [
    ...bus,
    { key: 'waited', ...waitedWords(waited, held, t) },
    { key: 'ops', figure: units.plural(cpu + gpu, 'operation'), rest: `: ${units.number(cpu)} on the CPU, ${units.number(gpu)} on the GPU${running ? `; ${running} more in progress` : ''}` },
  ];
}

// More in calls than time has passed: several threads were in them at once.
function waitedWords(waited, held, t) {
  const several = held > t;
  const who = several ? "The program's threads" : 'The program';
  return {
    figure: waited > 0 ? `${who} waited ${ns(waited)}` : `${who} ${several ? 'have' : 'has'} not waited`,
    rest: `; ${ns(held)} in Ferry calls${several ? ', all threads together' : ''}, ${ns(t)} in total`,
  };
}

function copies(h2d, d2h) {
  const all = { copies: h2d.copies + d2h.copies, bytes: h2d.bytes + d2h.bytes, wire: h2d.wire + d2h.wire, under: h2d.under + d2h.under };
  if (!all.copies && !all.under) return [{ key: 'bus', figure: 'No copy over the bus', rest: ' so far' }];
  const line = (key, flow, where) => {
    if (!flow.copies) return { key, figure: `${units.plural(flow.under, 'copy', 'copies')} ${where} in progress`, rest: flow.bytes >= 1 ? `, ${size(flow.bytes)} so far, ${ns(flow.wire)} on the bus` : ': nothing has arrived' };
    const [figure, ...rest] = way(flow, where).split(', ');
    return { key, figure, rest: `, ${rest.join(', ')}` };
  };
  const parts = [line('there', h2d, 'to the GPU'), line('back', d2h, 'back to the CPU')].filter((_, i) => [h2d, d2h][i].copies || [h2d, d2h][i].under);
  return parts.length < 2 ? parts : [{ key: 'bus', figure: units.plural(all.copies, 'copy', 'copies'), rest: ` over the bus, ${size(all.bytes)}` }, ...parts];
}

/** The same in short, for who listens: "Step 12 of 40. 3 copies over the bus, 8 MiB so far." */
export function summaryWords({ by, step, t }, { steps, total }, { cost: { h2d, d2h } }, hidden = false) {
  const where = by === 'clock' ? `${ns(t)} of ${ns(total)}.` : `Step ${units.number(step + 1)} of ${units.number(steps.length)}.`;
  if (hidden) return where;
  const copies = h2d.copies + d2h.copies;
  return `${where} ${copies ? `${units.plural(copies, 'copy', 'copies')} over the bus, ${size(h2d.bytes + d2h.bytes)}` : 'No copy over the bus'} so far.`;
}

/** Where the times come from: "Modelled as NVIDIA H200, not measured." clock: the session's; card: its name, or ''. */
export function clockWords(clock, card) {
  const name = card.replace(/ \((simulated|modelled)\)$/, '');
  if (clock === 'measured') return `Measured${name ? ` on ${name}` : ''}.`;
  return `Modelled${name ? ` as ${name}` : ''}, not measured.`;
}
