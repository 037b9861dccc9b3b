/* vector_clock.h: the happens-before order. Vector clocks of the host and of every stream, independent of the back end:
 * the simulated and the real card give the same answers, from the program's calls and never from timing.
 *
 * An agent executes in order: the host, or one stream of one card. Each piece of work of an agent has an epoch, 1, 2,
 * 3 ...; an agent's clock holds, for each agent, the last epoch that has ended for certain before the agent's next work
 * begins. Work happens after everything that its agent's clock reaches; nothing else is ordered.
 *
 * All host threads are one agent. Ferry cannot see how they synchronize with each other (joins, mutexes, queues), so
 * separate agents would report data races in correctly synchronized programs.
 *
 * Epochs have 32 bits, like work ids. */
#ifndef FERRY_VECTOR_CLOCK_H
#define FERRY_VECTOR_CLOCK_H

#include "device.h"
#include "run_work.h"

enum { FY_HOST = 0, FY_MOST_CARDS = 8, FY_AGENTS = 1 + FY_STREAMS * FY_MOST_CARDS };

/* The agent of a stream; for the CPU always the host. */
static inline int fy_agent_of(const fy_dev *d, int stream)
{
    return d->number == 0 ? FY_HOST : 1 + FY_STREAMS * (d->number - 1) + stream;
}
static inline int fy_agent_device(int agent) { return agent == FY_HOST ? 0 : 1 + (agent - 1) / FY_STREAMS; }
static inline int fy_agent_stream(int agent) { return agent == FY_HOST ? 0 : (agent - 1) % FY_STREAMS; }

/* A copy of a clock, as an event keeps it; zero-initialized: ordered after nothing. Free it with fy_order_free. */
typedef struct fy_order {
    uint32_t n;
    uint32_t *epochs;
} fy_order;

/* The host issues work to a stream: it comes after all that the host has waited for. Returns its epoch. (The host's own
 * accesses need none: what is issued later comes after them.) race_detector.c does this for every launch. */
uint32_t fy_order_issue(int agent);

/* Copies the agent's clock, as of its next work, to *out: an event recorded in a stream, or a point of the host.
 * Replaces what *out held; false if out of memory, *out unchanged. */
bool fy_order_record(int agent, fy_order *out);
void fy_order_free(fy_order *o);

/* The agent's next work comes after what was recorded: a stream's wait for an event; FY_HOST: an event synchronize, or
 * a query that returned true. */
void fy_order_wait(int agent, const fy_order *o);

/* The agent's next work comes after all that was issued to `other` so far: fy_stream_wait_stream; FY_HOST: a stream
 * synchronize, a stream query that returned true, launch blocking, a blocking copy. */
void fy_order_join(int agent, int other);

/* The host waited for all streams of a card; device: its number (1: cuda:0). */
void fy_order_wait_card(int device);

/* Does all work issued to `agent` from now on come after that epoch of `other`? */
bool fy_order_reaches(int agent, int other, uint32_t epoch);

/* For race_detector.c, which compares several at once: the same with the lock held. */
void fy_order_lock(void);
void fy_order_unlock(void);
uint32_t fy_order_issue_locked(int agent);
void fy_order_join_both_locked(int a, int b); /* the next work of either comes after all work of both */
bool fy_order_reaches_locked(int agent, int other, uint32_t epoch);

#endif
