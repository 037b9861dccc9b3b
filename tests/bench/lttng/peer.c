/* peer.c: emits LTTng-UST's events from so many threads. Usage: peer THREADS EVENTS. Prints ns an event: of time, and of
 * this process's CPU time. tests/bench/run builds it where liblttng-ust-dev is, and adds its consumer's CPU time. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "peer_event.h"

#include "../long_log.h"

static void emit_some(int thread, long count)
{
    for (long i = 0; i < count; i++)
        lttng_ust_tracepoint(ferry_peer, event, (uint64_t)i, (uint64_t)i * 3, 7, (uint32_t)thread, 5);
}

int main(int argc, char **argv)
{
    usleep(300000); /* its own threads register it */
    return emit_in_threads(argc, argv, emit_some);
}
