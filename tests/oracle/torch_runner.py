"""Runs a program of the case format (shared with build/tests/oracle) under PyTorch and writes down its answers."""
import math
import warnings

import torch
import torch.nn.functional as F

warnings.simplefilter('ignore')
torch.set_num_threads(1)

DTYPES = {'f16': torch.float16, 'bf16': torch.bfloat16, 'f32': torch.float32, 'f64': torch.float64,
          'i32': torch.int32, 'i64': torch.int64, 'u8': torch.uint8, 'bool': torch.bool}
NAMES = {v: k for k, v in DTYPES.items()}
FLOATS = ('f16', 'bf16', 'f32', 'f64')


def literal(x):
    """A number as JSON can say it."""
    if isinstance(x, float):
        if math.isnan(x):
            return 'nan'
        if math.isinf(x):
            return 'inf' if x > 0 else '-inf'
        if x == 0 and math.copysign(1, x) < 0:
            return '-0'
    return x


def flat(x):
    if x.dtype == torch.bool:
        return [bool(v) for v in x.reshape(-1).tolist()]
    return [literal(v) for v in x.reshape(-1).tolist()]


def make(spec):
    dtype = DTYPES[spec['dtype']]
    data = [float(v) if isinstance(v, str) else v for v in spec['data']]
    wide = torch.float64 if dtype.is_floating_point else dtype
    x = torch.tensor(data, dtype=wide).to(dtype).reshape(spec['shape'])
    return x.to('meta') if spec.get('device') else x


def write(x, strides=True):
    out = {'dtype': NAMES[x.dtype], 'shape': list(x.shape)}
    if x.is_meta:
        return dict(out, device='other')
    if strides:
        out['strides'] = list(x.stride())
    if x.dtype in (torch.float16, torch.bfloat16):
        out['bits'] = ['%04x' % (v & 0xffff) for v in x.contiguous().view(torch.int16).reshape(-1).tolist()]
    out['data'] = flat(x)
    return out


def dtyped(k):
    k = dict(k)
    if 'dtype' in k:
        k['dtype'] = DTYPES[k['dtype']]
    return k


def seeded(f):
    def run(*a, seed=None, **k):
        if seed is not None:
            torch.manual_seed(seed)
        return f(*a, **k)
    return run


def tuples(f):
    def run(x, dim=None, **k):
        if dim is None:
            return f(x)
        return tuple(f(x, dim, **k))
    return run


def slice_of(x, dim, start=None, end=None, step=1):
    index = [slice(None)] * x.dim()
    index[dim if dim >= 0 else x.dim() + dim] = slice(start, end, step)
    return x[tuple(index)]


def reduce(f):
    def run(x, dim=None, **k):
        return f(x, **k) if dim is None else f(x, dim, **k)
    return run


def var(x, dim=None, unbiased=True, keepdim=False):
    return x.var(unbiased=unbiased) if dim is None else x.var(dim, unbiased=unbiased, keepdim=keepdim)


def rdiv(a, b):
    """One division: b / a would multiply by the reciprocal."""
    dtype = torch.result_type(a, b)
    return torch.div(torch.tensor(b, dtype=dtype if dtype.is_floating_point else torch.float32), a)


def arange(start, end, step=1, **k):
    return torch.arange(start, end, step, **k)


def named(x):
    return NAMES[x] if isinstance(x, torch.dtype) else x


OPS = {
    'rsub': lambda a, b: b - a, 'rdiv': rdiv, 'radd': lambda a, b: b + a, 'rmul': lambda a, b: b * a,
    'rpow': lambda a, b: b ** a, 'rfloor_divide': lambda a, b: b // a, 'rremainder': lambda a, b: b % a,
    'to': lambda a, **k: a.to(k.pop('dtype', a.dtype), **k), 'to_like': lambda a, b: a.to(b),
    'view_as_dtype': lambda a, dtype: a.view(dtype), 'slice': slice_of,
    'view': lambda a, shape: a.view(shape), 'reshape': lambda a, shape: a.reshape(shape),
    'expand': lambda a, shape: a.expand(shape), 'permute': lambda a, dims: a.permute(dims),
    'transpose': lambda a, dim0, dim1: a.transpose(dim0, dim1), 'flatten': torch.flatten,
    'narrow': lambda a, dim, start, length: a.narrow(dim, start, length),
    'select': lambda a, dim, index: a.select(dim, index), 'copy_': lambda a, b: a.copy_(b),
    'contiguous': lambda a: a.contiguous(), 'cat': lambda *a, dim=0: torch.cat(a, dim),
    'stack': lambda *a, dim=0: torch.stack(a, dim), 'max': tuples(torch.max), 'min': tuples(torch.min),
    'sum': reduce(torch.sum), 'prod': reduce(torch.prod), 'mean': reduce(torch.mean), 'any': reduce(torch.any),
    'all': reduce(torch.all), 'argmax': reduce(torch.argmax), 'argmin': reduce(torch.argmin), 'var': var,
    'softmax': lambda a, dim: torch.softmax(a, dim), 'log_softmax': lambda a, dim: torch.log_softmax(a, dim),
    'same_storage': lambda a, b: a.storage().data_ptr() == b.storage().data_ptr(), 'same_tensor': lambda a, b: a is b,
    'storage_offset': lambda a: a.storage_offset(), 'is_contiguous': lambda a: a.is_contiguous(),
    'item': lambda a: a.item(), 'numel': lambda a: a.numel(), 'dim': lambda a: a.dim(),
    'promote_types': lambda a, b: torch.promote_types(DTYPES[a], DTYPES[b]),
    'can_cast': lambda **k: torch.can_cast(DTYPES[k['from']], DTYPES[k['to']]), 'result_type': torch.result_type,
    'zeros': lambda shape, **k: torch.zeros(shape, **k), 'ones': lambda shape, **k: torch.ones(shape, **k),
    'full': lambda shape, value, **k: torch.full(shape, value, **k), 'arange': arange, 'linspace': torch.linspace,
    'eye': lambda n, m=None, **k: torch.eye(n, **k) if m is None else torch.eye(n, m, **k),
    'tensor': lambda values, **k: torch.tensor(values, **k),
    'rand': seeded(lambda shape, **k: torch.rand(shape, **k)), 'randn': seeded(lambda shape, **k: torch.randn(shape, **k)),
    'randint': seeded(lambda low, high, shape, **k: torch.randint(low, high, shape, **k)),
    'randperm': seeded(lambda n, **k: torch.randperm(n, **k)),
    'linear': F.linear, 'cross_entropy': F.cross_entropy, 'mse_loss': F.mse_loss, 'neg_': lambda a: a.neg_(),
    'masked_fill': lambda a, mask, value: a.masked_fill(mask, value),
    'norm': lambda a, p=2, dim=None, keepdim=False, **k: torch.linalg.vector_norm(a, float(p), dim, keepdim, **k),
    'one_hot': F.one_hot, 'full_like': lambda a, value: torch.full_like(a, value),
    'empty': lambda shape, **k: torch.empty(shape, **k),
    'rand_like': seeded(torch.rand_like), 'randn_like': seeded(torch.randn_like),
    'split': lambda a, size, dim: a.split(size, dim), 'chunk': lambda a, chunks, dim: a.chunk(chunks, dim),
    'repeat': lambda a, shape: a.repeat(shape), 'index_select': lambda a, i, dim: a.index_select(dim, i),
    'gather': lambda a, i, dim: a.gather(dim, i), 'embedding': lambda w, i: F.embedding(i, w),
    'scatter_add_': lambda a, i, b, dim: a.scatter_add_(dim, i, b), 'cumsum': lambda a, dim, **k: a.cumsum(dim, **k),
    'sort': lambda a, dim=-1, descending=False: tuple(a.sort(dim=dim, descending=descending, stable=True)),
    'argsort': lambda a, dim=-1, descending=False: a.sort(dim=dim, descending=descending, stable=True)[1],
    'topk': lambda a, k, **o: tuple(a.topk(k, **o)), 'nonzero': lambda a: a.nonzero(),
    'masked_select': lambda a, m: a.masked_select(m), 'index': lambda a, m: a[m],
    'fill_': lambda a, value: a.fill_(value), 'zero_': lambda a: a.zero_(),
}


def find(name):
    if name in OPS:
        return OPS[name]
    return getattr(torch, name, None) or getattr(torch.Tensor, name)


def operand(x, names):
    """A name's tensor, or a number; 'inf' is one that JSON has no word for."""
    if isinstance(x, str):
        return names[x] if x in names else float(x)
    return x


def answer(case):
    """The case with `expect` or `error` filled in; None where this PyTorch lacks the op for the type."""
    names = {k: make(v) for k, v in case['inputs'].items()}
    for i, (dst, op, operands, args) in enumerate(case['program']):
        given = [operand(x, names) for x in operands]
        try:
            got = find(op)(*given, **dtyped(args))
        except Exception as e:
            text = str(e).split('\n')[0]
            if 'INTERNAL ASSERT' in text or ('not implemented for' in text and not case.get('lacks_too')):
                return None
            case['error'] = {'step': i, 'type': type(e).__name__, 'text': text}
            break
        for name, value in zip(dst, got) if isinstance(dst, list) else [(dst, got)]:
            names[name] = value
    else:
        strides = {n: not case.get('any_strides') or min(names[n].shape, default=2) > 1 for n in case['watch']}
        case['expect'] = {n: write(names[n], strides[n]) if torch.is_tensor(names[n])
                          else {'value': literal(named(names[n]))} for n in case['watch']}
    case.pop('lacks_too', None)
    case.pop('any_strides', None)
    return case
