/* vector_clock.h: what comes after what. Vector clocks of the host and of every stream, above the back ends: the
 * simulated and the real card are judged alike, by what the program asked for and never by when things happened.
 *
 * An agent does one thing after another: the host, or one stream of one card. Every piece of work of an agent has
 * an epoch, 1, 2, 3 ...; an agent's clock holds, for each agent, the last epoch that is certain to be over before
 * the agent's next work begins. Work comes after all that its agent's clock reaches, and nothing else is certain.
 *
 * All of the host's threads are one agent. How they are ordered among themselves (joins, mutexes, a queue of the
 * program's own) Ferry cannot see; threads apart would make data races of what the program has put in order.
 *
 * Epochs are of 32 bits, as the numbers of works are. */
#ifndef FERRY_ORDER_H
#define FERRY_ORDER_H

#include "device.h"
#include "run_work.h"

enum { FY_HOST = 0, FY_MOST_CARDS = 8, FY_AGENTS = 1 + FY_STREAMS * FY_MOST_CARDS };

/* The agent of a stream; of the CPU, whatever the stream: the host. */
static inline int fy_agent_of(const fy_dev *d, int stream)
{
    return d->number == 0 ? FY_HOST : 1 + FY_STREAMS * (d->number - 1) + stream;
}
static inline int fy_agent_device(int agent) { return agent == FY_HOST ? 0 : 1 + (agent - 1) / FY_STREAMS; }
static inline int fy_agent_stream(int agent) { return agent == FY_HOST ? 0 : (agent - 1) % FY_STREAMS; }

/* A clock as it was: what an event keeps. All zeros: nothing came before. Give it back with fy_order_free. */
typedef struct fy_order {
    uint32_t n;
    uint32_t *epochs;
} fy_order;

/* The host gives a stream work, which comes after all that the host has seen by now. Its epoch. (What the
 * host does itself needs none: whatever is issued later comes after it.) race_detector.c does this for every work. */
uint32_t fy_order_issue(int agent);

/* An event is put into a stream, or the host notes where it stands: all that the agent's next work comes after.
 * What *out held is forgotten; false: no memory, and it holds that still. */
bool fy_order_record(int agent, fy_order *out);
void fy_order_free(fy_order *o);

/* What the agent does next comes after what was recorded: a stream's wait for an event; FY_HOST: an event's
 * synchronize, or a query that said yes. */
void fy_order_wait(int agent, const fy_order *o);

/* And after all that `other` has been given by now: fy_stream_wait_stream; FY_HOST: a stream's synchronize, a query
 * of a stream that said yes, launch blocking, a copy that held the host. */
void fy_order_join(int agent, int other);

/* The host waited for all streams of a card, by the device's number (1: cuda:0). */
void fy_order_wait_card(int device);

/* Does all that `agent` is given from now on come after that epoch of `other`? */
bool fy_order_reaches(int agent, int other, uint32_t epoch);

/* For race_detector.c, which looks at several at once: the same with the lock held. */
void fy_order_lock(void);
void fy_order_unlock(void);
uint32_t fy_order_issue_locked(int agent);
void fy_order_meet_locked(int a, int b); /* what was given to either by now comes before what both are given next */
bool fy_order_reaches_locked(int agent, int other, uint32_t epoch);

#endif
