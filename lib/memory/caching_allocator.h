/* caching_allocator.h: PyTorch's caching allocator (1.13's rules), pure: it knows no device, no tensor and no event,
 * and asks the few functions below instead, so that tests and tools run it without a card.
 *
 * Segments are taken from the card, large enough for many; blocks are pieces of them. A block that is given back is
 * kept for the next of its size, its pool (small: up to 1 MiB; large) and its stream; neighbours that are free are one
 * block again at once. A whole unused segment goes back to the card when room is needed, or when it is asked for.
 * A block that other streams use as well (fy_pool_use) waits, after it was given back, until they have got past the
 * place where they were then. Whoever calls holds a lock. */
#ifndef FERRY_POOL_H
#define FERRY_POOL_H

#include "device.h"
#include "event.h"

enum { FY_POOL_GRAIN = 512, FY_POOL_PLACES = 9 * 64 }; /* `where` in what follows: below FY_POOL_PLACES */
#define FY_POOL_EXABYTE ((int64_t)1 << 60)

typedef enum fy_block_state { FY_BLOCK_FREE, FY_BLOCK_USED, FY_BLOCK_WAITING } fy_block_state;

typedef struct fy_user fy_user;
typedef struct fy_segment fy_segment;

typedef struct fy_block {
    fy_segment *segment;
    int64_t offset, bytes; /* in the segment */
    int64_t asked;         /* before rounding */
    void *who;             /* whom it was given to */
    fy_block_state state;
    fy_user *users;                /* streams beside its own */
    struct fy_block *prev, *next;  /* neighbours in the segment */
    struct fy_block *left, *right; /* among the free ones (block_tree.c); right: next of those that wait */
} fy_block;

struct fy_segment {
    int number; /* 1, 2 ... in the order in which they were taken */
    bool small;
    int stream; /* whose blocks it holds */
    int64_t bytes;
    void *data;    /* for take to fill */
    uint64_t addr; /* likewise; never 0 */
    fy_block *first;
    fy_segment *next; /* in order of address */
};

/* No room: give back what is unused, and try again. Broken: an error of another kind; nothing is tried. */
typedef enum fy_taking { FY_NO_ROOM, FY_TAKEN, FY_BROKEN } fy_taking;

/* What a pool asks of whoever has the memory. A place is one in a stream: all that was queued there before. */
typedef struct fy_pool_source {
    void *self;
    fy_taking (*take)(void *self, fy_segment *s);
    void (*give)(void *self, fy_segment *s, bool for_room); /* for_room: because an allocation failed */
    bool (*record)(void *self, int where, fy_point *p);     /* false: nothing is known of that stream any more */
    bool (*passed)(void *self, int where, fy_point *p);     /* has the stream got there? After a yes, p is no more */
    void (*wait)(void *self, int where, fy_point *p);       /* until it has; then p is no more */
} fy_pool_source;

typedef struct fy_pool fy_pool;

/* mem: FY_WORD_device, or FY_WORD_pinned: sizes are powers of two, a block is a segment. NULL: no memory. */
fy_pool *fy_pool_make(const fy_pool_source *source, fy_word mem);
void fy_pool_free(fy_pool *p); /* without giving anything back */

/* A block of at least so many bytes (not 0); NULL when there is none, not even after all that is unused was given
 * back: the pool is then as it was, but for what it kept. */
fy_block *fy_pool_take(fy_pool *p, int64_t bytes, int stream, void *who);
bool fy_pool_lacks_memory(const fy_pool *p);          /* was it the host's memory that the last take lacked? */
bool fy_pool_give(fy_pool *p, fy_block *b);           /* true: other streams still use it */
bool fy_pool_use(fy_pool *p, fy_block *b, int where); /* on another stream as well; false: no memory */
void fy_pool_empty(fy_pool *p);                       /* waits for streams; gives unused segments back */

fy_memory_stats fy_pool_stats(const fy_pool *p);
void fy_pool_reset_peaks(fy_pool *p);
int64_t fy_pool_allocated(const fy_pool *p);
int64_t fy_pool_reserved(const fy_pool *p);
int64_t fy_pool_largest(const fy_pool *p); /* bytes of the largest free block */
const fy_segment *fy_pool_segments(const fy_pool *p);
int64_t fy_pool_segment_for(int64_t bytes); /* what a card would be asked for */

/* block_tree.c: the free blocks of a pool: those of one stream together, by size, then by address. */
void fy_blocks_add(fy_block **root, fy_block *b);
void fy_blocks_remove(fy_block **root, fy_block *b);
fy_block *fy_blocks_fit(fy_block *root, int stream, int64_t bytes); /* the first that has them; NULL */

/* allocator_text.c: in words. */
const char *fy_size_text(int64_t bytes, char *buf, size_t room); /* "22.00 MiB", in PyTorch's steps */
/* 1.13's words for an allocation that failed, without their last sentence; owner: "PyTorch". */
void fy_pool_full_text(const fy_pool *p, int64_t asked, int gpu, int64_t capacity, const char *owner, char *buf,
                       size_t room);
typedef const char *fy_block_name(const fy_block *b, char *buf, size_t room); /* "a (lesson.c:12)" */
/* The segment that has most free in pieces, piece by piece; empty where nothing free is left over. */
void fy_pool_pieces_text(const fy_pool *p, fy_block_name *name, char *buf, size_t room);
/* The largest blocks in use, by name; empty where there are none. */
void fy_pool_living_text(const fy_pool *p, fy_block_name *name, char *buf, size_t room);
struct fy_text;
void fy_pool_draw(const fy_pool *p, fy_block_name *name, struct fy_text *out); /* every segment, as a bar */

#endif
