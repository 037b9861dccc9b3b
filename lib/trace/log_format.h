/* log_format.h: the file format of the slot log, for log.c (files and mappings), trace_writer.c and log_ring.c (the
 * writer), log_chunks.c, log_reader.c, event_reader.c and format.c (readers).
 *
 *     | head, 64 KiB | slot ring | arena ring | slot chunk 0 | arena chunk 0 | slot chunk 1 | arena chunk 1 | ...
 *
 * Slots have 64 bytes each, by seq; the arena has entries of {size, mark, bytes}. Both begin in their ring of FY_RING
 * chunks, which is mapped. A chunk whose slots or entries are all there is written to its place behind the rings, and
 * its part of the ring used again (log_ring.c): the file grows, and the memory of the program does not. Until `written`
 * says that a byte is in its chunk, it is in the ring: a kill at any instant loses neither.
 *
 * A slot's kind is stored last, with release ordering, with the parity of its lap through the ring: a reader that sees
 * it also sees the rest of the slot and the arena entries that it refers to. An entry's mark is stored last, too, and
 * depends on its place, so that no entry of an earlier lap is taken for it. No entry lies across the border of two
 * chunks, except one that has whole chunks for itself. Some slots and arena bytes of the rings are reserved for the
 * grader's verdicts.
 *
 * A record larger than a slot is in the arena, and the slot has a reference to it. A host op and its complete share one
 * record, an fy_host_op_record, in their two slots. */
#ifndef FERRY_LOG_FORMAT_H
#define FERRY_LOG_FORMAT_H

#include <stdatomic.h>

#include "event.h"
#include "log.h"
#include "text.h"

enum {
    FY_LOG_VERSION = 4,
    FY_LOG_ALIGN = 65536,     /* alignment of head and chunks: a multiple of any page size */
    FY_RING = 8,              /* chunks of a ring */
    FY_CHUNK_LEAST = FY_LOG_ALIGN,
    FY_CHUNK_MOST = 8 * FY_LOG_ALIGN,
    FY_PAYLOAD_BYTES = 48,
    FY_RECORD_MAX = 104,      /* the largest record */
    FY_VERDICT_SLOTS = 1024,
    FY_VERDICT_ARENA = 4 * FY_LOG_ALIGN,
    FY_LOG_MIN = 16,          /* the smallest limit */
    FY_KIND_BITS = 7,         /* of a slot's kind; seven more count the calls that the event tells */
    FY_KIND_MASK = (1 << FY_KIND_BITS) - 1,
    FY_TOLD_MAX = 127,
    FY_LAP = 1 << 14,         /* in a slot's kind: its lap through the ring is an odd one */
    FY_PAIRED = 1 << 15,      /* likewise: it holds one half of an fy_host_op_record */
};
#define FY_LOG_MOST_BYTES (4ull << 30)  /* of a file, unless FERRY_LOG_LIMIT says otherwise */
#define FY_LOG_MOST_ARENA (16ull << 30) /* bytes: a reference counts 8 of them, and has a flag */
#define FY_ENTRY_MARK 0x46594152u /* "FYAR" */

typedef struct fy_slot {
    _Atomic uint16_t kind; /* published last */
    uint16_t th;
    fy_ref call;           /* an fy_call_entry in the arena, or 0 */
    int64_t t;
    unsigned char record[FY_PAYLOAD_BYTES];
} fy_slot;
_Static_assert(sizeof(fy_slot) == 64, "a slot is a cache line");
/* The bit for seq's lap, in its kind; the kind that is stored there, FY_KIND_unpublished if it is of an earlier lap. */
static inline uint16_t fy_lap_of(uint64_t chunk, uint64_t seq)
{
    return seq * sizeof(fy_slot) & FY_RING * chunk ? FY_LAP : 0; /* both factors are powers of two */
}
static inline uint16_t fy_kind_in_slot(uint64_t chunk, uint64_t seq, uint16_t stored)
{
    return (stored & FY_LAP) == fy_lap_of(chunk, seq) ? stored & FY_KIND_MASK : FY_KIND_unpublished;
}
_Static_assert(sizeof(fy_host_op_record) == 2 * FY_PAYLOAD_BYTES && offsetof(fy_host_op_record, in) >= FY_PAYLOAD_BYTES,
               "an fy_host_op_record fills two slots, its uses in the second");

/* Flag of a reference to the uses in an fy_host_op_record. The other bits: 2 * seq of its second slot, plus 0 for the
 * inputs or 1 for the output. */
#define FY_REF_PAIRED (1u << 31)

typedef struct fy_entry {
    uint32_t size, mark;
} fy_entry;
static inline fy_entry fy_entry_of(uint32_t size, fy_ref ref) { return (fy_entry){size, size ^ ref ^ FY_ENTRY_MARK}; }
static inline bool fy_entry_is_at(fy_entry e, fy_ref ref) { return e.mark == (e.size ^ ref ^ FY_ENTRY_MARK); }

_Static_assert(FY_KIND_COUNT <= 1 << FY_KIND_BITS, "a kind has so many bits");

/* A call site in the arena. */
typedef struct fy_site_entry {
    fy_ref file, fn;
    uint32_t line;
    fy_ref call, args; /* as the program wrote them */
} fy_site_entry;

/* A call, or a region, in the arena (frame.h). The entry of one that has neither number ends before them. */
typedef struct fy_call_entry {
    uint32_t id;   /* from 1, in the order of their records */
    fy_ref site;
    fy_ref parent; /* the call or region that it is in: an older entry; 0: none */
    fy_ref name;   /* of a function of the library, or of a region; 0: what the program wrote */
    uint16_t th;
    uint8_t region; /* an fy_word; none: a call */
    int64_t number, of; /* of a region; FY_ABSENT: none. gradient: the node, and the differentiated call (fy_ref) */
} fy_call_entry;

/* Did the program write it, or the library inside of `parent`? At the same call site a call of the program's has no name
 * of its own, and a region is one that a macro opens, such as FY_SCOPE. */
static inline bool fy_call_is_programs(const fy_call_entry *c, const fy_call_entry *parent)
{
    switch (c->site == parent->site ? c->region : FY_WORD_scope) {
    case FY_WORD_none: return !c->name;
    case FY_WORD_loop:
    case FY_WORD_scope:
    case FY_WORD_stream:
    case FY_WORD_device:
    case FY_WORD_no_grad:
    case FY_WORD_autocast: return true;
    default: return false;
    }
}

typedef struct fy_head {
    char magic[8];          /* "FERRYLOG" */
    uint32_t version;
    uint32_t chunk;         /* bytes of a chunk */
    uint64_t layout;        /* hash of the schema's names, offsets and sizes */
    uint64_t limit;         /* events that the program may record, log_full included; 0: any number */
    uint64_t most_bytes;    /* of the file */
    _Atomic int64_t writer; /* pid; 0: none yet */
    _Atomic uint64_t born;  /* the writer's start time in clock ticks since boot: pids are reused */
    _Alignas(64) _Atomic uint64_t next;  /* slots claimed */
    _Alignas(64) _Atomic uint64_t arena; /* bytes claimed; starts at 8, so that no entry has ref 0 */
    _Alignas(64) _Atomic uint64_t full;  /* seq of log_full plus 1: later slots are invalid */
    _Atomic uint32_t ended;              /* the writer has finished */
    _Atomic uint32_t calls;              /* recorded */
    _Atomic uint64_t written[2];         /* bytes of slots, and of the arena, that are in their chunks */
} fy_head;

typedef enum fy_part { FY_SLOTS, FY_ARENA } fy_part; /* what a ring or a chunk has */

/* A mapped log, for the SIGBUS handler. (mapping.c) */
typedef struct fy_mapping {
    _Atomic uintptr_t from;   /* 0: unused */
    _Atomic size_t bytes;
    _Atomic uint32_t patches; /* number of faults on truncated pages */
    _Atomic bool taken;
    struct fy_mapping *next;
} fy_mapping;
fy_mapping *fy_mapping_add(const void *from, size_t bytes); /* NULL without memory */
void fy_mapping_drop(fy_mapping *m);

/* An open log. What it may read is limited to what the file really has: it may be truncated or damaged. */
struct fy_log {
    fy_head *head;
    fy_slot *slots;           /* the rings */
    unsigned char *arena;
    uint64_t chunk;
    uint64_t arena_bytes;     /* of the arena's ring, or of an arena without a file (viewer/trace/event_arena.c) */
    size_t mapped;
    int fd;
    dev_t device;             /* identity of the file: */
    ino_t number;             /* fd may be closed and reused, the name replaced */
    fy_mapping *mapping;
    struct fy_copies *copies; /* of what was read last (log_chunks.c); NULL: there is no file */
    uint32_t patches;         /* of the mapping, at the last check */
    uint32_t cuts;            /* how often the file was found truncated; 0: complete */
    uint64_t kept;            /* bytes of the file that were never missing */
    bool writable;
    bool gone;                /* the writer is known to be dead */
    uint64_t stops;           /* seq from which on the slot counter is damaged; 0: none */
    bool cut;                 /* truncated before the end of the head */
};

/* log.c */
void fy_log_check_size(fy_log *log); /* notes what the file has lost */
/* Is fd still the log's file, and no other one of the program's? size may be NULL. */
bool fy_log_has_file(const fy_log *log, uint64_t *size);
void fy_log_find_file(fy_log *log, const char *path); /* if not, it is opened again; path may be NULL */

/* log_chunks.c: where the bytes of slots and arena are, and readers' copies of them. */
static inline uint64_t fy_ring_bytes(const fy_log *log) { return FY_RING * log->chunk; }
static inline uint64_t fy_log_base(uint64_t chunk) { return FY_LOG_ALIGN + 2 * FY_RING * chunk; } /* behind the rings */
uint64_t fy_chunk_place(const fy_log *log, fy_part part, uint64_t from); /* in the file, of byte `from` of that part */
uint64_t fy_log_least_bytes(const fy_log *log); /* what the file has at least, if it was not truncated */
uint64_t fy_log_kept_slots(const fy_log *log);  /* of the first ones without a gap, that truncation has left */
struct fy_copies *fy_copies_make(void);         /* NULL: out of memory */
void fy_copies_free(struct fy_copies *c);
void fy_copies_forget(struct fy_copies *c); /* the file was truncated */

/* The rest are copies, valid until the next call of fy_log_slot for this log. */
/* The slot, if it is published, else NULL. */
const fy_slot *fy_log_slot(const fy_log *log, uint64_t seq, uint16_t *kind);
/* Bytes of an arena entry, NULL if ref is invalid. */
const void *fy_log_bytes(const fy_log *log, fy_ref ref, size_t *size);
/* A slot, published or not; false if it is nowhere. */
bool fy_log_copy_slot(const fy_log *log, uint64_t seq, fy_slot *to);

/* log_reader.c: a call site, a call; false, and zeros, if ref is invalid. */
bool fy_log_site(const fy_log *log, fy_ref ref, fy_site_entry *site);
bool fy_log_call(const fy_log *log, fy_ref ref, fy_call_entry *call);
/* Likewise with its site, if it has one; false also if the place of that is invalid: such an event reads as `lost`. */
bool fy_log_placed_call(const fy_log *log, fy_ref ref, fy_call_entry *call, fy_site_entry *site);
unsigned fy_slot_told(const fy_slot *slot); /* how many calls the event tells: its own, and its parents */
/* Copies the kind's fy_ev_ record; false if it is invalid. */
bool fy_log_record(const fy_log *log, uint64_t seq, unsigned kind, void *record);
/* Is a claimed slot published, may it still be, or is it lost? */
typedef enum fy_slot_state { FY_HERE, FY_LATER, FY_NEVER } fy_slot_state;
fy_slot_state fy_log_arrival(fy_log *log, uint64_t seq);
/* seq is lost: is the slot counter damaged, so that the log ends here? */
bool fy_log_is_damaged_from(fy_log *log, uint64_t seq);

/* format.c */
uint64_t fy_layout_hash(void);
void fy_format(const fy_log *log, uint64_t seq, const fy_slot *slot, uint16_t kind, fy_text *out); /* one line */
void fy_format_lost(uint64_t seq, fy_text *out);
void fy_device_name(uint8_t device, char name[static 16]);

/* log_ring.c: the writer's rings. A claim of slots or arena up to the mark (in bytes) may be filled without a check. */
extern _Atomic uint64_t fy_ring_mark[2];
void fy_ring_begin(fy_log *log, bool verdicts);
bool fy_ring_has_room(fy_part part, uint64_t to); /* a claim that ends beyond the mark: may it be filled? */
extern _Atomic bool fy_ring_gave_up;               /* some claim took too long to fill: */
bool fy_ring_is_past(fy_part part, uint64_t from); /* this one? */
fy_ref fy_ring_store(const void *p, size_t bytes); /* an entry that gets whole chunks; 0: the log is full */
const char *fy_log_why_full(char *text, size_t room); /* what would have made room for more */
void fy_ring_forked(void);                         /* in a child: drops the parent's state */

/* trace_writer.c */
size_t fy_record_size(unsigned kind); /* 0 if there is no such kind */
fy_log *fy_log_of_process(void);      /* the log being written, or NULL */
void fy_log_stop(const fy_head *log); /* truncated: stops recording to this log. Async-signal-safe */
void fy_log_end(void);                /* stops recording and marks the log as ended */
uint64_t fy_log_lost(void);           /* events that this process's log had no room for */
void fy_entry_put(uint64_t from, const void *p, size_t bytes); /* fills a claim of the arena; p NULL: with nothing */
void fy_log_forked(void);             /* in a child: drops the parent's log */
void fy_log_put(uint64_t seq, fy_kind kind, const void *record, size_t bytes); /* fills a claimed slot */
uint32_t fy_log_new_call(void);       /* an id for the next call that is recorded */
uint16_t fy_log_thread_number(void);  /* of this thread, in the current log */

/* trace_file.c: the file of FERRY_TRACE. */
/* Creates a log of that name, or run.2.jsonl, run.3.jsonl ... while other programs write there. -1 with a message. */
int fy_trace_open(const char *name, char *err, size_t room);
const char *fy_trace_path(void);   /* absolute; NULL: none */
void fy_trace_forget(bool remove); /* gives the trace up; remove: unlinks the file, if it is still ours */
void fy_trace_forked(int child);   /* the child's is FILE.childN */
void fy_trace_write(fy_log *log);  /* at exit: replaces the log by JSON lines */

#endif
