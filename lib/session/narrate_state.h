/* narrate_state.h: what a narrator remembers, and how its lines are laid out. For narrate.c. */
#ifndef FERRY_STORY_H
#define FERRY_STORY_H

#include "event_reader.h"
#include "log.h"
#include "log_format.h"
#include "text.h"

typedef struct fy_told_tensor {
    fy_ref name, shape;
    uint32_t storage;
    uint8_t dtype, device;
} fy_told_tensor;

typedef struct fy_told_storage {
    int64_t bytes;
    uint32_t tensor; /* its first */
    uint8_t device;
} fy_told_storage;

/* Tables by id, grown as needed. An id beyond FY_TOLD_MOST is not remembered: it is told by its number. */
enum { FY_TOLD_MOST = 1 << 20 };
typedef struct fy_story {
    fy_told_tensor *tensors;
    fy_told_storage *storages;
    uint32_t tensor_room, storage_room;
    uint64_t used;    /* cards that have a segment: bit n is device n */
    uint32_t pending; /* a tensor that was made and not told yet: what comes next says how */
    fy_site_entry pending_place;
    int64_t pending_time;
    bool lost; /* there was no memory for one of these */
} fy_story;

void fy_story_free(fy_story *s);                       /* its tables */
fy_told_tensor *fy_told(fy_story *s, uint32_t tensor); /* never NULL; what is unknown is zero */
fy_told_storage *fy_told_bytes(fy_story *s, uint32_t storage);

/* Pieces of a line. Control characters of the program's strings become '?'. */
void fy_say_string(const fy_log *log, fy_text *out, fy_ref s);
void fy_say_shape(const fy_log *log, fy_text *out, const fy_told_tensor *t); /* float32 [64, 64] */
void fy_say_time(fy_text *out, int64_t ns);
void fy_say_bytes(fy_text *out, int64_t bytes);
void fy_say_device(fy_text *out, uint8_t device);

/* One line: time, verb, subject, size (-1: none), rest, and where in the source. */
typedef struct fy_line {
    int64_t time, bytes;
    const char *verb;
    fy_text subject, rest;
    fy_site_entry place;
    unsigned th;
} fy_line;
void fy_say_line(const fy_log *log, fy_text *out, fy_line *line); /* frees the line's texts */

/* The event being told. */
typedef struct fy_telling {
    fy_log *log;
    fy_story *story;
    fy_event event;
    fy_text *out;
    fy_line line;
} fy_telling;

void fy_begin(fy_telling *t, const char *verb);                  /* a new line */
void fy_say_label(fy_telling *t, fy_text *out, uint32_t tensor); /* its name, or "tensor 7" */
void fy_say_storage(fy_telling *t, fy_text *out, uint32_t storage);
void fy_say_held(fy_telling *t, int64_t held); /* ", held the program 7.0 us"; nothing of 0 */
static inline void end(fy_telling *t) { fy_say_line(t->log, t->out, &t->line); }
static inline fy_text *subject(fy_telling *t) { return &t->line.subject; }
static inline fy_text *rest(fy_telling *t) { return &t->line.rest; }
static inline fy_told_tensor *known(fy_telling *t, uint32_t tensor) { return fy_told(t->story, tensor); }

/* narrate_ops.c: the sentences about tensors and work. */
void fy_tell_alloc(fy_telling *t);
void fy_tell_tensor(fy_telling *t);
void fy_tell_name(fy_telling *t);
void fy_tell_free(fy_telling *t);
void fy_tell_given(fy_telling *t);
void fy_tell_answer(fy_telling *t);
void fy_tell_copy(fy_telling *t);
void fy_tell_op(fy_telling *t);
void fy_tell_host_read(fy_telling *t);
void fy_tell_host_write(fy_telling *t);
void fy_tell_pending(fy_telling *t); /* a tensor of which nothing more was said than that it was made */

/* narrate_sync.c: those about order and segments. */
void fy_say_side_stream(fy_text *out, int64_t stream); /* ", stream 1"; nothing of the default stream */
void fy_tell_sync(fy_telling *t);
void fy_tell_set_device(fy_telling *t);
void fy_tell_set_stream(fy_telling *t);
void fy_tell_event_record(fy_telling *t);
void fy_tell_event_wait(fy_telling *t);
void fy_tell_query(fy_telling *t);
void fy_tell_record_stream(fy_telling *t);
void fy_tell_mode(fy_telling *t);
void fy_tell_data_race(fy_telling *t);
void fy_tell_peer(fy_telling *t);
void fy_tell_segment(fy_telling *t);
void fy_tell_segment_free(fy_telling *t);

#endif
