/* grader_process.c: the child reads the log, runs the lesson's check, appends the verdict to the log, and passes its
 * result to the parent in shared memory. */
#define _GNU_SOURCE 1

#include "grader_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "descriptors.h"
#include "log.h"
#include "own_check.h"

enum { TIME_LIMIT = 30 }; /* seconds; a check takes milliseconds */

static void copy_text(const fy_event *e, fy_ref ref, char *to, size_t room)
{
    char *clean = utf8_copy(fy_event_bytes(e, ref));
    snprintf(to, room, "%s", clean);
    free(clean);
}

/* What is reported of every run, graded or not. */
static void summarize(const trace *run, judgement *j)
{
    j->events = run->count;
    j->last_line = -1;
    j->last_seq = -1;
    for (int i = 0; i < run->count; i++) {
        const fy_event *e = &run->events[i];
        if (e->line) j->last_line = (int)e->line, j->last_seq = (int64_t)e->seq;
        if (e->kind != FY_KIND_error) continue;
        copy_text(e, e->is.error.code, j->error.code, sizeof j->error.code);
        copy_text(e, e->is.error.message, j->error.message, sizeof j->error.message);
        copy_text(e, e->is.error.hint, j->error.hint, sizeof j->error.hint);
        j->error.line = e->line ? (int)e->line : -1;
        j->error.seq = (int64_t)e->seq;
    }
}

/* Runs the lesson's check; false, with j->trouble, if there is none. */
static bool grade_trace_of(const trace *run, const char *lesson, const char *own, uint64_t seed, const char *given,
                           judgement *j)
{
    if (!own) return grade_run(lesson, run, seed, given, &j->verdict, j->trouble, sizeof j->trouble);
    const lesson_check *l = own_check_load(own, lesson, j->trouble, sizeof j->trouble);
    if (l) grade_run_by(l, run, seed, given, &j->verdict);
    return l != NULL;
}

static void grade_log(int fd, const char *lesson, const char *own, uint64_t seed, const char *given, judgement *j)
{
    trace run;
    fy_log *log = fy_log_open(fd, j->trouble, sizeof j->trouble);
    j->spoiled = !log && !fy_log_is_log(fd); /* it was a log when the program started */
    if (!log) return;
    fy_log_writer_died(log);
    trace_of_log(&run, log);
    summarize(&run, j);
    j->spoiled = fy_log_is_truncated(log);
    j->judged = !j->spoiled && lesson && grade_trace_of(&run, lesson, own, seed, given, j);
    trace_free(&run);
    if (!j->judged) {
        fy_log_close(log);
        return;
    }
    fy_log_write_to(log);
    grade_emit(lesson, &j->verdict);
}

/* Ends by _exit: exit handlers belong to the parent. */
static _Noreturn void run_child(int fd, const char *lesson, const char *own, uint64_t seed, const char *given,
                                const judging *g)
{
    static judgement result; /* copied to the parent only once it is complete */
    descriptors_close_except((const int[]){0, 1, 2, fd, g->failed[1]}, 5);
    signal(SIGALRM, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(TIME_LIMIT);
#ifdef __GLIBC__ /* a check allocates and frees much: from the heap, not from fresh zeroed pages each time */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    grade_log(fd, lesson, own, seed, given, &result);
    result.ended = true;
    *g->shared = result;
    if (!result.judged || !result.verdict.pass) (void)!write(g->failed[1], "", 1);
    _exit(0);
}

judging judge_begin(int log_fd, const char *lesson, const char *own, uint64_t seed, const char *given,
                    const char *cards)
{
    judging g = {.pid = -1};
    g.shared = mmap(NULL, sizeof *g.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (g.shared == MAP_FAILED) g.shared = NULL;
    else if (pipe2(g.failed, O_CLOEXEC) == 0) g.pid = fork();
    if (g.pid < 0) g.why_not = errno;
    if (g.pid == 0) {
        grade_expect_cards(cards);
        run_child(log_fd, lesson, own, seed, given, &g);
    }
    return g;
}

bool judge_is_done(const judging *g, int milliseconds)
{
    const int fd = g->pid > 0 ? (int)syscall(SYS_pidfd_open, g->pid, 0) : -1;
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    const bool done = g->pid <= 0 || (fd >= 0 && poll(&ended, 1, milliseconds) == 1);
    if (fd >= 0) close(fd);
    return done;
}

bool judge_has_failed(const judging *g)
{
    struct pollfd failed = {.fd = g->failed[0], .events = POLLIN};
    return g->pid > 0 && poll(&failed, 1, 0) == 1;
}

static int wait_for(judging *g)
{
    int status = 0;
    while (g->pid > 0 && waitpid(g->pid, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

static void forget(judging *g)
{
    if (g->shared) munmap(g->shared, sizeof *g->shared);
    if (g->failed[1]) close(g->failed[0]), close(g->failed[1]);
    *g = (judging){0};
}

void judge_end(judging *g, judgement *out)
{
    *out = (judgement){.last_line = -1, .last_seq = -1};
    const int status = wait_for(g);
    if (g->pid < 0)
        snprintf(out->trouble, sizeof out->trouble, "cannot start the grading process: %s", strerror(g->why_not));
    else *out = *g->shared;
    if (g->pid > 0 && (status || !out->ended)) {
        out->judged = false;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
            snprintf(out->trouble, sizeof out->trouble, "the check itself did not end within %d s", TIME_LIMIT);
        else if (WIFSIGNALED(status))
            snprintf(out->trouble, sizeof out->trouble, "the check itself crashed (%s)", strsignal(WTERMSIG(status)));
        else snprintf(out->trouble, sizeof out->trouble, "the check itself ended with status %d", WEXITSTATUS(status));
    }
    if (!verdict_is_named(&out->verdict)) out->verdict = (verdict){0};
    forget(g);
}

void judge_cancel(judging *g)
{
    if (g->pid > 0) kill(g->pid, SIGKILL);
    wait_for(g);
    forget(g);
}
