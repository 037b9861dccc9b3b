/* bench.h: times work and prints the rows that tests/bench/run formats and judges.
 *
 * A row: what, unit, measured, peer, the peer's figure from the same run, goal. The goal is met if measured is at most
 * goal times the peer's figure. */
#ifndef FERRY_BENCH_H
#define FERRY_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Median ns per iteration, over 15 rounds; work(count) runs `count` iterations. */
double bench_ns(void (*work)(int count), int count);
void bench_row(const char *what, const char *unit, double measured, const char *peer, double figure, double goal);
/* Creates a log and passes it to Ferry; call before the first call of Ferry. false, with a message on stderr: no log. */
bool bench_open_log(const char *program);

#endif
