/* reads.h: checks which files a compilation read, from the compiler's dependency list (-MD). An exercise may not
 * include a lesson's solution or Ferry's internals. */
#ifndef FERRY_READS_H
#define FERRY_READS_H

#include <limits.h>

#include "diagnose.h"
#include "paths.h"

typedef enum reads { READS_FINE, READS_REFUSED, READS_UNKNOWN } reads;

/* list: the file given to -MF; source: the learner's text. system: returns the compiler's header folders, one a
 * line, malloced; called only for a file outside the usual ones. READS_REFUSED: d names the file, the reason and the
 * line. READS_UNKNOWN: there is no such list. */
typedef char *reads_system(void *user);
reads reads_check(const home *h, const char *list, const char *name, const char *source, reads_system *system,
                  void *user, diagnosis *d);
/* The next file of such a list from *p on, which begins after "program: "; false at the end. */
bool reads_next(const char **p, char out[PATH_MAX]);

#endif
