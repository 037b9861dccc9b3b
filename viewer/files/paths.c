/* paths.c: where things lie, and the few whole-file helpers that go with it. */
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
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
    char part[HOME_PATH];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part) return false;
    for (char *p = part + 1; *p; p++) {
        if (*p != '/') continue;
        *p = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) return false;
        *p = '/';
    }
    return mkdir(part, 0777) == 0 || folder_exists(part);
}

char *file_read(const char *path, size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return NULL;
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) { /* a pipe would wait, a device may never end */
        close(fd);
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        return NULL;
    }
    size_t have = 0, room = 4096;
    char *text = memory_grown(NULL, room, 1, path);
    for (ssize_t n; (n = read(fd, text + have, room - have - 1)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            free(text);
            text = NULL;
            break;
        }
        have += (size_t)n;
        if (room - have > 1) continue;
        text = memory_grown(text, room *= 2, 1, path);
    }
    int why = errno;
    close(fd);
    errno = why;
    if (text) text[have] = '\0';
    if (size) *size = have;
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

/* A new file beside `path`, of its own name: several threads and processes may save at once. */
static int open_beside(const char *path, char *beside, size_t room)
{
    static atomic_uint count;
    int fd;
    do {
        int n = snprintf(beside, room, "%s.%ld.%u.new", path, (long)getpid(), atomic_fetch_add(&count, 1));
        if (n < 0 || (size_t)n >= room) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

static bool replace(const char *path, const char *text, size_t size)
{
    char beside[HOME_PATH + 48];
    struct stat old;
    bool there = stat(path, &old) == 0;
    int fd = open_beside(path, beside, sizeof beside);
    if (fd < 0) return false;
    bool ok = write_all(fd, text, size) && (!there || fchmod(fd, old.st_mode & 07777) == 0);
    int why = errno;
    if (close(fd) != 0 && ok) ok = false, why = errno;
    if (ok && rename(beside, path) == 0) return true;
    if (ok) why = errno;
    unlink(beside);
    errno = why;
    return false;
}

bool file_write(const char *path, const char *text, size_t size)
{
    char target[PATH_MAX]; /* a link stays a link */
    return replace(realpath(path, target) ? target : path, text, size);
}

bool file_keep(const char *path, const char *text, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return false;
    bool ok = write_all(fd, text, size);
    int why = errno;
    if (close(fd) != 0 && ok) ok = false, why = errno;
    if (!ok) unlink(path);
    errno = why;
    return ok;
}

/* Of this user alone, or said why not, and what to do. */
static bool own_folder_or_words(const char *path, const char *names, char *err, size_t room)
{
    char why[HOME_PATH + 128];
    if (fy_folder_own(path, why, sizeof why)) return true;
    snprintf(err, room, "%.900s; set %s to a folder of your own", why, names);
    return false;
}

bool state_folder(char *out, size_t room, char *err, size_t err_room)
{
    const char *state = getenv("XDG_STATE_HOME"), *user = getenv("HOME");
    int n = state && *state == '/' ? snprintf(out, room, "%s/ferry", state)
            : user && *user == '/' ? snprintf(out, room, "%s/.local/state/ferry", user)
                                   : snprintf(out, room, "/tmp/ferry-%ld", (long)getuid());
    if (n > 0 && (size_t)n < room) return own_folder_or_words(out, "XDG_STATE_HOME", err, err_room);
    snprintf(err, err_room, "the path of the folder for state is too long; set XDG_STATE_HOME to a shorter one");
    return false;
}

bool build_folder_make(const home *h, const char *path, char *err, size_t room)
{
    struct stat made, my;
    if (h->made_apart) return own_folder_or_words(path, "XDG_CACHE_HOME", err, room);
    if (!folder_make(path) || stat(path, &made)) {
        snprintf(err, room, "%s: %s; make room, or make the folder above it writable", path, strerror(errno));
        return false;
    }
    if (stat(h->my, &my) && stat(h->beside, &my)) return true; /* nothing to build: it is said elsewhere */
    bool ours = made.st_uid == geteuid() || made.st_uid == my.st_uid;
    if (ours && !(made.st_mode & ~my.st_mode & (S_IWGRP | S_IWOTH))) return true;
    snprintf(err, room, "%s %s; remove it", path,
             ours ? "can be written by others than the folder of your files" : "belongs to another user");
    return false;
}

/* ---- where ------------------------------------------------------------------------------------- */

static bool set(char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool set(char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(path, HOME_PATH, format, args);
    va_end(args);
    return n >= 0 && n < HOME_PATH;
}

static bool holds(const char *folder, const char *name)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, R_OK) == 0;
}

/* The folder of this executable; above: that many folders further up. */
static bool own_folder(char *out, int above)
{
    ssize_t n = readlink("/proc/self/exe", out, HOME_PATH - 1);
    if (n <= 0) return false;
    out[n] = '\0';
    for (int i = 0; i <= above; i++) {
        char *slash = strrchr(out, '/');
        if (!slash) return false;
        *slash = '\0';
    }
    return true;
}

/* The folder that holds lessons/: a checkout, PREFIX/share/ferry, or what FERRY_HOME says. */
static bool find_root(char *root, char *err, size_t room)
{
    char above[HOME_PATH];
    const char *told = getenv("FERRY_HOME");
    if (told && *told) {
        char real[PATH_MAX];
        bool ok = realpath(told, real) && holds(real, "lessons") && set(root, "%s", real);
        if (!ok)
            snprintf(err, room,
                     "FERRY_HOME is '%s', and there is no folder lessons/ in it; name the folder "
                     "that holds lessons/, or unset FERRY_HOME",
                     told);
        return ok;
    }
    if (!own_folder(above, 1)) above[0] = '\0';
    if (holds(above, "lessons") && set(root, "%s", above)) return true;
    if (snprintf(root, HOME_PATH, "%.3000s/share/ferry", above) > 0 && holds(root, "lessons")) return true;
    snprintf(err, room,
             "no lessons found beside this program (looked in %.900s/lessons and %.900s); "
             "set FERRY_HOME to the folder that holds lessons/",
             above, root);
    return false;
}

static bool find_my(home *h, const char *root)
{
    const char *told = getenv("FERRY_MY");
    char here[HOME_PATH];
    bool checkout = holds(root, "Makefile");
    if (!told || !*told) {
        if (!checkout && !getcwd(here, sizeof here)) return false;
        return set(h->beside, "%s", checkout ? root : here) && set(h->my, "%.3000s/my", h->beside);
    }
    if (*told == '/') {
        if (!set(h->my, "%s", told)) return false;
    } else if (!getcwd(here, sizeof here) || !set(h->my, "%.2000s/%.1000s", here, told)) {
        return false;
    }
    while (strlen(h->my) > 1 && h->my[strlen(h->my) - 1] == '/') h->my[strlen(h->my) - 1] = '\0';
    if (!set(h->beside, "%s", h->my)) return false;
    char *slash = strrchr(h->beside, '/');
    slash[slash == h->beside] = '\0'; /* /my lies in / */
    return true;
}

/* The archives lie with the executable, above it (a test's), in PREFIX/lib or in the checkout's build/. */
static void find_library(home *h, const char *root)
{
    char own[HOME_PATH], above[HOME_PATH];
    if (!own_folder(own, 0)) own[0] = '\0';
    if (!own_folder(above, 1)) above[0] = '\0';
    set(h->lib, "%s", own);
    if (!holds(h->lib, "libferry.a")) set(h->lib, "%s", above);
    if (!holds(h->lib, "libferry.a")) set(h->lib, "%.3000s/lib", above);
    if (!holds(h->lib, "libferry.a")) set(h->lib, "%.3000s/build", root);
    set(h->demos, "%.3000s/lessons", h->lib);
    if (!folder_exists(h->demos)) set(h->demos, "%.3000s/libexec/ferry", above);
    set(h->include, "%.3000s/include", h->lib); /* the public headers alone */
    if (!holds(h->include, "ferry.h")) set(h->include, "%.3000s/lib", root);
    if (!holds(h->include, "ferry.h")) set(h->include, "%.3000s/include", above);
    if (!holds(h->include, "ferry.h")) set(h->include, "%.3000s/include/ferry", above);
}

/* In a checkout the programs go to build/my; elsewhere to the user's cache. */
static bool find_made(home *h, const char *root)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *user = getenv("HOME");
    if (getenv("FERRY_MY")) return set(h->made, "%.3000s/.built", h->my);
    if (holds(root, "Makefile")) return set(h->made, "%.3000s/my", h->lib);
    h->made_apart = true;
    if (cache && *cache == '/') return set(h->made, "%.3000s/ferry/my", cache);
    if (user && *user == '/') return set(h->made, "%.3000s/.cache/ferry/my", user);
    return set(h->made, "/tmp/ferry-%ld/my", (long)getuid());
}

bool home_find(home *h, char *err, size_t room)
{
    char root[HOME_PATH];
    memset(h, 0, sizeof *h);
    if (!find_root(root, err, room)) return false;
    find_library(h, root);
    if (set(h->lessons, "%.3000s/lessons", root) && find_my(h, root) && find_made(h, root)) return true;
    snprintf(err, room,
             "the path of the folder my/ is too long, or the current folder is gone; "
             "run ferry in another folder");
    return false;
}
