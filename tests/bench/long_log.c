/* long_log.c: the cost of an event in a log that has left its rings. Usage: long_log THREADS EVENTS. Every fourth event
 * has 40 bytes in the arena. Prints as long_log.h says, for tests/bench/run. */
#include "long_log.h"
#include "bench.h"
#include "event.h"
#include "log.h"
#include "log_format.h"
#include "session_hooks.h"

static void emit_some(int thread, long count)
{
    char text[40] = {0};
    text[0] = (char)thread;
    for (long i = 0; i < count; i++) {
        fy_ref ref = i % 4 ? 0 : fy_ref_bytes(text, sizeof text);
        FY_EMIT(NULL, mark, .text = ref, .now = i);
    }
}

int main(int argc, char **argv)
{
    if (!bench_open_log("long_log")) return 1;
    fy_session_start();
    int status = emit_in_threads(argc, argv, emit_some);
    if (fy_log_lost())
        return fprintf(stderr, "long_log: %llu events were lost\n", (unsigned long long)fy_log_lost()), 1;
    return status;
}
