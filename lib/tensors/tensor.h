/* tensor.h: what is behind a handle, for the files of lib. */
#ifndef FERRY_TENSOR_H
#define FERRY_TENSOR_H

#include "device.h"
#include "op.h"

/* Bytes in one memory, shared by all the tensors that look at them. */
typedef struct fy_storage {
    uint32_t id; /* 0 until it is announced */
    uint32_t refs;
    uint32_t version; /* writes so far */
    uint32_t tenant;
    fy_dev *dev;
    void *data;    /* host pointer, or the guarded device pointer; NULL where bytes is 0 */
    uint64_t addr; /* modelled address */
    size_t asked, bytes;
    fy_word mem;
    fy_site *born;
    const char *name;               /* of its first handle; may be NULL */
    fy_dtype dtype;                 /* its first handle's; guard.c counts elements by it */
    fy_deleter deleter;             /* foreign memory alone: called once when nobody looks at it any more */
    void *given, *context;          /* with these */
    struct fy_block *block;         /* of the caching allocator (cache.h); NULL: its memory is not from there */
    int stream;                     /* of a card: whose block it is */
    uint64_t recorded;              /* bit i: stream i uses it as well, and is waited for */
    struct fy_seen *seen;           /* accesses by streams (hazard.c); NULL: none */
    struct fy_storage *next, *prev; /* all that live, oldest first */
} fy_storage;

enum { FY_ALIVE = 0x46794f4b, FY_DEAD = 0x46794445 };

struct fy_tensor {
    uint32_t magic; /* FY_ALIVE or FY_DEAD: a freed handle stays recognisable */
    uint32_t id;
    uint32_t refs;
    fy_dtype dtype;
    fy_storage *storage;
    int64_t offset; /* elements */
    int ndim;
    int64_t shape[FY_MAX_DIMS], strides[FY_MAX_DIMS];
    const char *name; /* lives as long as the program; NULL where there is none */
    fy_site *born, *freed;
    fy_word gone;    /* how it was freed: free or scope */
    fy_tensor *next; /* among the dead slots */
};

/* storage.c. To reserve takes the bytes and says nothing, so that a call that fails later can cancel
 * and leave no trace; to announce emits the alloc event. */
fy_storage *fy_storage_reserve(fy_site *at, fy_dev *d, size_t bytes); /* NULL after an oom error */
fy_storage *fy_storage_reserve_pinned(fy_site *at, size_t bytes);     /* page-locked, on the CPU; NULL likewise */
void fy_storage_announce(fy_site *at, fy_storage *s);
void fy_storage_cancel(fy_storage *s);
fy_storage *fy_storage_make(fy_site *at, fy_dev *d, size_t bytes); /* both; NULL after an oom error */
/* Host memory of the program's, likewise; the deleter may be NULL. */
fy_storage *fy_storage_foreign(fy_site *at, void *data, size_t bytes, fy_deleter deleter, void *context);
void fy_storage_drop(fy_site *at, fy_storage *s);    /* one reference less */
const fy_storage *fy_storage_holding(const void *p); /* for guard.c; may run in a signal handler */
/* A stream of the card uses s as well (fy_record_stream), or a copy that goes on reads or writes page-locked memory:
 * its bytes are given on only when the stream has got past what it had to do when s was freed. */
void fy_pool_record_stream(fy_storage *s, int stream);
void fy_pool_record_pinned(fy_storage *s, const fy_dev *card, int stream);
fy_ref fy_live_storages(void); /* ids of the storages alive, for the `live` field of the end event */

/* A view of a storage, before it has a handle. */
typedef struct fy_geometry {
    fy_dtype dtype;
    int64_t offset;
    fy_shape shape;
    int64_t strides[FY_MAX_DIMS];
} fy_geometry;

/* tensor.c. A new tensor carries one reference; a reference that a public call gives goes through fy_hand_out,
 * which enters it in the innermost open scope of the thread. */
fy_tensor *fy_tensor_make(fy_site *at, fy_storage *s, const fy_geometry *g, const char *name, uint32_t view_of);
fy_tensor *fy_tensor_again(fy_tensor *x);                                /* one more reference */
void fy_tensor_drop(fy_site *at, fy_tensor *x, fy_word why);             /* one less; NULL is fine */
const char *fy_tensor_label(const fy_tensor *x, char *buf, size_t room); /* name, or "tensor 7" */
const char *fy_name_keep(const char *name);              /* the same text, for as long as the program lives */
const char *fy_name_for(fy_site *at, const char *given); /* what a new tensor of this call is called */

/* scope.c */
fy_tensor *fy_hand_out(fy_tensor *x);

/* dtype.c */
const char *fy_dtype_torch(fy_dtype d); /* "Float", "Long": what PyTorch's messages say */
const char *fy_dtype_c(fy_dtype d);     /* "float", "long int" */
fy_word fy_dtype_word(fy_dtype d);
bool fy_dtype_ok(fy_site *at, fy_dtype d); /* false after an error */
bool fy_dtype_is_real(fy_dtype d);
bool fy_dtype_is_integer(fy_dtype d);                     /* bool is none */
int fy_dtype_category(fy_dtype d);                        /* 0 unset, 1 bool, 2 integer, 3 float */
fy_dtype fy_dtype_named(const char *name, size_t length); /* "float32"; FY_DTYPE_UNSET if there is none */
/* Element i of an array on the host, as a number, and back: rounded once, cut off, wrapped. */
double fy_real_at(fy_dtype d, const void *p, int64_t i);
int64_t fy_integer_at(fy_dtype d, const void *p, int64_t i);
fy_arg fy_number_at(fy_dtype d, const void *p, int64_t i);
void fy_number_put(fy_dtype d, void *p, int64_t i, fy_arg x);

/* promote.c */
fy_dtype fy_result_of(int n, const fy_arg *x); /* the operands' common type */

/* shape.c */
int64_t fy_shape_numel(const fy_shape *s);
bool fy_shape_ok(fy_site *at, const fy_shape *s, fy_dtype d, int64_t *numel); /* false after an error */
void fy_shape_rows(const fy_shape *s, int64_t *strides);                      /* row-major strides */
fy_geometry fy_geometry_of(const fy_tensor *x);
int64_t fy_span(const fy_geometry *g);  /* elements from the first to the last, holes and all */
bool fy_is_dense(const fy_geometry *g); /* without holes and overlaps, in whatever order */
/* Strides of a result that follows its operands' order of dimensions, as PyTorch's do. Operands are expanded
 * to s; alike: all had that shape of their own, and none is a number. */
void fy_shape_follow(const fy_shape *s, int n, const fy_layout *in, bool alike, int64_t *strides);
fy_layout fy_layout_of(const fy_geometry *g);
const char *fy_shape_text(const int64_t *dims, int n, const char *ends, char *buf, size_t room); /* "[2, 3]" */

int64_t fy_step_over(int64_t step, int64_t size);                    /* step * size, or the largest there is */
int64_t fy_offset_over(int64_t offset, int64_t step, int64_t index); /* offset + step * index, where that is in reach */

/* view.c */
fy_tensor *fy_view_make(fy_site *at, fy_tensor *x, const fy_geometry *g); /* of x's storage; handed out */
/* Strides of s over x's elements in their order; false where no view can have that shape. */
bool fy_restride(const fy_tensor *x, const fy_shape *s, int64_t *strides);
/* A dimension counted from either end, of x or of n; false after an error. */
bool fy_wrap_dim(fy_site *at, fy_tensor *x, int64_t *dim);
bool fy_wrap_dim_of(fy_site *at, fy_tensor *x, int n, int64_t *dim);

/* dispatch.c: one call of one op, from the check of its operands to its events. */
typedef struct fy_call {
    fy_site *at; /* NULL for internal work */
    int op;
    fy_arg in[FY_MAX_INPUTS];
    fy_tensor *out;         /* written in place and returned borrowed; NULL: a new tensor */
    fy_dev *dev;            /* given shapes: where */
    fy_dtype dtype;         /* given dtypes: of the result; reductions: to compute in, if it is set */
    fy_shape shape;         /* given shapes: of the result */
    const int64_t *strides; /* given shapes: of the result; NULL: row-major */
    bool pinned;            /* the result in page-locked memory, on the CPU */
    fy_shape dims;          /* reductions: which ones (none: all); FY_ALONG: the one */
    bool keepdim;
    bool row_major; /* the result in row-major order, whatever the operands' is */
    double real[FY_MAX_SCALARS];
    int64_t integer[FY_MAX_SCALARS];
    const char *name; /* of the result; kept for good */
} fy_call;

/* What a call will do, decided before anything is allocated. (plan.c) */
typedef struct fy_plan {
    fy_dev *dev;
    fy_dtype dtype; /* the op computes in */
    fy_geometry result;
    fy_dtype takes[FY_MAX_INPUTS];    /* the type of each operand */
    fy_layout in[FY_MAX_INPUTS], out; /* as the kernel sees them; out for row-major results of another form */
    bool number[FY_MAX_INPUTS];       /* passed as a kernel argument */
    int reduced;
} fy_plan;

bool fy_plan_make(const fy_call *c, fy_plan *p);                    /* false after an error */
bool fy_plan_types(const fy_call *c, fy_plan *p);                   /* its parts: types.c */
bool fy_plan_product(const fy_call *c, fy_plan *p);                 /* product.c */
bool fy_plan_reduced(const fy_call *c, fy_plan *p);                 /* reduce.c */
bool fy_plan_along(const fy_call *c, fy_plan *p);                   /* reduce.c */
bool fy_divisor_ok(const fy_call *c, const fy_plan *p);             /* divisor.c: no integer by 0 on the CPU */
bool fy_plan_in_place(const fy_call *c, fy_plan *p);                /* inplace.c: may it be written, and how */
bool fy_check_written(fy_site *at, fy_tensor *dst, fy_tensor *src); /* may src be broadcast into dst? */
fy_layout fy_layout_expanded(const fy_tensor *x, const fy_shape *s);
bool fy_broadcast(fy_site *at, fy_tensor *a, fy_tensor *b, fy_shape *out); /* false after an error */
fy_tensor *fy_dispatch(const fy_call *c);                                  /* NULL after an error */
void *fy_first_element(const fy_tensor *x);                                /* where it lies; NULL: nowhere */
/* Run `w` into `out`, whose reference is the caller's, and record it; false after an error. */
bool fy_perform(const fy_call *c, fy_dev *dev, fy_run_work *w, fy_tensor *const *in, fy_tensor *out);
uint32_t fy_work_id(void); /* number of a copy or an op */

/* plain.c: a call that needs no plan: operands of one type and shape, row-major, on the host. */
typedef struct fy_plain {
    fy_dtype dtype; /* of the result */
    int64_t numel;
} fy_plain;
bool fy_plan_plain(const fy_call *c, fy_plain *p); /* is it one? Never an error */
fy_tensor *fy_dispatch_plain(const fy_call *c, const fy_plain *p);

/* cross.c: a tensor's elements, dense, into one that lies alike in another memory; false after an error. */
typedef struct fy_crossing {
    bool async;
    fy_word cast; /* FY_WORD_source, FY_WORD_destination: where the dtype is converted; FY_WORD_none */
    fy_word why;
} fy_crossing;
bool fy_cross(fy_site *at, const fy_tensor *src, fy_tensor *dst, const fy_crossing *how);
/* Bytes of a card from x's first element on. */
bool fy_fetch(fy_site *at, const fy_tensor *x, void *to, size_t bytes, fy_word why);

/* policy.c: operands that are apart, where FERRY_POLICY=silent lets them meet unasked. */
bool fy_policy_applies(const fy_call *c);
fy_tensor *fy_policy_dispatch(const fy_call *c);

/* move.c; all NULL or false after an error */
fy_tensor *fy_move(fy_site *at, fy_tensor *x, fy_dev *to, fy_dtype dtype, const char *name);
fy_tensor *fy_move_unasked(fy_site *at, fy_tensor *x, fy_dev *to); /* FERRY_POLICY=silent; the log says so */
fy_tensor *fy_compact(fy_site *at, fy_tensor *x);
/* src's values, broadcast and converted, into dst on the same device. */
bool fy_write_into(fy_site *at, fy_tensor *dst, fy_tensor *src);

/* home.c */
/* All elements on the host, row-major, in x's dtype; free() it. why: print or item, which shows in the
 * log; answer: nothing is recorded. NULL after an error. */
void *fy_bring_home(fy_site *at, fy_tensor *x, fy_word why);
enum { FY_SAMPLE = 16, FY_WHOLE_ANSWER = 65536 }; /* elements that a values event holds */
void fy_emit_values(fy_site *at, const fy_tensor *x, const void *home, int64_t limit);
void fy_emit_read(fy_site *at, const fy_tensor *x, fy_word via);
void fy_emit_write(fy_site *at, const fy_tensor *x, fy_word via); /* a new version */

/* make.c: a row-major tensor in RAM whose values the caller sets; NULL after an error. */
fy_tensor *fy_make_host(fy_site *at, fy_dtype dtype, const fy_shape *shape, const char *name);

/* random.c: the generators. The host's is MT19937, each card's is a counter. */
typedef struct fy_philox {
    uint64_t seed, offset;
} fy_philox;
fy_philox fy_random_take(int device, uint64_t counters);         /* advances the card's counter */
void fy_random_give(int device, fy_philox p, uint64_t counters); /* and back, if nobody has drawn since */

/* fail.c: emit the error event, print, and exit or return (see ferry.h). Always return NULL.
 * code: a word of the schema; message: PyTorch's words with the real values; hint: the fix.
 * fy_fail_about adds what was given: the tensors of the call, in the order of its arguments. */
void *fy_fail(fy_site *at, const char *code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void *fy_fail_about(fy_site *at, const char *code, const char *hint, int n, fy_tensor *const *x, const char *format,
                    ...) __attribute__((format(printf, 6, 7)));
/* Of work that failed after its call: cause is the seq of its event, plus one, or 0; given: more about it. */
void *fy_fail_caused(fy_site *at, uint64_t cause, const char *code, const char *hint, const char *given,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Is argument i a tensor that lives? False after an error; after FY_RETURN a NULL passes through silently. */
bool fy_check(fy_site *at, int i, const fy_tensor *x);
/* Argument i is NULL where a tensor, stream or event belongs: silent after FY_RETURN, where NULL passes through. */
void *fy_fail_null(fy_site *at, int i, const char *kind);
/* The i-th argument as written, or "argument 2". */
const char *fy_argument(const fy_site *at, int i, char *buf, size_t room);
/* A hint put together: valid until the thread's next. */
const char *fy_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
