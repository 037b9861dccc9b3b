/* interleavings.c: see interleavings.h. */
#include "interleavings.h"

void add_step(course *c, step s) { c->steps[c->nsteps++] = s; }

int give_task(course *c, int queue, task t)
{
    add_step(c, (step){GIVE, t.deed, queue, 0});
    c->tasks[queue][c->ntasks[queue]++] = t;
    return c->ntasks[queue];
}

/* How many tasks the host has queued to it before a step. */
static int queued_before(const course *c, int queue, int host)
{
    int n = 0;
    for (int i = 0; i < host; i++) n += c->steps[i].kind == GIVE && c->steps[i].queue == queue;
    return n;
}

static bool is_done(const course *c, const place *p, int deed)
{
    for (int i = 0; i < c->nsteps; i++)
        if (c->steps[i].kind == DO && c->steps[i].deed == deed) return p->host > i;
    for (int q = 0; q < MOST_QUEUES; q++)
        for (int i = 0; i < c->ntasks[q]; i++)
            if (c->tasks[q][i].deed == deed) return p->done[q] > i;
    return false;
}

static void note_order(course *c, const place *p, int deed)
{
    for (int other = 0; other < c->deeds; other++)
        if (other != deed && !is_done(c, p, other)) c->before[deed][other] = true;
}

static bool host_can(const course *c, const place *p)
{
    if (p->host == c->nsteps) return false;
    const step *s = &c->steps[p->host];
    if (s->kind == WAIT) return p->done[s->queue] == queued_before(c, s->queue, p->host);
    return s->kind != ATTEND || p->done[s->queue] >= s->at;
}

static bool queue_can(const course *c, const place *p, int q)
{
    if (p->done[q] >= queued_before(c, q, p->host)) return false;
    const task *t = &c->tasks[q][p->done[q]];
    if (t->queue >= 0 && p->done[t->queue] < t->at) return false;
    if (t->twin < 0) return true;
    const task *other = &c->tasks[t->twin][p->done[t->twin]];
    return p->done[t->twin] < queued_before(c, t->twin, p->host) && other->twin == q && other->deed == t->deed;
}

void try_all(course *c)
{
    static place todo[MOST_STATES];
    static uint32_t visited[MOST_STATES]; /* hash table of places; entries of earlier searches have an older stamp */
    static uint32_t stamp;
    static place kept[MOST_STATES];
    int n = 0;
    stamp++;
    memset(c->before, 0, sizeof c->before);
    todo[n++] = (place){0};
    while (n > 0) {
        place p = todo[--n];
        for (int q = -1; q < MOST_QUEUES; q++) {
            place next = p;
            if (q < 0 ? !host_can(c, &p) : !queue_can(c, &p, q)) continue;
            if (q < 0) {
                if (c->steps[p.host].kind == DO) note_order(c, &p, c->steps[p.host].deed);
                next.host++;
            } else {
                const task *t = &c->tasks[q][p.done[q]];
                if (t->twin >= 0 && t->twin < q) continue; /* once for both queues */
                if (t->deed >= 0) note_order(c, &p, t->deed);
                next.done[q]++;
                if (t->twin >= 0) next.done[t->twin]++;
            }
            uint32_t h = next.host;
            for (int i = 0; i < MOST_QUEUES; i++) h = h * 0x9e3779b1u + next.done[i] + 1;
            h = (h ^ h >> 15) % MOST_STATES;
            while (visited[h] == stamp && memcmp(&kept[h], &next, sizeof next) != 0) h = (h + 1) % MOST_STATES;
            if (visited[h] == stamp) continue;
            visited[h] = stamp;
            kept[h] = next;
            todo[n++] = next;
        }
    }
}
