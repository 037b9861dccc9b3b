/* own_demo.c: see own_demo.h. */
#include "own_demo.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The link lessons/ in the folder; it is made once, and its target is part of the folder's name. */
static bool link_lessons(const home *h, char *err, size_t room)
{
    char link[PATH_ROOM];
    snprintf(link, sizeof link, "%.3000s/lessons", h->own);
    if (symlink(h->lessons, link) == 0 || errno == EEXIST) return true;
    snprintf(err, room, "cannot make the link %s: %s; free disk space, or make its folder writable", link,
             strerror(errno));
    return false;
}

bool own_demo_homes(const home *h, const lesson *l, home *build, home *start_in, char *err, size_t room)
{
    if (!build_folder_make(h, h->made, err, room) || !build_folder_make(h, h->own, err, room)) return false;
    *start_in = *h;
    snprintf(start_in->beside, sizeof start_in->beside, "%s", h->own);
    *build = *start_in;
    snprintf(build->my, sizeof build->my, "%.2900s/lessons/%s", h->own, l->id);
    snprintf(build->made, sizeof build->made, "%.3000s/demos", h->own);
    build->lessons[0] = '\0'; /* an example may read files of its lesson */
    return link_lessons(h, err, room);
}
