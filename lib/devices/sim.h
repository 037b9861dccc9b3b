/* sim.h: the simulated card, shared by sim.c, sim_copy.c, sim_queue.c, sim_task.c and sim_pinned.c.
 *
 * One lock for all cards: work may access two of them and wait for a third. It is held around every call below except
 * fy_sim_enter and fy_sim_owner. */
#ifndef FERRY_SIM_H
#define FERRY_SIM_H

#include <stdatomic.h>

#include "device.h"
#include "run_work.h"
#include "timing_model.h"

enum { FY_SIM_CARDS = 8, FY_SIM_POISON = 0xff };

/* ---- tasks: work that is issued and not yet executed ---------------------------------------------- */

typedef enum fy_task_kind { FY_TASK_COPY, FY_TASK_RUN, FY_TASK_WAIT } fy_task_kind;

/* A point in a stream: its tasks up to that number. */
typedef struct fy_task_point {
    int card, stream;
    uint64_t number;
} fy_task_point;

typedef struct fy_task {
    struct fy_task *next;                     /* in its stream, or in the free list */
    struct fy_task *pinned_next, *pinned_was; /* list of those that access pinned memory (sim_pinned.c) */
    fy_task_point at;                         /* its own; numbers ascend over all cards, in issue order */
    uint32_t id;                              /* of the work; 0: no event refers to it */
    uint8_t kind, races;                      /* races: bits as in fy_races */
    bool is_pinned;                           /* in the list of sim_pinned.c */
    void *side;                               /* snapshot of the source; NULL: read it when executing */
    union {
        fy_copy_work copy; /* src NULL: fill */
        fy_run_work run;   /* with alias addresses */
        fy_task_point wait;
    };
} fy_task;

typedef struct fy_task_list {
    fy_task *first, *last;
    bool busy; /* its first is executing */
} fy_task_list;

/* ---- a card --------------------------------------------------------------------------------------- */

typedef struct fy_sim {
    int number; /* of the card: 0 is cuda:0 */
    char *window, *alias;
    size_t bytes;
    _Atomic bool used; /* has had work or allocations */
    struct fy_address_space *holes;
    fy_timing *timetable;
    fy_task_list streams[FY_STREAMS];
    uint64_t waiting; /* bit i: stream i has tasks */
    int tasks;        /* in all of them */
    size_t side;      /* bytes of their snapshots */
    char fault[256];  /* a kernel's fault, after which every call fails; "": none */
    uint32_t fault_work;
} fy_sim;

/* Locks; false, unlocked, with fy_fault set: the card has failed, or this is a forked child. */
bool fy_sim_enter(fy_dev *d);
bool fy_sim_leave(fy_dev *d, bool ok);             /* unlocks; false if !ok, or if the card has failed: sets fy_fault */
fy_sim *fy_sim_owner(const void *p, size_t bytes); /* the card whose VRAM contains the range, or NULL */
fy_sim *fy_sim_card(int number);                   /* NULL: closed */
bool fy_sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2))); /* sets fy_fault; returns false */
bool fy_sim_fail_card(const fy_sim *s); /* sets fy_fault to the card's fault; returns false */
bool fy_sim_copy(fy_dev *d, fy_copy_work *w);

/* Bytes from an operand's first element to the end of its last. */
size_t fy_sim_extent(const fy_operand *o);

static inline bool fy_sim_healthy(const fy_sim *s) { return !s->fault[0]; }

static inline bool fy_sim_inside(const fy_sim *s, const void *p, size_t bytes)
{
    const char *at = p;
    return at >= s->window && at <= s->window + s->bytes && bytes <= (size_t)(s->window + s->bytes - at);
}

/* A device pointer's address in the alias. */
static inline void *fy_sim_alias(const fy_sim *s, const void *p) { return s->alias + ((const char *)p - s->window); }

/* ---- sim_queue.c ------------------------------------------------------------------------------------ */

fy_task *fy_sim_task(fy_sim *s, fy_task_kind kind, int stream, uint32_t id); /* not queued yet; NULL: no memory */
void fy_sim_task_drop(fy_task *t);
bool fy_sim_task_snapshot(fy_task *t);    /* snapshots the copy's source; false: no memory */
void fy_sim_queue(fy_sim *s, fy_task *t); /* numbers and appends it; may execute the oldest tasks to limit the queue */
void fy_sim_run_until(fy_sim *s, int stream, uint64_t number); /* executes the stream's tasks up to that number */
void fy_sim_run_all(fy_sim *s);
void fy_sim_drop_all(fy_sim *s); /* drops all tasks */
uint64_t fy_sim_issued(void);    /* the number of the latest task */
bool fy_sim_stream_waits(fy_sim *s, int stream, const fy_sim *other, int of, uint64_t number); /* false: no memory */
void fy_sim_race(const fy_races *r, fy_task *own); /* marks the racing accesses in queued tasks; own: may be NULL */

/* ---- sim_task.c ------------------------------------------------------------------------------------- */

void fy_sim_task_run(fy_sim *s, fy_task *t);                              /* executes a task that is no wait */
void fy_sim_move(const fy_copy_work *w, const void *side, uint8_t races); /* the memory access of a copy */
void fy_sim_fill(fy_sim *s, void *p, size_t bytes, int byte); /* the first 64 MiB; frees the pages behind them */

/* ---- sim_pinned.c ----------------------------------------------------------------------------------- */

void fy_sim_pinned_add(fy_task *t);                  /* a queued copy that will access pinned memory */
void fy_sim_pinned_done(fy_task *t);                 /* it was executed */
void fy_sim_pinned_drop(fy_task *t);                 /* it will not be executed */
void fy_sim_pinned_end(const void *p, size_t bytes); /* before freeing: executes all tasks that access the range */

#endif
