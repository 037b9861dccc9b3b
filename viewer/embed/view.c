/* view.c: serves one run: a saved one (view_file), or a program's own while it runs (fy_viewer). */
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
#define LOOK_MS 50
#define GRACE_MS 1000  /* after the last acknowledgement: a page may still be drawing */
#define RELOAD_MS 5000 /* a page that went may come back */
#define NOBODY_MS (10 * 60 * 1000)
#define WORDS_MS 5000

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static volatile sig_atomic_t told_to_end;

static void note_the_end(int signal)
{
    (void)signal;
    told_to_end = 1;
}

/* Handlers, not a blocked mask: threads older than main (OpenBLAS has some) may be the ones to be hit. */
static void catch_enders(void)
{
    const struct sigaction end = {.sa_handler = note_the_end};
    told_to_end = 0;
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGHUP, &end, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Sleep a little; true when we were told to end. */
static bool nap(int ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L};
    if (!told_to_end) nanosleep(&t, NULL);
    return told_to_end;
}

/* One run in a server of its own. */
typedef struct show {
    server *server;
    feed *feed; /* the server's */
    int run;
    bool ended; /* the server knows that the run has ended */
} show;

static bool show_start(show *s, feed *f, const char *label, const server_options *options)
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

static void show_end_of_run(show *s)
{
    if (!s->ended) server_run_ended(s->server, s->run);
    s->ended = true;
}

/* ---- a saved run ---- */

int view_file(const char *path, int port, const char *allow_host)
{
    char err[512];
    feed *f = feed_of_file(path, err, sizeof err);
    if (!f) {
        fprintf(stderr, "ferry: %s\n", err);
        return 1;
    }
    if (feed_note(f)) fprintf(stderr, "ferry: %s: %s\n", path, feed_note(f));
    const char *slash = strrchr(path, '/');
    char *real = realpath(path, NULL), *end = real ? strrchr(real, '/') : NULL;
    if (end) end[end == real] = '\0'; /* the folder that the file lies in */
    const server_options options = {.port = port, .mode = "view", .folder = real, .allow_host = allow_host};
    show s = {0};
    catch_enders();
    bool shown = show_start(&s, f, slash ? slash + 1 : path, &options);
    free(real);
    if (!shown) return 1;
    browser_show(s.server, port, stdout);
    do {
        if (s.ended || !feed_ended(f)) continue;
        if (!feed_note(f) && feed_is_cut(f))
            fprintf(stderr, "ferry: %s was cut off; this is what was read of it\n", path);
        show_end_of_run(&s);
    } while (!nap(LOOK_MS));
    server_stop(s.server);
    return 0;
}

/* ---- a program's own run ---- */

/* The program's files are not ours to keep open: a pipe's reader would wait for us. */
static void close_the_rest(int keep)
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

static void leave_stdio(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) return;
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    close(null);
}

/* Does the log end in order? Asked when nothing more will come. In a full log there is no room to say. */
static bool ends_in_order(feed *f)
{
    fy_kind last = feed_last_kind(f);
    return last == FY_KIND_end || last == FY_KIND_log_full;
}

static void tell_end(const show *s, const char *program)
{
    if (feed_is_cut(s->feed))
        fprintf(stderr, "ferry: the log of %s was cut off; what was read of it is at %s ; `kill %d` ends that\n",
                program, server_url(s->server), (int)getpid());
    else if (!ends_in_order(s->feed))
        fprintf(stderr, "ferry: %s died (a crash, a kill or _exit); its run is still at %s ; `kill %d` ends that\n",
                program, server_url(s->server), (int)getpid());
    else if (!server_clients(s->server))
        fprintf(stderr, "ferry: %s has ended; its run stays at %s until a page has it all (Ctrl-C ends it)\n", program,
                server_url(s->server));
}

/* When a run that has ended may go. All times in ms; 0: not so. */
typedef struct patience {
    int64_t ended, all_seen, alone;
    bool visited;
} patience;

static bool is_done(patience *p, server *s)
{
    int64_t now = now_ms();
    bool all_seen = server_seen_all(s), alone = !server_clients(s);
    p->visited |= !alone;
    p->all_seen = !all_seen ? 0 : p->all_seen ? p->all_seen : now;
    p->alone = !alone ? 0 : p->alone ? p->alone : now;
    if (!p->ended) return false;
    if (!p->visited) return now - p->ended >= NOBODY_MS;
    return (all_seen && now - p->all_seen >= GRACE_MS) || (alone && now - p->alone >= RELOAD_MS);
}

static void serve_until_done(show *s, const char *program, pid_t pid, uint64_t born)
{
    patience p = {0};
    do {
        if (s->ended || !(fy_process_started(pid) != born || feed_ended(s->feed))) continue;
        show_end_of_run(s);
        tell_end(s, program);
        p.ended = now_ms();
    } while (!is_done(&p, s->server) && !nap(LOOK_MS));
}

/* Why the program's GPU is simulated is known once it has opened its devices, which is after the fork. */
static int words[2] = {-1, -1};

void fy_viewer_why(const char *why)
{
    if (words[1] < 0) return;
    ssize_t written = write(words[1], why, strlen(why)); /* the reading end is open here, too: no SIGPIPE */
    (void)written;
    close(words[0]), close(words[1]);
    words[0] = words[1] = -1;
}

/* "" when nothing is said soon: the program has ended, or does not know. */
static void hear_why(char *why, size_t room)
{
    struct pollfd ready = {.fd = words[0], .events = POLLIN};
    if (words[1] >= 0) close(words[1]);
    ssize_t n = words[0] >= 0 && poll(&ready, 1, WORDS_MS) > 0 ? read(words[0], why, room - 1) : 0;
    why[n > 0 ? n : 0] = '\0';
}

/* Never returns: nothing of the program may run here, its exit handlers included. */
static _Noreturn void serve_program(int log_fd, const char *program, pid_t pid, uint64_t born)
{
    char err[256], why[128], folder[4096];
    show s = {0};
    catch_enders();
    hear_why(why, sizeof why);
    close_the_rest(log_fd);
    const server_options options = {
        .port = FIRST_PORT, .mode = "view", .why = *why ? why : NULL, .folder = getcwd(folder, sizeof folder)};
    feed *f = feed_of_log(log_fd, err, sizeof err);
    if (!f) fprintf(stderr, "ferry: cannot show this run: %s\n", err);
    if (!f || !show_start(&s, f, program, &options)) _exit(1);
    browser_show(s.server, FIRST_PORT, stderr);
    leave_stdio();
    serve_until_done(&s, program, pid, born);
    server_stop(s.server);
    _exit(0);
}

/* The library closes its own descriptor when it sees a fork, and the writer's lock lies on all copies of it: one
 * that is opened anew does not hold the name of the log while the page stays. */
static int open_again(int log_fd)
{
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", log_fd);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? fd : fcntl(log_fd, F_DUPFD_CLOEXEC, 3);
}

/* Fork twice: a program that waits for children of its own must not meet ours among them. */
static pid_t fork_away(int *is_viewer)
{
    int ids[2];
    pid_t viewer = -1;
    if (pipe2(ids, O_CLOEXEC)) return -1;
    pid_t between = fork();
    if (!between) {
        viewer = fork();
        if ((*is_viewer = !viewer)) return 0;
        _exit(write(ids[1], &viewer, sizeof viewer) != sizeof viewer);
    }
    close(ids[1]);
    if (between > 0 && read(ids[0], &viewer, sizeof viewer) != sizeof viewer) viewer = -1;
    close(ids[0]);
    while (between > 0 && waitpid(between, NULL, 0) < 0 && errno == EINTR) continue;
    return viewer;
}

int fy_viewer(int log_fd, const char *program)
{
    pid_t self = getpid();
    uint64_t born = fy_process_started(self);
    int is_viewer = 0, fd = open_again(log_fd);
    if (pipe2(words, O_CLOEXEC)) words[0] = words[1] = -1;
    pid_t viewer = fd < 0 ? -1 : fork_away(&is_viewer);
    if (is_viewer) serve_program(fd, program, self, born);
    if (viewer < 0) fprintf(stderr, "ferry: cannot show this run: %s; it goes on unseen\n", strerror(errno));
    if (fd >= 0) close(fd);
    return viewer;
}

/* Found by the session of a program that the viewer is linked into. */
__attribute__((constructor(101))) static void hook_in(void)
{
    static const fy_viewer_hooks hooks = {fy_viewer, fy_viewer_why};
    fy_session_viewer(&hooks);
}
