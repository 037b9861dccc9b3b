/* printed.c: see printed.h. */
#include "printed.h"

const char *written_by(void (*write_it)(void *), void *context, int to)
{
    static char text[8192];
    char path[] = "/tmp/ferry-print-XXXXXX";
    int fd = mkstemp(path), saved = dup(to);
    fflush(stdout);
    dup2(fd, to);
    write_it(context); /* must flush; fy_print does */
    dup2(saved, to);
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    close(fd);
    close(saved);
    unlink(path);
    return text;
}

const char *printed_by(void (*write_it)(void *), void *context) { return written_by(write_it, context, 1); }

static void print_tensor(void *x) { fy_print((fy_tensor *)x); }

const char *printed(fy_tensor *x) { return printed_by(print_tensor, x); }
