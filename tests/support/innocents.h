/* innocents.h: programs that look as if they were built on a belief and are not, and other spellings of the beliefs. */
#ifndef INNOCENTS_H
#define INNOCENTS_H

#include "believers.h"

extern const struct innocent {
    void (*run)(void);
    const char *sim;
} innocents[]; /* ends with a NULL run */

extern const struct spelling {
    const char *name;
    void (*run)(void);
    const char *sim;
} spellings[]; /* likewise */

#endif
