/* interleavings.h: the happens-before relation by exhaustive search, without vector clocks. A program of a host and
 * some streams is executed in all interleavings that the ordering rules allow: the host queues work and waits in
 * program order; each stream executes its work in order, at any time after it was queued; a stream wait delays a stream
 * until another one has reached a position. */
#ifndef INTERLEAVINGS_H
#define INTERLEAVINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MOST_STEPS = 40, MOST_QUEUES = 4, MOST_TASKS = 48, MOST_STATES = 1 << 16 };

typedef enum step_kind {
    DO,     /* the host does `deed` itself */
    GIVE,   /* the host queues a task; also to its twin queue */
    WAIT,   /* the host waits until a queue is empty */
    ATTEND, /* the host waits until a queue has passed a position */
} step_kind;

typedef struct task {
    int deed;      /* -1: none: a marker or a wait */
    int queue, at; /* a wait for the first `at` tasks of a queue; queue -1: none */
    int twin;      /* the queue that executes it together with this one; -1 */
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
    bool before[MOST_TASKS][MOST_TASKS]; /* result: is there an interleaving in which [a] runs before [b]? */
} course;

/* The progress of the host and the queues. */
typedef struct place {
    uint8_t host, done[MOST_QUEUES];
} place;

void add_step(course *c, step s);
/* Returns the queue's number of tasks: the task's position. */
int give_task(course *c, int queue, task t);
void try_all(course *c);

#endif
