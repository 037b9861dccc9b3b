/* grader_process.c: the grading process. It reads the log, judges by the lesson's check, appends the verdict to
 * the log, and leaves its findings in memory shared with the caller. */
#define _GNU_SOURCE 1

#include "grader_process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "memory.h"

enum { SECONDS = 30 }; /* no check needs as many */

static void note_error(judgement *j, const cJSON *e)
{
    snprintf(j->error.code, sizeof j->error.code, "%s", event_text(e, "code"));
    snprintf(j->error.message, sizeof j->error.message, "%s", event_text(e, "message"));
    snprintf(j->error.hint, sizeof j->error.hint, "%s", event_text(e, "hint"));
    j->error.line = (int)event_int(e, "line");
    j->error.seq = event_seq(e);
}

static void read_events(judgement *j, const fy_text *lines)
{
    trace t = {0};
    char err[256];
    j->last_line = -1;
    if (!trace_parse(&t, lines->data ? lines->data : "", lines->size, err, sizeof err)) return;
    j->events = t.count;
    for (int i = 0; i < t.count; i++) {
        int line = (int)event_int(t.events[i], "line");
        if (line > 0) j->last_line = line;
        if (!strcmp(event_kind(t.events[i]), "error")) note_error(j, t.events[i]);
    }
    trace_free(&t);
}

static void look(int fd, const char *lesson, uint64_t seed, const char *given, judgement *j)
{
    fy_text lines = {0};
    uint64_t cursor = 0;
    fy_log *log = fy_log_open(fd, j->trouble, sizeof j->trouble);
    j->spoiled = !log && !fy_log_is_log(fd); /* it was one when the program began */
    if (!log) return;
    fy_log_writer_gone(log);
    while (cursor <= TRACE_MOST && fy_log_read(log, &cursor, &lines, lines.size + (1 << 20)) > 0) continue;
    if (lines.lost) memory_fail("the lines of a log");
    read_events(j, &lines);
    j->spoiled = fy_log_is_cut(log);
    j->judged = !j->spoiled && lesson &&
                grade_lines(lesson, lines.data ? lines.data : "", lines.size, seed, given, &j->verdict, j->trouble,
                            sizeof j->trouble);
    free(lines.data);
    if (!j->judged) {
        fy_log_close(log);
        return;
    }
    fy_log_write_to(log);
    grade_emit(lesson, &j->verdict);
}

/* The process ends without exit handlers: whoever forked it has them. */
static _Noreturn void be_judge(int fd, const char *lesson, uint64_t seed, const char *given, judgement *shared)
{
    static judgement mine; /* shared only when it is whole */
    signal(SIGALRM, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(SECONDS);
    look(fd, lesson, seed, given, &mine);
    *shared = mine;
    _exit(0);
}

static void say_crash(judgement *out, int status)
{
    out->judged = false;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(out->trouble, sizeof out->trouble, "the check itself did not end within %d s", SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(out->trouble, sizeof out->trouble, "the check itself crashed (%s)", strsignal(WTERMSIG(status)));
    else snprintf(out->trouble, sizeof out->trouble, "the check itself ended with status %d", WEXITSTATUS(status));
}

void judge(int log_fd, const char *lesson, uint64_t seed, const char *given, judgement *out)
{
    int status = 0;
    *out = (judgement){.last_line = -1};
    judgement *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = shared == MAP_FAILED ? -1 : fork();
    if (pid == 0) be_judge(log_fd, lesson, seed, given, shared);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (pid < 0) snprintf(out->trouble, sizeof out->trouble, "no process could be made to grade: %s", strerror(errno));
    else *out = *shared;
    if (pid > 0 && (!WIFEXITED(status) || WEXITSTATUS(status))) say_crash(out, status);
    if (shared != MAP_FAILED) munmap(shared, sizeof *shared);
}
