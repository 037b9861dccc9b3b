/* traced.h: programs that write a FERRY_TRACE file: functions, each run in a fresh process, and what they leave. */
#ifndef TRACED_H
#define TRACED_H

#include "forked.h"
#include "logs.h"
#include "text.h"

#include <fcntl.h>

extern char folder[];
extern char path[64]; /* folder/run.jsonl */
char *slurp(const char *name);

/* Run `program` in a child; it exits with 3 unless it does otherwise. */
int run_program(void (*program)(void));
void assert_exits(void (*program)(void), int code);
char *said(void);
int make_folder(void **state);
int remove_folder(void **state);

#endif
