/* value_ops.h: what an operation writes, recomputed in double precision from what it reads, each element with a bound
 * of the rounding that the log's own computation may differ by. */
#ifndef FERRY_VALUE_OPS_H
#define FERRY_VALUE_OPS_H

#include "element.h"

/* Values that an event gives of a result: of its first elements. */
typedef struct claims {
    const double *at;
    int64_t count;
} claims;

/* FITS: out is filled in. CONTRADICTS: no arguments of the op give what is claimed; element `where` differs, and out
 * has what was expected there. UNDECIDED: the op, its arguments or its inputs are not known. */
typedef enum outcome_of_op { OP_UNDECIDED, OP_FITS, OP_CONTRADICTS } outcome_of_op;

/* op: an fy_op_index, or -1. The operands are those tensors that the log names: numbers are not in it, so that one is
 * sought that gives the claimed values. out: shape and dtype set, its elements unknown. */
outcome_of_op value_op(int op, const array *in, int inputs, const claims *said, array *out, int64_t *where);

/* Steps of an operation, which bound how long the recomputation takes. */
int64_t value_op_steps(int op, const array *in, int inputs, const array *out);

#endif
