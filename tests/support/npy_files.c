/* npy_files.c: see npy_files.h. */
#include "npy_files.h"

char npy_folder[64];

int make_npy_folder(void **state)
{
    (void)state;
    strcpy(npy_folder, "/tmp/ferry-npy-XXXXXX");
    return mkdtemp(npy_folder) == NULL;
}

int remove_npy_folder(void **state)
{
    (void)state;
    DIR *d = opendir(npy_folder);
    for (struct dirent *e; d && (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, strcmp(e->d_name, "sub") ? 0 : AT_REMOVEDIR);
    if (d) closedir(d);
    return rmdir(npy_folder);
}

const char *npy_path(const char *name)
{
    static char path[4][128];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", npy_folder, name);
    return p;
}

int npy_count(void)
{
    int n = 0;
    DIR *d = opendir(npy_folder);
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    if (d) closedir(d);
    return n;
}

const char *write_bytes(const char *name, const void *bytes, size_t n)
{
    const char *path = npy_path(name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) abort();
    return path;
}

const char *write_npy(int version, const char *header, const void *elements, size_t bytes)
{
    char file[4096] = "\x93NUMPY";
    size_t n = strlen(header), from = version == 1 ? 10 : 12;
    file[6] = (char)version;
    file[8] = (char)(n & 255);
    file[9] = (char)(n >> 8);
    memcpy(file + from, header, n);
    if (bytes) memcpy(file + from + n, elements, bytes);
    return write_bytes("a.npy", file, from + n + bytes);
}

size_t read_bytes(const char *path, char *to, size_t room)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(to, 1, room, f) : 0;
    if (f) fclose(f);
    return n;
}
