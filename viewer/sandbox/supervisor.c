/* supervisor.c: the process between Ferry and a learner's program. It starts the program, enforces the
 * limits, stores the output and kills every descendant. Where it can (isolation.c), the program lives in a namespace of
 * processes, which its keeper holds open: who kills the keeper kills all in it, and the keeper ends with the
 * supervisor. Elsewhere the supervisor is their subreaper: orphans become its children, so none is left once it has no
 * child any more.
 *
 * Forked from a process that may have threads: async-signal-safe, without malloc or stdio. */
#define _GNU_SOURCE 1 /* pipe2, execvpe */

#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "descriptors.h"
#include "hidden.h"
#include "isolation.h"

/* A sanitizer maps terabytes of shadow memory. Programs are built with the same sanitizer as this file. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define HAS_SHADOW
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SHADOW
#endif
#endif

typedef struct watch {
    const child_options *options;
    child_report *f;
    pid_t program, keeper;       /* keeper: 0 without a namespace */
    int control, output, exited; /* exited: a pidfd, or -1 on old kernels, where polling detects the exit */
    int begins;                  /* of a pipe that closes when the program is executed; -1: it was */
    size_t page;
    double started, counted;  /* counted: time of the last process_tree_of */
    unsigned system_at_start; /* processes in the system */
} watch;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned system_processes(void)
{
    struct sysinfo s;
    return sysinfo(&s) == 0 ? s.procs : 0;
}

/* ---- the program's side ------------------------------------------------------------------------ */

static void limit(int what, rlim_t value)
{
    struct rlimit r;
    if (getrlimit((__rlimit_resource_t)what, &r) != 0) return;
    if (r.rlim_max < value) value = r.rlim_max;
    r.rlim_cur = r.rlim_max = value;
    setrlimit((__rlimit_resource_t)what, &r);
}

/* Kernel limits behind the supervisor's polling, for what happens between two polls. RLIMIT_AS would break
 * the reserved mapping of a card's memory. */
static void set_limits(const child_limits *l, unsigned processes)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, (rlim_t)l->file);
    limit(RLIMIT_CPU, (rlim_t)(l->seconds * 16) + 2);
#ifndef HAS_SHADOW
    limit(RLIMIT_DATA, (rlim_t)l->memory + ((rlim_t)1 << 30));
#endif
    /* RLIMIT_NPROC counts all of the user's threads: allow as many as the system has now, and more. */
    if (geteuid() != 0) limit(RLIMIT_NPROC, processes + 4 * (rlim_t)l->processes);
}

static void clear_signals(void)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    for (int s = 1; s < 32; s++)
        if (s != SIGKILL && s != SIGSTOP) sigaction(s, &plain, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Another user's: without the caller's groups, without network where that can be had, and for good. */
static bool become(unsigned user)
{
    unshare(CLONE_NEWNET);
    return setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0 &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* Root may write into any process, Ferry's among them, by this one right: its program does not have it, nor does
 * whatever that starts. */
static void keep_out_of_others(void)
{
    struct __user_cap_header_struct of = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct all[_LINUX_CAPABILITY_U32S_3];
    prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0);
    if (syscall(SYS_capget, &of, all) != 0) return;
    struct __user_cap_data_struct *low = &all[CAP_TO_INDEX(CAP_SYS_PTRACE)];
    low->effective &= ~CAP_TO_MASK(CAP_SYS_PTRACE);
    low->permitted &= ~CAP_TO_MASK(CAP_SYS_PTRACE);
    low->inheritable &= ~CAP_TO_MASK(CAP_SYS_PTRACE);
    syscall(SYS_capset, &of, all);
}

/* The log names its writer as others see it: the program's own number may be that in its namespace. */
static void tell_own_number(char *entry)
{
    char *number = entry + strlen("FERRY_LOG_PID=");
    ssize_t n = readlink("/proc/self", number, 16);
    number[n > 0 ? n : 0] = '\0';
}

static void exec_program(const child_options *o, char *const *envp, child_report *f, int output, bool is_kept)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setsid();
    if (o->log_fd >= 0) tell_own_number(envp[0]);
    bool may_run =
        !o->as_user || !o->hidden || hide_folders(o->hidden); /* before /tmp, where they may lie, is covered */
    if (is_kept) isolation_enter(o);
    keep_out_of_others();
    if (!is_kept) isolation_scope_signals();
    may_run = may_run && (!o->as_user || become(o->as_user));
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user would undo it */
    if (getppid() == 1) _exit(127);   /* the supervisor ended before prctl; its number is 0 from within a namespace */
    dup2(nothing, 0), dup2(output, 1), dup2(output, 2);
    if (o->log_fd >= 0) fcntl(o->log_fd, F_SETFD, 0);
    set_limits(&o->limits, system_processes());
    if (may_run && (!o->folder || chdir(o->folder) == 0))
        execvpe(o->argv[0], (char *const *)(const void *)o->argv, envp);
    f->no_start = errno;
    _exit(127);
}

/* ---- the supervisor's side ------------------------------------------------------------------------- */

static void read_output(watch *w)
{
    char chunk[65536];
    for (ssize_t n; w->output >= 0 && (n = read(w->output, chunk, sizeof chunk)) != -1;) {
        if (n == 0) {
            close(w->output);
            w->output = -1;
            return;
        }
        size_t fits = OUTPUT_KEPT - 1 - w->f->kept;
        if ((size_t)n < fits) fits = (size_t)n;
        memcpy(w->f->output + w->f->kept, chunk, fits);
        w->f->kept += fits;
        w->f->printed += (size_t)n;
        if (w->f->printed > w->options->limits.output) return;
    }
}

/* Until then it is a copy of this process, which has all the memory of who called Ferry. */
static bool has_begun(watch *w)
{
    char nothing;
    if (w->begins < 0) return true;
    if (read(w->begins, &nothing, 1) != 0) return false;
    close(w->begins);
    w->begins = -1;
    return true;
}

/* Counting reads all of /proc, so it is done every 0.25 s, and at once when the system has many more
 * processes than at the start. */
static bool too_large(watch *w, child_end *end)
{
    const child_limits *l = &w->options->limits;
    size_t used, mapped;
    process_memory(w->program, w->page, &used, &mapped);
#ifdef HAS_SHADOW
    mapped = 0;
#endif
    *end = CHILD_MEMORY;
    if (used > l->memory || mapped > l->memory) return true;
    if (now() - w->counted < 0.25 && system_processes() < w->system_at_start + 16) return false;
    process_tree all = process_tree_of(getpid(), w->keeper, w->page, l->memory, l->processes);
    w->counted = now();
    if (all.memory > l->memory) return true;
    *end = CHILD_DISK;
    if (all.written > l->disk) return true;
    *end = CHILD_FORKS;
    return all.count > l->processes;
}

/* Polls the reasons to end the program once. */
static bool must_end(watch *w, child_end *end)
{
    struct pollfd hung = {.fd = w->control, .events = POLLIN};
    *end = CHILD_STOPPED;
    if (poll(&hung, 1, 0) > 0) return true;
    *end = CHILD_TIME;
    if (now() - w->started > w->options->limits.seconds) return true;
    *end = CHILD_OUTPUT;
    if (w->f->printed > w->options->limits.output) return true;
    return has_begun(w) && too_large(w, end);
}

/* Waits until the program exits (true, with its status) or must be ended (false, with the reason). */
static bool watch_program(watch *w, int *status, child_end *end)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = w->output, .events = POLLIN},
                               {.fd = w->exited, .events = POLLIN},
                               {.fd = w->control, .events = POLLIN}};
        poll(fds, 3, 20);
        read_output(w);
        if (waitpid(w->program, status, WNOHANG) == w->program) return true;
        if (must_end(w, end)) return false;
    }
}

/* The keeper has ended once all in its namespace have. As their subreaper, it has ended every descendant once no child
 * is left to wait for. SIGSTOP before SIGKILL keeps a fork bomb from outrunning the list. */
static void kill_descendants(const watch *w)
{
    double until = now() + 10;
    kill(w->keeper ? w->keeper : -w->program, SIGKILL);
    while (now() < until) {
        while (waitpid(-1, NULL, WNOHANG) > 0) continue;
        if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD) return;
        if (!w->keeper) process_tree_signal(getpid(), SIGSTOP);
        if (w->keeper || process_tree_signal(getpid(), SIGKILL) == 0) poll(NULL, 0, 1);
    }
}

static void supervise(watch *w)
{
    child_report *f = w->f;
    int status = 0;
    bool ended = watch_program(w, &status, &f->end);
    f->seconds = now() - w->started;
    if (ended) read_output(w);
    kill_descendants(w);
    if (!ended) read_output(w);
    if (!ended) return;
    bool signalled = WIFSIGNALED(status);
    f->end = signalled ? CHILD_SIGNALLED : CHILD_EXITED;
    f->code = signalled ? WTERMSIG(status) : WEXITSTATUS(status);
    if (signalled && f->code == SIGXCPU) f->end = CHILD_TIME;
    if (process_written(getpid()) > w->options->limits.disk) f->end = CHILD_DISK; /* since the last count */
    if (!f->no_start) return;
    f->end = CHILD_START_FAILED;
    f->code = f->no_start;
}

_Noreturn void supervisor_main(const child_options *o, char *const *envp, child_report *f, int control, int alive)
{
    int ends[2], begin[2];
    setsid();
    clear_signals();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    descriptors_close_except((const int[]){control, alive, o->log_fd < 0 ? control : o->log_fd}, 3);
    while (open("/dev/null", O_RDWR) >= 0 && fcntl(2, F_GETFD) < 0) continue;
    if (pipe2(ends, O_CLOEXEC) != 0) _exit(1);
    watch w = {o, f, 0, 0, control, ends[0], -1, -1, (size_t)sysconf(_SC_PAGESIZE), now(), now(), system_processes()};
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    w.keeper = isolation_begin(o, ends[1]);
    if (pipe2(begin, O_CLOEXEC | O_NONBLOCK) != 0) _exit(1);
    w.begins = begin[0];
    w.program = fork();
    if (w.program == 0) exec_program(o, envp, f, ends[1], w.keeper > 0);
    if (w.program < 0) _exit(1);
    f->program = w.program;
    close(ends[1]);
    close(begin[1]);
#ifdef SYS_pidfd_open
    w.exited = (int)syscall(SYS_pidfd_open, w.program, 0);
#endif
    supervise(&w);
    f->finished = 1;
    _exit(0);
}
