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

/* Parameters that are updated together: one; or with .foreach all of one device and dtype that have done as many steps,
 * and whose tensors fit into one launch (fy_foreach_takes). Lists hold a tensor for each. */
enum { FY_MOST_LISTS = 9, FY_MOST_OPERANDS = 3 };
typedef struct fy_group {
    bool foreach;
    const char *optimizer; /* its name */
    size_t n;
    fy_trained_parameter **p;
    fy_tensor **x, **g; /* the parameters, their gradients */
    fy_tensor **lists;  /* room for FY_MOST_LISTS */
    int used;
} fy_group;

/* Changes group->x by their gradients; false after an error. What it makes is in the scope of this group's step. */
typedef bool (*fy_optimizer_update)(fy_site *at, const fy_optimizer *o, fy_group *group);

struct fy_optimizer {
    uint32_t magic;
    const char *name; /* PyTorch's: "Adam" */
    fy_optimizer_update update;
    double lr;
    fy_sgd_opts sgd; /* of the optimizer that it is, defaults filled in; lr is above */
    fy_adam_opts adam;
    bool foreach;   /* one launch in place of one a parameter */
    bool decoupled; /* AdamW: weight decay of the parameter itself */
    fy_trained_parameter *p;
    size_t n;
};

/* optimizer.c */
fy_optimizer *fy_optimizer_make(fy_site *at, const char *name, const fy_trained *what, double lr,
                                fy_optimizer_update update);
bool fy_optimizer_check(fy_site *at, const fy_optimizer *o); /* is argument 0 a live optimizer? False after an error */
bool fy_optimizer_check_value(fy_site *at, const char *what, double x, bool ok); /* ok; false after an error */
/* The tensors, borrowed, and their number; NULL after an error. */
fy_tensor *const *fy_trained_list(fy_site *at, const fy_trained *what, size_t *n);
fy_tensor *fy_gradient_of(fy_tensor *x); /* borrowed; NULL: none */

/* group.c */
bool fy_step_groups(fy_site *at,
                    fy_optimizer *o); /* updates each parameter that has a gradient; false after an error */
/* State i of each, made on first use: 0, or the values of `first`. NULL after an error. */
fy_tensor **fy_group_state(fy_site *at, fy_group *g, int i, const char *name, fy_tensor **first);

/* An operand of a group's op: a list, or a number. */
typedef struct fy_each {
    fy_tensor *const *list; /* NULL and no number: an op has failed that should have made it */
    double number;
    bool is_number;
} fy_each;
static inline fy_each fy_each_of(fy_tensor *const *list) { return (fy_each){.list = list}; }
static inline fy_each fy_each_number(double x) { return (fy_each){.number = x, .is_number = true}; }

/* arithmetic.c: ops of a group's tensors, that no graph records. `out`: written in place and returned; NULL: new
 * tensors, in the scope. value: the op's scalar, such as alpha. NULL after an error; an operand that is NULL gives
 * NULL. */
fy_tensor **fy_group_list(fy_group *g); /* an empty list, the group's */
fy_tensor **fy_group_op(fy_site *at, fy_group *g, int op, fy_tensor **out, fy_each a, fy_each b, fy_each c,
                        double value);
fy_tensor **fy_add_scaled(fy_site *at, fy_group *g, fy_tensor **out, fy_tensor **a, fy_tensor **b,
                          double alpha); /* a + alpha * b */
fy_tensor **fy_scaled(fy_site *at, fy_group *g, fy_tensor **out, fy_tensor **a, double factor);

#endif
