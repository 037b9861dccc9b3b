/* event.h: events as they are recorded. fy_emit is the one way in; the log (log.c) keeps fixed-size
 * slots, the formatter (format.c) turns them into JSON lines. */
#ifndef FERRY_EVENT_H
#define FERRY_EVENT_H

#include <string.h>

#include "ferry.h"
#include "schema.h"

typedef uint32_t fy_ref; /* a place in the log's arena, in units of 8 bytes; 0 is nothing */
#define FY_ABSENT INT64_MIN
#define FY_NO_DEVICE 255

typedef enum fy_word {
#define W(word) FY_WORD_##word,
    FY_WORDS(W)
#undef W
    FY_WORD_COUNT
} fy_word;

typedef enum fy_kind {
    FY_KIND_unpublished, /* a claimed slot that nobody has filled yet */
#define KIND(kind, doc) FY_KIND_##kind,
#define FIELD(kind, type, name, doc)
#define END(kind)
    FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END
    FY_KIND_COUNT
} fy_kind;

/* One operand of an op. */
typedef struct fy_use {
    uint32_t tensor, storage, version;
} fy_use;

/* One end of a copy. */
typedef struct fy_side {
    uint64_t addr;
    uint32_t tensor, storage, version;
    uint8_t device, mem;
} fy_side;

#define FY_C_INT(n) int64_t n
#define FY_C_OPT(n) int64_t n
#define FY_C_ID(n) uint32_t n
#define FY_C_SEQ(n) uint64_t n
#define FY_C_BOOL(n) uint8_t n
#define FY_C_FLAG(n) uint8_t n
#define FY_C_ADDR(n) uint64_t n
#define FY_C_REAL(n) double n
#define FY_C_DEV(n) uint8_t n
#define FY_C_ENUM(n) uint8_t n
#define FY_C_STR(n) fy_ref n
#define FY_C_DIMS(n) fy_ref n
#define FY_C_IDS(n) fy_ref n
#define FY_C_NUMS(n) fy_ref n
#define FY_C_REFS(n) fy_ref n
#define FY_C_JSON(n) fy_ref n
#define FY_C_DIM3(n) uint32_t n[3]
#define FY_C_SIDE(n) fy_side n

/* The records: fy_ev_alloc, fy_ev_copy ... (every one has a leading byte, since C has no empty struct). Without
 * gaps: the kernel clears every page of a log, which can cost more than all the rest of an event. */
#define KIND(kind, doc) typedef struct __attribute__((packed)) fy_ev_##kind { uint8_t empty_;
#define FIELD(kind, type, name, doc) FY_C_##type(name);
#define END(kind) } fy_ev_##kind;
FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END

/* Record one event; returns its seq. Thread-safe, lock-free, about 50 ns; 0 and nothing else when no
 * log is open. `at` may be NULL. The time stamp is fy_now(). When this returns, no kill loses it. */
uint64_t fy_emit(fy_site *at, fy_kind kind, const void *record, size_t bytes);
#define FY_EMIT(at, kind, ...) \
    fy_emit(at, FY_KIND_##kind, &(const fy_ev_##kind){__VA_ARGS__}, sizeof(fy_ev_##kind))

/* An op that the host did and the complete that follows it, as one record. At most two operands. */
typedef struct fy_host_op_event {
    uint32_t id;
    fy_ref name;
    int64_t flops, bytes, held, start, end, overhead;
    fy_use in[2], out;
    uint8_t nin, dtype;
} fy_host_op_event;
bool fy_emit_host_op(fy_site *at, const fy_host_op_event *o); /* false, and nothing is recorded: tell them one by one */

/* Put bytes that do not fit a slot into the arena, before the event that refers to them. 0 if no log. */
fy_ref fy_ref_bytes(const void *p, size_t bytes); /* DIMS, IDS, NUMS, REFS, and long STR and JSON */
void *fy_ref_room(size_t bytes, fy_ref *ref);     /* likewise, to be filled by the caller; NULL: nothing is recorded */
fy_ref fy_ref_str(const char *s);                 /* interned by content; NULL gives 0 */
fy_ref fy_ref_dims(const int64_t *dims, int n);   /* likewise; DIMS that come again and again */

bool fy_log_is_on(void); /* one load; is anyone recording? */

/* The word of a dtype in an event. */
static inline fy_word fy_dtype_word(fy_dtype d)
{
    static const fy_word words[] = {
        [FY_FLOAT32] = FY_WORD_float32, [FY_INT64] = FY_WORD_int64, [FY_FLOAT16] = FY_WORD_float16,
        [FY_BFLOAT16] = FY_WORD_bfloat16, [FY_FLOAT64] = FY_WORD_float64, [FY_INT32] = FY_WORD_int32,
        [FY_UINT8] = FY_WORD_uint8, [FY_BOOL] = FY_WORD_bool,
    };
    return (unsigned)d < sizeof words / sizeof *words ? words[d] : FY_WORD_none;
}

#endif
