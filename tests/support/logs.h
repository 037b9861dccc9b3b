/* logs.h: for tests of the log: a new log to write to, and all its lines. */
#ifndef FERRY_TESTS_LOGS_H
#define FERRY_TESTS_LOGS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "log_format.h"
#include "text.h"

/* A new unlinked log, with this process as its writer. */
int log_to_write(uint64_t limit);
fy_log *log_to_read(int fd);
/* All lines that can be read now; the caller frees text.data. */
fy_text lines_of(int fd);
/* Terminates the next line in place and advances *p; NULL at the end. */
char *next_line(char **p);
/* How many lines contain `what`. Searches line by line: ASan checks the whole string on each strstr. */
int count_of(const char *lines, const char *what);
/* Every line is one JSON object with the next seq; returns the number of lines. */
uint64_t assert_lines_are_whole(const fy_text *text);

#endif
