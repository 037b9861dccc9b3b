/* class_place.c: see class_place.h. */
#include "class_place.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"

/* ---- what is not seen ------------------------------------------------------------------------------------------- */

static bool is_within(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return !strncmp(path, folder, n) && (path[n] == '/' || path[n] == '\0');
}

/* Unless it holds what is needed, or lies in one that is hidden already. */
static void hide(class_hidden *all, const char *folder, const char *needed)
{
    char *real = folder ? realpath(folder, NULL) : NULL;
    int n = 0;
    while (all->list[n]) n++;
    bool hides = real && strlen(real) < PATH_ROOM && n < 3 && !is_within(needed, real) && strcmp(real, "/") != 0;
    for (int i = 0; hides && i < n; i++) hides = !is_within(real, all->list[i]);
    if (hides) all->list[n] = strcpy(all->path[n], real);
    free(real);
}

const char *const *class_hide(class_hidden *all, const class_users *u, const home *h, const char *folder)
{
    const char *temporary = getenv("TMPDIR");
    char *needed = realpath(temporary && *temporary ? temporary : "/tmp", NULL);
    *all = (class_hidden){0};
    if (!u->first || !needed) return free(needed), NULL;
    hide(all, h->ferry, needed);
    hide(all, h->lessons, needed); /* a teacher's own, or where the temporary files lie in the checkout */
    hide(all, folder, needed);
    free(needed);
    return all->list[0] && class_users_can_hide(all->list) ? all->list : NULL;
}

/* ---- what is needed ------------------------------------------------------------------------------------------------ */

/* For everybody to read, whatever the umask is. */
static bool copy_file(const char *from, const char *to, const char *name)
{
    char path[PATH_ROOM + 272];
    size_t size;
    snprintf(path, sizeof path, "%s/%.255s", from, name);
    char *text = file_read(path, &size);
    snprintf(path, sizeof path, "%s/%.255s", to, name);
    bool ok = text && file_write(path, text, size) && chmod(path, 0644) == 0;
    free(text);
    return ok;
}

static bool copy_headers(const char *from, const char *to)
{
    DIR *dir = opendir(from);
    bool ok = dir != NULL;
    for (const struct dirent *e; ok && (e = readdir(dir));) {
        const char *end = strrchr(e->d_name, '.');
        if (end && !strcmp(end, ".h") && !strncmp(e->d_name, "ferry", 5)) ok = copy_file(from, to, e->d_name);
    }
    if (dir) closedir(dir);
    return ok;
}

static bool copy_ferry(const home *h, const char *path)
{
    const char *asked = getenv("FERRY_GPU");
    home copy;
    class_place_use(path, &copy);
    return folder_make(copy.include) && folder_make(copy.lib) && chmod(copy.include, 0755) == 0 &&
           chmod(copy.lib, 0755) == 0 && copy_headers(h->include, copy.include) &&
           copy_file(h->lib, copy.lib, "libferry.a") &&
           (!asked || strcmp(asked, "real") != 0 || copy_file(h->lib, copy.lib, "libferry-cuda.so"));
}

void class_place_use(const char *path, home *h)
{
    snprintf(h->include, sizeof h->include, "%.3000s/include", path);
    snprintf(h->lib, sizeof h->lib, "%.3000s/lib", path);
}

/* Of the folder and those above it, the first that the users cannot enter is told. */
static bool can_enter(const class_users *u, const char *path, char *err, size_t room)
{
    char folder[PATH_ROOM];
    struct stat st = {0};
    if (class_users_enter(u, path, folder) || stat(folder, &st) != 0) return true;
    snprintf(
        err, room,
        "submissions are built and run in %.900s, as other users, and these cannot enter %.900s (its mode is %04o); "
        "set TMPDIR to a folder that all may enter: TMPDIR=/tmp ferry grade-class ..., or: chmod o+x %.900s",
        path, folder, (unsigned)st.st_mode & 07777u, folder);
    return false;
}

int class_place_make(const class_users *u, const home *h, char path[PATH_ROOM], char *err, size_t room)
{
    int held = scratch_make(path);
    bool ok = held >= 0 && (!u->first || copy_ferry(h, path));
    if (!ok)
        snprintf(err, room, "cannot make the folder %.2000s: %s; free disk space there, or set TMPDIR", path,
                 strerror(errno));
    if (ok && (!u->first || can_enter(u, path, err, room))) return held;
    if (held >= 0) scratch_remove(path, held);
    return -1;
}
