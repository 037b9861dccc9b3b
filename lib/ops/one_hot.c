/* one_hot.c: fy_one_hot. If the caller does not pass the number of classes it is the maximum plus 1, read back from the
 * device. */
#include "cpu.h"
#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "op.h"
#include "run_work.h"
#include "session_hooks.h"
#include "shape.h"
#include "tensor.h"
#include "transfer.h"

/* Max or min of the classes on the host, checked before anything runs; on a GPU the kernel asserts. */
static int64_t extreme(const fy_tensor *x, int op)
{
    int64_t found = 0;
    fy_geometry g = fy_geometry_of(x);
    fy_run_work w = {.op = op, .nin = 1, .dtype = x->dtype, .reduced = x->ndim};
    w.in[0] = (fy_operand){fy_first_element(x), x->dtype, fy_layout_of(&g)};
    w.out = (fy_operand){&found, FY_INT64, {.numel = 1}};
    fy_host_op_find(op)(&w);
    return found;
}

static void *fail_class(fy_site *at, fy_tensor *x, const char *message)
{
    return fy_fail_about(at, "index", "classes are numbered from 0; the second argument is the number of classes", 1,
                         &x, "%s", message);
}

/* Maximum plus 1. The op and the synchronization show in the log. False after an error. */
static bool count_classes(fy_site *at, fy_tensor *x, int64_t *classes)
{
    bool host = x->storage->dev->number == 0;
    if (host && extreme(x, FY_OP_min) < 0) return fail_class(at, x, "Class values must be non-negative.");
    fy_tensor *largest = fy_dispatch(&(fy_call){.at = at, .op = FY_OP_max, .in = {fy_arg_tensor(x)}});
    fy_arg number;
    bool ok = largest && fy_take_item(at, largest, &number);
    fy_tensor_release(at, largest, FY_WORD_free);
    if (!ok) return false;
    if (number.integer < 0) return fail_class(at, x, "Class values must be non-negative.");
    return !__builtin_add_overflow(number.integer, 1, classes) ||
           fail_class(at, x, "Class values must be smaller than num_classes.");
}

fy_tensor *fy_one_hot_at(fy_site *at, fy_tensor *x, int64_t classes)
{
    FY_CALL(at);
    char name[200];
    fy_call c = {.at = at, .op = FY_OP_one_hot, .in = {fy_arg_tensor(x)}};
    fy_session_start();
    if (!fy_check(at, 0, x)) return NULL;
    if (x->dtype != FY_INT64)
        return fy_fail_about(at, "dtype",
                             fy_hint("convert it first: fy_to(%s, FY_INT64)", fy_argument(at, 0, name, sizeof name)), 1,
                             &x, "one_hot is only applicable to index tensor. Got: %s", fy_dtype_torch(x->dtype));
    if (x->ndim == FY_MAX_DIMS)
        return fy_fail_about(at, "shape", "flatten the classes first with fy_flatten", 1, &x,
                             "the result would have %d dimensions, and a tensor has at most %d", FY_MAX_DIMS + 1,
                             FY_MAX_DIMS);
    if (fy_tensor_numel(x) == 0 && classes <= 0)
        return fail_class(at, x, "Can not infer total number of classes from empty tensor.");
    if (classes == -1 && !count_classes(at, x, &classes)) return NULL;
    if (fy_tensor_numel(x) > 0 && x->storage->dev->number > 0) {
        if (classes < 1) return fail_class(at, x, "num_classes should be positive");
    } else if (fy_tensor_numel(x) > 0) {
        if (extreme(x, FY_OP_min) < 0) return fail_class(at, x, "Class values must be non-negative.");
        if (extreme(x, FY_OP_max) >= classes)
            return fail_class(at, x, "Class values must be smaller than num_classes.");
    }
    c.shape = (fy_shape){1, {classes}};
    c.name = fy_name_for(at, NULL);
    return fy_scope_track(fy_dispatch(&c));
}
