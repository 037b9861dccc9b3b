/* tensor.h: what is behind a handle, for the files of lib. */
#ifndef FERRY_TENSOR_H
#define FERRY_TENSOR_H

#include "device.h"
#include "op.h"

typedef struct fy_storage {
    uint32_t id;
    uint32_t refs;
    uint32_t version;    /* writes so far */
    uint32_t tenant;
    fy_dev *dev;
    void *data;          /* host pointer, or the guarded device pointer */
    uint64_t addr;       /* modelled address */
    size_t asked, bytes;
    fy_word mem;
    fy_site *born;
    const char *name;    /* of its first handle; may be NULL */
    struct fy_storage *next, *prev; /* all that live */
} fy_storage;

struct fy_tensor {
    uint32_t magic;      /* FY_ALIVE or FY_DEAD: a freed handle stays recognisable */
    uint32_t id;
    uint32_t refs;
    fy_dtype dtype;
    fy_storage *storage;
    int64_t offset;      /* elements */
    int ndim;
    int64_t shape[FY_MAX_DIMS], strides[FY_MAX_DIMS];
    const char *name;
    fy_site *born, *freed;
};

/* storage.c */
fy_storage *fy_storage_make(fy_site *at, fy_dev *d, size_t bytes); /* NULL after an oom error */
void fy_storage_drop(fy_site *at, fy_storage *s);
const fy_storage *fy_storage_holding(const void *p);               /* for guard.c; may run in a signal handler */

/* tensor.c */
size_t fy_dtype_size(fy_dtype d);
const char *fy_tensor_label(const fy_tensor *x); /* name, or "tensor 7" */

/* dispatch.c: check, allocate, run and record one op. at may be NULL for internal work. */
fy_tensor *fy_dispatch(fy_site *at, int op, int nin, fy_tensor **in, fy_tensor *out, fy_run_work *scalars);

/* fail.c: emit the error event, print, and exit or return (see ferry.h). Always returns NULL.
 * code: a word of the schema; message: PyTorch's words with the real values; hint: the fix. */
void *fy_fail(fy_site *at, const char *code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
