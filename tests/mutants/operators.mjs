// The ways to change a program: each operator takes a statement and yields edits, {at, end, text} lists that replace
// parts of the program's text. They work on the text alone, so not every result compiles.
import { argumentsAt, closing } from './statements.mjs';

const cut = s => [{ at: s.start, end: s.end, text: '' }];
const put = (at, text) => ({ at, end: at, text });
const inside = (p, s) => ({ code: p.code.slice(s.start, s.end), text: p.text.slice(s.start, s.end) });

/** Every match of a pattern in the statement's code, its position that of the program. */
function* found(p, s, pattern, where = 'code') {
    for (const m of inside(p, s)[where].matchAll(pattern)) yield Object.assign(m, { at: s.start + m.index });
}
/** Every call of one of these functions: its position, that of its parenthesis, and its arguments. */
function* calls(p, s, names) {
    for (const m of found(p, s, new RegExp(`\\b(${names})\\(`, 'g'))) {
        const open = m.at + m[1].length;
        yield { name: m[1], at: m.at, open, end: closing(p.code, open) + 1, args: argumentsAt(p.code, open) };
    }
}
function* replaced(p, s, table, where = 'code') {
    for (const [from, to] of table)
        for (const m of found(p, s, from, where)) yield [{ at: m.at, end: m.at + m[0].length, text: to }];
}

const WAITS = /^fy_(cuda_synchronize|stream_(synchronize|wait_stream|wait_event)|event_(synchronize|record)|record_stream)\b/;
const TWICE = /^fy_(to|cpu|cuda|pin_memory|clone|copy_|step|backward|add_|mul_|relu_|cuda_synchronize|stream_synchronize|mark|item|set|free)$/;
const wordsOf = (p, s) => p.code.slice(s.start, s.end);
const usedOutside = (p, s) => s.declares.some(name => p.all.some(o => o !== s && o.simple && o.names.has(name)));
/** The tensor that a statement makes or sets, and whether it is in CPU RAM. */
function madeBy(p, s) {
    if (!s.simple) return null;
    const m = wordsOf(p, s).match(/^(?:fy_tensor \*)?([a-z]\w*) = (?!NULL)|^fy_\w+_\((?:fy_\w+_\()*(\w+)[,)]/);
    if (!m || (m[1] && !/fy_/.test(wordsOf(p, s)))) return null;
    const name = m[1] ?? m[2];
    return p.tensors.has(name) ? { name, home: m[1] ? isHome(p, s) : p.home.has(name) } : null;
}
/** Is what the statement's call returns in CPU RAM? As its text says, or as its operands are. */
export function isHome(p, s) {
    const text = p.text.slice(s.start, s.end), device = text.match(/"(cpu|cuda)[:\d]*"[^"]*;$/)?.[1];
    if (/= fy_(cpu|pin_memory)\(/.test(text) || device) return device !== 'cuda';
    return !/fy_cuda\(/.test(text) && ![...s.names].some(name => p.tensors.has(name) && !s.declares.includes(name) && !p.home.has(name));
}

function* dropCall(p, s, names) {
    for (const c of calls(p, s, names))
        if (c.args.length && c.args[0][1] > c.args[0][0]) yield [{ at: c.at, end: c.end, text: p.text.slice(...c.args[0]) }];
}
const before = (p, s, with_, text) => { // two neighbours, in the other order
    const between = p.text.slice(s.end, with_.start);
    return [{ at: s.start, end: with_.end, text: p.text.slice(with_.start, with_.end) + between + text }];
};
const neighbour = s => s.list[s.place + 1];
const independent = (a, b) => !a.declares.some(name => b.names.has(name));

/** In a statement on trial, any experiment that shows it counts: there, what only adds to the solution's is no mistake. */
export const onTrial = new Set(['drop-copy', 'swap-device', 'drop-option', 'delete', 'original', 'claim', 'in-place', 'swap-arguments']);

export const operators = {
    *'drop-copy'(p, s) { yield* dropCall(p, s, 'fy_to|fy_cpu|fy_cuda|fy_pin_memory|fy_clone'); },
    *'drop-wait'(p, s) { if (s.simple && WAITS.test(wordsOf(p, s))) yield cut(s); },
    *'swap-device'(p, s) {
        yield* replaced(p, s, [[/"cuda"/g, '"cpu"'], [/"cpu"/g, '"cuda"'], [/"cuda:0"/g, '"cuda:1"'], [/"cuda:1"/g, '"cuda:0"'],
            [/\bfy_cpu(?=\()/g, 'fy_cuda'], [/\bfy_cuda(?=\()/g, 'fy_cpu'], [/fy_cuda_(current|default)_stream\(\)/g, 'fy_cuda_stream()']], 'text');
    },
    *'insert-item'(p, s) {
        const made = madeBy(p, s);
        if (made && !made.home) yield [put(s.end, ` fy_item(fy_sum(${made.name}));`)];
    },
    *'drop-option'(p, s) {
        for (const m of found(p, s, /, (\.\w+) = [^,()]+(?=[,)])/g)) yield [{ at: m.at, end: m.at + m[0].length, text: '' }];
    },
    *'delete'(p, s) { if (!s.given && !WAITS.test(wordsOf(p, s)) && !/^printf/.test(wordsOf(p, s)) && (!s.simple || !usedOutside(p, s))) yield cut(s); },
    *'round-trip'(p, s) {
        const made = madeBy(p, s), [there, back] = made?.home ? ['cuda', 'cpu'] : ['cpu', 'cuda'];
        if (made) yield [put(s.end, ` ${made.name} = fy_to(fy_to(${made.name}, "${there}"), "${back}");`)];
    },
    *'into-loop'(p, s) {
        const next = neighbour(s);
        if (!s.simple || !next?.loop) return;
        const body = next.inner.body ? next.inner : next.inner.inner?.body && !next.inner.inner.simple ? next.inner.inner : next.inner;
        const text = p.text.slice(s.start, s.end);
        if (body.body && !body.loop) yield [...cut(s), put(body.start + 1, ' ' + text)];
        else yield [...cut(s), put(body.start, `{ ${text} `), put(body.end, ' }')];
    },
    *'out-of-loop'(p, s) {
        const own = s.within && [...s.names].some(name => p.all.some(o => o.within === s.within && o !== s && o.declares.includes(name)) ||
            wordsOf(p, { start: s.within.head[0], end: s.within.head[1] }).match(new RegExp(`\\b${name}\\b`)));
        if (!s.simple || !s.within || own) return;
        const text = p.text.slice(s.start, s.end), lone = s.list.length === 1 ? [{ at: s.start, end: s.end, text: ';' }] : cut(s);
        yield [...lone, put(s.within.end, ' ' + text)];
        if (s.list.length > 1) yield [put(s.within.start, text + ' '), ...cut(s)];
    },
    *'drop-scope'(p, s) {
        if (s.head && !s.loop) yield [{ at: s.head[0], end: s.head[1], text: '' }];
        yield* dropCall(p, s, 'fy_detach|fy_contiguous|fy_no_grad');
    },
    *'in-place'(p, s) { // what is read again is overwritten; or the result of a call that wrote in place is lost
        for (const c of s.simple ? calls(p, s, 'fy_(?:add|mul|sub|relu|tanh)_?') : []) {
            const first = p.code.slice(...(c.args[0] ?? [0, 0])), sets = new RegExp(`^${first} = |^fy_set\\(&${first}\\b`).test(wordsOf(p, s));
            const again = !sets && p.all.some(o => o.simple && o.start > s.end && o.names.has(first));
            if (c.name.endsWith('_') || again) yield [{ at: c.at, end: c.open, text: c.name.endsWith('_') ? c.name.slice(0, -1) : `${c.name}_` }];
        }
    },
    *'original'(p, s) { // what a copy or a result was made from, in its place
        for (const m of found(p, s, /(?<![\w.>&*])[a-z]\w*(?!\w*\()/g)) {
            const from = p.origin.get(m[0]);
            if (from && p.all.find(o => o.declares.includes(m[0])) !== s && !s.body)
                yield [{ at: m.at, end: m.at + m[0].length, text: from }];
        }
    },
    *'swap-arguments'(p, s) {
        for (const c of calls(p, s, 'fy_(?:sub|matmul|copy_|div|lt|stream_wait_stream|add_|mul_)')) {
            const [a, b] = c.args;
            if (s.body || !b || p.text.slice(...a) === p.text.slice(...b)) continue;
            yield [{ at: a[0], end: b[1], text: p.text.slice(...b) + p.text.slice(a[1], b[0]) + p.text.slice(...a) }];
        }
    },
    *'other-call'(p, s) {
        if (s.body) return;
        yield* replaced(p, s, [[/\bfy_relu(?=_?\()/g, 'fy_abs'], [/\bfy_mean(?=\()/g, 'fy_sum'], [/\bfy_sum(?=\()/g, 'fy_mean'],
            [/\bfy_mul(?=_?\()/g, 'fy_add'], [/\bfy_sub(?=_?\()/g, 'fy_add'], [/\bfy_zeros(?=\()/g, 'fy_ones'], [/\bfy_ones(?=\()/g, 'fy_zeros'],
            [/\bfy_max(?=\()/g, 'fy_min'], [/\bfy_abs(?=\()/g, 'fy_relu'], [/\bfy_tanh(?=\()/g, 'fy_exp'], [/\bfy_randn(?=\()/g, 'fy_rand'],
            [/\bfy_eval(?=\()/g, 'fy_train'], [/\bfy_buffer(?=\()/g, 'fy_parameter'], [/\bfy_zeros_like(?=\()/g, 'fy_ones_like'],
            [/\bFY_FLOAT32\b/g, 'FY_FLOAT64'], [/\bFY_UINT8\b/g, 'FY_INT64'], [/\btrue(?=\))/g, 'false']]);
    },
    *'claim'(p, s) { if (s.simple) yield* replaced(p, s, [[/"true"/g, '"false"'], [/"false"/g, '"true"']], 'text'); },
    *'number'(p, s) {
        for (const m of found(p, s, /(?<![\w.])(?:\d+\.\d+|\d+)(?![\w.])/g)) {
            if (s.body && m.at >= s.head?.[1]) continue;
            const is = Number(m[0]);
            yield [{ at: m.at, end: m.at + m[0].length, text: m[0].includes('.') ? String(is * 2 || 1) + (is * 2 % 1 ? '' : '.0') : String(is + 1) }];
        }
    },
    *'swap'(p, s) {
        const next = neighbour(s);
        if (next && !s.given && !next.given && s.yours === next.yours && independent(s, next)) yield before(p, s, next, p.text.slice(s.start, s.end));
    },
    *'again'(p, s) { // what costs or changes something twice
        const m = wordsOf(p, s).match(/^(?:fy_tensor \**)?(?:\w+ = )?(?=(fy_\w+)\()/);
        if (s.simple && !s.given && TWICE.test(m?.[1]) && s.declares.length < 2)
            yield [put(s.end, ' ' + p.text.slice(s.start + (s.declares.length ? m[0].length : 0), s.end))];
    },
};
