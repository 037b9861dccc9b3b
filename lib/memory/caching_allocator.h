/* caching_allocator.h: PyTorch's caching allocator (rules of 1.13). Pure: it knows no device, tensor or event, only the
 * callbacks below, so that tests and tools run it without a card.
 *
 * Segments are allocated from the card and split into blocks. A freed block is cached for allocations of its pool
 * (small: up to 1 MiB; large) and its stream; adjacent free blocks are merged at once. Unused segments are returned to
 * the card when an allocation fails, or on request (empty_cache). A block used by other streams too (fy_pool_use) is
 * reused only once they have reached the point where they were when it was freed. Not thread-safe: the caller locks. */
#ifndef FERRY_CACHING_ALLOCATOR_H
#define FERRY_CACHING_ALLOCATOR_H

#include "device.h"
#include "event.h"

enum { FY_POOL_GRAIN = 512, FY_POOL_PLACES = 9 * 64 }; /* PLACES: limit of `where`, a stream's key for the callbacks */
#define FY_POOL_EXABYTE ((int64_t)1 << 60)

typedef enum fy_block_state { FY_BLOCK_FREE, FY_BLOCK_USED, FY_BLOCK_WAITING } fy_block_state;

typedef struct fy_user fy_user;
typedef struct fy_segment fy_segment;

typedef struct fy_block {
    fy_segment *segment;
    int64_t offset, bytes; /* in the segment */
    int64_t asked;         /* before rounding */
    void *owner;           /* the caller's, from fy_pool_alloc */
    fy_block_state state;
    fy_user *users;                /* other streams that use it */
    struct fy_block *prev, *next;  /* neighbours in the segment */
    struct fy_block *left, *right; /* free: in the tree (block_tree.c); waiting: right is the next in the list */
} fy_block;

struct fy_segment {
    int number; /* 1, 2 ... in order of allocation */
    bool small;
    int stream; /* of its blocks */
    int64_t bytes;
    void *data;    /* set by the take callback */
    uint64_t addr; /* likewise; never 0 */
    fy_block *first;
    fy_segment *next; /* by address */
};

/* FY_SEGMENT_OOM: unused segments are freed and the allocation retried. FY_SEGMENT_ERROR: another error; no retry. */
typedef enum fy_segment_result { FY_SEGMENT_OOM, FY_SEGMENT_OK, FY_SEGMENT_ERROR } fy_segment_result;

/* Callbacks of a pool. */
typedef struct fy_pool_source {
    void *self;
    fy_segment_result (*take)(void *self, fy_segment *s);
    void (*give)(void *self, fy_segment *s, bool for_room); /* for_room: because an allocation failed */
    bool (*record)(void *self, int where, fy_point *p);     /* the stream's current end; false: the card failed */
    bool (*passed)(void *self, int where, fy_point *p);     /* has the stream reached p? If so, releases p */
    void (*wait)(void *self, int where, fy_point *p);       /* waits until it has; releases p */
} fy_pool_source;

typedef struct fy_pool fy_pool;

/* mem: FY_WORD_device, or FY_WORD_pinned: sizes are powers of two, and each segment is one block. NULL: no memory. */
fy_pool *fy_pool_make(const fy_pool_source *source, fy_word mem);
void fy_pool_free(fy_pool *p); /* frees the descriptors; does not call give */

/* A block of at least `bytes` bytes (not 0); NULL: out of memory even after all unused segments were freed. */
fy_block *fy_pool_alloc(fy_pool *p, int64_t bytes, int stream, void *owner);
bool fy_pool_out_of_host_memory(const fy_pool *p);    /* did the last alloc fail for lack of host memory? */
bool fy_pool_release(fy_pool *p, fy_block *b);        /* true: deferred, other streams still use it */
bool fy_pool_use(fy_pool *p, fy_block *b, int where); /* another stream uses it too; false: no memory */
void fy_pool_empty(fy_pool *p);                       /* waits for streams, then frees unused segments */

fy_memory_stats fy_pool_stats(const fy_pool *p);
void fy_pool_reset_peaks(fy_pool *p);
int64_t fy_pool_allocated(const fy_pool *p);
int64_t fy_pool_reserved(const fy_pool *p);
int64_t fy_pool_largest(const fy_pool *p); /* bytes of the largest free block */
const fy_segment *fy_pool_segments(const fy_pool *p);
int64_t fy_pool_segment_for(int64_t bytes); /* size of the segment that an allocation would need */

/* block_tree.c: the free blocks of a pool, by stream, size and address. */
void fy_blocks_add(fy_block **root, fy_block *b);
void fy_blocks_remove(fy_block **root, fy_block *b);
fy_block *fy_blocks_fit(fy_block *root, int stream, int64_t bytes); /* the smallest that fits, or NULL */

/* allocator_text.c: as text. */
const char *fy_size_text(int64_t bytes, char *buf, size_t room); /* "22.00 MiB", formatted as in PyTorch */
/* The out-of-memory message of PyTorch 1.13, without its last sentence; owner: "PyTorch". */
void fy_pool_oom_text(const fy_pool *p, int64_t asked, int gpu, int64_t capacity, const char *owner, char *buf,
                      size_t room);
typedef const char *fy_block_name(const fy_block *b, char *buf, size_t room); /* "a (lesson.c:12)" */
/* The segment with the most free bytes, block by block; empty if nothing is free. */
void fy_pool_fragmentation_text(const fy_pool *p, fy_block_name *name, char *buf, size_t room);
/* The largest blocks in use, by name; empty if there are none. */
void fy_pool_usage_text(const fy_pool *p, fy_block_name *name, char *buf, size_t room);
struct fy_text;
void fy_pool_draw(const fy_pool *p, fy_block_name *name, struct fy_text *out); /* a bar for each segment */

#endif
