/* ferry_stream.h: streams and events, PyTorch's torch.cuda.Stream and torch.cuda.Event. Included by ferry.h.
 *
 * Work in one stream runs in issue order. Different streams, and the host, are not ordered except by an event, a wait,
 * or a query that returned true. Every card has a default stream, which is initially current; the current stream is
 * per thread and per card, and work runs in the current stream of its card. A copy between cards runs in the source's
 * current stream, after the work of the destination's current stream, whose later work waits for it. Two accesses to the same bytes that nothing
 * orders, and of which one writes, are a data race: the log reports it, and on the simulated card the values become NaN
 * or another marker.
 *
 * Each card has a pool of 32 streams, handed out round-robin and never freed: the 33rd is the first again, as in
 * PyTorch. */
#ifndef FERRY_STREAM_H
#define FERRY_STREAM_H

typedef struct fy_stream fy_stream;
typedef struct fy_event fy_event;

typedef struct fy_stream_opts {
    const struct fy_options_by_name *fy_begin_;
    const char *device; /* default: the current card */
    int fy_end_;
} fy_stream_opts;

typedef struct fy_event_opts {
    const struct fy_options_by_name *fy_begin_;
    bool enable_timing; /* for fy_event_elapsed_time */
    int fy_end_;
} fy_event_opts;

/* ---- streams ----------------------------------------------------------------------------------- */

/* fy_cuda_stream(), fy_cuda_stream(.device = "cuda:1"): the next stream of the pool; NULL after an error. */
#define fy_cuda_stream(...) \
    fy_cuda_stream_at(FY_AT("fy_cuda_stream", #__VA_ARGS__), \
                      FY_OPTIONS(fy_stream_opts, "fy_cuda_stream(.device = \"cuda:1\")", __VA_ARGS__))
/* The default stream of the current card; fy_cuda_default_stream(.device = "cuda:1"): of another. */
#define fy_cuda_default_stream(...) \
    fy_cuda_default_stream_at(FY_AT("fy_cuda_default_stream", #__VA_ARGS__), \
                              FY_OPTIONS(fy_stream_opts, "fy_cuda_default_stream(.device = \"cuda:1\")", __VA_ARGS__))
#define fy_cuda_current_stream(...) \
    fy_cuda_current_stream_at(FY_AT("fy_cuda_current_stream", #__VA_ARGS__), \
                              FY_OPTIONS(fy_stream_opts, "fy_cuda_current_stream(.device = \"cuda:1\")", __VA_ARGS__))
/* Makes s the current stream of its card, and its card the current one, in this thread. */
#define fy_cuda_set_stream(s) fy_cuda_set_stream_at(FY_AT("fy_cuda_set_stream", #s), s)
/* FY_STREAM(s) { ... }: s is current inside; afterwards the previous card and stream are restored, also after break and
 * return (PyTorch's `with torch.cuda.stream(s):`). */
#define FY_STREAM(s) FY_STREAM_(s)

#define fy_stream_synchronize(s) fy_stream_synchronize_at(FY_AT("fy_stream_synchronize", #s), s) /* the host waits */
#define fy_stream_query(s) fy_stream_query_at(FY_AT("fy_stream_query", #s), s) /* has all its work ended? */
#define fy_stream_wait_event(s, e) fy_stream_wait_event_at(FY_AT("fy_stream_wait_event", #s ", " #e), s, e)
                                   /* later work in s waits for e; the host does not */
#define fy_stream_wait_stream(s, other) fy_stream_wait_stream_at(FY_AT("fy_stream_wait_stream", #s ", " #other), s, other)
                                   /* later work in s waits for all work issued to `other` so far */
#define fy_stream_record_event(s) fy_stream_record_event_at(FY_AT("fy_stream_record_event", #s), s) /* a new event */
int fy_stream_id(const fy_stream *s);             /* 0: the default stream; 1 to 32; -1 for NULL */
const char *fy_stream_device(const fy_stream *s); /* "cuda:0"; NULL for NULL */
/* x, allocated on another stream, is used on s too: after x is freed, its memory is not reused until s has finished the
 * work that was queued in s when x was freed. */
#define fy_record_stream(x, s) fy_record_stream_at(FY_AT("fy_record_stream", #x ", " #s), x, s)

/* ---- events ------------------------------------------------------------------------------------- */

/* fy_cuda_event(), fy_cuda_event(.enable_timing = true): not recorded yet; you own it, fy_event_free frees it. */
#define fy_cuda_event(...) \
    fy_cuda_event_at(FY_AT("fy_cuda_event", #__VA_ARGS__), \
                     FY_OPTIONS(fy_event_opts, "fy_cuda_event(.enable_timing = true)", __VA_ARGS__))
#define fy_event_free(e) fy_event_free_at(FY_AT("fy_event_free", #e), e)
/* fy_event_record(e), fy_event_record(e, s): records e in the current stream, or in s; replaces its previous record. */
#define fy_event_record(...) \
    fy_event_record_at(FY_AT("fy_event_record", #__VA_ARGS__), FY_FIRST(__VA_ARGS__), FY_STREAM_OR(__VA_ARGS__))
#define fy_event_wait(...) /* later work in the current stream, or in s, waits for e */ \
    fy_event_wait_at(FY_AT("fy_event_wait", #__VA_ARGS__), FY_FIRST(__VA_ARGS__), FY_STREAM_OR(__VA_ARGS__))
#define fy_event_query(e) fy_event_query_at(FY_AT("fy_event_query", #e), e) /* complete? true if never recorded */
#define fy_event_synchronize(e) fy_event_synchronize_at(FY_AT("fy_event_synchronize", #e), e) /* the host waits */
/* Milliseconds between two events, both made with enable_timing, recorded and complete; NaN after an error. */
#define fy_event_elapsed_time(start, end) \
    fy_event_elapsed_time_at(FY_AT("fy_event_elapsed_time", #start ", " #end), start, end)

/* ---- implementation of the macros ------------------------------------------------------------------ */

extern fy_stream fy_stream_left_out; /* an omitted argument; distinct from NULL, the result of a failed call */
#define FY_STREAM_OR(...) FY_SECOND_OR(&fy_stream_left_out, __VA_ARGS__)
#define FY_STREAM_(s) FY_STREAM_WITH(s, FY_CAT(fy_with_, __COUNTER__))
#define FY_STREAM_WITH(s, with) \
    for (fy_with_stream with __attribute__((cleanup(fy_with_stream_end))) = \
             fy_with_stream_at(FY_AT("FY_STREAM", #s), s); \
         with.turns-- > 0;)
typedef struct fy_with_stream {
    fy_site *at;
    fy_stream *before; /* the previous current stream of that card; NULL: nothing to restore */
    int device, turns; /* device: the previous current card; turns: 1, then 0 */
    fy_depths depths;
} fy_with_stream;
fy_with_stream fy_with_stream_at(fy_site *at, fy_stream *s);
void fy_with_stream_end(fy_with_stream *with);

fy_stream *fy_cuda_stream_at(fy_site *at, fy_stream_opts o);
fy_stream *fy_cuda_default_stream_at(fy_site *at, fy_stream_opts o);
fy_stream *fy_cuda_current_stream_at(fy_site *at, fy_stream_opts o);
void fy_cuda_set_stream_at(fy_site *at, fy_stream *s);
void fy_stream_synchronize_at(fy_site *at, fy_stream *s);
bool fy_stream_query_at(fy_site *at, fy_stream *s);
void fy_stream_wait_event_at(fy_site *at, fy_stream *s, fy_event *e);
void fy_stream_wait_stream_at(fy_site *at, fy_stream *s, fy_stream *other);
fy_event *fy_stream_record_event_at(fy_site *at, fy_stream *s);
void fy_record_stream_at(fy_site *at, fy_tensor *x, fy_stream *s);
fy_event *fy_cuda_event_at(fy_site *at, fy_event_opts o);
void fy_event_free_at(fy_site *at, fy_event *e);
void fy_event_record_at(fy_site *at, fy_event *e, fy_stream *s);
void fy_event_wait_at(fy_site *at, fy_event *e, fy_stream *s);
bool fy_event_query_at(fy_site *at, fy_event *e);
void fy_event_synchronize_at(fy_site *at, fy_event *e);
double fy_event_elapsed_time_at(fy_site *at, fy_event *start, fy_event *end);

#endif
