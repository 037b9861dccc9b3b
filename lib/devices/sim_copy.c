/* sim_copy.c: copies of the simulated card: which block the host, and which snapshot their source.
 *
 *                      blocking                           non_blocking
 *   host to device     at once                            pageable: source snapshotted, written later
 *                                                         pinned: read and written later
 *   device to host     at once                            pageable: at once; pinned: written later, and
 *                                                         poison until then (sim_pinned.c)
 *   device to device,  later                              later
 *   fill
 *
 * "At once" is after all earlier work of the stream. */
#include "clock.h"
#include "device.h"
#include "event.h"
#include "run_work.h"
#include "sim.h"
#include "timing_model.h"

/* Do both pointers match the direction? */
static bool ends_fit(fy_dev *d, const fy_copy_work *w)
{
    const fy_sim *s = d->state;
    bool src = fy_sim_inside(s, w->src, w->bytes) == (w->dir != FY_WORD_h2d);
    bool dst = fy_sim_inside(s, w->dst, w->bytes) == (w->dir != FY_WORD_d2h);
    if (w->bytes == 0 || (src && dst)) return true;
    bool in_vram = w->dir != (src ? FY_WORD_d2h : FY_WORD_h2d);
    return fy_sim_fail("invalid argument: the %s of this copy is not %s", src ? "destination" : "source",
                       in_vram ? "in VRAM" : "host memory");
}

static bool refuse_memory(void) { return fy_sim_fail("out of host memory for queueing the work"); }

static bool copy_later(fy_dev *d, const fy_copy_work *w)
{
    fy_sim *s = d->state;
    fy_task *t = fy_sim_task(s, FY_TASK_COPY, w->stream, w->id);
    if (!t) return refuse_memory();
    t->copy = *w;
    t->races = w->races.own;
    if (w->dir == FY_WORD_h2d && !w->pinned && !fy_sim_task_snapshot(t)) return fy_sim_task_drop(t), refuse_memory();
    if (w->dir != FY_WORD_d2d && w->pinned) fy_sim_pinned_add(t);
    fy_sim_queue(s, t);
    return true;
}

/* Ferry's own work: takes no modelled time. */
static bool fill_later(fy_dev *d, fy_copy_work *w)
{
    fy_sim *s = d->state;
    if (!fy_sim_inside(s, w->dst, w->bytes)) return fy_sim_fail("invalid argument: the memory to fill is not in VRAM");
    w->dir = w->dir ? w->dir : FY_WORD_d2d;
    int64_t now = fy_clock_now();
    w->time = (fy_time){.start = now, .end = now};
    if (w->bytes == 0) return true;
    if (!fy_sim_enter(d)) return false;
    if (!w->async) return fy_sim_fill(s, w->dst, w->bytes, w->fill_byte), fy_sim_leave(d, true);
    fy_task *t = fy_sim_task(s, FY_TASK_COPY, w->stream, w->id);
    if (!t) return fy_sim_leave(d, refuse_memory());
    t->copy = *w;
    fy_sim_queue(s, t);
    return fy_sim_leave(d, true);
}

/* Runs in the first card's stream, after the earlier work of the second's stream and before its later work. */
static bool queue_between(fy_dev *d, fy_sim *to, const fy_copy_work *w)
{
    fy_sim *from = d->state;
    if (!fy_sim_stream_waits(from, w->stream, to, w->to_stream, fy_sim_issued())) return refuse_memory();
    fy_task *t = fy_sim_task(from, FY_TASK_COPY, w->stream, w->id);
    if (!t) return refuse_memory();
    t->copy = *w;
    t->races = w->races.own;
    fy_sim_queue(from, t);
    return fy_sim_stream_waits(to, w->to_stream, from, w->stream, fy_sim_issued()) || refuse_memory();
}

static bool copy_to_peer(fy_dev *d, fy_copy_work *w)
{
    fy_sim *from = d->state, *to = fy_sim_owner(w->dst, w->bytes);
    if (!fy_sim_inside(from, w->src, w->bytes) || !to || to == from)
        return fy_sim_fail("invalid argument: not a copy between two cards");
    if (!fy_sim_enter(d)) return false;
    if (!fy_sim_healthy(to)) return fy_sim_leave(d, fy_sim_fail_card(to));
    atomic_store_explicit(&to->used, true, memory_order_relaxed);
    bool peer = d->peers >> (to->number + 1) & 1;
    fy_timing_copy_peer(from->timetable, to->timetable, fy_clock_now(), peer, w);
    fy_clock_advance(w->time.held);
    fy_sim_race(&w->races, NULL);
    return fy_sim_leave(d, queue_between(d, to, w));
}

bool fy_sim_copy(fy_dev *d, fy_copy_work *w)
{
    fy_sim *s = d->state;
    bool ok = true;
    if (!w->src && w->bytes) return fill_later(d, w);
    if (w->dir == FY_WORD_p2p) return copy_to_peer(d, w);
    if (!ends_fit(d, w) || !fy_sim_enter(d)) return false;
    fy_timing_copy(s->timetable, fy_clock_now(), w);
    fy_clock_advance(w->time.held);
    fy_sim_race(&w->races, NULL);
    bool at_once = w->dir != FY_WORD_d2d && (!w->async || (w->dir == FY_WORD_d2h && !w->pinned));
    if (at_once) {
        fy_sim_run_until(s, w->stream, UINT64_MAX);
        if (fy_sim_healthy(s)) fy_sim_move(w, NULL, w->races.own);
    } else if (w->bytes) {
        ok = copy_later(d, w);
    }
    return fy_sim_leave(d, ok);
}
