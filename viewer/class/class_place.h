/* class_place.h: where submissions are built and run, what they need there, and what they do not see. */
#ifndef FERRY_CLASS_PLACE_H
#define FERRY_CLASS_PLACE_H

#include "class_user.h"
#include "paths.h"

/* The folders of solutions and of others' files. */
typedef struct class_hidden {
    char path[3][PATH_ROOM];
    const char *list[4]; /* NULL-terminated */
} class_hidden;

/* What programs of these users are not to see (child.h): Ferry's checkout, or else its lessons, and the class's folder.
 * NULL: it cannot be hidden here. folder: NULL for no class. */
const char *const *class_hide(class_hidden *all, const class_users *u, const home *h, const char *folder);

/* scratch_make; for other users' programs with the library and its headers, copied into it: they need to enter no other
 * folder. -1, with the reason and the fix in err, also where they cannot enter this one. */
int class_place_make(const class_users *u, const home *h, char path[PATH_ROOM], char *err, size_t room);
/* The folders of these copies, for a submission. */
void class_place_use(const char *path, home *h);

#endif
