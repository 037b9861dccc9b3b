/* traced.c: see traced.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "traced.h"

char traced_folder[] = "/tmp/ferry-traced-XXXXXX";

char traced_path[64];

char *slurp(const char *name)
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

static void run_traced(void)
{
    traced_program();
    exit(3);
}

int run_program(void (*program)(void))
{
    traced_program = program;
    run_forked(run_traced, NULL, false);
    return last_child.status;
}

void assert_exits(void (*program)(void), int code)
{
    int status = run_program(program);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), code);
}

char *traced_output(void) { return strdup(last_child.output); }

int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(traced_folder)) return -1;
    snprintf(traced_path, sizeof traced_path, "%s/run.jsonl", traced_folder);
    return 0;
}

int remove_folder(void **state)
{
    char command[80];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", traced_folder);
    return system(command);
}
