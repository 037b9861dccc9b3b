/* ferry.h: tensors with PyTorch's semantics that show every byte they move.
 *
 *     #include <ferry.h>
 *
 *     int main(void)
 *     {
 *         fy_tensor *a = fy_randn((64, 64));          // born in CPU RAM
 *         fy_tensor *b = fy_to(a, "cuda");            // ferried to GPU VRAM
 *         fy_tensor *c = fy_matmul(b, b);             // computed where b lives
 *         fy_print(fy_sum(fy_cpu(c)));                // ferried home
 *     }
 *
 * Lists stand in parentheses of their own: (64, 64) is a shape, (3) one dimension, () a 0-dim
 * tensor. Options follow by name: fy_zeros((2, 3), .device = "cuda", .dtype = FY_INT64).
 *
 * Ownership: every call that returns a fy_tensor * gives you one reference, also when it returns
 * its own argument. It is given back by fy_free, by the end of the FY_SCOPE it was made in, or by
 * the end of the program. Arguments are never consumed.
 *
 * Errors: a mistake in a call prints where, what and how to mend it, and exits with status 1.
 * After fy_on_error(FY_RETURN) the call returns NULL (NaN, 0) instead, fy_error() keeps the first
 * message, and NULL passes through later calls. A failed call changes nothing.
 *
 * Devices are named as in PyTorch: "cpu", "cuda" (the current card), "cuda:1". Without a card
 * "cuda" is simulated, and every surface says so. What Ferry does is set from outside:
 *   FERRY_VIEW=1        show this run in the browser     FERRY_TRACE=FILE  write events as JSON lines
 *   FERRY_NARRATE=1     one line an event on stderr      FERRY_GPU=auto|sim|real|none
 */
#ifndef FERRY_H
#define FERRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FY_MAX_DIMS 8

typedef struct fy_tensor fy_tensor; /* a counted handle: shape, strides and a shared storage */

typedef enum fy_dtype {
    FY_DTYPE_UNSET, /* the default of the call: float32, or what the values say */
    FY_FLOAT32,
    FY_INT64,
} fy_dtype;
#define FY_FLOAT32 ((fy_dtype)FY_FLOAT32) /* else an int in C: fy_to(x, 1) would be no mistake */
#define FY_INT64   ((fy_dtype)FY_INT64)

/* The shape of a tensor: ndim sizes, row-major meaning (first is outermost). */
typedef struct fy_shape {
    int ndim;
    int64_t dims[FY_MAX_DIMS];
} fy_shape;

/* Options of every call that makes a tensor. What is left out is the default. */
typedef struct fy_opts {
    const struct fy_options_by_name *fy_begin_; /* refuses fy_ones((2), "cuda"); not for use */
    const char *device; /* "cpu" unless told */
    fy_dtype dtype;     /* float32 unless told or implied by the values */
    const char *name;   /* what messages and the page call it; else the variable's name */
    int fy_end_;        /* closes the list; not for use */
} fy_opts;

/* Options of fy_to. */
typedef struct fy_to_opts {
    const struct fy_options_by_name *fy_begin_;
    fy_dtype dtype; /* convert as well */
    bool copy;      /* copy even when nothing changes */
    int fy_end_;
} fy_to_opts;

#include "ferry_call.h" /* call sites, lists and arguments: how the macros below are made */

/* ---- devices ---------------------------------------------------------------------------- */

bool fy_cuda_is_available(void);              /* Is there a card, real or simulated? No event. */
int fy_cuda_device_count(void);               /* Number of cards; 0 under FERRY_GPU=none. */
#define fy_cuda_synchronize() fy_cuda_synchronize_at(FY_AT("fy_cuda_synchronize", ""))
                                              /* Wait until the current card has finished. */

/* ---- making tensors: fy_NAME((dims), .device, .dtype, .name) ------------------------------ */

#define fy_zeros(...) fy_zeros_at(FY_MAKE("fy_zeros", #__VA_ARGS__, __VA_ARGS__))     /* all 0 */
#define fy_ones(...)  fy_ones_at(FY_MAKE("fy_ones", #__VA_ARGS__, __VA_ARGS__))       /* all 1 */
#define fy_randn(...) fy_randn_at(FY_MAKE("fy_randn", #__VA_ARGS__, __VA_ARGS__))     /* normal(0, 1), seeded */
#define fy_full(...)  FY_FULL("fy_full", #__VA_ARGS__, __VA_ARGS__)     /* fy_full((2, 3), 7.5): all 7.5; an int value
                                                             gives int64, as in PyTorch */
#define fy_arange(...) FY_ARANGE("fy_arange", #__VA_ARGS__, __VA_ARGS__) /* fy_arange((end)), ((start, end)) or
                                                             ((start, end, step)); 1-D, end excluded */
#define fy_tensor(...) FY_TENSOR("fy_tensor", #__VA_ARGS__, __VA_ARGS__) /* fy_tensor((1, 2, 3)): 1-D, int64 if all
                                                             are integers, else float32; at most 32 */
void fy_manual_seed(uint64_t seed);           /* Seed the generator of every device. */

/* ---- moving: the argument stays where it is ----------------------------------------------- */

#define fy_to(...)   FY_TO("fy_to", #__VA_ARGS__, __VA_ARGS__) /* fy_to(x, "cuda"), fy_to(x, FY_INT64), fy_to(x, other):
                                             a new tensor there; x itself when nothing changes.
                                             Options: .dtype, .copy = true */
#define fy_cuda(x)   fy_cuda_at(FY_AT("fy_cuda", #x), x)   /* to the current card */
#define fy_cpu(x)    fy_cpu_at(FY_AT("fy_cpu", #x), x)     /* home to CPU RAM; waits for the card */

/* ---- operations: run where their operands live; b may be a number where it says so --------- */

#define fy_add(a, b)    fy_add_at(FY_AT("fy_add", #a ", " #b), a, FY_ARG(b))  /* a + b, broadcast; number ok */
#define fy_mul(a, b)    fy_mul_at(FY_AT("fy_mul", #a ", " #b), a, FY_ARG(b))  /* a * b, broadcast; number ok */
#define fy_matmul(a, b) fy_matmul_at(FY_AT("fy_matmul", #a ", " #b), a, b)    /* (n, k) x (k, m) -> (n, m);
                                                                1-D operands as in PyTorch; int64 on
                                                                the CPU alone, as there */
#define fy_relu(x)      fy_relu_at(FY_AT("fy_relu", #x), x)   /* max(x, 0) */
#define fy_sum(x)       fy_sum_at(FY_AT("fy_sum", #x), x)     /* 0-dim; int64 stays int64 */

/* ---- views: share the storage, copy nothing ------------------------------------------------ */

#define fy_view(x, dims)         fy_view_at(FY_AT("fy_view", #x ", " #dims), x, FY_SHAPE(dims))
                                              /* same elements, other shape; one size may be -1 */
#define fy_transpose(x, d0, d1)  fy_transpose_at(FY_AT("fy_transpose", #x ", " #d0 ", " #d1), x, d0, d1)
                                              /* the two dimensions swapped; negative ones count from the end */
#define fy_t(x)                  fy_t_at(FY_AT("fy_t", #x), x)                     /* at most 2-D */
#define fy_narrow(x, dim, start, length) \
    fy_narrow_at(FY_AT("fy_narrow", #x ", " #dim ", " #start ", " #length), x, dim, start, length)
                                              /* start to start + length - 1 of dim, as many dimensions as x;
                                                 negative dim and start count from the end; start + length is
                                                 at most the size of dim */
#define fy_select(x, dim, index) fy_select_at(FY_AT("fy_select", #x ", " #dim ", " #index), x, dim, index)
                                              /* one index of dim, which goes: (2, 3) gives (3) or (2); negative
                                                 dim and index count from the end */
#define fy_contiguous(x)         fy_contiguous_at(FY_AT("fy_contiguous", #x), x)   /* x itself if it is */
#define fy_clone(x)              fy_clone_at(FY_AT("fy_clone", #x), x)             /* always a new storage */

/* ---- looking ------------------------------------------------------------------------------- */

#define fy_print(x) fy_print_at(FY_AT("fy_print", #x), x)   /* values to stdout; brings them home first */
#define fy_item(x)  fy_item_at(FY_AT("fy_item", #x), x)     /* the one element, as double; waits */
#define fy_data(x)  fy_data_at(FY_AT("fy_data", #x), x)     /* borrowed pointer to element 0, noted as a
                                                               read; on "cuda" it points into VRAM: not
                                                               for the host */
const char *fy_device(const fy_tensor *x);    /* "cpu", "cuda:0" ...; lives as long as the program */
bool fy_is_cuda(const fy_tensor *x);          /* does it live on a card? false of NULL */
fy_dtype fy_dtype_of(const fy_tensor *x);     /* FY_DTYPE_UNSET of NULL */
const char *fy_dtype_name(fy_dtype dtype);    /* "float32", "int64" */
fy_shape fy_shape_of(const fy_tensor *x);     /* a copy; 0-dim of NULL */
int fy_dim(const fy_tensor *x);               /* number of dimensions; 0 of NULL */
int64_t fy_size(const fy_tensor *x, int dim); /* negative dim counts from the end; -1 if there is none */
int64_t fy_stride(const fy_tensor *x, int dim); /* in elements; negative dim as above; -1 if there is none */
int64_t fy_numel(const fy_tensor *x);         /* number of elements; 0 of NULL */
bool fy_is_contiguous(const fy_tensor *x);    /* row-major without holes; sizes of 1 do not matter; false of NULL */

/* ---- ownership ------------------------------------------------------------------------------ */

#define fy_free(x) fy_free_at(FY_AT("fy_free", #x), x)      /* give one reference back; NULL is fine */
#define FY_SCOPE FY_SCOPE_                    /* FY_SCOPE { ... }: what was made inside is freed at its end */
#define fy_keep(x) fy_keep_at(FY_AT("fy_keep", #x), x)      /* carry x out into the enclosing scope */

/* ---- errors, time, notes --------------------------------------------------------------------- */

typedef enum fy_on_error_mode { FY_EXIT, FY_RETURN } fy_on_error_mode;
void fy_on_error(fy_on_error_mode mode);      /* per thread; FY_EXIT at start */
const char *fy_error(void);                   /* first message since the last clear, or NULL; per thread */
void fy_clear_error(void);
int64_t fy_now(void);                         /* ns since start on the session's clock (model or measured) */
#define fy_mark(text) fy_mark_at(FY_AT("fy_mark", #text), text)    /* a note of yours in the log */

/* ---- lessons ---------------------------------------------------------------------------------- */

#define fy_given(name)     fy_given_at(FY_AT("fy_given", #name), name)   /* the lesson's input, on the CPU */
#define fy_answer(name, x) fy_answer_at(FY_AT("fy_answer", #name ", " #x), name, x) /* hand the result in */

#ifdef __cplusplus
}
#endif
#endif
