/* log_scalar.c: fy_log_scalar. The only emitter of scalar. */
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "session_hooks.h"
#include "tensor.h"
#include "transfer.h"

/* A tensor is read as fy_item reads it, so the program waits for a card. */
void fy_log_scalar_at(fy_site *at, const char *name, fy_arg value)
{
    FY_CALL(at);
    fy_session_start();
    if (!name || !*name) {
        fy_fail(at, "name", "fy_log_scalar(\"loss\", loss)", "the name of the curve is %s", name ? "empty" : "NULL");
        return;
    }
    if (value.is_tensor && !fy_check(at, 1, value.tensor)) return;
    if (value.is_tensor && fy_tensor_numel(value.tensor) != 1) {
        fy_fail_about(at, "value", "log one number: fy_mean(x), fy_item(x)", 2, (fy_tensor *[]){NULL, value.tensor},
                      "a Tensor with %lld elements cannot be converted to Scalar",
                      (long long)fy_tensor_numel(value.tensor));
        return;
    }
    if (value.is_tensor && !fy_take_item(at, value.tensor, &value)) return;
    FY_EMIT(at, scalar, .name = fy_ref_str(name), .value = value.real);
}
