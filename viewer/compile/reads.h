/* reads.h: which files a compilation read, by the compiler's own word (-MD), and whether a learner's program may.
 * The text of a solution and what is inside Ferry are not for an exercise. */
#ifndef FERRY_READS_H
#define FERRY_READS_H

#include "diagnose.h"
#include "paths.h"

typedef enum reads { READS_FINE, READS_REFUSED, READS_UNKNOWN } reads;

/* list: the file that -MF named; source: the learner's text. system: the compiler's folders of headers, one a line,
 * asked for only where a file lies in none of the usual ones; what it returns is freed. Refused: d says what and why,
 * and names the line. Unknown: there is no such list. */
typedef char *reads_system(void *user);
reads reads_check(const home *h, const char *list, const char *name, const char *source, reads_system *system,
                  void *user, diagnosis *d);

#endif
