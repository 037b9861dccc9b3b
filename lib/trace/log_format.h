/* log_format.h: how the slot log lies in its file, for the files of lib that write and read it: log.c
 * (files and mappings), log_prealloc.c and trace_writer.c (the writer), log_reader.c, event_reader.c and format.c
 * (readers).
 *
 *     | head, 64 KiB | slots, 64 B each, by seq | arena: entries of {size, mark, bytes} |
 *
 * The file is sparse and never grows. A slot's kind is stored last, so a reader that sees a kind sees
 * the whole slot, and everything in the arena that it refers to. A few slots and some arena beyond the
 * program's limit are kept for the verdicts that a grader appends.
 *
 * A record that is larger than a slot lies in the arena, and the slot holds a reference to it. An op on the
 * host and its complete have one record, an fy_host_op_event, in their two slots. */
#ifndef FERRY_SLOTS_H
#define FERRY_SLOTS_H

#include <stdatomic.h>

#include "event.h"
#include "log.h"
#include "text.h"

enum {
    FY_LOG_VERSION = 2,
    FY_LOG_PIECE = 65536,     /* head, slots and arena begin at multiples of it: a page anywhere */
    FY_PAYLOAD_BYTES = 48,
    FY_RECORD_MOST = 96,      /* the largest record */
    FY_VERDICT_SLOTS = 1024,  /* one piece */
    FY_VERDICT_ARENA = 4 * FY_LOG_PIECE,
    FY_LOG_LEAST = 16,        /* the smallest limit */
    FY_PAIRED = 1 << 15,      /* in a slot's kind: it holds one half of an fy_host_op_event */
};
#define FY_LOG_DEFAULT (4u << 20)
#define FY_LOG_MOST (1u << 26)
#define FY_ENTRY_MARK 0x46594152u /* "FYAR", mixed with the size: tells an entry from other bytes */

typedef struct fy_slot {
    _Atomic uint16_t kind; /* published last */
    uint16_t th;
    fy_ref site;           /* an fy_site_entry in the arena, or 0 */
    int64_t t;
    unsigned char record[FY_PAYLOAD_BYTES];
} fy_slot;
_Static_assert(sizeof(fy_slot) == 64, "a slot is a cache line");
_Static_assert(sizeof(fy_host_op_event) == 2 * FY_PAYLOAD_BYTES && offsetof(fy_host_op_event, in) >= FY_PAYLOAD_BYTES,
               "an fy_host_op_event fills two slots, its uses in the second");

/* In a reference: it is to the uses in the second slot of an fy_host_op_event, whose seq is the rest less the last bit:
 * 0 for what is read, 1 for what is written. */
#define FY_REF_PAIRED (1u << 31)

typedef struct fy_entry {
    uint32_t size, mark; /* mark is size ^ FY_ENTRY_MARK */
} fy_entry;

/* A call site, as the arena keeps it. */
typedef struct fy_site_entry {
    fy_ref file, fn;
    uint32_t line;
} fy_site_entry;

typedef struct fy_head {
    char magic[8];          /* "FERRYLOG" */
    uint32_t version;
    uint32_t spare;
    uint64_t layout;        /* hash of the schema's names, places and sizes */
    uint64_t limit;         /* events that the program may record, log_full among them */
    uint64_t arena_bytes;   /* that the program may use */
    _Atomic int64_t writer; /* pid; 0 until there is one */
    _Atomic uint64_t born;  /* the writer's start in clock ticks since boot: pids come again */
    _Alignas(64) _Atomic uint64_t next;  /* slots claimed */
    _Alignas(64) _Atomic uint64_t arena; /* bytes claimed; begins at 8, so that no entry has ref 0 */
    _Alignas(64) _Atomic uint64_t full;  /* seq of log_full plus 1: nothing beyond counts */
    _Atomic uint32_t ended;              /* the writer said that it is done */
} fy_head;

/* Where a log is mapped, for whoever meets a page that its file lost. (mapping.c) */
typedef struct fy_mapping {
    _Atomic uintptr_t from;   /* 0: nothing is mapped */
    _Atomic size_t bytes;
    _Atomic uint32_t patches; /* so often a page was gone */
    _Atomic bool taken;
    struct fy_mapping *next;
} fy_mapping;
fy_mapping *fy_mapping_add(const void *from, size_t bytes); /* NULL without memory */
void fy_mapping_drop(fy_mapping *m);

/* A mapping of a log. Counts are what the file really holds: a file may be cut off, or lie. */
struct fy_log {
    fy_head *head;
    fy_slot *slots;
    unsigned char *arena;
    uint64_t slot_count, arena_bytes; /* mapped, verdicts included */
    size_t mapped;
    int fd;
    dev_t device;             /* the file, to know it by: */
    ino_t number;             /* its descriptor may be closed, its name taken by another */
    fy_mapping *mapping;
    uint32_t patches;         /* of the mapping, when last looked at */
    uint32_t cuts;            /* so often less was found of the file than before; 0: it is whole */
    bool writable;
    bool gone;                /* the writer was waited for, or found dead */
    uint64_t stops;           /* where a damaged counter claims what nobody wrote; 0: nowhere */
    bool cut;                 /* the file was cut off before the end of the head */
};

/* log.c */
uint64_t fy_log_slot_bytes(uint64_t limit); /* of the program's slots, rounded to pieces */
void fy_log_check_size(fy_log *log);        /* believe no more than the file still holds */

/* log_reader.c: bytes of an arena entry, NULL if ref names none. */
const void *fy_log_bytes(const fy_log *log, fy_ref ref, size_t *size);
/* A call site; false, and zeros, if ref names none. */
bool fy_log_site(const fy_log *log, fy_ref ref, fy_site_entry *site);
/* The slot, if it is published, else NULL. */
const fy_slot *fy_log_slot(const fy_log *log, uint64_t seq, uint16_t *kind);
/* The kind's fy_ev_; false if what is there cannot be right. */
bool fy_log_record(const fy_log *log, uint64_t seq, unsigned kind, void *record);
/* What holds readers up: has the event come, will it come, or is it lost? */
typedef enum fy_arrival { FY_HERE, FY_LATER, FY_NEVER } fy_arrival;
fy_arrival fy_log_arrival(fy_log *log, uint64_t seq);
bool fy_log_stops(fy_log *log, uint64_t seq); /* of an event that is lost: nothing behind it makes sense */

/* format.c */
uint64_t fy_layout_hash(void);
void fy_format(const fy_log *log, uint64_t seq, const fy_slot *slot, uint16_t kind, fy_text *out); /* one line */
void fy_format_lost(uint64_t seq, fy_text *out);
void fy_device_name(uint8_t device, char name[static 16]);

/* log_prealloc.c: disk and memory ahead of the writer. Marks say up to where it may write at once. */
extern _Atomic uint64_t fy_slot_mark, fy_arena_mark;
bool fy_reserve_begin(fy_log *log, bool verdicts, char *err, size_t room);
bool fy_reserve_slot(uint64_t seq);              /* beyond the mark: may this slot be written? */
bool fy_reserve_arena(uint64_t from, uint64_t to); /* likewise; false ends the log */
void fy_reserve_end(void);                       /* joins the helper, if there is one */
void fy_reserve_forked(void);                    /* in a child: forget the parent's */

/* trace_writer.c */
size_t fy_record_size(unsigned kind); /* 0 if there is no such kind */
fy_log *fy_log_of_process(void);         /* the log being written, or NULL */
void fy_log_stop(const fy_head *log); /* its file was cut off: nothing more is recorded there. In a signal handler */
void fy_log_end(void);             /* no event is recorded from now on, and readers are told so */
void fy_log_forked(void);          /* in a child: let go of the parent's log */
void fy_log_put(uint64_t seq, fy_kind kind, const void *record, size_t bytes); /* fill a claimed slot */

/* trace_file.c: the file that FERRY_TRACE names. */
/* A log under that name, or under run.2.jsonl, run.3.jsonl ... while other programs write there. -1 with a message. */
int fy_trace_open(const char *name, char *err, size_t room);
const char *fy_trace_path(void);        /* absolute; NULL: there is none */
void fy_trace_forget(bool remove);      /* it is not to be written; the file goes too, if it is still ours */
void fy_trace_forked(int child);        /* the child's is FILE.childN */
void fy_trace_write(fy_log *log);       /* at exit: JSON lines take the log's place */

#endif
