/* student_seed.c: see student_seed.h. */
#include "student_seed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paths.h"

enum { LEAST_SECRET = 16 }; /* bytes */

static uint64_t turned(uint64_t x, int by) { return x << by | x >> (64 - by); }

static void sip_rounds(uint64_t v[4], int rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1], v[1] = turned(v[1], 13) ^ v[0], v[0] = turned(v[0], 32);
        v[2] += v[3], v[3] = turned(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = turned(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = turned(v[1], 17) ^ v[2], v[2] = turned(v[2], 32);
    }
}

static uint64_t siphash(const uint64_t key[2], const void *bytes, size_t size)
{
    uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                     key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    const unsigned char *p = bytes;
    for (size_t at = 0; at <= size; at += 8) { /* the last word holds the size as well */
        uint64_t word = size - at < 8 ? (uint64_t)size << 56 : 0;
        for (size_t i = 0; i < 8 && at + i < size; i++) word |= (uint64_t)p[at + i] << 8 * i;
        v[3] ^= word;
        sip_rounds(v, 2);
        v[0] ^= word;
        if (size - at < 8) break;
    }
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* For root, who runs submissions as other users: they could read such a file. */
static bool is_open_to_all(const char *path)
{
    struct stat st;
    return geteuid() == 0 && stat(path, &st) == 0 && st.st_mode & S_IROTH;
}

bool class_secret_open(class_secret *s, const char *path, char *err, size_t room)
{
    static const uint64_t first[2] = {1, 0}, second[2] = {2, 0};
    size_t size = 0;
    *s = (class_secret){{0, 0}};
    if (!path) return true;
    if (is_open_to_all(path)) {
        snprintf(err, room, "the secret %.900s can be read by every program that is graded: chmod 600 %.900s", path,
                 path);
        return false;
    }
    char *bytes = file_read(path, &size);
    if (bytes && size >= LEAST_SECRET) *s = (class_secret){{siphash(first, bytes, size), siphash(second, bytes, size)}};
    else if (!bytes) snprintf(err, room, "cannot read the secret %s: %s", path, strerror(errno));
    else
        snprintf(
            err, room,
            "the secret %.900s has %zu bytes; make one that cannot be guessed: (umask 077; head -c 32 /dev/urandom "
            ">%.900s)",
            path, size, path);
    free(bytes);
    return bytes && size >= LEAST_SECRET;
}

uint64_t student_seed(const class_secret *s, const char *student, const char *id, int run)
{
    char names[512];
    int n = snprintf(names, sizeof names, "%.200s/%.200s/%d", student, id, run);
    uint64_t seed = siphash(s->key, names, (size_t)n) & ((UINT64_C(1) << 53) - 1);
    return seed ? seed : 1;
}

example_variant student_variant(const class_secret *s, const char *student, const lesson *l)
{
    return example_variant_of(l, student_seed(s, student, l->id, 0));
}
