/* npy.h: NumPy's file format. Used by npy_*.c, and by .npz files.
 *
 * A file is "\x93NUMPY", a version (two bytes), the header's length (two bytes in version 1, four in 2 and 3,
 * little-endian), the header, and the elements. The header is a Python dict as text: {'descr': '<f4', 'fortran_order':
 * False, 'shape': (3, 4), } */
#ifndef FERRY_NPY_H
#define FERRY_NPY_H

#include "ferry.h"

enum {
    FY_NPY_HEADER = 1 << 16, /* maximum header length in bytes; NumPy's own limit is smaller */
    FY_NPY_WORDS = 240,
};

typedef struct fy_npy {
    fy_dtype dtype;
    bool swapped; /* the elements' byte order is not this machine's */
    bool fortran; /* column-major */
    fy_shape shape;
    char wrong[FY_NPY_WORDS], fix[FY_NPY_WORDS]; /* error message, to follow the file's name, and its fix */
} fy_npy;

/* Untrusted input; false: h->wrong and h->fix are set. */
bool fy_npy_read_header(const char *text, size_t n, fy_npy *h);
bool fy_npy_wrong(fy_npy *h, const char *fix, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* npy_load.c: a CPU tensor of that name from an open file, at its start; `label` names it in errors. The caller's
 * reference; NULL after an error. */
fy_tensor *fy_npy_load(fy_site *at, const char *label, int fd, const char *name);
/* npy_save.c: x's elements as a file has them, to be freed; NULL after an error. */
char *fy_npy_elements(fy_site *at, fy_tensor *x, size_t *bytes);
bool fy_npy_check_dtype(fy_site *at, const fy_tensor *x); /* does NumPy have x's dtype? False after an error */

/* Writes everything before the elements; returns its length in bytes, at most 256. */
size_t fy_npy_write_header(fy_dtype dtype, const fy_shape *shape, char *buf);

#endif
