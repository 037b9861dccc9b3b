/* module_to.c: fy_module_to: moves what a module holds to another device, or converts it to another float dtype. */
#include "accumulate.h"
#include "composed.h"
#include "device.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "module.h"
#include "session_hooks.h"
#include "transfer.h"

typedef struct target {
    fy_site *at;
    fy_dev *dev;    /* NULL: each stays */
    fy_dtype dtype; /* FY_DTYPE_UNSET: each keeps its own */
} target;

/* x elsewhere, under x's name; NULL with *needed = false if it is there already. */
static fy_tensor *moved(const target *t, fy_tensor *x, bool *needed)
{
    fy_dev *to = t->dev ? t->dev : x->storage->dev;
    fy_dtype dtype = t->dtype != FY_DTYPE_UNSET && fy_dtype_is_real(x->dtype) ? t->dtype : x->dtype;
    *needed = to != x->storage->dev || dtype != x->dtype;
    if (!*needed) return NULL;
    return fy_copy_to(t->at, x, to, dtype, &(fy_transfer_opts){.why = FY_WORD_user}, x->name);
}

/* A gradient follows its tensor, which must have moved before. */
static bool move_gradient(const target *t, fy_node *leaf)
{
    bool needed;
    if (!leaf || !leaf->grad) return true;
    fy_tensor *there = moved(t, leaf->grad, &needed);
    if (there) fy_gradient_set(t->at, leaf, there);
    return there || !needed;
}

static bool move_member(fy_module *m, fy_member *member, void *context)
{
    const target *t = context;
    bool needed;
    (void)m;
    fy_tensor *there = moved(t, member->tensor, &needed);
    if (!there) return !needed;
    fy_tensor_replace(t->at, member->tensor, there);
    return move_gradient(t, member->tensor->node);
}

static bool read_target(target *t, const fy_target *given)
{
    if (given->is_like) {
        if (!fy_check(t->at, 1, given->like)) return false;
        t->dev = given->like->storage->dev;
        t->dtype = given->like->dtype;
    } else if (given->dtype != FY_DTYPE_UNSET) {
        t->dtype = given->dtype;
    } else if (!given->device) {
        return fy_fail(t->at, "device", "fy_module_to(net, \"cuda\")", "Device string must not be empty (it is NULL)");
    } else if (!(t->dev = fy_dev_parse(t->at, given->device))) {
        return false;
    }
    if (t->dtype == FY_DTYPE_UNSET || fy_dtype_is_real(t->dtype)) return true;
    return fy_fail(t->at, "dtype", "parameters train as FY_FLOAT32, FY_FLOAT64, FY_FLOAT16 or FY_BFLOAT16",
                   "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=torch.%s",
                   fy_dtype_name(t->dtype));
}

bool fy_module_to_at(fy_site *at, fy_module *m, fy_target given)
{
    FY_CALL(at);
    target t = {.at = at};
    fy_session_start();
    if (!fy_module_check(at, 0, m) || !read_target(&t, &given)) return false;
    fy_composed before = fy_compose((fy_composed){.on = true});
    bool ok = fy_module_each(m, move_member, &t);
    fy_compose(before);
    return ok;
}
