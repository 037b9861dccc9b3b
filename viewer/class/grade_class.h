/* grade_class.h: grades the submissions of a class, several at once. */
#ifndef FERRY_GRADE_CLASS_H
#define FERRY_GRADE_CLASS_H

#include "class_rows.h"
#include "class_user.h"
#include "prediction_sheet.h"
#include "run.h"
#include "submissions.h"

enum { MOST_JOBS = 64 }; /* submissions at once */

typedef struct class_options {
    const home *home;
    points_table *points;
    class_secret secret;
    double seconds; /* wall time of a program; 0: the default */
    int jobs;       /* submissions at once; 0: as many as there are processors */
    class_users users;
    const char *const *hidden; /* folders that submissions do not see; NULL: none */
    int job;                   /* which of those at once this is, from 0 on */
    int number;                /* of the submission, from 0 on */
    const char *csv;           /* where rows are appended as they come */
    int lock;                  /* class_lock's: where is noted which are begun */
    const char *scratch;       /* folder in which submissions are built */
} class_options;

/* "10 s, 2048 MiB, 64 processes; each as a user of its own; without network": what holds a submission here. */
void class_protections(const class_options *o, char *out, size_t room);
/* Can programs read the solutions of these lessons, and the others' files in this folder? In lines, with what prevents
 * it. */
void class_openness(const class_options *o, const catalogue *lessons, const submissions *all, const char *folder,
                    char *out, size_t room);

/* Grades those that `done` does not have; each submission's rows are appended to the CSV file when it is graded. A
 * submission that brings its process down gets the row of an error, and the rest goes on. One that was begun when an
 * earlier run was killed comes last, alone; if that was killed, too, it is passed over with a row. False, with the
 * reason in err, if some are left: no process, the file cannot be written, or the machine, not the submission, failed.
 */
bool grade_class(const class_options *o, const submissions *all, class_rows *done, char *err, size_t room);
/* Did a process, and not the keyboard, ask for the end? It may have been a submission. */
bool grade_class_was_killed(void);

/* Builds, runs and grades one in a folder of its own. False, with the reason in err, if it cannot be copied there. */
bool submission_run(const class_options *o, const submission *s, outcome *out, char *err, size_t room);
/* Compares its sheet of predictions, if there is one, with the run of the student's own example. False, with the reason
 * in err: the example did not run. */
bool submission_predictions(const class_options *o, const submission *s, predictions *all, char *err, size_t room);
extern const char starter_earns_nothing[]; /* what is told of an untouched starter */
/* What a check has earned: nothing in an untouched starter, or in a program that did not run to its end. */
double check_worth(const points_table *p, const lesson *l, const struct outcome *out, const struct verdict_check *c);
double check_points(const points_table *p, const lesson *l, const outcome *out, const struct verdict_check *c);

#endif
