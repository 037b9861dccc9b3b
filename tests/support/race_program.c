/* race_program.c: see race_program.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "race_program.h"

/* ---- operations ---- */

static int a_queue_of(int b) { return is_other(b) ? OTHER + (int)below(2) : (int)below(2); }

/* A copy between page-locked and device memory, in either direction. */
static void cross(bool home, bool wait)
{
    int p = (int)below(2), d = 2 + (int)below(3), queue = a_queue_of(d);
    part of = some_part(true);
    deed *made = new_deed(false);
    say("%s %d %d part %d,%d,%d queue %d%s\n", home ? "d2h" : "h2d", p, d, of.kind, of.i, of.j, queue,
        wait ? " wait" : "");
    uses(made, p, of, home);
    uses(made, d, of, !home);
    to_queue(queue);
    if (wait) wait_for_queue(queue);
    FY_STREAM(streams[queue])
    {
        fy_tensor *host = view_of(p, of), *card = view_of(d, of);
        assert_non_null(fy_copy_(home ? host : card, home ? card : host, .non_blocking = !wait));
    }
    reflect(PUT, home ? p : d, of, home ? d : p, of, 0);
}

/* Two buffers of cuda:0, or the same one twice. */
static void compute(bool add)
{
    int d = 2 + (int)below(2), s = 2 + (int)below(2), queue = a_queue_of(d);
    part to = some_part(false), from = s == d ? to : (part){to.kind, (int)below(SIDE), (int)below(SIDE)};
    if (s == d && !add) s = 5 - d;
    deed *made = new_deed(false);
    say("%s %d part %d,%d,%d from %d part %d,%d,%d queue %d\n", add ? "add" : "copy", d, to.kind, to.i, to.j, s,
        from.kind, from.i, from.j, queue);
    uses(made, d, to, true);
    uses(made, s, from, false);
    if (add) uses(made, d, to, false);
    to_queue(queue);
    FY_STREAM(streams[queue])
    {
        fy_tensor *x = view_of(d, to), *y = view_of(s, from);
        assert_non_null(add ? fy_add_(x, y) : fy_copy_(x, y));
    }
    reflect(add ? ADD : PUT, d, to, s, from, 0);
}

static void fill(void)
{
    int d = 2 + (int)below(3), queue = a_queue_of(d);
    part of = some_part(false);
    deed *made = new_deed(false);
    say("fill %d part %d,%d,%d queue %d\n", d, of.kind, of.i, of.j, queue);
    uses(made, d, of, true);
    to_queue(queue);
    FY_STREAM(streams[queue]) assert_non_null(fy_fill_(view_of(d, of), (double)trial.course.deeds));
    reflect(FILL, d, of, d, of, (float)trial.course.deeds);
}

/* A copy between cards is ordered on both cards' streams of that number. */
static void cross_cards(void)
{
    int d = 2 + (int)below(2), queue = (int)below(2);
    bool back = below(2);
    part of = some_part(true);
    deed *made = new_deed(false);
    say("peers %d %s 4 part %d,%d,%d queues %d, %d\n", d, back ? "from" : "to", of.kind, of.i, of.j, queue,
        queue + OTHER);
    uses(made, d, of, back);
    uses(made, 4, of, !back);
    give_task(&trial.course, queue, (task){trial.course.deeds - 1, -1, 0, queue + OTHER});
    give_task(&trial.course, queue + OTHER, (task){trial.course.deeds - 1, -1, 0, queue});
    trial.given++;
    FY_STREAM(streams[back ? queue + OTHER : queue])
    {
        fy_tensor *x = view_of(d, of), *y = view_of(4, of);
        assert_non_null(back ? fy_copy_(x, y) : fy_copy_(y, x));
    }
    reflect(PUT, back ? d : 4, of, back ? 4 : d, of, 0);
}

static void look_at_card(void)
{
    int d = 2 + (int)below(3), queue = a_queue_of(d);
    part of = {ELEMENT, (int)below(SIDE), (int)below(SIDE)};
    deed *made = new_deed(false);
    say("item %d part %d,%d,%d queue %d\n", d, of.kind, of.i, of.j, queue);
    uses(made, d, of, false);
    to_queue(queue);
    wait_for_queue(queue);
    float seen[SIDE * SIDE];
    FY_STREAM(streams[queue]) seen[of.i * SIDE + of.j] = (float)fy_item(view_of(d, of));
    compare(d, seen, elements_of(of));
}

void host(bool write)
{
    int p = (int)below(2);
    part of = some_part(false);
    deed *made = new_deed(true);
    say("host %s %d part %d,%d,%d\n", write ? "writes" : "reads", p, of.kind, of.i, of.j);
    uses(made, p, of, write);
    add_step(&trial.course, (step){DO, trial.course.deeds - 1, 0, 0});
    fy_tensor *x = view_of(p, of);
    if (!write) {
        assert_non_null(fy_data(x));
        compare(p, buffers[p]->storage->data, elements_of(of));
        return;
    }
    assert_non_null(fy_fill_(x, (double)trial.course.deeds));
    reflect(FILL, p, of, p, of, (float)trial.course.deeds);
}

static void record(void)
{
    int e = (int)below(EVENTS), queue = (int)below(MOST_QUEUES);
    /* an event stays with the card of its first record */
    if (recorded_at[e].queue >= 0 && is_of_other(recorded_at[e].queue) != is_of_other(queue)) queue ^= OTHER;
    say("record %d queue %d\n", e, queue);
    recorded_at[e].queue = queue;
    recorded_at[e].at = give_task(&trial.course, queue, (task){-1, -1, 0, -1});
    fy_event_record(events[e], streams[queue]);
}

static void await(void)
{
    int e = (int)below(EVENTS), queue = (int)below(MOST_QUEUES);
    say("wait %d queue %d\n", e, queue);
    give_task(&trial.course, queue, (task){-1, recorded_at[e].queue, recorded_at[e].at, -1});
    fy_event_wait(events[e], streams[queue]);
}

static void await_stream(void)
{
    int a = (int)below(MOST_QUEUES), b = (int)below(MOST_QUEUES);
    say("queue %d waits for queue %d\n", a, b);
    give_task(&trial.course, a, (task){-1, b, trial.course.ntasks[b], -1});
    fy_stream_wait_stream(streams[a], streams[b]);
}

static void synchronize(void)
{
    int e = (int)below(EVENTS), queue = (int)below(MOST_QUEUES);
    uint32_t which = below(asks ? 4 : 3);
    say("synchronize %u: event %d, queue %d\n", which, e, queue);
    if (which == 0) {
        if (recorded_at[e].queue >= 0)
            add_step(&trial.course, (step){ATTEND, -1, recorded_at[e].queue, recorded_at[e].at});
        fy_event_synchronize(events[e]);
    } else if (which == 1) {
        fy_cuda_set_device(is_of_other(queue));
        wait_for_queue(queue);
        wait_for_queue(queue ^ 1);
        fy_cuda_synchronize();
    } else {
        if (which == 2) fy_stream_synchronize(streams[queue]);
        if (which == 2 || fy_stream_query(streams[queue])) wait_for_queue(queue);
    }
}

static fy_tensor *empty(fy_dev *d)
{
    fy_geometry g = {.dtype = FY_FLOAT32, .shape = {2, {SIDE, SIDE}}, .strides = {SIDE, 1}};
    return fy_tensor_make(NULL, fy_storage_make(NULL, d, sizeof(float) * SIDE * SIDE), &g, NULL, 0);
}

/* Recorded on a stream other than its own; on its own recording has no effect. */
static void lend(void)
{
    int d = 2 + (int)below(3), queue = a_queue_of(d);
    say("record %d on queue %d\n", d, queue);
    fy_record_stream(buffers[d], streams[queue]);
    if (fy_stream_id(streams[queue]) != buffers[d]->storage->stream) trial.lent[d] = queue;
}

static void leave_behind(int d)
{
    if (trial.lent[d] < 0) return;
    trial.leaves[trial.nleaves++] = (leave){buffers[d]->storage->addr, trial.course.deeds};
    give_task(&trial.course, trial.lent[d], (task){trial.course.deeds, -1, 0, -1});
    new_deed(false);
    trial.lent[d] = -1;
}

static void renew(void)
{
    int d = 2 + (int)below(3), queue = a_queue_of(d);
    fy_tensor *old = buffers[d];
    say("free and make %d anew in queue %d\n", d, queue);
    leave_behind(d);
    fy_free(old);
    FY_STREAM(streams[queue]) buffers[d] = empty(fy_dev_at(is_other(d) ? 2 : 1));
    for (int i = 0; i < SIDE * SIDE; i++) mirror[d][i] = NAN;
}

void step_of_program(void)
{
    bool more = trial.given < ASYNC;
    fy_clock_advance(busy ? draw(&pace, (uint32_t)busy) : 0);
    if (asks && below(4) == 0) lend();
    FY_SCOPE switch (below(more ? 20 : 9))
    {
    case 0: record(); break;
    case 1:
    case 2: await(); break;
    case 3: await_stream(); break;
    case 4: synchronize(); break;
    case 5: host(false); break;
    case 6: host(true); break;
    case 7:
    case 8: renew(); break;
    case 9:
    case 10:
    case 11: cross(false, false); break;
    case 12:
    case 13: cross(true, false); break;
    case 14: cross(below(2), true); break;
    case 15: look_at_card(); break;
    case 16: cross_cards(); break;
    case 17: fill(); break;
    default: compute(below(2));
    }
    read_events();
}

static void all_done(void)
{
    for (int card = 1; card >= 0; card--) {
        fy_cuda_set_device(card);
        fy_cuda_synchronize();
    }
    read_events();
}

/* Resets the cards' memory, so that addresses do not depend on the previous program. */
static void place_anew(void)
{
    for (int d = 2; d < BUFFERS; d++) fy_free(buffers[d]);
    fy_cuda_empty_cache();
    for (int d = 2; d < BUFFERS; d++) buffers[d] = empty(fy_dev_at(is_other(d) ? 2 : 1));
}

void begin_trial(void)
{
    all_done();
    place_anew();
    memset(&trial, 0, sizeof trial);
    for (int b = 0; b < BUFFERS; b++) trial.lent[b] = -1;
    for (int e = 0; e < EVENTS; e++) {
        fy_event_free(events[e]);
        events[e] = fy_cuda_event();
        recorded_at[e].queue = -1;
    }
    all_done();
    for (int b = 0; b < BUFFERS; b++) {
        fy_fill_(buffers[b], 100.0 + b);
        reflect(FILL, b, (part){0}, b, (part){0}, 100.0f + (float)b);
    }
    all_done();
    wrong = 0;
}

void look_at_all(void)
{
    all_done();
    for (int b = 0; b < BUFFERS; b++) FY_SCOPE compare(b, fy_cpu(buffers[b])->storage->data, 0xffff);
}
