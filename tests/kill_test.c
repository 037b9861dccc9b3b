/* kill_test.c: a program is killed 200 times, at any instant, while two of its threads emit. What
 * fy_emit had returned is in the log, in its place, whole; no more than the slots that were being
 * filled are lost. Each thread keeps the last returned seq in a page that outlives it. */
#define _GNU_SOURCE
#include "logs.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

enum { KILLS = 200, THREADS = 2 };

/* Shared with the child. */
static struct page {
    _Atomic uint64_t returned[THREADS]; /* last seq plus 1 */
    _Atomic int running;
} * page;

static void *emit_for_ever(void *number)
{
    char text[300];
    atomic_fetch_add(&page->running, 1);
    for (int64_t i = 0;; i++) {
        int n = snprintf(text, sizeof text, "%0*lld", (int)(i % 250), (long long)i);
        fy_ref ref = fy_ref_bytes(text, (size_t)n);
        uint64_t seq = FY_EMIT(FY_AT("fy_mark", "text"), mark, .text = ref, .now = i);
        if (!seq) return NULL; /* the log is full */
        atomic_store(&page->returned[(intptr_t)number], seq + 1);
    }
}

static void emit_until_killed(int fd)
{
    char err[256];
    pthread_t other;
    if (!fy_log_adopt(fd, err, sizeof err)) _exit(1);
    FY_EMIT(NULL, mark, .now = FY_ABSENT); /* seq 0, so that later ones are told from "nothing" */
    if (pthread_create(&other, NULL, emit_for_ever, (void *)1)) _exit(1);
    emit_for_ever(NULL);
    for (;;) pause();
}

/* Let it run for a while: mostly some hundred microseconds, at times long enough to need its helper. */
static void wait_a_little(unsigned round)
{
    struct timespec a_moment = {0, 200000}, some = {0, (long)((round * 7919u) % 997u) * (round % 10 ? 1000 : 20000)};
    for (int i = 0; i < 50000 && atomic_load(&page->running) < THREADS; i++) nanosleep(&a_moment, NULL);
    nanosleep(&some, NULL);
}

/* Every slot is published, but for one a thread that was being filled. */
static void judge_slots(const fy_log *log)
{
    uint64_t count = fy_log_count(log);
    int lost = 0;
    uint16_t kind;
    for (uint64_t seq = 0; seq < count; seq++)
        if (!fy_log_slot(log, seq, &kind)) lost++;
    assert_in_range(lost, 0, THREADS);
    for (int i = 0; i < THREADS; i++) {
        uint64_t returned = atomic_load(&page->returned[i]);
        assert_true(returned <= count);
        assert_true(!returned || fy_log_slot(log, returned - 1, &kind));
    }
}

static void judge_lines(fy_log *log)
{
    fy_text text = {0};
    uint64_t cursor = 0, count = fy_log_count(log);
    while (fy_log_read(log, &cursor, &text, text.size + 65536)) continue;
    assert_int_equal(assert_lines_are_whole(&text), count);
    assert_in_range(count_of(text.data ? text.data : "", "\"kind\":\"lost\""), 0, THREADS);
    assert_true(fy_log_drained(log, cursor));
    free(text.data);
}

static void one_kill(unsigned round)
{
    char err[256];
    memset(page, 0, sizeof *page);
    int fd = fy_log_file(NULL, round % 10 == 3 ? 500 : 0, err, sizeof err); /* some reach their limit */
    if (fd < 0) fail_msg("%s", err);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) emit_until_killed(fd);
    wait_a_little(round);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    fy_log *log = log_to_read(fd);
    judge_slots(log);
    if (round % 20 == 3 || round % 20 == 7) judge_lines(log);
    fy_log_close(log);
    close(fd);
}

static void after_200_kills_the_log_holds_all_that_was_emitted_without_a_hole(void **state)
{
    (void)state;
    for (unsigned round = 0; round < KILLS; round++) one_kill(round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_200_kills_the_log_holds_all_that_was_emitted_without_a_hole),
    };
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests_name("kill", tests, NULL, NULL);
}
