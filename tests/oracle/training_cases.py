"""Cases of what training uses: optimizers, clipping, layer norm, random values in place, modules' initial values."""
import torch
import torch.nn.functional as F

import torch_runner
from case_maker import Case, R, SHAPES, apart, given, near
from torch_runner import seeded

OPTIMIZERS = {'sgd': torch.optim.SGD, 'adam': torch.optim.Adam, 'adamw': torch.optim.AdamW}


def trained(make):
    """The parameter after one step a gradient."""
    def run(p, *gradients, **k):
        p = p.clone().requires_grad_()
        optimizer = make([p], **k)
        for g in gradients:
            p.grad = g.clone()
            optimizer.step()
        return p.detach()
    return run


def clipped(*gradients, max_norm):
    parameters = [g.clone().requires_grad_() for g in gradients]
    for p, g in zip(parameters, gradients):
        p.grad = g.clone()
    total = torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    return (total, *[p.grad for p in parameters])


def first_values(make):
    """The parameters of a new module."""
    def run(seed, **k):
        torch.manual_seed(seed)
        return tuple(p.detach() for p in make(**k).parameters())
    return run


def layer_norm(x, weight=None, bias=None, shape=None, eps=1e-5):
    return F.layer_norm(x, shape, weight, bias, eps)


torch_runner.OPS.update({name: trained(make) for name, make in OPTIMIZERS.items()})
torch_runner.OPS.update({
    'clip_grad_norm_': clipped, 'layer_norm': layer_norm,
    'uniform_': seeded(lambda x, low, high: x.clone().uniform_(low, high)),
    'normal_': seeded(lambda x, mean, std: x.clone().normal_(mean, std)),
    'bernoulli_': seeded(lambda x, p: x.clone().bernoulli_(p)), 'dropout': seeded(lambda x, p: F.dropout(x, p)),
    'nn_linear': first_values(lambda n, m, bias=True: torch.nn.Linear(n, m, bias)),
    'nn_embedding': first_values(lambda n, m: torch.nn.Embedding(n, m)),
    'nn_layer_norm': first_values(lambda n: torch.nn.LayerNorm(n)),
})


def settings(name):
    k = {'lr': R.choice([0.1, 0.01, 1, 0])}
    if name == 'sgd':
        k.update(R.choice([{}, {'momentum': 0.9}, {'momentum': 0.5, 'dampening': 0.25}, {'momentum': 0.9, 'nesterov': True}]))
    else:
        k.update(R.choice([{}, {'betas': [0.8, 0.9]}, {'betas': [0, 0.5]}, {'eps': 0.001}, {'amsgrad': True}]))
    if R.random() < 0.4:
        k['weight_decay'] = R.choice([0.01, 0.5, 0])
    if R.random() < 0.2:
        k['maximize'] = True
    if R.random() < 0.06:
        k.update(R.choice([{'lr': -1}, {'weight_decay': -2}, {'eps': -1} if name != 'sgd' else {'momentum': -1}]))
    return k


@apart('training')
def training():
    for name in ['sgd', 'adam', 'adamw'] * 18:
        c, shape, dtype = Case('training'), R.choice(SHAPES), R.choice(['f32', 'f32', 'f32', 'f64'])
        c.tol = near([dtype])
        names = ['p'] + ['g%d' % i for i in range(R.randint(1, 4))]
        for n in names:
            c.inputs[n] = given(dtype, shape, 0)
        c.step('y', name, names, **settings(name))
        c.done()
    for _ in range(8):
        c = Case('clip')
        c.tol = near(['f32'])
        c.inputs = {n: given('f32', R.choice(SHAPES[:-3]), 0) for n in 'ab'[:R.randint(1, 2)]}
        names = ['t', *['g' + n for n in c.inputs]]
        c.step(names, 'clip_grad_norm_', list(c.inputs), max_norm=R.choice([0.5, 1, 100, 0]))
        c.done(*names)


@apart('layer norms') # not of bf16: this PyTorch's CPU rounds mean and scale on the way, and is off by 0.04
def layer_norms():
    for _ in range(36):
        c, shape, dtype = Case('layer_norm'), R.choice([(2, 3), (3, 2), (1, 3), (2, 2, 2), (3, 1, 2), (2, 40), (4, 2, 9), (0, 3)]), R.choice(['f32', 'f32', 'f64'])
        inner = list(shape[-R.randint(1, len(shape)):])
        c.tol = near([dtype])
        operands = [c.tensor(dtype, shape, 0)]
        if R.random() < 0.6:
            operands += [c.tensor(dtype, tuple(inner), 0), c.tensor(dtype, tuple(inner), 0)]
        args = {'eps': R.choice([1e-3, 0.5])} if R.random() < 0.3 else {}
        c.step('y', 'layer_norm', operands, shape=[7] if R.random() < 0.06 else inner, **args)
        c.done()


@apart('draws')
def draws():
    for name, args in [('uniform_', {'low': -0.3, 'high': 0.7}), ('uniform_', {'low': 2, 'high': 2}),
                       ('uniform_', {'low': 3, 'high': 2}), ('normal_', {'mean': 0, 'std': 1}),
                       ('normal_', {'mean': 3, 'std': 0.5}), ('normal_', {'mean': 0, 'std': -1}), ('bernoulli_', {'p': 0.25}),
                       ('bernoulli_', {'p': 2}), ('dropout', {'p': 0.25}), ('dropout', {'p': 0}), ('dropout', {'p': 1}),
                       ('dropout', {'p': 1.5})] * 3:
        c, dtype = Case('draws'), R.choice(['f32', 'f32', 'f64', 'bf16'])
        c.tol = near([dtype]) if name in ('normal_', 'dropout') else None
        c.inputs['a'] = given(dtype, (R.choice([3, 15, 16, 24, 33]),), 0)
        c.step('y', name, ['a'], seed=R.choice([0, 1, 12345]), **args)
        c.done()
    for name, args in [('nn_linear', {'n': 3, 'm': 2}), ('nn_linear', {'n': 32, 'm': 64}), ('nn_linear', {'n': 5, 'm': 7, 'bias': False}),
                       ('nn_embedding', {'n': 4, 'm': 5}), ('nn_embedding', {'n': 2, 'm': 3}), ('nn_layer_norm', {'n': 6})]:
        c, names = Case('first'), ['w', 'b'] if name != 'nn_embedding' and args.get('bias', True) else ['w']
        c.tol = near(['f32']) if name == 'nn_embedding' else None
        c.step(names if len(names) > 1 else ['w'], name, seed=R.choice([0, 7]), **args)
        c.done(*names)
