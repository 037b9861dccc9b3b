/* example.c: see example.h. */
#include "example.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "text.h"

/* ---- variants ---------------------------------------------------------------------------------------- */

int example_variants(const lesson *l)
{
    int n = 1;
    for (int i = 0; i < l->place_count; i++) n *= l->places[i].to_count + 1;
    return n - 1;
}

example_variant example_variant_of(const lesson *l, uint64_t seed)
{
    example_variant v = {{0}};
    int all = example_variants(l);
    int number = all ? 1 + (int)(seed % (uint64_t)all) : 0; /* its digits choose; 0 would be demo.c */
    for (int i = 0; i < l->place_count; i++) {
        v.choice[i] = number % (l->places[i].to_count + 1);
        number /= l->places[i].to_count + 1;
    }
    return v;
}

/* The text with `to` wherever it had `from`, freeing the old one; NULL: it has none. */
static char *replaced(char *text, const char *from, const char *to)
{
    fy_text out = {0};
    bool any = false;
    for (const char *at = text, *found; *at; at = found ? found + strlen(from) : at + strlen(at)) {
        found = strstr(at, from);
        fy_text_add(&out, at, found ? (size_t)(found - at) : strlen(at));
        if (found) fy_text_add(&out, to, strlen(to));
        any |= found != NULL;
    }
    fy_text_add(&out, "", 1);
    if (out.lost) memory_fail("an example");
    free(text);
    if (any) return out.data;
    free(out.data);
    return NULL;
}

char *example_text(const home *h, const lesson *l, const example_variant *v, char *err, size_t room)
{
    char path[PATH_ROOM];
    lesson_path(h, l, "demo.c", path);
    char *text = file_read(path, NULL);
    if (!text) snprintf(err, room, "cannot read %s: %s; the folder of a lesson needs this file", path, strerror(errno));
    for (int i = 0; text && i < l->place_count; i++) {
        const lesson_place *p = &l->places[i];
        if (!v->choice[i]) continue;
        text = replaced(text, p->text, p->to[v->choice[i] - 1]);
        if (!text) snprintf(err, room, "%s has no '%.200s': mend \"vary\" in the lesson.json beside it", path, p->text);
    }
    return text;
}

/* ---- where they are built ----------------------------------------------------------------------------- */

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

bool example_homes(const home *h, const lesson *l, home *build, home *start_in, char *err, size_t room)
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

bool example_variant_homes(const home *h, const lesson *l, const example_variant *v, const char *folder, home *build,
                           home *start_in, char *err, size_t room)
{
    char path[PATH_ROOM];
    char *text = example_text(h, l, v, err, room);
    *start_in = *h;
    start_in->made_apart = false;
    snprintf(start_in->beside, sizeof start_in->beside, "%s", folder);
    snprintf(start_in->lessons, sizeof start_in->lessons, "%.2000s/lessons", folder);
    *build = *start_in;
    snprintf(build->my, sizeof build->my, "%.2000s/lessons/%s", folder, l->id);
    snprintf(build->made, sizeof build->made, "%.2000s/made", folder);
    build->lessons[0] = '\0'; /* of it, a learner's file may read nothing */
    lesson_path(start_in, l, "demo.c", path);
    bool ok = text && folder_make(build->my) && folder_make(build->made) && file_write(path, text, strlen(text));
    if (text && !ok) snprintf(err, room, "cannot write %s: %s; free disk space", path, strerror(errno));
    free(text);
    return ok;
}
