/* interleavings.h: the happens-before relation by exhaustive search, without vector clocks. A schedule of a host and
 * some queues is executed in all interleavings that the ordering rules allow: the host enqueues tasks and waits in
 * program order; each queue executes its tasks in order, at any time after they were enqueued; a wait task delays its
 * queue until another queue has reached a position. */
#ifndef INTERLEAVINGS_H
#define INTERLEAVINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MAX_STEPS = 40, MAX_QUEUES = 4, MAX_TASKS = 48, MAX_STATES = 1 << 16 };

typedef enum step_kind {
    HOST_ACCESS,   /* the host executes `operation` itself */
    ENQUEUE,       /* the host enqueues a task */
    WAIT_QUEUE,    /* the host waits until a queue is empty */
    WAIT_POSITION, /* the host waits until a queue has passed a position */
} step_kind;

typedef struct task {
    int operation;    /* -1: none: a marker or a wait */
    int queue, at;    /* a wait for the first `at` tasks of a queue; queue -1: none */
    int paired_queue; /* the queue that executes it at the same time; -1 */
} task;

typedef struct step {
    step_kind kind;
    int operation, queue, at;
} step;

typedef struct schedule {
    int nsteps, noperations;
    step steps[MAX_STEPS];
    int ntasks[MAX_QUEUES];
    task tasks[MAX_QUEUES][MAX_TASKS];
    bool before[MAX_TASKS][MAX_TASKS]; /* result: is there an interleaving in which [a] runs before [b]? */
} schedule;

/* The progress of the host and the queues. */
typedef struct progress {
    uint8_t host, done[MAX_QUEUES];
} progress;

void add_step(schedule *c, step s);
/* Returns the queue's number of tasks: the task's position. */
int queue_task(schedule *c, int queue, task t);
void explore_interleavings(schedule *c);

#endif
