"""What make_cases.py and the lists beside it make cases with: chance, inputs, and a program under way."""
import random
import sys

from torch_runner import DTYPES, FLOATS, answer, literal

R = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
INTEGERS = ('i32', 'i64', 'u8')
SHAPES = [(), (1,), (3,), (4,), (2, 3), (3, 2), (1, 3), (2, 1), (2, 2, 2), (3, 1, 2), (2, 3, 1), (0,), (0, 3), (2, 0, 2)]
cases, count = [], {}


def value(dtype, special):
    if dtype == 'bool':
        return R.random() < 0.5
    if dtype in INTEGERS:
        low = 0 if dtype == 'u8' else -6
        return R.choice([0, 1, 2, 255 if dtype == 'u8' else 2**31 - 1]) if special else R.randint(low, 9)
    if special:
        return R.choice(['nan', 'inf', '-inf', '-0', 0.0, 1e4, 0.1])
    return R.randint(-16, 16) / 4


def numel(shape):
    n = 1
    for s in shape:
        n *= s
    return n


def given(dtype, shape, special=0.06, data=None):
    if data is None:
        data = [value(dtype, R.random() < special) for _ in range(numel(shape))]
    return {'dtype': dtype, 'shape': list(shape), 'data': [literal(v) for v in data]}


def distinct(dtype, shape):
    n = numel(shape)
    data = R.sample(range(-n // 2 * (dtype != 'u8'), n + n // 2 + 1), n)
    return given(dtype, shape, data=[v / 2 for v in data] if dtype in FLOATS else data)


class Case:
    """A program under way."""

    def __init__(self, group):
        self.group, self.inputs, self.program, self.watch, self.tol, self.lacks, self.note = group, {}, [], [], None, False, ''

    def step(self, dst, op, operands=(), **args):
        self.program.append([dst, op, list(operands), args])
        return dst

    def tensor(self, dtype, shape, special=0.06, make=None):
        """An input seen through a view, as often as not: permuted, with gaps, expanded, from within."""
        name = 'abcdefgh'[len(self.inputs)]
        how = R.choice(['plain', 'plain', 'permute', 'slice', 'expand', 'select']) if shape else 'plain'
        make = make or (lambda d, s: given(d, s, special))
        d, stored, view = R.randrange(len(shape) or 1), list(shape), None
        if how == 'permute':
            dims = R.sample(range(len(shape)), len(shape))
            stored = [0] * len(shape)
            for i, dim in enumerate(dims):
                stored[dim] = shape[i]
            view = ('permute', {'dims': dims})
        elif how == 'slice':
            stored[d] = 2 * shape[d] + 1
            view = ('slice', {'dim': d, 'start': 1, 'end': 2 * shape[d] + 1, 'step': 2})
        elif how == 'expand' and shape[d] > 1 and make is not distinct:
            stored[d] = 1
            view = ('expand', {'shape': list(shape)})
        elif how == 'select':
            stored.insert(d, 2)
            view = ('select', {'dim': d, 'index': 1})
        self.inputs[name] = make(dtype, stored)
        return self.step('v' + name, view[0], [name], **view[1]) if view else name

    def done(self, *watch):
        count[self.group] = count.get(self.group, 0) + 1
        case = {'id': 'own_%s_%03d' % (self.group, count[self.group]), 'group': self.group, 'inputs': self.inputs,
                'program': self.program, 'watch': list(watch) or ['y'], 'lacks_too': self.lacks,
                'any_strides': self.group in ('matmul', 'product', 'loss', 'rows')} # of sizes 0 and 1: an accident of its way
        if self.note:
            case['note'] = self.note
        if self.tol:
            case['tol'] = {'rtol': self.tol[0], 'atol': self.tol[1]}
        case = answer(case)
        if case:
            cases.append(case)
        return case


def near(dtypes, exact=False):
    """What may differ in the last places: a few units of the coarsest type."""
    if exact:
        return None
    return (0.02, 0.01) if set(dtypes) & {'f16', 'bf16'} else (1e-5, 1e-6) if set(dtypes) != {'f64'} else (1e-12, 1e-13)


def operand_of(shape):
    """A shape that broadcasts to this one."""
    shape = [1 if R.random() < 0.2 else s for s in shape]
    return tuple(shape[R.randrange(len(shape) + 1):]) if R.random() < 0.3 else tuple(shape)


def dim_of(shape):
    return R.randrange(-len(shape), len(shape)) if shape else R.choice([0, -1])


def apart(seed):
    """A group with a chance of its own: it stays as it is whatever groups come before it."""
    def wrap(group):
        def run():
            state = R.getstate()
            R.seed(seed)
            group()
            R.setstate(state)
        return run
    return wrap


LARGER = SHAPES + [(7,), (5, 4), (2, 5, 3)]


def dim_or_wrong(shape):
    return dim_of(shape) if R.random() < 0.94 else len(shape) + 1
