/* autocast.h: the casts that FY_AUTOCAST adds to calls. */
#ifndef FERRY_AUTOCAST_H
#define FERRY_AUTOCAST_H

#include "dispatch.h"

/* Calls that PyTorch's lists name, and that are no op of the table: those of several ops, and those that share one. */
enum {
    FY_CALL_linear = FY_OP_COUNT,
    FY_CALL_mv,
    FY_CALL_dot,
    FY_CALL_reciprocal, /* number / tensor */
    FY_CALL_mse_loss,
    FY_CALL_cross_entropy,
    FY_CALL_COUNT
};

extern _Thread_local bool fy_autocast_is_on; /* in this thread, on any device; a backward pass clears it */

/* The call as it is with its operands cast; casts: references to release. False: it stays as it is. *ok: false after an
 * error. */
typedef struct fy_cast_call {
    fy_call call;
    fy_tensor *cast[FY_MAX_INPUTS];
    bool ok;
} fy_cast_call;
bool fy_autocast_call(const fy_call *c, fy_cast_call *out);
void fy_autocast_call_end(const fy_cast_call *c);

/* For a call of several ops: casts its n operands (NULL: left out) in place. They become references to release; if
 * autocast is off they are left alone. False after an error: there is nothing to release. */
bool fy_autocast_take(fy_site *at, int call, int n, fy_tensor **x);
void fy_autocast_release(fy_site *at, int n, fy_tensor *const *x);

#endif
