// cores.js: what a processor does now, in the bar under its memory: the kernel that runs on a card, and what is queued
// behind it; of the host the op that it computes, what it waits for, or what it copies into a staging buffer.

import { holdOf, placeOf } from '../model/host.js';
import * as units from '../model/units.js';
import { processor } from '../model/words.js';
import { tensorStyle, tile } from './colours.js';
import { arrow, ease, part, path, rounded, text, wording } from './canvas_util.js';
import { boxOf } from './route.js';

const memoryOf = (layout, device) => layout.memories.find((m) => m.device === device);

/** Lines from an op's operands to the cores, and from there to its result, where nothing lies between. */
export function drawUses(c, scene, a) {
  if (a.birth || a.phase === 'queued') return;
  const bar = memoryOf(scene.layout, a.device)?.compute;
  if (!bar) return;
  const { layout } = scene;
  const use = (id, from, to, out) => drawUse(c, layout, boxOf(layout, id), bar, ease(part(a.m, from, to)), out);
  for (const id of a.ins) use(id, 0, 0.3, false);
  for (const id of a.outs.filter((one) => !a.ins.includes(one))) use(id, 0.1, 0.4, true);
}

function drawUse(c, { boxes }, box, bar, t, out) {
  if (!box || t <= 0) return;
  const [x, y] = [box.x + box.w / 2, box.y + box.h];
  if (boxes.some((b) => b !== box && b.y > y && b.y < bar.y && b.x < x && b.x + b.w > x)) return;
  const end = [Math.min(bar.x + bar.w - 30, Math.max(bar.x + 30, x)), bar.y];
  c.save();
  c.lineWidth = 2;
  c.strokeStyle = c.fillStyle = tensorStyle(box.index).hue;
  c.globalAlpha = 0.9;
  const points = out ? [end, [end[0], (end[1] + y) / 2], [x, (end[1] + y) / 2], [x, y + 5]]
    : [[x, y + 4], [x, (end[1] + y) / 2], [end[0], (end[1] + y) / 2], end];
  path(c, points, t);
  if (t === 1) arrow(c, points[2], points[3], 8);
  c.restore();
}

/** The bar of a memory's processor. */
export function drawCores(c, scene, memory) {
  if (memory.kind === 'none') return;
  const host = memory.device === 'cpu';
  const ops = scene.actions.filter((a) => a.type === 'op' && a.phase !== 'later' && a.device === memory.device);
  const a = ops.find((op) => op.phase === 'running') ?? ops.findLast((op) => op.phase === 'done') ?? ops.at(-1);
  const state = host && a?.phase !== 'running' ? hostState(scene) : null;
  if (state) drawHost(c, scene, memory.compute, state);
  else if (a) drawOp(c, scene, memory.compute, a, ops.filter((op) => op.phase === 'queued' && op !== a));
  else drawIdle(c, scene.theme, memory.compute, host ? 'CPU cores' : 'GPU cores');
}

function drawBar(c, r, fill) {
  rounded(c, r, 8);
  c.fillStyle = fill;
  c.fill();
}

function drawIdle(c, th, r, words) {
  drawBar(c, r, th.well);
  text(c, words, r.x + 12, r.y + r.h / 2 + 1, { font: `12px ${th.sans}`, color: th.faint });
}

// ---- kernels and ops ------------------------------------------------------------------------------

function drawOp(c, { theme: th, names }, r, a, queued) {
  c.save();
  drawBar(c, r, th.well);
  c.clip();
  c.fillStyle = a.device === 'cpu' ? th.cpu : th.gpu;
  c.globalAlpha = a.phase === 'done' ? 1 : 0.36;
  c.fillRect(r.x, r.y, r.w * (a.phase === 'queued' ? 0 : a.m), r.h);
  c.restore();
  const color = a.phase === 'done' ? th.paper : th.ink;
  const y = r.y + r.h / 2 + 1;
  const [mono, sans] = [`700 13px ${th.mono}`, `600 12px ${th.sans}`];
  const widthOf = (words, font) => {
    c.font = font;
    return c.measureText(words).width;
  };
  const call = names.call(a.event);
  const calls = [call, call.slice(call.indexOf(' = ') < 0 ? 0 : call.indexOf(' = ') + 3), a.name];
  const said = progressOf(a, queued);
  const pairs = calls.flatMap((one) => said.map((words) => [one, words]));
  const room = r.w - 36;
  const [shown, words] = pairs.find(([one, more]) => widthOf(one, mono) + widthOf(more, sans) <= room) ?? pairs.at(-1);
  const w = text(c, shown, r.x + 12, y, { font: mono, color, max: room });
  const right = text(c, words, r.x + r.w - 12, y, { font: sans, color, align: 'right', max: room - w });
  const thin = `12px ${th.sans}`;
  if (widthOf(a.detail, thin) <= room - w - right - 12) text(c, a.detail, r.x + 24 + w, y, { font: thin, color });
}

// How far it is and what comes next; longest first.
function progressOf(a, queued) {
  const [percent, time] = [`${Math.floor(a.m * 100)} %`, units.time(a.time)];
  const phases = { queued: [a.device === 'cpu' ? '' : 'queued'], done: [`computed in ${time}`, time] };
  const said = phases[a.phase] ?? [`${percent} of ${time}`, percent];
  if (!queued.length) return said;
  const names = queued.slice(0, 2).map((op) => op.name).join(', ');
  const more = queued.length > 2 ? ` and ${queued.length - 2} more` : '';
  return [`${said[0]}; then ${names}${more}`, `${said.at(-1)}; then ${queued.length} more`, ...said];
}

// ---- the host -------------------------------------------------------------------------------------

/** What holds the program up: {words: longest first, waits, part}, or null. After it, by step, what it was. */
function hostState(scene) {
  const { now, actions, names, t } = scene;
  const call = holdOf(now);
  const place = placeOf(scene);
  if (!call) return place.held ? { words: [place.words], waits: true, part: 0 } : eventState(actions);
  const left = units.time(Math.max(0, Math.round(call.until - t)));
  const copying = now.copies.find((copy) => copy.seq === call.seq && copy.route === 'staged');
  const hop = copying?.moving.find((one) => one.hop === (copying.dir === 'h2d' ? 0 : 1));
  if (hop) {
    const words = copyWords(names.tensor(copying.src.tensor), copying.dir, `${call.event.line > 0 ? `line ${call.event.line}` : 'the program'} goes on in ${left}`);
    return { words, waits: false, part: hop.done / Math.max(1, hop.bytes) };
  }
  const what = awaited(call, now, names);
  const words = [`${place.words} ${what}`, `waits ${what}`, place.words].map((one) => `${one} · ${left} left`);
  return { words, waits: true, part: 0 };
}

function copyWords(name, dir, next) {
  const way = dir === 'h2d' ? 'into' : 'out of';
  return [
    `the CPU copies ${name} ${way} the staging buffers · ${next}`,
    `the CPU copies ${name} ${way} staging · ${next}`,
    `copies ${name} ${way} staging`, `copies ${way} staging`,
  ];
}

function awaited(call, now, names) {
  const { event: e } = call;
  const works = [...now.copies, ...now.ops].filter((w) => call.for.includes(w.id));
  if (e.kind === 'segment') return `for ${units.bytes(e.bytes)} of ${e.mem === 'pinned' ? 'pinned memory' : 'VRAM'}`;
  const workName = (w) => (w.dir ? `the copy of ${names.tensor(w.src.tensor)}` : w.name);
  if (works.length && works.length < 3) return `for ${works.map(workName).join(' and ')}`;
  if (e.kind === 'sync' && !works.length) return `for ${processor(e.device)}`;
  if (works.length) return `for ${works.length} operations of ${e.device ?? 'the card'}`;
  return `in ${String(e.kind).replaceAll('_', ' ')}`;
}

// What a step does without using time: reads, writes, answers, notes.
function eventState(actions) {
  const words = actions.map(saying).find(Boolean);
  return words ? { words: [words], waits: false, part: 0 } : null;
}

function saying(a) {
  if (a.type === 'sync') return `the program waits for ${a.device || 'the card'}`;
  if (a.type === 'write') return `written by ${a.via || 'the program'}`;
  if (a.type === 'read') return `read by ${a.via || 'the program'}`;
  if (a.type === 'answer') return `answer “${a.name}” submitted`;
  if (a.type === 'mark') return a.text === undefined ? `clock: ${units.time(a.now)}` : `“${a.text}”`;
  return '';
}

function drawHost(c, { theme: th, scale }, r, { words, waits, part: done }) {
  c.save();
  drawBar(c, r, waits ? th.panel : th.well);
  c.clip();
  c.fillStyle = waits ? tile(c, 'hatch', '', th.line, scale) : th.cpu;
  c.globalAlpha = waits ? 1 : 0.36;
  c.fillRect(r.x, r.y, waits ? r.w : r.w * done, r.h);
  c.restore();
  rounded(c, r, 8);
  c.lineWidth = 1.5;
  c.strokeStyle = waits ? th.wait : th.cpu;
  c.stroke();
  const font = `600 12.5px ${th.sans}`;
  text(c, wording(c, words, font, r.w - 24), r.x + 12, r.y + r.h / 2 + 1, { font, color: th.ink, max: r.w - 24 });
}
