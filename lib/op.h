/* op.h: the op table. One row says an operation's name, its rules and its cost; adding an op touches
 * this table, its kernel and its test. */
#ifndef FERRY_OP_H
#define FERRY_OP_H

#include "device.h"

/* Result type of an op whose operands have (after promotion) dtype d. */
typedef enum fy_dtype_rule { FY_SAME_DTYPE, FY_GIVEN_DTYPE } fy_dtype_rule;
typedef enum fy_shape_rule { FY_BROADCAST, FY_SAME_SHAPE, FY_MATRIX_PRODUCT, FY_SCALAR, FY_GIVEN_SHAPE } fy_shape_rule;

/* X(name, operands, dtype rule, shape rule, flops for one element of the result, scalars)
 * flops: matmul counts 2k an element, sum one an element of its operand; see fy_op_cost.
 *
 * Layouts: inputs of a broadcasting op arrive already expanded to the result's shape (stride 0 where a
 * size was 1), inputs of a matrix product as two matrices, and the result of sum is one element.
 * Numbers: an input of add or mul whose data is NULL is a number, real[i] or integer[i] for in[i] by
 * its dtype: what a learner wrote (x + 2.5) or a 0-dim CPU tensor, passed as a kernel argument.
 * randn on a card: one counter makes four elements (row-major); a call uses (numel + 3) / 4 counters from
 * integer[1] on. The host draws from its own generator (random.c). */
#define FY_OPS(X) \
    X(fill,   0, FY_GIVEN_DTYPE, FY_GIVEN_SHAPE,    0, "real[0], integer[0]: the value") \
    X(arange, 0, FY_GIVEN_DTYPE, FY_GIVEN_SHAPE,    1, "[0] start, [1] step") \
    X(randn,  0, FY_GIVEN_DTYPE, FY_GIVEN_SHAPE,   20, "integer[0] seed, integer[1] offset of the counter") \
    X(cast,   1, FY_GIVEN_DTYPE, FY_SAME_SHAPE,     0, "") \
    X(clone,  1, FY_SAME_DTYPE,  FY_SAME_SHAPE,     0, "strided to strided") \
    X(add,    2, FY_SAME_DTYPE,  FY_BROADCAST,      1, "") \
    X(mul,    2, FY_SAME_DTYPE,  FY_BROADCAST,      1, "") \
    X(relu,   1, FY_SAME_DTYPE,  FY_SAME_SHAPE,     1, "") \
    X(sum,    1, FY_SAME_DTYPE,  FY_SCALAR,         1, "") \
    X(matmul, 2, FY_SAME_DTYPE,  FY_MATRIX_PRODUCT, 2, "2-D (n,k) (k,m); 1-D operands are made 2-D before")

typedef enum fy_op_index {
#define X(name, nin, dtype, shape, flops, scalars) FY_OP_##name,
    FY_OPS(X)
#undef X
    FY_OP_COUNT
} fy_op_index;

typedef struct fy_op {
    const char *name;
    int nin;
    fy_dtype_rule dtype;
    fy_shape_rule shape;
    int64_t flops;
} fy_op;

extern const fy_op fy_ops[FY_OP_COUNT];

/* Fill flops and bytes of a call whose operands are set. (op.c) */
void fy_op_cost(fy_run_work *w);

/* Host versions, by op and dtype; strided, any layout. (cpu_*.c) */
typedef void (*fy_host_op)(fy_run_work *w);
fy_host_op fy_host_op_find(int op, fy_dtype dtype);

/* kernels/: one launcher an op and dtype. `alias` maps a guarded address to one the kernels may touch
 * (simulator); the real card passes addresses as they are. Fills grid, block, kernel. */
typedef struct fy_kernel {
    const char *name; /* "add_f32" */
    int op;
    fy_dtype dtype;   /* type it computes in; for cast the type of the input */
    void (*launch)(fy_run_work *w);
} fy_kernel;
const fy_kernel *fy_sim_kernel(int op, fy_dtype dtype);  /* from the objects made by g++ */
const char *fy_sim_kernel_fault(void); /* what the last kernel of this thread did wrong, or NULL */
const fy_kernel *fy_cuda_kernel(int op, fy_dtype dtype); /* from the objects made by nvcc */

#endif
