/* frame.h: the calls and regions that a thread is in: a stack of frames, and their records in the log.
 *
 * Each public function that has a call site opens a frame in its first line; the frame ends with the function. It costs
 * some ten instructions, and is recorded with the first event that belongs to it, its parents before it:
 *
 *     FY_TIMES(step, 2)          loop       the program's own calls have the name that it wrote, fy_cuda; calls inside
 *         fy_cuda(x)             turn 0     the library pass the site of the outer one on, and so have the name of
 *           fy_to                call       their function, fy_to
 *
 * longjmp leaves frames behind. They are recognized when the next one opens: the stack has been there since. One that
 * stays in its function, past a block of the program's such as FY_TIMES, is not: the block ends with the function. */
#ifndef FERRY_FRAME_H
#define FERRY_FRAME_H

#include "event.h"
#include "run_work.h"

enum { FY_FRAMES = 120 /* what is deeper belongs to the last of them */ };

typedef struct fy_frame {
    fy_site *at;
    const char *name;   /* the library's function; of a region its own name, or NULL: what the program wrote */
    const void *stack;  /* where the stack was when it opened */
    int64_t number, of; /* of a region; FY_ABSENT: none */
    uint64_t record;    /* generation of the log, and reference of its fy_call_entry; another generation: none yet */
    uint32_t untold;    /* how many records, its own and its parents', no event has told yet */
    uint8_t region;     /* an fy_word; none: a call */
    bool runs_program;  /* of a region: calls in it are the program's, also those of the same site */
} fy_frame;

extern _Thread_local fy_frame fy_frames[FY_FRAMES];
extern _Thread_local uint32_t fy_frame_depth;

uint32_t fy_frames_drop_stale(const fy_site *at, const char *name, const void *stack);

/* The stack grows down. At the same place of it two frames are open if one is a region, which outlives the function
 * that opened it, or if the compiler made one function of two. */
static inline bool fy_frame_is_stale(const fy_frame *f, const fy_site *at, const char *name, const void *stack)
{
    if (f->stack != stack) return f->stack < stack;
    return !f->region && (f->at != at || f->name == name);
}

/* Opens a frame; returns the depth outside of it. */
static inline __attribute__((always_inline)) uint32_t fy_frame_open(fy_site *at, const char *name, uint8_t region,
                                                                    const void *stack)
{
    uint32_t outside = fy_frame_depth;
    if (outside && __builtin_expect(fy_frame_is_stale(&fy_frames[outside - 1], at, name, stack), 0))
        outside = fy_frames_drop_stale(at, name, stack);
    if (outside == FY_FRAMES) return outside;
    fy_frame *f = &fy_frames[outside];
    f->at = at;
    f->name = name;
    f->stack = stack;
    f->record = 0;
    f->region = region;
    f->runs_program = false;
    fy_frame_depth = outside + 1;
    return outside;
}

static inline void fy_frame_close(const uint32_t *outside) { fy_frame_depth = *outside; }

/* The frame of this function's call, until it returns. */
#define FY_CALL(at) \
    const uint32_t fy_outside_ __attribute__((cleanup(fy_frame_close))) = \
        fy_frame_open(at, __func__, FY_WORD_none, __builtin_dwarf_cfa())

/* A region, until its block ends. name: NULL, or text that lives as long as the region. number, of: FY_ABSENT if they
 * do not apply. */
static inline __attribute__((always_inline)) uint32_t fy_region_open(fy_site *at, fy_word word, const char *name,
                                                                     int64_t number, int64_t of, const void *stack)
{
    uint32_t outside = fy_frame_open(at, name, (uint8_t)word, stack);
    if (outside < FY_FRAMES) fy_frames[outside].number = number, fy_frames[outside].of = of;
    return outside;
}
#define FY_REGION(at, word, name, number, of) \
    const uint32_t FY_CAT(fy_outside_, __COUNTER__) __attribute__((cleanup(fy_frame_close))) = \
        fy_region_open(at, word, name, number, of, __builtin_dwarf_cfa())
/* In a region that was just opened: it runs a function of the program, whose calls are the program's own. */
static inline void fy_region_runs_program(void) { fy_frames[fy_frame_depth - 1].runs_program = true; }

/* A region of the program, FY_SCOPE and the like, whose block has the depths. Its end is at no call: what is done there
 * belongs to the region, so it is resumed before. */
#define FY_REGION_OF_BLOCK(at, word, number, of) fy_region_of_block(at, word, number, of, __builtin_dwarf_cfa())
static inline __attribute__((always_inline)) fy_depths fy_region_of_block(fy_site *at, fy_word word, int64_t number,
                                                                          int64_t of, const void *stack)
{
    uint32_t outside = fy_region_open(at, word, NULL, number, of, stack);
    return (fy_depths){outside, fy_frame_depth};
}
static inline void fy_region_resume(const fy_depths *d)
{
    if (d->inside) fy_frame_depth = d->inside;
}
static inline void fy_region_close(const fy_depths *d)
{
    if (d->inside) fy_frame_depth = d->outside;
}

/* ---- what an event belongs to ---- */

/* The call that an event of this site belongs to, recorded; 0: none. *told: how many calls the event has to tell, that
 * one and its parents. */
fy_ref fy_call_of_event(fy_site *at, unsigned *told);

/* The current call, for events that come later: of a work's result, of its end, of another thread. untold: 0 if an
 * event of the call comes before them. */
fy_belonging fy_belonging_here(fy_site *at, uint32_t untold);
#define FY_BELONGS(belonging) \
    const uint32_t FY_CAT(fy_outside_, __COUNTER__) __attribute__((cleanup(fy_frame_close))) = \
        fy_belonging_open(belonging, __builtin_dwarf_cfa())
uint32_t fy_belonging_open(const fy_belonging *b, const void *stack);
/* The call's reference in the current log; 0: it belongs to another one, or to none. */
fy_ref fy_belonging_call(const fy_belonging *b);

/* In a signal handler: leaves the frames that would have to be recorded, since the source's lock may be held. */
void fy_frames_keep_recorded(void);

#endif
