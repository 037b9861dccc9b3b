/* event.c: the cost of an event. `event on` records into a log, `event off` runs without one.
 *
 * Peers: copying 64 bytes, the size of a slot, into populated pages; reading the clock; an empty call. */
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "event.h"
#include "log.h"
#include "session_hooks.h"

enum { SLOT = 64, EVENTS = 20000 };

static char *pages;

static void emit_events(int count)
{
    for (int i = 0; i < count; i++) FY_EMIT(NULL, free, .storage = (uint32_t)i, .bytes = 4096);
}

static void copy_slots(int count)
{
    char slot[SLOT] = {0};
    for (int i = 0; i < count; i++) {
        slot[0] = (char)i;
        memcpy(pages + (size_t)i * SLOT, slot, SLOT);
        __asm__ volatile("" ::: "memory");
    }
}

static void read_clock(int count)
{
    struct timespec t;
    for (int i = 0; i < count; i++) clock_gettime(CLOCK_MONOTONIC, &t);
}

__attribute__((noinline)) static uint64_t empty_call(const void *record, size_t bytes)
{
    __asm__ volatile("" ::"r"(record), "r"(bytes) : "memory");
    return 0;
}

static void make_empty_calls(int count)
{
    for (int i = 0; i < count; i++) {
        const fy_ev_free record = {.storage = (uint32_t)i, .bytes = 4096};
        empty_call(&record, sizeof record);
    }
}

int main(int argc, char **argv)
{
    bool on = argc > 1 && strcmp(argv[1], "on") == 0;
    if (on && !bench_open_log("event")) return 1;
    fy_session_start();
    if (fy_log_is_on() != on) {
        fprintf(stderr, "event: the log is %s\n", on ? "off" : "on");
        return 1;
    }
    pages = mmap(NULL, SLOT * EVENTS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (pages == MAP_FAILED) return 1;
    double event = bench_ns(emit_events, EVENTS);
    if (on) {
        bench_row("an event, recorded", "ns", event, "limit", 100, 1);
        bench_row("an event, recorded", "ns", event, "64 bytes copied", bench_ns(copy_slots, EVENTS), 12);
        bench_row("an event, recorded", "ns", event, "clock_gettime", bench_ns(read_clock, EVENTS), 3);
    } else {
        bench_row("an event, no log open", "ns", event, "an empty call", bench_ns(make_empty_calls, EVENTS), 4);
    }
    return 0;
}
