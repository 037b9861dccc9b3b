/* new_lesson.h: a lesson for a teacher to begin with: every file of a lesson, complete and tiny. */
#ifndef FERRY_NEW_LESSON_H
#define FERRY_NEW_LESSON_H

#include <stdbool.h>
#include <stddef.h>

/* Makes the folder `path`, DIR/NN-name, and its files, and DIR/points.json if there is none. False, with the reason in
 * err, for another name, a number that another lesson in DIR has, or a folder that exists, which is left as it is. */
bool new_lesson(const char *path, char *err, size_t room);

#endif
