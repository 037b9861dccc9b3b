/* tensor.h: what is behind a handle: its place in a storage, who holds it, and the checks of arguments. */
#ifndef FERRY_TENSOR_H
#define FERRY_TENSOR_H

#include "event.h"
#include "storage.h"

enum { FY_ALIVE = 0x46794f4b, FY_DEAD = 0x46794445 };

struct fy_tensor {
    uint32_t magic; /* FY_ALIVE or FY_DEAD: a freed handle stays recognisable */
    uint32_t id;
    uint32_t refs;
    uint32_t before; /* tensors that had this place before */
    fy_dtype dtype;
    uint32_t element_size; /* bytes */
    fy_storage *storage;
    int64_t offset; /* elements */
    int ndim;
    int64_t shape[FY_MAX_DIMS], strides[FY_MAX_DIMS];
    const char *name; /* lives as long as the program; NULL where there is none */
    fy_site *born, *freed;
    fy_word gone;    /* how it was freed: free or scope */
    bool unscoped;   /* counted by its call: no scope held it when it was made */
    fy_tensor *next; /* among the dead slots */
};

/* A view of a storage, before it has a handle. */
typedef struct fy_geometry {
    fy_dtype dtype;
    int64_t offset;
    fy_shape shape;
    int64_t strides[FY_MAX_DIMS];
} fy_geometry;

/* tensor.c. A new tensor carries one reference; a reference that a public call gives goes through fy_scope_track,
 * which enters it in the innermost open scope of the thread. */
fy_tensor *fy_tensor_make(fy_site *at, fy_storage *s, const fy_geometry *g, const char *name, uint32_t view_of);
fy_tensor *fy_tensor_retain(fy_tensor *x);                               /* one more reference */
void fy_tensor_release(fy_site *at, fy_tensor *x, fy_word why);          /* one less; NULL is fine */
const char *fy_tensor_label(const fy_tensor *x, char *buf, size_t room); /* name, or "tensor 7" */
void fy_tensor_call(fy_site *at, fy_tensor *x); /* x without a name takes that of the first argument: &w gives w */
const char *fy_name_keep(const char *name);     /* the same text, for as long as the program lives */
const char *fy_name_for(fy_site *at, const char *given); /* what a new tensor of this call is called */

/* What that call's tensors that no scope holds look at, of at most `most`; how many. */
typedef struct fy_unscoped_storage {
    const fy_storage *storage;
    size_t bytes;
} fy_unscoped_storage;
size_t fy_tensors_unscoped(const fy_site *at, fy_unscoped_storage *held, size_t most);

/* scope.c */
fy_tensor *fy_scope_track(fy_tensor *x);

/* unscoped.c: a tensor was made outside any scope, and is gone. */
void fy_unscoped_add(fy_tensor *x);
void fy_unscoped_remove(const fy_tensor *x);

/* promote.c */
fy_dtype fy_result_of(int n, const fy_arg *x); /* the operands' common type */

/* accessors.c */
void *fy_first_element(const fy_tensor *x); /* where it lies; NULL: nowhere */

/* check.c: fy_fail (error.h), and what was given: the tensors of the call, in the order of its arguments. */
void *fy_fail_about(fy_site *at, const char *code, const char *hint, int n, fy_tensor *const *x, const char *format,
                    ...) __attribute__((format(printf, 6, 7)));
/* Is argument i a tensor that lives? False after an error; after FY_RETURN a NULL passes through silently. */
bool fy_check(fy_site *at, int i, const fy_tensor *x);
bool fy_dtype_ok(fy_site *at, fy_dtype d);       /* false after an error */
bool fy_number_ok(fy_site *at, const fy_arg *x); /* false after an error: above INT64_MAX */

#endif
