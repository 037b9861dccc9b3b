/* Findings that need several streams, several cards or a full card. Each rule has three programs with a finding, at the
 * line that ends in HERE, and three near misses. */
#include "explained.h"

#define CARD "cuda"

static fy_tensor *on_host(int64_t n) { return fy_add(fy_ones((n)), fy_ones((n))); } /* not a constant */
static void wait_for(fy_stream *s) { fy_stream_synchronize(s); }

/* ---- data races ---- */

static void reads_too_early(void)
{
    fy_tensor *y = fy_to(fy_relu(fy_ones((64), .device = CARD)), "cpu", .non_blocking = true);
    fy_print(y); /* HERE */
}
static void writes_too_early(void)
{
    fy_tensor *batch = fy_pin_memory(on_host(64)), *x = fy_to(batch, CARD, .non_blocking = true);
    fy_mul_(batch, 2.0); /* HERE */
    fy_print(fy_cpu(x));
}
static void two_streams_race(void)
{
    fy_stream *side = fy_cuda_stream();
    fy_tensor *x = fy_ones((64), .device = CARD);
    fy_cuda_synchronize();
    for (int i = 0; i < 3; i++) {
        FY_STREAM(side) { fy_add_(x, 1); }
        fy_relu_(x); /* HERE */
        fy_cuda_synchronize();
    }
}
static void waits_for_its_stream(void)
{
    fy_tensor *y = fy_to(fy_relu(fy_ones((64), .device = CARD)), "cpu", .non_blocking = true);
    wait_for(fy_cuda_current_stream());
    fy_print(y);
}
static void waits_for_an_event(void)
{
    fy_tensor *batch = fy_pin_memory(on_host(64)), *x = fy_to(batch, CARD, .non_blocking = true);
    fy_event *sent = fy_stream_record_event(fy_cuda_current_stream());
    fy_event_synchronize(sent);
    fy_mul_(batch, 2.0);
    fy_print(fy_cpu(x));
    fy_event_free(sent);
}
static void both_only_read(void)
{
    fy_stream *side = fy_cuda_stream();
    fy_tensor *x = fy_ones((64), .device = CARD), *y = NULL;
    fy_cuda_synchronize();
    FY_STREAM(side) { y = fy_add(x, 1); }
    fy_tensor *z = fy_relu(x);
    fy_cuda_synchronize();
    fy_print(fy_add(fy_cpu(y), fy_cpu(z)));
}

static void accesses_without_an_order(void **state)
{
    (void)state;
    const char *rule = "data-race";
    EXPECT({rule, reads_too_early, 1, NULL}, {rule, writes_too_early, 1, NULL}, {rule, two_streams_race, -1, NULL},
           {rule, waits_for_its_stream, 0, NULL}, {rule, waits_for_an_event, 0, NULL}, {rule, both_only_read, 0, NULL});
}

/* ---- out of memory ---- */

enum { MIB = 1 << 18 /* floats */ };
#define ROOM "h200:capacity=40MiB" /* two segments of 20 MiB */

/* Four tensors of 9 MiB fill both segments; after two are freed, 15 MiB are requested. */
static void take_four(fy_tensor *x[4])
{
    fy_on_error(FY_RETURN);
    for (int i = 0; i < 4; i++) x[i] = fy_zeros((9 * MIB), .device = CARD);
}
static void a_hole_in_each_segment(void)
{
    fy_tensor *x[4];
    take_four(x);
    fy_free(x[0]), fy_free(x[2]);
    fy_zeros((15 * MIB), .device = CARD); /* HERE */
}
static void a_hole_and_an_end(void)
{
    fy_tensor *x[4];
    take_four(x);
    fy_free(x[1]), fy_free(x[2]);
    for (int i = 0; i < 2; i++) fy_zeros((12 * MIB), .device = CARD); /* HERE */
}
static void small_ones_in_between(void)
{
    fy_on_error(FY_RETURN);
    fy_tensor *first = fy_zeros((9 * MIB), .device = CARD), *small = fy_zeros((2 * MIB), .device = CARD);
    fy_tensor *second = fy_zeros((9 * MIB), .device = CARD), *other = fy_zeros((9 * MIB), .device = CARD);
    fy_free(first), fy_free(second);
    fy_zeros((17 * MIB), .device = CARD); /* HERE */
    fy_relu_(small), fy_relu_(other);
}
static void one_segment_is_whole(void)
{
    fy_tensor *x[4];
    take_four(x);
    fy_free(x[0]), fy_free(x[1]);
    fy_zeros((15 * MIB), .device = CARD);
}
static void simply_too_large(void)
{
    fy_on_error(FY_RETURN);
    fy_zeros((41 * MIB), .device = CARD);
}
static void nothing_is_free(void)
{
    fy_tensor *x[4];
    take_four(x);
    fy_zeros((9 * MIB), .device = CARD);
}

static void free_memory_in_pieces(void **state)
{
    (void)state;
    const char *rule = "fragmentation";
    EXPECT({rule, a_hole_in_each_segment, 1, ROOM}, {rule, a_hole_and_an_end, 2, ROOM},
           {rule, small_ones_in_between, 1, ROOM}, {rule, one_segment_is_whole, 0, ROOM},
           {rule, simply_too_large, 0, ROOM}, {rule, nothing_is_free, 0, ROOM});
}

static void home_and_there(void)
{
    fy_on_error(FY_RETURN);
    fy_tensor *x = fy_relu_(fy_ones((12 * MIB), .device = CARD)), *y = fy_cpu(x); /* HERE */
    fy_zeros((12 * MIB), .device = CARD);
    fy_zeros((12 * MIB), .device = CARD);
    fy_zeros((12 * MIB), .device = CARD);
    fy_item(fy_sum(y));
}
static void each_result_stays(void)
{
    fy_on_error(FY_RETURN);
    for (int i = 0; i < 4; i++) {
        fy_tensor *x = fy_full((12 * MIB), (double)i, .device = CARD);
        if (x) fy_cpu(x); /* HERE */
    }
}
static void a_view_went_home(void)
{
    fy_on_error(FY_RETURN);
    fy_tensor *x = fy_ones((2, 6 * MIB), .device = CARD);
    fy_tensor *row = fy_cpu(fy_select(x, 0, 1)); /* HERE */
    for (int i = 0; i < 3; i++) fy_zeros((12 * MIB), .device = CARD);
    fy_item(fy_sum(row));
}
static void freed_after_the_copy(void)
{
    fy_on_error(FY_RETURN);
    fy_tensor *x = fy_relu_(fy_ones((12 * MIB), .device = CARD));
    fy_cpu(x);
    fy_free(x);
    for (int i = 0; i < 4; i++) fy_zeros((12 * MIB), .device = CARD);
}
static void needed_there_as_well(void)
{
    fy_on_error(FY_RETURN);
    fy_tensor *x = fy_ones((12 * MIB), .device = CARD);
    fy_cpu(x);
    fy_relu_(x);
    for (int i = 0; i < 4; i++) fy_zeros((12 * MIB), .device = CARD);
}
static void only_printed(void)
{
    fy_on_error(FY_RETURN);
    fy_tensor *x = fy_ones((12 * MIB), .device = CARD);
    fy_print(x);
    for (int i = 0; i < 4; i++) fy_zeros((12 * MIB), .device = CARD);
}

static void a_copy_to_the_host_frees_nothing(void **state)
{
    (void)state;
    const char *rule = "device-copy-not-freed";
    EXPECT({rule, home_and_there, 1, ROOM}, {rule, each_result_stays, 3, ROOM}, {rule, a_view_went_home, 1, ROOM},
           {rule, freed_after_the_copy, 0, ROOM}, {rule, needed_there_as_well, 0, ROOM}, {rule, only_printed, 0, ROOM});
}

static void a_loop_that_keeps_all(void)
{
    fy_tensor *w = fy_ones((1024, 1024), .device = CARD);
    fy_on_error(FY_RETURN);
    for (int i = 0; i < 40 && !fy_error(); i++) fy_zeros((2 * MIB), .device = CARD); /* HERE */
    fy_print(fy_select(w, 0, 0));
}
static void nothing_but_too_large(void)
{
    fy_on_error(FY_RETURN);
    fy_zeros((41 * MIB), .device = CARD); /* HERE */
}
static void the_second_large_one(void)
{
    fy_on_error(FY_RETURN);
    fy_tensor *x = fy_zeros((30 * MIB), .device = CARD);
    fy_relu(x); /* HERE */
}
static void all_fits(void)
{
    for (int i = 0; i < 40; i++) fy_free(fy_zeros((MIB), .device = CARD));
}
static void a_home_for_each_scope(void)
{
    for (int i = 0; i < 4; i++) FY_SCOPE
        {
            fy_zeros((30 * MIB), .device = CARD);
        }
}

static void what_filled_the_card(void **state)
{
    (void)state;
    const char *rule = "out-of-memory";
    EXPECT({rule, a_loop_that_keeps_all, 1, ROOM}, {rule, nothing_but_too_large, 1, ROOM},
           {rule, the_second_large_one, 1, ROOM}, {rule, all_fits, 0, ROOM}, {rule, a_home_for_each_scope, 0, ROOM},
           {rule, a_hole_in_each_segment, 0, ROOM}); /* reported by the fragmentation rule */
}

/* ---- cards that cannot reach each other ---- */

#define APART "h200:gpus=2,peer=off"
#define TOGETHER "h200:gpus=2"

static void to_the_other_card(void)
{
    fy_tensor *x = fy_relu(fy_ones((64), .device = "cuda:0"));
    fy_print(fy_to(x, "cuda:1")); /* HERE */
}
static void into_the_other_card(void)
{
    fy_tensor *x = fy_ones((64), .device = "cuda:0"), *y = fy_zeros((64), .device = "cuda:1");
    for (int i = 0; i < 3; i++) fy_copy_(y, x); /* HERE */
    fy_print(y);
}
static void back_and_forth(void)
{
    fy_tensor *x = fy_ones((64), .device = "cuda:0");
    for (int i = 0; i < 4; i++) x = fy_relu(fy_to(x, i % 2 ? "cuda:0" : "cuda:1")); /* HERE */
    fy_print(x);
}
static void each_on_its_card(void)
{
    fy_tensor *x = fy_ones((64), .device = "cuda:0"), *y = fy_ones((64), .device = "cuda:1");
    fy_print(fy_add(fy_cpu(fy_relu(x)), fy_cpu(fy_relu(y))));
}
static void within_a_card(void)
{
    fy_tensor *x = fy_ones((64), .device = "cuda:1"), *y = fy_zeros((64), .device = "cuda:1");
    fy_print(fy_copy_(y, x));
}

static void cards_that_cannot_reach_each_other(void **state)
{
    (void)state;
    const char *rule = "bounced";
    EXPECT({rule, to_the_other_card, 1, APART}, {rule, into_the_other_card, 3, APART}, {rule, back_and_forth, 4, APART},
           {rule, to_the_other_card, 0, TOGETHER}, {rule, each_on_its_card, 0, APART}, {rule, within_a_card, 0, APART});
}

/* ---- concurrent ---- */

#define OLD "old" /* its bus and memory are slow enough for overlap to pay */
enum { WORK = 1 << 19, PARCEL = 1 << 16 };

static fy_tensor *work, *parcel, *on_cuda;
static fy_stream *side;

static void prepare(void)
{
    work = fy_ones((WORK), .device = CARD);
    parcel = fy_pin_memory(on_host(PARCEL));
    on_cuda = fy_zeros((PARCEL), .device = CARD);
    side = fy_cuda_stream();
    fy_cuda_synchronize();
}
static void add_up(void)
{
    fy_tensor *copied = fy_sum(on_cuda); /* separate: the order of evaluation of arguments is unspecified */
    fy_print(fy_add(copied, fy_sum(work)));
}

static void copy_behind_the_work(void)
{
    prepare();
    fy_relu_(work);
    fy_copy_(on_cuda, parcel, .non_blocking = true); /* HERE */
    add_up();
}
static void work_behind_the_copy(void)
{
    prepare();
    for (int i = 0; i < 3; i++) {
        fy_copy_(on_cuda, parcel, .non_blocking = true); /* HERE */
        fy_relu_(work);
        fy_cuda_synchronize();
    }
    add_up();
}
static void home_beside_other_work(void)
{
    prepare();
    fy_tensor *back = fy_empty_like(parcel);
    back = fy_pin_memory(back);
    fy_relu_(on_cuda);
    fy_copy_(back, on_cuda, .non_blocking = true); /* HERE */
    fy_relu_(work);
    fy_cuda_synchronize();
    fy_print(fy_sum(back));
    add_up();
}
static void in_streams_of_their_own(void)
{
    prepare();
    fy_relu_(work);
    FY_STREAM(side) { fy_copy_(on_cuda, parcel, .non_blocking = true); }
    fy_stream_wait_stream(fy_cuda_default_stream(), side);
    add_up();
}
static void work_on_what_is_copied(void)
{
    prepare();
    fy_relu_(work);
    fy_cuda_synchronize();
    fy_copy_(on_cuda, parcel, .non_blocking = true);
    fy_relu_(on_cuda);
    add_up();
}
static void too_little_to_gain(void)
{
    prepare();
    fy_tensor *little = fy_narrow(work, 0, 0, 64);
    fy_relu_(little);
    fy_copy_(on_cuda, parcel, .non_blocking = true);
    fy_cuda_synchronize();
    add_up();
}

static void streams_that_could_have_overlapped(void **state)
{
    (void)state;
    const char *rule = "missed-overlap";
    EXPECT({rule, copy_behind_the_work, 1, OLD}, {rule, work_behind_the_copy, 3, OLD},
           {rule, home_beside_other_work, 1, OLD}, {rule, in_streams_of_their_own, 0, OLD},
           {rule, work_on_what_is_copied, 0, OLD}, {rule, too_little_to_gain, 0, OLD});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_without_an_order),
        cmocka_unit_test(free_memory_in_pieces),
        cmocka_unit_test(what_filled_the_card),
        cmocka_unit_test(a_copy_to_the_host_frees_nothing),
        cmocka_unit_test(cards_that_cannot_reach_each_other),
        cmocka_unit_test(streams_that_could_have_overlapped),
    };
    return cmocka_run_group_tests_name("findings_streams", tests, NULL, NULL);
}
