/* explained.h: runs test programs, each in a child process, and checks the findings in their logs. The line that a
 * finding must name ends in HERE; it is looked up in the source text that the log contains. */
#ifndef EXPLAINED_H
#define EXPLAINED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ferry.h"
#include "findings.h"
#include "forked.h"

typedef struct explained {
    const char *rule;
    void (*run)(void);
    int times;       /* how often the finding occurs; 0: no finding of this rule; -1: any number */
    const char *sim; /* FERRY_SIM, or NULL */
} explained;

/* Runs a program with its log as JSON lines in `path`. */
void record_program(const explained *p, const char *path);
/* The n-th finding of a rule; NULL: none. */
const finding *finding_of(const findings *f, const char *rule, int n);
void expect_findings(const explained *programs, size_t count);
#define EXPECT(...) \
    expect_findings((const explained[]){__VA_ARGS__}, sizeof((const explained[]){__VA_ARGS__}) / sizeof(explained))

#endif
