/* narrate_state.h: what a narrator remembers, and the layout of its lines. Used by narrate*.c only. */
#ifndef FERRY_NARRATE_STATE_H
#define FERRY_NARRATE_STATE_H

#include "event_reader.h"
#include "log.h"
#include "log_format.h"
#include "text.h"

typedef struct fy_known_tensor {
    fy_ref name, shape;
    uint32_t storage;
    fy_ref dtype;
    uint8_t device;
} fy_known_tensor;

typedef struct fy_known_storage {
    int64_t bytes;
    uint32_t tensor; /* the first one that uses it */
    uint8_t device;
} fy_known_storage;

/* Tables by id, grown on demand. Ids of FY_KNOWN_MAX and above are not remembered: they are printed as numbers. */
enum { FY_KNOWN_MAX = 1 << 20 };
typedef struct fy_narrator_state {
    fy_known_tensor *tensors;
    fy_known_storage *storages;
    uint32_t tensor_room, storage_room;
    uint64_t used;    /* bit n: device n has a segment */
    uint32_t pending; /* id of a new tensor without a line yet: the next event may be what filled it; 0: none */
    fy_site_entry pending_place;
    int64_t pending_time;
    bool lost; /* an allocation failed */
} fy_narrator_state;

void fy_narrator_state_free(fy_narrator_state *s);                          /* frees the tables, not *s */
fy_known_tensor *fy_narrator_tensor(fy_narrator_state *s, uint32_t tensor); /* never NULL; all zero if the id is unknown
                                                                             */
fy_known_storage *fy_narrator_storage(fy_narrator_state *s, uint32_t storage);

/* Append to a text. Control characters in the program's strings become '?'. */
void fy_add_string(const fy_log *log, fy_text *out, fy_ref s);
void fy_add_shape(const fy_log *log, fy_text *out, const fy_known_tensor *t); /* float32 [64, 64] */
void fy_add_time(fy_text *out, int64_t ns);
void fy_add_bytes(fy_text *out, int64_t bytes);
void fy_add_device(fy_text *out, uint8_t device);

/* One line: time (ns), verb, subject, size (bytes; -1: none), rest, and the place in the source. */
typedef struct fy_line {
    int64_t time, bytes;
    const char *verb;
    fy_text subject, rest;
    fy_site_entry place;
    unsigned th;
} fy_line;
void fy_line_print(const fy_log *log, fy_text *out, fy_line *line); /* prints the line and frees its texts */

/* The event being narrated. */
typedef struct fy_narration {
    fy_log *log;
    fy_narrator_state *state;
    fy_event event;
    fy_text *out;
    fy_line line;
} fy_narration;

void fy_line_begin(fy_narration *t, const char *verb);             /* a new line */
void fy_add_label(fy_narration *t, fy_text *out, uint32_t tensor); /* the variable's name, or "tensor 7" */
void fy_add_storage(fy_narration *t, fy_text *out, uint32_t storage);
void fy_add_blocked(fy_narration *t, int64_t blocked_ns); /* ", blocked the program 7.0 us"; nothing for 0 */
static inline void end(fy_narration *t) { fy_line_print(t->log, t->out, &t->line); }
static inline fy_text *subject(fy_narration *t) { return &t->line.subject; }
static inline fy_text *rest(fy_narration *t) { return &t->line.rest; }
static inline fy_known_tensor *known(fy_narration *t, uint32_t tensor) { return fy_narrator_tensor(t->state, tensor); }

/* narrate_ops.c: tensors, ops and copies. */
void fy_narrate_alloc(fy_narration *t);
void fy_narrate_tensor(fy_narration *t);
void fy_narrate_name(fy_narration *t);
void fy_narrate_same(fy_narration *t);
void fy_narrate_free(fy_narration *t);
void fy_narrate_given(fy_narration *t);
void fy_narrate_answer(fy_narration *t);
void fy_narrate_copy(fy_narration *t);
void fy_narrate_op(fy_narration *t);
void fy_narrate_host_read(fy_narration *t);
void fy_narrate_host_write(fy_narration *t);
void fy_narrate_pending(fy_narration *t); /* prints the pending tensor, if any */

/* narrate_graph.c: gradients. */
void fy_narrate_backward(fy_narration *t);
void fy_narrate_graph(fy_narration *t);
void fy_narrate_grad(fy_narration *t);

/* narrate_sync.c: streams, synchronization, races and segments. */
void fy_add_side_stream(fy_text *out, int64_t stream); /* ", stream 1"; nothing for the default stream */
void fy_narrate_sync(fy_narration *t);
void fy_narrate_set_device(fy_narration *t);
void fy_narrate_set_stream(fy_narration *t);
void fy_narrate_event_record(fy_narration *t);
void fy_narrate_event_wait(fy_narration *t);
void fy_narrate_query(fy_narration *t);
void fy_narrate_record_stream(fy_narration *t);
void fy_narrate_mode(fy_narration *t);
void fy_narrate_data_race(fy_narration *t);
void fy_narrate_peer(fy_narration *t);
void fy_narrate_batch(fy_narration *t);
void fy_narrate_segment(fy_narration *t);
void fy_narrate_segment_free(fy_narration *t);

#endif
