/* innocents.h: programs that look like a misconception but are correct, and other ways to write the misconceptions. */
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
