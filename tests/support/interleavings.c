/* interleavings.c: see interleavings.h. */
#include "interleavings.h"

void add_step(schedule *c, step s) { c->steps[c->nsteps++] = s; }

int queue_task(schedule *c, int queue, task t)
{
    add_step(c, (step){ENQUEUE, t.operation, queue, 0});
    c->tasks[queue][c->ntasks[queue]++] = t;
    return c->ntasks[queue];
}

/* Number of tasks that the host has queued before this step. */
static int queued_before(const schedule *c, int queue, int host)
{
    int n = 0;
    for (int i = 0; i < host; i++) n += c->steps[i].kind == ENQUEUE && c->steps[i].queue == queue;
    return n;
}

static bool is_done(const schedule *c, const progress *p, int operation)
{
    for (int i = 0; i < c->nsteps; i++)
        if (c->steps[i].kind == HOST_ACCESS && c->steps[i].operation == operation) return p->host > i;
    for (int q = 0; q < MAX_QUEUES; q++)
        for (int i = 0; i < c->ntasks[q]; i++)
            if (c->tasks[q][i].operation == operation) return p->done[q] > i;
    return false;
}

static void record_order(schedule *c, const progress *p, int operation)
{
    for (int other = 0; other < c->noperations; other++)
        if (other != operation && !is_done(c, p, other)) c->before[operation][other] = true;
}

static bool is_host_ready(const schedule *c, const progress *p)
{
    if (p->host == c->nsteps) return false;
    const step *s = &c->steps[p->host];
    if (s->kind == WAIT_QUEUE) return p->done[s->queue] == queued_before(c, s->queue, p->host);
    return s->kind != WAIT_POSITION || p->done[s->queue] >= s->at;
}

static bool is_queue_ready(const schedule *c, const progress *p, int q)
{
    if (p->done[q] >= queued_before(c, q, p->host)) return false;
    const task *t = &c->tasks[q][p->done[q]];
    if (t->queue >= 0 && p->done[t->queue] < t->at) return false;
    if (t->paired_queue < 0) return true;
    const task *other = &c->tasks[t->paired_queue][p->done[t->paired_queue]];
    return p->done[t->paired_queue] < queued_before(c, t->paired_queue, p->host) && other->paired_queue == q &&
           other->operation == t->operation;
}

void explore_interleavings(schedule *c)
{
    static progress todo[MAX_STATES];
    static uint32_t visited[MAX_STATES]; /* hash table of states; entries of earlier searches have an older stamp */
    static uint32_t stamp;
    static progress states[MAX_STATES];
    int n = 0;
    stamp++;
    memset(c->before, 0, sizeof c->before);
    todo[n++] = (progress){0};
    while (n > 0) {
        progress p = todo[--n];
        for (int q = -1; q < MAX_QUEUES; q++) {
            progress next = p;
            if (q < 0 ? !is_host_ready(c, &p) : !is_queue_ready(c, &p, q)) continue;
            if (q < 0) {
                if (c->steps[p.host].kind == HOST_ACCESS) record_order(c, &p, c->steps[p.host].operation);
                next.host++;
            } else {
                const task *t = &c->tasks[q][p.done[q]];
                if (t->paired_queue >= 0 && t->paired_queue < q) continue; /* execute a paired task once */
                if (t->operation >= 0) record_order(c, &p, t->operation);
                next.done[q]++;
                if (t->paired_queue >= 0) next.done[t->paired_queue]++;
            }
            uint32_t h = next.host;
            for (int i = 0; i < MAX_QUEUES; i++) h = h * 0x9e3779b1u + next.done[i] + 1;
            h = (h ^ h >> 15) % MAX_STATES;
            while (visited[h] == stamp && memcmp(&states[h], &next, sizeof next) != 0) h = (h + 1) % MAX_STATES;
            if (visited[h] == stamp) continue;
            visited[h] = stamp;
            states[h] = next;
            todo[n++] = next;
        }
    }
}
