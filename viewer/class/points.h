/* points.h: what each check of a lesson is worth, from one file, lessons/points.json:
 * {"01-where-am-i": {"right-numbers": 1, ...}, ...}. A check that is not in it is worth nothing. */
#ifndef FERRY_POINTS_H
#define FERRY_POINTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cJSON points_table;

/* NULL, with the file, the error and the fix in err, if it cannot be read. */
points_table *points_open(const char *path, char *err, size_t room);
void points_close(points_table *p);
double points_of(const points_table *p, const char *lesson, const char *check);
/* Of all checks of the lesson; 0: it is not in the file. */
double points_total(const points_table *p, const char *lesson);

#endif
