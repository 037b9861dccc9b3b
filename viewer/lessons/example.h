/* example.h: a lesson's example, demo.c; the variants of it, one of which a student is asked about; and where those
 * examples are built that make does not build. */
#ifndef FERRY_EXAMPLE_H
#define FERRY_EXAMPLE_H

#include <stdint.h>

#include "lesson.h"

/* Of each of the lesson's places (lesson_place): 0 as it is in demo.c, k its k-th other text. */
typedef struct example_variant {
    int choice[LESSON_PLACES];
} example_variant;

int example_variants(const lesson *l); /* how many there are, besides demo.c itself */
/* Any seed gives one that differs from demo.c; demo.c itself where the lesson has no places. */
example_variant example_variant_of(const lesson *l, uint64_t seed);
/* Its text, which the caller frees; NULL, with the file and the fix in err: it cannot be read, or a place is not in
 * it. */
char *example_text(const home *h, const lesson *l, const example_variant *v, char *err, size_t room);

/* Where the example of a teacher's own lesson is built and runs. build: a home for compile(), whose my/ is the lesson's
 * folder; start_in: one for the run. In both, the parent folder of my/ has a link lessons/ to the folder of lessons:
 * the example is lessons/ID/demo.c there, as Ferry's own are, and what it writes stays out of the teacher's folder.
 * False with the reason in err. */
bool example_homes(const home *h, const lesson *l, home *build, home *start_in, char *err, size_t room);
/* The same for a variant, in an empty folder: lessons/ID/demo.c there is its text, and no other file of the lesson. */
bool example_variant_homes(const home *h, const lesson *l, const example_variant *v, const char *folder, home *build,
                           home *start_in, char *err, size_t room);

#endif
