/* log_reader.c: reads a slot log. Its contents are not trusted: counts are clamped to the file's size, references are
 * checked, and an invalid event reads as `lost`. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "event.h"
#include "log.h"
#include "log_format.h"
#include "text.h"

enum { MOST_LOST = 4096 };

/* ---- is the writer alive? ---- */

/* From /proc/PID/stat: the start time is field 22, the state field 3. */
uint64_t fy_process_started(int64_t pid)
{
    char path[48], line[1024];
    if (pid) snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    else snprintf(path, sizeof path, "/proc/self/stat");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, line, sizeof line - 1);
    close(fd);
    if (n <= 0) return 0;
    line[n] = 0;
    char *p = strrchr(line, ')'); /* the name before it may contain anything */
    if (!p || !p[1] || strchr("ZXx", p[2])) return 0;
    p++;
    for (int field = 3; field < 22; field++)
        if (!(p = strchr(p + 1, ' '))) return 0;
    return strtoull(p, NULL, 10);
}

/* True also before a writer has adopted the log. */
static bool writer_lives(const fy_log *log)
{
    if (log->gone || log->cut) return false;
    int64_t pid = atomic_load(&log->head->writer);
    uint64_t born = atomic_load(&log->head->born);
    if (!pid) return true;
    return born ? fy_process_started(pid) == born : !kill((pid_t)pid, 0);
}

void fy_log_writer_died(fy_log *log) { log->gone = true; }

/* ---- events ---- */

uint64_t fy_log_count(const fy_log *log)
{
    if (log->cut) return 0;
    uint64_t next = atomic_load_explicit(&log->head->next, memory_order_acquire);
    uint64_t full = atomic_load_explicit(&log->head->full, memory_order_acquire);
    uint64_t count = full && full < next ? full : next;
    if (log->stops && log->stops < count) count = log->stops;
    uint64_t kept = log->kept == UINT64_MAX ? UINT64_MAX : fy_log_kept_slots(log);
    return count < kept ? count : kept;
}

bool fy_log_site(const fy_log *log, fy_ref ref, fy_site_entry *site)
{
    size_t size;
    const void *bytes = fy_log_bytes(log, ref, &size);
    *site = (fy_site_entry){0};
    if (!bytes || size != sizeof *site) return false;
    memcpy(site, bytes, sizeof *site);
    return true;
}

/* A parent is older, so that the way up ends in a damaged log, too. */
bool fy_log_call(const fy_log *log, fy_ref ref, fy_call_entry *call)
{
    size_t size;
    const void *bytes = fy_log_bytes(log, ref, &size);
    *call = (fy_call_entry){.number = FY_ABSENT, .of = FY_ABSENT};
    if (!bytes || (size != sizeof *call && size != offsetof(fy_call_entry, number))) return false;
    memcpy(call, bytes, size);
    if (call->id && call->parent < ref && call->region < FY_WORD_COUNT) return true;
    *call = (fy_call_entry){.number = FY_ABSENT, .of = FY_ABSENT};
    return false;
}

static bool is_text(const fy_log *log, fy_ref ref)
{
    size_t size;
    return !ref || fy_log_bytes(log, ref, &size);
}

bool fy_log_placed_call(const fy_log *log, fy_ref ref, fy_call_entry *call, fy_site_entry *site)
{
    *site = (fy_site_entry){0};
    if (!fy_log_call(log, ref, call)) return false;
    if (!call->site) return true;
    return fy_log_site(log, call->site, site) && is_text(log, site->file) && is_text(log, site->fn);
}

unsigned fy_slot_told(const fy_slot *slot)
{
    return atomic_load_explicit(&slot->kind, memory_order_relaxed) >> FY_KIND_BITS & FY_TOLD_MAX;
}

/* The op or complete record of an fy_host_op_record; first: seq of the op. */
static bool host_op_record(const fy_log *log, uint64_t first, unsigned kind, void *record)
{
    fy_host_op_record o;
    fy_slot half[2];
    fy_ref uses = FY_REF_PAIRED | (fy_ref)(2 * (first + 1));
    for (int i = 0; i < 2; i++) {
        if (!fy_log_copy_slot(log, first + (uint64_t)i, &half[i])) return false;
        memcpy((unsigned char *)&o + i * FY_PAYLOAD_BYTES, half[i].record, FY_PAYLOAD_BYTES);
    }
    if (kind == FY_KIND_op)
        *(fy_ev_op *)record = (fy_ev_op){.id = o.id,
                                         .name = o.name,
                                         .stream = FY_ABSENT,
                                         .in = o.nin ? uses : 0,
                                         .out = uses + 1,
                                         .numbers = o.numbers,
                                         .dtype = o.dtype,
                                         .flops = o.flops,
                                         .bytes = o.bytes,
                                         .held = o.held};
    else
        *(fy_ev_complete *)record = (fy_ev_complete){.id = o.id,
                                                     .start = o.start,
                                                     .end = o.end,
                                                     .engine = FY_WORD_host,
                                                     .wire = FY_ABSENT,
                                                     .wire_up = FY_ABSENT,
                                                     .staging = FY_ABSENT,
                                                     .overhead = o.overhead,
                                                     .launch = FY_ABSENT,
                                                     .marks = FY_ABSENT};
    return true;
}

bool fy_log_record(const fy_log *log, uint64_t seq, unsigned kind, void *record)
{
    fy_slot copy, *slot = &copy;
    size_t size = fy_record_size(kind);
    memset(record, 0, size);
    if (!fy_log_copy_slot(log, seq, slot)) return false;
    bool paired = atomic_load_explicit(&slot->kind, memory_order_relaxed) & FY_PAIRED;
    if (paired && kind == FY_KIND_op) return host_op_record(log, seq, kind, record);
    if (paired) return kind == FY_KIND_complete && host_op_record(log, seq - 1, kind, record);

    const void *from = slot->record;
    if (size > FY_PAYLOAD_BYTES) { /* too large for its slot: in the arena */
        fy_ref ref;
        size_t stored = 0;
        memcpy(&ref, slot->record, sizeof ref);
        from = fy_log_bytes(log, ref, &stored);
        if (stored < size) return false;
    }
    memcpy(record, from, size);
    return true;
}

fy_slot_state fy_log_arrival(fy_log *log, uint64_t seq)
{
    uint16_t kind;
    if (fy_log_slot(log, seq, &kind)) return FY_HERE;
    if (writer_lives(log)) return FY_LATER;
    log->gone = true;                                         /* for good; reading /proc is slow */
    return fy_log_slot(log, seq, &kind) ? FY_HERE : FY_NEVER; /* published just before the writer died? */
}

/* A killed program leaves at most two unpublished slots per thread. If many more are missing, the counter of claims is
 * damaged, and the log ends here. */
bool fy_log_is_damaged_from(fy_log *log, uint64_t seq)
{
    uint64_t count = fy_log_count(log);
    uint16_t kind;
    if (count - seq <= MOST_LOST) return false;
    for (uint64_t i = seq; i <= seq + MOST_LOST && i < count; i++)
        if (fy_log_slot(log, i, &kind)) return false;
    log->stops = seq ? seq : 1;
    return true;
}

/* ---- reading ---- */

static size_t read_lines(fy_log *log, uint64_t *cursor, fy_text *out, size_t bytes)
{
    size_t lines = 0;
    for (size_t complete = out->size; *cursor < fy_log_count(log) && (out->size < bytes || !lines);
         lines++, ++*cursor, complete = out->size) {
        fy_slot_state arrival = fy_log_arrival(log, *cursor);
        if (arrival == FY_LATER || (arrival == FY_NEVER && fy_log_is_damaged_from(log, *cursor))) break;
        uint16_t kind;
        const fy_slot *slot = arrival == FY_HERE ? fy_log_slot(log, *cursor, &kind) : NULL;
        if (slot) fy_format(log, *cursor, slot, kind, out);
        else fy_format_lost(*cursor, out);
        if (!out->lost) continue;
        out->size = complete; /* drop the partial line */
        break;
    }
    return lines;
}

/* Lines formatted while the file was truncated may contain zeros from missing pages, so they are formatted again. */
size_t fy_log_read(fy_log *log, uint64_t *cursor, fy_text *out, size_t bytes)
{
    enum { TRIES = 4 };
    uint64_t from = *cursor;
    size_t size = out->size;
    fy_log_check_size(log);
    for (int i = 0; i < TRIES; i++) {
        uint32_t cuts = log->cuts;
        size_t lines = read_lines(log, cursor, out, bytes);
        fy_log_check_size(log);
        if (cuts == log->cuts) return lines;
        *cursor = from;
        out->size = size;
    }
    return 0;
}

bool fy_log_drained(fy_log *log, uint64_t cursor)
{
    fy_log_check_size(log);
    if (log->cut) return true;
    bool ended = atomic_load_explicit(&log->head->ended, memory_order_acquire) || !writer_lives(log);
    return ended && cursor >= fy_log_count(log);
}
