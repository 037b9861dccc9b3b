/* class_rows.h: the results of a class as CSV (RFC 4180), a row a check:
 *
 *     student,lesson,check,points,event,of,message
 *
 * The rows of a submission are written at once and end in one whose check is "total", and whose event is none but a
 * number that tells what was graded (stale_rows.h); a file that a killed run has left goes on where it stopped. Text
 * that a spreadsheet would compute, as it begins with = + - or @, has an apostrophe before it, which is taken off when
 * it is read. Files of several shards join by appending: a second header is left out when they are read. */
#ifndef FERRY_CLASS_ROWS_H
#define FERRY_CLASS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

typedef struct class_row {
    char *student, *lesson, *check, *message;
    double points, of;
    int64_t event; /* -1: none */
    int at;        /* internal to class_rows_write */
} class_row;

typedef struct class_rows {
    class_row *list;
    int count;
} class_rows;

extern const char class_header[]; /* with its line end */

/* Appends a line. event: -1: none. */
void class_row_add(fy_text *to, const char *student, const char *lesson, const char *check, double points, double of,
                   int64_t event, const char *message);
/* The rows of the file's complete submissions; none if there is no file. False, with the line in err, for a file that
 * is not of this kind. */
bool class_rows_read(class_rows *rows, const char *path, char *err, size_t room);
/* Replaces the file by the rows, sorted by student and lesson; errno after false. */
bool class_rows_write(class_rows *rows, const char *path);
/* A submission that is there more than once; NULL: none. Sorts the rows as class_rows_write does. */
const class_row *class_rows_twice(class_rows *rows);
bool class_rows_have(const class_rows *rows, const char *student, const char *lesson);
void class_rows_free(class_rows *rows);

#endif
