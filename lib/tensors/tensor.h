/* tensor.h: tensor handles: a view of a storage, reference counting, scopes, and argument checks. */
#ifndef FERRY_TENSOR_H
#define FERRY_TENSOR_H

#include "event.h"
#include "storage.h"

enum { FY_ALIVE = 0x46794f4b, FY_FREED = 0x46794445 };

struct fy_tensor {
    uint32_t magic; /* FY_ALIVE or FY_FREED, to detect use after free */
    uint32_t id;
    uint32_t refs;
    uint32_t before; /* how often this slot was used before */
    fy_dtype dtype;
    uint32_t element_size; /* bytes */
    fy_storage *storage;
    int64_t offset; /* elements */
    int ndim;
    int64_t shape[FY_MAX_DIMS], strides[FY_MAX_DIMS];
    const char *name; /* interned; NULL: none */
    fy_site *born, *freed;
    fy_word freed_by;           /* FY_WORD_free or FY_WORD_scope */
    bool unscoped;              /* created outside any scope, and counted by its call site */
    fy_tensor *next;            /* in the quarantine */
    struct fy_node *node;       /* of the autograd graph (graph.h): the call that computed it; or NULL */
    struct fy_history *history; /* shared with its views; NULL: it is no view, and has none */
    uint32_t history_seen;      /* writes in place that `node` includes */
    bool is_view;
    enum { FY_VIEW_PLAIN, FY_VIEW_WITHOUT_GRAD, FY_VIEW_OF_LIST } made; /* of a view: how; views of it are alike */
    uint32_t holders;                                                   /* how many members of modules it is */
};

/* What a plan needs of x, to be changed. Other threads count references to x meanwhile: a copy of all would read those.
 */
static inline fy_tensor fy_tensor_described(const fy_tensor *x)
{
    fy_tensor t = {.magic = x->magic, .id = x->id, .dtype = x->dtype, .element_size = x->element_size};
    t.storage = x->storage;
    t.offset = x->offset;
    t.ndim = x->ndim;
    t.name = x->name;
    memcpy(t.shape, x->shape, sizeof t.shape);
    memcpy(t.strides, x->strides, sizeof t.strides);
    return t;
}

/* A view of a storage, without a handle. */
typedef struct fy_geometry {
    fy_dtype dtype;
    int64_t offset;
    fy_shape shape;
    int64_t strides[FY_MAX_DIMS];
} fy_geometry;

/* tensor.c. A new tensor has one reference. A reference that a public call returns goes through fy_scope_track, which
 * adds it to the thread's innermost open scope. make takes over the caller's reference to s. */
fy_tensor *fy_tensor_make(fy_site *at, fy_storage *s, const fy_geometry *g, const char *name, uint32_t view_of,
                          bool saved);                                   /* saved: by the autograd graph */
fy_tensor *fy_tensor_save(fy_site *at, const fy_tensor *x);              /* a second handle, of the autograd graph */
fy_tensor *fy_tensor_retain(fy_tensor *x);                               /* adds a reference; returns x */
void fy_tensor_release(fy_site *at, fy_tensor *x, fy_word why);          /* drops one; x may be NULL */
const char *fy_tensor_label(const fy_tensor *x, char *buf, size_t room); /* name, or "tensor 7" */
/* x, which has no gradient of its own to lose, gets the bytes, geometry and id of `by`, which must have one reference
 * and no node, and is released. Views of x keep the old bytes. */
void fy_tensor_replace(fy_site *at, fy_tensor *x, fy_tensor *by);
void fy_tensor_rename(fy_site *at, fy_tensor *x, const char *name); /* "": no change */
void fy_tensor_name_after_argument(fy_site *at,
                                   fy_tensor *x);          /* names an unnamed x after the first argument: &w gives w */
const char *fy_name_intern(const char *name);              /* interns it; NULL for NULL and "" */
const char *fy_name_for(fy_site *at, const char *given);   /* a new tensor's name: `given`, or the variable's */
const char *fy_name_of_indices(fy_site *at);               /* likewise, of what `.indices = &i` receives: i, or NULL */
void fy_returned(fy_site *at, int n, fy_tensor *const *x); /* records what a call of several results returned */

/* Storages of the unscoped tensors of that call site, up to `most`; returns how many. */
typedef struct fy_unscoped_storage {
    const fy_storage *storage;
    size_t bytes;
} fy_unscoped_storage;
size_t fy_tensors_unscoped(const fy_site *at, fy_unscoped_storage *held, size_t most);

/* scope.c */
fy_tensor *fy_scope_track(fy_tensor *x);
fy_tensor *fy_scope_take(fy_tensor *x); /* the caller takes over the reference that a public call returned; returns x */
fy_scope fy_scope_begin(fy_site *at);   /* for the library's own calls: no region of the program */
/* Ends the scope, except for x, which is what the scope computed. Returns a reference to x, the caller's; x may be
 * NULL. */
fy_tensor *fy_scope_end_with(fy_scope *s, fy_tensor *x);
bool fy_scope_owns(const fy_tensor *x);          /* does an open scope of this thread own a reference? */
size_t fy_scope_depth(void);                     /* how many scopes this thread has open */
void fy_scope_unwind(fy_site *at, size_t depth); /* ends those beyond that depth, which a longjmp has left */

/* unscoped.c: counts tensors made outside any scope, per call site. */
void fy_unscoped_add(fy_tensor *x);
void fy_unscoped_remove(const fy_tensor *x);

/* promote.c */
fy_dtype fy_result_of(int n, const fy_arg *x); /* the operands' promoted type */

/* accessors.c */
int64_t fy_tensor_numel(const fy_tensor *x); /* fy_numel for the library's own code: x is alive */
void *fy_first_element(const fy_tensor *x);  /* its address; NULL: the storage is empty */

/* check.c: like fy_fail (error.h), and describes the call's n tensor arguments x, in their order. */
void *fy_fail_about(fy_site *at, const char *code, const char *hint, int n, fy_tensor *const *x, const char *format,
                    ...) __attribute__((format(printf, 6, 7)));
/* Likewise of elements `first` to first + n - 1 of a list (FY_IN_LIST in error.h). */
void *fy_fail_listed(fy_site *at, const char *code, const char *hint, int first, int n, fy_tensor *const *x,
                     const char *format, ...) __attribute__((format(printf, 7, 8)));
/* What an error calls tensor x: the argument that is its variable, else argument i; in an inner call its name. */
const char *fy_argument_of(const fy_site *at, int i, const fy_tensor *x, char *buf, size_t room);
/* Is argument i a live tensor? False after an error; after an error under FY_RETURN, NULL returns false silently. */
bool fy_check(fy_site *at, int i, const fy_tensor *x);
bool fy_dtype_ok(fy_site *at, fy_dtype d);       /* false after an error */
bool fy_number_ok(fy_site *at, const fy_arg *x); /* false after an error: above INT64_MAX */

#endif
