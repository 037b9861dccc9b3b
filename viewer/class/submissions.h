/* submissions.h: what a class has handed in: a folder for each student, with files named by lesson:
 * DIR/STUDENT/01-where-am-i.c, or DIR/STUDENT/my/01-where-am-i.c, and beside it 01-where-am-i.predict.c. */
#ifndef FERRY_SUBMISSIONS_H
#define FERRY_SUBMISSIONS_H

#include <stdio.h>

#include "lesson.h"

typedef struct submission {
    char *student; /* the folder's name, on which seeds depend */
    char *name;    /* the same as text: see student_name.h */
    const lesson *lesson;
    char *path;        /* of the file; NULL: not handed in */
    char *sheet;       /* of the predictions; NULL: not handed in */
    char refused[160]; /* why the file is not even read; "": it is */
    int begun;         /* how often it was begun and not ended, as the grader was killed (class_lock.h) */
} submission;

typedef struct submissions {
    submission *list; /* by student, then in the order of the lessons */
    int count, students;
} submissions;

/* The names of the students' folders, sorted; NULL-terminated. The caller frees them and the list. NULL, with errno
 * set: the folder cannot be read. */
char **class_students(const char *folder, int *count);
/* Every student with every lesson of which at least one file was handed in. Hidden folders and links are left out. The
 * catalogue must outlive it. False, with the reason in err: no folder, no student, no file. */
bool submissions_open(submissions *s, const catalogue *c, const char *folder, char *err, size_t room);
/* Prints the C files of students whose names are no lesson's, with the name that was probably meant: nothing else would
 * tell that they are not graded. Returns how many. */
int submissions_print_unclaimed(FILE *to, const catalogue *c, const char *folder);
/* Keeps shard `part` of `parts` (1 ... parts): each has about as many, whoever asks. */
void submissions_shard(submissions *s, int part, int parts);
void submissions_close(submissions *s);
/* What a student has handed in for a lesson, in this folder of theirs. */
submission submission_of(const char *folder, const char *student, const lesson *l);
void submission_free(submission *s);
/* What one student has handed in for a lesson, in this folder or its my/, with the ending ".c" or ".predict.c": a plain
 * file, no link out of the folder. The caller frees the path; NULL: none. */
char *submission_file(const char *folder, const lesson *l, const char *ending);

#endif
