/* cmd_serve.c: `ferry serve`, which `make run` starts: the lessons in the page, until Ctrl-C. A second one for the same
 * folder points to the first: a locked file in the state folder, for its owner alone, holds the URL. */
#define _GNU_SOURCE 1

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "browser.h"
#include "command.h"
#include "run_manager.h"

/* ---- one at a time a folder ------------------------------------------------------------------------------ */

/* The folder that is served, by its one real name. */
static void served_folder(const home *h, char *out, size_t room)
{
    char *real = folder_make(h->my) ? realpath(h->my, NULL) : NULL;
    snprintf(out, room, "%s", real ? real : h->my);
    free(real);
}

/* FNV-1a */
static unsigned long long hash_of(const char *text)
{
    unsigned long long hash = 14695981039346656037ULL;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211ULL;
    return hash;
}

/* The file that stands for a folder; false after saying why there can be none. */
static bool lock_path(const char *served, char *path, size_t room)
{
    char folder[HOME_PATH], err[1200], words[1400];
    if (state_folder(folder, sizeof folder, err, sizeof err))
        return snprintf(path, room, "%s/serve-%016llx.lock", folder, hash_of(served)) < (int)room;
    snprintf(words, sizeof words, "a second `ferry serve` will not find this one: %s", err);
    complain(words);
    return false;
}

/* The locked file, -1 when there is none to be had, -2 when another process has it; its words in `there`. */
static int lock_state(const char *path, char *there, size_t room)
{
    for (int tries = 0; tries < 10; tries++) {
        struct stat s;
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) return -1;
        fchmod(fd, 0600);
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            bool taken = errno == EWOULDBLOCK;
            ssize_t n = pread(fd, there, room - 1, 0);
            there[n > 0 ? n : 0] = '\0';
            close(fd);
            return taken ? -2 : -1;
        }
        if (fstat(fd, &s) == 0 && s.st_nlink > 0) return fd;
        close(fd); /* it went with its owner while we opened it */
    }
    return -1;
}

static void write_state(int fd, const server *web)
{
    char text[256];
    int n = snprintf(text, sizeof text, "%d %ld %s\n", server_port(web), (long)getpid(), server_url(web));
    if (fd >= 0 && (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n))
        complain("cannot note where the page is; a second `ferry serve` will not find this one");
}

/* Away before it is unlocked: who opened it meanwhile looks again. */
static void clear_state(int fd, const char *path)
{
    unlink(path);
    close(fd);
}

/* PORT PID URL; the other one may only be starting. */
static int point_to_first(const char *there)
{
    int port = 0;
    long pid = 0;
    char url[128] = "";
    if (sscanf(there, "%d %ld %127s", &port, &pid, url) == 3)
        printf("ferry: the lessons are open already, on port %d (process %ld):\nferry: open %s\n", port, pid, url);
    else printf("ferry: the lessons are being opened by another ferry\n");
    return FINE;
}

/* ---- the words at the start ------------------------------------------------------------------------------ */

/* Why learners' programs run on the simulated card, as they do unless a real one is asked for (run.c);
 * NULL: they do not. */
static const char *why_simulated(void)
{
    const char *asked = getenv("FERRY_GPU"), *why = fy_dev_why_not_real();
    if (asked && strcmp(asked, "real") == 0) return fy_dev_count() > 1 ? NULL : why ? why : "no card";
    return why ? why : "lessons do not need a real one; FERRY_GPU=real asks for it";
}

static void greet(const server *web, int asked_port, const char *my)
{
    browser_show(web, asked_port, stdout);
    if (why_simulated()) printf("ferry: the GPU is simulated (%s), and its times are modelled\n", why_simulated());
    printf("ferry: your files are in %s; save one, and it is graded. Ctrl-C ends.\n", my);
    fflush(stdout);
}

/* ---- serving ------------------------------------------------------------------------------------------- */

/* Handlers and a pipe, not a blocked mask and sigwait: OpenBLAS has threads of its own before main, and
 * a signal that finds one of them would end the process. */
static int ender[2];

static void on_end(int signal_number)
{
    (void)signal_number;
    int error = errno;
    if (write(ender[1], "", 1) < 0) errno = error; /* full: it is ending already */
    errno = error;
}

static bool catch_enders(void)
{
    const struct sigaction end = {.sa_handler = on_end, .sa_flags = SA_RESTART};
    if (pipe2(ender, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    sigaction(SIGINT, &end, NULL), sigaction(SIGTERM, &end, NULL), sigaction(SIGHUP, &end, NULL);
    signal(SIGPIPE, SIG_IGN);
    return true;
}

static void wait_for_end(void)
{
    struct pollfd p = {.fd = ender[0], .events = POLLIN};
    while (poll(&p, 1, -1) < 0 && errno == EINTR) continue;
}

static int serve(const lesson_env *s, const options *o, const char *served, int state)
{
    char err[512] = "";
    run_manager *st = catch_enders() ? run_manager_open(&s->home, &s->catalogue, o->seconds) : NULL;
    server_options so = {.port = o->port,
                         .mode = "lessons",
                         .why = why_simulated(),
                         .folder = served,
                         .allow_host = o->allow_host,
                         .routes = lesson_routes,
                         .user = st};
    server *web = st ? server_start(&so, err, sizeof err) : NULL;
    if (!web) {
        complain(*err ? err : "no memory left to open the lessons");
        run_manager_free(st);
        return NOT_PASSED;
    }
    write_state(state, web);
    greet(web, o->port, s->home.my);
    bool ok = run_manager_start(st, web);
    if (ok) wait_for_end();
    else complain("no thread could be started; close other programs");
    run_manager_stop(st);
    server_stop(web);
    run_manager_free(st);
    return ok ? FINE : NOT_PASSED;
}

int command_serve(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    char served[HOME_PATH], path[HOME_PATH + 64], there[512] = "";
    if (!options_read(&o, c, argc, argv, "--port --no-browser --allow-host --seconds", 0)) return NOT_UNDERSTOOD;
    if (o.no_browser) setenv("BROWSER", "none", 1);
    if (!lessons_open(&s)) return NOT_PASSED;
    served_folder(&s.home, served, sizeof served);
    int state = lock_path(served, path, sizeof path) ? lock_state(path, there, sizeof there) : -1;
    int status = state == -2 ? point_to_first(there) : serve(&s, &o, served, state);
    if (state >= 0) clear_state(state, path);
    lessons_close(&s);
    return status;
}
