/* check_divisor.c: integer division by 0 is an error on the CPU, reported before anything is written. A GPU kernel
 * cannot raise it and gives -1 instead (kernels/binary.cu). */
#include "cpu.h"
#include "dispatch.h"
#include "dtype.h"
#include "op.h"
#include "run_work.h"
#include "shape.h"
#include "tensor.h"

/* Compared after conversion to the type of the computation: 256 is 0 as uint8. */
static bool is_zero_number(const fy_arg *x, fy_dtype dtype)
{
    int64_t element;
    fy_number_put(dtype, &element, 0, *x);
    return fy_integer_at(dtype, &element, 0) == 0;
}

/* Is the divisor, or any of its elements, 0? A number and a 0-dim tensor are converted first; a tensor with dimensions
 * already has the type of the computation. */
static bool has_zero(const fy_arg *divisor, fy_dtype dtype)
{
    fy_tensor *x = divisor->tensor;
    if (!divisor->is_tensor) return is_zero_number(divisor, dtype);
    if (x->ndim == 0) {
        fy_arg element = fy_number_at(x->dtype, x->storage->data, x->offset);
        return is_zero_number(&element, dtype);
    }
    bool all = true; /* the op `all` gives false if any element is 0 */
    fy_geometry g = fy_geometry_of(x);
    fy_run_work w = {.op = FY_OP_all, .nin = 1, .dtype = x->dtype, .reduced = x->ndim};
    w.in[0] = (fy_operand){fy_first_element(x), x->dtype, fy_layout_of(&g)};
    w.out = (fy_operand){&all, FY_BOOL, {.numel = 1}};
    if (fy_tensor_numel(x) > 0) fy_host_op_find(FY_OP_all)(&w);
    return !all;
}

bool fy_divisor_ok(const fy_call *c, const fy_plan *p)
{
    const fy_arg *divisor = &c->in[1];
    bool divides = c->op == FY_OP_floor_divide || c->op == FY_OP_remainder;
    if (!divides || fy_dtype_is_real(p->dtype) || p->dev->number > 0 || fy_shape_numel(&p->result.shape) == 0)
        return true;
    if (!has_zero(divisor, p->dtype)) return true;
    return fy_fail_about(c->at, "value", "a float division by 0 gives inf or nan: fy_to(x, FY_FLOAT32)",
                         divisor->is_tensor, &(fy_tensor *){divisor->tensor}, "ZeroDivisionError");
}
