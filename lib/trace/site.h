/* site.h: call sites: their references in the log, source lines, and the variables that results are assigned to. */
#ifndef FERRY_SITE_H
#define FERRY_SITE_H

#include "event.h"

/* Records the site in the current log, and a source event for its file; returns its reference, cached in the site. */
fy_ref fy_site_intern(fy_site *at);
/* Likewise without the source event, which takes a lock: for signal handlers. */
fy_ref fy_site_record(fy_site *at);
extern _Atomic uint32_t fy_log_generation;

static inline fy_ref fy_site_ref(fy_site *at)
{
    if (!at) return 0;
    uint64_t known = __atomic_load_n(&at->interned, __ATOMIC_ACQUIRE);
    uint32_t generation = __atomic_load_n((uint32_t *)&fy_log_generation, __ATOMIC_RELAXED);
    return __builtin_expect(known >> 32 == generation, 1) ? (fy_ref)known : fy_site_intern(at);
}

/* "a.c" for "/home/me/a.c"; a relative path unchanged. */
const char *fy_site_file(const char *file);
/* The name left of '=' if `at` is the outermost call of its statement, else NULL. Cached in the site. */
const char *fy_site_variable(fy_site *at);
/* The text of the site's source line without indentation, or the call as written; NULL if unknown. */
const char *fy_site_line(const fy_site *at);

#endif
