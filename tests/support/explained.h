/* explained.h: programs that are run, each in a process of its own, and what is found in their logs. The line that a
 * finding should name ends in HERE, which the log's copy of the source shows. */
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
    int times;       /* how often the line does it; 0: this rule finds nothing; -1: any number */
    const char *sim; /* FERRY_SIM, or NULL */
} explained;

/* Run a program with its log in a file of JSON lines. */
void record_program(const explained *p, const char *path);
const finding *finding_of(const findings *f, const char *rule, int n);
void expect_findings(const explained *programs, size_t count);
#define EXPECT(...) \
    expect_findings((const explained[]){__VA_ARGS__}, sizeof((const explained[]){__VA_ARGS__}) / sizeof(explained))

#endif
