/* session.c: one run of a program: the log it writes, its first and last event, and what happens to the log at exit.
 * Configured by the environment:
 *
 *   FERRY_LOG_FD=N     write to the log at file descriptor N (the grader's, the run manager's)
 *   FERRY_LOG_PID=N    the number of this process as those see it who read that log
 *   FERRY_TRACE=FILE   FILE is a binary log while the program runs, and JSON lines after it has ended
 *   FERRY_VIEW=1       serve this run to the browser, from a separate process
 *   FERRY_NARRATE=1    narrate it on stderr
 *   FERRY_VALUES=1     log the contents of every result, too (contents.h)
 *   FERRY_LAUNCH_BLOCKING=1  wait for each launch on a GPU; CUDA_LAUNCH_BLOCKING=1 means the same
 *   FERRY_SEED=N       seed of random numbers and given inputs
 *
 * Where one of them asks for a log, it is opened before main; its first event, which names the devices, waits for the
 * first call, as the devices do: what the program sets before that (CUDA_VISIBLE_DEVICES) counts, with and without a
 * log.
 *
 * A child made by fork() writes its own log, FILE.child1, .child2 ..., if its parent has a FILE; the log starts with
 * the child's first event. Without a FILE the child records nothing. */
#define _GNU_SOURCE
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "contents.h"
#include "device.h"
#include "event.h"
#include "lane.h"
#include "log.h"
#include "log_format.h"
#include "narrate.h"
#include "segv_handler.h"
#include "session_hooks.h"
#include "settings.h"
#include "out_of_memory.h"
#include "source.h"
#include "storage.h"
#include "synchronize.h"
#include "text.h"

#ifndef FERRY_VERSION
#define FERRY_VERSION "0.1.0"
#endif

enum { IDLE, RUNNING, FORKED, OVER };
static _Atomic int state = IDLE;

static int argc_;
static char **argv_;
static bool prepared;                   /* the log is open */
static _Atomic bool opening;            /* the session event is due, or in the log */
static bool opened;                     /* the session event is in the log */
static _Atomic(fy_narrator *) narrator; /* NULL unless FERRY_NARRATE=1 */
static bool narrates_on_stdout;
static const fy_viewer_hooks *viewer_hooks; /* NULL: libferry-view is not linked */
static pid_t viewer;
static _Atomic int forks;           /* children forked so far */
static _Thread_local int forked_as; /* number of the child that this thread is forking */
static uint64_t parent_seq;         /* in a child: the parent's event count at the fork; else 0 */

static void print_message(const char *message) { fprintf(stderr, "ferry: %s\n", message); }

/* An unknown FERRY_ variable is most likely misspelt. Variables of the `ferry` command are listed too. */
static void warn_unknown_variables(void)
{
    static const char *const known[] = {"VIEW=",    "TRACE=",   "NARRATE=",         "GPU=",   "SIM=",
                                        "SEED=",    "THREADS=", "POLICY=",          "GIVEN=", "LOG_FD=",
                                        "HOME=",    "MY=",      "LAUNCH_BLOCKING=", "BLAS=",  "VALUES=",
                                        "LOG_PID=", "FILL=",    "LOG_LIMIT="};
    for (char **e = environ; e && *e; e++) {
        size_t i = 0, n = sizeof known / sizeof *known;
        if (strncmp(*e, "FERRY_", 6) != 0) continue;
        while (i < n && strncmp(*e + 6, known[i], strlen(known[i])) != 0) i++;
        if (i == n)
            fprintf(stderr, "ferry: unknown variable %.*s is ignored; README.md lists the known ones\n",
                    (int)strcspn(*e, "="), *e);
    }
}

/* ---- the session event ---- */

/* Lessons accept --view and --trace FILE on behalf of Ferry: those are not recorded as the program's arguments. Returns
 * how many arguments to skip. */
static int ferry_option_count(char **arg)
{
    if (!fy_source_is_embedded()) return 0;
    if (!strcmp(*arg, "--trace")) return arg[1] ? 2 : 1;
    return !strcmp(*arg, "--view") || !strncmp(*arg, "--trace=", 8);
}

static void emit_session(void)
{
    static const char knows[] = "[\"reads\",\"frees\",\"addresses\",\"sources\",\"calls\"]";
    fy_text args = {0}, devices = {0};
    fy_text_str(&args, "[");
    for (int i = 1, skip; i < argc_ && argv_[i]; i += skip ? skip : 1) {
        if ((skip = ferry_option_count(argv_ + i))) continue;
        if (args.size > 1) fy_text_str(&args, ",");
        fy_text_json(&args, argv_[i], strlen(argv_[i]));
    }
    fy_text_str(&args, "]");
    fy_dev_session_json(&devices);
    if (args.lost || devices.lost) fy_out_of_memory("the first line of the log");

    FY_EMIT(NULL, session, .schema = FY_SCHEMA_VERSION, .ferry = fy_ref_str(FERRY_VERSION),
            .program = fy_ref_str(program_invocation_short_name), .args = fy_ref_bytes(args.data, args.size),
            .clock = fy_dev_model_clock() ? FY_WORD_model : FY_WORD_measured, .seed = (int64_t)fy_session_seed(),
            .devices = fy_ref_bytes(devices.data, devices.size), .knows = fy_ref_bytes(knows, sizeof knows - 1),
            .language = fy_ref_str("C"), .rank = FY_ABSENT, .ranks = FY_ABSENT, .parent_seq = parent_seq);
    opened = true;
    free(args.data);
    free(devices.data);
    if (fy_launch_blocking()) fy_mode_emit(NULL, "launch_blocking", true);
}

/* ---- start ---- */

/* The descriptor in FERRY_LOG_FD, inherited from the parent process; -1 if it is not a log. */
static int inherited_log(const char *text)
{
    char *end, message[256];
    long fd = strtol(text, &end, 10);
    if (!*end && fd > 2 && fd < 1 << 20 && fy_log_is_log((int)fd)) {
        fcntl((int)fd, F_SETFD, FD_CLOEXEC);
        setvbuf(stdout, NULL, _IOLBF, 0); /* so that output before a crash reaches the runner */
        return (int)fd;
    }
    snprintf(message, sizeof message, "FERRY_LOG_FD=%.40s is not an open Ferry log; unset it. Nothing is recorded",
             text);
    print_message(message);
    return -1;
}

/* Opens the log that the environment asks for; -1 if none or after an error. */
static int open_descriptor(char *err, size_t room)
{
    char fd_text[48];
    const char *fd = getenv("FERRY_LOG_FD"), *file = getenv("FERRY_TRACE");
    if (fd && *fd) {
        snprintf(fd_text, sizeof fd_text, "%s", fd);
        unsetenv("FERRY_LOG_FD"); /* child processes must not write to the same log */
        return inherited_log(fd_text);
    }
    if (file && *file) return fy_trace_open(file, err, room);
    if (fy_setting_is_on("FERRY_NARRATE") || fy_setting_is_on("FERRY_VIEW")) return fy_log_file(NULL, 0, err, room);
    return -1;
}

static bool open_log(int fd, char *err, size_t room)
{
    bool open = fy_log_adopt(fd, err, room);
    unsetenv("FERRY_LOG_PID");
    close(fd); /* the mapping stays valid */
    if (open) fy_results_configure();
    if (!open) fy_trace_forget(true);
    return open;
}

static void start_viewer(void)
{
    if (!fy_setting_is_on("FERRY_VIEW")) return;
    if (!viewer_hooks) {
        print_message("FERRY_VIEW is set, but this program is not linked with the viewer; link it with "
                      "`pkg-config --libs ferry` to see it in the browser");
        return;
    }
    int pid = viewer_hooks->start(fy_log_of_process()->fd, program_invocation_short_name);
    if (pid > 0) viewer = pid;
    forks = 0;
}

static void at_exit(int status, void *unused);
static void open_session(void);
static void before_fork(void)
{
    if (prepared && atomic_load(&state) == RUNNING) open_session(); /* the child names the parent's last event */
    forked_as = atomic_fetch_add(&forks, 1) + 1;
}
static void in_child(void);

static void prepare(void)
{
    int idle = IDLE;
    char err[512] = "";
    if (!atomic_compare_exchange_strong(&state, &idle, RUNNING)) return;
    int fd = open_descriptor(err, sizeof err);
    if (fd < 0 || !open_log(fd, err, sizeof err)) {
        if (*err) print_message(err);
        return;
    }
    if (fy_setting_is_on("FERRY_NARRATE")) {
        atomic_store(&narrator, fy_narrator_of(fy_log_of_process()));
        if (!atomic_load(&narrator)) print_message("out of memory: FERRY_NARRATE=1 has no effect on this run");
    }
    on_exit(at_exit, NULL); /* forked children inherit both handlers, and never start a second time */
    pthread_atfork(before_fork, NULL, in_child);
    start_viewer(); /* forks: must come before anything that may start a thread */
    fy_segv_handler_start();
    prepared = true;
}

static void open_once(void)
{
    prepare();
    atomic_store(&opening, true);
    warn_unknown_variables();
    if (!prepared) return;
    emit_session();
    const char *why = fy_dev_why_not_real();
    if (viewer > 0) viewer_hooks->why(why ? why : "");
}

static void open_session(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local bool inside; /* a bad setting ends the program there: an exit handler may call Ferry */
    if (inside) return;
    inside = true;
    pthread_once(&once, open_once);
    inside = false;
}

static void start(void)
{
    int now = atomic_load(&state);
    if (now == IDLE || now == RUNNING) open_session();
}

/* The program crashed before its first call: nothing is known of the devices, and nothing may be allocated. */
void fy_session_crashed(void)
{
    if (!prepared || atomic_exchange(&opening, true) || atomic_load(&state) != RUNNING) return;
    FY_EMIT(NULL, session, .schema = FY_SCHEMA_VERSION, .ferry = fy_ref_str(FERRY_VERSION),
            .program = fy_ref_str(program_invocation_short_name), .args = fy_ref_bytes("[]", 2), .clock = FY_WORD_model,
            .devices = fy_ref_bytes("[]", 2), .language = fy_ref_str("C"), .rank = FY_ABSENT, .ranks = FY_ABSENT);
}

static bool start_late(void)
{
    int now = atomic_load_explicit(&state, memory_order_relaxed);
    if (now == RUNNING || now == OVER) return false;
    if (now == IDLE) start();
    if (now == FORKED && atomic_compare_exchange_strong(&state, &now, RUNNING)) {
        char err[512] = "";
        int fd = fy_trace_open(fy_trace_path(), err, sizeof err);
        if (fd >= 0 && open_log(fd, err, sizeof err)) emit_session();
        else print_message(err);
    }
    return fy_log_of_process() != NULL;
}

void fy_session_viewer(const fy_viewer_hooks *hooks) { viewer_hooks = hooks; }
void fy_session_narrate_on_stdout(void) { narrates_on_stdout = true; }
void fy_session_none(void) { atomic_store(&state, OVER); }

/* ---- narration ---- */

static bool is_narrating(void) { return atomic_load(&narrator) != NULL; }

static void flush_narration(void)
{
    fy_narrator *n = atomic_load(&narrator);
    if (!n) return;
    fflush(stdout); /* keep the order of stdout and stderr */
    bool told = fy_narrate_to(n, narrates_on_stdout ? stdout : stderr);
    fflush(stdout); /* what was told is not lost in a crash */
    if (!told) print_message("out of memory: the narration is incomplete");
}

/* ---- fork ---- */

static void in_child(void)
{
    if (atomic_load(&state) != RUNNING || !fy_log_of_process()) return;
    parent_seq = fy_log_count(fy_log_of_process());
    fy_log_forked();
    atomic_store(&narrator, NULL); /* not freed: another thread of the parent may have held its mutex */
    viewer = 0;
    fy_trace_forked(forked_as);
    forks = 0;
    atomic_store(&state, fy_trace_path() ? FORKED : OVER);
}

/* ---- end ---- */

static volatile sig_atomic_t is_ending;

/* A stopped viewer ends as well. */
static void end_viewer(int signal_number)
{
    int error = errno;
    kill(viewer, signal_number);
    kill(viewer, SIGCONT);
    is_ending = 1;
    errno = error;
}

/* Until its page is closed, or for Ctrl-C or SIGTERM, which are passed on to it, so that the exit status stays the
 * program's. One that does not end then, as under a debugger, is left behind. */
static void wait_for_viewer(void)
{
    enum { LOOK_MS = 20, ENDING_MS = 2000 };
    uint64_t started = fy_process_started(viewer);
    signal(SIGINT, end_viewer);
    signal(SIGTERM, end_viewer);
    for (int left = ENDING_MS; started && fy_process_started(viewer) == started; usleep(LOOK_MS * 1000)) {
        if (is_ending) left -= LOOK_MS;
        if (left > 0) continue;
        fprintf(stderr, "ferry: the viewer does not end; `kill -9 %d` ends it\n", (int)viewer);
        return;
    }
}

/* A log whose file was cut is reported by fy_trace_write. */
static void report_full_log(fy_log *log)
{
    unsigned long long lost = fy_log_lost(), full = atomic_load(&log->head->full);
    char why[200];
    if (!lost || !full || fy_log_is_truncated(log)) return;
    fprintf(stderr,
            "ferry: the log of this run is full: it has the first %llu events, the last %llu are not recorded; %s\n",
            full - 1, lost, fy_log_why_full(why, sizeof why));
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    fy_log *log = fy_log_of_process();
    if (atomic_load(&state) != RUNNING || !log) return;
    fy_lane_forget();                           /* a loader's workers make no more events */
    if (!atomic_load(&opening)) open_session(); /* the program made no call */
    if (!opened) {                              /* a setting was rejected before the first event: nothing has run */
        fy_log_end();
        atomic_store(&state, OVER);
        fy_trace_forget(true);
        if (viewer > 0) kill(viewer, SIGTERM);
        return;
    }

    FY_EMIT(NULL, end, .status = status, .live = fy_live_storages());
    fy_log_end();
    atomic_store(&state, OVER);
    fy_narrate_flush();
    report_full_log(log);
    fy_trace_write(log);
    if (viewer <= 0) return;
    fflush(stdout);
    wait_for_viewer();
}

/* ---- before main ---- */

const int fy_session_linked =
    1; /* referenced by ferry.h: the linker then takes this object with a program's first call */

/* Before the program's own constructors. */
__attribute__((constructor(101))) static void hook_in(void)
{
    static const fy_session_hooks hooks = {start,        start_late,      fy_session_none,
                                           is_narrating, flush_narration, fy_segv_handler_start};
    fy_session_hook(&hooks);
}

/* After the constructor of lesson_program.c (101), which sets the environment. */
__attribute__((constructor(102))) static void before_main(int argc, char **argv)
{
    argc_ = argc;
    argv_ = argv;
    if (fy_setting_is_on("FERRY_LOG_FD") || fy_setting_is_on("FERRY_TRACE") || fy_setting_is_on("FERRY_VIEW") ||
        fy_setting_is_on("FERRY_NARRATE"))
        prepare();
}
