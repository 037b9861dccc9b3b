/* check_divisor.c: an integer divided by 0 is an error on the CPU, told before anything is written. A card has no
 * way to stop in the middle: there it gives -1 (kernels/binary.cu). */
#include "cpu.h"
#include "dispatch.h"
#include "dtype.h"
#include "op.h"
#include "run_work.h"
#include "shape.h"
#include "tensor.h"

static bool divides_integers(const fy_call *c, const fy_plan *p)
{
    return (c->op == FY_OP_floor_divide || c->op == FY_OP_remainder) && !fy_dtype_is_real(p->dtype);
}

/* As an element of the type that is computed in: 256 is 0 among uint8. */
static bool is_zero_number(const fy_arg *x, fy_dtype dtype)
{
    int64_t element;
    fy_number_put(dtype, &element, 0, *x);
    return fy_integer_at(dtype, &element, 0) == 0;
}

/* The host's own `all` asks whether every element is something else than 0. */
static bool has_zero(const fy_tensor *x)
{
    bool all = true;
    fy_geometry g = fy_geometry_of(x);
    char *first = fy_first_element(x);
    fy_run_work w = {.op = FY_OP_all, .nin = 1, .dtype = x->dtype, .reduced = x->ndim};
    w.in[0] = (fy_operand){first, x->dtype, fy_layout_of(&g)};
    w.out = (fy_operand){&all, FY_BOOL, {.numel = 1}};
    if (fy_numel(x) > 0) fy_host_op_find(FY_OP_all)(&w);
    return !all;
}

/* One element, a number's or a 0-dim tensor's, is converted first. */
static bool is_zero(const fy_arg *x, fy_dtype dtype)
{
    if (!x->is_tensor) return is_zero_number(x, dtype);
    if (x->tensor->ndim > 0) return has_zero(x->tensor);
    fy_arg element = fy_number_at(x->tensor->dtype, x->tensor->storage->data, x->tensor->offset);
    return is_zero_number(&element, dtype);
}

bool fy_divisor_ok(const fy_call *c, const fy_plan *p)
{
    const fy_arg *divisor = &c->in[1];
    if (!divides_integers(c, p) || p->dev->number > 0 || fy_shape_numel(&p->result.shape) == 0) return true;
    if (!is_zero(divisor, p->dtype)) return true;
    return fy_fail_about(c->at, "value", "among floats it gives inf or nan: fy_to(x, FY_FLOAT32)", divisor->is_tensor,
                         &(fy_tensor *){divisor->tensor}, "ZeroDivisionError");
}
