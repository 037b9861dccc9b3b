/* ferry_io.h: tensors over your own memory, and NumPy's files. Included by ferry.h. */
#ifndef FERRY_IO_H
#define FERRY_IO_H

/* Called once, with the pointer and `context`, after the last tensor over the memory is freed. */
typedef void (*fy_deleter)(void *data, void *context);

/* Options of fy_from_blob. */
typedef struct fy_blob_opts {
    const struct fy_options_by_name *fy_begin_;
    fy_dtype dtype;     /* default float32 */
    fy_shape strides;   /* in elements, one per dimension: FY_STRIDES(3, 1); default row-major */
    fy_deleter deleter; /* NULL: you keep ownership, and the memory must outlive the tensor */
    void *context;
    const char *name;
    int fy_end_;
} fy_blob_opts;

#define FY_STRIDES(...) FY_DIMS(__VA_ARGS__)

#define fy_from_blob(...) FY_FROM_BLOB("fy_from_blob", #__VA_ARGS__, __VA_ARGS__)
    /* fy_from_blob(data, (2, 3), .dtype = FY_FLOAT64): a CPU tensor over your own host memory, not copied: writes
       to either are visible in the other. Strides must not be negative. */
#define fy_load_npy(path) fy_load_npy_at(FY_AT("fy_load_npy", #path), path)
    /* loads a file of numpy.save into a CPU tensor: float16, float32, float64, int32, int64, uint8 or bool, in either
       byte order; Fortran order becomes strides. Other types, damaged and truncated files are errors. */
#define fy_save_npy(path, x) fy_save_npy_at(FY_AT("fy_save_npy", #path ", " #x), path, x)
    /* saves x as row-major, little-endian, copied to the host if on a card; bfloat16, which NumPy does not have, is
       an error. Replaces the file atomically. Returns true if it was written. */

#define FY_FROM_BLOB(call, text, ...) \
    fy_from_blob_at(FY_AT(call, text), FY_FIRST(__VA_ARGS__), \
                    FY_SHAPE_IN("the shape comes second, in parentheses of its own: fy_from_blob(data, (2, 3))", \
                                FY_SECOND_OR(FY_MISSING, __VA_ARGS__)), \
                    FY_LITERAL(fy_blob_opts, FY_REST(FY_REST(__VA_ARGS__, .fy_end_ = 0))))

fy_tensor *fy_from_blob_at(fy_site *at, void *data, fy_shape shape, fy_blob_opts o);
fy_tensor *fy_load_npy_at(fy_site *at, const char *path);
bool fy_save_npy_at(fy_site *at, const char *path, fy_tensor *x);

#endif
