/* implicit_copy.c: FERRY_POLICY=silent, for contrast: where PyTorch rejects operands on different devices they are
 * copied to one device without telling the program, as TensorFlow does. The log flags each copy. */
#include "device.h"
#include "dispatch.h"
#include "event.h"
#include "op.h"
#include "run_work.h"
#include "tensor.h"
#include "transfer.h"

static bool is_alive(const fy_tensor *x) { return x && x->magic == FY_ALIVE; }

static fy_tensor *operand(const fy_call *c, int i)
{
    return c->in[i].is_tensor && is_alive(c->in[i].tensor) ? c->in[i].tensor : NULL;
}

/* The device the call runs on: its target's, else the first GPU among its operands'. */
static fy_dev *target_device(const fy_call *c)
{
    if (is_alive(c->out)) return c->out->storage->dev;
    for (int i = 0; i < fy_ops[c->op].nin; i++)
        if (operand(c, i) && operand(c, i)->storage->dev->number > 0) return operand(c, i)->storage->dev;
    return fy_dev_at(0);
}

/* Must the operand be copied? A 0-dim CPU tensor is passed as a number, if the op takes numbers. */
static bool needs_copy(const fy_call *c, int i, const fy_dev *dev)
{
    const fy_tensor *x = operand(c, i);
    if (!x || x->storage->dev == dev) return false;
    return x->ndim > 0 || x->storage->dev->number > 0 || !fy_op_takes_numbers(c->op);
}

bool fy_policy_applies(const fy_call *c)
{
    if (!fy_dev_copies_implicitly()) return false;
    for (int i = 0; i < fy_ops[c->op].nin; i++)
        if (needs_copy(c, i, target_device(c))) return true;
    return false;
}

fy_tensor *fy_policy_dispatch(const fy_call *c)
{
    fy_call local = *c;
    fy_tensor *copy[FY_MAX_INPUTS] = {0}, *out = NULL;
    fy_dev *dev = target_device(c);
    bool ok = true;
    for (int i = 0; ok && i < fy_ops[c->op].nin; i++) {
        if (!needs_copy(c, i, dev)) continue;
        ok = (copy[i] = fy_copy_to(c->at, operand(c, i), dev, operand(c, i)->dtype,
                                   &(fy_transfer_opts){.why = FY_WORD_policy}, NULL)) != NULL;
        local.in[i] = fy_arg_tensor(copy[i]);
    }
    if (ok) out = fy_compute(&local);
    for (int i = 0; i < FY_MAX_INPUTS; i++) fy_tensor_release(c->at, copy[i], FY_WORD_free);
    return out;
}
