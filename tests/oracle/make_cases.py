"""Writes cases.jsonl: programs made at random, and by hand where errors are meant, with PyTorch's answers.

    /usr/bin/python3 tests/oracle/make_cases.py [SEED] >tests/oracle/cases.jsonl

Debian's python3-torch (1.13.1) answers. The same seed gives the same file. What it cannot do (most of float16)
is left out; so are conversions that C leaves undefined and the index among equals, which PyTorch does not promise."""
import json

from case_maker import Case, INTEGERS, R, SHAPES, cases, dim_of, distinct, given, near, numel, operand_of, value
from torch_runner import DTYPES, FLOATS
from gradient_cases import gradients
from index_cases import indexing, masks, ordering, parts
from pointwise_cases import more_factories, norms, pointwise, sameness
from torch_rules import PROGRAMS
from training_cases import draws, layer_norms, training

ARITHMETIC = ['add', 'sub', 'mul', 'div', 'floor_divide', 'remainder', 'maximum', 'minimum']
COMPARE = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'logical_and', 'logical_or']


def binary():
    for op in ARITHMETIC * 17 + COMPARE * 7 + ['pow'] * 12:
        c, shape = Case('binary'), R.choice(SHAPES)
        a, b = R.choice(list(DTYPES)), R.choice(list(DTYPES))
        if R.random() < 0.5:
            b = a
        special = 0 if op in ('pow', 'floor_divide', 'remainder') else 0.06
        c.tol = near([a, b, 'f32'], op != 'pow')
        x, y = c.tensor(a, operand_of(shape), special), c.tensor(b, shape, special)
        c.step('y', op, R.choice([(x, y), (y, x)]))
        c.done()
    for op in ['add', 'sub'] * 8:
        c, shape = Case('alpha'), R.choice(SHAPES)
        a = R.choice(list(DTYPES))
        x, y = c.tensor(a, shape, 0), c.tensor(R.choice([a, 'i64']), operand_of(shape), 0)
        c.step('y', op, (x, y), alpha=R.choice([2, -3, 0.5]))
        c.done()


def numbers():
    ops = ARITHMETIC[:6] + COMPARE[:6] + ['rsub', 'rdiv', 'radd', 'rmul', 'pow', 'rpow', 'rfloor_divide', 'rremainder']
    for op in ops * 4:
        c, dtype = Case('number'), R.choice(list(DTYPES))
        c.tol = near([dtype, 'f32'], 'pow' not in op)
        c.step('y', op, (c.tensor(dtype, R.choice(SHAPES), 0), R.choice([2, 2.5, -3, 3, 0.5, -1.25, 0])))
        c.done()


def in_place():
    for op in ['add_', 'sub_', 'mul_', 'div_', 'copy_'] * 11:
        c, shape = Case('inplace'), R.choice(SHAPES)
        a, b = R.choice(list(DTYPES)), R.choice(list(DTYPES))
        x = c.tensor(a, shape if R.random() < 0.8 else operand_of(shape), 0)
        y = c.tensor(b, operand_of(shape), 0)
        c.step('r', op, (x, y if R.random() < 0.7 or op == 'copy_' else R.choice([2, 0.5])))
        c.step('same', 'same_tensor', ('r', x))
        c.done('a', 'r', 'same')
    for op in ['relu_', 'neg_', 'exp_', 'zero_', 'fill_'] * 5:
        c, dtype = Case('inplace'), R.choice(list(DTYPES))
        c.tol = near([dtype], op != 'exp_')
        x = c.tensor(dtype, R.choice(SHAPES), 0)
        c.step('r', op, (x,), **({'value': R.choice([3, 1.5, 0])} if op == 'fill_' else {}))
        c.done('a', 'r')


def unary():
    exact = ['neg', 'abs', 'sign', 'relu', 'floor', 'ceil', 'round', 'logical_not', 'sqrt']
    for op in (exact + ['exp', 'log', 'sin', 'cos', 'tanh', 'sigmoid']) * 8:
        c, dtype = Case('unary'), R.choice(list(DTYPES) + ['f32', 'f64'])
        c.tol = near([dtype], op in exact)
        c.step('y', op, (c.tensor(dtype, R.choice(SHAPES), 0.15),))
        c.done()


def reductions():
    for op in ['sum', 'prod', 'mean', 'var', 'any', 'all'] * 15:
        c, shape = Case('reduce'), R.choice(SHAPES + [(2, 3, 2, 2), (40,), (3, 20)])
        dtype = R.choice(list(DTYPES) if op not in ('mean', 'var') else ['f32', 'f64', 'bf16', 'f32', 'i64'])
        args = {}
        if R.random() < 0.7:
            args = {'dim': dim_of(shape), 'keepdim': R.random() < 0.5}
            if op in ('sum', 'mean', 'var') and len(shape) > 1 and R.random() < 0.5:
                args['dim'] = sorted(R.sample(range(len(shape)), R.randint(1, len(shape))))
        if op == 'var' and R.random() < 0.5:
            args['unbiased'] = False
        if op in ('sum', 'prod', 'mean') and R.random() < 0.25:
            args['dtype'] = R.choice(['f64', 'f32', 'i64'])
        c.tol = near([dtype], op in ('sum', 'any', 'all') and dtype != 'bf16')
        c.step('y', op, (c.tensor(dtype, shape, 0 if args.get('dtype') == 'i64' else 0.03),), **args)
        c.done()
    for op in ['max', 'min', 'argmax', 'argmin'] * 11:
        c, shape, dtype = Case('extreme'), R.choice(SHAPES), R.choice([d for d in DTYPES if d not in ('bool', 'f16')])
        x = c.tensor(dtype, shape, make=distinct)
        args = {} if R.random() < 0.3 else {'dim': dim_of(shape), 'keepdim': R.random() < 0.5}
        two = args and op in ('max', 'min')
        c.step(['y', 'i'] if two else 'y', op, (x,), **args)
        c.done(*(['y', 'i'] if two else ['y']))
    for op in ['softmax', 'log_softmax'] * 14:
        c, shape, dtype = Case('softmax'), R.choice(SHAPES), R.choice(['f32', 'f64', 'bf16', 'f32', 'i64'])
        shape = shape if dtype != 'i64' or numel(shape) else (2, 3)
        c.tol, c.lacks = near([dtype]), True
        c.step('y', op, (c.tensor(dtype, shape, 0.1),), dim=dim_of(shape))
        c.done()


def products():
    def pair():
        n, k, m, batch = (R.choice([1, 2, 3, 0]) if R.random() < 0.9 else 5 for _ in range(4))
        left, right = R.choice([((k,), (k,)), ((n, k), (k,)), ((k,), (k, m)), ((n, k), (k, m)), ((batch, n, k), (k, m)),
                                ((batch, n, k), (batch, k, m)), ((1, n, k), (batch, k, m)), ((n, k), (batch, k, m)),
                                ((2, 1, n, k), (batch, k, m)), ((k,), (batch, k, m)), ((batch, n, k), (k,))])
        return left, right[:-1] + (right[-1] + (R.random() < 0.1),)
    for _ in range(44):
        c, (left, right), dtype = Case('matmul'), pair(), R.choice(['f32', 'f64', 'i64', 'i32', 'bf16'])
        c.tol = near([dtype], dtype in INTEGERS)
        c.step('y', 'matmul', (c.tensor(dtype, left, 0), c.tensor(dtype, right, 0)))
        c.done()
    for op in ['mm', 'bmm', 'mv', 'dot', 'addmm', 'linear'] * 9:
        c, dtype = Case('product'), R.choice(['f32', 'f64', 'f32', 'i64'])
        n, k, m = (R.randint(0, 3) for _ in range(3))
        j = k + (R.random() < 0.15)
        shapes = {'mm': [(n, k), (j, m)], 'bmm': [(2, n, k), (2, j, m)], 'mv': [(n, k), (j,)], 'dot': [(k,), (j,)],
                  'addmm': [R.choice([(n, m), (m,), (1, m), (n, 1), (), (m + 2,)]), (n, k), (j, m)],
                  'linear': [R.choice([(n, k), (2, n, k), (k,)]), (m, j), (m,)]}[op]
        shapes = shapes[:2] if op == 'linear' and R.random() < 0.3 else shapes
        args = {'beta': R.choice([0, 1, 2]), 'alpha': R.choice([1, 3])} if op == 'addmm' and R.random() < 0.6 else {}
        other = 'f64' if R.random() < 0.08 and all(map(numel, shapes)) else dtype
        c.tol = near([dtype])
        c.step('y', op, [c.tensor(dtype if i else other, s, 0) for i, s in enumerate(shapes)], **args)
        c.done()


def losses():
    for _ in range(36):
        c, dtype = Case('loss'), R.choice(['f32', 'f64', 'f32'])
        n, classes = R.randint(1, 4), R.randint(1, 4)
        shape, target = R.choice([((n, classes), (n,)), ((classes,), ()), ((n, classes, 2), (n, 2)),
                                  ((n, classes, 2, 3), (n, 2, 3)), ((n, classes), (n + (R.random() < 0.2),))])
        args = {} if R.random() < 0.3 else {'reduction': R.choice(['mean', 'sum', 'none'])}
        if R.random() < 0.3:
            args['label_smoothing'] = R.choice([0.1, 0.5])
        c.tol = near([dtype])
        x = c.tensor(dtype, shape, 0)
        data = [R.choice([-100] + [R.randrange(classes) for _ in range(5)]) for _ in range(numel(target))]
        if R.random() < 0.08 and data:
            data[0] = classes
        c.inputs['t'] = given('f32' if R.random() < 0.06 else 'i64', target, data=data)
        c.step('y', 'cross_entropy', (x, 't'), **args)
        c.done()
    for _ in range(14):
        c, shape, dtype = Case('loss'), R.choice(SHAPES), R.choice(['f32', 'f64', 'bf16'])
        c.tol = near([dtype])
        c.step('y', 'mse_loss', (c.tensor(dtype, shape, 0), c.tensor(dtype, operand_of(shape), 0)),
               **R.choice([{}, {'reduction': 'sum'}, {'reduction': 'none'}]))
        c.done()


def factor(n):
    """Sizes with this product, one of them perhaps -1; perhaps wrong."""
    shape = R.choice([[n], [1, n], [n, 1], [2, n // 2], [n // 2, 2], [-1, 2], [3, -1], [-1], [n // 3, 3], [2, n // 4, 2]])
    return shape


def views():
    for op in ['view', 'reshape'] * 14 + ['flatten', 'transpose', 't', 'permute', 'expand', 'squeeze', 'unsqueeze', 'select',
                                          'narrow', 'slice', 'contiguous', 'clone', 'detach', 'view_as_dtype'] * 7:
        c, shape, dtype = Case('view'), R.choice(SHAPES + [(2, 6), (3, 4), (12,)]), R.choice(['f32', 'i64', 'u8', 'bf16'])
        x, last = c.tensor(dtype, shape, 0), max(len(shape), 1)
        dim = R.randrange(-last, last) if R.random() < 0.9 else last + 1
        size = shape[dim] if shape and -last <= dim < last else 2
        args = {'view': {'shape': factor(numel(shape))}, 'reshape': {'shape': factor(numel(shape))},
                'flatten': R.choice([{}, {'start_dim': dim, 'end_dim': -1}, {'start_dim': 0, 'end_dim': dim}]),
                'transpose': {'dim0': dim, 'dim1': R.randrange(last)},
                'permute': {'dims': R.sample(range(len(shape)), len(shape))},
                'expand': {'shape': [R.randint(1, 3)] + [s if s != 1 else R.choice([-1, 1, 3]) for s in shape]},
                'squeeze': R.choice([{}, {'dim': dim}]), 'unsqueeze': {'dim': dim},
                'select': {'dim': dim, 'index': R.randint(-size, size)},
                'narrow': {'dim': dim, 'start': R.randint(0, size), 'length': R.randint(0, size)},
                'slice': {'dim': dim, 'start': R.randint(-size - 1, size), 'end': R.randint(-size, size + 2),
                          'step': R.choice([1, 1, 2, 3])},
                'view_as_dtype': {'dtype': R.choice(['i32', 'f32', 'u8', 'i64', 'f16'])}}.get(op, {})
        if op == 'slice' and not (shape and -last <= dim < last):
            continue
        c.step('y', op, (x,), **args)
        asked = ['st'] if numel(shape) and op not in ('narrow', 'slice') else [] # nothing has no address to compare
        for name in asked:
            c.step(name, 'same_storage', ('y', x))
        c.step('off', 'storage_offset', ('y',))
        c.step('cg', 'is_contiguous', ('y',))
        c.done('y', 'off', 'cg', *asked)
    for op in ['cat', 'stack'] * 17:
        c, shape = Case('join'), R.choice(SHAPES[1:])
        dim, parts = dim_of(shape), []
        for _ in range(R.randint(1, 3)):
            part = list(shape)
            if R.random() < (0.6 if op == 'cat' else 0.1):
                part[dim if R.random() < 0.85 else 0] += 1
            parts.append(c.tensor(R.choice(['f32', 'f32', 'f32', 'i64', 'bool', 'f16']), tuple(part), 0))
        c.step('y', op, parts, **({'dim': dim} if R.random() < 0.8 else {}))
        c.done()


def creation():
    for op in ['zeros', 'ones', 'full', 'arange', 'linspace', 'eye'] * 7:
        c, args = Case('create'), {} if R.random() < 0.4 else {'dtype': R.choice(list(DTYPES))}
        shape = list(R.choice(SHAPES)) if R.random() < 0.93 else [2, -1]
        start, more = R.choice([0, -2, 1.5, 3]), {}
        if op in ('zeros', 'ones', 'full'):
            more = {'shape': shape}
        if op == 'full':
            more['value'] = R.choice([7, 2.5, 1, 0, True])
        if op == 'arange':
            more = {'start': start, 'end': R.choice([4, 5.5, 0]), 'step': R.choice([1, 2, 0.5, -1])}
        if op in ('arange', 'linspace') and args.get('dtype') == 'bool':
            args = {}
        if op == 'linspace':
            more, c.tol = {'start': start, 'end': R.choice([1, 7.5, -2]), 'steps': R.choice([1, 2, 5, 9, 0])}, (1e-6, 1e-7)
        if op == 'eye':
            more = R.choice([{'n': 3}, {'n': 2, 'm': 4}, {'n': 0}, {'n': 3, 'm': 1}])
        c.step('y', op, **more, **args)
        c.done()
    for values in [[1.5, 2], [True, False], [True, 2.5], 3, 2.5, [], [[1, 2], [3, 4]], [[1.5], [2]], [-1, 2]]:
        c = Case('create')
        c.step('y', 'tensor', values=values)
        c.done()
    for op in ['zeros_like', 'ones_like'] * 5:
        c = Case('create')
        c.step('y', op, (c.tensor(R.choice(list(DTYPES)), R.choice(SHAPES)),))
        c.done()


def conversion():
    whole = {'f16': 2048, 'bf16': 256, 'f32': 2**24, 'f64': 2**53, 'i32': 2**31 - 1, 'i64': 2**63 - 1, 'u8': 255, 'bool': 1}
    for source in DTYPES:
        for target in DTYPES:
            c, safe = Case('convert'), source in FLOATS and target not in FLOATS
            data = [value(source, False) for _ in range(4)] + ([] if source == 'bool' else [0])
            if source in FLOATS:
                data = [abs(v) for v in data] if target == 'u8' else data
                data += [1.75, 2.5] if safe else ['nan', '-0', 'inf', 65519.0, 65520.0, 1 / 3, 2.0**-24, 2.0**-25, 1e-40, 1 + 2**-8]
            elif source != 'bool':
                data += [whole[source], whole[source] - 1, min(whole[source], 2049), min(whole[source], 2**24 + 1)]
            c.inputs['a'] = given(source, (len(data),), data=data)
            c.step('y', 'to', ('a',), dtype=target)
            c.step('same', 'same_tensor', ('y', 'a'))
            c.done('y', 'same')
    for _ in range(14):
        c = Case('convert')
        x = c.tensor(R.choice(['f32', 'i32', 'bf16']), R.choice(SHAPES[:-3]), 0)
        c.step('y', 'to', (x,), dtype=R.choice(['f64', 'f32', 'i64']), copy=R.random() < 0.5)
        c.step('st', 'same_storage', ('y', x))
        c.done('y', 'st')


def promotion():
    for a in DTYPES:
        c, watch = Case('promote'), []
        for b in DTYPES:
            for op, args in (('promote_types', {'a': a, 'b': b}), ('can_cast', {'from': a, 'to': b})):
                watch.append(c.step(op + '_' + b, op, **args))
        c.done(*watch)
        c, watch = Case('promote'), []
        c.inputs['a'], c.inputs['z'] = given(a, (1,)), given(a, ())
        for i, b in enumerate(DTYPES):
            c.inputs['d' + b], c.inputs['z' + b] = given(b, (1,)), given(b, ())
            for x, y in (('a', 'd' + b), ('a', 'z' + b), ('z', 'd' + b), ('z', 'z' + b)):
                watch.append(c.step('r%d%s%s' % (i, x, y), 'result_type', (x, y)))
        for i, n in enumerate((True, 2, 2.5)):
            watch += [c.step('n%d%s' % (i, x), 'result_type', (x, n)) for x in ('a', 'z')]
        c.done(*watch)


def randomness():
    for op in ['rand', 'randn', 'randint', 'randperm'] * 7:
        c = Case('rng_cpu')
        c.tol = (1e-5, 1e-6) if op == 'randn' else None
        sizes = [R.choice([1, 3, 15, 16, 17, 24, 30, 40]) for _ in range(2)]
        for i, n in enumerate(sizes):
            args = {'n': n} if op == 'randperm' else {'shape': R.choice([[n], [n, 2]])}
            if op == 'randint':
                args.update(low=R.choice([0, -5]), high=R.choice([10, 2**33, 2**31, 2**40]))
            if op in ('rand', 'randn') and R.random() < 0.4:
                args['dtype'] = 'f64'
            c.step('xy'[i], op, **args, **({} if i else {'seed': R.choice([0, 1, 12345, 2**40])}))
        c.done('x', 'y')


def ternary():
    for op in ['where', 'clamp', 'clamp_min', 'clamp_max'] * 22:
        c, shape, tensors = Case('ternary'), R.choice(SHAPES), R.random() < 0.6
        a = R.choice(list(DTYPES) if op == 'where' else [d for d in DTYPES if d not in ('f16', 'bool')])
        first = R.choice(['bool'] * 8 + ['u8', 'i64']) if op == 'where' else a
        others = {'where': 2, 'clamp': 2}.get(op, 1)
        operands = [c.tensor(first, shape if op != 'where' else operand_of(shape))]
        for _ in range(others):
            dtype = R.choice([a, a, a] + [d for d in DTYPES if d not in ('f16', 'bool')])
            if tensors or (op == 'where' and len(operands) == 2):
                operands.append(c.tensor(dtype, operand_of(shape)))
            else:
                operands.append(R.choice([1, -2, 3, 0.5, 2.5]))
        if op == 'where' and R.random() < 0.06:
            operands[1] = c.tensor(a, tuple(s + 2 for s in shape) or (2,))
        c.step('y', op, operands)
        c.done()


def rules():
    for rule, inputs, program in PROGRAMS:
        c = Case('rule')
        c.inputs, c.program, c.note = inputs, program, rule
        c.tol = (1e-6, 0) if program[-1][1] in ('exp', 'softmax', 'mse_loss') else None
        c.done()


for group in (binary, numbers, in_place, unary, reductions, products, losses, views, creation, conversion, promotion,
              randomness, rules, ternary, parts, indexing, ordering, masks, pointwise, more_factories, sameness, norms, training,
              layer_norms, draws, gradients):
    group()
for case in cases:
    print(json.dumps(case, separators=(',', ':')))
