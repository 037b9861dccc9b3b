/* device_allocator.h: the caching allocators of this process (caching_allocator.h): one for each card's memory, and one
 * for page-locked memory of the host, which is the CPU's pool. Here they get their memory, their streams and their
 * events. */
#ifndef FERRY_CACHE_H
#define FERRY_CACHE_H

#include "caching_allocator.h"
#include "device.h"
#include "storage.h"

/* A block for s->asked bytes (not 0) of s->dev: fills block, bytes, data, addr and stream, and the block with a fill
 * byte. False: no room; or else fy_fault says why not. */
bool fy_allocator_take(fy_site *at, fy_storage *s);
void fy_allocator_give(fy_storage *s); /* filled with another byte, unless something may still be done with it */

/* A card's pool, for whoever looks at it, locked until fy_allocator_close. */
fy_pool *fy_allocator_open(const fy_dev *d);
void fy_allocator_close(const fy_dev *d);
void fy_allocator_empty(fy_site *at);
const char *fy_allocator_name(const fy_block *b, char *buf, size_t room); /* "a (lesson.c:12)" */

/* storage.c: modelled addresses, which it guards. */
uint64_t fy_address_take(const fy_dev *d, int64_t bytes); /* 0: no room */
void fy_address_give(const fy_dev *d, uint64_t addr);

void *fy_fail_full(fy_site *at, fy_dev *d,
                   size_t bytes); /* out_of_memory.c: an allocation failed for want of room; NULL */

#endif
