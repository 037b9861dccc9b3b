/* lesson.h: the catalogue of lessons, and the learner's file for each.
 *
 * A lesson is a folder lessons/ID/ with lesson.json, README.md, demo.c, starter.c and more; lessons/arc.json lists the
 * ids in their order, by parts. The learner works in my/ID.c, which is copied from starter.c on first use and never
 * overwritten: a reset saves the old file as my/ID.c.bak, .bak2 ... lessons/writing.md says what is in a folder. */
#ifndef FERRY_LESSON_H
#define FERRY_LESSON_H

#include "paths.h"

enum { LESSON_HINTS = 8, LESSON_QUESTIONS = 4, QUESTION_CHOICES = 5, LESSON_PLACES = 4, PLACE_TEXTS = 6 };

/* What the learner predicts before the example runs. The answer is a number that the example's log tells (log_fact.h);
 * of a question with choices, the number chooses one: the last whose `from` it reaches. */
typedef struct lesson_question {
    char *ask, *fact;
    char *choices[QUESTION_CHOICES];
    long from[QUESTION_CHOICES];
    int choice_count; /* 0: the answer is the number itself */
} lesson_question;

/* A place of the example that differs from student to student: wherever demo.c has this text, another stands. */
typedef struct lesson_place {
    char *text, *to[PLACE_TEXTS];
    int to_count;
} lesson_place;

typedef struct lesson {
    char id[64];
    char *part; /* of the arc: its title */
    char *title, *summary, *goal, *budget;
    char *board;                 /* the check whose limit a board of one's own best runs counts; "": there is none */
    char *given, *given2;        /* inputs (FERRY_GIVEN) of the first run and of the second, which uses other sizes */
    char *card;                  /* which cards are simulated, as FERRY_SIM says it; "": the default */
    char *docs_title, *docs_url; /* PyTorch's documentation of the same thing */
    int minutes;                 /* that it takes; 0: unknown */
    char *hints[LESSON_HINTS];
    int hint_count;
    lesson_question questions[LESSON_QUESTIONS];
    int question_count;
    lesson_place places[LESSON_PLACES];
    int place_count;
    char mistake[320]; /* in "predict" or "vary" of its lesson.json, and how to mend it; "": none */
} lesson;

/* A lesson whose lesson.json cannot be read. */
typedef struct broken_lesson {
    char id[64];
    char *why; /* the file, the line and the fix */
} broken_lesson;

typedef struct catalogue {
    lesson *lessons; /* in the order of arc.json; without it, sorted by id */
    int count;
    broken_lesson *broken; /* those that are left out */
    int broken_count;
} catalogue;

/* Reads arc.json and every lesson.json. On failure, as when no lesson can be read, returns false, with the file, the
 * error and the fix in err. */
bool catalogue_open(catalogue *c, const home *h, char *err, size_t room);
void catalogue_close(catalogue *c);
/* By id, by the number that it begins with ("1", "01"), by a prefix of it, or by the path of its learner's file; NULL,
 * with the nearest ids in err, if there is none. (lesson_find.c) */
const lesson *lesson_find(const catalogue *c, const char *asked, char *err, size_t room);
/* The one that is meant, if it is left out; else NULL. */
const broken_lesson *lesson_find_broken(const catalogue *c, const char *asked);
int lesson_number_length(
    const lesson *l); /* how many characters of the id are its number: "01" of "01-where-am-i", "m1" */

/* The path of one of a lesson's files ("starter.c"), of the learner's file, of the built example. */
void lesson_path(const home *h, const lesson *l, const char *file, char out[PATH_ROOM]);
void lesson_file_path(const home *h, const lesson *l, char out[PATH_ROOM]);
void lesson_demo(const home *h, const lesson *l, char out[PATH_ROOM]);
/* "my/01-where-am-i.c": the learner's file as messages and the log name it. */
void lesson_name(const home *h, const lesson *l, char out[256]);

/* Copies starter.c to my/ID.c unless that exists, and makes my/compile_flags.txt, for an editor's clangd. */
bool lesson_create_file(const home *h, const lesson *l, char *err, size_t room);
/* Restores the starter. The old file is saved as my/ID.c.bak, or .bak2 ... if that exists, and its path stored in
 * `kept`: "" if there was no file or only the unchanged starter. */
bool lesson_reset(const home *h, const lesson *l, char kept[PATH_ROOM], char *err, size_t room);

#endif
