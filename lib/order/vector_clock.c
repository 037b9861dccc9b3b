/* vector_clock.c: vector clocks. A clock is a row of a zero-initialized table whose pages the system allocates on first
 * write, so a program with one stream pays for one row. Agents get an index (row and column) at first use, and only
 * indexes in use are scanned. */
#include "vector_clock.h"

#include <stdlib.h>

#include "lock.h"
#include "run_work.h"

FY_LONG_LOCK(lock)                            /* everything below */
static uint32_t clocks[FY_AGENTS][FY_AGENTS]; /* [owner][agent], by index */
static uint32_t seen_host[FY_AGENTS];         /* version of the host's clock that a stream last merged */
static uint16_t indexes[FY_AGENTS];           /* of an agent, plus 1; 0: none yet */
static uint32_t used = 1;                     /* indexes in use; the host's is 0 */
static uint32_t host_version = 1;             /* counts advances of the host's clock */

void fy_order_lock(void) { pthread_mutex_lock(&lock); }
void fy_order_unlock(void) { pthread_mutex_unlock(&lock); }

static uint32_t index_of(int agent)
{
    if (agent == FY_HOST) return 0;
    if (!indexes[agent]) indexes[agent] = (uint16_t)(++used);
    return indexes[agent] - 1u;
}

static void merge(uint32_t into, const uint32_t *from, uint32_t n)
{
    uint32_t *clock = clocks[into];
    bool grew = false;
    for (uint32_t i = 0; i < n; i++) {
        if (from[i] <= clock[i]) continue;
        clock[i] = from[i];
        grew = true;
    }
    if (into == 0 && grew) host_version++;
}

/* The host issues all work, so a stream's next work comes after everything that the host has waited for. */
static void merge_host(uint32_t stream)
{
    if (stream == 0 || seen_host[stream] == host_version) return;
    merge(stream, clocks[0], used);
    seen_host[stream] = host_version;
}

uint32_t fy_order_issue_locked(int agent)
{
    uint32_t at = index_of(agent);
    merge_host(at);
    return at ? ++clocks[at][at] : 0;
}

uint32_t fy_order_issue(int agent)
{
    fy_order_lock();
    uint32_t epoch = fy_order_issue_locked(agent);
    fy_order_unlock();
    return epoch;
}

void fy_order_join_both_locked(int a, int b)
{
    merge(index_of(a), clocks[index_of(b)], used);
    merge(index_of(b), clocks[index_of(a)], used);
}

bool fy_order_record(int agent, fy_order *out)
{
    fy_order_lock();
    uint32_t at = index_of(agent);
    merge_host(at);
    uint32_t *epochs = out->n < used ? realloc(out->epochs, used * sizeof *epochs) : out->epochs;
    if (epochs) {
        memcpy(epochs, clocks[at], used * sizeof *epochs);
        out->epochs = epochs;
        out->n = used;
    }
    fy_order_unlock();
    return epochs != NULL;
}

void fy_order_free(fy_order *o)
{
    free(o->epochs);
    *o = (fy_order){0};
}

void fy_order_wait(int agent, const fy_order *o)
{
    fy_order_lock();
    merge(index_of(agent), o->epochs, o->n);
    fy_order_unlock();
}

void fy_order_join(int agent, int other)
{
    fy_order_lock();
    uint32_t at = index_of(agent), from = index_of(other);
    merge_host(from);
    if (at != from) merge(at, clocks[from], used);
    fy_order_unlock();
}

void fy_order_wait_card(int device)
{
    int first = 1 + FY_STREAMS * (device - 1);
    fy_order_lock();
    for (int agent = first; agent < first + FY_STREAMS; agent++)
        if (indexes[agent]) merge(0, clocks[indexes[agent] - 1], used);
    fy_order_unlock();
}

/* The host's clock counts for every agent: the host has yet to issue the agent's next work. */
bool fy_order_reaches_locked(int agent, int other, uint32_t epoch)
{
    if (other == FY_HOST || agent == other) return true;
    uint32_t of = index_of(other);
    return clocks[index_of(agent)][of] >= epoch || clocks[0][of] >= epoch;
}

bool fy_order_reaches(int agent, int other, uint32_t epoch)
{
    fy_order_lock();
    bool yes = fy_order_reaches_locked(agent, other, epoch);
    fy_order_unlock();
    return yes;
}
