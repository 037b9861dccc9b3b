/* own_check.c: see own_check.h. */
#include "own_check.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "compile_check.h"

bool own_check_build(const home *h, const char *id, char object[OWN_CHECK_ROOM], char *err, size_t room)
{
    char name[128], folder[PATH_ROOM];
    snprintf(name, sizeof name, "%.64s/check.c", id);
    snprintf(folder, sizeof folder, "%.3000s/checks", h->own);
    snprintf(object, OWN_CHECK_ROOM, "%s/%.64s.so", folder, id);
    /* The parents first: each is executed from, so each must be the user's alone. */
    return build_folder_make(h, h->made, err, room) && build_folder_make(h, h->own, err, room) &&
           build_folder_make(h, folder, err, room) && compile_check(h, name, object, err, room);
}

const lesson_check *own_check_load(const char *object, const char *id, char *err, size_t room)
{
    char name[96];
    int n = (int)strcspn(id, "-");
    snprintf(name, sizeof name, "lesson_check_%.*s", n, id);
    void *loaded = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    const lesson_check *l = loaded ? dlsym(loaded, name) : NULL;
    const char *why = dlerror();
    if (!loaded) snprintf(err, room, "%s/check.c cannot be loaded: %s", id, why ? why : "for no stated reason");
    else if (!l || !l->id || !l->judge || strcmp(l->id, id) != 0)
        snprintf(err, room, "%s/check.c has to end with: const lesson_check %s = {\"%s\", judge};", id, name, id);
    return l && l->id && l->judge && !strcmp(l->id, id) ? l : NULL;
}
