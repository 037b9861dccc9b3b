/* dispatch.h: one call of one op, from the check of its operands to its events. */
#ifndef FERRY_DISPATCH_H
#define FERRY_DISPATCH_H

#include "device.h"
#include "event.h"
#include "graph.h"
#include "run_work.h"
#include "tensor.h"

/* Of a result that several calls write: which part. */
typedef struct fy_part_of {
    int64_t dim, number, start; /* along dim, from 0 */
} fy_part_of;

typedef struct fy_call {
    fy_site *at; /* NULL: internal work */
    int op;
    fy_arg in[FY_MAX_INPUTS];
    fy_tensor *out;         /* written in place and returned borrowed; NULL: a new tensor */
    const fy_tensor *whole; /* the tensor that `out` is a part of, under its id; NULL: `out` itself */
    const fy_part_of *part; /* likewise, which part; NULL: it is not of cat or stack */
    fy_dev *dev;            /* given shapes: the device */
    fy_dtype dtype;         /* given dtypes: of the result; reductions: to compute in, if set */
    fy_shape shape;         /* given shapes: of the result */
    const int64_t *strides; /* given shapes, and gather: of the result; NULL: row-major */
    bool pinned;            /* the result in page-locked memory, on the CPU */
    bool requires_grad;     /* the result is a leaf that does */
    fy_shape dims; /* reductions: the dimensions (none: all); ops along one dimension, and index ops: that one */
    bool keepdim;
    int as;                      /* under autocast: the call whose rule holds (autocast.h); 0: that of the op */
    bool bias_last;              /* addmm of fy_linear: the first operand is the third argument */
    bool row_major;              /* the result is row-major, whatever the operands' strides */
    double real[FY_MAX_SCALARS]; /* by FY_ADD_alpha and the like (op.h) */
    int64_t integer[FY_MAX_SCALARS];
    const char *name; /* of the result; interned */
} fy_call;

/* A call's plan, made before anything is allocated. (plan.c) */
typedef struct fy_plan {
    fy_dev *dev;
    fy_dtype dtype; /* the op computes in */
    fy_geometry result;
    fy_dtype takes[FY_MAX_INPUTS];    /* the type of each operand */
    fy_layout in[FY_MAX_INPUTS], out; /* as the kernel sees them; out: where the result's layout has another form */
    bool number[FY_MAX_INPUTS];       /* passed as a kernel argument */
    int reduced;
} fy_plan;

bool fy_plan_make(const fy_call *c, fy_plan *p);  /* false after an error */
bool fy_plan_types(const fy_call *c, fy_plan *p); /* op_dtypes.c */
bool fy_subtracts_mask(const fy_call *c);
/* The argument number of an operand: index ops have `dim` between two operands. fy_arguments lists all tensors by
 * argument number, NULL elsewhere, and returns the count. */
enum { FY_MAX_ARGUMENTS = FY_MAX_INPUTS + 1 };
int fy_argument_number(const fy_call *c, int operand);
const char *fy_operand_name(const fy_call *c, int operand, char *buf, size_t room); /* what an error calls it */
const char *fy_device_hint(const fy_call *c, int operand, const fy_dev *other);     /* how to move the operand there */
int fy_arguments(const fy_call *c, fy_tensor **x);
/* device_mismatch.c: the function of PyTorch that checks where its arguments are, and its name for one of them. NULL:
 * an elementwise op. */
typedef struct fy_checked {
    const char *function, *argument;
} fy_checked;
enum { FY_DEVICE_WORDS = 400 };
const char *fy_device_words(const fy_dev *common, const fy_dev *stray, const fy_checked *by, char *buf, size_t room);
bool fy_plan_product(const fy_call *c, fy_plan *p);      /* product.c */
bool fy_product_on_one_device(const fy_call *c);         /* product.c; false after an error */
bool fy_plan_reduced(const fy_call *c, fy_plan *p);      /* reduce.c */
bool fy_plan_along(const fy_call *c, fy_plan *p);        /* reduce.c */
bool fy_plan_spread_rows(const fy_call *c, fy_plan *p);  /* reduce.c */
fy_layout fy_layout_last(const fy_geometry *g, int dim); /* reduce.c: `dim` moved last */
bool fy_plan_repeated(const fy_call *c, fy_plan *p);     /* repeat.c */
bool fy_plan_indexed(const fy_call *c, fy_plan *p);      /* index.c */
bool fy_index_in_range(const fy_call *c);                /* index_check.c: checks on the CPU; false after an error */
bool fy_plan_counted(const fy_call *c, fy_plan *p);      /* nonzero.c */
bool fy_divisor_ok(const fy_call *c, const fy_plan *p);  /* check_divisor.c: no integer division by 0 on the CPU */
bool fy_plan_in_place(const fy_call *c, fy_plan *p);     /* check_inplace.c: may the target be written; sets p->out */
bool fy_overlaps_in_part(const fy_tensor *out, const fy_tensor *x); /* may writing `out` change x before it is read? */
bool fy_blob_check_written(fy_site *at, fy_tensor *out);            /* blob.c: is its memory the program's to write? */
bool fy_check_written(fy_site *at, fy_tensor *dst, fy_tensor *src); /* may src be broadcast into dst? */
fy_layout fy_layout_broadcast(const fy_tensor *x, const fy_shape *s);
bool fy_broadcast(fy_site *at, fy_tensor *a, fy_tensor *b, fy_shape *out); /* false after an error */
fy_tensor *fy_dispatch(const fy_call *c); /* computes the call, and records it for gradients; NULL after an error */
fy_tensor *fy_compute(const fy_call *c);  /* only computes it: a step of another call, which is recorded as a whole */
/* Runs `w` into `out`, whose reference the caller keeps, and records it; false after an error. (perform.c) */
bool fy_perform(const fy_call *c, fy_dev *dev, fy_run_work *w, fy_tensor *const *in, fy_tensor *out);

/* One launch of an elementwise op of n tensors: its event is called foreach_NAME. The tensors fit (fy_foreach_takes). */
typedef struct fy_list {
    fy_site *at;
    int op;
    int n;                                /* 1 to FY_MOST_ITEMS */
    fy_tensor *const *in[FY_ITEM_INPUTS]; /* by operand; NULL: a number, real[i] */
    fy_tensor *const *out;                /* written in place */
    double real[FY_MAX_SCALARS];          /* as fy_call's */
} fy_list;
bool fy_perform_list(const fy_list *l); /* perform.c; false after an error */
/* op_numbers.c: what the event of the op says of its numbers: alpha, a number operand, dim ...; 0: none. */
fy_ref fy_op_numbers(const fy_call *c);
fy_ref fy_list_numbers(const fy_list *l);
/* foreach.c: any number of tensors, n of each list, in as few launches as they fit into. The op is one whose kernel
 * takes lists: its launcher begins with FOR_LIST (kernels/list.h). out: NULL: new tensors, whose references are the
 * caller's, in `made`. False after an error: nothing was made then. */
bool fy_foreach(fy_site *at, int op, size_t n, fy_tensor *const *const *in, const double *real, fy_tensor *const *out,
                fy_tensor **made);
/* May x be in a list with `like`? Both on one device, of one float dtype, the same sizes and strides, and no gaps. */
bool fy_foreach_takes(const fy_tensor *x, const fy_tensor *like);

/* What an op in place overwrites, and its gradient reads. */
typedef struct fy_before {
    fy_tensor *target; /* a copy; NULL: no gradient reads it */
    uint32_t version;  /* of the target's storage */
} fy_before;
/* record.c: the autograd graph. Does the call belong to it? begin: false after an error: the target must not be
 * written. fy_record takes over the reference in *before, and records nothing if the call failed (out is NULL).
 * Returns out; NULL after an error, which has released it. */
bool fy_records(const fy_call *c);
bool fy_record_begin(const fy_call *c, fy_before *before);
fy_tensor *fy_record(const fy_call *c, fy_tensor *out, const fy_before *before);
void fy_record_step(fy_site *at, fy_node_kind kind, fy_tensor *out, size_t n, fy_tensor *const *x, const fy_shape *dims,
                    bool in_place); /* calls of several ops, as one node: kind, dims as in graph.h */

/* fast_path.c: calls that need no plan: elementwise on the host, operands row-major, of one type and shape. */
typedef struct fy_fast_call {
    fy_dtype dtype; /* of the result */
    int64_t numel;
} fy_fast_call;
bool fy_fast_plan(const fy_call *c, fy_fast_call *p); /* does the call qualify? Never an error */
fy_tensor *fy_fast_dispatch(const fy_call *c, const fy_fast_call *p);

/* implicit_copy.c: operands on different devices, copied without being asked under FERRY_POLICY=silent. */
bool fy_policy_applies(const fy_call *c);
fy_tensor *fy_policy_dispatch(const fy_call *c);

#endif
