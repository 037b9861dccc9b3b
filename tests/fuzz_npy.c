/* fuzz_npy.c: loads libFuzzer's bytes as a .npy file (make fuzz-files): the result is a tensor inside its storage or an
 * error with a message, and nothing leaks. The first byte selects how the file is made from the others: verbatim,
 * behind the magic and a length, or as a valid header with one byte changed. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"
#include "dtype.h"
#include "tensor.h"

enum { FRONT = 10, ROOM = 256 };

static int file = -1;
static char path[64];
static volatile double sink; /* prevents removal of the reads */

static void start(void)
{
    file = memfd_create("fuzz.npy", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    setenv("FERRY_GPU", "sim", 1);
    fy_on_error(FY_RETURN);
}

static void set_front(uint8_t *front, size_t length)
{
    memcpy(front, "\x93NUMPY\x01\x00", 8);
    front[8] = (uint8_t)length;
    front[9] = (uint8_t)(length >> 8);
}

/* A header made from six bytes; two more change one of its bytes. */
static size_t write_header(const uint8_t *d, uint8_t *out)
{
    static const char *const types[] = {"<f2", "<f4", ">f8", "<i4", ">i8", "|u1",
                                        "|b1", ">f2", "=f4", "<c8", "|O",  "<U3"};
    char *text = (char *)out + FRONT;
    int n = snprintf(text, ROOM - FRONT, "{'descr': '%s', 'fortran_order': %s, 'shape': (", types[d[0] % 12],
                     d[1] % 2 ? "True" : "False");
    for (int i = 0; i < d[2] % 10; i++) {
        long long size = d[3 + i % 3] == 255 ? INT64_MAX : d[3 + i % 3] % 4;
        n += snprintf(text + n, (size_t)(ROOM - FRONT - n), "%lld, ", size);
    }
    n += snprintf(text + n, (size_t)(ROOM - FRONT - n), "), }\n");
    set_front(out, (size_t)n);
    if (d[6]) out[d[6] % (FRONT + n)] = d[7];
    return (size_t)(FRONT + n);
}

/* Writes the start of the file; returns the number of input bytes used. */
static size_t compose(const uint8_t *data, size_t size, uint8_t *front, size_t *used)
{
    int way = size ? data[0] % 4 : 0;
    *used = 0;
    if (way == 0) return 0;
    *used = 1;
    if (way > 1 && size > 9) {
        *used = 9;
        return write_header(data + 1, front);
    }
    size_t length = size - 1;
    while (length > 0 && data[length] != '\n') length--; /* the header ends at the last newline */
    set_front(front, length);
    return FRONT;
}

/* A file in memory, rewritten each time. */
static void put(const uint8_t *data, size_t size)
{
    uint8_t front[ROOM];
    size_t used, n = compose(data, size, front, &used);
    if (file < 0) start();
    if (file < 0 || ftruncate(file, 0) || pwrite(file, front, n, 0) != (ssize_t)n) abort();
    if (pwrite(file, data + used, size - used, (off_t)n) != (ssize_t)(size - used)) abort();
}

/* Reads every element. */
static void touch(const fy_tensor *x)
{
    int64_t last = x->offset, size = (int64_t)fy_dtype_size(x->dtype);
    for (int d = 0; d < x->ndim; d++) last += (x->shape[d] - 1) * x->strides[d];
    if (fy_numel(x) > 0 && (last + 1) * size > (int64_t)x->storage->asked) abort();
    for (int64_t i = 0; fy_numel(x) > 0 && i <= last; i++) sink += fy_real_at(x->dtype, x->storage->data, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    put(data, size);
    fy_clear_error();
    int64_t before = fy_dev_at(0)->live_bytes;
    fy_tensor *x = fy_load_npy(path);
    if (!x == !fy_error()) abort();
    if (x) touch(x);
    fy_free(x);
    if (fy_dev_at(0)->live_bytes != before) abort();
    return 0;
}
