/* site.c: call sites, interned once per log. */
#define _GNU_SOURCE
#include "site.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "event.h"
#include "log_format.h"
#include "source.h"

const char *fy_site_file(const char *file)
{
    const char *slash = file[0] == '/' ? strrchr(file, '/') : NULL;
    return slash ? slash + 1 : file;
}

fy_ref fy_site_intern(fy_site *at)
{
    if (!fy_log_is_on()) return 0;
    if (at->file) fy_source_emit(at->file);
    return fy_site_record(at);
}

/* Two threads may intern the same site concurrently; both entries are valid. */
fy_ref fy_site_record(fy_site *at)
{
    uint64_t generation = atomic_load(&fy_log_generation);
    fy_site_entry entry = {.line = (uint32_t)at->line};
    entry.file = fy_ref_str(at->file ? fy_site_file(at->file) : "?");
    entry.fn = fy_ref_str(at->fn);
    entry.call = fy_ref_str(at->call);
    entry.args = fy_ref_str(at->args);
    fy_ref ref = fy_ref_bytes(&entry, sizeof entry);
    if (ref) __atomic_store_n(&at->interned, generation << 32 | ref, __ATOMIC_RELEASE);
    return ref;
}
