/* class_lock.h: a table has one writer, since two would lose each other's rows; and a run that is killed leaves behind
 * which submissions it had begun: one of them may have killed it, and would do so in every run. */
#ifndef FERRY_CLASS_LOCK_H
#define FERRY_CLASS_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "submissions.h"

/* Returns the lock of the table with this path; -1, with the reason in err, while another has it. */
int class_lock(const char *path, char *err, size_t room);
/* Notes that grading it begins, or has ended. False, with errno: it cannot be written. */
bool class_lock_note(int lock, const submission *s, bool begins);
/* Sets `begun` of each. Without its table a note says nothing: all is graded anew. */
void class_lock_read(const char *path, submissions *all);
/* may_be_killed: by a process, so that what was noted is kept for the next run. */
void class_unlock(int lock, const char *path, bool may_be_killed);

#endif
