// tensor_names.js: what a tensor is called. A name in the log is the text of the program, so that four tensors are called batch[i].
// Where the subscript is the variable of an FY_TIMES, it is the number of the turn: batch[3]; else the name stays as it is written. Pure.

import { int, text } from './fields.js';

/** The name that event e, which belongs to `call` (call_record.js), gives a tensor: e.told, where it is not e.name. */
export function nameIn(e, call) {
  const name = text(e.name);
  return name && call ? counted(name, call) : name;
}

// w[i + 1][2] -> w[4][2]
const counted = (name, call) => (name.includes('[') ? name.replace(/\[\s*([A-Za-z_]\w*)\s*(?:([-+])\s*(\d+)\s*)?\]/g, (all, variable, sign, by) => {
  const turn = turnOf(call, variable);
  return turn < 0 ? all : `[${turn + int(Number(by)) * (sign === '-' ? -1 : 1)}]`;
}) : name);

// The turn of the innermost loop of this variable in the call's function; -1: it is no FY_TIMES.
function turnOf(call, variable) {
  for (let turn = call.round; turn; turn = turn.parent?.round) {
    const loop = turn.parent;
    if (loop?.fn !== call.fn || loop?.file !== call.file || !new RegExp(`^\\s*${variable}\\s*,`).test(text(loop.args))) continue;
    return loop.name === 'FY_TIMES' ? int(turn.turn, -1) : -1;
  }
  return -1;
}

/** The name that event e gives a tensor. */
export const nameOf = (e) => text(e.told ?? e.name);

/** The handle by which the autograd graph keeps a tensor of that name. */
export const savedName = (name) => (name ? `${name} (saved)` : '(saved)');
