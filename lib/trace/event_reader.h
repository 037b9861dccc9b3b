/* event_reader.h: events as their readers see them: typed records, whatever they come from. A log's slots are read
 * here, without a detour through text; JSON lines fill the same records (viewer/trace/event_json.h). */
#ifndef FERRY_EVENT_READER_H
#define FERRY_EVENT_READER_H

#include "event.h"
#include "log.h"

typedef struct fy_event {
    uint64_t seq;
    int64_t t;
    uint8_t kind; /* FY_KIND_copy ...; lost: invalid events, too */
    uint16_t th;
    fy_ref call;       /* the call that it belongs to, an fy_call_entry (log_format.h); 0: none */
    uint32_t line;     /* of that call, or of the one whose gradient a node computes; 0: none */
    fy_ref file, fn;   /* likewise */
    const fy_log *log; /* where its references lead */
    union {            /* the kind's record: is.copy.bytes */
#define KIND(kind, doc) fy_ev_##kind kind;
#define FIELD(kind, type, name, doc)
#define END(kind)
        FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END
    } is;
} fy_event;

/* What a reference of an event leads to: text, or a list of so many bytes. Not aligned, not ended by a zero, and only
 * as long-lived as what the event was read from. */
typedef struct fy_bytes {
    const char *data;
    size_t size;
} fy_bytes;

/* Sets call, line, file and fn of an event whose kind and record are there, by a call in its log; false, and they are
 * left out, if it is invalid. */
bool fy_event_set_call(fy_event *e, fy_ref call);

/* The next event of a log, in order; advances *cursor. False: there is none now (fy_log_drained: nor ever). An event
 * that a truncated file no longer contains, or an invalid one, reads as `lost`. */
bool fy_event_next(fy_log *log, uint64_t *cursor, fy_event *e);

fy_bytes fy_event_bytes(const fy_event *e, fy_ref ref);            /* nothing: "", 0 */
bool fy_event_is(const fy_event *e, fy_ref ref, const char *text); /* is it this text? */
fy_word fy_event_dtype(const fy_event *e, fy_ref name);            /* none: a dtype that Ferry does not have */
/* Element i of a list; false past its end. */
bool fy_event_dim(const fy_event *e, fy_ref dims, size_t i, int64_t *dim);
bool fy_event_id(const fy_event *e, fy_ref ids, size_t i, uint32_t *id);
bool fy_event_use(const fy_event *e, fy_ref refs, size_t i, fy_use *use);

#endif
