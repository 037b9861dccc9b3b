/* session.c: one run of a program: which log it writes, its first and its last event, and what becomes
 * of the log at exit. Everything is asked for from outside, by the environment:
 *
 *   FERRY_LOG_FD=N     write to the log behind descriptor N (the grader's, the studio's)
 *   FERRY_TRACE=FILE   FILE is a slot log while the program runs, and JSON lines once it has ended
 *   FERRY_VIEW=1       serve this run to the browser, from a process of its own
 *   FERRY_NARRATE=1    tell it on stderr
 *   FERRY_LAUNCH_BLOCKING=1  wait for each piece of a card's work; CUDA_LAUNCH_BLOCKING=1 means the same
 *   FERRY_SEED=N       where random numbers and given inputs start
 *
 * A child made by fork() writes to a log of its own, FILE.child1, .child2 ..., when its parent has a
 * FILE, and it begins with the child's first event; otherwise the child is silent. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device.h"
#include "out_of_memory.h"
#include "slots.h"
#include "source.h"
#include "text.h"
#include "work.h"

#ifndef FERRY_VERSION
#define FERRY_VERSION "0.1.0"
#endif

/* libferry-view, where it is linked. Returns the serving process, or -1 after saying why not. */
extern int fy_viewer(int log_fd, const char *program) __attribute__((weak));
extern void fy_viewer_why(const char *why) __attribute__((weak));
extern fy_ref fy_live_storages(void) __attribute__((weak)); /* no tensors linked: none live */

enum { IDLE, RUNNING, FORKED, OVER };
static _Atomic int state = IDLE;

static int argc_;
static char **argv_;
static char *trace; /* absolute path of the JSON lines to write at exit, or NULL */
static bool narrates;
static uint64_t told; /* narrated up to here */
static pid_t viewer;
static _Atomic int forks;           /* children so far */
static _Thread_local int forked_as; /* the number of the child that this thread is making */
static uint64_t parent_seq;         /* in a child: events its parent had, else 0 */

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0");
}

static void say(const char *message) { fprintf(stderr, "ferry: %s\n", message); }

uint64_t fy_session_seed(void)
{
    static _Atomic bool complained;
    const char *text = getenv("FERRY_SEED");
    char *end;
    if (!text || !*text) return 0;
    errno = 0;
    uint64_t seed = strtoull(text, &end, 10);
    if (!errno && !*end && *text != '-' && seed < 1ull << 53) return seed;
    if (!atomic_exchange(&complained, true))
        fprintf(stderr, "ferry: FERRY_SEED=%s is not a number from 0 to 2^53 - 1; going on with 0\n", text);
    return 0;
}

/* Ferry's own word goes before CUDA's. */
bool fy_launch_blocking(void)
{
    static _Atomic int known;
    int is = atomic_load_explicit(&known, memory_order_relaxed);
    if (!is) {
        const char *own = getenv("FERRY_LAUNCH_BLOCKING");
        is = is_set(own && *own ? "FERRY_LAUNCH_BLOCKING" : "CUDA_LAUNCH_BLOCKING") ? 2 : 1;
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    return is == 2;
}

/* A variable that nobody knows does nothing: most likely it is misspelt. Those of `ferry` are known here too. */
static void warn_of_unknown(void)
{
    static const char *const known[] = {"VIEW=",   "TRACE=", "NARRATE=", "GPU=",  "SIM=", "SEED=",           "THREADS=",
                                        "POLICY=", "GIVEN=", "LOG_FD=",  "HOME=", "MY=",  "LAUNCH_BLOCKING="};
    for (char **e = environ; e && *e; e++) {
        size_t i = 0, n = sizeof known / sizeof *known;
        if (strncmp(*e, "FERRY_", 6) != 0) continue;
        while (i < n && strncmp(*e + 6, known[i], strlen(known[i])) != 0) i++;
        if (i == n)
            fprintf(stderr, "ferry: %.*s is no variable that Ferry knows, and does nothing; README.md lists them\n",
                    (int)strcspn(*e, "="), *e);
    }
}

/* ---- the session event ---- */

/* Lessons take --view and --trace FILE for Ferry: those are not the program's own. */
static int ferrys_own(char **arg)
{
    if (!fy_source_is_embedded()) return 0;
    if (!strcmp(*arg, "--trace")) return arg[1] ? 2 : 1;
    return !strcmp(*arg, "--view") || !strncmp(*arg, "--trace=", 8);
}

static void add_args(fy_text *out)
{
    fy_text_str(out, "[");
    for (int i = 1, skip; i < argc_ && argv_[i]; i += skip ? skip : 1) {
        if ((skip = ferrys_own(argv_ + i))) continue;
        if (out->size > 1) fy_text_str(out, ",");
        fy_text_json(out, argv_[i], strlen(argv_[i]));
    }
    fy_text_str(out, "]");
}

static void emit_session(void)
{
    fy_text args = {0}, devices = {0};
    add_args(&args);
    fy_dev_session_json(&devices);
    if (args.lost || devices.lost) fy_out_of_memory("the first line of the log");
    FY_EMIT(NULL, session, .schema = 1, .ferry = fy_ref_str(FERRY_VERSION),
            .program = fy_ref_str(program_invocation_short_name), .args = fy_ref_bytes(args.data, args.size),
            .clock = fy_dev_model_clock() ? FY_WORD_model : FY_WORD_measured, .seed = (int64_t)fy_session_seed(),
            .devices = fy_ref_bytes(devices.data, devices.size), .parent_seq = parent_seq);
    free(args.data);
    free(devices.data);
    if (fy_launch_blocking()) FY_EMIT(NULL, mode, .mode = fy_ref_str("launch_blocking"), .on = true);
}

/* ---- start ---- */

static char *absolute(const char *path)
{
    char *cwd = *path == '/' ? NULL : getcwd(NULL, 0), *whole = NULL;
    if (asprintf(&whole, "%s%s%s", cwd ? cwd : "", cwd ? "/" : "", path) < 0) whole = NULL;
    free(cwd);
    return whole;
}

/* The descriptor that whoever started us left open. */
static int inherited(const char *text)
{
    char *end, message[256];
    long fd = strtol(text, &end, 10);
    if (!*end && fd > 2 && fd < 1 << 20 && fy_log_is_log((int)fd)) {
        fcntl((int)fd, F_SETFD, FD_CLOEXEC);
        setvbuf(stdout, NULL, _IOLBF, 0); /* the runner shows what was printed before a crash, too */
        return (int)fd;
    }
    snprintf(message, sizeof message, "FERRY_LOG_FD=%.40s is no open Ferry log; unset it. Nothing is recorded", text);
    say(message);
    return -1;
}

/* The log that the environment asks for, or -1. */
static int choose(char *err, size_t room)
{
    char fd_text[48];
    const char *fd = getenv("FERRY_LOG_FD"), *file = getenv("FERRY_TRACE");
    if (fd && *fd) {
        snprintf(fd_text, sizeof fd_text, "%s", fd);
        unsetenv("FERRY_LOG_FD"); /* a program that ours starts must not write there too */
        return inherited(fd_text);
    }
    if (file && *file) {
        if (!(trace = absolute(file))) fy_out_of_memory("the path of the trace");
        return fy_log_file(trace, 0, err, room);
    }
    if (narrates || is_set("FERRY_VIEW")) return fy_log_file(NULL, 0, err, room);
    return -1;
}

static bool open_log(int fd, char *err, size_t room)
{
    bool open = fy_log_adopt(fd, err, room);
    close(fd); /* the mapping has its own */
    if (!open) {
        if (trace) unlink(trace);
        free(trace);
        trace = NULL;
    }
    return open;
}

static void start_viewer(void)
{
    if (!is_set("FERRY_VIEW")) return;
    if (!fy_viewer) {
        say("FERRY_VIEW is set, but this program has no viewer in it; link it with "
            "`pkg-config --libs ferry` to see it in the browser");
        return;
    }
    int pid = fy_viewer(fy_log_mine()->fd, program_invocation_short_name);
    if (pid > 0) viewer = pid;
    forks = 0;
}

static void at_exit(int status, void *unused);
static void before_fork(void) { forked_as = atomic_fetch_add(&forks, 1) + 1; }
static void in_child(void);

static void register_handlers(void)
{
    static bool done; /* a child inherits them */
    if (done) return;
    done = true;
    on_exit(at_exit, NULL);
    pthread_atfork(before_fork, NULL, in_child);
}

void fy_session_start(void)
{
    int idle = IDLE;
    char err[512];
    if (atomic_load_explicit(&state, memory_order_relaxed) != IDLE) return; /* as nearly always */
    if (!atomic_compare_exchange_strong(&state, &idle, RUNNING)) return;
    *err = '\0';
    warn_of_unknown();
    narrates = is_set("FERRY_NARRATE");
    int fd = choose(err, sizeof err);
    if (fd < 0 || !open_log(fd, err, sizeof err)) {
        if (*err) say(err);
        return;
    }
    register_handlers();
    start_viewer(); /* forks, so before anything that may start a thread */
    emit_session();
    const char *why = fy_dev_why_not_real();
    if (viewer > 0 && fy_viewer_why) fy_viewer_why(why ? why : "");
}

bool fy_session_late(void)
{
    int now = atomic_load_explicit(&state, memory_order_relaxed);
    if (now == RUNNING || now == OVER) return false;
    if (now == IDLE) fy_session_start();
    if (now == FORKED && atomic_compare_exchange_strong(&state, &now, RUNNING)) {
        char err[512] = "";
        int fd = fy_log_file(trace, 0, err, sizeof err);
        if (fd >= 0 && open_log(fd, err, sizeof err)) emit_session();
        else say(err);
    }
    return fy_log_mine() != NULL;
}

void fy_session_is_over(void) { atomic_store(&state, OVER); }

/* Before main, and after the constructor of lesson_program.c (101), which sets the environment. */
__attribute__((constructor(102))) static void before_main(int argc, char **argv)
{
    argc_ = argc;
    argv_ = argv;
    if (&fy_session_none && fy_session_none) fy_session_is_over();
    if (is_set("FERRY_LOG_FD") || is_set("FERRY_TRACE") || is_set("FERRY_VIEW") || is_set("FERRY_NARRATE"))
        fy_session_start();
}

/* ---- narration ---- */

bool fy_narrates(void) { return narrates; }

void fy_narrate_flush(void)
{
    fy_log *log = narrates ? fy_log_mine() : NULL;
    fy_text lines = {0};
    if (!log) return;
    fflush(stdout); /* what the program printed before comes before */
    fy_narrate(log, &told, &lines);
    if (lines.lost) say("no memory for the narration: what it says here is not all");
    if (lines.size) fwrite(lines.data, 1, lines.size, stderr);
    free(lines.data);
}

/* ---- fork ---- */

static void in_child(void)
{
    char *file = trace;
    if (atomic_load(&state) != RUNNING || !fy_log_mine()) return;
    parent_seq = fy_log_count(fy_log_mine());
    fy_log_forked();
    trace = NULL;
    narrates = false;
    viewer = 0;
    if (file && asprintf(&trace, "%s.child%d", file, forked_as) < 0) {
        say("no memory for the path of a child's trace: what the child does is not recorded");
        trace = NULL;
    }
    free(file);
    forks = 0;
    atomic_store(&state, trace ? FORKED : OVER);
}

/* ---- end ---- */

static bool write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* All that was recorded, as JSON lines. A thread that is still emitting is given 0.1 s to finish. */
static bool copy_lines(fy_log *log, int fd)
{
    uint64_t cursor = 0;
    fy_text lines = {0};
    bool good = true;
    for (int patience = 100; good && cursor < fy_log_count(log);) {
        lines.size = 0;
        if (!fy_log_read(log, &cursor, &lines, 64 << 10)) {
            if (patience-- <= 0) fy_log_writer_gone(log);
            usleep(1000);
        }
        if (lines.lost) errno = ENOMEM;
        good = !lines.lost && write_all(fd, lines.data, lines.size);
    }
    free(lines.data);
    return good;
}

/* A file that may not grow further is an error like others here, not a signal that kills. */
static bool copy_lines_unharmed(fy_log *log, int fd)
{
    sigset_t too_large, before;
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &before);
    bool good = copy_lines(log, fd);
    int error = errno;
    if (!sigismember(&before, SIGXFSZ)) sigtimedwait(&too_large, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return good;
}

static void write_trace(fy_log *log)
{
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s.tmp", trace); /* it was opened, so it is not longer */
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool good = fd >= 0 && copy_lines_unharmed(log, fd);
    int error = errno;
    if (fd >= 0 && close(fd)) good = false, error = errno;
    if (good && rename(path, trace)) good = false, error = errno;
    if (!good) {
        unlink(path);
        fprintf(stderr,
                "ferry: cannot write %s as JSON lines: %s; %s. %s: the file holds "
                "them in binary form, and `ferry view %s` reads that too\n",
                trace, strerror(error),
                error == EFBIG    ? "raise ulimit -f"
                : error == ENOMEM ? "close other programs"
                                  : "free some space",
                atomic_load(&log->head->full) ? "What was recorded before the log was full is kept"
                                              : "No event is lost",
                trace);
    }
}

/* The page stays until it has seen all, or Ctrl-C, which reaches both: the exit status is the program's. */
static void wait_for_viewer(void)
{
    fflush(stdout);
    signal(SIGINT, SIG_IGN);
    for (uint64_t born = fy_process_born(viewer); born && fy_process_born(viewer) == born;) usleep(20000);
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    fy_log *log = fy_log_mine();
    if (atomic_load(&state) != RUNNING || !log) return;
    FY_EMIT(NULL, end, .status = status, .live = fy_live_storages ? fy_live_storages() : 0);
    fy_log_end();
    atomic_store(&state, OVER);
    fy_narrate_flush();
    if (trace) write_trace(log);
    if (viewer > 0) wait_for_viewer();
}
