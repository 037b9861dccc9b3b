/* ferry.h: tensors with PyTorch's semantics that show every byte they move.
 *
 *     #include <ferry.h>
 *
 *     int main(void)
 *     {
 *         fy_tensor *a = fy_randn((64, 64));          // created in CPU RAM
 *         fy_tensor *b = fy_to(a, "cuda");            // copied to GPU VRAM
 *         fy_tensor *c = fy_matmul(b, b);             // computed on b's device
 *         fy_print(fy_sum(fy_cpu(c)));                // copied back
 *     }
 *
 * A list has its own parentheses: (64, 64) is a shape, (3) one dimension, () a 0-dim tensor. Options
 * follow by name: fy_zeros((2, 3), .device = "cuda", .dtype = FY_INT64).
 *
 * Ownership: a call that returns a fy_tensor * returns a new reference, which you own, even if it
 * returns its own argument. It is released by fy_free, by the end of the FY_SCOPE it was made in, or
 * by the end of the program. Only names that end in _ (fy_add_) return their first argument borrowed:
 * no new reference. Arguments are never consumed (except by fy_set).
 *
 * Errors: an invalid call prints where, what and how to fix it, and exits with status 1. After
 * fy_on_error(FY_RETURN) the call returns NULL (NaN, 0) instead, fy_error() returns the first
 * message, and later calls return NULL for a NULL argument, silently. A failed call changes nothing.
 *
 * Devices are named as in PyTorch: "cpu", "cuda" (the current card), "cuda:1". Without a card
 * "cuda" is simulated, and all output says so. Environment variables:
 *   FERRY_VIEW=1        show this run in the browser     FERRY_TRACE=FILE  write events as JSON lines
 *   FERRY_NARRATE=1     a line per event on stderr       FERRY_GPU=auto|sim|real|none
 *   FERRY_POLICY=silent copies operands implicitly to one device, and flags each copy, where PyTorch
 *                       reports an error
 *   FERRY_VALUES=1      logs what every copy and op wrote, for the page (FERRY_VIEW=1 does so)
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

typedef struct fy_tensor fy_tensor; /* a reference-counted handle: shape, strides and a shared storage */

typedef enum fy_dtype {
    FY_DTYPE_UNSET, /* the call's default: float32, or inferred from the values */
    FY_FLOAT32,     /* float */
    FY_INT64,       /* int64_t */
    FY_FLOAT16,     /* IEEE 754 binary16, in 2 bytes */
    FY_BFLOAT16,    /* the upper half of a float32, in 2 bytes */
    FY_FLOAT64,     /* double */
    FY_INT32,       /* int32_t */
    FY_UINT8,       /* uint8_t */
    FY_BOOL,        /* bool, in 1 byte */
} fy_dtype;
#define FY_FLOAT32  __extension__(fy_dtype)FY_FLOAT32 /* in C an enumerator is an int, and fy_to(x, 1) would compile */
#define FY_INT64    __extension__(fy_dtype)FY_INT64
#define FY_FLOAT16  __extension__(fy_dtype)FY_FLOAT16
#define FY_BFLOAT16 __extension__(fy_dtype)FY_BFLOAT16
#define FY_FLOAT64  __extension__(fy_dtype)FY_FLOAT64
#define FY_INT32    __extension__(fy_dtype)FY_INT32
#define FY_UINT8    __extension__(fy_dtype)FY_UINT8
#define FY_BOOL     __extension__(fy_dtype)FY_BOOL

/* The shape of a tensor: ndim sizes, outermost dimension first. */
typedef struct fy_shape {
    int ndim;
    int64_t dims[FY_MAX_DIMS];
} fy_shape;

/* Options of calls that make a tensor; all optional. */
typedef struct fy_opts {
    const struct fy_options_by_name *fy_begin_; /* internal: makes fy_ones((2), "cuda") a compile error */
    const char *device; /* default "cpu", or as fy_set_default_device said; card 0 is "cuda:0", not 0 */
    fy_dtype dtype;     /* default float32, or inferred from the values */
    const char *name;   /* in messages and on the page; default: the variable's name */
    bool pin_memory;    /* page-locked; CPU only */
    bool requires_grad; /* fy_backward computes its gradient (ferry_autograd.h); float dtypes only */
    int fy_end_;        /* internal */
} fy_opts;

/* Options of fy_to. */
typedef struct fy_to_opts {
    const struct fy_options_by_name *fy_begin_;
    fy_dtype dtype; /* convert to it */
    bool copy;      /* copy even if nothing changes */
    bool non_blocking; /* asynchronous, if the CPU side is pinned */
    int fy_end_;
} fy_to_opts;

/* What follows the tensor in fy_cuda: the card's number, without a name, and an option. */
#ifdef __cplusplus
#define FY_UNLESS_GIVEN {} /* no warning about what is left out after a number */
#else
#define FY_UNLESS_GIVEN
#endif
typedef struct fy_cuda_opts {
    int device;
    bool non_blocking FY_UNLESS_GIVEN; /* asynchronous, if the tensor is pinned */
    int fy_end_ FY_UNLESS_GIVEN;
} fy_cuda_opts;

/* Options of fy_copy_. */
typedef struct fy_copy_opts {
    const struct fy_options_by_name *fy_begin_;
    bool non_blocking; /* asynchronous, if the CPU side is pinned */
    int fy_end_;
} fy_copy_opts;

/* Options of reductions over dimensions. */
typedef struct fy_reduce_opts {
    const struct fy_options_by_name *fy_begin_;
    bool keepdim;        /* keep reduced dimensions, with size 1 */
    fy_dtype dtype;      /* sum, prod, mean: convert to it first */
    bool biased;         /* var: divide by n instead of n - 1 */
    fy_tensor **indices; /* max, min over one dimension: receives their indices, int64; you own it */
    double p;            /* norm: the order, 2 by default; 1, INFINITY, 0 (counts what is not 0) ... */
    int fy_end_;         /* ends the list; set where p is given */
} fy_reduce_opts;

/* Options of fy_isclose and fy_allclose. */
typedef struct fy_close_opts {
    const struct fy_options_by_name *fy_begin_;
    double rtol, atol; /* |a - b| <= atol + rtol * |b|; 1e-5 and 1e-8 by default */
    bool equal_nan;    /* two NaNs are close */
    int fy_end_;       /* ends the list; set where rtol or atol is given */
} fy_close_opts;

/* Options of the losses. */
typedef enum fy_reduction { FY_MEAN, FY_SUM, FY_NONE } fy_reduction;
typedef struct fy_loss_opts {
    const struct fy_options_by_name *fy_begin_;
    fy_reduction reduction; /* over the rows; default FY_MEAN */
    double label_smoothing; /* cross_entropy: 0 to 1 */
    int fy_end_;
} fy_loss_opts;

typedef struct fy_dataloader fy_dataloader; /* ferry_data.h */

/* Options of fy_layer_norm. */
typedef struct fy_layer_norm_with {
    const struct fy_options_by_name *fy_begin_;
    fy_tensor *weight, *bias; /* NULL: none */
    double eps;               /* added to the variance; 1e-5 by default */
    int fy_end_;              /* ends the list; set where eps is given */
} fy_layer_norm_with;

/* An iterator for FY_EACH: the first member of your own struct. next returns the tensors of the
 * next item (batch[0], batch[1] ...), or NULL at the end. The iteration's scope owns the tensors that it creates; the
 * iterator owns the array. */
typedef struct fy_iterator {
    fy_tensor **(*next)(struct fy_iterator *self);
} fy_iterator;

#include "ferry_call.h" /* implementation of the macros: call sites, lists, arguments */

/* ---- devices ---------------------------------------------------------------------------- */

bool fy_cuda_is_available(void);              /* Is there a card, real or simulated? Emits no event. */
int fy_cuda_device_count(void);               /* Number of cards; 0 under FERRY_GPU=none. */
int fy_cuda_current_device(void);             /* The card that "cuda" names in this thread; initially 0. */
#define fy_cuda_set_device(i) fy_cuda_set_device_at(FY_AT("fy_cuda_set_device", #i), i)
                                              /* Makes card i this thread's current one. */
#define fy_cuda_can_device_access_peer(device, peer) /* Are copies between these two cards direct? */ \
    fy_cuda_can_device_access_peer_at(FY_AT("fy_cuda_can_device_access_peer", #device ", " #peer), device, peer)
#define fy_set_default_device(name) fy_set_default_device_at(FY_AT("fy_set_default_device", #name), name)
                                              /* Where this thread's factories (fy_ones, fy_randn, fy_tensor ...) put a
                                                 new tensor if no .device is given; "cpu" initially. "cuda": on the card
                                                 that is current then. Tensors from data that has a place (fy_from_blob,
                                                 fy_load_npy, fy_given), and those like another tensor, stay where that
                                                 is. False after an error. */
const char *fy_get_default_device(void);      /* "cpu", "cuda:0" ...; static string. Emits no event. */
#define FY_DEVICE(name) FY_DEVICE_NAMED(name, FY_CAT(fy_with_, __COUNTER__))
                                              /* FY_DEVICE("cuda:1") { ... }: that device is the default inside;
                                                 afterwards the previous one, also after break and return. The current
                                                 card stays (PyTorch's `with torch.device("cuda:1"):`). */
#define fy_cuda_synchronize() fy_cuda_synchronize_at(FY_AT("fy_cuda_synchronize", ""))
                                              /* Waits until the current card has finished all its work. */

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
#define fy_linspace(...) FY_LINSPACE("fy_linspace", #__VA_ARGS__, __VA_ARGS__) /* fy_linspace((start, end, steps)):
                                                             1-D, both ends included */
#define fy_eye(...)     FY_EYE("fy_eye", #__VA_ARGS__, __VA_ARGS__) /* fy_eye((n)) or ((n, m)): 1 on the diagonal */
#define fy_rand(...)    fy_rand_at(FY_MAKE("fy_rand", #__VA_ARGS__, __VA_ARGS__)) /* uniform in [0, 1), seeded */
#define fy_randint(...) FY_RANDINT("fy_randint", #__VA_ARGS__, __VA_ARGS__) /* fy_randint((low, high), (2, 3)):
                                                             int64 in [low, high) */
#define fy_randperm(...) FY_RANDPERM("fy_randperm", #__VA_ARGS__, __VA_ARGS__) /* fy_randperm((n)): 0 to n - 1, shuffled */
#define fy_empty(...)   fy_empty_at(FY_MAKE("fy_empty", #__VA_ARGS__, __VA_ARGS__)) /* uninitialized: any values, so
                                                             write each element before you read it */
#define fy_empty_like(x) fy_empty_like_at(FY_AT("fy_empty_like", #x), x) /* x's shape, dtype, device; any values */
#define fy_zeros_like(x) fy_zeros_like_at(FY_AT("fy_zeros_like", #x), x)
#define fy_ones_like(x)  fy_ones_like_at(FY_AT("fy_ones_like", #x), x)
#define fy_full_like(x, value) fy_full_like_at(FY_AT("fy_full_like", #x ", " #value), x, FY_ARG(value)) /* of x's dtype */
#define fy_rand_like(x)  fy_rand_like_at(FY_AT("fy_rand_like", #x), x)
#define fy_randn_like(x) fy_randn_like_at(FY_AT("fy_randn_like", #x), x)
#define fy_one_hot(...) FY_WITH_NUMBER(fy_one_hot_at, -1, "fy_one_hot", #__VA_ARGS__, __VA_ARGS__) /* fy_one_hot(x, n):
                                                             int64 classes (...) -> int64 (..., n), 1 at the class,
                                                             else 0. Without n: the largest class + 1, which is read
                                                             back from a card, so the call waits */
void fy_manual_seed(uint64_t seed);           /* Seeds the generators of all devices. */

/* ---- copying to another device or dtype: the argument is unchanged ------------------------- */

#define fy_to(...)   FY_TO("fy_to", #__VA_ARGS__, __VA_ARGS__) /* fy_to(x, "cuda"), fy_to(x, FY_INT64), fy_to(x, other):
                                             a new tensor there; a new reference to x if nothing changes.
                                             Options: .dtype, .copy = true, .non_blocking = true */
#define fy_cuda(...) FY_CUDA("fy_cuda", #__VA_ARGS__, __VA_ARGS__) /* fy_cuda(x) to the current card, fy_cuda(x, 1)
                                             to card 1. Option: .non_blocking = true */
#define fy_cpu(x)    fy_cpu_at(FY_AT("fy_cpu", #x), x)     /* to CPU RAM; waits for the card */
#define fy_copy_(dst, ...) FY_COPY("fy_copy_", #dst ", " #__VA_ARGS__, dst, __VA_ARGS__) /* fy_copy_(dst, src): copies
                                             src's values, broadcast, into dst, which keeps its dtype and device;
                                             returns dst, borrowed. Option: .non_blocking = true */
#define fy_pin_memory(x) fy_pin_memory_at(FY_AT("fy_pin_memory", #x), x) /* a page-locked copy in RAM; x if pinned */
#define fy_is_pinned(x)  fy_is_pinned_at(FY_AT("fy_is_pinned", #x), x)

/* ---- operations and views: separate headers -------------------------------------------------- */

#include "ferry_math.h" /* fy_add ... fy_cross_entropy, type promotion */
#include "ferry_view.h" /* fy_view ... fy_stack: shapes, slices, concatenation */
#include "ferry_index.h" /* fy_split ... fy_topk: parts, indexing, sorting */
#include "ferry_autograd.h" /* fy_backward, fy_grad: gradients */
#include "ferry_nn.h"   /* fy_sequential, fy_nn_linear, fy_call: modules */
#include "ferry_optim.h" /* fy_sgd, fy_adam: optimizers */
#include "ferry_amp.h"  /* FY_AUTOCAST, fy_amp_grad_scaler: mixed precision */
#include "ferry_data.h" /* fy_dataloader: batches of a dataset, shuffled, by workers */
#include "ferry_memory.h" /* fy_cuda_memory_allocated ...: a card's memory and its caching allocator */
#include "ferry_io.h"   /* fy_from_blob, fy_load_npy, fy_save_npy: your own memory, NumPy files */
#include "ferry_stream.h" /* fy_cuda_stream, fy_cuda_event: streams and their synchronization */

/* ---- values and properties ------------------------------------------------------------------ */

#define fy_print(x) fy_print_at(FY_AT("fy_print", #x), x)   /* prints the values on stdout; copies them to the host */
#define fy_item(x)  fy_item_at(FY_AT("fy_item", #x), x)     /* the only element, as double; waits. An int64 beyond 2^53
                                                               may be rounded: warns on stderr once per line */
#define fy_item_int(x) fy_item_int_at(FY_AT("fy_item_int", #x), x) /* the only element of an integer or bool tensor,
                                                               exact; a float tensor is an error */
#define fy_data(x)  fy_data_at(FY_AT("fy_data", #x), x)     /* borrowed pointer to element 0, logged as a read; on
                                                               "cuda" it points into VRAM: the host must not
                                                               dereference it */
#define fy_device(x) fy_device_at(FY_AT("fy_device", #x), x) /* "cpu", "cuda:0" ...; static string */
#define fy_is_cuda(x) fy_is_cuda_at(FY_AT("fy_is_cuda", #x), x) /* is it on a card? false for NULL */
#define fy_dtype_of(x) fy_dtype_of_at(FY_AT("fy_dtype_of", #x), x) /* FY_DTYPE_UNSET for NULL */
const char *fy_dtype_name(fy_dtype dtype);    /* "float32", "int64" ... */
#define fy_shape_of(x) fy_shape_of_at(FY_AT("fy_shape_of", #x), x) /* an fy_shape by value; 0-dim for NULL */
#define fy_dim(x) fy_dim_at(FY_AT("fy_dim", #x), x)                /* number of dimensions; 0 for NULL */
#define fy_size(x, dim) fy_size_at(FY_AT("fy_size", #x ", " #dim), x, dim) /* int64_t; a negative dim counts from
                                                the end; -1 if out of range */
#define fy_stride(x, dim) fy_stride_at(FY_AT("fy_stride", #x ", " #dim), x, dim) /* in elements; dim as above */
#define fy_numel(x) fy_numel_at(FY_AT("fy_numel", #x), x)          /* int64_t, number of elements; 0 for NULL */
#define fy_is_contiguous(x) fy_is_contiguous_at(FY_AT("fy_is_contiguous", #x), x) /* row-major without gaps; the strides
                                                of sizes of 1 do not matter; false for NULL */

/* ---- ownership ------------------------------------------------------------------------------ */

#define fy_free(x) fy_free_at(FY_AT("fy_free", #x), x)      /* releases one reference; x may be NULL */
#define FY_SCOPE FY_SCOPE_                    /* FY_SCOPE { ... }: frees at its end what was made inside; break leaves
                                                 the scope, not a loop around it (use the loops below) */
#define FY_TIMES(i, n) FY_TIMES_(i, n, FY_CAT(fy_turns_, __COUNTER__)) /* FY_TIMES(i, n) { ... }: for i from 0 to
                                                 n - 1; each iteration is a scope; break and continue work */
#define FY_EACH(item, source) FY_EACH_(item, source, FY_CAT(fy_turns_, __COUNTER__)) /* FY_EACH(x, list) { ... }: for
                                                 each tensor of an array, batch of an fy_dataloader *,
                                                 or item of an fy_iterator *; likewise */
                                              /* A warning on stderr, once, names a line that made 10,000 tensors,
                                                 or 1,000 that hold 1 GiB, if these are alive outside any scope;
                                                 not if it stores each in an array element: list[i] = ... */
#define fy_keep(x) fy_keep_at(FY_AT("fy_keep", #x), x)      /* moves x to the enclosing scope; returns x */
#define fy_set(p, x) fy_set_at(FY_AT("fy_set", #p ", " #x), p, x) /* fy_set(&w, fy_mul(w, 2)): frees the tensor in w
                                                 and stores the new one there, in the scope of the old one, or, if
                                                 w was NULL, in the enclosing scope. w must hold a tensor or
                                                 NULL before. w takes over the new tensor's reference: the only
                                                 call that consumes an argument. A failed call leaves w
                                                 unchanged */

/* ---- errors, time, marks --------------------------------------------------------------------- */

typedef enum fy_on_error_mode { FY_EXIT, FY_RETURN } fy_on_error_mode;
void fy_on_error(fy_on_error_mode mode);      /* per thread; initially FY_EXIT */
const char *fy_error(void);                   /* first message since the last clear, or NULL; per thread */
void fy_clear_error(void);
int64_t (fy_now)(void); /* the function, for pointers and C++ initializers: emits no event */
#define fy_now() fy_now_at(FY_AT("fy_now", ""))             /* the session's clock (modelled or measured): ns since the
                                                               start; logged */
#define fy_mark(text) fy_mark_at(FY_AT("fy_mark", #text), text)    /* logs a mark with your text */
#define fy_log_scalar(name, value) fy_log_scalar_at(FY_AT("fy_log_scalar", #name ", " #value), name, FY_ARG(value))
                                              /* logs a number, or the only element of a tensor, which is read as by
                                                 fy_item: it waits for a card, so log every 10th step or so; the page
                                                 draws each name's numbers as a curve over time */
/* A mark that starts with "demo:" says that the program, up to the next mark, demonstrates costs: `ferry explain` does
 * not report them as waste. */

/* ---- lessons ---------------------------------------------------------------------------------- */

#define fy_given(name)     fy_given_at(FY_AT("fy_given", #name), name)   /* the lesson's input, on the CPU */
#define fy_answer(name, x) fy_answer_at(FY_AT("fy_answer", #name ", " #x), name, x) /* submits a result */

#ifndef FERRY_INSIDE /* makes programs link the session (FERRY_TRACE and so on); lib's own files are lower layers */
extern const int fy_session_linked;
static const int *const fy_links_session __attribute__((used)) = &fy_session_linked;
#endif

#ifdef __cplusplus
#include "ferry_cpp.h"
}
#endif
#endif
