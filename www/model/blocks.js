// blocks.js: the blocks of a C program's text: functions, loops, branches, and the statements in them. It tells which loop
// counts a variable and how, and in which block a variable is declared: where the text makes it sure. Pure.

import { cleanText } from './calls.js';
import { firstIndex } from './search.js';

const PARSED = 24; // texts whose blocks are kept
const DEEPEST = 100; // blocks in blocks: deeper ones are not looked at

const parsed = new Map(); // text -> what blocksOf() returns

/**
 * A text's blocks: {clean: the text without comments, strings and directives, starts: where its lines begin, root, defines:
 * its macros that are numbers, told: for who asks much}. A node: {kind, word, head, from, to, parent, children}: kind: file, function, block, loop, branch, once (FY_SCOPE), macro, plain;
 * word: for, if ..., or the name of a function or macro; head: {from, to} of what its brackets hold, or null.
 */
export function blocksOf(text) {
  if (!parsed.has(text)) {
    if (parsed.size >= PARSED) parsed.delete(parsed.keys().next().value);
    parsed.set(text, parse(text));
  }
  return parsed.get(text);
}

function parse(text) {
  const whole = cleanText(text);
  const clean = whole.replace(/^[ \t]*#(?:\\\r?\n|[^\n])*/gm, (all) => all.replace(/[^\n]/g, ' '));
  const starts = [0];
  for (let i = clean.indexOf('\n'); i >= 0; i = clean.indexOf('\n', i + 1)) starts.push(i + 1);
  const root = { kind: 'file', word: '', head: null, from: 0, to: clean.length, parent: null, children: [] };
  for (let at = skip(clean, 0); at < clean.length;) at = skip(clean, Math.max(at + 1, statement(clean, at, root, 0)));
  return { clean, starts, root, defines: definesIn(whole), told: new Map() };
}

// Macros that are numbers, each by all that it may be: [NaN] where something outside of the text may define it.
function definesIn(whole) {
  const all = new Map();
  for (const [, name, value] of whole.matchAll(/^[ \t]*#[ \t]*(?:define|ifndef|undef)[ \t]+(\w+)[ \t]*\(?(-?\d+)?\)?[ \t]*$/gm)) {
    all.set(name, [...(all.get(name) ?? []), value === undefined ? NaN : Number(value)]);
  }
  return all;
}

/** The innermost node that holds the letter at `place`. */
export function nodeAt(root, place) {
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

const DEEPER = { '(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1 };

// Where the bracket at `at` is closed; the text's last letter if it is not.
function closing(clean, at) {
  let depth = 0;
  for (let i = at; i < clean.length; i++) {
    depth += DEEPER[clean[i]] ?? 0;
    if (depth === 0) return i;
  }
  return clean.length - 1;
}

// ---- what a line assigns --------------------------------------------------------------------------

const pattern = (words) => words.trim().split(/\s+|(?<=\W)|(?=\W)/).map((one) => one.replace(/[^\w]/g, '\\$&')).join('\\s*');

/** Where a line begins, and one after its end; a statement that goes on in further lines belongs to all of them. */
function stretch({ clean, starts, root }, line) {
  if (!(line > 0) || line > starts.length) return null;
  const first = nodeAt(root, skip(clean, starts[line - 1]));
  const from = first.kind === 'plain' ? Math.min(first.from, starts[line - 1]) : starts[line - 1];
  const end = starts[line] ?? clean.length;
  const last = nodeAt(root, end - 1);
  return [from, last.kind === 'plain' ? Math.max(last.to, end) : end];
}

/** The one place where a line gives `name` the result of a call: {at, node, call, args}; null where there are more or none. */
export function assignment(blocks, line, name) {
  const range = stretch(blocks, line);
  if (!range || !name) return null;
  const { clean, root } = blocks;
  const find = new RegExp(`(?<![\\w.>\\]])${pattern(name)}\\s*=\\s*([A-Za-z_]\\w*)\\s*\\(`, 'g');
  find.lastIndex = range[0];
  const one = find.exec(clean);
  if (!one || one.index >= range[1]) return null;
  const args = clean.slice(find.lastIndex, closing(clean, find.lastIndex - 1));
  const again = find.exec(clean);
  if (again && again.index < range[1]) return null;
  return { at: one.index, node: nodeAt(root, one.index), call: one[1], args };
}

// ---- loops that count -----------------------------------------------------------------------------

/**
 * How a subscript's value follows from the number of times that its place was reached: {start, step, each, count}: after n
 * times, start + step * (floor((n - 1) / each) % count); count: Infinity where its loop is entered once. Null where the text
 * does not make it sure.
 */
export function subscript(blocks, { at, node }, words) {
  const [, name, sign = '+', by = '0'] = /^([A-Za-z_]\w*)\s*(?:([-+])\s*(\d+))?$/.exec(words.trim()) ?? [];
  if (!name) return null;
  let each = 1;
  for (let one = node; one && one.kind !== 'file'; one = one.parent) {
    const here = one.kind === 'loop' ? counted(blocks, one) : null;
    if (one.kind === 'branch' || one.kind === 'macro' || one.kind === 'function' || (one.kind === 'loop' && !here)) return null;
    if (one.kind === 'plain' && /[?]|&&|\|\|/.test(blocks.clean.slice(one.from, at))) return null;
    if (here && here.name !== name) each *= here.count;
    if (here?.name === name) {
      const once = isEnteredOnce(blocks, one);
      const isSure = each > 0 && Number.isFinite(each) && (once || (here.count > 0 && Number.isFinite(here.count) && !callsItself(blocks, one)));
      return isSure ? { start: here.start + Number(by) * (sign === '-' ? -1 : 1), step: here.step, each, count: once ? Infinity : here.count } : null;
    }
  }
  return null;
}

const NUMBER = '-?\\d+';

// for (int i = 0; i < 4; i++): {name, start, step, count}; count: Infinity where the text has no number. What leaves it early, leaves
// out turns or changes the variable itself makes it none.
function counted(blocks, node) {
  const { clean } = blocks;
  if (!node.head) return null;
  const head = clean.slice(node.head.from, node.head.to);
  const body = clean.slice(node.head.to, node.to);
  if (/\b(?:continue|goto|longjmp|setjmp)\b/.test(body)) return null;
  const made = node.word === 'FY_TIMES' ? timesOf(blocks, head) : node.word === 'for' ? forOf(blocks, head) : null;
  if (!made || isChanged(body, made.name)) return null;
  return /\b(?:break|return)\b/.test(body) ? { ...made, count: Infinity } : made;
}

function timesOf(blocks, head) {
  const [, name, end] = /^\s*([A-Za-z_]\w*)\s*,\s*(.+?)\s*$/s.exec(head) ?? [];
  const count = name ? valueOf(blocks, end) : null;
  return name ? { name, start: 0, step: 1, count: count === null ? Infinity : Math.max(0, count) } : null;
}

function forOf(blocks, head) {
  const [first = '', test = '', last = '', ...more] = head.split(';');
  const [, name, from] = /^\s*(?:[A-Za-z_][\w\s]*\s)?([A-Za-z_]\w*)\s*=\s*([^,]+?)\s*$/.exec(first) ?? [];
  const start = name && !more.length ? valueOf(blocks, from) : null;
  const step = start === null ? null : stepOf(blocks, name, last);
  if (!step) return null;
  const [, sign, end] = new RegExp(`^\\s*${name}\\s*(<=?|>=?|!=)\\s*([^&|?]+?)\\s*$`).exec(test) ?? [];
  const to = sign ? valueOf(blocks, end) : null;
  const length = to === null ? Infinity : ((to - start) * Math.sign(step) + (sign.endsWith('=') && sign !== '!=' ? 1 : 0)) / Math.abs(step);
  return { name, start, step, count: Math.max(0, Math.ceil(length)) };
}

function stepOf(blocks, name, words) {
  const forms = [[`${name}\\s*\\+\\+`, 1], [`\\+\\+\\s*${name}`, 1], [`${name}\\s*--`, -1], [`--\\s*${name}`, -1]];
  const plain = forms.find(([form]) => new RegExp(`^\\s*${form}\\s*$`).test(words));
  if (plain) return plain[1];
  const [, sign, by] = new RegExp(`^\\s*${name}\\s*(?:([-+])=|=\\s*${name}\\s*([-+]))\\s*(\\w+)\\s*$`).exec(words)?.filter(Boolean) ?? [];
  const value = sign ? valueOf(blocks, by) : null;
  return value === null ? null : value * (sign === '-' ? -1 : 1);
}

// A number, or what the text defines as one.
function valueOf({ clean, defines }, words) {
  if (new RegExp(`^${NUMBER}$`).test(words)) return Number(words);
  if (!/^[A-Za-z_]\w*$/.test(words)) return null;
  const found = [...clean.matchAll(new RegExp(`(?:\\bconst\\s+\\w+\\s+|\\benum\\s*\\w*\\s*\\{[^{}]*?\\b)${words}\\s*=\\s*(${NUMBER})\\b\\s*[;,}]`, 'g'))];
  const all = [...found.map((one) => Number(one[1])), ...(defines?.get(words) ?? [])];
  return all.length === 1 && Number.isFinite(all[0]) ? all[0] : null;
}

const isChanged = (body, name) => new RegExp(`(?<![\\w.>])${name}\\s*(?:\\+\\+|--|(?:<<|>>|[-+*/%&|^])?=(?!=))|(?:\\+\\+|--|(?<!&)&)\\s*${name}\\b|\\b[A-Za-z_]\\w*\\s+${name}\\s*[=;,]`).test(body);

// Does the program come to this loop once only?
function isEnteredOnce({ clean }, loop) {
  for (let one = loop.parent; one; one = one.parent) {
    if (one.kind === 'loop' || one.kind === 'macro') return false;
    if (one.kind === 'function') return one.word === 'main' && !/\b(?:goto|longjmp|setjmp)\b/.test(clean.slice(one.from, one.to));
  }
  return false;
}

function callsItself({ clean }, node) {
  let of = node;
  while (of.parent && of.kind !== 'function') of = of.parent;
  return of.kind !== 'function' || new RegExp(`\\b${of.word}\\s*\\(`).test(clean.slice(of.head?.to ?? of.from, of.to));
}

// ---- variables ------------------------------------------------------------------------------------

const KEYWORDS = /^(?:return|goto|else|case|sizeof|typedef)\b/;

/** The block whose variable is called `name` in a line: {from, to, kind, declared: does the line declare it}; null where the text does not tell. */
export function scopeOf(blocks, line, name) {
  const { told } = blocks;
  const key = `of ${line} ${name}`;
  if (!told.has(key)) told.set(key, declaring(blocks, placeOf(blocks, line, name), name));
  return told.get(key);
}

// Where a line gives the variable a value, else where it names it.
function placeOf(blocks, line, name) {
  const range = stretch(blocks, line);
  if (!range) return 0;
  const words = blocks.clean.slice(...range);
  const all = [...words.matchAll(new RegExp(`\\b${pattern(name)}\\b`, 'g'))];
  return assignment(blocks, line, name)?.at ?? range[0] + (all.at(-1)?.index ?? 0);
}

function declaring({ clean, root }, place, name) {
  for (let node = nodeAt(root, place); node; node = node.parent) {
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
  if (!words.includes(name) || KEYWORDS.test(words.trim())) return false;
  const flat = words.replace(/\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\[[^\]]*\]|\{[^{}]*\}/g, ' ');
  const parts = flat.split(/[,;)]/);
  const typed = (part) => new RegExp(`^\\s*(?:[A-Za-z_]\\w*[\\s*]+)+${name}\\s*(?:=|$)`).test(part);
  const more = (part) => new RegExp(`^\\s*\\**\\s*${name}\\s*(?:=|$)`).test(part);
  const isDeclaration = /^\s*(?:[A-Za-z_]\w*[\s*]+)+[A-Za-z_]\w*\s*(?:=|$)/.test(parts[0]);
  return parts.some(typed) || (isDeclaration && parts.slice(1).some(more));
}

/** May what the variable `name` of a block holds be kept elsewhere? Not where it is only assigned, and passed to functions. */
export function escapes(blocks, { from, to }, name) {
  const { clean, told } = blocks;
  const key = `kept ${from} ${to} ${name}`;
  if (told.has(key)) return told.get(key);
  const words = clean.slice(from, to);
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
