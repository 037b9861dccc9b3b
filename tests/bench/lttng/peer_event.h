/* peer_event.h: an event of five fields, as LTTng-UST reads it: the peer of the long log's events. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ferry_peer
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./peer_event.h"
#if !defined(FERRY_BENCH_PEER_EVENT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FERRY_BENCH_PEER_EVENT_H
#include <lttng/tracepoint.h>
#include <stdint.h>
#define U64(name) lttng_ust_field_integer(uint64_t, name, name)
#define U32(name) lttng_ust_field_integer(uint32_t, name, name)
LTTNG_UST_TRACEPOINT_EVENT(ferry_peer, event,
                           LTTNG_UST_TP_ARGS(uint64_t, a, uint64_t, b, uint64_t, c, uint32_t, d, uint32_t, e),
                           LTTNG_UST_TP_FIELDS(U64(a) U64(b) U64(c) U32(d) U32(e)))
#endif
#include <lttng/tracepoint-event.h>
