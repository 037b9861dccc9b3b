// highlight.js: C syntax highlighting by regular expressions, without parsing.

const TOKENS = new RegExp([
  String.raw`(?<comment>\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*)`,
  String.raw`(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|<[\w./]+\.h>)`,
  String.raw`(?<word>#\s*\w+|\b(?:int|void|char|float|double|long|const|static|unsigned|bool|for|while|do|if|else|return|struct|break|continue|true|false|NULL|int64_t|fy_tensor(?=\s*\*)|FY_SCOPE)\b)`,
  String.raw`(?<call>\bfy_\w+(?=\s*\())`,
  String.raw`(?<number>\b\d[\w.]*\b)`,
].join('|'), 'g');

/** A fragment with a span for each coloured token. */
export function highlight(code) {
  const out = document.createDocumentFragment();
  let last = 0;
  for (const found of code.matchAll(TOKENS)) {
    out.append(code.slice(last, found.index));
    const span = document.createElement('span');
    span.className = `c-${Object.keys(found.groups).find((key) => found.groups[key] !== undefined)}`;
    span.textContent = found[0];
    out.append(span);
    last = found.index + found[0].length;
  }
  out.append(code.slice(last));
  return out;
}

/** The same as one fragment per line: a comment of several lines keeps its colour in each. */
export function highlightLines(code) {
  const lines = [document.createDocumentFragment()];
  for (const node of [...highlight(code).childNodes]) {
    node.textContent.split('\n').forEach((words, i) => {
      if (i) lines.push(document.createDocumentFragment());
      if (!words) return;
      const piece = node.cloneNode(false);
      piece.textContent = words;
      lines.at(-1).append(piece);
    });
  }
  return lines;
}
