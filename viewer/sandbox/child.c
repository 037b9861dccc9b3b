/* child.c: the caller's side of running a program: prepare, fork the supervisor, wait, report. */
#define _GNU_SOURCE 1 /* pipe2 */

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isolation.h"
#include "supervisor.h"
#include "memory.h"

child_limits child_default_limits(void)
{
    return (child_limits){.seconds = 10,
                          .memory = (size_t)2 << 30,
                          .disk = (size_t)2 << 30,
                          .output = (size_t)64 << 20,
                          .processes = 64,
                          .file = (size_t)1 << 30};
}

static child_limits with_defaults(child_limits l)
{
    child_limits d = child_default_limits();
    if (l.seconds <= 0) l.seconds = d.seconds;
    if (!l.memory) l.memory = d.memory;
    if (!l.disk) l.disk = d.disk;
    if (!l.output) l.output = d.output;
    if (!l.processes) l.processes = d.processes;
    if (!l.file) l.file = d.file;
    return l;
}

/* What compilers, the loader, OpenBLAS and sanitizers read; nothing here is a secret, as a token in another may be. */
static const char *const names_needed[] = {
    "PATH=",
    "LANG=",
    "LANGUAGE=",
    "LC_",
    "LD_LIBRARY_PATH=",
    "LIBRARY_PATH=",
    "COMPILER_PATH=",
    "GCC_EXEC_PREFIX=",
    "OPENBLAS_",
    "OMP_NUM_THREADS=",
    "ASAN_OPTIONS=",
    "LSAN_OPTIONS=",
    "TSAN_OPTIONS=",
    "UBSAN_OPTIONS=",
};

/* Does the program get this of the caller's? Ferry's own settings only `extra` may set. */
static bool is_inherited(const char *entry, bool all)
{
    static const char visible[] = "CUDA_VISIBLE_DEVICES=";
    if (!strncmp(entry, "FERRY_", 6) || !strncmp(entry, visible, sizeof visible - 1)) return false;
    for (size_t i = 0; !all && i < sizeof names_needed / sizeof *names_needed; i++)
        if (!strncmp(entry, names_needed[i], strlen(names_needed[i]))) return true;
    return all;
}

/* `extra`, then the caller's environment without Ferry's own settings, then what the options ask for. One block to
 * free. */
static char **make_environment(const child_options *o)
{
    extern char **environ;
    const char *const *extra = o->env;
    enum { LINE = 32 };
    size_t n = 0, k = 0, room = 2 * LINE + (o->temporary ? 2 * strlen(o->temporary) + 16 : 0);
    while (environ[n]) n++;
    while (extra && extra[k]) k++;
    char **out = memory_realloc(NULL, (n + k + 5) * sizeof *out + room, 1, "the environment of a program");
    size_t to = 0;
    char *writer = (char *)(out + n + k + 5), *log = writer + LINE, *temporary = log + LINE;
    if (o->log_fd >= 0) {
        snprintf(writer, LINE, "FERRY_LOG_PID=");
        snprintf(log, LINE, "FERRY_LOG_FD=%d", o->log_fd);
        out[to++] = writer; /* the first: the program completes it */
        out[to++] = log;
    }
    for (size_t i = 0; i < k; i++) out[to++] = (char *)(size_t)extra[i]; /* getenv takes the first of a name */
    for (size_t i = 0; i < n; i++)
        if (is_inherited(environ[i], !o->temporary)) out[to++] = environ[i];
    if (o->temporary) {
        char *user = temporary + snprintf(temporary, room - 2 * LINE, "TMPDIR=%s", o->temporary) + 1;
        snprintf(user, strlen(o->temporary) + 6, "HOME=%s", o->temporary);
        out[to++] = temporary;
        out[to++] = user;
    }
    out[to] = NULL;
    return out;
}

static void wait_for_supervisor(pid_t supervisor, int alive, int *control, const child_options *o, child_report *f)
{
    int stop_fd = o->stop_fd, or_stop_fd = o->or_stop_fd > 0 ? o->or_stop_fd : -1;
    for (;;) {
        struct pollfd fds[] = {
            {.fd = alive, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}, {.fd = or_stop_fd, .events = POLLIN}};
        int n = poll(fds, 3, 500);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) { /* the program may have stopped its supervisor instead of killing it */
            int status;
            bool changed = waitpid(supervisor, &status, WNOHANG | WUNTRACED) == supervisor;
            if (changed && WIFSTOPPED(status)) kill(supervisor, SIGKILL);
            continue;
        }
        if (fds[0].revents) break;
        if (*control >= 0) close(*control); /* the hang-up makes the supervisor kill all processes and exit */
        *control = stop_fd = or_stop_fd = -1;
    }
    while (waitpid(supervisor, NULL, 0) < 0 && errno == EINTR) continue;
    if (!f->finished && f->program > 0) kill(-f->program, SIGKILL);
}

static bool run_under_supervisor(const child_options *o, char **envp, child_report *f, char *err, size_t room)
{
    int control[2], alive[2];
    if (pipe2(control, O_CLOEXEC) != 0) {
        snprintf(err, room, "cannot create a pipe to run the program: %s", strerror(errno));
        return false;
    }
    if (pipe2(alive, O_CLOEXEC) != 0) {
        snprintf(err, room, "cannot create a pipe to run the program: %s", strerror(errno));
        close(control[0]), close(control[1]);
        return false;
    }
    pid_t supervisor = fork();
    if (supervisor == 0) supervisor_main(o, envp, f, control[0], alive[1]);
    close(control[0]), close(alive[1]);
    if (supervisor > 0) wait_for_supervisor(supervisor, alive[0], &control[1], o, f);
    else snprintf(err, room, "cannot fork to run the program: %s", strerror(errno));
    if (control[1] >= 0) close(control[1]);
    close(alive[0]);
    return supervisor > 0;
}

bool child_run(const child_options *given, child_result *r, char *err, size_t room)
{
    child_options o = *given;
    o.limits = with_defaults(o.limits);
    memset(r, 0, sizeof *r);
    child_report *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char **envp = make_environment(&o);
    bool ok = f != MAP_FAILED && envp;
    /* From the first program with a log on, no process of the same user writes into this one, which is to judge it, nor
     * into those that it forks. Programs are executed: they can be debugged, and dump their core. */
    if (o.log_fd >= 0) prctl(PR_SET_DUMPABLE, 0);
    if (ok) ok = run_under_supervisor(&o, envp, f, err, room);
    else snprintf(err, room, "no memory left to run the program");
    if (ok) {
        r->end = f->finished ? f->end : f->program > 0 ? CHILD_ENDED_SUPERVISOR : CHILD_START_FAILED;
        r->code = f->finished ? f->code : f->program > 0 ? 0 : EAGAIN;
        r->seconds = f->seconds;
        r->kept = f->kept < OUTPUT_KEPT ? f->kept : OUTPUT_KEPT - 1;
        r->printed = f->printed;
        r->output = memory_realloc(NULL, r->kept + 1, 1, "what the program printed");
        memcpy(r->output, f->output, r->kept);
        r->output[r->kept] = '\0';
    }
    if (f != MAP_FAILED) munmap(f, sizeof *f);
    free(envp);
    return ok;
}

static bool can(bool (*what)(void))
{
    int status = 1;
    pid_t pid = fork();
    if (pid == 0) _exit(what() ? 0 : 1);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return pid > 0 && status == 0;
}

static bool unplug(void) { return unshare(CLONE_NEWNET) == 0; }
static bool isolate(void) { return isolation_unshare(geteuid() == 0); }

bool child_can_unplug(void) { return can(unplug); }
bool child_can_isolate(void) { return can(isolate); }

/* ---- messages ---------------------------------------------------------------------------------- */

static const struct {
    int signal;
    const char *words, *hint;
} signals[] = {
    {SIGSEGV, "the program crashed: invalid memory access (segmentation fault)",
     "look for a NULL pointer, an index past the end, or a tensor that was freed"},
    {SIGBUS, "the program crashed: it accessed memory that does not exist (bus error)",
     "look for a pointer into memory that was freed"},
    {SIGFPE, "the program crashed: it divided an integer by zero", "look for / and % with a divisor that can be 0"},
    {SIGABRT, "the program aborted",
     "see the end of its output: a failed assert, or a heap corrupted by a write past the end of an allocation"},
    {SIGILL, "the program crashed: illegal instruction",
     "look for a function without a return, or a call through a wild pointer"},
    {SIGKILL, "the program was killed", "look for kill(); without one, the system may have run out of memory"},
    {SIGPIPE, "the program wrote to a closed pipe or socket", "look for a pipe or socket that it opened"},
    {SIGXFSZ, "the program wrote a file that is too large, and was stopped",
     "look for a write in a loop that never ends"},
    {SIGTRAP, "the program stopped at a trap instruction", "look for a breakpoint instruction"},
};

static void signal_words(int signal, char *words, size_t room, char *hint, size_t hint_room)
{
    snprintf(words, room, "the program was ended by signal %d (%s)", signal, strsignal(signal));
    snprintf(hint, hint_room, "run it again in gdb; FERRY_GIVEN must hold the lesson's inputs, as in lesson.json");
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (signals[i].signal != signal) continue;
        snprintf(words, room, "%s", signals[i].words);
        snprintf(hint, hint_room, "%s", signals[i].hint);
    }
}

void child_describe(const child_result *r, const child_limits *given, char *words, size_t room, char *hint,
                    size_t hint_room)
{
    child_limits l = with_defaults(*given);
    *words = *hint = '\0';
    switch (r->end) {
    case CHILD_EXITED:
        if (!r->code) break;
        snprintf(words, room, "the program ended with exit status %d", r->code);
        snprintf(hint, hint_room, "see the end of its output; main returns 0 on success");
        break;
    case CHILD_SIGNALLED: signal_words(r->code, words, room, hint, hint_room); break;
    case CHILD_TIME:
        snprintf(words, room, "the program was still running after %g s and was stopped", l.seconds);
        snprintf(hint, hint_room, "look for a loop that never ends");
        break;
    case CHILD_MEMORY:
        snprintf(words, room, "the program took more than %zu MiB of memory and was stopped", l.memory >> 20);
        snprintf(hint, hint_room, "look for an allocation in a loop that never ends");
        break;
    case CHILD_DISK:
        snprintf(words, room, "the program wrote more than %zu MiB to disk and was stopped", l.disk >> 20);
        snprintf(hint, hint_room, "look for a write in a loop that never ends");
        break;
    case CHILD_OUTPUT:
        snprintf(words, room, "the program printed more than %zu MiB and was stopped", l.output >> 20);
        snprintf(hint, hint_room, "look for a print in a loop that never ends");
        break;
    case CHILD_FORKS:
        snprintf(words, room, "the program had more than %d processes and was stopped", l.processes);
        snprintf(hint, hint_room, "look for fork() or system() in a loop; a lesson needs neither");
        break;
    case CHILD_STOPPED:
        snprintf(words, room, "the run was stopped");
        snprintf(hint, hint_room, "a newer save or Ctrl-C cancelled it");
        break;
    case CHILD_ENDED_SUPERVISOR:
        snprintf(words, room, "the program killed or stopped its supervisor process");
        snprintf(hint, hint_room, "look for kill(); a lesson needs none");
        break;
    case CHILD_START_FAILED:
        snprintf(words, room, "the program could not be started: %s", strerror(r->code));
        snprintf(hint, hint_room, "save the file again, or check the permissions of the folder it was built in");
        break;
    }
}
