/* event.h: event records, and fy_emit, which appends them to the log. The log (log.c) has fixed-size slots; the
 * formatter (format.c) converts them to JSON lines. */
#ifndef FERRY_EVENT_H
#define FERRY_EVENT_H

#include <string.h>

#include "ferry.h"
#include "schema.h"

typedef uint32_t fy_ref; /* offset in the log's arena, in units of 8 bytes; 0: none */
#define FY_ABSENT INT64_MIN
#define FY_NO_DEVICE 255

typedef enum fy_word {
#define W(word) FY_WORD_##word,
    FY_WORDS(W)
#undef W
    FY_WORD_COUNT
} fy_word;

typedef enum fy_kind {
    FY_KIND_unpublished, /* claimed, not filled yet */
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
typedef struct __attribute__((packed)) fy_side {
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

/* The records: fy_ev_alloc, fy_ev_copy ... Each has a leading byte, since C has no empty struct. Packed, because fewer
 * log pages mean fewer page faults, which can dominate the cost of an event. */
#define KIND(kind, doc) typedef struct __attribute__((packed)) fy_ev_##kind { uint8_t empty_;
#define FIELD(kind, type, name, doc) FY_C_##type(name);
#define END(kind) } fy_ev_##kind;
FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END

/* What the work took at most, and at least, in ns. They differ where its stream was idle: the time between its
 * two marks then has its launch in it. 0: nothing is known. */
static inline int64_t fy_took_at_most(const fy_ev_complete *c) { return (int64_t)((uint64_t)c->end - (uint64_t)c->start); }
static inline int64_t fy_took_at_least(const fy_ev_complete *c)
{
    int64_t most = fy_took_at_most(c);
    if (c->launch == FY_ABSENT) return most;
    if (c->marks == FY_ABSENT) return 0;
    uint64_t less = (uint64_t)c->launch + (uint64_t)c->marks;
    return most > 0 && less < (uint64_t)most ? most - (int64_t)less : 0;
}

/* Records one event, stamped with fy_now(), and returns its seq; 0, without effect, if no log is open. at: call site,
 * may be NULL. Thread-safe, lock-free, about 50 ns. Once it returns, the event survives SIGKILL. */
uint64_t fy_emit(fy_site *at, fy_kind kind, const void *record, size_t bytes);
#define FY_EMIT(at, kind, ...) \
    fy_emit(at, FY_KIND_##kind, &(const fy_ev_##kind){__VA_ARGS__}, sizeof(fy_ev_##kind))

/* A host op and its complete, as one record. At most two inputs. */
typedef struct fy_host_op_record {
    uint32_t id;
    fy_ref name;
    int64_t flops, bytes, held, start, end;
    fy_ref numbers;
    uint32_t overhead;
    fy_use in[2], out;
    uint8_t nin, dtype;
} fy_host_op_record;
bool fy_emit_host_op(fy_site *at, const fy_host_op_record *o); /* false: not recorded; emit two events instead */

/* A tensor's drop and the free of its storage, which it held alone, at once. */
void fy_emit_drop_free(fy_site *at, const fy_ev_drop *dropped, const fy_ev_free *freed);

/* Copy data that does not fit a slot to the arena, before emitting the event that refers to it. 0 if no log is open. */
fy_ref fy_ref_bytes(const void *p, size_t bytes); /* DIMS, IDS, NUMS, REFS, and long STR and JSON */
fy_ref fy_ref_str(const char *s);                 /* interned by content; 0 for NULL */
fy_ref fy_ref_dims(const int64_t *dims, int n);   /* likewise, for DIMS */
fy_ref fy_ref_dtype(fy_dtype d);                  /* likewise, its name */

/* A thread's number in the log of that generation; another one: the thread has none yet. swap gives the caller the
 * number t, of a thread that has ended, and returns its own. */
typedef struct fy_log_thread {
    uint32_t generation;
    uint16_t number;
} fy_log_thread;
fy_log_thread fy_log_thread_swap(fy_log_thread t);

bool fy_log_is_on(void); /* is a log open? One atomic load */

/* A dtype as an ENUM value. */
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
