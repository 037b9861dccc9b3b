/* bench.c: see bench.h. */
#include "bench.h"
#include "log.h"

enum { ROUNDS = 15 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_ns(void (*work)(int count), int count)
{
    double round[ROUNDS];
    work(count); /* warm-up */
    for (int i = 0; i < ROUNDS; i++) {
        double start = now_ns();
        work(count);
        round[i] = (now_ns() - start) / count;
    }
    qsort(round, ROUNDS, sizeof *round, compare_doubles);
    return round[ROUNDS / 2];
}

void bench_row(const char *what, const char *unit, double measured, const char *peer, double figure, double goal)
{
    printf("%s\t%s\t%.3f\t%s\t%.3f\t%.2f\n", what, unit, measured, peer, figure, goal);
}

bool bench_open_log(const char *program)
{
    char err[200], number[16];
    int fd = fy_log_file(NULL, 0, err, sizeof err);
    if (fd < 0) {
        fprintf(stderr, "%s: %s\n", program, err);
        return false;
    }
    snprintf(number, sizeof number, "%d", fd);
    return setenv("FERRY_LOG_FD", number, 1) == 0;
}
