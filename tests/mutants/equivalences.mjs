// Other ways to write a solution that give the same values, to the bit or to rounding. A table: what is made of a tensor
// (`made`, the body of a C function of t), what takes the place of a call, and what takes the place of a statement. What a way
// costs more than the solution is its own; no check but that of a budget may notice it.
import { argumentsAt, closing } from './statements.mjs';
import { isHome } from './operators.mjs';

const PIECES = (dim, size) => `fy_tensor *a = fy_narrow(t, ${dim}, 0, ${size}), *b = fy_narrow(t, ${dim}, ${size}, fy_size(t, ${dim}) - ${size});
    fy_tensor *r = fy_cat((a, b), ${dim});
    fy_free(a), fy_free(b);
    return r;`;

/** The same elements, put elsewhere: nothing is computed, so that it may be done in either memory. */
export const moved = {
    'clone': 'return fy_clone(t);',
    'cat-first': PIECES(0, 1),
    'cat-halves': PIECES(0, 'fy_size(t, 0) / 2'),
    'cat-last': PIECES(0, '(fy_size(t, 0) - 1)'),
    'cat-columns': PIECES('(fy_dim(t) - 1)', 1),
    'cat-with-nothing': PIECES(0, 'fy_size(t, 0)'),
    'cat-row-by-row': `fy_tensor *r = fy_narrow(t, 0, 0, 1);
    for (int64_t i = 1, n = fy_size(t, 0), size; i < n; i += size) {
        size = i < 8 ? 1 : n - i;
        fy_tensor *row = fy_narrow(t, 0, i, size), *more = fy_cat((r, row), 0);
        fy_free(r), fy_free(row);
        r = more;
    }
    return fy_size(t, 0) > 1 ? r : fy_clone(t);`,
    'stack': `fy_tensor *two = fy_stack((t, t), 0), *r = fy_select(two, 0, 1);
    fy_free(two);
    return r;`,
    'stack-columns': `fy_tensor *two = fy_stack((t, t), 1), *r = fy_select(two, 1, 0);
    fy_free(two);
    return r;`,
    'split-and-cat': `int64_t size = (fy_size(t, 0) + 1) / 2;
    fy_tensors p = fy_split(t, size, 0);
    if (p.n < 2) return fy_clone(t);
    fy_tensor *r = fy_cat((p.at[0], p.at[1]), 0);
    fy_free(p.at[0]), fy_free(p.at[1]);
    return r;`,
    'chunk-and-cat': `fy_tensors p = fy_chunk(t, 2, fy_dim(t) - 1);
    if (p.n < 2) return fy_clone(t);
    fy_tensor *r = fy_cat((p.at[0], p.at[1]), fy_dim(t) - 1);
    fy_free(p.at[0]), fy_free(p.at[1]);
    return r;`,
    'copy-into-rows': `fy_tensor *r = fy_empty_like(t), *to = fy_narrow(r, 0, 0, 1), *from = fy_narrow(t, 0, 0, 1);
    fy_copy_(to, from), fy_free(to), fy_free(from);
    to = fy_narrow(r, 0, 1, fy_size(t, 0) - 1), from = fy_narrow(t, 0, 1, fy_size(t, 0) - 1);
    fy_copy_(to, from), fy_free(to), fy_free(from);
    return r;`,
    'copy-into-a-part': `fy_tensor *two = fy_stack((t, t), 0), *r = fy_select(two, 0, 1);
    fy_copy_(r, t);
    fy_free(two);
    return r;`,
    'turned': `if (fy_dim(t) != 2) return fy_clone(t);
    fy_tensor *a = fy_t(t), *b = fy_contiguous(a), *r = fy_t(b);
    if (b != a) fy_free(b);
    fy_free(a);
    return r;`,
};

/** The same elements, by way of an operation: where the tensor is, if that is the card. */
export const computed = {
    'where': `fy_tensor *all = fy_eq(t, t), *none = fy_zeros_like(t), *r = fy_where(all, t, none);
    fy_free(all), fy_free(none);
    return r;`,
    'repeat': `fy_tensor *more = fy_dim(t) == 1 ? fy_repeat(t, (2)) : fy_dim(t) == 2 ? fy_repeat(t, (2, 1)) : NULL;
    fy_tensor *r = more ? fy_narrow(more, 0, 0, fy_size(t, 0)) : fy_clone(t);
    fy_free(more);
    return r;`,
    'index-select': `fy_tensor *all = fy_arange((fy_size(t, 0)), .device = fy_device(t)), *r = fy_index_select(t, 0, all);
    fy_free(all);
    return r;`,
    'times-one': 'return fy_mul(t, 1);',
    'plus-nothing': 'return fy_add(t, 0);',
    'times-one-in-place': 'return fy_mul_(fy_clone(t), 1);',
    'larger-of-itself': 'return fy_maximum(t, t);',
    'masked': `fy_tensor *none = fy_ne(t, t), *r = fy_masked_fill(t, none, 0);
    fy_free(none);
    return r;`,
};

/** What takes the place of relu, mean and matmul, of a copy to the card: [call, number of arguments, body of a function]. */
export const functions = {
    'relu-by-rows': ['fy_relu', 1, `if (fy_dim(a) < 1 || fy_size(a, 0) < 2) return fy_relu(a);
    fy_tensor *first = fy_narrow(a, 0, 0, 1), *others = fy_narrow(a, 0, 1, fy_size(a, 0) - 1), *x = fy_relu(first), *y = fy_relu(others);
    fy_tensor *r = fy_cat((x, y), 0);
    fy_free(first), fy_free(others), fy_free(x), fy_free(y);
    return r;`],
    'relu-in-place': ['fy_relu', 1, 'return fy_relu_(fy_clone(a));'],
    'relu-twice': ['fy_relu', 1, `fy_tensor *x = fy_relu(a), *r = fy_relu(x);
    fy_free(x);
    return r;`],
    'relu-by-clamp': ['fy_relu', 1, 'return fy_clamp_min(a, 0);'],
    'relu-by-where': ['fy_relu', 1, `fy_tensor *up = fy_gt(a, 0), *none = fy_zeros_like(a), *r = fy_where(up, a, none);
    fy_free(up), fy_free(none);
    return r;`],
    'relu-by-maximum': ['fy_relu', 1, `fy_tensor *none = fy_zeros_like(a), *r = fy_maximum(a, none);
    fy_free(none);
    return r;`],
    'mean-by-sum': ['fy_mean', 1, `fy_tensor *x = fy_sum(a), *r = fy_div(x, (double)fy_numel(a));
    fy_free(x);
    return r;`],
    'sum-by-mean': ['fy_sum', 1, `fy_tensor *x = fy_mean(a), *r = fy_mul(x, (double)fy_numel(a));
    fy_free(x);
    return r;`],
    'matmul-turned': ['fy_matmul', 2, `if (fy_dim(a) != 2 || fy_dim(b) != 2) return fy_matmul(a, b);
    fy_tensor *x = fy_t(b), *y = fy_t(a), *z = fy_matmul(x, y), *r = fy_t(z);
    fy_free(x), fy_free(y), fy_free(z);
    return r;`],
    'matmul-by-rows': ['fy_matmul', 2, `if (fy_dim(a) != 2 || fy_size(a, 0) < 2) return fy_matmul(a, b);
    fy_tensor *first = fy_narrow(a, 0, 0, 1), *others = fy_narrow(a, 0, 1, fy_size(a, 0) - 1), *x = fy_matmul(first, b), *y = fy_matmul(others, b);
    fy_tensor *r = fy_cat((x, y), 0);
    fy_free(first), fy_free(others), fy_free(x), fy_free(y);
    return r;`],
    'tanh-by-rows': ['fy_tanh', 1, `fy_tensor *first = fy_narrow(a, 0, 0, 1), *others = fy_narrow(a, 0, 1, fy_size(a, 0) - 1), *x = fy_tanh(first), *y = fy_tanh(others);
    fy_tensor *r = fy_cat((x, y), 0);
    fy_free(first), fy_free(others), fy_free(x), fy_free(y);
    return r;`],
    'abs-by-relu': ['fy_abs', 1, `fy_tensor *down = fy_neg(a), *x = fy_relu(a), *y = fy_relu(down), *r = fy_add(x, y);
    fy_free(down), fy_free(x), fy_free(y);
    return r;`],
    'mse-by-mean': ['fy_mse_loss', 2, `fy_tensor *off = fy_sub(a, b), *square = fy_mul(off, off), *r = fy_mean(square);
    fy_free(off), fy_free(square);
    return r;`],
};

// ---- where they apply

const TENSORS = 'add|sub|mul|div|matmul|relu|mean|sum|abs|tanh|max|where|lt|zeros_like|index_select|mse_loss|cat|full|ones|zeros|randn|arange|to|cuda|cpu|call|select|narrow|unsqueeze|clone';
const OPERANDS = 'add|sub|mul|div|matmul|relu|mean|sum|abs|tanh|max|where|lt|index_select|mse_loss|to|cuda|cpu|narrow|select|unsqueeze|answer|print|call';
const MAY_BE_ITS_ARGUMENT = /^fy_(to|cuda|cpu)$/;

function* calls(p, s, names) {
    for (const m of p.code.slice(s.start, s.end).matchAll(new RegExp(`(?<!\\w)fy_(${names})\\(`, 'g'))) {
        const at = s.start + m.index, open = at + m[0].length - 1;
        yield { name: `fy_${m[1]}`, at, open, end: closing(p.code, open) + 1, args: argumentsAt(p.code, open) };
    }
}
const textOf = (p, [from, to]) => p.text.slice(from, to);
/** Is the tensor in CPU RAM before the statement? As what set it last, in the order of the text. */
function isAtHome(p, name, s) {
    const set = p.all.filter(o => o.simple && o.start < s.start && new RegExp(`(^|[*, (&])${name}(,| =)`).test(p.code.slice(o.start, o.end).split(' = ')[0] + ' =')).at(-1);
    return set ? isHome(p, set) : p.home.has(name);
}
/** Is the expression on the card for sure? */
const onCard = (p, from, to, s) => {
    const code = p.code.slice(from, to), text = p.text.slice(from, to), names = code.match(/(?<![\w.])[a-z]\w*(?!\w*\()/g) ?? [];
    if (/^fy_cuda\(|"cuda[:\d]*"[^"]*\)$|^fy_call\(/.test(text)) return true;
    if (/^fy_cpu\(|"cpu"[^"]*\)$/.test(text)) return false;
    return names.some(name => p.tensors.has(name)) && names.every(name => !p.tensors.has(name) || !isAtHome(p, name, s));
};
/** Page-locked, not there yet, without values or a leaf: then it matters which tensor it is. */
const loose = (p, text) => /non_blocking|pin_memory|fy_empty\(|requires_grad/.test(text) || [...p.locked].some(name => new RegExp(`\\b${name}\\b`).test(text));

function* wrapped(p, s, name) {
    if (!s.simple || /^(return|printf)/.test(p.code.slice(s.start, s.end))) return;
    const written = targets(p, s), isWritten = at => written.some(([from, to]) => from <= at && at < to);
    for (const c of calls(p, s, TENSORS)) {
        if (isWritten(c.at) || loose(p, p.text.slice(c.at, c.end)) || (s.given && !/^fy_tensor/.test(p.code.slice(s.start)))) continue;
        if (computed[name] && !onCard(p, c.at, c.end, s)) continue;
        const temporary = !MAY_BE_ITS_ARGUMENT.test(c.name);
        yield [{ at: c.at, end: c.at, text: temporary ? 'same_of(' : 'same(' }, { at: c.end, end: c.end, text: ')' }];
    }
    for (const c of calls(p, s, OPERANDS))
        for (const a of c.args) {
            const text = textOf(p, a);
            if (isWritten(a[0]) || !/^[a-z]\w*$/.test(text) || !p.tensors.has(text) || loose(p, text)) continue;
            if (computed[name] && !onCard(p, ...a, s)) continue;
            yield [{ at: a[0], end: a[1], text: `same(${text})` }];
        }
}
/** The targets of the statement's operations in place. */
const targets = (p, s) => [...calls(p, s, '\\w+_')].map(c => c.args[0]);
const FUNCTION = (name, parameters, body) => `static fy_tensor *${name}(${parameters.map(x => `fy_tensor *${x}`).join(', ')})\n{\n    ${body}\n}\n`;
const put = (p, c) => { const at = p.code.search(/^(typedef struct|static|int main)/m); return { at, end: at, text: c + '\n' }; };

/** Each way by its name: (program, statement) gives the edits of each place. */
export const equivalences = Object.fromEntries([
    ...Object.entries({ ...moved, ...computed }).map(([name, body]) => [name, function* (p, s) {
        const none = ['fy_dim(t) < 1', 'fy_size(t, 0) < 1', ...(computed[name] ? ['fy_dtype_of(t) == FY_BOOL'] : [])].join(' || ');
        const c = FUNCTION('same', ['t'], `if (${none}) return fy_clone(t);\n    ${body}`) +
            'static __attribute__((unused)) fy_tensor *same_of(fy_tensor *t)\n{\n    fy_tensor *r = same(t);\n    fy_free(t);\n    return r;\n}\n';
        for (const edits of wrapped(p, s, name)) yield [put(p, c.replace('static fy', 'static __attribute__((unused)) fy')), ...edits];
    }]),
    ...Object.entries(functions).map(([name, [call, count, body]]) => [name, function* (p, s) {
        if (!s.simple) return;
        for (const c of calls(p, s, call.slice(3)))
            if (c.args.length === count) yield [put(p, FUNCTION('as_well', ['a', 'b'].slice(0, count), body)), { at: c.at, end: c.open, text: 'as_well' }];
    }]),
    ['other-order', function* (p, s) { // of two operands
        if (!s.simple) return;
        for (const c of calls(p, s, 'add|mul'))
            if (c.args.length === 2) yield [{ at: c.args[0][0], end: c.args[1][1], text: `${textOf(p, c.args[1])}, ${textOf(p, c.args[0])}` }];
    }],
    ['less-the-opposite', function* (p, s) {
        if (!s.simple) return;
        for (const c of calls(p, s, 'add'))
            if (c.args.length === 2 && /^-?[\d.]+$/.test(textOf(p, c.args[1]))) yield [{ at: c.at, end: c.end, text: `fy_sub(${textOf(p, c.args[0])}, -(${textOf(p, c.args[1])}))` }];
    }],
    ['over-the-inverse', function* (p, s) {
        if (!s.simple) return;
        for (const c of calls(p, s, 'mul'))
            if (c.args.length === 2 && /^-?[\d.]+$/.test(textOf(p, c.args[1]))) yield [{ at: c.at, end: c.end, text: `fy_div(${textOf(p, c.args[0])}, 1.0 / ${textOf(p, c.args[1])})` }];
    }],
    ['one-for-two', function* (p, s) { // a * number + b
        if (!s.simple) return;
        for (const c of calls(p, s, 'add')) {
            const inner = p.code.slice(...(c.args[0] ?? [0, 0])).match(/^fy_mul\(/) && argumentsAt(p.code, c.args[0][0] + 6);
            if (c.args.length === 2 && inner && /^-?[\d.]+$/.test(textOf(p, inner[1])))
                yield [{ at: c.at, end: c.end, text: `fy_add(${textOf(p, c.args[1])}, ${textOf(p, inner[0])}, ${textOf(p, inner[1])})` }];
        }
    }],
    ['square-by-pow', function* (p, s) {
        if (!s.simple) return;
        for (const c of calls(p, s, 'mul'))
            if (c.args.length === 2 && textOf(p, c.args[0]) === textOf(p, c.args[1])) yield [{ at: c.at, end: c.end, text: `fy_pow(${textOf(p, c.args[0])}, 2)` }];
    }],
    ['in-place', function* (p, s) { // in the memory of a copy
        if (!s.simple) return;
        for (const c of calls(p, s, 'add|mul|sub'))
            if (c.args.length === 2 && /^-?[\d.]+$/.test(textOf(p, c.args[1]))) yield [{ at: c.open, end: c.open, text: '_' }, { at: c.args[0][0], end: c.args[0][1], text: `fy_clone(${textOf(p, c.args[0])})` }];
    }],
    ['not-in-place', function* (p, s) {
        if (!s.simple) return;
        for (const c of calls(p, s, '(?:add|mul|sub|relu)_')) {
            const target = textOf(p, c.args[0]);
            if (/^\w+(\[\w+\])?$/.test(target)) yield [{ at: c.at, end: c.end, text: `fy_copy_(${target}, ${c.name.slice(0, -1)}(${p.text.slice(c.open + 1, c.end)})` }];
        }
    }],
    ['swapped-lines', function* (p, s) { // two neighbours that only make something
        const next = s.list[s.place + 1], makes = x => x?.simple && /^fy_tensor \*\w+ = /.test(p.code.slice(x.start)) && !/_\(|non_blocking|fy_backward/.test(p.code.slice(x.start, x.end));
        if (makes(s) && makes(next) && !s.declares.some(name => next.names.has(name)))
            yield [{ at: s.start, end: next.end, text: p.text.slice(next.start, next.end) + p.text.slice(s.end, next.start) + p.text.slice(s.start, s.end) }];
    }],
    ['by-copy', function* (p, s) { // a copy to a card into a tensor that is there
        if (!s.simple || loose(p, p.text.slice(s.start, s.end))) return;
        for (const c of calls(p, s, 'to|cuda')) {
            const device = c.name === 'fy_cuda' ? '"cuda"' : c.args[1] && textOf(p, c.args[1]);
            if (!/^"cuda(:\d)?"$/.test(device ?? '') || c.args.length > 2 || onCard(p, ...c.args[0], s)) continue;
            const body = `fy_tensor *box = fy_dim(t) == 1 ? fy_empty((fy_size(t, 0)), .dtype = fy_dtype_of(t), .device = ${device})
                     : fy_dim(t) == 2 ? fy_empty((fy_size(t, 0), fy_size(t, 1)), .dtype = fy_dtype_of(t), .device = ${device}) : NULL;
    return box ? fy_copy_(box, t) : fy_to(t, ${device});`;
            yield [put(p, FUNCTION('put_there', ['t'], body)), { at: c.at, end: c.end, text: `put_there(${textOf(p, c.args[0])})` }];
        }
    }],
]);
