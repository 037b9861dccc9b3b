/* prediction_sheet.h: the predictions of one student, as a file to fill in and to hand in, ID.predict.c: the variant of
 * the lesson's example that is this student's, and below it the questions, in a comment. */
#ifndef FERRY_PREDICTION_SHEET_H
#define FERRY_PREDICTION_SHEET_H

#include "points.h"
#include "questions.h"
#include "student_seed.h"
#include "text.h"

/* Writes DIR/STUDENT/ID.predict.c for each of the lessons that ask something, unless it exists: there may be answers in
 * it. Adds to `written` and `kept`. False, with the reason in err, at the first that cannot be written. */
bool sheets_write(const home *h, const lesson *const *lessons, const class_secret *secret, const char *folder,
                  const char *student, int *written, int *kept, char *err, size_t room);
/* Is nothing in it but what was handed out, or can it not be read? */
bool sheet_is_blank(const char *path);

/* What stands behind the "answer:" of question n (0 ...) in a sheet; "": nothing, or there is none. */
void sheet_answer(const char *sheet, int n, char *words, size_t room);

/* What a prediction has earned: a check of its own, "predicted-1" ... */
typedef struct prediction {
    char check[24];
    char message[1024]; /* "": it was right */
    double points, of;
} prediction;

typedef struct predictions {
    prediction list[LESSON_QUESTIONS];
    int count;
    double points; /* of all */
} predictions;

/* Compares a sheet with the run of the student's variant, which may take so many seconds. A missing answer is in the
 * list only where the question is worth points. path: NULL: nothing was handed in. False, with the reason in err: the
 * example did not run, so nothing is known. */
bool sheet_grade(const home *h, const lesson *l, const class_secret *secret, const char *student, const char *path,
                 const points_table *p, double seconds, predictions *all, char *err, size_t room);

#endif
