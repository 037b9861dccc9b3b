/* npy_load.c: fy_load_npy. The file is untrusted: header and length are checked before memory is allocated for the
 * elements. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "npy.h"
#include "session_hooks.h"
#include "shape.h"
#include "storage.h"
#include "tensor.h"
#include "transfer.h"

enum { PREAMBLE = 12 }; /* magic, version and length; 10 in version 1 */

/* A file that is being read. */
typedef struct source {
    fy_site *at;
    const char *path;
    int fd;
    size_t size, start; /* bytes of the file; where its elements begin */
    fy_npy header;
} source;

static bool fail(const source *s)
{
    return fy_fail(s->at, "file", s->header.fix, "'%.300s' %s", s->path, s->header.wrong);
}

static bool fail_system(const source *s, const char *what, int error)
{
    const char *hint = error == ENOENT   ? "a relative path starts at the folder that the program was started in"
                       : error == EACCES ? "make it readable (chmod), or copy it"
                                         : "check the path and the disk";
    return fy_fail(s->at, "file", hint, "cannot %s '%.300s': %s", what, s->path, strerror(error));
}

/* Reads exactly n bytes; false after an error. */
static bool read_all(source *s, void *to, size_t n)
{
    for (size_t got = 0; got < n;) {
        ssize_t now = read(s->fd, (char *)to + got, n - got);
        if (now < 0 && errno == EINTR) continue;
        if (now < 0) return fail_system(s, "read", errno);
        if (now == 0) {
            fy_npy_wrong(&s->header, "wait until the program that writes it has finished",
                         "became shorter while it was read");
            return fail(s);
        }
        got += (size_t)now;
    }
    return true;
}

/* O_NONBLOCK: opening a FIFO would block otherwise. */
static bool open_source(source *s)
{
    if (!s->path || !*s->path)
        return fy_fail(s->at, "value", "fy_load_npy(\"data.npy\")", "the path is %s", s->path ? "empty" : "NULL");
    s->fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return s->fd >= 0 || fail_system(s, "open", errno);
}

static bool measure(source *s)
{
    struct stat about;
    if (fstat(s->fd, &about)) return fail_system(s, "read", errno);
    s->size = (size_t)about.st_size;
    if (S_ISREG(about.st_mode)) return true;
    fy_npy_wrong(&s->header, "pass a file that np.save wrote", "is %s, not a .npy file",
                 S_ISDIR(about.st_mode) ? "a folder" : "a pipe or a device");
    return fail(s);
}

static bool check_magic(source *s, const unsigned char *b)
{
    bool zip = s->size > 1 && b[0] == 'P' && b[1] == 'K';
    if (s->size >= 10 && !memcmp(b, "\x93NUMPY", 6) && b[6] >= 1 && b[6] <= 3) return true;
    if (s->size >= 10 && !memcmp(b, "\x93NUMPY", 6))
        fy_npy_wrong(&s->header, "write it again with np.save", "has version %d.%d of the format; 1, 2 and 3 are known",
                     b[6], b[7]);
    else if (zip)
        fy_npy_wrong(&s->header, "extract each array of the .npz: np.save(path, archive['name'])",
                     "is a zip archive, not a .npy file");
    else
        fy_npy_wrong(&s->header, "pass a file that np.save wrote", "is not a .npy file: %s",
                     s->size < 10 ? "it is too short" : "it does not begin with \\x93NUMPY");
    return fail(s);
}

/* The header's offset in the file and its length. */
static bool find_header(source *s, size_t *from, size_t *length)
{
    unsigned char b[PREAMBLE] = {0};
    if (!read_all(s, b, s->size < PREAMBLE ? s->size : PREAMBLE) || !check_magic(s, b)) return false;
    *from = b[6] == 1 ? 10 : 12;
    *length = (size_t)b[8] | (size_t)b[9] << 8;
    if (b[6] > 1) *length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    s->start = *from + *length;
    if (s->start <= s->size && *length <= FY_NPY_HEADER) return true;
    if (s->start > s->size)
        fy_npy_wrong(&s->header, "copy or download it again",
                     "is truncated: its header should be %zu bytes, the file has %zu", *length, s->size);
    else
        fy_npy_wrong(&s->header, "write it again with np.save", "claims a header of %zu bytes; the maximum is %d",
                     *length, FY_NPY_HEADER);
    return fail(s);
}

static bool read_header(source *s)
{
    size_t from, length;
    if (!find_header(s, &from, &length)) return false;
    char *text = malloc(length + 1);
    if (!text) return fail_system(s, "read", ENOMEM);
    bool ok = lseek(s->fd, (off_t)from, SEEK_SET) >= 0 && read_all(s, text, length);
    if (ok && !fy_npy_read_header(text, length, &s->header)) ok = fail(s);
    free(text);
    return ok;
}

/* Does the data have exactly the size that the header's shape and dtype require? */
static bool check_size(source *s)
{
    char shape[256];
    int64_t bytes = (int64_t)fy_dtype_size(s->header.dtype);
    bool huge = false, empty = false;
    const fy_shape *sh = &s->header.shape;
    for (int i = 0; i < sh->ndim; i++) {
        empty |= sh->dims[i] == 0;
        huge |= __builtin_mul_overflow(bytes, sh->dims[i] > 0 ? sh->dims[i] : 1, &bytes);
    }
    size_t left = s->size - s->start, wanted = empty ? 0 : (size_t)bytes;
    if (left == wanted && (!huge || empty)) return true;
    fy_shape_text(sh->dims, sh->ndim, "()", shape, sizeof shape);
    if (huge && !empty)
        fy_npy_wrong(&s->header, "write it again with np.save",
                     "claims the shape %.150s, which is too large for any memory", shape);
    else
        fy_npy_wrong(&s->header, left < wanted ? "copy or download it again" : "save each array in its own file",
                     "%s: shape %.100s of %s needs %zu bytes, but %zu follow the header",
                     left < wanted ? "is truncated" : "has bytes after its array", shape,
                     fy_dtype_name(s->header.dtype), wanted, left);
    return fail(s);
}

/* Converts to this machine's byte order; a bool becomes 0 or 1. */
static void normalize(const fy_npy *h, char *data, size_t bytes)
{
    size_t size = fy_dtype_size(h->dtype);
    for (char *p = data; h->swapped && p < data + bytes; p += size)
        for (size_t i = 0; i < size / 2; i++) {
            char c = p[i];
            p[i] = p[size - 1 - i];
            p[size - 1 - i] = c;
        }
    for (size_t i = 0; i < bytes && h->dtype == FY_BOOL; i++) data[i] = data[i] != 0;
}

static fy_tensor *load(source *s, const char *name)
{
    const fy_npy *h = &s->header;
    if (!measure(s) || !read_header(s) || !check_size(s)) return NULL;
    size_t bytes = s->size - s->start;
    fy_storage *storage = fy_storage_reserve(s->at, fy_dev_at(0), bytes);
    if (!storage) return NULL;
    if (lseek(s->fd, (off_t)s->start, SEEK_SET) < 0 || !read_all(s, storage->data, bytes)) {
        fy_storage_cancel(storage);
        return NULL;
    }
    normalize(h, storage->data, bytes);

    fy_geometry g = {.dtype = h->dtype, .shape = h->shape};
    fy_shape_rows(&g.shape, g.strides);
    int64_t step = 1;
    for (int i = 0; h->fortran && i < g.shape.ndim; i++) {
        g.strides[i] = step;
        step = fy_saturating_mul(step, g.shape.dims[i] > 1 ? g.shape.dims[i] : 1);
    }
    fy_storage_announce(s->at, storage);
    fy_tensor *x = fy_tensor_make(s->at, storage, &g, name, 0, false);
    fy_emit_write(s->at, x, FY_WORD_load);
    return x;
}

fy_tensor *fy_npy_load(fy_site *at, const char *label, int fd, const char *name)
{
    return load(&(source){.at = at, .path = label, .fd = fd}, name);
}

fy_tensor *fy_load_npy_at(fy_site *at, const char *path)
{
    FY_CALL(at);
    source s = {.at = at, .path = path, .fd = -1};
    fy_session_start();
    fy_tensor *x = open_source(&s) ? fy_scope_track(load(&s, fy_name_for(at, NULL))) : NULL;
    if (s.fd >= 0) close(s.fd);
    return x;
}
