/* optimizer.h: an optimizer: its parameters, and what it keeps of each. */
#ifndef FERRY_OPTIMIZER_H
#define FERRY_OPTIMIZER_H

#include "op.h"
#include "tensor.h"

enum { FY_OPTIMIZER = 0x46794f50, FY_OPTIMIZER_FREED = 0x46794f44, FY_MOST_STATES = 3 };

typedef struct fy_trained_parameter {
    fy_tensor *x;                     /* a reference */
    fy_tensor *state[FY_MOST_STATES]; /* by the optimizer's own numbering; NULL: not made yet */
    int64_t steps;
} fy_trained_parameter;

/* Changes p->x by its gradient; false after an error. What it makes is in the scope of this parameter's step. */
typedef bool (*fy_optimizer_update)(fy_site *at, const fy_optimizer *o, fy_trained_parameter *p, fy_tensor *gradient);

struct fy_optimizer {
    uint32_t magic;
    fy_optimizer_update update;
    double lr;
    fy_sgd_opts sgd; /* of the optimizer that it is, defaults filled in; lr is above */
    fy_adam_opts adam;
    bool decoupled; /* AdamW: weight decay of the parameter itself */
    fy_trained_parameter *p;
    size_t n;
};

/* optimizer.c */
fy_optimizer *fy_optimizer_make(fy_site *at, const fy_trained *what, double lr, fy_optimizer_update update);
bool fy_optimizer_check(fy_site *at, const fy_optimizer *o); /* is argument 0 a live optimizer? False after an error */
bool fy_optimizer_check_value(fy_site *at, const char *what, double x, bool ok); /* ok; false after an error */
/* The tensors, borrowed, and their number; NULL after an error. */
fy_tensor *const *fy_trained_list(fy_site *at, const fy_trained *what, size_t *n);
fy_tensor *fy_gradient_of(fy_tensor *x); /* borrowed; NULL: none */
/* State i of the parameter, made on first use: 0, or the values of `first`. NULL after an error. */
fy_tensor *fy_optimizer_state(fy_site *at, fy_trained_parameter *p, int i, const char *name, fy_tensor *first);

/* arithmetic.c: ops that no graph records. `out`: written in place and returned; NULL: a new tensor, in the scope.
 * value: the op's scalar, such as alpha. NULL after an error; an operand that is NULL gives NULL. */
fy_tensor *fy_optimizer_op(fy_site *at, int op, fy_tensor *out, fy_arg a, fy_arg b, fy_arg c, double value);
fy_tensor *fy_add_scaled(fy_site *at, fy_tensor *out, fy_tensor *a, fy_tensor *b, double alpha); /* a + alpha * b */
fy_tensor *fy_scaled(fy_site *at, fy_tensor *out, fy_tensor *a, double factor);

#endif
