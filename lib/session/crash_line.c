/* crash_line.c: from the stack of a crashed program to a line of its source. addr2line reads the debug information; it
 * runs in a process of its own, since nothing in a crashed one can be relied upon. */
#define _GNU_SOURCE
#include "crash_line.h"

#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "source.h"

enum { FRAMES = 24, SECONDS = 5, ANSWER = 8192, DIGITS = 20 };

/* Defined by the linker: the executable's first byte, and the end of its code. */
extern const ElfW(Ehdr) __ehdr_start;
extern const char etext[];

void fy_crash_line_prepare(void)
{
    void *frame;
    backtrace(&frame, 1); /* the first call loads the unwinder, which allocates */
}

/* Where the program stood; 0 if that is not known. */
static uintptr_t counter_of(const void *context)
{
    const ucontext_t *u = context;
#if defined(__x86_64__)
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)u->uc_mcontext.pc;
#else
    (void)u;
    return 0;
#endif
}

/* Addresses of the executable's code on the stack, as addr2line takes them, the innermost first; returns how many. A
 * return address is that of the next instruction, which may be of the next line. */
static int code_addresses(const void *context, char text[FRAMES][DIGITS])
{
    void *frames[FRAMES + 8];
    const uintptr_t begin = (uintptr_t)&__ehdr_start, end = (uintptr_t)etext;
    const uintptr_t base = __ehdr_start.e_type == ET_DYN ? begin : 0;
    const int n = backtrace(frames, FRAMES + 8);
    const uintptr_t at = counter_of(context);
    int count = 0;
    for (int i = 0; i < n && count < FRAMES; i++) {
        uintptr_t pc = (uintptr_t)frames[i];
        if (pc <= begin || pc >= end) continue;
        char *p = text[count++] + DIGITS - 1;
        *p = 0;
        for (pc -= base + (pc != at); pc; pc >>= 4) *--p = "0123456789abcdef"[pc & 15];
        memmove(text[count - 1], p, strlen(p) + 1);
    }
    return count;
}

/* Starts addr2line; what it says goes to `output`. Not by fork, whose handlers begin a log for the child, nor by vfork,
 * which ASan does not survive. */
static pid_t start(char *const *arguments, int output)
{
    const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child != 0) return child;
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDERR_FILENO);
    dup2(output, STDOUT_FILENO);
    execvp(arguments[0], arguments);
    _exit(127);
}

/* Reads until the end, for at most SECONDS. */
static void read_answer(int from, char answer[ANSWER])
{
    struct timespec began, now;
    size_t size = 0;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (ssize_t n = 1; n > 0 && size<ANSWER - 1; size += n> 0 ? (size_t)n : 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        const int left = (int)(1000 * (SECONDS - (now.tv_sec - began.tv_sec)));
        if (left <= 0 || poll(&(struct pollfd){.fd = from, .events = POLLIN}, 1, left) <= 0) break;
        n = read(from, answer + size, ANSWER - 1 - size);
    }
    answer[size] = 0;
}

static void ask(char *const *arguments, char answer[ANSWER])
{
    int ends[2];
    answer[0] = 0;
    if (pipe2(ends, O_CLOEXEC)) return;
    const pid_t child = start(arguments, ends[1]);
    close(ends[1]);
    if (child > 0) {
        read_answer(ends[0], answer);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    close(ends[0]);
}

/* The first "path:12" in the answer that is a source with calls of Ferry in it: a user's file, not the library's. */
static bool find_own(char *answer, fy_site *at)
{
    char *save = NULL;
    for (char *line = strtok_r(answer, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *colon = strrchr(line, ':');
        if (!colon) continue;
        *colon = 0;
        const fy_source *source = fy_source_ending(line);
        const int number = atoi(colon + 1);
        if (!source || number <= 0) continue;
        at->file = source->path;
        at->line = number;
        return true;
    }
    return false;
}

bool fy_crash_line(const void *context, fy_site *at)
{
    static char exe[] = "/proc/self/exe", path[4096], text[FRAMES][DIGITS], answer[ANSWER];
    char *arguments[FRAMES + 4] = {"addr2line", "-e", path};
    const ssize_t length = readlink(exe, path, sizeof path - 1);
    if (length <= 0) return false;
    path[length] = 0;
    const int count = code_addresses(context, text);
    for (int i = 0; i < count; i++) arguments[3 + i] = text[i];
    if (!count) return false;
    ask(arguments, answer);
    return find_own(answer, at);
}
