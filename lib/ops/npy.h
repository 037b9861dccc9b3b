/* npy.h: the header of NumPy's file format, for the files of lib that read and write it.
 *
 * A file is "\x93NUMPY", a version (two bytes), the length of the header (two bytes in version 1, four in 2
 * and 3, the lowest first), the header, and the elements. The header is a Python dict as text:
 * {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } */
#ifndef FERRY_NPY_H
#define FERRY_NPY_H

#include "ferry.h"

enum {
    FY_NPY_HEADER = 1 << 16, /* bytes of the longest header that is read; NumPy's own limit is smaller */
    FY_NPY_WORDS = 240,
};

typedef struct fy_npy {
    fy_dtype dtype;
    bool swapped; /* elements have the other byte order than this machine */
    bool fortran; /* the first dimension is the innermost */
    fy_shape shape;
    char wrong[FY_NPY_WORDS], fix[FY_NPY_WORDS]; /* when it cannot be read: what is wrong, to follow the file's name */
} fy_npy;

bool fy_npy_read_header(const char *text, size_t n, fy_npy *h); /* false: h->wrong and h->fix are set */
bool fy_npy_wrong(fy_npy *h, const char *fix, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The beginning of a file, all before the elements; returns its length, at most 256. */
size_t fy_npy_write_header(fy_dtype dtype, const fy_shape *shape, char *buf);

#endif
