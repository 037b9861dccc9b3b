/* interleavings.h: what can happen before what, by trying it out. A program of a host and some streams is run in all
 * the ways that the rules allow, one step at a time: the host gives work to streams in its own order and waits where
 * it waits; each stream does its work in order, as soon or as late as it likes; work that waits for a place in
 * another stream is done after it. Nothing here knows of clocks. */
#ifndef INTERLEAVINGS_H
#define INTERLEAVINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MOST_STEPS = 40, MOST_QUEUES = 4, MOST_TASKS = 48, MOST_STATES = 1 << 16 };

typedef enum step_kind {
    DO,     /* the host does something itself: `deed` */
    GIVE,   /* task to a queue; to a second one as well, if there is one */
    WAIT,   /* the host, until a queue has done all it was given */
    ATTEND, /* the host, until a queue has passed a place */
} step_kind;

typedef struct task {
    int deed;      /* -1: none, a mark or a wait */
    int queue, at; /* a wait: for that many tasks of a queue; queue -1: none */
    int twin;      /* the queue that does it together with this one; -1 */
} task;

typedef struct step {
    step_kind kind;
    int deed, queue, at;
} step;

typedef struct course {
    int nsteps, deeds;
    step steps[MOST_STEPS];
    int ntasks[MOST_QUEUES];
    task tasks[MOST_QUEUES][MOST_TASKS];
    bool before[MOST_TASKS][MOST_TASKS]; /* can the one be done before the other? */
} course;

/* Where the host and the queues are. */
typedef struct place {
    uint8_t host, done[MOST_QUEUES];
} place;

void add_step(course *c, step s);
/* Returns how many tasks the queue has then: its place. */
int give_task(course *c, int queue, task t);
void try_all(course *c);

#endif
