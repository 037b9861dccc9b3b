/* lesson.h: the catalogue of lessons, and the learner's file for each.
 *
 * A lesson is a folder lessons/NN-name/ with lesson.json, README.md, demo.c, starter.c and others. Its
 * id is the folder's name. The learner works in my/ID.c, which is made from starter.c on first use and
 * never overwritten: a reset keeps the old file as my/ID.c.bak, .bak2 ... */
#ifndef FERRY_LESSON_H
#define FERRY_LESSON_H

#include "paths.h"

enum { LESSON_HINTS = 8 };

typedef struct lesson {
    char id[64];
    char *title, *summary, *budget;
    char *given, *given2; /* inputs of the shown run and of the second one (FERRY_GIVEN) */
    char *hints[LESSON_HINTS];
    int hint_count;
} lesson;

typedef struct catalogue {
    lesson *lessons; /* sorted by id */
    int count;
} catalogue;

/* Reads every lesson.json. False with a message that names the file, what is wrong and the fix. */
bool catalogue_open(catalogue *c, const home *h, char *err, size_t room);
void catalogue_close(catalogue *c);
/* By id, by number ("1", "01") or by the beginning of an id; NULL with the known ids in err. */
const lesson *lesson_find(const catalogue *c, const char *asked, char *err, size_t room);

/* Path of one of a lesson's files ("starter.c"), of the learner's file, of the built example. */
void lesson_path(const home *h, const lesson *l, const char *file, char out[HOME_PATH]);
void lesson_mine(const home *h, const lesson *l, char out[HOME_PATH]);
void lesson_demo(const home *h, const lesson *l, char out[HOME_PATH]);
/* "my/01-where-am-i.c": how the learner's file is called in messages and in the log. */
void lesson_name(const home *h, const lesson *l, char out[256]);

/* Make my/ID.c from starter.c unless it is there. */
bool lesson_begin(const home *h, const lesson *l, char *err, size_t room);
/* Start anew; the old file is kept as my/ID.c.bak, or .bak2, ... if that is taken: its path is in `kept`,
 * "" if there was nothing but the starter. */
bool lesson_reset(const home *h, const lesson *l, char kept[HOME_PATH], char *err, size_t room);

#endif
