/* device_allocator.h: the caching allocators of this process (caching_allocator.h): one for each card, and the CPU's,
 * which is for pinned memory. Connects them with back ends, streams and events. Thread-safe. */
#ifndef FERRY_DEVICE_ALLOCATOR_H
#define FERRY_DEVICE_ALLOCATOR_H

#include "caching_allocator.h"
#include "device.h"
#include "storage.h"

/* Allocates a block for s->asked bytes (not 0) of s->dev and fills it with a pattern; sets block, bytes, data, addr and
 * stream. False: out of memory, or another failure with fy_fault.text set. */
bool fy_allocator_alloc(fy_site *at, fy_storage *s);
void fy_allocator_release(fy_storage *s); /* frees it; filled with another pattern, unless work may still access it */

/* A card's pool, locked until fy_allocator_close. */
fy_pool *fy_allocator_open(const fy_dev *d);
void fy_allocator_close(const fy_dev *d);
void fy_allocator_empty(fy_site *at);
const char *fy_allocator_name(const fy_block *b, char *buf, size_t room); /* "a (lesson.c:12)" */

/* storage.c: modelled addresses, under its lock. */
uint64_t fy_address_alloc(const fy_dev *d, int64_t bytes); /* 0: full */
void fy_address_release(const fy_dev *d, uint64_t addr);

void *fy_fail_oom(fy_site *at, fy_dev *d, size_t bytes); /* oom.c: reports out of memory; returns NULL */

#endif
