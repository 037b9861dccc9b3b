// text.js: a lesson's text as DOM nodes. The server sends HTML that cmark made in its safe mode; here only what a text
// needs is kept of it, so that nothing in a lesson can become code, whoever sent it.

import { highlight } from '../panes/highlight.js';

const KEPT = new Set(['H2', 'H3', 'H4', 'H5', 'H6', 'P', 'UL', 'OL', 'LI', 'PRE', 'CODE', 'EM', 'STRONG', 'BLOCKQUOTE', 'HR', 'BR', 'A']);

/** A fragment for `html`. An element that is not kept leaves its text. */
export function render(html) {
  const out = document.createDocumentFragment();
  copy(new DOMParser().parseFromString(String(html), 'text/html').body, out);
  return out;
}

function copy(from, to) {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) to.append(node.data);
    else if (node.nodeType === Node.ELEMENT_NODE) element(node, to);
  }
}

function element(node, to) {
  const href = node.nodeName === 'A' ? node.getAttribute('href') ?? '' : '';
  if (!KEPT.has(node.nodeName) || (node.nodeName === 'A' && !/^https?:\/\//.test(href))) return copy(node, to);
  const made = document.createElement(node.nodeName);
  if (href) Object.assign(made, { href, target: '_blank', rel: 'noopener noreferrer' });
  if (node.className === 'language-c') made.append(highlight(node.textContent.replace(/\n$/, '')));
  else copy(node, made);
  if (node.nodeName === 'PRE') {
    made.tabIndex = 0; // long lines can be scrolled by keyboard
    const language = /^language-([\w-]+)/.exec(node.firstElementChild?.className ?? '')?.[1];
    if (language) made.dataset.language = language; // a block of some languages becomes something else (cost/)
  }
  return to.append(made);
}
