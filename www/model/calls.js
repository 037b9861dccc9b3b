// calls.js: the calls that a line of a C program makes, read from its text: what the log says of a line is joined with the
// names that the program uses there. Pure.

const PARSED = 24; // texts whose lines are kept
const LONGEST = 4000; // letters of one call's arguments

const parsed = new Map(); // text -> {clean, starts, lines: line -> calls, defined}

/**
 * The calls that begin in a line, and those in their arguments: [{name, args: [text, ...]}, ...]; from a text of a program.
 * Comments and strings are no calls. A line is that of the outermost call's begin, as in __LINE__.
 */
export function callsIn(text, line) {
  if (typeof text !== 'string' || !(line > 0)) return [];
  const file = fileOf(text);
  if (!file.lines.has(line)) file.lines.set(line, read(file, line));
  return file.lines.get(line);
}

/** Is `word` a macro of this program? */
export const isMacro = (text, word) => fileOf(text).defined.has(word);

/** The calls of the library among them. */
export const ferryCalls = (text, line) => callsIn(text, line).filter(({ name }) => name.startsWith('fy_'));

/** A text with spaces for its comments and for what is in quotes; every other letter stays at its place. */
export const cleanText = (text) => fileOf(text).clean;

function fileOf(text) {
  if (!parsed.has(text)) {
    if (parsed.size >= PARSED) parsed.delete(parsed.keys().next().value);
    const clean = blank(text);
    const starts = [0];
    for (let i = clean.indexOf('\n'); i >= 0; i = clean.indexOf('\n', i + 1)) starts.push(i + 1);
    const defined = new Set([...clean.matchAll(/^[ \t]*#[ \t]*define[ \t]+(\w+)/gm)].map((m) => m[1]));
    parsed.set(text, { clean, starts, lines: new Map(), defined });
  }
  return parsed.get(text);
}

// Comments and what is in quotes, as spaces: every other letter stays at its place.
function blank(text) {
  return text.replace(/\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*|"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?/g, (all) => {
    const spaces = all.replace(/[^\n]/g, ' ');
    return all[0] === '/' ? spaces : `${all[0]}${spaces.slice(1)}`;
  });
}

function read({ clean, starts }, line) {
  if (line > starts.length) return [];
  const calls = [];
  let end = starts[line] ?? clean.length;
  const name = /\b([A-Za-z_]\w*)[ \t]*\(/g;
  name.lastIndex = starts[line - 1];
  for (let m = name.exec(clean); m && m.index < end; m = name.exec(clean)) {
    const call = argumentsOf(clean, name.lastIndex);
    if (!call || KEYWORDS.has(m[1])) continue;
    calls.push({ name: m[1], args: call.args });
    if (m[1].startsWith('fy_')) end = Math.max(end, call.end); // its arguments may go on in further lines
  }
  return calls;
}

const KEYWORDS = new Set(['if', 'for', 'while', 'switch', 'return', 'sizeof', 'do', 'else']);
const DEEPER = { '(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1 };

// What stands between the commas that no inner bracket holds, up to the closing bracket; null if there is none.
function argumentsOf(clean, from) {
  const args = [];
  let depth = 0;
  let start = from;
  for (let i = from; i < clean.length && i < from + LONGEST; i++) {
    depth += DEEPER[clean[i]] ?? 0;
    if (depth < 0 || (depth === 0 && clean[i] === ',')) {
      args.push(clean.slice(start, i).trim());
      start = i + 1;
    }
    if (depth < 0) return { args: args.length === 1 && !args[0] ? [] : args, end: i };
  }
  return null;
}
