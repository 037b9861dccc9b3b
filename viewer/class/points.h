/* points.h: what each check of a lesson is worth, from one file, lessons/points.json:
 * {"01-where-am-i": {"right-numbers": 1, ...}, ...}. A check that is not in it is worth nothing. */
#ifndef FERRY_POINTS_H
#define FERRY_POINTS_H

#include "lesson.h"

typedef struct cJSON points_table;

/* The file asked for, else points.json of the lessons. NULL, with the file, the error and the fix in err, if it cannot
 * be read or names what does not exist: points for a misspelt check would be lost without a word. Which checks a
 * teacher's own lesson has is known only when it runs. */
points_table *points_open(const home *h, const catalogue *c, const char *asked, char *err, size_t room);
void points_close(points_table *p);
double points_of(const points_table *p, const char *id, const char *check);
/* Of all checks of the lesson; 0: it is not in the file. */
double points_total(const points_table *p, const char *id);

#endif
