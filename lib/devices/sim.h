/* sim.h: a simulated card, for the files that make it: sim.c, sim_copy.c, sim_queue.c, sim_task.c, sim_pinned.c.
 *
 * One lock for all cards: work may touch two of them, and what is waited for may lie on a third. Everything
 * below is called with it held, but for fy_sim_enter and fy_sim_owner. */
#ifndef FERRY_SIM_H
#define FERRY_SIM_H

#include <stdatomic.h>

#include "device.h"
#include "run_work.h"
#include "timing_model.h"

enum { FY_SIM_CARDS = 8, FY_SIM_POISON = 0xff };

/* ---- tasks: work that is issued and not done ------------------------------------------------------ */

typedef enum fy_task_kind { FY_TASK_COPY, FY_TASK_RUN, FY_TASK_WAIT } fy_task_kind;

/* A place in a stream of a card: its tasks up to that number. */
typedef struct fy_task_place {
    int card, stream;
    uint64_t number;
} fy_task_place;

typedef struct fy_task {
    struct fy_task *next;                     /* of its stream; of the free ones */
    struct fy_task *pinned_next, *pinned_was; /* of those that have page-locked memory to touch (sim_pinned.c) */
    fy_task_place at;                         /* its own; numbers count up over all cards, in order of issue */
    uint32_t id;                              /* of the work; 0: nobody names it */
    uint8_t kind, races;                      /* races: bits as in fy_races */
    bool is_pinned;                           /* among those of sim_pinned.c */
    void *side;                               /* what the host's memory held at the call; NULL: read it then */
    union {
        fy_copy_work copy; /* src NULL: fill */
        fy_run_work run;   /* with addresses that a kernel may use here */
        fy_task_place wait;
    };
} fy_task;

typedef struct fy_task_list {
    fy_task *first, *last;
    bool busy; /* its first is being done: nobody may go past that */
} fy_task_list;

/* ---- a card --------------------------------------------------------------------------------------- */

typedef struct fy_sim {
    int number; /* of the card: 0 is cuda:0 */
    char *window, *alias;
    size_t bytes;
    _Atomic bool used; /* there is, or was, something in VRAM, or work */
    struct fy_address_space *holes;
    fy_timing *timetable;
    fy_task_list streams[FY_STREAMS];
    uint64_t waiting; /* bit i: stream i has tasks */
    int tasks;        /* in all of them */
    size_t side;      /* bytes of their side buffers */
    char fault[256];  /* what a kernel did wrong; "": nothing. The card then does nothing any more */
    uint32_t fault_work;
} fy_sim;

/* Take the lock; false, without it, where the card does nothing any more: in a forked child, after a fault. */
bool fy_sim_enter(fy_dev *d);
bool fy_sim_leave(fy_dev *d, bool ok); /* give it back; false when not ok, or when a fault has come to light: told */
fy_sim *fy_sim_owner(const void *p, size_t bytes); /* the card in whose VRAM all of it lies, or NULL */
fy_sim *fy_sim_card(int number);                   /* NULL: closed */
bool fy_sim_refuse(const char *format, ...) __attribute__((format(printf, 1, 2))); /* a fault; false */
bool fy_sim_report(const fy_sim *s);                                               /* of the card's fault; false */
bool fy_sim_copy(fy_dev *d, fy_copy_work *w);

/* Bytes from an operand's element 0 to the end of its last. */
size_t fy_sim_extent(const fy_operand *o);

static inline bool fy_sim_healthy(const fy_sim *s) { return !s->fault[0]; }

static inline bool fy_sim_inside(const fy_sim *s, const void *p, size_t bytes)
{
    const char *at = p;
    return at >= s->window && at <= s->window + s->bytes && bytes <= (size_t)(s->window + s->bytes - at);
}

/* The address under which the simulator may touch what a device pointer names. */
static inline void *fy_sim_alias(const fy_sim *s, const void *p) { return s->alias + ((const char *)p - s->window); }

/* ---- sim_queue.c ------------------------------------------------------------------------------------ */

fy_task *fy_sim_task(fy_sim *s, fy_task_kind kind, int stream, uint32_t id); /* not queued yet; NULL: no memory */
void fy_sim_task_drop(fy_task *t);
bool fy_sim_task_keep(fy_task *t);        /* what the copy's source holds now; false: no memory */
void fy_sim_queue(fy_sim *s, fy_task *t); /* number it, put it last; the oldest may be done for it */
void fy_sim_do_until(fy_sim *s, int stream, uint64_t number); /* the stream's tasks up to that number */
void fy_sim_do_all(fy_sim *s);
void fy_sim_forget(fy_sim *s); /* drop all tasks undone */
uint64_t fy_sim_issued(void);  /* the number of the latest task */
bool fy_sim_stream_waits(fy_sim *s, int stream, const fy_sim *other, int of, uint64_t number); /* false: no memory */
void fy_sim_race(const fy_races *r, fy_task *own); /* note them in the tasks that they concern; own may be NULL */

/* ---- sim_task.c ------------------------------------------------------------------------------------- */

void fy_sim_do(fy_sim *s, fy_task *t);                                    /* but for waits */
void fy_sim_move(const fy_copy_work *w, const void *side, uint8_t races); /* what a copy does to memory */
void fy_sim_fill(fy_sim *s, void *p, size_t bytes, int byte); /* over the front; pages behind it are given back */

/* ---- sim_pinned.c ----------------------------------------------------------------------------------- */

void fy_sim_pinned_add(fy_task *t);                  /* a copy that touches page-locked memory when it is done */
void fy_sim_pinned_done(fy_task *t);                 /* it has been */
void fy_sim_pinned_drop(fy_task *t);                 /* it will not be */
void fy_sim_pinned_end(const void *p, size_t bytes); /* do all that touches this: it is given back */

#endif
