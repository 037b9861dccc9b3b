// c_text.js: what is read from the text of a C program, and from no log: the calls that a line makes, so that what the log says of
// it is joined with the names that the program uses there; the blocks, and in which of them a variable is declared, and may be
// kept: where the text makes it sure. Pure.

import { firstIndex } from './search.js';

const PARSED = 24; // texts that are kept
const LONGEST = 4000; // letters of one call's arguments
const DEEPEST = 100; // blocks in blocks: deeper ones are not looked at

const parsed = new Map(); // text -> what fileOf() returns

/**
 * A text: {clean: without comments and strings, starts: where its lines begin, defined: its macros, lines: line -> its calls,
 * code: also without directives, root: of its blocks, told: for who asks much}.
 */
function fileOf(text) {
  if (!parsed.has(text)) {
    if (parsed.size >= PARSED) parsed.delete(parsed.keys().next().value);
    const clean = blank(text);
    const starts = [0];
    for (let i = clean.indexOf('\n'); i >= 0; i = clean.indexOf('\n', i + 1)) starts.push(i + 1);
    const defined = new Set([...clean.matchAll(/^[ \t]*#[ \t]*define[ \t]+(\w+)/gm)].map((m) => m[1]));
    const code = clean.replace(/^[ \t]*#(?:\\\r?\n|[^\n])*/gm, (all) => all.replace(/[^\n]/g, ' '));
    parsed.set(text, { clean, starts, defined, lines: new Map(), code, root: null, told: new Map() });
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

const DEEPER = { '(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1 };

/** Where the lines of a text begin. */
export const startsOf = (text) => fileOf(text).starts;

// ---- calls ----------------------------------------------------------------------------------------

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

// ---- blocks ---------------------------------------------------------------------------------------

/**
 * The blocks of a text. A node: {kind, word, head, from, to, parent, children}: kind: file, function, block, loop, branch, once
 * (FY_SCOPE), macro, plain; word: for, if ..., or the name of a function or macro; head: {from, to} of what its brackets hold, or null.
 */
function rootOf(file) {
  const { code } = file;
  if (file.root) return file.root;
  file.root = { kind: 'file', word: '', head: null, from: 0, to: code.length, parent: null, children: [] };
  for (let at = skip(code, 0); at < code.length;) at = skip(code, Math.max(at + 1, statement(code, at, file.root, 0)));
  return file.root;
}

// The innermost node that holds the letter at `place`.
function nodeAt(root, place) {
  let node = root;
  for (let next = node; next; next = childAt(node, place)) node = next;
  return node;
}

function childAt({ children }, place) {
  const one = children[firstIndex(children.length, (i) => children[i].to > place)];
  return one && one.from <= place ? one : null;
}

const skip = (clean, at) => {
  const space = /\s*/y;
  space.lastIndex = at;
  space.exec(clean);
  return space.lastIndex;
};

const KINDS = { for: 'loop', while: 'loop', do: 'loop', FY_TIMES: 'loop', FY_EACH: 'loop', if: 'branch', else: 'branch', switch: 'branch', FY_SCOPE: 'once', FY_STREAM: 'once' };

// Reads the statement that begins at `at` into `parent`; returns where it ends.
function statement(clean, at, parent, depth) {
  const name = /[A-Za-z_]\w*/y;
  name.lastIndex = at;
  const word = name.exec(clean)?.[0] ?? '';
  const node = { kind: Object.hasOwn(KINDS, word) ? KINDS[word] : 'plain', word, head: null, from: at, to: at, parent, children: [] };
  parent.children.push(node);
  if (depth > DEEPEST) node.to = ended(clean, at);
  else if (clean[at] === '{') block(clean, at, node, depth);
  else if (node.kind !== 'plain') headed(clean, at + word.length, node, depth);
  else other(clean, at, node, depth);
  return node.to;
}

function block(clean, at, node, depth) {
  if (node.kind === 'plain') node.kind = 'block';
  let next = skip(clean, at + 1);
  while (next < clean.length && clean[next] !== '}') next = skip(clean, Math.max(next + 1, statement(clean, next, node, depth + 1)));
  node.to = Math.min(clean.length, next + 1);
}

// for (...) x; else x; do x while (...);
function headed(clean, at, node, depth) {
  let next = skip(clean, at);
  if (clean[next] === '(') {
    const end = closing(clean, next);
    node.head = { from: next + 1, to: end };
    next = skip(clean, end + 1);
  }
  node.to = next < clean.length ? statement(clean, next, node, depth + 1) : next;
  if (node.word === 'do') node.to = ended(clean, node.to);
}

// A declaration or an expression; or a function's body, or a macro's, at its brace.
function other(clean, at, node, depth) {
  for (let i = at; i < clean.length; i++) {
    const c = clean[i];
    if (c === ';' || c === '}') {
      node.to = c === ';' ? i + 1 : i;
      return;
    }
    if (c === '(' || c === '[') i = closing(clean, i);
    else if (c === '{') {
      const before = clean.slice(at, i).trim();
      const name = /^[\w\s*]*?(\w+)\s*\(/.exec(before)?.[1] ?? '';
      if (!before.endsWith(')') && !/^[A-Z_]+$/.test(before)) i = closing(clean, i); // of a type or a value
      else {
        node.kind = node.parent.kind === 'file' ? 'function' : 'macro';
        node.word = name || before;
        const open = clean.indexOf('(', at);
        node.head = open >= 0 && open < i ? { from: open + 1, to: i } : null;
        block(clean, i, node, depth);
        return;
      }
    }
  }
  node.to = clean.length;
}

function ended(clean, at) {
  let i = at;
  for (; i < clean.length && clean[i] !== ';' && clean[i] !== '}'; i++) if ('([{'.includes(clean[i])) i = closing(clean, i);
  return Math.min(clean.length, clean[i] === ';' ? i + 1 : i);
}

// Where the bracket at `at` is closed; the text's last letter if it is not.
function closing(clean, at) {
  let depth = 0;
  for (let i = at; i < clean.length; i++) {
    depth += DEEPER[clean[i]] ?? 0;
    if (depth === 0) return i;
  }
  return clean.length - 1;
}

// ---- variables ------------------------------------------------------------------------------------

const pattern = (words) => words.trim().split(/\s+|(?<=\W)|(?=\W)/).map((one) => one.replace(/[^\w]/g, '\\$&')).join('\\s*');

// Where a line begins, and one after its end; a statement that goes on in further lines belongs to all of them.
function stretch(file, line) {
  const { code: clean, starts } = file;
  const root = rootOf(file);
  if (!(line > 0) || line > starts.length) return null;
  const first = nodeAt(root, skip(clean, starts[line - 1]));
  const from = first.kind === 'plain' ? Math.min(first.from, starts[line - 1]) : starts[line - 1];
  const end = starts[line] ?? clean.length;
  const last = nodeAt(root, end - 1);
  return [from, last.kind === 'plain' ? Math.max(last.to, end) : end];
}

const NO_TYPES = /^(?:return|goto|else|case|sizeof|typedef)\b/;

/** The block whose variable is called `name` in a line: {from, to, kind, declared: does the line declare it}; null where the text does not tell. */
export function scopeOf(text, line, name) {
  const file = fileOf(text);
  const key = `of ${line} ${name}`;
  if (!file.told.has(key)) file.told.set(key, declaring(file, placeOf(file, line, name), name));
  return file.told.get(key);
}

// Where a line gives the variable the result of a call, if it does so once; else where it names it.
function placeOf(file, line, name) {
  const range = stretch(file, line);
  if (!range) return 0;
  const words = file.code.slice(...range);
  const given = [...words.matchAll(new RegExp(`(?<![\\w.>\\]])${pattern(name)}\\s*=\\s*[A-Za-z_]\\w*\\s*\\(`, 'g'))];
  const all = [...words.matchAll(new RegExp(`\\b${pattern(name)}\\b`, 'g'))];
  return range[0] + ((given.length === 1 ? given[0] : all.at(-1))?.index ?? 0);
}

function declaring(file, place, name) {
  const clean = file.code;
  for (let node = nodeAt(rootOf(file), place); node; node = node.parent) {
    const own = node.kind === 'plain' ? [] : node.children.filter((one) => one.kind === 'plain' && one.from <= place);
    const { from, to, kind } = node;
    const one = own.findLast(({ from: at, to: end }) => declares(clean.slice(at, end), name));
    if (one) return { from, to, kind: clean.startsWith('static', one.from) ? 'file' : kind, declared: one.to > place };
    if (node.head && node.kind !== 'branch' && declares(clean.slice(node.head.from, node.head.to), name)) return { from, to, kind, declared: node.head.to > place };
  }
  return null;
}

// "fy_tensor *a = f(b), *c" declares a and c.
function declares(words, name) {
  if (!words.includes(name) || NO_TYPES.test(words.trim())) return false;
  const flat = words.replace(/\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[[^\]]*\]|\{[^{}]*\}/g, ' ');
  const parts = flat.split(/[,;)]/);
  const typed = (part) => new RegExp(`^\\s*(?:[A-Za-z_]\\w*[\\s*]+)+${name}\\s*(?:=|$)`).test(part);
  const more = (part) => new RegExp(`^\\s*\\**\\s*${name}\\s*(?:=|$)`).test(part);
  const isDeclaration = /^\s*(?:[A-Za-z_]\w*[\s*]+)+[A-Za-z_]\w*\s*(?:=|$)/.test(parts[0]);
  return parts.some(typed) || (isDeclaration && parts.slice(1).some(more));
}

/** May what the variable `name` of a block holds be kept elsewhere? Not where it is only assigned, and passed to functions. */
export function escapes(text, { from, to }, name) {
  const { code, told } = fileOf(text);
  const key = `kept ${from} ${to} ${name}`;
  if (told.has(key)) return told.get(key);
  const words = code.slice(from, to);
  const all = [...words.matchAll(new RegExp(`(?<![\\w.>])${name}\\b`, 'g'))];
  told.set(key, all.some(({ index }) => isKept(words, index, index + name.length)));
  return told.get(key);
}

function isKept(words, at, end) {
  let after = words.slice(end).trimStart();
  while (after[0] === '[') after = after.slice(closing(after, 0) + 1).trimStart();
  const before = words.slice(Math.max(0, at - 400), at).trimEnd();
  if (/^=(?!=)/.test(after)) return false;
  if (/[\w*]\s*\*$|^fy_tensor$/.test(before) && /^[;,)]/.test(after)) return false; // declared
  if (/&$/.test(before)) return true;
  return !(/^[,)]/.test(after) && isPassed(before));
}

// Is the nearest open bracket that of a call?
function isPassed(before) {
  let depth = 0;
  for (let i = before.length - 1; i >= 0; i--) {
    depth -= DEEPER[before[i]] ?? 0;
    if (depth < 0) return before[i] === '(' && /\b(?!(?:if|while|for|switch|return|sizeof)\b)[A-Za-z_]\w*\s*$/.test(before.slice(0, i));
    if (before[i] === ';') return false;
  }
  return false;
}
