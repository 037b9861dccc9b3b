/* student_seed.h: seeds that differ from student to student, and that nobody can tell in advance without the teacher's
 * secret. */
#ifndef FERRY_STUDENT_SEED_H
#define FERRY_STUDENT_SEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "example.h"

typedef struct class_secret {
    uint64_t key[2];
} class_secret;

/* From the bytes of a file, at least 16; path NULL: seeds depend on the names alone, and anybody can compute them.
 * For root, a file that others may read is refused. */
bool class_secret_open(class_secret *s, const char *path, char *err, size_t room);
/* Of run 1 or 2; below 2^53, and not 0. SipHash-2-4 (Aumasson, Bernstein 2012) of the names. */
uint64_t student_seed(const class_secret *s, const char *student, const char *id, int run);
/* Of the lesson's example. */
example_variant student_variant(const class_secret *s, const char *student, const lesson *l);

#endif
