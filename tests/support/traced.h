/* traced.h: runs functions in a child process with FERRY_TRACE, and reads the trace file. */
#ifndef TRACED_H
#define TRACED_H

#include "forked.h"
#include "logs.h"
#include "text.h"

#include <fcntl.h>

extern char traced_folder[];
extern char traced_path[64]; /* folder/run.jsonl */
char *slurp(const char *name);

/* Runs `program` in a child, which exits with 3 when it returns. Returns the status of waitpid. */
int run_program(void (*program)(void));
void assert_exits(void (*program)(void), int code);
char *traced_output(void);
int make_folder(void **state);
int remove_folder(void **state);

#endif
