"""Programs that PyTorch refuses, one a line: inputs as name -> 'dtype shape', then the steps."""

F, I, B = 'f32', 'i64', 'bool'


def t(dtype, *shape, device=None):
    n = 1
    for s in shape:
        n *= s
    spec = {'dtype': dtype, 'shape': list(shape), 'data': [True if dtype == B else 1] * n}
    return dict(spec, device='other') if device else spec


def s(dst, op, *operands, **args):
    return [dst, op, list(operands), args]


ERRORS = [
    # broadcasting and in place: C4, C7
    ({'a': t(F, 2, 3), 'b': t(F, 2)}, [s('y', 'add', 'a', 'b')]),
    ({'a': t(F, 2, 3), 'b': t(F, 4)}, [s('y', 'mul', 'b', 'a')]),
    ({'a': t(F, 4, 1, 2), 'b': t(F, 3, 3)}, [s('y', 'eq', 'a', 'b')]),
    ({'a': t(F, 0, 3), 'b': t(F, 2, 3)}, [s('y', 'maximum', 'a', 'b')]),
    ({'a': t(F, 1, 3), 'b': t(F, 2, 3)}, [s('y', 'add_', 'a', 'b')]),
    ({'a': t(F, 3), 'b': t(F, 2, 3)}, [s('y', 'copy_', 'a', 'b')]),
    ({'a': t(F, 3), 'b': t(F, 4)}, [s('y', 'copy_', 'a', 'b')]),
    ({'a': t(I, 2)}, [s('y', 'mul_', 'a', 0.5)]),
    ({'a': t(I, 2)}, [s('y', 'div_', 'a', 2)]),
    ({'a': t(B, 2), 'b': t(I, 2)}, [s('y', 'add_', 'a', 'b')]),
    ({'a': t('u8', 2), 'b': t('bf16', 2)}, [s('y', 'sub_', 'a', 'b')]),
    ({'a': t(I, 2)}, [s('y', 'exp_', 'a')]),
    ({'a': t(B, 2)}, [s('y', 'neg_', 'a')]),
    ({'a': t(F, 1, 2)}, [s('e', 'expand', 'a', shape=[3, 2]), s('y', 'mul_', 'e', 2)]),
    ({'a': t(F, 1, 2)}, [s('e', 'expand', 'a', shape=[3, 2]), s('y', 'relu_', 'e')]),
    ({'a': t(F, 1, 2), 'b': t(F, 3, 2)}, [s('e', 'expand', 'a', shape=[3, 2]), s('y', 'copy_', 'e', 'b')]),
    ({'a': t(F, 4)}, [s('v', 'slice', 'a', dim=0, start=1), s('w', 'slice', 'a', dim=0, end=3), s('y', 'add_', 'v', 'w')]),
    ({'a': t(F, 3, 2)}, [s('y', 'expand', 'a', shape=[3, 4])]),
    ({'a': t(F, 3, 2)}, [s('y', 'expand', 'a', shape=[3])]),
    ({'a': t(F, 3)}, [s('y', 'expand', 'a', shape=[-1, 3])]),
    # types: C5
    ({'a': t(I, 2)}, [s('y', 'add', 'a', 'a', alpha=0.5)]),
    ({'a': t(B, 2)}, [s('y', 'sub', 'a', 'a')]),
    ({'a': t(B, 2), 'b': t(F, 2)}, [s('y', 'sub', 'b', 'a')]),
    ({'a': t(B, 2)}, [s('y', 'neg', 'a')]),
    ({'a': t(I, 2)}, [s('y', 'mean', 'a')]),
    ({'a': t(F, 2)}, [s('y', 'mean', 'a', dtype=I)]),
    ({'a': t(I, 2)}, [s('y', 'var', 'a')]),
    ({'a': t(I, 2)}, [s('y', 'pow', 'a', -1)]),
    ({'a': t(I, 2), 'b': t(I, 2)}, [s('c', 'sub', 'b', 1), s('y', 'remainder', 'a', 'c')]),
    ({'a': t('i32', 2)}, [s('y', 'floor_divide', 'a', 0)]),
    # products: C6
    ({'a': t(F, 2, 3)}, [s('y', 'matmul', 'a', 'a')]),
    ({'a': t(F, 4), 'b': t(F, 3, 2)}, [s('y', 'matmul', 'a', 'b')]),
    ({'a': t(F, 2, 3), 'b': t(F, 4)}, [s('y', 'matmul', 'a', 'b')]),
    ({'a': t(F, 3), 'b': t(F, 4)}, [s('y', 'matmul', 'a', 'b')]),
    ({'a': t(F, 2, 2, 3), 'b': t(F, 3, 3, 2)}, [s('y', 'matmul', 'a', 'b')]),
    ({'a': t(F, 2, 2, 3), 'b': t(F, 2, 4, 2)}, [s('y', 'matmul', 'a', 'b')]),
    ({'a': t(F, 2, 2, 3), 'b': t(F, 4, 2)}, [s('y', 'matmul', 'a', 'b')]),
    ({'a': t(F), 'b': t(F, 3)}, [s('y', 'matmul', 'a', 'b')]),
    ({'a': t(F, 3)}, [s('y', 'mm', 'a', 'a')]),
    ({'a': t(F, 2, 3)}, [s('y', 'mm', 'a', 'a')]),
    ({'a': t(F, 2, 2), 'b': t(F, 2)}, [s('y', 'mm', 'a', 'b')]),
    ({'a': t(F, 2, 2), 'b': t(F, 2, 2, 2)}, [s('y', 'bmm', 'a', 'b')]),
    ({'a': t(F, 2, 2, 2), 'b': t(F, 3, 2, 2)}, [s('y', 'bmm', 'a', 'b')]),
    ({'a': t(F, 2, 2), 'b': t('f64', 2, 2)}, [s('y', 'mm', 'a', 'b')]),
    ({'a': t(F, 2, 2), 'b': t(I, 2, 2)}, [s('y', 'mm', 'b', 'a')]),
    ({'a': t(F, 2), 'b': t('f64', 2)}, [s('y', 'dot', 'a', 'b')]),
    ({'a': t(F, 2), 'b': t(F, 3)}, [s('y', 'dot', 'a', 'b')]),
    ({'a': t(F, 2, 2), 'b': t(F, 2)}, [s('y', 'dot', 'a', 'b')]),
    ({'a': t(F, 2, 2), 'b': t(F, 3)}, [s('y', 'mv', 'a', 'b')]),
    ({'a': t(F, 2, 3), 'w': t(F, 4, 2), 'c': t(F, 4)}, [s('y', 'linear', 'a', 'w', 'c')]),
    ({'a': t('f64', 2, 3), 'w': t(F, 4, 3)}, [s('y', 'linear', 'a', 'w')]),
    ({'c': t(F, 3, 3), 'a': t(F, 2, 2)}, [s('y', 'addmm', 'c', 'a', 'a')]),
    ({'c': t(F, 1, 2, 2), 'a': t(F, 2, 2)}, [s('y', 'addmm', 'c', 'a', 'a')]),
    # views: C8
    ({'a': t(F, 2, 3)}, [s('v', 't', 'a'), s('y', 'view', 'v', shape=[6])]),
    ({'a': t(F, 2, 3)}, [s('y', 'view', 'a', shape=[-1, -1])]),
    ({'a': t(F, 2, 3)}, [s('y', 'reshape', 'a', shape=[-2, 3])]),
    ({'a': t(F, 2, 3)}, [s('y', 'reshape', 'a', shape=[4, -1])]),
    ({'a': t(F, 0, 3)}, [s('y', 'reshape', 'a', shape=[-1, 0])]),
    ({'a': t(F, 2, 3)}, [s('y', 'transpose', 'a', dim0=0, dim1=-3)]),
    ({'a': t(F, 2, 3)}, [s('y', 'unsqueeze', 'a', dim=4)]),
    ({'a': t(F, 2, 3)}, [s('y', 'squeeze', 'a', dim=2)]),
    ({'a': t(F, 2, 3)}, [s('y', 'permute', 'a', dims=[0, 0])]),
    ({'a': t(F, 2, 3)}, [s('y', 'permute', 'a', dims=[0, 1, 2])]),
    ({'a': t(F, 2, 3)}, [s('y', 'permute', 'a', dims=[0, 2])]),
    ({'a': t(F, 2, 3)}, [s('y', 'select', 'a', dim=1, index=3)]),
    ({'a': t(F, 2, 3)}, [s('y', 'select', 'a', dim=0, index=-3)]),
    ({'a': t(F)}, [s('y', 'select', 'a', dim=0, index=0)]),
    ({'a': t(F, 2, 3)}, [s('y', 'narrow', 'a', dim=1, start=2, length=2)]),
    ({'a': t(F, 2, 3)}, [s('y', 'narrow', 'a', dim=1, start=0, length=-1)]),
    ({'a': t(F, 2, 3)}, [s('y', 'narrow', 'a', dim=1, start=4, length=0)]),
    ({'a': t(F, 2, 3)}, [s('y', 'slice', 'a', dim=1, start=0, end=2, step=0)]),
    ({'a': t(F, 2, 2, 2)}, [s('y', 't', 'a')]),
    ({'a': t(F, 2, 3)}, [s('y', 'flatten', 'a', start_dim=1, end_dim=0)]),
    ({'a': t(F, 2, 3), 'b': t(F, 2, 4)}, [s('y', 'cat', 'a', 'b')]),
    ({'a': t(F, 2, 3), 'b': t(F, 3)}, [s('y', 'cat', 'a', 'b')]),
    ({'a': t(F), 'b': t(F)}, [s('y', 'cat', 'a', 'b')]),
    ({'a': t(F, 2, 3)}, [s('y', 'cat', 'a', 'a', dim=2)]),
    ({'a': t(F, 2, 3)}, [s('y', 'stack', 'a', 'a', dim=3)]),
    ({'a': t('f16', 3)}, [s('y', 'view_as_dtype', 'a', dtype='f32')]),
    ({'a': t('f16')}, [s('y', 'view_as_dtype', 'a', dtype='f32')]),
    # reductions and losses: C8.16, C14.13, C18
    ({'a': t(F, 2, 3)}, [s('y', 'sum', 'a', dim=2)]),
    ({'a': t(F, 2, 3)}, [s('y', 'mean', 'a', dim=[0, 0])]),
    ({'a': t(F, 2, 3)}, [s('y', 'sum', 'a', dim=[1, -1])]),
    ({'a': t(F, 2, 3)}, [s('y', 'softmax', 'a', dim=-3)]),
    ({'a': t(F, 0)}, [s('y', 'max', 'a')]),
    ({'a': t(F, 0)}, [s('y', 'argmax', 'a')]),
    ({'a': t(F, 2, 0)}, [s(['y', 'i'], 'min', 'a', dim=1)]),
    ({'a': t(F, 2, 0)}, [s('y', 'argmin', 'a', dim=1)]),
    ({'a': t(F, 2, 3), 'b': t(I, 3)}, [s('y', 'cross_entropy', 'a', 'b')]),
    ({'a': t(F, 2, 1), 'b': t(I, 2)}, [s('y', 'cross_entropy', 'a', 'b')]),
    ({'a': t(F, 2, 3, 4), 'b': t(I, 2, 3)}, [s('y', 'cross_entropy', 'a', 'b')]),
    ({'a': t(F, 2, 3), 'b': t(F, 4)}, [s('y', 'mse_loss', 'a', 'b')]),
    ({'a': t(F, 2)}, [s('y', 'item', 'a')]),
    # making: C16.9, C18.5
    ({}, [s('y', 'zeros', shape=[2, -3])]),
    ({}, [s('y', 'arange', start=0, end=5, step=0)]),
    ({}, [s('y', 'arange', start=5, end=0)]),
    ({}, [s('y', 'linspace', start=0, end=1, steps=-1)]),
    ({}, [s('y', 'eye', n=-1)]),
    ({}, [s('y', 'full', shape=[2], value=300, dtype='u8')]),
    ({}, [s('y', 'full', shape=[2], value=2**31, dtype='i32')]),
    ({}, [s('y', 'tensor', values=[256], dtype='u8')]),
    ({}, [s('y', 'randint', low=3, high=3, shape=[2])]),
    ({}, [s('y', 'randperm', n=-1)]),
    # devices, `other` being meta: C3
    *[({'a': t(F, 2, 2), 'b': t(F, 2, 2, device=1)}, [s('y', op, x, y)])
      for op in ('add', 'div', 'pow', 'eq', 'lt', 'add_', 'mul_', 'mse_loss') for x, y in (('a', 'b'), ('b', 'a'))],
    ({'a': t(F, 2), 'b': t(F, device=1)}, [s('y', 'add', 'a', 'b')]),
    ({'a': t(F, 2, device=1), 'b': t(F, 1)}, [s('y', 'add', 'a', 'b')]),
    ({'a': t(F, device=1), 'b': t(F)}, [s('y', 'add_', 'b', 'a')]),
    # and what they allow
    ({'a': t(F, 2, device=1), 'b': t(F)}, [s('y', 'add', 'a', 'b')]),
    ({'a': t(I, 2, device=1), 'b': t('f64')}, [s('y', 'mul', 'b', 'a')]),
    ({'a': t(F, device=1), 'b': t('f64')}, [s('y', 'div', 'b', 'a')]),
    ({'a': t(F, 2, device=1), 'b': t('f64')}, [s('y', 'add_', 'a', 'b')]),
    ({'a': t(F, 2, device=1), 'b': t(I, 2)}, [s('y', 'copy_', 'a', 'b')]),
    ({'a': t(F, 2, 3, device=1)}, [s('v', 't', 'a'), s('y', 'sum', 'v', dim=0)]),
]
