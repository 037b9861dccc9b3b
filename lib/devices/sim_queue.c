/* sim_queue.c: the simulated card's work that is issued and not yet executed.
 *
 * Every stream of a card is a list of tasks. A task is executed only when something waits for it, so that a program
 * that reads too early sees the old bytes on every run. A stream's tasks run in order; one that waits for another
 * stream first runs that stream's tasks up to the point, on whatever card it is.
 *
 *      stream 0   [ copy 1 ][ run 3 ][ run 6 ]          running stream 7 up to number 5 runs
 *      stream 7   [ run 2 ][ wait: 0 up to 3 ][ run 5 ]       2, 1, 3, 5
 *
 * The queue is bounded: beyond MOST_TASKS per card, or most_side bytes of snapshots, the oldest tasks are executed. */
#include <stdlib.h>
#include <string.h>

#include "run_work.h"
#include "sim.h"

enum { MOST_TASKS = 4096, CHUNK = 32 };
static const size_t most_side = (size_t)256 << 20;

static fy_task *free_tasks; /* free list; chunks are never freed */
static uint64_t issued = 1; /* so that a recorded point's number is never 0 */

uint64_t fy_sim_issued(void) { return issued; }

/* ---- the tasks' memory ---- */

fy_task *fy_sim_task(fy_sim *s, fy_task_kind kind, int stream, uint32_t id)
{
    if (!free_tasks) {
        fy_task *chunk = malloc(CHUNK * sizeof *chunk);
        for (int i = 0; chunk && i < CHUNK; i++) {
            chunk[i].next = free_tasks;
            free_tasks = &chunk[i];
        }
    }
    fy_task *t = free_tasks;
    if (!t) return NULL;
    free_tasks = t->next;
    t->at = (fy_task_point){s->number, stream, 0};
    t->next = t->pinned_next = t->pinned_was = NULL;
    t->id = id;
    t->kind = (uint8_t)kind;
    t->races = 0;
    t->is_pinned = false;
    t->side = NULL;
    if (kind == FY_TASK_RUN) t->run.items = NULL;
    return t;
}

bool fy_sim_task_snapshot(fy_task *t)
{
    t->side = malloc(t->copy.bytes);
    if (!t->side) return false;
    memcpy(t->side, t->copy.src, t->copy.bytes);
    fy_sim_card(t->at.card)->side += t->copy.bytes;
    return true;
}

void fy_sim_task_drop(fy_task *t)
{
    if (t->side) fy_sim_card(t->at.card)->side -= t->copy.bytes;
    free(t->side);
    if (t->kind == FY_TASK_RUN) free(t->run.items);
    t->next = free_tasks;
    free_tasks = t;
}

/* ---- a stream's queue ---- */

static void take_first(fy_sim *s, int stream)
{
    fy_task_list *l = &s->streams[stream];
    fy_task *t = l->first;
    l->first = t->next;
    if (!l->first) s->waiting &= ~((uint64_t)1 << stream);
    s->tasks--;
    fy_sim_pinned_drop(t);
    fy_sim_task_drop(t);
}

/* ---- execution ---- */

/* The head stays queued, with `busy` set, while it executes: a nested wait for this stream returns at once. Everything
 * it could wait for has been executed, since a wait only refers to earlier tasks. */
static void do_first(fy_sim *s, int stream)
{
    fy_task_list *l = &s->streams[stream];
    fy_task *t = l->first;
    fy_sim *other = t->kind == FY_TASK_WAIT ? fy_sim_card(t->wait.card) : NULL;
    l->busy = true;
    if (fy_sim_healthy(s) && other) fy_sim_run_until(other, t->wait.stream, t->wait.number);
    else if (fy_sim_healthy(s) && t->kind != FY_TASK_WAIT) fy_sim_task_run(s, t);
    l->busy = false;
    take_first(s, stream);
}

void fy_sim_run_until(fy_sim *s, int stream, uint64_t number)
{
    fy_task_list *l = &s->streams[stream];
    while (l->first && !l->busy && l->first->at.number <= number) do_first(s, stream);
}

/* The stream whose head was issued first (oldest), or last; -1: none. */
static int stream_with(bool oldest, const fy_sim *s)
{
    int found = -1;
    for (uint64_t rest = s->waiting; rest; rest &= rest - 1) {
        int i = __builtin_ctzll(rest);
        uint64_t number = s->streams[i].first->at.number;
        if (found < 0 || (number < s->streams[found].first->at.number) == oldest) found = i;
    }
    return found;
}

/* Any order is valid that streams and waits allow. Of two racing tasks the later runs first, so that the race shows. */
void fy_sim_run_all(fy_sim *s)
{
    while (s->waiting) fy_sim_run_until(s, stream_with(false, s), UINT64_MAX);
}

void fy_sim_queue(fy_sim *s, fy_task *t)
{
    fy_task_list *l = &s->streams[t->at.stream];
    t->at.number = ++issued;
    if (l->first) l->last->next = t;
    else l->first = t;
    l->last = t;
    s->waiting |= (uint64_t)1 << t->at.stream;
    s->tasks++;
    while (s->tasks > MOST_TASKS || s->side > most_side) do_first(s, stream_with(true, s));
}

void fy_sim_drop_all(fy_sim *s)
{
    for (int i = 0; i < FY_STREAMS; i++)
        while (s->streams[i].first) take_first(s, i);
}

bool fy_sim_stream_waits(fy_sim *s, int stream, const fy_sim *other, int of, uint64_t number)
{
    const fy_task *first = other->streams[of].first;
    if ((s == other && stream == of) || !first || first->at.number > number) return true;
    fy_task *t = fy_sim_task(s, FY_TASK_WAIT, stream, 0);
    if (!t) return false;
    t->wait = (fy_task_point){other->number, of, number};
    fy_sim_queue(s, t);
    return true;
}

/* ---- races ---- */

static void note_race(fy_sim *s, uint32_t id, int item, uint8_t bits)
{
    for (uint64_t rest = s->waiting; rest; rest &= rest - 1)
        for (fy_task *t = s->streams[__builtin_ctzll(rest)].first; t; t = t->next)
            if (t->id == id)
                *(t->kind == FY_TASK_RUN && t->run.items ? &t->run.items[item].races.own : &t->races) |= bits;
}

void fy_sim_race(const fy_races *r, fy_task *own)
{
    if (own) own->races |= r->own;
    for (int i = 0; i < r->n; i++)
        for (int card = 0; card < FY_SIM_CARDS && r->earlier[i].id; card++)
            if (fy_sim_card(card))
                note_race(fy_sim_card(card), r->earlier[i].id, r->earlier[i].item, r->earlier[i].bits);
}
