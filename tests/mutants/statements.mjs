// The statements of a lesson's main, found in its text: enough C for programs of lessons, which are formatted, have
// one main, and no goto, else or do.

/** The text with comments and what is inside quotes blanked: positions stay. */
export function masked(text) {
    return text.replace(/\/\/[^\n]*|\/\*[^]*?\*\/|"(?:\\.|[^"\\\n])*"/g,
        part => part[0] === '"' ? '"' + '_'.repeat(part.length - 2) + '"' : part.replace(/[^\n]/g, ' '));
}

/** The position of what closes the bracket at `open`. */
export function closing(code, open) {
    for (let i = open, depth = 0; i < code.length; i++) {
        if ('([{'.includes(code[i])) depth++;
        else if (')]}'.includes(code[i]) && --depth === 0) return i;
    }
    throw new Error(`nothing closes position ${open}`);
}

/** The arguments of the call whose parenthesis is at `open`, as [start, end) without blanks around. */
export function argumentsAt(code, open) {
    const end = closing(code, open), list = [];
    for (let i = open + 1, start = i, depth = 0; i <= end; i++) {
        if (i === end || (code[i] === ',' && !depth)) {
            const blank = code.slice(start, i).match(/^\s*/)[0].length;
            list.push([start + blank, start + code.slice(start, i).trimEnd().length]);
            start = i + 1;
        } else if ('([{'.includes(code[i])) depth++;
        else if (')]}'.includes(code[i])) depth--;
    }
    return list;
}

const HEAD = /^(?:(?:for|while|if|FY_TIMES|FY_STREAM|FY_DEVICE|FY_AUTOCAST)\s*\(|FY_NO_GRAD\b)/;

function statementAt(code, at) {
    const rest = code.slice(at), head = rest.match(HEAD);
    if (rest[0] === '{') return { start: at, end: closing(code, at) + 1, body: listIn(code, at + 1, closing(code, at)) };
    if (head) {
        const from = head[0].endsWith('(') ? closing(code, at + head[0].length - 1) + 1 : at + head[0].length;
        const inner = statementAt(code, from + code.slice(from).match(/^\s*/)[0].length);
        return { start: at, end: inner.end, head: [at, from], inner, body: inner.body ?? [inner], loop: /^(for|while|FY_TIMES)/.test(head[0]) };
    }
    for (let i = at, depth = 0; i < code.length; i++) {
        if ('([{'.includes(code[i])) depth++;
        else if (')]}'.includes(code[i])) depth--;
        else if (code[i] === ';' && !depth) return { start: at, end: i + 1, simple: true };
    }
    throw new Error(`the statement at ${at} does not end`);
}

function listIn(code, at, end) {
    const list = [];
    for (;;) {
        at += code.slice(at, end).match(/^\s*/)[0].length;
        if (at >= end) return list;
        list.push(statementAt(code, at));
        at = list.at(-1).end;
    }
}

/** The names that `fy_tensor *a = f(b, c), *d;` declares: a and d. */
function declaredBy(words) {
    if (!/^(?!return)\w+ [*\w]/.test(words)) return [];
    for (let before = ''; before !== words;) before = words, words = words.replace(/[([{][^()[\]{}]*[)\]}]/g, '');
    return [...words.matchAll(/(?:^\w+ |, )\**(\w+) ?(?==|,|;)/g)].map(m => m[1]);
}

/** Main's statements, nested ones in `body`; each knows its list, its loop, its names and whether it is between the marks. */
export function statementsOf(text) {
    const code = masked(text), brace = code.indexOf('{', code.indexOf('int main'));
    const marks = [text.indexOf('// --- your code ---'), text.indexOf('// --- end ---')], all = [];
    const enter = (list, loop) => list.forEach((s, place) => {
        const words = code.slice(s.start, s.end);
        Object.assign(s, { list, place, within: loop, yours: s.start > marks[0] && s.end <= marks[1] });
        s.declares = s.simple ? declaredBy(words) : [];
        s.names = new Set(words.match(/(?<![\w.])[a-z]\w*/g));
        s.given = /fy_given|fy_answer/.test(words);
        all.push(s);
        if (s.body) enter(s.body, s.loop ? s : loop);
    });
    enter(listIn(code, brace + 1, closing(code, brace)), null);
    return { code, all };
}
