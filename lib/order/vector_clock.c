/* vector_clock.c: vector clocks. A clock is a row of a table that is all zeros at first: the system gives a page of it
 * when it is written, so that a program with one stream pays for one row. Agents get their rows and columns in the
 * order in which they are first heard of, and rows are gone through only as far as that. */
#include "vector_clock.h"

#include <stdlib.h>

#include "lock.h"
#include "run_work.h"

FY_LONG_LOCK(lock)                            /* everything below */
static uint32_t clocks[FY_AGENTS][FY_AGENTS]; /* [whose][of whom], by places */
static uint32_t seen_host[FY_AGENTS];         /* how much of the host's clock a stream has taken in */
static uint16_t places[FY_AGENTS];            /* of an agent, and one more: 0 is none yet */
static uint32_t used = 1;                     /* places given out; the host's is the first */
static uint32_t host_learnt = 1;              /* how often the host's clock grew */

void fy_order_lock(void) { pthread_mutex_lock(&lock); }
void fy_order_unlock(void) { pthread_mutex_unlock(&lock); }

static uint32_t place_of(int agent)
{
    if (agent == FY_HOST) return 0;
    if (!places[agent]) places[agent] = (uint16_t)(++used);
    return places[agent] - 1u;
}

static void take_in(uint32_t into, const uint32_t *from, uint32_t n)
{
    uint32_t *clock = clocks[into];
    bool grew = false;
    for (uint32_t i = 0; i < n; i++) {
        if (from[i] <= clock[i]) continue;
        clock[i] = from[i];
        grew = true;
    }
    if (into == 0 && grew) host_learnt++;
}

/* Whatever a stream is given, it is given by the host: after what the host has seen. */
static void take_in_host(uint32_t stream)
{
    if (stream == 0 || seen_host[stream] == host_learnt) return;
    take_in(stream, clocks[0], used);
    seen_host[stream] = host_learnt;
}

uint32_t fy_order_issue_locked(int agent)
{
    uint32_t at = place_of(agent);
    take_in_host(at);
    return at ? ++clocks[at][at] : 0;
}

uint32_t fy_order_issue(int agent)
{
    fy_order_lock();
    uint32_t epoch = fy_order_issue_locked(agent);
    fy_order_unlock();
    return epoch;
}

void fy_order_meet_locked(int a, int b)
{
    take_in(place_of(a), clocks[place_of(b)], used);
    take_in(place_of(b), clocks[place_of(a)], used);
}

static bool fits(fy_order *o, uint32_t n)
{
    uint32_t *epochs = realloc(o->epochs, n * sizeof *epochs);
    if (!epochs) return false;
    o->epochs = epochs;
    return true;
}

bool fy_order_record(int agent, fy_order *out)
{
    fy_order_lock();
    uint32_t at = place_of(agent);
    take_in_host(at);
    bool ok = out->n >= used || fits(out, used);
    if (ok) out->n = used;
    for (uint32_t i = 0; ok && i < used; i++) out->epochs[i] = clocks[at][i];
    fy_order_unlock();
    return ok;
}

void fy_order_free(fy_order *o)
{
    free(o->epochs);
    *o = (fy_order){0};
}

void fy_order_wait(int agent, const fy_order *o)
{
    fy_order_lock();
    take_in(place_of(agent), o->epochs, o->n);
    fy_order_unlock();
}

void fy_order_join(int agent, int other)
{
    fy_order_lock();
    uint32_t at = place_of(agent), from = place_of(other);
    take_in_host(from);
    if (at != from) take_in(at, clocks[from], used);
    fy_order_unlock();
}

void fy_order_wait_card(int device)
{
    int first = 1 + FY_STREAMS * (device - 1);
    fy_order_lock();
    for (int agent = first; agent < first + FY_STREAMS; agent++)
        if (places[agent]) take_in(0, clocks[places[agent] - 1], used);
    fy_order_unlock();
}

/* What the host has seen counts for all: the agent's next work is still to be given by it. */
bool fy_order_reaches_locked(int agent, int other, uint32_t epoch)
{
    if (other == FY_HOST || agent == other) return true;
    uint32_t of = place_of(other);
    return clocks[place_of(agent)][of] >= epoch || clocks[0][of] >= epoch;
}

bool fy_order_reaches(int agent, int other, uint32_t epoch)
{
    fy_order_lock();
    bool yes = fy_order_reaches_locked(agent, other, epoch);
    fy_order_unlock();
    return yes;
}
