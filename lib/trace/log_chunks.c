/* log_chunks.c: where the bytes of slots and arena are, in a ring or in a chunk of the file, and readers' copies of
 * them.
 *
 * The writer uses a ring again and again. A reader copies first and then looks whether `written` has passed what it
 * copied: if so, the copy may be of something later, and the chunk has the right bytes. They never change there, so
 * blocks of the file are kept. An entry is copied once for each event: a list may be asked for element by element. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "event.h"
#include "log_format.h"
#include "out_of_memory.h"

enum {
    BLOCK = FY_LOG_ALIGN, /* bytes of the file that are read at a time */
    BLOCKS = 64,
    ROOM = 4 * FY_LOG_ALIGN, /* for the copies of an event, but the large ones */
    KNOWN = 32
};

/* A large copy. */
typedef struct single {
    struct single *next;
    unsigned char bytes[];
} single;

struct fy_copies {
    fy_slot slot;
    uint64_t block[BLOCKS]; /* its number in the file, plus 1; 0: none */
    struct {
        fy_ref ref;
        size_t size;
        const void *bytes;
    } known[KNOWN]; /* copies of this event's entries */
    unsigned count; /* of them: later ones replace the first */
    size_t used;    /* of the room */
    single *large;
    _Alignas(8) unsigned char room[ROOM];
    unsigned char blocks[BLOCKS][BLOCK];
};

struct fy_copies *fy_copies_make(void)
{
    struct fy_copies *c = malloc(sizeof *c);
    if (c) memset(c, 0, offsetof(struct fy_copies, room)); /* most logs are short: the rest stays untouched */
    return c;
}

static void forget_event(struct fy_copies *c)
{
    for (single *next; c->large; c->large = next) {
        next = c->large->next;
        free(c->large);
    }
    c->used = c->count = 0;
}

void fy_copies_forget(struct fy_copies *c) { memset(c->block, 0, sizeof c->block); }

void fy_copies_free(struct fy_copies *c)
{
    if (c) forget_event(c);
    free(c);
}

/* ---- places ---- */

uint64_t fy_chunk_place(const fy_log *log, fy_part part, uint64_t from)
{
    return fy_log_base(log->chunk) + (2 * (from / log->chunk) + part) * log->chunk + from % log->chunk;
}

/* Clamped: a damaged one makes no sum overflow. */
static uint64_t written_of(const fy_log *log, fy_part part)
{
    uint64_t written = atomic_load_explicit(&log->head->written[part], memory_order_acquire);
    return written < 1ull << 48 ? written : 1ull << 48;
}

uint64_t fy_log_least_bytes(const fy_log *log)
{
    uint64_t least = fy_log_base(log->chunk);
    for (fy_part part = FY_SLOTS; part <= FY_ARENA; part++) {
        uint64_t written = written_of(log, part), end = written ? fy_chunk_place(log, part, written - 1) + 1 : 0;
        if (end > least) least = end;
    }
    return least;
}

uint64_t fy_log_kept_slots(const fy_log *log)
{
    uint64_t written = written_of(log, FY_SLOTS), kept = log->kept, from = FY_LOG_ALIGN;
    if (!written)
        return kept >= from + fy_ring_bytes(log) ? UINT64_MAX : kept > from ? (kept - from) / sizeof(fy_slot) : 0;
    if (kept > fy_chunk_place(log, FY_SLOTS, written - 1)) return UINT64_MAX;
    from = fy_log_base(log->chunk);
    if (kept <= from) return 0;
    uint64_t rest = (kept - from) % (2 * log->chunk), whole = (kept - from) / (2 * log->chunk);
    return (whole * log->chunk + (rest < log->chunk ? rest : log->chunk)) / sizeof(fy_slot);
}

/* ---- copying ---- */

/* Words of a ring, that the writer may overwrite meanwhile: the caller checks. The first one, which has a slot's kind
 * or an entry's mark, is read before the others. */
__attribute__((noinline, no_sanitize("thread"))) static void copy_words(const void *from, void *to, size_t bytes)
{
    const uint64_t *word = from;
    for (size_t i = 0; i < bytes / 8; i++) {
        uint64_t w = __atomic_load_n(word + i, i ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE);
        memcpy((unsigned char *)to + 8 * i, &w, sizeof w);
    }
}

/* A block of the file, zeros where it has none; NULL if it cannot be read. */
static const unsigned char *block_of(const fy_log *log, uint64_t number)
{
    struct fy_copies *c = log->copies;
    unsigned char *block = c->blocks[number % BLOCKS];
    if (c->block[number % BLOCKS] == number + 1) return block;
    c->block[number % BLOCKS] = 0;
    if (!fy_log_has_file(log, NULL)) return NULL;
    for (size_t done = 0; done < BLOCK;) {
        ssize_t n = pread(log->fd, block + done, BLOCK - done, (off_t)(number * BLOCK + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 || (n == 0 && done == 0)) return NULL;
        if (n == 0) memset(block + done, 0, BLOCK - done), n = (ssize_t)(BLOCK - done);
        done += (size_t)n;
    }
    c->block[number % BLOCKS] = number + 1;
    return block;
}

static bool copy_from_file(const fy_log *log, uint64_t place, void *to, size_t bytes)
{
    for (size_t n; bytes; place += n, to = (unsigned char *)to + n, bytes -= n) {
        const unsigned char *block = block_of(log, place / BLOCK);
        n = BLOCK - place % BLOCK < bytes ? BLOCK - place % BLOCK : bytes;
        if (!block) return false;
        memcpy(to, block + place % BLOCK, n);
    }
    return true;
}

/* Bytes of one chunk, a multiple of 8. False: they are nowhere. */
static bool copy_in_chunk(const fy_log *log, fy_part part, uint64_t from, void *to, size_t bytes)
{
    uint64_t ring = fy_ring_bytes(log), place = FY_LOG_ALIGN + part * ring + from % ring;
    uint64_t written = written_of(log, part);
    if (from >= written) {
        if (from - written >= ring || place + bytes > log->kept) return false;
        copy_words((unsigned char *)log->head + place, to, bytes);
        atomic_thread_fence(memory_order_acquire);
        if (from >= written_of(log, part)) return true; /* and the writer has not been here since */
    }
    place = fy_chunk_place(log, part, from);
    return place + bytes <= log->kept && copy_from_file(log, place, to, bytes);
}

/* Likewise of any number of chunks. */
static bool copy(const fy_log *log, fy_part part, uint64_t from, void *to, size_t bytes)
{
    for (size_t n; bytes; from += n, to = (unsigned char *)to + n, bytes -= n) {
        n = log->chunk - from % log->chunk < bytes ? log->chunk - from % log->chunk : bytes;
        if (!copy_in_chunk(log, part, from, to, n)) return false;
    }
    return true;
}

/* ---- slots ---- */

bool fy_log_copy_slot(const fy_log *log, uint64_t seq, fy_slot *to)
{
    return seq < 1ull << 58 && copy(log, FY_SLOTS, seq * sizeof *to, to, sizeof *to);
}

const fy_slot *fy_log_slot(const fy_log *log, uint64_t seq, uint16_t *kind)
{
    fy_slot *slot = &log->copies->slot;
    forget_event(log->copies);
    if (!fy_log_copy_slot(log, seq, slot)) return NULL;
    *kind = fy_kind_in_slot(log->chunk, seq, atomic_load_explicit(&slot->kind, memory_order_relaxed));
    return *kind == FY_KIND_unpublished ? NULL : slot;
}

/* ---- the arena ---- */

/* Room for a copy, as long as this event is read; a multiple of 8 bytes. */
static void *room_for(struct fy_copies *c, size_t bytes)
{
    if (bytes <= ROOM - c->used) {
        c->used += bytes;
        return c->room + c->used - bytes;
    }
    single *s = malloc(sizeof *s + bytes);
    if (!s) fy_out_of_memory("an event of the log");
    s->next = c->large;
    c->large = s;
    return s->bytes;
}

static const void *know(struct fy_copies *c, fy_ref ref, const void *bytes, size_t size)
{
    unsigned i = c->count++ % KNOWN;
    c->known[i].ref = ref;
    c->known[i].bytes = bytes;
    c->known[i].size = size;
    return bytes;
}

/* The uses in an fy_host_op_record; ref: FY_REF_PAIRED. */
static const void *host_op_uses(const fy_log *log, fy_ref ref, size_t *size)
{
    fy_slot second;
    fy_host_op_record o;
    if (!fy_log_copy_slot(log, (ref & ~FY_REF_PAIRED) / 2, &second)) return NULL;
    memcpy((unsigned char *)&o + FY_PAYLOAD_BYTES, second.record, FY_PAYLOAD_BYTES);
    if (o.nin > 2) return NULL;
    *size = ref % 2 ? sizeof o.out : o.nin * sizeof *o.in;
    void *to = room_for(log->copies, sizeof o.in);
    return know(log->copies, ref, memcpy(to, ref % 2 ? &o.out : o.in, *size), *size);
}

/* An arena without a file, all of it here. */
static const void *bytes_in_memory(const fy_log *log, fy_ref ref, size_t *size)
{
    uint64_t from = 8ull * ref;
    fy_entry entry;
    if (!ref || from + sizeof entry > log->arena_bytes) return NULL;
    memcpy(&entry, log->arena + from, sizeof entry);
    if (!fy_entry_is_at(entry, ref) || entry.size > log->arena_bytes - from - sizeof entry) return NULL;
    *size = entry.size;
    return log->arena + from + sizeof entry;
}

const void *fy_log_bytes(const fy_log *log, fy_ref ref, size_t *size)
{
    struct fy_copies *c = log->copies;
    uint64_t from = 8ull * ref;
    fy_entry entry;
    if (!c) return bytes_in_memory(log, ref, size);
    for (unsigned i = 0; i < c->count && i < KNOWN; i++)
        if (c->known[i].ref == ref) return *size = c->known[i].size, c->known[i].bytes;
    if (ref & FY_REF_PAIRED) return host_op_uses(log, ref, size);
    if (!ref || !copy(log, FY_ARENA, from, &entry, sizeof entry) || !fy_entry_is_at(entry, ref)) return NULL;

    uint64_t padded = (entry.size + 7ull) & ~7ull, all;
    if (padded > ROOM && !(fy_log_has_file(log, &all) && padded <= all)) return NULL; /* damaged */
    void *to = room_for(c, padded);
    if (!copy(log, FY_ARENA, from + sizeof entry, to, padded)) return NULL;
    *size = entry.size;
    return know(c, ref, to, entry.size);
}
