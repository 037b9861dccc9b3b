/* picture_file.c: writes the run as a page (page_file.c) into a folder of its own, lets a browser load it with a link
 * that asks for the picture (www/runs/picture.js), and reads that from the page as the browser prints it. The browser
 * gets a new profile, and has no reason to use the network: the page allows none. */
#define _GNU_SOURCE
#include "picture_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "page_file.h"
#include "paths.h"

enum { SECONDS = 120 };

extern char **environ;

static const char *const browsers[] = {"chromium",
                                       "chromium-browser",
                                       "chromium-headless-shell",
                                       "google-chrome",
                                       "google-chrome-stable",
                                       "microsoft-edge",
                                       "brave-browser",
                                       NULL};

bool picture_browser(char path[PATH_ROOM])
{
    const char *folders = getenv("PATH");
    for (int i = 0; browsers[i]; i++)
        for (const char *at = folders ? folders : ""; *at; at += *at == ':') {
            size_t n = strcspn(at, ":");
            if (n && snprintf(path, PATH_ROOM, "%.*s/%s", (int)n, at, browsers[i]) < PATH_ROOM && !access(path, X_OK))
                return true;
            at += n;
        }
    return false;
}

static bool choose_browser(const char *named, char path[PATH_ROOM], char *err, size_t room)
{
    if (named && !access(named, X_OK)) return snprintf(path, PATH_ROOM, "%s", named) < PATH_ROOM;
    if (named)
        snprintf(err, room, "cannot start the browser %s: %s; name another with --browser PATH", named,
                 strerror(errno));
    else if (picture_browser(path)) return true;
    else
        snprintf(err, room,
                 "a picture is drawn by a browser, and none of chromium, chromium-browser, chromium-headless-shell, "
                 "google-chrome, microsoft-edge and brave-browser is in PATH; install one, name one with --browser "
                 "PATH, or save the picture from the page");
    return false;
}

/* ---- a folder for the page and the browser's profile ---- */

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s, (void)kind, (void)at;
    remove(path);
    return 0;
}

static bool write_page(const char *path, feed *f, const char *label, char *err, size_t room)
{
    FILE *page = fopen(path, "we");
    bool ok = page && page_file_write(page, f, label, &(fy_text){0}, err, room); /* a picture shows no findings */
    if (page && fclose(page)) ok = false;
    if (!ok && !*err)
        snprintf(err, room, "cannot write %s: %s; free some space, or set TMPDIR to another folder", path,
                 strerror(errno));
    return ok;
}

/* ---- the browser ---- */

static pid_t start_browser(const char *path, const char *profile, const char *url, int out)
{
    /* Without a sandbox it also starts in containers and as root; the page's own policy allows only its own script. */
    char *argv[] = {(char *)path,
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-quic",
                    "--no-first-run",
                    "--disable-background-networking",
                    "--disable-component-update",
                    "--disable-sync",
                    "--window-size=1440,1100",
                    (char *)profile,
                    "--virtual-time-budget=20000",
                    "--dump-dom",
                    (char *)url,
                    NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    pid_t pid = -1;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setpgroup(&attributes, 0); /* its helpers are ended with it */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    int error = posix_spawn(&pid, path, &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    errno = error;
    return error ? -1 : pid;
}

static int seconds_left(const struct timespec *until)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec >= until->tv_sec ? 0 : (int)(until->tv_sec - now.tv_sec);
}

/* All that it prints; false: it took too long. */
static bool read_all(int fd, fy_text *page)
{
    struct timespec until;
    char part[65536];
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SECONDS;
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        int left = seconds_left(&until);
        if (!left) return false;
        if (poll(&ready, 1, left * 1000) < 0 && errno != EINTR) return false;
        if (!ready.revents) continue;
        ssize_t n = read(fd, part, sizeof part);
        if (n <= 0) return true;
        fy_text_add(page, part, (size_t)n);
    }
}

static bool run_browser(const char *path, const char *profile, const char *url, fy_text *page, char *err, size_t room)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return snprintf(err, room, "cannot start the browser: %s", strerror(errno)), false;
    pid_t pid = start_browser(path, profile, url, ends[1]);
    int error = errno;
    close(ends[1]);
    bool in_time = pid > 0 && read_all(ends[0], page);
    close(ends[0]);
    if (pid > 0) {
        if (!in_time) kill(-pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
        kill(-pid, SIGKILL); /* a helper that has not noticed yet */
    }
    if (pid < 0)
        snprintf(err, room, "cannot start the browser %s: %s; name another with --browser PATH", path, strerror(error));
    else if (!in_time)
        snprintf(err, room, "the browser %s printed no picture within %d s; name another with --browser PATH", path,
                 SECONDS);
    return in_time;
}

/* ---- what it printed ---- */

static int letter_value(char c)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(letters, c) : NULL;
    return at ? (int)(at - letters) : -1;
}

/* The base64 in the element `id`; false if the page has none. */
static bool decode(const fy_text *page, const char *id, fy_text *out)
{
    char mark[64];
    int n = snprintf(mark, sizeof mark, "<pre id=\"%s\">", id), bits = 0;
    const char *at = page->size ? memmem(page->data, page->size, mark, (size_t)n) : NULL;
    if (!at) return false;
    unsigned value = 0;
    for (at += n; at < page->data + page->size && letter_value(*at) >= 0; at++) {
        value = value << 6 | (unsigned)letter_value(*at);
        if ((bits += 6) < 8) continue;
        char byte = (char)(value >> (bits -= 8) & 255);
        fy_text_add(out, &byte, 1);
    }
    return out->size > 0;
}

static bool read_picture(const fy_text *page, const char *browser, FILE *out, char *err, size_t room)
{
    fy_text picture = {0}, trouble = {0};
    bool ok = decode(page, "picture", &picture);
    if (ok) fwrite(picture.data, 1, picture.size, out);
    else if (decode(page, "picture-trouble", &trouble)) snprintf(err, room, "%.*s", (int)trouble.size, trouble.data);
    else
        snprintf(err, room,
                 "the browser %s showed no picture; name another with --browser PATH, or save it from the page",
                 browser);
    if (picture.lost || trouble.lost || page->lost) memory_fail("a picture");
    free(picture.data), free(trouble.data);
    return ok;
}

bool picture_write(FILE *out, feed *f, const char *label, const char *kind, long step, const char *browser, char *err,
                   size_t room)
{
    char path[PATH_ROOM], folder[PATH_ROOM], page_path[PATH_ROOM + 16], profile[PATH_ROOM + 64], url[PATH_ROOM + 128];
    fy_text page = {0};
    *err = '\0';
    if (!choose_browser(browser, path, err, room)) return false;
    if (!folder_temporary("ferry-picture", folder))
        return snprintf(err, room, "cannot make a folder %s: %s; set TMPDIR to another folder", folder,
                        strerror(errno)),
               false;
    snprintf(page_path, sizeof page_path, "%s/run.html", folder);
    snprintf(profile, sizeof profile, "--user-data-dir=%s/profile", folder);
    int n = snprintf(url, sizeof url, "file://%s#picture=%s", page_path, kind);
    if (step) snprintf(url + n, sizeof url - (size_t)n, "&step=%ld", step);
    bool ok = write_page(page_path, f, label, err, room) && run_browser(path, profile, url, &page, err, room) &&
              read_picture(&page, path, out, err, room);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(page.data);
    return ok && !ferror(out);
}
