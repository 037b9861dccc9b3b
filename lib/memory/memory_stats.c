/* memory_stats.c: a card's memory statistics (ferry_memory.h). */
#include <stdio.h>
#include <stdlib.h>

#include "caching_allocator.h"
#include "device.h"
#include "device_allocator.h"
#include "error.h"
#include "frame.h"
#include "out_of_memory.h"
#include "session_hooks.h"
#include "text.h"

/* NULL after an error. */
static fy_dev *card_named(fy_site *at, const char *device)
{
    fy_session_start();
    fy_dev *d = device ? fy_dev_parse(at, device) : fy_dev_card(at, -1);
    if (!d || d->number) return d;
    return fy_fail(at, "device", "name a card, as in \"cuda:0\", or NULL for the current one",
                   "Expected a cuda device, but got: %s", device);
}

fy_memory_stats fy_cuda_memory_stats_at(fy_site *at, const char *device)
{
    FY_CALL(at);
    fy_memory_stats s = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    fy_dev *d = card_named(at, device);
    fy_pool *p = d ? fy_allocator_open(d) : NULL;
    if (!p) return s;
    s = fy_pool_stats(p);
    fy_allocator_close(d);
    return s;
}

int64_t fy_cuda_memory_allocated_at(fy_site *at, const char *device)
{
    FY_CALL(at);
    return fy_cuda_memory_stats_at(at, device).allocated_bytes;
}

int64_t fy_cuda_memory_reserved_at(fy_site *at, const char *device)
{
    FY_CALL(at);
    return fy_cuda_memory_stats_at(at, device).reserved_bytes;
}

int64_t fy_cuda_max_memory_allocated_at(fy_site *at, const char *device)
{
    FY_CALL(at);
    return fy_cuda_memory_stats_at(at, device).max_allocated_bytes;
}

int64_t fy_cuda_max_memory_reserved_at(fy_site *at, const char *device)
{
    FY_CALL(at);
    return fy_cuda_memory_stats_at(at, device).max_reserved_bytes;
}

void fy_cuda_reset_peak_memory_stats_at(fy_site *at, const char *device)
{
    FY_CALL(at);
    fy_dev *d = card_named(at, device);
    fy_pool *p = d ? fy_allocator_open(d) : NULL;
    if (!p) return;
    fy_pool_reset_peaks(p);
    fy_allocator_close(d);
}

int64_t fy_cuda_mem_get_info_at(fy_site *at, const char *device, int64_t *total)
{
    FY_CALL(at);
    fy_dev *d = card_named(at, device);
    fy_pool *p = d ? fy_allocator_open(d) : NULL;
    if (total) *total = p ? d->capacity : -1;
    if (!p) return -1;
    int64_t free_bytes = d->capacity - fy_pool_reserved(p);
    fy_allocator_close(d);
    return free_bytes;
}

void fy_cuda_empty_cache_at(fy_site *at)
{
    FY_CALL(at);
    fy_session_start();
    fy_allocator_empty(at);
}

void fy_cuda_memory_summary_at(fy_site *at, const char *device)
{
    FY_CALL(at);
    char used[32], reserved[32], free_bytes[32], all[32];
    fy_dev *d = card_named(at, device);
    fy_pool *p = d ? fy_allocator_open(d) : NULL;
    fy_text text = {0};
    if (!p) return;
    fy_memory_stats s = fy_pool_stats(p);
    fy_pool_draw(p, fy_allocator_name, &text);
    fy_allocator_close(d);
    printf("%s (%s): %s in use by tensors, %s reserved, %s not reserved, of %s\n", d->name, d->card_name,
           fy_size_text(s.allocated_bytes, used, sizeof used),
           fy_size_text(s.reserved_bytes, reserved, sizeof reserved),
           fy_size_text(d->capacity - s.reserved_bytes, free_bytes, sizeof free_bytes),
           fy_size_text(d->capacity, all, sizeof all));
    printf("  %s of the reserved memory are unused; peak in use: %s; allocation retries: %lld, out of memory: %lld\n",
           fy_size_text(s.reserved_bytes - s.allocated_bytes, used, sizeof used),
           fy_size_text(s.max_allocated_bytes, reserved, sizeof reserved), (long long)s.num_alloc_retries,
           (long long)s.num_ooms);
    if (text.lost) fy_out_of_memory("a memory summary");
    if (text.data) fwrite(text.data, 1, text.size, stdout);
    free(text.data);
}
