/* race_program.c: see race_program.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "race_program.h"

/* ---- operations ---- */

static int random_queue_for(int b)
{
    return is_on_card1(b) ? CARD1_QUEUES + (int)random_below(2) : (int)random_below(2);
}

/* A copy between page-locked and device memory, in either direction. */
static void copy_to_or_from_card(bool d2h, bool wait)
{
    int p = (int)random_below(2), d = 2 + (int)random_below(3), queue = random_queue_for(d);
    region r = random_region(true);
    operation *o = new_operation(false);
    append_text("%s %d %d part %d,%d,%d queue %d%s\n", d2h ? "d2h" : "h2d", p, d, r.kind, r.i, r.j, queue,
                wait ? " wait" : "");
    add_access(o, p, r, d2h);
    add_access(o, d, r, !d2h);
    queue_operation(queue);
    if (wait) host_waits_for_queue(queue);
    FY_STREAM(streams[queue])
    {
        fy_tensor *host = view_of(p, r), *card = view_of(d, r);
        assert_non_null(fy_copy_(d2h ? host : card, d2h ? card : host, .non_blocking = !wait));
    }
    update_expected(COPY, d2h ? p : d, r, d2h ? d : p, r, 0);
}

/* Two buffers of cuda:0, or the same one twice. */
static void compute(bool add)
{
    int d = 2 + (int)random_below(2), s = 2 + (int)random_below(2), queue = random_queue_for(d);
    region to = random_region(false),
           from = s == d ? to : (region){to.kind, (int)random_below(SIDE), (int)random_below(SIDE)};
    if (s == d && !add) s = 5 - d;
    operation *o = new_operation(false);
    append_text("%s %d part %d,%d,%d from %d part %d,%d,%d queue %d\n", add ? "add" : "copy", d, to.kind, to.i, to.j, s,
                from.kind, from.i, from.j, queue);
    add_access(o, d, to, true);
    add_access(o, s, from, false);
    if (add) add_access(o, d, to, false);
    queue_operation(queue);
    FY_STREAM(streams[queue])
    {
        fy_tensor *x = view_of(d, to), *y = view_of(s, from);
        assert_non_null(add ? fy_add_(x, y) : fy_copy_(x, y));
    }
    update_expected(add ? ADD : COPY, d, to, s, from, 0);
}

static void fill(void)
{
    int d = 2 + (int)random_below(3), queue = random_queue_for(d);
    region r = random_region(false);
    operation *o = new_operation(false);
    append_text("fill %d part %d,%d,%d queue %d\n", d, r.kind, r.i, r.j, queue);
    add_access(o, d, r, true);
    queue_operation(queue);
    FY_STREAM(streams[queue]) assert_non_null(fy_fill_(view_of(d, r), (double)race_run.schedule.noperations));
    update_expected(FILL, d, r, d, r, (float)race_run.schedule.noperations);
}

/* A copy between cards is ordered on the current stream of each. */
static void copy_between_cards(void)
{
    int d = 2 + (int)random_below(2), queue = (int)random_below(2), other = CARD1_QUEUES + (int)random_below(2);
    bool from_card1 = random_below(2);
    region r = random_region(true);
    operation *o = new_operation(false);
    append_text("peers %d %s 4 part %d,%d,%d queues %d, %d\n", d, from_card1 ? "from" : "to", r.kind, r.i, r.j, queue,
                other);
    add_access(o, d, r, from_card1);
    add_access(o, 4, r, !from_card1);
    queue_task(&race_run.schedule, queue, (task){race_run.schedule.noperations - 1, -1, 0, other});
    queue_task(&race_run.schedule, other, (task){race_run.schedule.noperations - 1, -1, 0, queue});
    race_run.nasync++;
    FY_STREAM(streams[queue]) FY_STREAM(streams[other])
    {
        fy_tensor *x = view_of(d, r), *y = view_of(4, r);
        assert_non_null(from_card1 ? fy_copy_(x, y) : fy_copy_(y, x));
    }
    update_expected(COPY, from_card1 ? d : 4, r, from_card1 ? 4 : d, r, 0);
}

static void read_item(void)
{
    int d = 2 + (int)random_below(3), queue = random_queue_for(d);
    region r = {ELEMENT, (int)random_below(SIDE), (int)random_below(SIDE)};
    operation *o = new_operation(false);
    append_text("item %d part %d,%d,%d queue %d\n", d, r.kind, r.i, r.j, queue);
    add_access(o, d, r, false);
    queue_operation(queue);
    host_waits_for_queue(queue);
    float seen[SIDE * SIDE];
    FY_STREAM(streams[queue]) seen[r.i * SIDE + r.j] = (float)fy_item(view_of(d, r));
    compare_with_expected(d, seen, elements_of(r));
}

void access_from_host(bool write)
{
    int p = (int)random_below(2);
    region r = random_region(false);
    operation *o = new_operation(true);
    append_text("host %s %d part %d,%d,%d\n", write ? "writes" : "reads", p, r.kind, r.i, r.j);
    add_access(o, p, r, write);
    add_step(&race_run.schedule, (step){HOST_ACCESS, race_run.schedule.noperations - 1, 0, 0});
    fy_tensor *x = view_of(p, r);
    if (!write) {
        assert_non_null(fy_data(x));
        compare_with_expected(p, buffers[p]->storage->data, elements_of(r));
        return;
    }
    assert_non_null(fy_fill_(x, (double)race_run.schedule.noperations));
    update_expected(FILL, p, r, p, r, (float)race_run.schedule.noperations);
}

static void record(void)
{
    int e = (int)random_below(EVENTS), queue = (int)random_below(MAX_QUEUES);
    /* an event belongs to the card of its first record */
    if (recorded_at[e].queue >= 0 && is_queue_of_card1(recorded_at[e].queue) != is_queue_of_card1(queue))
        queue ^= CARD1_QUEUES;
    append_text("record %d queue %d\n", e, queue);
    recorded_at[e].queue = queue;
    recorded_at[e].at = queue_task(&race_run.schedule, queue, (task){-1, -1, 0, -1});
    fy_event_record(events[e], streams[queue]);
}

static void wait_for_event(void)
{
    int e = (int)random_below(EVENTS), queue = (int)random_below(MAX_QUEUES);
    append_text("wait %d queue %d\n", e, queue);
    queue_task(&race_run.schedule, queue, (task){-1, recorded_at[e].queue, recorded_at[e].at, -1});
    fy_event_wait(events[e], streams[queue]);
}

static void wait_for_stream(void)
{
    int a = (int)random_below(MAX_QUEUES), b = (int)random_below(MAX_QUEUES);
    append_text("queue %d waits for queue %d\n", a, b);
    queue_task(&race_run.schedule, a, (task){-1, b, race_run.schedule.ntasks[b], -1});
    fy_stream_wait_stream(streams[a], streams[b]);
}

static void synchronize(void)
{
    int e = (int)random_below(EVENTS), queue = (int)random_below(MAX_QUEUES);
    uint32_t which = random_below(may_query ? 4 : 3);
    append_text("synchronize %u: event %d, queue %d\n", which, e, queue);
    if (which == 0) {
        if (recorded_at[e].queue >= 0)
            add_step(&race_run.schedule, (step){WAIT_POSITION, -1, recorded_at[e].queue, recorded_at[e].at});
        fy_event_synchronize(events[e]);
    } else if (which == 1) {
        fy_cuda_set_device(is_queue_of_card1(queue));
        host_waits_for_queue(queue);
        host_waits_for_queue(queue ^ 1);
        fy_cuda_synchronize();
    } else {
        if (which == 2) fy_stream_synchronize(streams[queue]);
        if (which == 2 || fy_stream_query(streams[queue])) host_waits_for_queue(queue);
    }
}

static fy_tensor *empty(fy_dev *d)
{
    fy_geometry g = {.dtype = FY_FLOAT32, .shape = {2, {SIDE, SIDE}}, .strides = {SIDE, 1}};
    return fy_tensor_make(NULL, fy_storage_make(NULL, d, sizeof(float) * SIDE * SIDE), &g, NULL, 0, false);
}

/* Recording on the storage's own stream has no effect. */
static void record_stream(void)
{
    int d = 2 + (int)random_below(3), queue = random_queue_for(d);
    append_text("record %d on queue %d\n", d, queue);
    fy_record_stream(buffers[d], streams[queue]);
    if (fy_stream_id(streams[queue]) != buffers[d]->storage->stream) race_run.recorded_on[d] = queue;
}

static void defer_free(int d)
{
    if (race_run.recorded_on[d] < 0) return;
    race_run.deferred_frees[race_run.ndeferred_frees++] =
        (deferred_free){buffers[d]->storage->addr, race_run.schedule.noperations};
    queue_task(&race_run.schedule, race_run.recorded_on[d], (task){race_run.schedule.noperations, -1, 0, -1});
    new_operation(false);
    race_run.recorded_on[d] = -1;
}

static void reallocate(void)
{
    int d = 2 + (int)random_below(3), queue = random_queue_for(d);
    fy_tensor *old = buffers[d];
    append_text("free and make %d anew in queue %d\n", d, queue);
    defer_free(d);
    fy_free(old);
    FY_STREAM(streams[queue]) buffers[d] = empty(fy_dev_at(is_on_card1(d) ? 2 : 1));
    for (int i = 0; i < SIDE * SIDE; i++) expected[d][i] = NAN;
}

void random_step(void)
{
    bool may_add_async = race_run.nasync < MAX_ASYNC;
    fy_clock_advance(max_pause ? rng_below(&pause_rng_state, (uint32_t)max_pause) : 0);
    if (may_query && random_below(4) == 0) record_stream();
    FY_SCOPE switch (random_below(may_add_async ? 20 : 9))
    {
    case 0: record(); break;
    case 1:
    case 2: wait_for_event(); break;
    case 3: wait_for_stream(); break;
    case 4: synchronize(); break;
    case 5: access_from_host(false); break;
    case 6: access_from_host(true); break;
    case 7:
    case 8: reallocate(); break;
    case 9:
    case 10:
    case 11: copy_to_or_from_card(false, false); break;
    case 12:
    case 13: copy_to_or_from_card(true, false); break;
    case 14: copy_to_or_from_card(random_below(2), true); break;
    case 15: read_item(); break;
    case 16: copy_between_cards(); break;
    case 17: fill(); break;
    default: compute(random_below(2));
    }
    read_events();
}

static void finish_all(void)
{
    for (int card = 1; card >= 0; card--) {
        fy_cuda_set_device(card);
        fy_cuda_synchronize();
    }
    read_events();
}

/* Resets the cards' memory, so that addresses do not depend on the previous program. */
static void reset_card_memory(void)
{
    for (int d = 2; d < BUFFERS; d++) fy_free(buffers[d]);
    fy_cuda_empty_cache();
    for (int d = 2; d < BUFFERS; d++) buffers[d] = empty(fy_dev_at(is_on_card1(d) ? 2 : 1));
}

void begin_race_run(void)
{
    finish_all();
    reset_card_memory();
    memset(&race_run, 0, sizeof race_run);
    for (int b = 0; b < BUFFERS; b++) race_run.recorded_on[b] = -1;
    for (int e = 0; e < EVENTS; e++) {
        fy_event_free(events[e]);
        events[e] = fy_cuda_event();
        recorded_at[e].queue = -1;
    }
    finish_all();
    for (int b = 0; b < BUFFERS; b++) {
        fy_fill_(buffers[b], 100.0 + b);
        update_expected(FILL, b, (region){0}, b, (region){0}, 100.0f + (float)b);
    }
    finish_all();
    wrong_reads = 0;
}

void check_all_buffers(void)
{
    finish_all();
    for (int b = 0; b < BUFFERS; b++) FY_SCOPE compare_with_expected(b, fy_cpu(buffers[b])->storage->data, 0xffff);
}
