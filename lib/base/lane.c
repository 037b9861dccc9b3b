/* lane.c: lanes. A turn is passed on under the group's mutex, which orders all that lanes do. */
#include "lane.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "clock.h"

typedef struct lane_group {
    pthread_mutex_t lock;
    fy_lane *oldest;  /* the lane that entered */
    fy_lane *running; /* whose turn it is; NULL: nobody can run */
    bool modelled;
} lane_group;

struct fy_lane {
    lane_group *group;
    fy_lane *next;          /* started later */
    _Atomic int64_t *clock; /* the session's, or `own` */
    _Atomic int64_t own;
    bool waits, ended, keeps;
    int entered;       /* how often fy_lane_enter was called in it, not counting that it is a lane */
    fy_lane *joiner;   /* waits for its end */
    pthread_cond_t go; /* its turn has come or, where time is measured, it no longer waits */
    pthread_t thread;
    void (*body)(void *context);
    void *context;
};

_Thread_local fy_lane *fy_lane_self;

/* The parent's lanes do not run in a forked child. */
static void in_child(void)
{
    fy_lane_self = NULL;
    fy_clock_use(NULL);
}

static void watch_fork(void) { pthread_atfork(NULL, NULL, in_child); }

static int64_t time_of(const fy_lane *l) { return atomic_load_explicit(l->clock, memory_order_relaxed); }

/* Of those that can run, the lane with the least time. */
static fy_lane *first_in_time(const lane_group *g)
{
    fy_lane *first = NULL;
    for (fy_lane *l = g->oldest; l; l = l->next)
        if (!l->waits && !l->ended && (!first || time_of(l) < time_of(first))) first = l;
    return first;
}

/* Gives the turn to the first in time. Locked. */
static void pass(lane_group *g)
{
    g->running = first_in_time(g);
    if (g->running) pthread_cond_signal(&g->running->go);
}

static void wait_for_turn(fy_lane *l)
{
    while (l->group->modelled ? l->group->running != l : l->waits) pthread_cond_wait(&l->go, &l->group->lock);
}

/* Only the lane whose turn it is changes the list and its own clock, so it needs no lock to look at them. */
void fy_lane_yield(void)
{
    fy_lane *self = fy_lane_self;
    if (self->keeps || !self->group->modelled || first_in_time(self->group) == self) return;
    pthread_mutex_lock(&self->group->lock);
    pass(self->group);
    wait_for_turn(self);
    pthread_mutex_unlock(&self->group->lock);
}

bool fy_lane_keep(bool keep)
{
    bool before = fy_lane_self && fy_lane_self->keeps;
    if (fy_lane_self) fy_lane_self->keeps = keep;
    return before;
}

void fy_lane_acquire(pthread_mutex_t *m)
{
    fy_lane *self = fy_lane_self;
    while (!self || !self->group->modelled || pthread_mutex_trylock(m)) {
        const fy_lane *other = NULL;
        if (self && self->group->modelled) {
            self->waits = true;
            other = first_in_time(self->group);
            self->waits = false;
        }
        if (!other) { /* threads that are no lanes wait for each other as usual */
            pthread_mutex_lock(m);
            return;
        }
        fy_clock_at_least(time_of(other) + 1);
        bool kept = fy_lane_keep(false);
        fy_lane_yield();
        fy_lane_keep(kept);
    }
}

void fy_lane_forget(void) { fy_lane_self = NULL; }

/* ---- beginning and end ---- */

/* Its lock is held by the only lane that runs, or no other lane exists. */
static fy_lane *add(lane_group *g, _Atomic int64_t *clock)
{
    fy_lane *l = calloc(1, sizeof *l), **last = &g->oldest;
    if (!l) return NULL;
    l->group = g;
    l->clock = clock ? clock : &l->own;
    pthread_cond_init(&l->go, NULL);
    while (*last) last = &(*last)->next;
    return *last = l;
}

static void drop(fy_lane *l)
{
    fy_lane **at = &l->group->oldest;
    while (*at != l) at = &(*at)->next;
    *at = l->next;
    pthread_cond_destroy(&l->go);
    free(l);
}

bool fy_lane_enter(bool modelled)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_fork);
    if (!fy_lane_self) {
        lane_group *g = calloc(1, sizeof *g);
        fy_lane *l = g ? add(g, fy_clock_modelled()) : NULL;
        if (!l) return free(g), false;
        pthread_mutex_init(&g->lock, NULL);
        g->modelled = modelled;
        fy_lane_self = g->running = l;
    }
    fy_lane_self->entered++;
    return true;
}

void fy_lane_leave(void)
{
    fy_lane *self = fy_lane_self;
    if (!self || --self->entered > 0 || self->body) return;
    lane_group *g = self->group;
    drop(self);
    pthread_mutex_destroy(&g->lock);
    free(g);
    fy_lane_self = NULL;
}

static void *run(void *p)
{
    fy_lane *self = p;
    lane_group *g = self->group;
    fy_lane_self = self;
    fy_clock_use(self->clock);
    pthread_mutex_lock(&g->lock);
    wait_for_turn(self);
    pthread_mutex_unlock(&g->lock);

    self->body(self->context);

    pthread_mutex_lock(&g->lock);
    self->ended = true;
    if (self->joiner) fy_lane_wake(self->joiner);
    if (g->modelled) pass(g);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

fy_lane *fy_lane_start(void (*body)(void *context), void *context)
{
    lane_group *g = fy_lane_self->group;
    sigset_t outside, before;
    pthread_mutex_lock(&g->lock);
    fy_lane *l = add(g, NULL);
    pthread_mutex_unlock(&g->lock);
    if (!l) return NULL;
    l->body = body;
    l->context = context;
    atomic_store_explicit(&l->own, time_of(fy_lane_self), memory_order_relaxed);

    sigfillset(&outside); /* the program's threads handle the others */
    const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&outside, own[i]);
    pthread_sigmask(SIG_SETMASK, &outside, &before);
    bool started = !pthread_create(&l->thread, NULL, run, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) return l;
    pthread_mutex_lock(&g->lock);
    drop(l);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

void fy_lane_join(fy_lane *l)
{
    fy_lanes_lock();
    for (l->joiner = fy_lane_self; !l->ended;) fy_lane_wait();
    fy_lanes_unlock();
    pthread_join(l->thread, NULL);
    fy_lanes_lock();
    drop(l);
    fy_lanes_unlock();
}

/* ---- what they share ---- */

void fy_lanes_lock(void) { pthread_mutex_lock(&fy_lane_self->group->lock); }
void fy_lanes_unlock(void) { pthread_mutex_unlock(&fy_lane_self->group->lock); }

void fy_lane_wait(void)
{
    fy_lane *self = fy_lane_self;
    self->waits = true;
    if (self->group->modelled) pass(self->group);
    wait_for_turn(self);
}

void fy_lane_wake(fy_lane *l)
{
    if (!l->waits) return;
    l->waits = false;
    if (!l->group->modelled) pthread_cond_signal(&l->go);
    else if (time_of(l) < time_of(fy_lane_self))
        atomic_store_explicit(l->clock, time_of(fy_lane_self), memory_order_relaxed);
}
