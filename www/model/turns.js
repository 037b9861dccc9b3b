// turns.js: names of what a loop makes. A name is the text of the program, so that four tensors are called batch[i]; the n-th
// that was given this name at this place is `batch[i] #n`. Such a name is told by its index, and not by the second tensor
// of it: nothing is renamed while a run is played or still arrives. Pure.

import { int, text } from './fields.js';

const INDEX = /\[(?!\s*\d+\s*\])[^\]]+\]/; // not a number: at[0] is one place

/** The name that event e gives a tensor. turns: site and name -> how many were named so; it is counted on. */
export function turnName(turns, e) {
  const name = text(e.name);
  if (!name.includes('[') || !INDEX.test(name)) return name;
  const key = `${text(e.file)}:${int(e.line)} ${name}`;
  const turn = (turns.get(key) ?? 0) + 1;
  turns.set(key, turn);
  return `${name} #${turn}`;
}
