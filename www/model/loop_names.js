// loop_names.js: names of what a loop makes. A name in the log is the text of the program, so that four tensors are called batch[i].
// Where the text makes it sure (blocks.js), the subscript is its value: batch[3]. Else the n-th that was given this name at
// this place is `batch[i] #n`. Such a name is told by what came before: nothing is renamed while a run is played or still
// arrives. Of a call with two results both are logged by one name: the second one is what .indices names. Pure.

import { assignment, blocksOf, subscript } from './blocks.js';
import { int, text } from './fields.js';

const INDEX = /\[(?!\s*\d+\s*\])[^\]]+\]/; // not a number: at[0] is one place
const ITSELF = /^(?!fy_)|_$|^fy_(?:contiguous|flatten|keep|set)$/; // calls that may make no tensor, but return one that was there
const MOVES = /^fy_(?:to|cuda|cpu|pin_memory)$/; // likewise, but for what their argument has just made in pageable RAM
const FRESH = /^\s*fy_(?:zeros|ones|full|empty|rand\w*|arange|linspace|eye)\s*\((?!.*\.(?:device|pin_memory)\b)/s;

/** The name that event e gives a tensor. iterations: place and name -> how many were named so; it is counted on. sources: path -> text. */
export function iterationName(iterations, e, sources) {
  const name = text(e.name);
  const source = name ? sources?.get(text(e.file)) : undefined;
  const told = typeof source === 'string' ? toldBy(source, int(e.line), name) : NOTHING;
  const place = `${text(e.file)}:${int(e.line)} ${name}`;
  if (told.second) {
    const n = next(iterations, `${int(e.th)} ${place}`);
    return named(n % 2 ? told.parts : told.second, Math.ceil(n / 2));
  }
  if (!name.includes('[') || !INDEX.test(name)) return name;
  if (told.parts) return named(told.parts, next(iterations, `${int(e.th)} ${place}`));
  return `${name} #${next(iterations, place)}`;
}

function next(iterations, key) {
  const iteration = (iterations.get(key) ?? 0) + 1;
  iterations.set(key, iteration);
  return iteration;
}

const NOTHING = { parts: null, second: null };

// {parts: the name's letters, with subscripts that are known; second: likewise, of the second result}; null: not sure
function toldBy(source, line, name) {
  if (!name.includes('[') && !source.includes('.indices')) return NOTHING;
  const { told } = blocksOf(source);
  const key = `${line} ${name}`;
  if (!told.has(key)) told.set(key, read(blocksOf(source), line, name));
  return told.get(key);
}

function read(blocks, line, name) {
  const found = /\bfy_on_error\b/.test(blocks.clean) ? null : assignment(blocks, line, name); // else a refused call makes nothing
  if (!found) return NOTHING;
  const parts = partsOf(blocks, found, name);
  const other = /^fy_(?:max|min)$/.test(found.call) && /(?:^|,)\s*\.indices\s*=\s*&\s*(\w[\w.[\]>-]*)\s*(?:,|$)/.exec(found.args)?.[1];
  if (other) return { parts: parts ?? [name], second: partsOf(blocks, found, other) ?? [other] };
  const isMade = !ITSELF.test(found.call) && (!MOVES.test(found.call) || FRESH.test(found.args));
  return { parts: isMade ? parts : null, second: null };
}

// "w[i][2]" -> ["w", "[", {start ...}, "]", "[2]"]; null where a subscript is not sure
function partsOf(blocks, found, name) {
  const parts = name.split(/\[([^\]]*)\]/).map((part, i) => (i % 2 === 0 ? part : /^\s*\d+\s*$/.test(part) ? `[${part.trim()}]` : subscript(blocks, found, part)));
  return parts.every((part) => part !== null) ? parts : null;
}

const named = (parts, iteration) => parts.map((part) => (typeof part === 'string' ? part : `[${valueAt(part, iteration)}]`)).join('');

const valueAt = ({ start, step, each, count }, iteration) => start + step * (Math.floor((iteration - 1) / each) % count);

/** The handle by which the autograd graph keeps a tensor of that name. */
export const savedName = (name) => (name ? `${name} (saved)` : '(saved)');
