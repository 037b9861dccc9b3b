/* traced.h: programs that write a FERRY_TRACE file: functions, each run in a fresh process, and what they leave. */
#ifndef TRACED_H
#define TRACED_H

#include "forked.h"
#include "logs.h"
#include "text.h"

#include <fcntl.h>

static char folder[] = "/tmp/ferry-traced-XXXXXX";
static char path[64]; /* folder/run.jsonl */

static inline char *slurp(const char *name)
{
    fy_text t = {0};
    char piece[4096];
    FILE *f = fopen(name, "r");
    if (!f) return NULL;
    for (size_t n; (n = fread(piece, 1, sizeof piece, f));) fy_text_add(&t, piece, n);
    fclose(f);
    if (!t.data) fy_text_add(&t, "", 0);
    return t.data;
}

static void (*traced_program)(void);
static inline void run_traced(void)
{
    traced_program();
    exit(3);
}

/* Run `program` in a child; it exits with 3 unless it does otherwise. */
static inline int run(void (*program)(void))
{
    traced_program = program;
    run_forked(run_traced, NULL, false);
    return ran.status;
}

static inline void assert_exits(void (*program)(void), int code)
{
    int status = run(program);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), code);
}

static inline char *said(void) { return strdup(ran.said); }

static inline int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/run.jsonl", folder);
    return 0;
}

static inline int remove_folder(void **state)
{
    char command[80];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

#endif
