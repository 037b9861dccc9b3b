/* cmd_serve.c: `ferry serve`, which `make run` starts: serves the lessons until Ctrl-C. A second one for the same
 * folder prints the URL of the first, from a locked file in the state folder that only its owner can read. */
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

/* ---- one server per folder ------------------------------------------------------------------------------- */

/* The path of the folder's lock file; false after printing why there is none. */
static bool lock_path(const char *served, char *path, size_t room)
{
    char folder[PATH_ROOM], err[1200], message[1400];
    if (!state_folder(folder, sizeof folder, err, sizeof err)) {
        snprintf(message, sizeof message, "a second `ferry serve` will not find this one: %s", err);
        command_error(message);
        return false;
    }
    unsigned long long hash = 14695981039346656037ULL; /* FNV-1a */
    for (const char *p = served; *p; p++) hash = (hash ^ (unsigned char)*p) * 1099511628211ULL;
    return snprintf(path, room, "%s/serve-%016llx.lock", folder, hash) < (int)room;
}

/* The locked file; -1 on error; -2 if another process holds the lock, with the file's text in `state`. */
static int lock_state(const char *path, char *state, size_t room)
{
    for (int tries = 0; tries < 10; tries++) {
        struct stat s;
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) return -1;
        fchmod(fd, 0600);
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            bool taken = errno == EWOULDBLOCK;
            ssize_t n = pread(fd, state, room - 1, 0);
            state[n > 0 ? n : 0] = '\0';
            close(fd);
            return taken ? -2 : -1;
        }
        if (fstat(fd, &s) == 0 && s.st_nlink > 0) return fd;
        close(fd); /* its owner unlinked it after the open: try again */
    }
    return -1;
}

/* state: "PORT PID URL", or empty while the other server is starting. */
static int print_first_server(const char *state)
{
    int port = 0;
    long pid = 0;
    char url[128] = "";
    if (sscanf(state, "%d %ld %127s", &port, &pid, url) == 3)
        printf("ferry: the lessons are already open on port %d (process %ld):\nferry: open %s\n", port, pid, url);
    else printf("ferry: another ferry is opening the lessons right now\n");
    return FINE;
}

/* ---- serving ------------------------------------------------------------------------------------------- */

/* Why learners' programs use the simulated card, the default unless FERRY_GPU=real (run.c); NULL: they use a
 * real one. */
static const char *why_simulated(void)
{
    const char *asked = getenv("FERRY_GPU"), *why = fy_dev_why_not_real();
    if (asked && strcmp(asked, "real") == 0) return fy_dev_count() > 1 ? NULL : why ? why : "no card";
    return why ? why : "lessons do not need a real one; FERRY_GPU=real uses it";
}

/* Handlers and a pipe, not sigwait with a blocked mask: OpenBLAS starts threads before main, and a signal
 * delivered to one of them would end the process. */
static int stop_pipe[2];

static void on_stop_signal(int signal_number)
{
    (void)signal_number;
    int error = errno;
    if (write(stop_pipe[1], "", 1) < 0) errno = error; /* pipe full: already stopping */
    errno = error;
}

static bool catch_stop_signals(void)
{
    const struct sigaction end = {.sa_handler = on_stop_signal, .sa_flags = SA_RESTART};
    if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    sigaction(SIGINT, &end, NULL), sigaction(SIGTERM, &end, NULL), sigaction(SIGHUP, &end, NULL);
    signal(SIGPIPE, SIG_IGN);
    return true;
}

static int serve(const lesson_env *s, const options *o, const char *served, int lock)
{
    char err[512] = "", state[256];
    run_manager *m = catch_stop_signals() ? run_manager_open(&s->home, &s->catalogue, o->seconds) : NULL;
    server_options so = {.port = o->port,
                         .mode = "lessons",
                         .why = why_simulated(),
                         .folder = served,
                         .allow_host = o->allow_host,
                         .routes = lesson_routes,
                         .user = m};
    server *web = m ? server_start(&so, err, sizeof err) : NULL;
    if (!web) {
        command_error(*err ? err : "no memory left to open the lessons");
        run_manager_free(m);
        return NOT_PASSED;
    }
    int n = snprintf(state, sizeof state, "%d %ld %s\n", server_port(web), (long)getpid(), server_url(web));
    if (lock >= 0 && (ftruncate(lock, 0) != 0 || pwrite(lock, state, (size_t)n, 0) != n))
        command_error("cannot write the lock file; a second `ferry serve` will not find this one");
    browser_announce(web, o->port, stdout);
    if (so.why) printf("ferry: the GPU is simulated (%s), and its times are modelled\n", so.why);
    printf("ferry: your files are in %s; every save is graded. Ctrl-C stops.\n", s->home.my);
    fflush(stdout);

    bool ok = run_manager_start(m, web);
    struct pollfd stop = {.fd = stop_pipe[0], .events = POLLIN};
    while (ok && poll(&stop, 1, -1) < 0 && errno == EINTR) continue;
    if (!ok) command_error("no thread could be started; close other programs");
    run_manager_stop(m);
    server_stop(web);
    run_manager_free(m);
    return ok ? FINE : NOT_PASSED;
}

int command_serve(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    char served[PATH_ROOM], path[PATH_ROOM + 64], first[512] = "";
    if (!options_read(&o, c, argc, argv, "--port --no-browser --allow-host --seconds --lessons", 0)) return USAGE_ERROR;
    if (o.no_browser) setenv("BROWSER", "none", 1);
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    char *real = folder_make(s.home.my) ? realpath(s.home.my, NULL) : NULL;
    snprintf(served, sizeof served, "%s", real ? real : s.home.my);
    free(real);

    char key[2 * PATH_ROOM]; /* a folder has one server for each folder of lessons */
    snprintf(key, sizeof key, "%s%s", served, s.home.own);
    int lock = lock_path(key, path, sizeof path) ? lock_state(path, first, sizeof first) : -1;
    int status = lock == -2 ? print_first_server(first) : serve(&s, &o, served, lock);
    if (lock >= 0) {
        unlink(path); /* before the lock is released: who opened it meanwhile sees st_nlink 0 and tries again */
        close(lock);
    }
    lessons_close(&s);
    return status;
}
