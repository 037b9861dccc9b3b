/* npz.h: NumPy's archives: a zip file with an array in NumPy's format per name, "0.weight.npy". */
#ifndef FERRY_NPZ_H
#define FERRY_NPZ_H

#include "tensor.h"

typedef struct fy_npz_array {
    const char *name;  /* "0.weight"; of an archive that was opened: valid until it is closed */
    fy_tensor *tensor; /* to be written */
} fy_npz_array;

/* Writes an archive, and replaces the file atomically; each array's comment is its device. False after an error. */
bool fy_npz_write(fy_site *at, const char *path, size_t n, const fy_npz_array *arrays);

typedef struct fy_npz fy_npz;
fy_npz *fy_npz_open(fy_site *at, const char *path); /* NULL after an error */
void fy_npz_close(fy_npz *z);
size_t fy_npz_count(const fy_npz *z);
const char *fy_npz_name(fy_npz *z, size_t i, char *buf, size_t room);   /* without ".npy" */
const char *fy_npz_device(fy_npz *z, size_t i, char *buf, size_t room); /* "cpu" if the archive does not say */
/* Array i as a CPU tensor named `name`, interned; the file may hold at most `most` bytes of it. NULL after an error. */
fy_tensor *fy_npz_load(fy_npz *z, size_t i, const char *name, size_t most);

#endif
