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
 * Ownership: a call that returns a fy_tensor * gives you one reference, also when it returns its
 * own argument. It is given back by fy_free, by the end of the FY_SCOPE it was made in, or by the
 * end of the program. Names that end in _ (fy_add_) alone return their first argument borrowed, not
 * to be freed for that. Arguments are never consumed.
 *
 * Errors: a mistake in a call prints where, what and how to fix it, and exits with status 1.
 * After fy_on_error(FY_RETURN) the call returns NULL (NaN, 0) instead, fy_error() keeps the first
 * message, and NULL passes through later calls. A failed call changes nothing.
 *
 * Devices are named as in PyTorch: "cpu", "cuda" (the current card), "cuda:1". Without a card
 * "cuda" is simulated, and every surface says so. What Ferry does is set from outside:
 *   FERRY_VIEW=1        show this run in the browser     FERRY_TRACE=FILE  write events as JSON lines
 *   FERRY_NARRATE=1     one line an event on stderr      FERRY_GPU=auto|sim|real|none
 *   FERRY_POLICY=silent copies operands to one device unasked, each copy flagged, where PyTorch refuses
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
    FY_FLOAT32,     /* float */
    FY_INT64,       /* int64_t */
    FY_FLOAT16,     /* IEEE 754 binary16, in 2 bytes */
    FY_BFLOAT16,    /* the upper half of a float32, in 2 bytes */
    FY_FLOAT64,     /* double */
    FY_INT32,       /* int32_t */
    FY_UINT8,       /* uint8_t */
    FY_BOOL,        /* bool, in 1 byte */
} fy_dtype;
#define FY_FLOAT32  __extension__(fy_dtype)FY_FLOAT32 /* else an int in C: fy_to(x, 1) would be no mistake */
#define FY_INT64    __extension__(fy_dtype)FY_INT64
#define FY_FLOAT16  __extension__(fy_dtype)FY_FLOAT16
#define FY_BFLOAT16 __extension__(fy_dtype)FY_BFLOAT16
#define FY_FLOAT64  __extension__(fy_dtype)FY_FLOAT64
#define FY_INT32    __extension__(fy_dtype)FY_INT32
#define FY_UINT8    __extension__(fy_dtype)FY_UINT8
#define FY_BOOL     __extension__(fy_dtype)FY_BOOL

/* The shape of a tensor: ndim sizes, row-major meaning (first is outermost). */
typedef struct fy_shape {
    int ndim;
    int64_t dims[FY_MAX_DIMS];
} fy_shape;

/* Options of every call that makes a tensor. What is left out is the default. */
typedef struct fy_opts {
    const struct fy_options_by_name *fy_begin_; /* refuses fy_ones((2), "cuda"); not for use */
    const char *device; /* "cpu" unless told; card 0 is "cuda:0", not 0 */
    fy_dtype dtype;     /* float32 unless told or implied by the values */
    const char *name;   /* what messages and the page call it; else the variable's name */
    bool pin_memory;    /* page-locked, on the CPU alone */
    int fy_end_;        /* closes the list; not for use */
} fy_opts;

/* Options of fy_to. */
typedef struct fy_to_opts {
    const struct fy_options_by_name *fy_begin_;
    fy_dtype dtype; /* convert as well */
    bool copy;      /* copy even when nothing changes */
    bool non_blocking; /* do not wait, where the CPU side is pinned */
    int fy_end_;
} fy_to_opts;

/* Options of fy_copy_. */
typedef struct fy_copy_opts {
    const struct fy_options_by_name *fy_begin_;
    bool non_blocking; /* do not wait, where the CPU side is pinned */
    int fy_end_;
} fy_copy_opts;

/* Options of reductions over dimensions. */
typedef struct fy_reduce_opts {
    const struct fy_options_by_name *fy_begin_;
    bool keepdim;        /* leave a size of 1 where a dimension was */
    fy_dtype dtype;      /* sum, prod, mean: convert to it first */
    bool biased;         /* var: divide by n, where n - 1 is usual */
    fy_tensor **indices; /* max, min over one dimension: where they are, int64; yours to free */
    double p;            /* norm: 2 unless told; 1, INFINITY, 0: how many are not 0 */
    int fy_end_;         /* closes the list, and says whether p is told; not for use */
} fy_reduce_opts;

/* Options of fy_isclose and fy_allclose. */
typedef struct fy_close_opts {
    const struct fy_options_by_name *fy_begin_;
    double rtol, atol; /* 1e-5 and 1e-8 unless told: how far a may be from b, by b's size and at all */
    bool equal_nan;    /* a NaN is close to a NaN */
    int fy_end_;       /* closes the list, and says which of the two are told; not for use */
} fy_close_opts;

/* Options of the losses. */
typedef enum fy_reduction { FY_MEAN, FY_SUM, FY_NONE } fy_reduction;
typedef struct fy_loss_opts {
    const struct fy_options_by_name *fy_begin_;
    fy_reduction reduction; /* over the rows; FY_MEAN unless told */
    double label_smoothing; /* cross_entropy: 0 to 1 */
    int fy_end_;
} fy_loss_opts;

/* What FY_EACH can go through beside an array: a data loader, a file. Put it first in a structure of your own.
 * next gives the tensors of the next item, as in batch[0] and batch[1], or NULL at the end. What it makes belongs to
 * the scope of the turn; the array itself is the iterator's. */
typedef struct fy_iterator {
    fy_tensor **(*next)(struct fy_iterator *self);
} fy_iterator;

#include "ferry_call.h" /* call sites, lists and arguments: how the macros below are made */

/* ---- devices ---------------------------------------------------------------------------- */

bool fy_cuda_is_available(void);              /* Is there a card, real or simulated? No event. */
int fy_cuda_device_count(void);               /* Number of cards; 0 under FERRY_GPU=none. */
int fy_cuda_current_device(void);             /* The card that "cuda" means in this thread; 0 at start. */
#define fy_cuda_set_device(i) fy_cuda_set_device_at(FY_AT("fy_cuda_set_device", #i), i)
                                              /* Make card i the current one of this thread. */
#define fy_cuda_can_device_access_peer(device, peer) /* Are copies between these two cards direct? */ \
    fy_cuda_can_device_access_peer_at(FY_AT("fy_cuda_can_device_access_peer", #device ", " #peer), device, peer)
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
#define fy_linspace(...) FY_LINSPACE("fy_linspace", #__VA_ARGS__, __VA_ARGS__) /* fy_linspace((start, end, steps)):
                                                             1-D, both ends included */
#define fy_eye(...)     FY_EYE("fy_eye", #__VA_ARGS__, __VA_ARGS__) /* fy_eye((n)) or ((n, m)): 1 on the diagonal */
#define fy_rand(...)    fy_rand_at(FY_MAKE("fy_rand", #__VA_ARGS__, __VA_ARGS__)) /* uniform in [0, 1), seeded */
#define fy_randint(...) FY_RANDINT("fy_randint", #__VA_ARGS__, __VA_ARGS__) /* fy_randint((low, high), (2, 3)):
                                                             int64 in [low, high) */
#define fy_randperm(...) FY_RANDPERM("fy_randperm", #__VA_ARGS__, __VA_ARGS__) /* fy_randperm((n)): 0 to n - 1, shuffled */
#define fy_empty(...)   fy_empty_at(FY_MAKE("fy_empty", #__VA_ARGS__, __VA_ARGS__)) /* memory as it comes: any values, for
                                                             what is written before it is read */
#define fy_empty_like(x) fy_empty_like_at(FY_AT("fy_empty_like", #x), x) /* x's shape, dtype, device; any values */
#define fy_zeros_like(x) fy_zeros_like_at(FY_AT("fy_zeros_like", #x), x)
#define fy_ones_like(x)  fy_ones_like_at(FY_AT("fy_ones_like", #x), x)
#define fy_full_like(x, value) fy_full_like_at(FY_AT("fy_full_like", #x ", " #value), x, FY_ARG(value)) /* of x's dtype */
#define fy_rand_like(x)  fy_rand_like_at(FY_AT("fy_rand_like", #x), x)
#define fy_randn_like(x) fy_randn_like_at(FY_AT("fy_randn_like", #x), x)
#define fy_one_hot(...) FY_WITH_NUMBER(fy_one_hot_at, -1, "fy_one_hot", #__VA_ARGS__, __VA_ARGS__) /* fy_one_hot(x, n):
                                                             of int64 classes rows of n, all 0 but for a 1 at the
                                                             class. Without n one more than the largest class,
                                                             which is read back from a card: waits */
void fy_manual_seed(uint64_t seed);           /* Seed the generator of every device. */

/* ---- moving: the argument stays where it is ----------------------------------------------- */

#define fy_to(...)   FY_TO("fy_to", #__VA_ARGS__, __VA_ARGS__) /* fy_to(x, "cuda"), fy_to(x, FY_INT64), fy_to(x, other):
                                             a new tensor there; x itself when nothing changes.
                                             Options: .dtype, .copy = true, .non_blocking = true */
#define fy_cuda(...) FY_CUDA("fy_cuda", #__VA_ARGS__, __VA_ARGS__) /* fy_cuda(x) to the current card, fy_cuda(x, 1)
                                             to card 1 */
#define fy_cpu(x)    fy_cpu_at(FY_AT("fy_cpu", #x), x)     /* home to CPU RAM; waits for the card */
#define fy_copy_(dst, ...) FY_COPY("fy_copy_", #dst ", " #__VA_ARGS__, dst, __VA_ARGS__) /* fy_copy_(dst, src): src's
                                             values into dst, which keeps its dtype and device; src is broadcast;
                                             returns dst. Option: .non_blocking = true */
#define fy_pin_memory(x) fy_pin_memory_at(FY_AT("fy_pin_memory", #x), x) /* a page-locked copy in RAM; x if it is */
#define fy_is_pinned(x)  fy_is_pinned_at(FY_AT("fy_is_pinned", #x), x)

/* ---- operations and views: a header each ---------------------------------------------------- */

#include "ferry_math.h" /* fy_add ... fy_cross_entropy, and types that meet */
#include "ferry_view.h" /* fy_view ... fy_stack: shapes, slices, joining */
#include "ferry_index.h" /* fy_split ... fy_topk: parts, elements by index, and order */
#include "ferry_memory.h" /* fy_cuda_memory_allocated ...: a card's memory and its caching allocator */
#include "ferry_io.h"   /* fy_from_blob, fy_load_npy, fy_save_npy: NumPy's arrays and your own */
#include "ferry_stream.h" /* fy_cuda_stream, fy_cuda_event: work in several queues, and its order */

/* ---- looking ------------------------------------------------------------------------------- */

#define fy_print(x) fy_print_at(FY_AT("fy_print", #x), x)   /* values to stdout; brings them home first */
#define fy_item(x)  fy_item_at(FY_AT("fy_item", #x), x)     /* the one element, as double; waits. Beyond 2^53 an
                                                               int64 may be rounded, which stderr tells once a line */
#define fy_item_int(x) fy_item_int_at(FY_AT("fy_item_int", #x), x) /* the one element of an integer or bool tensor, to
                                                               the last digit; a float one is an error */
#define fy_data(x)  fy_data_at(FY_AT("fy_data", #x), x)     /* borrowed pointer to element 0, noted as a
                                                               read; on "cuda" it points into VRAM: not
                                                               for the host */
#define fy_device(x) fy_device_at(FY_AT("fy_device", #x), x) /* "cpu", "cuda:0" ...; lives as long as the program */
#define fy_is_cuda(x) fy_is_cuda_at(FY_AT("fy_is_cuda", #x), x) /* does it live on a card? false of NULL */
#define fy_dtype_of(x) fy_dtype_of_at(FY_AT("fy_dtype_of", #x), x) /* FY_DTYPE_UNSET of NULL */
const char *fy_dtype_name(fy_dtype dtype);    /* "float32", "int64" ... */
#define fy_shape_of(x) fy_shape_of_at(FY_AT("fy_shape_of", #x), x) /* an fy_shape, a copy; 0-dim of NULL */
#define fy_dim(x) fy_dim_at(FY_AT("fy_dim", #x), x)                /* number of dimensions; 0 of NULL */
#define fy_size(x, dim) fy_size_at(FY_AT("fy_size", #x ", " #dim), x, dim) /* int64_t; negative dim counts from the
                                                end; -1 if there is none */
#define fy_stride(x, dim) fy_stride_at(FY_AT("fy_stride", #x ", " #dim), x, dim) /* in elements; dim as above */
#define fy_numel(x) fy_numel_at(FY_AT("fy_numel", #x), x)          /* int64_t, number of elements; 0 of NULL */
#define fy_is_contiguous(x) fy_is_contiguous_at(FY_AT("fy_is_contiguous", #x), x) /* row-major without holes; sizes
                                                of 1 do not matter; false of NULL */

/* ---- ownership ------------------------------------------------------------------------------ */

#define fy_free(x) fy_free_at(FY_AT("fy_free", #x), x)      /* give one reference back; NULL is fine */
#define FY_SCOPE FY_SCOPE_                    /* FY_SCOPE { ... }: what was made inside is freed at its end; break
                                                 leaves the scope and no loop around it: loops are below */
#define FY_TIMES(i, n) FY_TIMES_(i, n, FY_CAT(fy_turns_, __COUNTER__)) /* FY_TIMES(i, n) { ... }: for i from 0 to
                                                 n - 1, each turn a scope; break and continue are the loop's */
#define FY_EACH(item, source) FY_EACH_(item, source, FY_CAT(fy_turns_, __COUNTER__)) /* FY_EACH(x, list) { ... }: for
                                                 each tensor of an array, each item of an fy_iterator *; likewise */
                                              /* A line whose tensors pile up outside any scope, 10,000 alive or
                                                 1,000 that hold 1 GiB, is named on stderr, once; not where it
                                                 puts each into a place of its own, as list[i] = ... */
#define fy_keep(x) fy_keep_at(FY_AT("fy_keep", #x), x)      /* carry x out into the enclosing scope */
#define fy_set(p, x) fy_set_at(FY_AT("fy_set", #p ", " #x), p, x) /* fy_set(&w, fy_mul(w, 2)): frees the tensor in w,
                                                 puts the new one there, and carries it into the scope of the old
                                                 one; where w was NULL, into the enclosing scope. w holds a
                                                 tensor or NULL before. The new tensor's reference is w's from
                                                 then on: this alone consumes an argument. After a failed call
                                                 w stays as it is */

/* ---- errors, time, notes --------------------------------------------------------------------- */

typedef enum fy_on_error_mode { FY_EXIT, FY_RETURN } fy_on_error_mode;
void fy_on_error(fy_on_error_mode mode);      /* per thread; FY_EXIT at start */
const char *fy_error(void);                   /* first message since the last clear, or NULL; per thread */
void fy_clear_error(void);
int64_t (fy_now)(void); /* the function, for pointers and C++ initializers: not noted in the log */
#define fy_now() fy_now_at(FY_AT("fy_now", ""))             /* look at the session's clock (model or measured): ns since
                                                               the start; noted in the log */
#define fy_mark(text) fy_mark_at(FY_AT("fy_mark", #text), text)    /* a note of yours in the log */
/* After a note that begins with "demo:", up to the next note, the program shows what things cost: `ferry explain` calls
 * none of that waste. */

/* ---- lessons ---------------------------------------------------------------------------------- */

#define fy_given(name)     fy_given_at(FY_AT("fy_given", #name), name)   /* the lesson's input, on the CPU */
#define fy_answer(name, x) fy_answer_at(FY_AT("fy_answer", #name ", " #x), name, x) /* hand the result in */

#ifndef FERRY_INSIDE /* a program gets the session (FERRY_TRACE and its kin) with the library; lib's own files lie below it */
extern const int fy_session_linked;
static const int *const fy_links_session __attribute__((used)) = &fy_session_linked;
#endif

#ifdef __cplusplus
#include "ferry_cpp.h"
}
#endif
#endif
