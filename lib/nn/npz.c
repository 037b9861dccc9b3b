/* npz.c: archives by libzip. Reading: an archive is untrusted, so an array is unpacked into a file in memory of bounded
 * size, which npy_load.c checks. */
#define _GNU_SOURCE 1 /* memfd_create */
#include "npz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zip.h>

#include "device.h"
#include "error.h"
#include "event.h"
#include "file_replacement.h"
#include "npy.h"
#include "out_of_memory.h"
#include "shape.h"
#include "transfer.h"

struct fy_npz {
    fy_site *at;
    const char *path;
    zip_t *zip;
};

/* ---- writing ---- */

static bool fail_zip(fy_site *at, const char *path, const char *what, const char *why)
{
    return fy_fail(at, "file", "check the path and the disk", "cannot %s '%.300s': %s", what, path, why);
}

/* The array as a file in NumPy's format; the zip source owns the bytes. */
static bool add_array(fy_site *at, zip_t *zip, const fy_npz_array *a)
{
    char name[300], header[512];
    size_t bytes;
    fy_shape shape = fy_geometry_of(a->tensor).shape;
    size_t n = fy_npy_write_header(a->tensor->dtype, &shape, header);
    char *data = fy_npy_elements(at, a->tensor, &bytes), *file = data ? malloc(n + bytes) : NULL;
    if (!data) return false;
    if (!file) fy_out_of_memory("an array of a .npz file");
    memcpy(file, header, n);
    memcpy(file + n, data, bytes);
    free(data);
    zip_source_t *source = zip_source_buffer(zip, file, n + bytes, 1);
    if (!source) fy_out_of_memory("an array of a .npz file");
    snprintf(name, sizeof name, "%s.npy", a->name);
    zip_int64_t i = zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8);
    if (i < 0) {
        zip_source_free(source);
        return fail_zip(at, name, "add", zip_strerror(zip));
    }
    const char *device = a->tensor->storage->dev->name;
    zip_set_file_compression(zip, (zip_uint64_t)i, ZIP_CM_STORE, 0);
    zip_file_set_dostime(zip, (zip_uint64_t)i, 0, 33, 0); /* the first day of 1980: the same bytes at any time */
    zip_file_set_comment(zip, (zip_uint64_t)i, device, (zip_uint16_t)strlen(device), 0);
    fy_emit_read(at, a->tensor, FY_WORD_save);
    return true;
}

/* The archive's bytes, to be freed. */
static char *bytes_of(zip_source_t *archive, size_t *bytes)
{
    zip_stat_t about;
    zip_stat_init(&about);
    if (zip_source_stat(archive, &about) || zip_source_open(archive)) return NULL;
    char *data = malloc(about.size ? about.size : 1);
    if (!data) fy_out_of_memory("a .npz file");
    zip_int64_t got = zip_source_read(archive, data, about.size);
    zip_source_close(archive);
    *bytes = got > 0 ? (size_t)got : 0;
    return data;
}

/* An archive without files is its end alone, which libzip does not write. */
static const char end_of_archive[22] = "PK\5\6";

/* Built in memory, so that the file is replaced as any other. */
bool fy_npz_write(fy_site *at, const char *path, size_t n, const fy_npz_array *arrays)
{
    fy_replacement file = {.at = at, .path = path, .example = "fy_save_state_dict(net, \"net.npz\")"};
    zip_error_t error;
    size_t bytes = 0;
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        if (!fy_npy_check_dtype(at, arrays[i].tensor)) return false;
    if (!fy_replacement_begin(&file)) return false;
    zip_error_init(&error);
    zip_source_t *archive = zip_source_buffer_create(NULL, 0, 0, &error);
    zip_t *zip = archive ? zip_open_from_source(archive, ZIP_TRUNCATE, &error) : NULL;
    if (!zip) fy_out_of_memory("a .npz file");
    zip_source_keep(archive);
    for (size_t i = 0; ok && i < n; i++) ok = add_array(at, zip, &arrays[i]);
    if (!ok) zip_discard(zip);
    else if (zip_close(zip)) ok = fail_zip(at, path, "write", zip_strerror(zip)), zip_discard(zip);
    char *data = ok ? bytes_of(archive, &bytes) : NULL;
    fy_file_part all = {data, bytes}, none = {end_of_archive, sizeof end_of_archive};
    ok = ok && fy_replacement_end(&file, 1, n ? &all : &none);
    fy_replacement_cancel(&file);
    zip_source_free(archive);
    free(data);
    return ok;
}

/* ---- reading ---- */

fy_npz *fy_npz_open(fy_site *at, const char *path)
{
    int code = 0;
    zip_error_t error;
    if (!path || !*path)
        return fy_fail(at, "value", "fy_load_state_dict(net, \"net.npz\")", "the path is %s", path ? "empty" : "NULL");
    zip_t *zip = zip_open(path, ZIP_RDONLY, &code);
    if (!zip) {
        bool foreign = code == ZIP_ER_NOZIP || code == ZIP_ER_INCONS || code == ZIP_ER_OPNOTSUPP;
        zip_error_init_with_code(&error, code);
        fy_fail(at, "file",
                foreign ? "pass a file that fy_save_state_dict or numpy.savez wrote"
                        : "a relative path starts at the folder that the program was started in",
                "cannot open '%.300s': %s", path, zip_error_strerror(&error));
        zip_error_fini(&error);
        return NULL;
    }
    fy_npz *z = malloc(sizeof *z);
    if (!z) fy_out_of_memory("a .npz file");
    *z = (fy_npz){at, path, zip};
    return z;
}

void fy_npz_close(fy_npz *z)
{
    zip_discard(z->zip);
    free(z);
}

size_t fy_npz_count(const fy_npz *z)
{
    zip_int64_t n = zip_get_num_entries(z->zip, 0);
    return n > 0 ? (size_t)n : 0;
}

const char *fy_npz_name(fy_npz *z, size_t i, char *buf, size_t room)
{
    const char *name = zip_get_name(z->zip, i, 0);
    size_t n = name ? strlen(name) : 0;
    if (n > 4 && !strcmp(name + n - 4, ".npy")) n -= 4;
    snprintf(buf, room, "%.*s", (int)(n < room ? n : room - 1), name ? name : "");
    return buf;
}

const char *fy_npz_device(fy_npz *z, size_t i, char *buf, size_t room)
{
    zip_uint32_t n = 0;
    const char *comment = zip_file_get_comment(z->zip, i, &n, 0);
    bool known = comment && n > 0 && n < room;
    snprintf(buf, room, "%.*s", known ? (int)n : 3, known ? comment : "cpu");
    return buf;
}

static bool fail_large(const fy_npz *z, const char *label, const char *least, zip_uint64_t bytes, size_t most)
{
    return fy_fail(z->at, "file", "load it into the module that it was saved from",
                   "'%.300s' has %s%llu bytes; the module's tensor needs at most %zu", label, least,
                   (unsigned long long)bytes, most);
}

/* Unpacks the array into a file in memory: not more than `most` bytes, whatever size the archive says it has. */
static bool unpack(fy_npz *z, size_t i, const char *label, int fd, size_t most)
{
    char some[1 << 14];
    zip_file_t *file = zip_fopen_index(z->zip, i, 0);
    if (!file) return fail_zip(z->at, label, "read", zip_strerror(z->zip));
    zip_int64_t got;
    size_t all = 0;
    bool ok = true;
    while (ok && (got = zip_fread(file, some, sizeof some)) > 0) {
        all += (size_t)got;
        ok = (all <= most || fail_large(z, label, "more than ", most, most)) &&
             (write(fd, some, (size_t)got) == got || fail_zip(z->at, label, "unpack", strerror(errno)));
    }
    if (ok && got < 0) ok = fail_zip(z->at, label, "read", zip_error_strerror(zip_file_get_error(file)));
    zip_fclose(file);
    return ok && (lseek(fd, 0, SEEK_SET) == 0 || fail_zip(z->at, label, "read", strerror(errno)));
}

fy_tensor *fy_npz_load(fy_npz *z, size_t i, const char *name, size_t most)
{
    char label[600], member[256];
    zip_stat_t about;
    snprintf(label, sizeof label, "%.300s: %s.npy", z->path, fy_npz_name(z, i, member, sizeof member));
    if (zip_stat_index(z->zip, i, 0, &about) || !(about.valid & ZIP_STAT_SIZE))
        return fail_zip(z->at, label, "read", zip_strerror(z->zip)), NULL;
    if (about.size > most) return fail_large(z, label, "", about.size, most), NULL;
    int fd = memfd_create("ferry-npz", MFD_CLOEXEC);
    if (fd < 0) return fail_zip(z->at, label, "unpack", strerror(errno)), NULL;
    fy_tensor *x = unpack(z, i, label, fd, most) ? fy_npy_load(z->at, label, fd, name) : NULL;
    close(fd);
    return x;
}
