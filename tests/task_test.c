/* Errors found when the simulated card executes work: kernels that assert, and accesses that race. */
#include "clock.h"
#include "device.h"
#include "event.h"
#include "op.h"
#include "queued.h"
#include "run_work.h"

/* ---- faults ---- */

/* Classes 0 and `class` of two rows with three. */
static fy_run_work loss_work(fy_dev *d, int64_t class)
{
    int64_t classes[2] = {0, class};
    void *scores = alloc_filled(d, 0), *target = alloc(d, sizeof classes), *out = alloc(d, 8);
    copy_h2d(d, target, classes, sizeof classes);
    fy_run_work w = {
        .id = ++queued_launch_id, .op = FY_OP_nll_loss, .nin = 2, .dtype = FY_FLOAT32, .reduced = 1, .stream = 1};
    w.in[0] = (fy_operand){scores, FY_FLOAT32, {2, 0, 6, {2, 3}, {3, 1}}};
    w.in[1] = (fy_operand){target, FY_INT64, {1, 0, 2, {2}, {1}}};
    w.out = (fy_operand){out, FY_FLOAT32, {1, 0, 2, {2}, {1}}};
    return w;
}

static void assert_failed(uint32_t work)
{
    assert_non_null(strstr(fy_fault.text, "CUDA error: device-side assert triggered: nll_loss.cu:"));
    assert_non_null(
        strstr(fy_fault.text, "thread: [1,0,0] Assertion `target_class >= 0 && target_class < classes` failed"));
    assert_int_equal(fy_fault.work, work);
}

static void a_kernels_fault_surfaces_when_it_is_waited_for(void **state)
{
    fy_dev *d = *state;
    void *p = alloc_filled(d, 7);
    fy_run_work bad = loss_work(d, 3);
    fy_point before = point_in(d, 1);
    int64_t when;
    fy_time t;
    run_on_card(d, bad);
    run_on_card(d, fill_in(1, p, 2));
    COPY_D2H(d, 1, pinned[0], p);
    assert_true(host_waits(d, before));
    assert_false(host_waits(d, (fy_point){.stream = 1}));
    assert_failed(bad.id);
    assert_true(IS_POISON(pinned[0])); /* nothing after it was executed */
    fy_run_work w = fill_in(2, p, 1);
    fy_copy_work c = {.dst = pinned[1], .src = p, .bytes = BYTES, .dir = FY_WORD_d2h};
    fy_point point = {0};
    bool tried[] = {fy_backend_sim.run(d, &w),
                    fy_backend_sim.copy(d, &c),
                    fy_backend_sim.record(d, 2, &point),
                    fy_backend_sim.done(d, &before, &when),
                    fy_backend_sim.wait(d, NULL, NULL, 0, &t),
                    fy_backend_sim.alloc(d, 16, FY_WORD_device, &t) != NULL};
    for (size_t i = 0; i < sizeof tried; i++) assert_false(tried[i]);
    assert_failed(bad.id);
    release(d, p, BYTES);
}

static void a_query_and_a_blocking_copy_surface_it_too(void **state)
{
    for (int by_query = 0; by_query < 2; by_query++) {
        fy_dev *d = *state;
        fy_run_work bad = loss_work(d, -1);
        int64_t when;
        run_on_card(d, bad);
        fy_point point = point_in(d, 1);
        fy_copy_work c = {.stream = 1, .dst = pinned[1], .src = bad.out.data, .bytes = 8, .dir = FY_WORD_d2h};
        fy_clock_at_least(point.when);
        assert_false(by_query ? fy_backend_sim.done(d, &point, &when) : fy_backend_sim.copy(d, &c));
        assert_failed(bad.id);
        close_round_card(state);
        assert_int_equal(open_round_card(state), 0);
    }
}

static void a_fault_is_its_own_cards_alone(void **state)
{
    fy_dev *a = *state, *b = open_card_number(2, &round_card, 1 << 20);
    assert_non_null(b);
    fy_run_work bad = loss_work(a, 3);
    void *p = alloc_filled(b, 4);
    fy_time t;
    run_on_card(a, bad);
    stream_waits(b, 1, a, point_in(a, 1));
    COPY_D2H(b, 1, pinned[0], p);
    sync_stream(b, 1);
    assert_true(all_bytes_are(pinned[0], 4));
    assert_false(fy_backend_sim.wait(a, NULL, NULL, 0, &t));
    assert_failed(bad.id);
    assert_false(fy_backend_sim.wait(b, &(fy_point){.stream = 1}, a, 1, &t));
    assert_failed(bad.id); /* of the waiting stream */
    wait_for_all(b);
    fy_backend_sim.close(b);
}

static void the_launch_is_described_before_it_runs(void **state)
{
    fy_dev *d = *state;
    float *p = alloc(d, 4 * 1000);
    fy_run_work w = fill_work(p, 1000, 1);
    w.stream = 1;
    assert_true(fy_backend_sim.run(d, &w));
    assert_string_equal(w.kernel, "fill_f32");
    assert_int_equal(w.grid[0], 4);
    assert_int_equal(w.block[0], 256);
    assert_int_equal(first_byte(d, p), 0xff); /* and it has not run */
}

/* out = a b, of 4 x 4 floats. */
static fy_run_work product_work(void *a, void *b, void *out)
{
    fy_run_work w = add_work(1, a, b, out);
    w.op = FY_OP_matmul;
    w.in[0].layout = w.in[1].layout = w.out.layout = (fy_layout){2, 0, N, {4, 4}, {4, 1}};
    return w;
}

static void a_product_by_blas_is_late_like_all_work(void **state)
{
    fy_dev *d = *state;
    void *a = alloc(d, BYTES), *b = alloc(d, BYTES), *out = alloc(d, BYTES);
    fy_run_work w = product_work(a, b, out);
    run_on_card(d, fill_in(1, a, 2));
    run_on_card(d, fill_in(1, b, 3));
    assert_true(fy_backend_sim.run(d, &w));
    assert_string_equal(w.blas, "cblas_sgemm");
    assert_null(w.kernel);
    assert_int_equal(first_byte(d, out), 0xff);
    sync_stream(d, 1);
    assert_true(first_float(d, out) == 24);
    for (int i = 0; i < 2; i++) { /* a racing operand */
        w = product_work(a, b, out);
        w.races.own = i ? FY_RACE_OUT : 1 << 0;
        run_on_card(d, w);
        sync_stream(d, 1);
        assert_true(first_float(d, out) != first_float(d, out));
    }
}

/* ---- races ---- */

static void an_operand_that_races_is_poison_to_the_work_alone(void **state)
{
    fy_dev *d = *state;
    void *a = alloc(d, BYTES), *b = alloc(d, BYTES), *out = alloc(d, BYTES);
    run_on_card(d, fill_in(0, a, 1));
    run_on_card(d, fill_in(0, b, 2));
    fy_run_work w = add_work(0, a, b, out);
    w.races.own = 1 << 1;
    run_on_card(d, w);
    sync_stream(d, 0);
    assert_true(first_float(d, out) != first_float(d, out)); /* NaN */
    assert_true(first_float(d, b) == 2);
    w = add_work(0, a, b, out);
    run_on_card(d, w);
    sync_stream(d, 0);
    assert_true(first_float(d, out) == 3);
}

static void an_output_that_races_is_poisoned_where_it_has_elements(void **state)
{
    fy_dev *d = *state;
    unsigned char *out = alloc_filled(d, 7), on_host[BYTES];
    fy_run_work w = fill_in(0, out, 1);
    w.out.layout = (fy_layout){1, 0, N / 2, {N / 2}, {2}}; /* every second byte */
    w.races.own = FY_RACE_OUT;
    run_on_card(d, w);
    sync_stream(d, 0);
    copy_d2h(d, on_host, out, BYTES);
    for (int i = 0; i < BYTES; i++) assert_int_equal(on_host[i], i % 8 < 4 ? 0xff : 7);
}

static void earlier_work_that_races_is_found_by_its_number(void **state)
{
    fy_dev *d = *state, *other = open_card_number(2, &round_card, 1 << 20);
    assert_non_null(other);
    void *p = alloc_filled(d, 1), *q = alloc_filled(d, 2), *r = alloc_filled(d, 3), *far = alloc_filled(other, 4);
    uint32_t reader = COPY_D2D(d, 1, q, p).id;
    COPY_D2D(d, 1, r, p);
    uint32_t writer = copy_in(other, 1, FY_WORD_d2h, pinned[0], far, true).id;
    fy_copy_work w = {.id = ++queued_launch_id, .stream = 2, .dst = p, .src = p, .bytes = BYTES, .dir = FY_WORD_d2d};
    w.races = (fy_races){.n = 2, .earlier = {{reader, 1, 0}, {writer, FY_RACE_OUT, 0}}};
    assert_true(fy_backend_sim.copy(d, &w));
    wait_for_all(d);
    wait_for_all(other);
    assert_int_equal(first_byte(d, q), 0xff);
    assert_int_equal(first_byte(d, r), 1);
    assert_true(IS_POISON(pinned[0]));
    fy_backend_sim.close(other);
}

static void copies_that_race_bring_poison(void **state)
{
    fy_dev *d = *state;
    void *p = alloc_filled(d, 1), *q = alloc_filled(d, 2);
    unsigned char on_host[BYTES];
    fy_copy_work within = {.dst = q, .src = p, .bytes = BYTES, .dir = FY_WORD_d2d, .races = {.own = FY_RACE_OUT}};
    fy_copy_work back = {.dst = on_host, .src = p, .bytes = BYTES, .dir = FY_WORD_d2h, .races = {.own = 1}};
    assert_true(fy_backend_sim.copy(d, &within));
    assert_true(fy_backend_sim.copy(d, &back));
    assert_true(IS_POISON(on_host));
    assert_int_equal(first_byte(d, q), 0xff);
    assert_int_equal(first_byte(d, p), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CARD(a_kernels_fault_surfaces_when_it_is_waited_for),
        WITH_CARD(a_query_and_a_blocking_copy_surface_it_too),
        WITH_CARD(a_fault_is_its_own_cards_alone),
        WITH_CARD(the_launch_is_described_before_it_runs),
        WITH_CARD(a_product_by_blas_is_late_like_all_work),
        WITH_CARD(an_operand_that_races_is_poison_to_the_work_alone),
        WITH_CARD(an_output_that_races_is_poisoned_where_it_has_elements),
        WITH_CARD(earlier_work_that_races_is_found_by_its_number),
        WITH_CARD(copies_that_race_bring_poison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
