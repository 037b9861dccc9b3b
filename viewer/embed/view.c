/* view.c: serves one run: a saved one (view_files), or the program's own while it runs (fy_viewer). */
#define _GNU_SOURCE
#include "log.h"
#include "session.h"
#include "text.h"
#include "view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "browser.h"
#include "server.h"

#define FIRST_PORT 8700
#define POLL_MS 50
#define UNVISITED_MS (10 * 60 * 1000)
#define WHY_MS 30000 /* opening a driver takes seconds on a busy machine; what hangs there must not hide the page */

/* A page that is reloaded is back within a second; a lost connection is tried again every 4 s, over SSH by hand. */
static int closed_ms = 60 * 1000;

void view_closed_page_ms(int ms) { closed_ms = ms; }

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static volatile sig_atomic_t stop_requested;

static void on_stop_signal(int signal)
{
    (void)signal;
    stop_requested = 1;
}

/* Handlers, not sigwait with a blocked mask: OpenBLAS starts threads before main, which may get the signal. */
static void catch_stop_signals(void)
{
    const struct sigaction end = {.sa_handler = on_stop_signal};
    stop_requested = 0;
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGHUP, &end, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Sleeps; true if a stop signal arrived. */
static bool sleep_ms(int ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L};
    if (!stop_requested) nanosleep(&t, NULL);
    return stop_requested;
}

/* A server for one run. */
typedef struct run_server {
    server *server;
    feed *feed; /* owned by the server */
    int run;
    bool ended; /* server_run_ended was called */
} run_server;

static bool start_server(run_server *s, feed *f, const char *label, const server_options *options)
{
    char err[256];
    s->server = server_start(options, err, sizeof err);
    if (!s->server) {
        fprintf(stderr, "ferry: %s\n", err);
        feed_free(f);
        return false;
    }
    s->feed = f;
    s->run = server_add_run(s->server, f, NULL, "view", label);
    return true;
}

static void end_run(run_server *s)
{
    if (!s->ended) server_run_ended(s->server, s->run);
    s->ended = true;
}

/* ---- saved runs ---- */

static feed *open_saved(const char *path)
{
    char err[512];
    feed *f = feed_of_file(path, err, sizeof err);
    if (!f) fprintf(stderr, "ferry: %s\n", err);
    else if (feed_warning(f)) fprintf(stderr, "ferry: %s: %s\n", path, feed_warning(f));
    return f;
}

static const char *name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void end_file(run_server *s, const char *path)
{
    if (s->ended || !feed_ended(s->feed)) return;
    if (!feed_warning(s->feed) && feed_is_truncated(s->feed))
        fprintf(stderr, "ferry: %s was cut off; the page shows the part that could be read\n", path);
    end_run(s);
}

int view_files(const char *path, const char *other, int port, const char *allow_host)
{
    feed *f = open_saved(path), *g = f && other ? open_saved(other) : NULL;
    if (!f || (other && !g)) return feed_free(f), 1;
    /* two files of the same name are told apart by their paths */
    bool alike = other && !strcmp(name_of_file(path), name_of_file(other));
    char *real = realpath(path, NULL), *end = real ? strrchr(real, '/') : NULL;
    if (end) end[end == real] = '\0'; /* the file's folder */
    const server_options options = {.port = port, .mode = "view", .folder = real, .allow_host = allow_host};
    run_server s = {0}, t = {.ended = true};
    catch_stop_signals();
    bool shown = start_server(&s, f, alike ? path : name_of_file(path), &options);
    free(real);
    if (!shown) return feed_free(g), 1;
    if (g) {
        t = (run_server){.server = s.server, .feed = g};
        t.run = server_add_run(t.server, g, NULL, "view", alike ? other : name_of_file(other));
    }
    browser_announce(s.server, port, stdout);
    do {
        end_file(&s, path);
        end_file(&t, other);
    } while (!sleep_ms(POLL_MS));
    server_stop(s.server);
    return 0;
}

/* ---- a program's own run ---- */

/* Closes the program's files: the reader of a pipe would otherwise wait for this process. */
static void close_all_except(int keep)
{
    DIR *fds = opendir("/proc/self/fd");
    if (!fds) return;
    int own = dirfd(fds);
    for (struct dirent *e; (e = readdir(fds));) {
        int fd = atoi(e->d_name);
        if (fd > STDERR_FILENO && fd != keep && fd != own) close(fd);
    }
    closedir(fds);
}

static void report_end(const run_server *s, const char *program)
{
    char what[256], until[96];
    fy_kind last = feed_last_kind(s->feed);
    bool complete = last == FY_KIND_end || last == FY_KIND_log_full; /* a full log has no room for an end event */
    if (feed_is_truncated(s->feed))
        snprintf(what, sizeof what, "the log of %s was cut off; the part that could be read", program);
    else if (!complete) snprintf(what, sizeof what, "%s died (a crash, a kill or _exit); its run", program);
    else snprintf(what, sizeof what, "%s has ended; its run", program);
    if (server_clients(s->server))
        snprintf(until, sizeof until, "until its page has been closed for %d s", closed_ms / 1000);
    else
        snprintf(until, sizeof until,
                 "for %d minutes if its page is never opened, else until it has been closed for %d s",
                 UNVISITED_MS / 60000, closed_ms / 1000);
    fprintf(stderr, "ferry: %s stays at %s %s (%s`kill %d` stops the viewer)\n", what, server_url(s->server), until,
            complete ? "Ctrl-C or " : "", (int)getpid());
}

/* Serves until no page has been open for closed_ms, or none ever came. A page may be reloaded as often as its reader
 * likes: that it has received the whole run ends nothing. */
static void serve_until_closed(run_server *s, const char *program, pid_t pid, uint64_t started)
{
    int64_t ended = 0, no_client = 0; /* since when this holds, in ms; 0: it does not */
    bool visited = false, done = false;
    do {
        if (!s->ended && (fy_process_started(pid) != started || feed_ended(s->feed))) {
            end_run(s);
            report_end(s, program);
            ended = now_ms();
        }

        int64_t now = now_ms();
        if (server_clients(s->server)) no_client = 0;
        else if (!no_client) no_client = now;
        visited |= !no_client;

        if (!visited) done = ended && now - ended >= UNVISITED_MS;
        else done = ended && no_client && now - no_client >= closed_ms && now - ended >= closed_ms;
    } while (!done && !sleep_ms(POLL_MS));
}

/* Carries why the GPU is simulated: the program knows it after opening its devices, which is after the fork. */
static int why_pipe[2] = {-1, -1};

void fy_viewer_why(const char *why)
{
    if (why_pipe[1] < 0) return;
    ssize_t written = write(why_pipe[1], why, strlen(why)); /* the read end is open here too: no SIGPIPE */
    (void)written;
    close(why_pipe[0]), close(why_pipe[1]);
    why_pipe[0] = why_pipe[1] = -1;
}

/* Waits at most WHY_MS; "" if the program ended, or sent nothing. */
static void read_why(char *why, size_t room)
{
    struct pollfd ready = {.fd = why_pipe[0], .events = POLLIN};
    if (why_pipe[1] >= 0) close(why_pipe[1]);
    ssize_t n = why_pipe[0] >= 0 && poll(&ready, 1, WHY_MS) > 0 ? read(why_pipe[0], why, room - 1) : 0;
    why[n > 0 ? n : 0] = '\0';
}

/* Ends in _exit: no code of the program may run here, including its exit handlers. */
static _Noreturn void serve_program(int log_fd, const char *program, pid_t pid, uint64_t started)
{
    char err[256], why[128], folder[4096];
    run_server s = {0};
    catch_stop_signals();
    read_why(why, sizeof why);
    close_all_except(log_fd);
    const server_options options = {
        .port = FIRST_PORT, .mode = "view", .why = *why ? why : NULL, .folder = getcwd(folder, sizeof folder)};
    feed *f = feed_of_log(log_fd, err, sizeof err);
    if (!f) fprintf(stderr, "ferry: cannot show this run: %s\n", err);
    if (!f || !start_server(&s, f, program, &options)) _exit(1);
    browser_announce(s.server, FIRST_PORT, stderr);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        close(null);
    }
    serve_until_closed(&s, program, pid, started);
    server_stop(s.server);
    _exit(0);
}

/* Forks twice, so that the viewer is no child of the program, which may wait for all its children. */
static pid_t fork_detached(int *is_viewer)
{
    int ids[2];
    pid_t viewer = -1;
    if (pipe2(ids, O_CLOEXEC)) return -1;
    pid_t middle = fork();
    if (!middle) {
        viewer = fork();
        if ((*is_viewer = !viewer)) return 0;
        _exit(write(ids[1], &viewer, sizeof viewer) != sizeof viewer);
    }
    close(ids[1]);
    if (middle > 0 && read(ids[0], &viewer, sizeof viewer) != sizeof viewer) viewer = -1;
    close(ids[0]);
    while (middle > 0 && waitpid(middle, NULL, 0) < 0 && errno == EINTR) continue;
    return viewer;
}

int fy_viewer(int log_fd, const char *program)
{
    pid_t self = getpid();
    uint64_t started = fy_process_started(self);
    int is_viewer = 0;
    /* The library closes its own descriptor after a fork, and all duplicates share the writer's lock. A newly opened
     * descriptor does not hold that lock, so another program can use the log's name while the page is open. */
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", log_fd);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) fd = fcntl(log_fd, F_DUPFD_CLOEXEC, 3);
    if (pipe2(why_pipe, O_CLOEXEC)) why_pipe[0] = why_pipe[1] = -1;
    pid_t viewer = fd < 0 ? -1 : fork_detached(&is_viewer);
    if (is_viewer) serve_program(fd, program, self, started);
    if (viewer < 0)
        fprintf(stderr, "ferry: cannot show this run: %s; the program continues without the page\n", strerror(errno));
    if (fd >= 0) close(fd);
    return viewer;
}

/* Registers the viewer with the session of the program that it is linked into. */
__attribute__((constructor(101))) static void register_viewer(void)
{
    static const fy_viewer_hooks hooks = {fy_viewer, fy_viewer_why};
    fy_session_viewer(&hooks);
}
