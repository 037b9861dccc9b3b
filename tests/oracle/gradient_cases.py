"""Programs about gradients, one a line: the inputs, the steps, and what is looked at. Each is one that Ferry once
answered differently, or takes the same way as one."""
import torch_runner
from case_maker import Case, near
from torch_rules import n, s, t

F, D, I, B = 'f32', 'f64', 'i64', 'bool'


def backward(x, gradient=None, retain_graph=False):
    x.backward(gradient, retain_graph=retain_graph)


def grad(x):
    return None if x.grad is None else x.grad.detach()


torch_runner.OPS.update({'backward': backward, 'grad': grad, 'requires_grad_': lambda x, value=True: x.requires_grad_(value)})


def leaf(name):
    return s(None, 'requires_grad_', name)


def down(name, *gradient, **args):
    return s(None, 'backward', name, *gradient, **args)


def seen(name):
    return s('g_' + name, 'grad', name)


TWICE = [down('L'), down('L')]
HALF = {'a': n(F, 4)}
PROGRAMS = [
    # the node of a view that was written is older than that of the call that reads it
    ({'a': n(F, 2, 1), 'b': n(F, 1, 2), 'w': n(F, 3, 2)},
     [leaf('a'), s('c', 'clone', 'a'), s('v', 't', 'c'), s('m', 'mul_', 'v', 3), leaf('b'), s('y', 'cat', 'b', 'v', 'v'),
      down('y', 'w'), seen('a'), seen('b')]),
    # what a gradient does not read may be written
    ({'a': n(F, 3), 'b': n(F, 3)}, [leaf('a'), leaf('b'), s('y', 'div', 'a', 'b'), s('L', 'sum', 'y'), s(None, 'mul_', 'y', 2),
                                    down('L'), seen('a'), seen('b')]),
    ({'a': n(F, 2, 3)}, [leaf('a'), s('c', 'mul', 'a', 1.5), s(['y', 'i'], 'max', 'c', dim=1), s(None, 'mul_', 'y', 2),
                         s(None, 'add_', 'c', 1), s('L', 'sum', 'y'), down('L'), seen('a')]),
    ({'a': n(F, 2), 'i': {'dtype': I, 'shape': [0], 'data': []}, 'b': n(F, 0)},
     [leaf('a'), leaf('b'), s('c', 'clone', 'a'), s('y', 'scatter_add_', 'c', 'i', 'b', dim=0), s('L', 'sum', 'y'), down('L'),
      seen('a'), seen('b')]),
    # a number that the gradient reads is released, too
    *[({'a': n(F, 3)}, [leaf('a'), s('y', op, 'a', 2), s('L', 'sum', 'y'), *TWICE, *([] if op in ('mul', 'div') else [seen('a')])])
      for op in ('mul', 'div', 'add', 'sub')],
    # which mistake is told first
    ({'a': n(F, 3)}, [leaf('a'), s('y', 'exp', 'a'), s('L', 'sum', 'y'), down('L'), down('y')]),
    ({'a': n(F, 3), 'w': n(F, 2)}, [leaf('a'), s('y', 'exp', 'a'), s('L', 'sum', 'y'), down('L'), down('y', 'w')]),
    ({'a': n(F, 3), 'w': n(F, 2)}, [down('a', 'w')]),
    ({'a': n(F, 3)}, [leaf('a'), s('y', 'exp', 'a'), s(None, 'add_', 'y', 1), down('y')]),
    # no gradient in PyTorch
    *[({'a': n(F, 3)}, [leaf('a'), s('y', 'floor_divide', *x), s('L', 'sum', 'y'), down('L')]) for x in (('a', 2), ('a', 'a'))],
    # what was modified, and by what
    (HALF, [leaf('a'), s('y', 'exp', 'a'), s('z', 'mul', 'y', 'y'), s('L', 'sum', 'z'), s(None, 'add_', 'y', 1), down('L')]),
    (HALF, [leaf('a'), s('y', 'neg', 'a'), s('v', 'slice', 'y', dim=0, start=1), s('z', 'mul', 'y', 'y'), s('L', 'sum', 'z'),
            s(None, 'mul_', 'v', 2), down('L')]),
    (HALF, [leaf('a'), s('y', 'neg', 'a'), s('v', 'slice', 'y', dim=0, start=1), s('z', 'mul', 'v', 'v'), s('L', 'sum', 'z'),
            s(None, 'mul_', 'y', 2), down('L')]),
    ({'a': n(F, 4), 'b': n(F, 4)}, [leaf('a'), s('c', 'add', 'b', 1), s('y', 'mul', 'a', 'c'), s('L', 'sum', 'y'),
                                    s(None, 'add_', 'c', 1), down('L')]),
    ({'a': n('bf16', 2)}, [leaf('a'), s('y', 'exp', 'a'), s('L', 'sum', 'y'), s(None, 'add_', 'y', 1), down('L')]),
    *[(HALF, [leaf('a'), s('y', *op[0], **op[1]), s('L', 'sum', 'y'), s(None, 'add_', 'y', 1), down('L')])
      for op in ((('pow', 'a', 'a'), {}), (('prod', 'a'), {'dim': 0}), (('max', 'a'), {}), (('norm', 'a'), {}),
                 (('softmax', 'a'), {'dim': 0}))],
    # what may not be written
    ({'a': n(F, 2, 3)}, [s('v', 't', 'a'), leaf('v'), s(None, 'add_', 'v', 1)]),
    ({'a': n(F, 3, 1)}, [s('v', 't', 'a'), leaf('v'), s('e', 'expand', 'v', shape=[2, 3]), s(None, 'mul_', 'e', 2)]),
    *[(HALF, [leaf('a'), s('y', 'neg', 'a'), s(['p', 'q'], op, 'y', dim=0, **args), s(None, 'add_', 'q', 1)])
      for op, args in (('split', {'size': 2}), ('split', {'size': [1, 3]}), ('chunk', {'chunks': 2}))],
    (HALF, [leaf('a'), s(['p', 'q'], 'split', 'a', size=2, dim=0), s('v', 'select', 'q', dim=0, index=0), s(None, 'zero_', 'v')]),
    ({'a': n(F, 4), 'w': n(F, 2)}, [leaf('w'), s(['p', 'q'], 'split', 'a', size=2, dim=0), s(None, 'mul_', 'q', 3),
                                    s(None, 'mul_', 'q', 'w')]),
    # optimizers' mistakes in their order
    ({'a': n(F, 2), 'b': n(F, 2)}, [s('y', 'sgd', 'a', 'b', lr=-1, momentum=-1)]),
    ({'a': n(F, 2), 'b': n(F, 2)}, [s('y', 'adam', 'a', 'b', lr=-1, eps=-1)]),
    ({'a': n(F, 2), 'b': n(F, 2)}, [s('y', 'adam', 'a', 'b', betas=[0.9, 1.0])]),
]


def gradients():
    for inputs, program in PROGRAMS:
        c = Case('gradient')
        c.inputs, c.program, c.tol = inputs, program, near([F])
        made = [x for step in program if step[0] for x in (step[0] if isinstance(step[0], list) else [step[0]])]
        c.done(*[name for name in made if name.startswith('g_')] or ['a'])
