"""Cases of ferry_index.h: parts, elements by index, order, masks."""
from case_maker import Case, LARGER, R, apart, dim_or_wrong, distinct, given, near, numel, operand_of
from torch_runner import DTYPES, FLOATS


@apart('parts')
def parts():
    for op in ['split', 'split', 'chunk'] * 12:
        c, shape = Case('parts'), R.choice(LARGER)
        x, dim = c.tensor(R.choice(['f32', 'i64', 'bool', 'bf16']), shape, 0), dim_or_wrong(shape)
        size = shape[dim] if shape and -len(shape) <= dim < len(shape) else 1
        cut = R.randint(0, size)
        args = {'chunks': R.choice([1, 2, 3, 4, 0])} if op == 'chunk' else \
            {'size': R.choice([1, 2, 3, 0, -1, [cut, size - cut], [0, size], [cut, size - cut, 1], [size + 1, -1]])}
        c.step(['p', 'q', 'r', 's', 'u', 'v', 'w'][:pieces(size, args)], op, (x,), dim=dim, **args)
        watch = c.program[-1][0]
        c.step('o', 'storage_offset', (watch[-1],))
        c.done(*watch, 'o')
    for _ in range(24):
        c, shape = Case('repeat'), R.choice(LARGER)
        times = [R.choice([1, 2, 3, 0, 1]) for _ in range(max(0, len(shape) + R.choice([0, 0, 1, 2, -1])))]
        if R.random() < 0.05 and times:
            times[0] = -1
        c.step('y', 'repeat', (c.tensor(R.choice(list(DTYPES)), shape),), shape=times)
        c.done()


def pieces(whole, args):
    """How many a cut makes; 1 where it is refused."""
    if args.get('chunks') is not None:
        chunks = max(args['chunks'], 1)
        if whole == 0:
            return chunks
        size = -(-whole // chunks)
    else:
        size = args['size']
    if isinstance(size, list):
        return len(size)
    return max(1, -(-whole // size)) if size > 0 else 1


def index_into(size, shape, wrong=0.05, dtype='i64'):
    data = [R.randrange(max(size, 1)) for _ in range(numel(shape))]
    if data and (size == 0 or R.random() < wrong):
        data[R.randrange(len(data))] = R.choice([-1, size, size + 3])
    return given(dtype, shape, data=data)


def index_type(also):
    return R.choice(['i64'] * 10 + [also] * 2 + ['f32', 'u8', 'bool'][:R.randint(0, 3)])


@apart('indexing')
def indexing():
    for _ in range(46):
        c, shape = Case('index_select'), R.choice(LARGER)
        x, dim = c.tensor(R.choice(list(DTYPES)), shape, 0), dim_or_wrong(shape)
        size = shape[dim] if shape and -len(shape) <= dim < len(shape) else 1
        wrong = 0.2 if len(shape) == 3 else 0 # of matrices 1.13 tells in other words than later ones
        count = R.choice([(), (1,), (2,), (4,), (0,), (2, 1)]) if shape else R.choice([(), (1,)])
        c.inputs['i'] = index_into(size, count if size else (0,), wrong, 'i64' if len(count) > 1 else index_type('i32'))
        c.step('y', 'index_select', (x, 'i'), dim=dim)
        c.done()
    for _ in range(24):
        c, shape = Case('embedding'), R.choice([(4, 3), (5, 1), (2, 2), (3, 0), (3,), (2, 2, 2)] + [(6, 4)] * 6)
        c.inputs['i'] = index_into(shape[0], R.choice([(), (1,), (3,), (2, 2), (0,), (2, 1, 3)]), 0.12,
                                    index_type('i32') if len(shape) == 2 else 'i64')
        c.step('y', 'embedding', (c.tensor(R.choice(['f32', 'f64', 'bf16', 'f16', 'i64']), shape, 0), 'i'))
        c.done()
    for op in ['gather', 'scatter_add_'] * 26:
        c, shape = Case('gather'), R.choice(LARGER)
        dtype = R.choice(list(DTYPES) if op == 'gather' else [d for d in DTYPES if d != 'f16'])
        dim = dim_or_wrong(shape)
        known = shape and -len(shape) <= dim < len(shape)
        size, within = shape[dim] if known else 1, list(shape)
        if known:
            within = [R.randint(0, s) if R.random() < 0.3 else s for s in shape]
            within[dim] = R.choice([0, 1, 2, 3, 5]) if size else 0
            if R.random() < 0.05:
                within[dim - 1] += 1
        elif R.random() < 0.5:
            within = [1]
        x = c.tensor(dtype, shape, 0)
        if op == 'scatter_add_':
            x = c.step('z', 'clone', (x,))
        c.inputs['i'] = index_into(size, tuple(within), 0.1, index_type('i32') if R.random() < 0.5 else 'i64')
        operands = [x, 'i']
        if op == 'scatter_add_' and known:
            larger = tuple(s + R.choice([0, 0, 1]) - (R.random() < 0.03 and s > 0) for s in within)
            operands.append(c.tensor(dtype if R.random() < 0.94 else 'f64', larger, 0))
        elif op == 'scatter_add_':
            c.inputs['b'] = given(dtype, tuple(within), 0)
            operands.append('b')
        c.step('y', op, operands, dim=dim)
        c.done(*(['y', 'z'] if op == 'scatter_add_' else ['y']))
    for program in ([['e', 'expand', ['a'], {'shape': [3, 2]}], ['y', 'scatter_add_', ['e', 'i', 'b'], {'dim': 0}]],
                    [['y', 'scatter_add_', ['b', 'i', 'b'], {'dim': 0}]],
                    [['v', 'slice', ['b'], {'dim': 0, 'start': 1}], ['w', 'slice', ['b'], {'dim': 0, 'end': 2}],
                     ['y', 'scatter_add_', ['v', 'i', 'w'], {'dim': 0}]]):
        c = Case('gather')
        c.inputs = {'a': given('f32', (1, 2), 0), 'b': given('f32', (3, 2), 0), 'i': given('i64', (1, 2), data=[0, 0])}
        c.program = program
        c.done()


@apart('ordering')
def ordering():
    for _ in range(40):
        c, shape, dtype = Case('cumsum'), R.choice(LARGER + [(300,)]), R.choice([d for d in DTYPES if d != 'f16'])
        args = {'dtype': R.choice(['f64', 'f32', 'i64', 'i32', 'bool'])} if R.random() < 0.3 else {}
        c.tol = near([dtype, args.get('dtype', 'f32')], dtype not in FLOATS)
        c.step('y', 'cumsum', (c.tensor(dtype, shape, 0 if args else 0.04),), dim=dim_or_wrong(shape), **args)
        c.done()
    for op in ['sort'] * 40 + ['argsort'] * 8:
        c, shape, dtype = Case('sort'), R.choice(LARGER + [(40,), (3, 17)]), R.choice(list(DTYPES))
        args = {} if R.random() < 0.2 else {'dim': dim_or_wrong(shape), 'descending': R.random() < 0.5}
        c.step(['y', 'i'] if op == 'sort' else 'y', op, (c.tensor(dtype, shape, 0.2),), **args)
        c.done(*(['y', 'i'] if op == 'sort' else ['y']))
    for _ in range(36):
        c, shape, dtype = Case('topk'), R.choice(LARGER + [(40,), (3, 17)]), R.choice([d for d in DTYPES if d != 'f16'])
        args = {'dim': dim_or_wrong(shape), 'largest': R.random() < 0.6}
        size = shape[args['dim']] if shape and -len(shape) <= args['dim'] < len(shape) else 1
        make = distinct if dtype not in ('bool', 'u8') else None # the index among equals is anybody's
        k = R.randint(0, size) if R.random() < 0.9 else size + 1
        c.step(['y', 'i'], 'topk', (c.tensor(dtype, shape, make=make),), k=k, **args)
        c.done(*(['y', 'i'] if make else ['y']))


def truths(dtype, shape):
    return given(dtype, shape, data=[R.choice([0, 1] if dtype != 'bool' else [True, False]) for _ in range(numel(shape))])


@apart('masks')
def masks():
    for _ in range(24):
        c, dtype = Case('nonzero'), R.choice(list(DTYPES))
        zeros = lambda d, s: given(d, s, data=[R.choice([0, 1, 'nan', '-0', -2] if d in FLOATS else [0, 1]) for _ in range(numel(s))])
        c.step('y', 'nonzero', (c.tensor(dtype, R.choice(LARGER), make=zeros),))
        c.done()
    for _ in range(32):
        c, shape = Case('masked'), R.choice(LARGER)
        x = c.tensor(R.choice(list(DTYPES)), operand_of(shape), 0)
        other = operand_of(shape) if R.random() < 0.9 else tuple(s + 2 for s in shape)
        c.step('y', 'masked_select', (x, c.tensor(R.choice(['bool'] * 8 + ['u8', 'f32', 'i64']), other, make=truths)))
        c.done()
    for _ in range(32):
        c, shape = Case('rows'), R.choice(LARGER)
        x, within = c.tensor(R.choice(list(DTYPES)), shape, 0), list(shape[:R.randint(0, len(shape))])
        if R.random() < 0.15:
            within.append(3)
        c.step('y', 'index', (x, c.tensor(R.choice(['bool'] * 9 + ['u8', 'f32']), tuple(within), make=truths)))
        c.done()
