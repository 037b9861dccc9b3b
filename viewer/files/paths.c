/* paths.c: Ferry's folders, and reading and writing whole files. */
#define _GNU_SOURCE 1

#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "memory.h"

bool folder_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool folder_make(const char *path)
{
    char part[PATH_ROOM];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part) return false;
    for (char *p = part + 1; *p; p++) {
        if (*p != '/') continue;
        *p = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) return false;
        *p = '/';
    }
    if (mkdir(part, 0777) == 0) return true;
    int error = errno;
    bool exists = folder_exists(part);
    errno = error; /* why it could not be made, not that it is not there */
    return exists;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

const char *path_from_here(const char *path)
{
    char here[PATH_ROOM];
    size_t size = getcwd(here, sizeof here) ? strlen(here) : 0;
    return size > 1 && !strncmp(path, here, size) && path[size] == '/' ? path + size + 1 : path;
}

bool folder_temporary(const char *name, char out[PATH_ROOM])
{
    const char *asked = getenv("TMPDIR");
    snprintf(out, PATH_ROOM, "%.2900s/%.40s-XXXXXX", asked && *asked == '/' ? asked : "/tmp", name);
    return mkdtemp(out) != NULL;
}

void folder_remove(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

char *file_read(const char *path, size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return NULL;
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) { /* reading a pipe may block, a device may never end */
        close(fd);
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        return NULL;
    }
    size_t used = 0, room = 4096;
    char *text = memory_realloc(NULL, room, 1, path);
    for (ssize_t n; (n = read(fd, text + used, room - used - 1)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            free(text);
            text = NULL;
            break;
        }
        used += (size_t)n;
        if (room - used > 1) continue;
        text = memory_realloc(text, room *= 2, 1, path);
    }
    int error = errno;
    close(fd);
    errno = error;
    if (text) text[used] = '\0';
    if (size) *size = used;
    return text;
}

static bool write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text += n;
        size -= (size_t)n;
    }
    return true;
}

/* A new file in the folder of `path`, with a unique name: several threads and processes may save at once. */
static int open_temporary(const char *path, char *temporary, size_t room)
{
    static atomic_uint count;
    int fd;
    do {
        int n = snprintf(temporary, room, "%s.%ld.%u.new", path, (long)getpid(), atomic_fetch_add(&count, 1));
        if (n < 0 || (size_t)n >= room) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

static bool replace(const char *path, const char *text, size_t size)
{
    char temporary[PATH_ROOM + 48];
    struct stat old;
    bool exists = stat(path, &old) == 0;
    int fd = open_temporary(path, temporary, sizeof temporary);
    if (fd < 0) return false;
    bool ok = write_all(fd, text, size) && (!exists || fchmod(fd, old.st_mode & 07777) == 0);
    int error = errno;
    if (close(fd) != 0 && ok) ok = false, error = errno;
    if (ok && rename(temporary, path) == 0) return true;
    if (ok) error = errno;
    unlink(temporary);
    errno = error;
    return false;
}

static bool write_into(const char *path, const char *text, size_t size)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write_all(fd, text, size);
    if (fd >= 0) close(fd);
    return ok;
}

bool file_write(const char *path, const char *text, size_t size)
{
    char target[PATH_MAX]; /* resolved, so that a link stays a link */
    struct stat st;
    bool is_device = stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
    if (is_device) return write_into(path, text, size); /* /dev/null stays what it is */
    return replace(realpath(path, target) ? target : path, text, size);
}

bool file_create(const char *path, const char *text, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return false;
    bool ok = write_all(fd, text, size);
    int error = errno;
    if (close(fd) != 0 && ok) ok = false, error = errno;
    if (!ok) unlink(path);
    errno = error;
    return ok;
}

/* The folder exists and only this user can write it; if not, err says why and names the variable to set. */
static bool private_folder(const char *path, const char *variable, char *err, size_t room)
{
    char error[PATH_ROOM + 128];
    if (fy_folder_make_private(path, error, sizeof error)) return true;
    snprintf(err, room, "%.900s; set %s to a folder of your own", error, variable);
    return false;
}

bool state_folder(char *out, size_t room, char *err, size_t err_room)
{
    const char *state = getenv("XDG_STATE_HOME"), *user = getenv("HOME");
    int n = state && *state == '/' ? snprintf(out, room, "%s/ferry", state)
            : user && *user == '/' ? snprintf(out, room, "%s/.local/state/ferry", user)
                                   : snprintf(out, room, "/tmp/ferry-%ld", (long)getuid());
    if (n > 0 && (size_t)n < room) return private_folder(out, "XDG_STATE_HOME", err, err_room);
    snprintf(err, err_room, "the path of the state folder is too long; set XDG_STATE_HOME to a shorter one");
    return false;
}

const char *folder_advice(int error)
{
    if (error == ENOSPC || error == EDQUOT) return "free disk space";
    if (error == EACCES || error == EPERM || error == EROFS)
        return "this folder cannot be written: choose another one for your files, as in export FERRY_MY=~/ferry";
    return "free disk space, or choose another folder for your files, as in export FERRY_MY=~/ferry";
}

bool build_folder_make(const home *h, const char *path, char *err, size_t room)
{
    struct stat made, my;
    if (h->made_apart) return private_folder(path, "XDG_CACHE_HOME", err, room);
    if (!folder_make(path) || stat(path, &made)) {
        snprintf(err, room, "%s: %s; %s", path, strerror(errno), folder_advice(errno));
        return false;
    }
    if (stat(h->my, &my) && stat(h->beside, &my)) return true; /* nothing to build from; reported elsewhere */
    bool ours = made.st_uid == geteuid() || made.st_uid == my.st_uid;
    if (ours && !(made.st_mode & ~my.st_mode & (S_IWGRP | S_IWOTH))) return true;
    snprintf(err, room, "%s %s; remove it", path,
             ours ? "is writable by more users than your source folder" : "belongs to another user");
    return false;
}

/* ---- finding the folders ----------------------------------------------------------------------- */

static bool set_path(char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool set_path(char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(path, PATH_ROOM, format, args);
    va_end(args);
    return n >= 0 && n < PATH_ROOM;
}

static bool contains(const char *folder, const char *name)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, R_OK) == 0;
}

/* The folder of this executable, or its ancestor `above` levels up; above -1: the executable itself. */
static bool executable_folder(char *out, int above)
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_ROOM - 1);
    if (n <= 0) return false;
    out[n] = '\0';
    for (int i = 0; i <= above; i++) {
        char *slash = strrchr(out, '/');
        if (!slash) return false;
        *slash = '\0';
    }
    return true;
}

/* The folder that contains lessons/: $FERRY_HOME, a checkout, or PREFIX/share/ferry. */
static bool find_root(char *root, char *err, size_t room)
{
    char above[PATH_ROOM];
    const char *value = getenv("FERRY_HOME");
    if (value && *value) {
        char real[PATH_MAX];
        bool ok = realpath(value, real) && contains(real, "lessons") && set_path(root, "%s", real);
        if (!ok)
            snprintf(err, room,
                     "FERRY_HOME is '%s', and there is no folder lessons/ in it; name the folder "
                     "that contains lessons/, or unset FERRY_HOME",
                     value);
        return ok;
    }
    if (!executable_folder(above, 1)) above[0] = '\0';
    if (contains(above, "lessons") && set_path(root, "%s", above)) return true;
    if (snprintf(root, PATH_ROOM, "%.3000s/share/ferry", above) > 0 && contains(root, "lessons")) return true;
    snprintf(err, room,
             "no lessons found beside this program (looked in %.900s/lessons and %.900s); "
             "set FERRY_HOME to the folder that contains lessons/",
             above, root);
    return false;
}

static bool find_my(home *h, const char *root)
{
    const char *value = getenv("FERRY_MY");
    char here[PATH_ROOM];
    bool checkout = contains(root, "Makefile");
    if (!value || !*value) {
        if (!checkout && !getcwd(here, sizeof here)) return false;
        return set_path(h->beside, "%s", checkout ? root : here) && set_path(h->my, "%.3000s/my", h->beside);
    }
    if (*value == '/') {
        if (!set_path(h->my, "%s", value)) return false;
    } else if (!getcwd(here, sizeof here) || !set_path(h->my, "%.2000s/%.1000s", here, value)) {
        return false;
    }
    while (strlen(h->my) > 1 && h->my[strlen(h->my) - 1] == '/') h->my[strlen(h->my) - 1] = '\0';
    if (!set_path(h->beside, "%s", h->my)) return false;
    char *slash = strrchr(h->beside, '/');
    slash[slash == h->beside] = '\0'; /* the parent of /my is / */
    return true;
}

/* libferry.a is in the executable's folder, its parent (for a test), PREFIX/lib or the checkout's build/. */
static void find_library(home *h, const char *root)
{
    char own[PATH_ROOM], above[PATH_ROOM];
    if (!executable_folder(own, 0)) own[0] = '\0';
    if (!executable_folder(above, 1)) above[0] = '\0';
    set_path(h->lib, "%s", own);
    if (!contains(h->lib, "libferry.a")) set_path(h->lib, "%s", above);
    if (!contains(h->lib, "libferry.a")) set_path(h->lib, "%.3000s/lib", above);
    if (!contains(h->lib, "libferry.a")) set_path(h->lib, "%.3000s/build", root);
    set_path(h->demos, "%.3000s/lessons", h->lib);
    if (!folder_exists(h->demos)) set_path(h->demos, "%.3000s/libexec/ferry", above);
    set_path(h->include, "%.3000s/include", h->lib); /* only the public headers */
    if (!contains(h->include, "ferry.h")) set_path(h->include, "%.3000s/lib", root);
    if (!contains(h->include, "ferry.h")) set_path(h->include, "%.3000s/include", above);
    if (!contains(h->include, "ferry.h")) set_path(h->include, "%.3000s/include/ferry", above);
    set_path(h->grader, "%.3000s/grader", h->lib);
    if (!contains(h->grader, "grade.h")) set_path(h->grader, "%.3000s/include/ferry-grade", above);
}

/* Programs are built in my/.built if FERRY_MY is set, in a checkout's build/my, or in the user's cache. */
static bool find_made(home *h, const char *root)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *user = getenv("HOME");
    if (getenv("FERRY_MY")) return set_path(h->made, "%.3000s/.built", h->my);
    if (contains(root, "Makefile")) return set_path(h->made, "%.3000s/my", h->lib);
    h->made_apart = true;
    if (cache && *cache == '/') return set_path(h->made, "%.3000s/ferry/my", cache);
    if (user && *user == '/') return set_path(h->made, "%.3000s/.cache/ferry/my", user);
    return set_path(h->made, "/tmp/ferry-%ld/my", (long)getuid());
}

static unsigned long long hash_text(unsigned long long hash, const char *text)
{
    for (const char *p = text; *p; p++) hash = (hash ^ (unsigned char)*p) * 1099511628211ULL; /* FNV-1a */
    return hash;
}

/* Another folder of lessons than Ferry's. What is built from it has a folder of its own for each folder of lessons and
 * each build of Ferry: lessons of two folders may have one name, and two versions of Ferry another grader. */
static bool find_own(home *h, char *err, size_t room)
{
    char real[PATH_MAX], builtin[PATH_MAX], own[PATH_ROOM];
    const char *value = getenv("FERRY_LESSONS");
    if (!value || !*value) return true;
    bool found = realpath(value, real) && folder_exists(real);
    if (!found || !executable_folder(own, -1)) {
        snprintf(err, room, "there is no folder of lessons '%.900s'; name one with --lessons DIR or FERRY_LESSONS=DIR",
                 value);
        return false;
    }
    if (realpath(h->lessons, builtin) && !strcmp(real, builtin)) return true;
    unsigned long long hash = hash_text(hash_text(14695981039346656037ULL, real), own);
    if (set_path(h->lessons, "%s", real) && set_path(h->own, "%.2900s/.own/%016llx", h->made, hash)) return true;
    snprintf(err, room, "the path of the folder of lessons, %.900s, is too long; move it", real);
    return false;
}

bool paths_find(home *h, char *err, size_t room)
{
    memset(h, 0, sizeof *h);
    if (!find_root(h->ferry, err, room)) return false;
    find_library(h, h->ferry);
    if (set_path(h->lessons, "%.3000s/lessons", h->ferry) && find_my(h, h->ferry) && find_made(h, h->ferry))
        return find_own(h, err, room);
    snprintf(err, room,
             "the path of the folder my/ is too long, or the current folder is gone; "
             "run ferry in another folder");
    return false;
}
