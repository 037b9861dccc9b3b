/* log_format.h: the file format of the slot log, for log.c (files and mappings), log_prealloc.c and trace_writer.c (the
 * writer), log_reader.c, event_reader.c and format.c (readers).
 *
 *     | head, 64 KiB | slots, 64 B each, by seq | arena: entries of {size, mark, bytes} |
 *
 * The file is sparse and never grows. A slot's kind is stored last, with release ordering: a reader that sees it also
 * sees the rest of the slot and the arena entries that it refers to. Some slots and arena bytes beyond the program's
 * limit are reserved for the grader's verdicts.
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
    FY_LOG_VERSION = 2,
    FY_LOG_ALIGN = 65536,     /* alignment of head, slots and arena: a multiple of any page size */
    FY_PAYLOAD_BYTES = 48,
    FY_RECORD_MAX = 96,       /* the largest record */
    FY_VERDICT_SLOTS = 1024,  /* 64 KiB: a multiple of FY_LOG_ALIGN, as all parts of the file */
    FY_VERDICT_ARENA = 4 * FY_LOG_ALIGN,
    FY_LOG_MIN = 16,          /* the smallest limit */
    FY_PAIRED = 1 << 15,      /* in a slot's kind: it holds one half of an fy_host_op_record */
};
#define FY_LOG_DEFAULT (4u << 20)
#define FY_LOG_MAX (1u << 26)
#define FY_ENTRY_MARK 0x46594152u /* "FYAR"; XORed with the size, it detects references to other bytes */

typedef struct fy_slot {
    _Atomic uint16_t kind; /* published last */
    uint16_t th;
    fy_ref site;           /* an fy_site_entry in the arena, or 0 */
    int64_t t;
    unsigned char record[FY_PAYLOAD_BYTES];
} fy_slot;
_Static_assert(sizeof(fy_slot) == 64, "a slot is a cache line");
_Static_assert(sizeof(fy_host_op_record) == 2 * FY_PAYLOAD_BYTES && offsetof(fy_host_op_record, in) >= FY_PAYLOAD_BYTES,
               "an fy_host_op_record fills two slots, its uses in the second");

/* Flag of a reference to the uses in an fy_host_op_record. The other bits: 2 * seq of its second slot, plus 0 for the
 * inputs or 1 for the output. */
#define FY_REF_PAIRED (1u << 31)

typedef struct fy_entry {
    uint32_t size, mark; /* mark is size ^ FY_ENTRY_MARK */
} fy_entry;

/* A call site in the arena. */
typedef struct fy_site_entry {
    fy_ref file, fn;
    uint32_t line;
} fy_site_entry;

typedef struct fy_head {
    char magic[8];          /* "FERRYLOG" */
    uint32_t version;
    uint32_t spare;
    uint64_t layout;        /* hash of the schema's names, offsets and sizes */
    uint64_t limit;         /* events that the program may record, log_full included */
    uint64_t arena_bytes;   /* that the program may use */
    _Atomic int64_t writer; /* pid; 0: none yet */
    _Atomic uint64_t born;  /* the writer's start time in clock ticks since boot: pids are reused */
    _Alignas(64) _Atomic uint64_t next;  /* slots claimed */
    _Alignas(64) _Atomic uint64_t arena; /* bytes claimed; starts at 8, so that no entry has ref 0 */
    _Alignas(64) _Atomic uint64_t full;  /* seq of log_full plus 1: later slots are invalid */
    _Atomic uint32_t ended;              /* the writer has finished */
} fy_head;

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

/* An open log. The counts are limited to what the file really has: it may be truncated or damaged. */
struct fy_log {
    fy_head *head;
    fy_slot *slots;
    unsigned char *arena;
    uint64_t slot_count, arena_bytes; /* mapped, verdicts included */
    size_t mapped;
    int fd;
    dev_t device;             /* identity of the file: */
    ino_t number;             /* fd may be closed and reused, the name replaced */
    fy_mapping *mapping;
    uint32_t patches;         /* of the mapping, at the last check */
    uint32_t cuts;            /* how often the file was found truncated; 0: complete */
    bool writable;
    bool gone;                /* the writer is known to be dead */
    uint64_t stops;           /* seq from which on the slot counter is damaged; 0: none */
    bool cut;                 /* truncated before the end of the head */
};

/* log.c */
uint64_t fy_log_slot_bytes(uint64_t limit); /* of the program's slots, rounded up to FY_LOG_ALIGN */
void fy_log_check_size(fy_log *log);        /* limits the counts to the file's current size */

/* log_reader.c: bytes of an arena entry, NULL if ref is invalid. */
const void *fy_log_bytes(const fy_log *log, fy_ref ref, size_t *size);
/* A call site; false, and zeros, if ref is invalid. */
bool fy_log_site(const fy_log *log, fy_ref ref, fy_site_entry *site);
/* The slot, if it is published, else NULL. */
const fy_slot *fy_log_slot(const fy_log *log, uint64_t seq, uint16_t *kind);
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

/* log_prealloc.c: reserves disk and memory ahead of the writer. Up to the marks it may write without a check. */
extern _Atomic uint64_t fy_slot_mark, fy_arena_mark;
bool fy_reserve_begin(fy_log *log, bool verdicts, char *err, size_t room);
bool fy_reserve_slot(uint64_t seq);                /* a slot beyond the mark: may it be written? */
bool fy_reserve_arena(uint64_t from, uint64_t to); /* likewise; false ends the log */
void fy_reserve_end(void);                         /* joins the helper thread */
void fy_reserve_forked(void);                      /* in a child: drops the parent's state */

/* trace_writer.c */
size_t fy_record_size(unsigned kind); /* 0 if there is no such kind */
fy_log *fy_log_of_process(void);      /* the log being written, or NULL */
void fy_log_stop(const fy_head *log); /* truncated: stops recording to this log. Async-signal-safe */
void fy_log_end(void);                /* stops recording and marks the log as ended */
uint64_t fy_log_lost(void);           /* events that this process's log had no room for */
void fy_log_forked(void);             /* in a child: drops the parent's log */
void fy_log_put(uint64_t seq, fy_kind kind, const void *record, size_t bytes); /* fills a claimed slot */

/* trace_file.c: the file of FERRY_TRACE. */
/* Creates a log of that name, or run.2.jsonl, run.3.jsonl ... while other programs write there. -1 with a message. */
int fy_trace_open(const char *name, char *err, size_t room);
const char *fy_trace_path(void);   /* absolute; NULL: none */
void fy_trace_forget(bool remove); /* gives the trace up; remove: unlinks the file, if it is still ours */
void fy_trace_forked(int child);   /* the child's is FILE.childN */
void fy_trace_write(fy_log *log);  /* at exit: replaces the log by JSON lines */

#endif
