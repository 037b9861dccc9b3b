/* oom.c: an allocation failed: what was asked for, what is free, what is in use. Emits oom; nothing else does. */
#include <stdio.h>

#include "caching_allocator.h"
#include "card_params.h"
#include "device.h"
#include "device_allocator.h"
#include "error.h"
#include "event.h"

static void *fail_host(fy_site *at, fy_dev *d, size_t bytes)
{
    int64_t live = __atomic_load_n(&d->live_bytes, __ATOMIC_RELAXED), room = d->capacity - live;
    FY_EMIT(at, oom, .device = (uint8_t)d->number, .asked = (int64_t)bytes, .allocated = live, .reserved = live,
            .free = room, .largest = room);
    return fy_fail(at, "oom",
                   bytes > (size_t)d->capacity
                       ? "it can never fit: ask for a smaller tensor, or a smaller .dtype"
                       : "ask for a smaller tensor, or free some first with fy_free or FY_SCOPE",
                   "DefaultCPUAllocator: can't allocate memory: you tried to allocate %zu bytes.", bytes);
}

/* The segment exceeds the card: freeing does not help, but a simulated card can be made larger. */
static void advise_never(const fy_dev *d, int64_t asked, int64_t segment, char *buf, size_t room)
{
    char size[32], segment_size[32], capacity[32];
    int64_t gib = (segment >> 30) + 1;
    int n = 0;
    if (asked <= d->capacity)
        n = snprintf(buf, room, "a tensor of %s needs a segment of %s (tensors of up to 1 MiB need one of 2 MiB), but ",
                     fy_size_text(asked, size, sizeof size), fy_size_text(segment, segment_size, sizeof segment_size));
    n += snprintf(buf + n, room - (size_t)n,
                  "%s has only %s: freeing tensors does not help. Use smaller tensors or a smaller .dtype", d->name,
                  fy_size_text(d->capacity, capacity, sizeof capacity));
    if (d->card && gib <= FY_SIM_MOST_CAPACITY >> 30)
        snprintf(buf + n, room - (size_t)n, "; or simulate a larger card: FERRY_SIM=%s:capacity=%lldGiB", d->card->key,
                 (long long)gib);
}

static void advise(const fy_pool *p, bool fragmented, char *buf, size_t room)
{
    char living[300], pieces[600];
    fy_pool_usage_text(p, fy_allocator_name, living, sizeof living);
    pieces[0] = 0;
    if (fragmented) fy_pool_fragmentation_text(p, fy_allocator_name, pieces, sizeof pieces);
    int n =
        snprintf(buf, room, "free tensors that are no longer needed (fy_free, FY_SCOPE), or work in smaller pieces");
    if (*living) n += snprintf(buf + n, room - (size_t)n, ". In use: %s", living);
    if (*pieces) snprintf(buf + n, room - (size_t)n, ". Its free memory is fragmented: %s", pieces);
}

static void *fail_card(fy_site *at, fy_dev *d, int64_t asked)
{
    char message[500], hint[1200];
    fy_pool *p = fy_allocator_open(d);
    fy_memory_stats now = fy_pool_stats(p);
    int64_t largest = fy_pool_largest(p);
    fy_pool_oom_text(p, asked, d->number - 1, d->capacity, "Ferry", message, sizeof message);
    int64_t segment = asked < FY_POOL_EXABYTE ? fy_pool_segment_for(asked) : asked;
    int64_t unused = d->capacity - now.reserved_bytes + now.inactive_split_bytes; /* would it fit, if all in one? */
    if (segment > d->capacity) advise_never(d, asked, segment, hint, sizeof hint);
    else advise(p, unused >= segment, hint, sizeof hint);
    fy_allocator_close(d);
    FY_EMIT(at, oom, .device = (uint8_t)d->number, .asked = asked, .allocated = now.allocated_bytes,
            .reserved = now.reserved_bytes, .free = d->capacity - now.reserved_bytes, .largest = largest);
    return fy_fail(at, "oom", hint, "%s", message);
}

void *fy_fail_oom(fy_site *at, fy_dev *d, size_t bytes)
{
    int64_t asked = bytes < (size_t)INT64_MAX ? (int64_t)bytes : INT64_MAX;
    return d->number ? fail_card(at, d, asked) : fail_host(at, d, bytes);
}
