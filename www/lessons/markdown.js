// markdown.js: a lesson's text as DOM nodes, for the subset of Markdown that the lessons use. Text is only
// set as textContent, never as HTML, so nothing in a lesson can become code.

import { highlight } from '../panes/highlight.js';

/** A fragment for `source`. Headings start at level 2, since the page has its own title. */
export function render(source) {
  const lines = String(source).replace(/\r/g, '').split('\n');
  const out = document.createDocumentFragment();
  let i = 0;
  while (i < lines.length) {
    const [block, next] = read(lines, i);
    if (block) out.append(block);
    i = next;
  }
  return out;
}

const make = (tag, ...children) => {
  const node = document.createElement(tag);
  node.append(...children);
  return node;
};

// Each reader returns [node or null, index of the first line after it].
function read(lines, i) {
  const line = lines[i];
  if (!line.trim()) return [null, i + 1];
  const heading = /^(#{1,4})\s+(.*)$/.exec(line);
  if (heading) return [make(`h${Math.min(6, heading[1].length + 1)}`, inline(heading[2])), i + 1];
  if (/^```/.test(line)) return fence(lines, i);
  if (/^ {4}/.test(line)) return indented(lines, i);
  if (/^\s*([-*]|\d+\.)\s+/.test(line)) return items(lines, i);
  if (/^>/.test(line)) return quote(lines, i);
  if (/^\|.*\|\s*$/.test(line) && /^\|[\s:|-]+\|\s*$/.test(lines[i + 1] ?? '')) return table(lines, i);
  if (/^(-{3,}|\*{3,})\s*$/.test(line)) return [make('hr'), i + 1];
  return paragraph(lines, i);
}

function fence(lines, i) {
  const language = lines[i].slice(3).trim();
  let end = i + 1;
  while (end < lines.length && !/^```/.test(lines[end])) end++;
  return [code(lines.slice(i + 1, end).join('\n'), language), end + 1];
}

function indented(lines, i) {
  let end = i;
  while (end < lines.length && (/^ {4}/.test(lines[end]) || (!lines[end].trim() && /^ {4}/.test(lines[end + 1] ?? '')))) end++;
  return [code(lines.slice(i, end).map((l) => l.slice(4)).join('\n'), ''), end];
}

function code(words, language) {
  const inner = make('code');
  if (language === 'c') inner.append(highlight(words));
  else inner.textContent = words;
  const block = make('pre', inner);
  if (language) block.dataset.language = language; // a block of some languages becomes something else (cost/fare.js)
  block.tabIndex = 0; // long lines can be scrolled by keyboard
  return block;
}

function items(lines, i) {
  const ordered = /^\s*\d+\./.test(lines[i]);
  const marker = /^\s*([-*]|\d+\.)\s+/;
  const found = [];
  while (i < lines.length && lines[i].trim()) {
    if (marker.test(lines[i])) found.push(lines[i].replace(marker, ''));
    else if (/^\s/.test(lines[i]) && found.length) found[found.length - 1] += ` ${lines[i].trim()}`;
    else break;
    i++;
  }
  return [make(ordered ? 'ol' : 'ul', ...found.map((words) => make('li', inline(words)))), i];
}

function quote(lines, i) {
  let end = i;
  while (end < lines.length && /^>/.test(lines[end])) end++;
  return [make('blockquote', render(lines.slice(i, end).map((l) => l.replace(/^>\s?/, '')).join('\n'))), end];
}

function table(lines, i) {
  const cells = (line) => line.trim().slice(1, -1).split('|').map((c) => c.trim());
  const row = (tag, line) => make('tr', ...cells(line).map((c) => make(tag, inline(c))));
  let end = i + 2;
  while (end < lines.length && /^\|/.test(lines[end])) end++;
  const body = lines.slice(i + 2, end).map((line) => row('td', line));
  return [make('table', make('thead', row('th', lines[i])), make('tbody', ...body)), end];
}

function paragraph(lines, i) {
  let end = i + 1;
  while (end < lines.length && lines[end].trim() && !/^(#|```|>|\s*[-*]\s|\s*\d+\.\s)/.test(lines[end])) end++;
  return [make('p', inline(lines.slice(i, end).join(' '))), end];
}

const MARKS = /(`+)(.+?)\1|\*\*(.+?)\*\*|\*([^*\s][^*]*?)\*|_([^_\s][^_]*?)_(?![A-Za-z0-9])|\[([^\]]+)\]\(([^)\s]+)\)/g;

function inline(words) {
  const out = document.createDocumentFragment();
  let last = 0;
  for (const m of words.matchAll(MARKS)) {
    if (m[5] !== undefined && /\w/.test(words[m.index - 1] ?? '')) continue; // a_name_here is not emphasis
    out.append(words.slice(last, m.index), mark(m));
    last = m.index + m[0].length;
  }
  out.append(words.slice(last));
  return out;
}

function mark([, , code, strong, em, em2, label, href]) {
  if (code !== undefined) return make('code', code);
  if (strong !== undefined) return make('strong', inline(strong));
  if (em !== undefined || em2 !== undefined) return make('em', inline(em ?? em2));
  if (!/^https?:\/\//.test(href)) return make('span', label);
  const link = make('a', label);
  link.href = href;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  return link;
}
