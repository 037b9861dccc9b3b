/* implicit_copy.c: FERRY_POLICY=silent, the contrast: where PyTorch refuses operands on different devices, they are
 * copied to one device without a word to the program, as TensorFlow does. The log flags each copy. */
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

/* Where the call runs: where it writes, else on the first card among its operands. */
static fy_dev *meeting_place(const fy_call *c)
{
    if (is_alive(c->out)) return c->out->storage->dev;
    for (int i = 0; i < fy_ops[c->op].nin; i++)
        if (operand(c, i) && operand(c, i)->storage->dev->number > 0) return operand(c, i)->storage->dev;
    return fy_dev_at(0);
}

/* A 0-dim tensor on the CPU goes along as a number, but for those ops that take none. */
static bool is_stray(const fy_call *c, int i, const fy_dev *place)
{
    const fy_tensor *x = operand(c, i);
    if (!x || x->storage->dev == place) return false;
    return x->ndim > 0 || x->storage->dev->number > 0 || !fy_op_takes_numbers(c->op);
}

bool fy_policy_applies(const fy_call *c)
{
    if (!fy_dev_copies_implicitly()) return false;
    for (int i = 0; i < fy_ops[c->op].nin; i++)
        if (is_stray(c, i, meeting_place(c))) return true;
    return false;
}

fy_tensor *fy_policy_dispatch(const fy_call *c)
{
    fy_call together = *c;
    fy_tensor *copy[FY_MAX_INPUTS] = {0}, *out = NULL;
    fy_dev *place = meeting_place(c);
    bool ok = true;
    for (int i = 0; ok && i < fy_ops[c->op].nin; i++) {
        if (!is_stray(c, i, place)) continue;
        ok = (copy[i] = fy_copy_to(c->at, operand(c, i), place, operand(c, i)->dtype,
                                   &(fy_transfer_opts){.why = FY_WORD_policy}, NULL)) != NULL;
        together.in[i] = fy_arg_tensor(copy[i]);
    }
    if (ok) out = fy_dispatch(&together);
    for (int i = 0; i < FY_MAX_INPUTS; i++) fy_tensor_release(c->at, copy[i], FY_WORD_free);
    return out;
}
