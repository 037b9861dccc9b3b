/* frame.c: the stack of frames, and their records in the log. */
#include "frame.h"

#include <stdio.h>

#include "log_format.h"
#include "site.h"

_Thread_local fy_frame fy_frames[FY_FRAMES];
_Thread_local uint32_t fy_frame_depth;

uint32_t fy_frames_drop_stale(const fy_site *at, const char *name, const void *stack)
{
    uint32_t depth = fy_frame_depth;
    while (depth && fy_frame_is_stale(&fy_frames[depth - 1], at, name, stack)) depth--;
    return fy_frame_depth = depth;
}

/* ---- records ---- */

static uint64_t generation(void) { return __atomic_load_n((uint32_t *)&fy_log_generation, __ATOMIC_RELAXED); }

static bool is_recorded(const fy_frame *f) { return f->record >> 32 == generation(); }

/* A call of the same site inside another one is the library's. */
static bool is_programs(const fy_frame *f, const fy_frame *parent)
{
    return !parent || parent->at != f->at || parent->runs_program;
}

/* "fy_to" of "fy_to_at" */
static fy_ref function_name(const char *name)
{
    char text[64];
    size_t n = strlen(name);
    if (n > 3 && n < sizeof text && strcmp(name + n - 3, "_at") == 0) n -= 3;
    if (n >= sizeof text) return fy_ref_str(name);
    memcpy(text, name, n);
    text[n] = 0;
    return fy_ref_str(text);
}

static void record(fy_frame *f, const fy_frame *parent)
{
    bool has_numbers = f->region && (f->number != FY_ABSENT || f->of != FY_ABSENT);
    fy_call_entry call = {.id = fy_log_new_call(),
                          .site = fy_site_ref(f->at),
                          .parent = parent ? (fy_ref)parent->record : 0,
                          .th = fy_log_thread_number(),
                          .region = f->region,
                          .number = f->number,
                          .of = f->of};
    if (f->name && (f->region || !is_programs(f, parent))) call.name = function_name(f->name);
    fy_ref ref = fy_ref_bytes(&call, has_numbers ? sizeof call : offsetof(fy_call_entry, number));
    f->record = generation() << 32 | ref;
    f->untold = ref ? 1 : 0;
}

static void record_up_to(uint32_t depth)
{
    uint32_t from = depth;
    while (from > 0 && !is_recorded(&fy_frames[from - 1])) from--;
    for (; from < depth; from++) record(&fy_frames[from], from ? &fy_frames[from - 1] : NULL);
}

/* Of the newest frame, which is recorded; they are told now. */
static unsigned count_untold(uint32_t depth)
{
    unsigned n = 0;
    for (; depth > 0 && fy_frames[depth - 1].untold; depth--) {
        n += fy_frames[depth - 1].untold;
        fy_frames[depth - 1].untold = 0;
    }
    return n < FY_TOLD_MAX ? n : FY_TOLD_MAX;
}

fy_ref fy_call_of_event(fy_site *at, unsigned *told)
{
    uint32_t outside = fy_frame_depth;
    *told = 0;
    if (!at) return 0;
    if (!outside || fy_frames[outside - 1].at != at) /* a call of its own */
        fy_frame_open(at, NULL, FY_WORD_none, NULL); /* below all others, so that none is stale */
    const fy_frame *f = &fy_frames[fy_frame_depth - 1];
    if (!is_recorded(f)) record_up_to(fy_frame_depth);
    if (f->untold) *told = count_untold(fy_frame_depth);
    fy_frame_depth = outside;
    return (fy_ref)f->record;
}

/* ---- events that come later ---- */

fy_belonging fy_belonging_here(fy_site *at, uint32_t untold)
{
    uint32_t depth = fy_frame_depth;
    if (!at || !depth || !fy_log_is_on()) return (fy_belonging){.at = at};
    record_up_to(depth);
    return (fy_belonging){.at = at, .record = fy_frames[depth - 1].record, .untold = untold};
}

uint32_t fy_belonging_open(const fy_belonging *b, const void *stack)
{
    uint32_t outside = fy_frame_depth;
    if (outside && b->record && fy_frames[outside - 1].record == b->record) return outside; /* it is the current one */
    outside = fy_frame_open(b->at, NULL, FY_WORD_none, stack);
    if (outside == FY_FRAMES) return outside;
    fy_frames[outside].record = b->record;
    fy_frames[outside].untold = b->untold;
    return outside;
}

fy_ref fy_belonging_call(const fy_belonging *b) { return b->record >> 32 == generation() ? (fy_ref)b->record : 0; }

void fy_frames_keep_recorded(void)
{
    while (fy_frame_depth && !is_recorded(&fy_frames[fy_frame_depth - 1])) fy_frame_depth--;
}
