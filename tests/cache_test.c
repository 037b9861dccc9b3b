/* The caching allocators: segments and blocks in the log, fill bytes, out-of-memory messages, page-locked memory,
 * blocks in use by streams, and memory statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "device.h"
#include "device_allocator.h"
#include "event.h"
#include "op.h"
#include "printed.h"
#include "recorded.h"
#include "storage.h"
#include "tensor.h"

#define TEST(name) static void name(void **state)

enum { KIB = 1 << 10, MIB = 1 << 20 };

/* A tensor of this many MiB on the card. */
#define MIBS(n) fy_zeros((n, 1 << 18), .device = "cuda")

static double alloc_number(int n, const char *path) { return number_of(event_of("alloc", n), path); }
static uint64_t addr_of(const cJSON *e) { return strtoull(text_of(e, "addr"), NULL, 16); }

static int setup(void **state)
{
    (void)state;
    fy_clear_error();
    fy_cuda_empty_cache();
    since();
    return 0;
}

/* ---- in the log ---- */

TEST(a_segment_precedes_its_first_block_and_holds_the_next)
{
    (void)state;
    FY_SCOPE
    {
        MIBS(4), MIBS(2);
        fy_ones((3), .device = "cuda");
    }
    const cJSON *large = event_of("segment", 0), *small = event_of("segment", 1);
    assert_int_equal(number_of(large, "bytes"), 20 * MIB);
    assert_string_equal(text_of(large, "pool"), "large");
    assert_string_equal(text_of(large, "mem"), "device");
    assert_string_equal(text_of(large, "device"), "cuda:0");
    assert_int_equal(number_of(large, "stream"), 0);
    assert_int_equal(number_of(large, "line"), number_of(event_of("alloc", 0), "line"));
    assert_int_equal(number_of(small, "bytes"), 2 * MIB);
    assert_string_equal(text_of(small, "pool"), "small");
    assert_true(number_of(large, "seq") < number_of(event_of("alloc", 0), "seq"));
    assert_int_equal(addr_of(large), 0x7000000000);
    assert_int_equal(addr_of(small), 0x7000000000 + 20 * MIB);
    assert_int_equal(addr_of(event_of("alloc", 1)) - addr_of(large), 4 * MIB);
    assert_int_equal(alloc_number(2, "asked"), 12);
    assert_int_equal(alloc_number(2, "bytes"), 512);
    assert_null(event_of("segment", 2));
}

TEST(a_cached_block_costs_nothing_and_counts_its_tenants)
{
    (void)state;
    for (int i = 0; i < 3; i++) fy_free(MIBS(3));
    assert_int_equal(alloc_number(2, "tenant") - alloc_number(0, "tenant"), 2);
    assert_int_equal(addr_of(event_of("alloc", 0)), addr_of(event_of("alloc", 2)));
    assert_null(event_of("segment", 1));
    assert_null(event_of("segment_free", 0));
    fy_cuda_empty_cache();
    const cJSON *gone = event_of("segment_free", 0);
    assert_int_equal(number_of(gone, "bytes"), 20 * MIB);
    assert_string_equal(text_of(gone, "why"), "user");
    assert_int_equal(addr_of(gone), addr_of(event_of("segment", 0)));
}

TEST(a_block_that_cannot_be_cut_is_taken_whole)
{
    (void)state;
    fy_free(fy_zeros((5111808), .device = "cuda")); /* 19.5 MiB */
    assert_int_equal(alloc_number(0, "asked"), 20447232);
    assert_int_equal(alloc_number(0, "bytes"), 20 * MIB);
    assert_int_equal(number_of(event_of("free", 0), "bytes"), 20 * MIB);
}

TEST(nothing_takes_no_block)
{
    (void)state;
    fy_free(fy_zeros((0, 4), .device = "cuda"));
    assert_string_equal(text_of(event_of("alloc", 0), "addr"), "");
    assert_null(event_of("segment", 0));
    assert_int_equal(fy_cuda_memory_reserved(NULL), 0);
}

TEST(a_call_that_fails_later_leaves_only_its_segment)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((1 << 20, 4)), *big = MIBS(44), *more = MIBS(1);
        int64_t live = fy_dev_at(1)->live_bytes, used = fy_cuda_memory_allocated(NULL);
        since();
        assert_null(
            fy_to(x, "cuda", .dtype = FY_FLOAT64)); /* 32 MiB: does not fit even if all cached segments are freed */
        assert_true(failed_with("CUDA out of memory"));
        assert_null(event_of("alloc", 0));
        assert_null(event_of("free", 0));
        assert_int_equal(fy_dev_at(1)->live_bytes, live);
        assert_int_equal(fy_cuda_memory_allocated(NULL), used);
        assert_true(fy_item(fy_sum(fy_add(more, 1))) == 1 << 18);
        assert_true(fy_item(fy_sum(big)) == 0);
    }
}

/* ---- fill bytes ---- */

/* The content of device memory. */
static uint8_t byte_at(const void *p)
{
    uint8_t b = 0;
    fy_dev *d = fy_dev_at(1);
    fy_copy_work w = {.dst = &b, .src = p, .bytes = 1, .dir = FY_WORD_d2h};
    assert_true(d->backend->copy(d, &w));
    return b;
}

TEST(fresh_and_freed_blocks_hold_different_fill_bytes)
{
    (void)state;
    fy_storage *s = fy_storage_make(NULL, fy_dev_at(1), 1000);
    const char *p = s->data;
    assert_int_equal(byte_at(p), 0xff);
    assert_int_equal(byte_at(p + s->bytes - 1), 0xff);
    fy_storage_free(s);
    assert_int_equal(byte_at(p), 0xf5);
    s = fy_storage_make(NULL, fy_dev_at(1), 1000);
    assert_ptr_equal(s->data, p);
    assert_int_equal(byte_at(p), 0xff);
    fy_storage_free(s);
}

TEST(a_block_that_another_stream_uses_is_not_reused_yet)
{
    (void)state;
    fy_tensor *x = fy_zeros((250), .device = "cuda");
    fy_storage *s = x->storage;
    const char *p = s->data;
    fy_storage_record_stream(s, 0); /* its own stream: no effect */
    assert_int_equal(s->recorded, 0);
    fy_storage_record_stream(s, 3);
    fy_free(x);
    assert_true(cJSON_IsTrue(field(event_of("free", 0), "deferred")));
    assert_int_equal(byte_at(p), 0);
    s = fy_storage_make(NULL, fy_dev_at(1), 1000); /* no work queued there: complete at once */
    assert_ptr_equal(s->data, p);
    fy_storage_free(s);
}

/* ---- full ---- */

TEST(a_full_card_names_what_lives_and_draws_its_pieces)
{
    (void)state;
    fy_tensor *a = fy_zeros((4, 1 << 18), .device = "cuda");
    fy_tensor *hole = MIBS(6);
    fy_tensor *b = fy_zeros((2, 1 << 18), .device = "cuda");
    fy_tensor *last = MIBS(6);
    fy_tensor *whole = fy_zeros((40, 1 << 18), .device = "cuda");
    fy_free(hole), fy_free(last);
    since();
    assert_null(MIBS(10));
    assert_true(failed_with("CUDA out of memory. Tried to allocate 10.00 MiB (GPU 0; 64.00 MiB total capacity; 46.00 "
                            "MiB already allocated; 4.00 MiB free; 60.00 MiB reserved in total by Ferry)\n"));
    const cJSON *oom = event_of("oom", 0);
    assert_int_equal(number_of(oom, "asked"), 10 * MIB);
    assert_int_equal(number_of(oom, "allocated"), 46 * MIB);
    assert_int_equal(number_of(oom, "reserved"), 60 * MIB);
    assert_int_equal(number_of(oom, "free"), 4 * MIB);
    assert_int_equal(number_of(oom, "largest"), 8 * MIB);
    const char *hint = text_of(event_of("error", 0), "hint");
    assert_ptr_equal(strstr(hint, "free tensors that are no longer needed"), hint);
    assert_non_null(strstr(hint, ". In use: whole (cache_test.c:"));
    assert_non_null(strstr(hint, ". Its free memory is fragmented: segment of 20 MiB at 0x7000000000: 4 MiB used by a "
                                 "(cache_test.c:"));
    assert_non_null(strstr(hint, "), 6 MiB free, 2 MiB used by b (cache_test.c:"));
    assert_non_null(strstr(hint, "), 8 MiB free; 14 MiB of it are free, the largest block is 8 MiB"));
    FY_SCOPE
    {
        assert_true(fy_item(fy_sum(fy_add(a, 1))) == 1 << 20);
    } /* still usable, and live tensors are unchanged */
    fy_memory_stats s = fy_cuda_memory_stats("cuda");
    assert_true(s.num_ooms >= 1 && s.num_alloc_retries >= 1);
    fy_free(a), fy_free(b), fy_free(whole);
}

/* Settings of PyTorch's allocator that Ferry lacks must not be named. */
TEST(what_can_never_fit_gets_no_advice_to_free_tensors)
{
    static const struct {
        int64_t elements;
        const char *fix;
    } cases[] = {
        {16 << 20, "FY_SCOPE), or work in smaller pieces. In use: x"}, /* 64 MiB: all of the card */
        {(16 << 20) + 1, "; or simulate a larger card: FERRY_SIM=h200:capacity=1GiB"},
        {1L << 38, "; or simulate a larger card: FERRY_SIM=h200:capacity=1025GiB"},
        {1L << 44, "or a smaller .dtype"}, /* larger than any simulated card */
        {1L << 58, "or a smaller .dtype"},
    };
    (void)state;
    fy_tensor *x = fy_ones((2), .device = "cuda");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        since();
        assert_null(fy_zeros((cases[i].elements), .device = "cuda"));
        const char *hint = text_of(event_of("error", 0), "hint"), *said = text_of(event_of("error", 0), "message");
        bool never = strstr(hint, "cuda:0 has only 64.00 MiB: freeing tensors does not help") == hint;
        assert_int_equal(never, i > 0);
        assert_int_equal(never, !strstr(hint, "free tensors"));
        assert_non_null(strstr(hint, cases[i].fix));
        assert_int_equal(i == 1 || i == 2, strstr(hint, "FERRY_SIM=") != NULL);
        assert_null(strstr(said, "max_split_size_mb"));
        assert_null(strstr(said, "PYTORCH"));
        fy_clear_error();
    }
    fy_free(x);
}

TEST(more_than_there_is_of_anything)
{
    (void)state;
    int64_t ooms = fy_cuda_memory_stats(NULL).num_ooms;
    assert_null(fy_zeros((1L << 58), .device = "cuda"));
    assert_true(failed_with("CUDA out of memory. Tried to allocate more than 1EB memory.\n"));
    assert_int_equal(fy_cuda_memory_stats(NULL).num_ooms, ooms);
}

TEST(room_is_made_from_what_is_cached)
{
    (void)state;
    fy_free(MIBS(40));
    int64_t retries = fy_cuda_memory_stats(NULL).num_alloc_retries;
    since();
    fy_free(MIBS(50));
    assert_string_equal(text_of(event_of("segment_free", 0), "why"), "oom");
    assert_true(number_of(event_of("segment_free", 0), "seq") < number_of(event_of("segment", 0), "seq"));
    assert_int_equal(fy_cuda_memory_stats(NULL).num_alloc_retries, retries + 1);
}

/* ---- page-locked ---- */

TEST(page_locked_memory_is_kept_for_the_next)
{
    (void)state;
    FY_SCOPE { fy_pin_memory(fy_ones((1000))); }
    const cJSON *segment = event_of("segment", 0), *alloc = event_of("alloc", 1);
    assert_string_equal(text_of(segment, "mem"), "pinned");
    assert_string_equal(text_of(segment, "device"), "cpu");
    assert_int_equal(number_of(segment, "bytes"), 4096);
    assert_true(number_of(segment, "held") > 0);
    assert_string_equal(text_of(alloc, "mem"), "pinned");
    assert_int_equal(number_of(alloc, "bytes"), 4096);
    since();
    FY_SCOPE { fy_pin_memory(fy_ones((900))); }
    assert_null(event_of("segment", 0));
    assert_int_equal(alloc_number(1, "tenant"), 1);
    fy_cuda_empty_cache();
    assert_int_equal(number_of(event_of("segment_free", 0), "bytes"), 4096);
}

TEST(page_locked_memory_waits_for_a_copy_that_goes_on)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *host = fy_pin_memory(fy_full((1 << 20), 7.0f)), *ones = fy_ones((1 << 20)), *again;
        const void *was = fy_data(host);
        since();
        fy_tensor *card = fy_to(host, "cuda", .non_blocking = true);
        fy_free(host);
        assert_true(cJSON_IsTrue(field(event_of("free", 0), "deferred")));
        again = fy_pin_memory(ones);
        assert_ptr_not_equal(fy_data(again), was);
        assert_true(fy_item(fy_mean(card)) == 7);
        fy_cuda_synchronize();
        assert_ptr_equal(fy_data(fy_pin_memory(ones)), was);
    }
}

/* ---- queries ---- */

TEST(a_program_asks_about_a_cards_memory)
{
    (void)state;
    int64_t total;
    fy_tensor *a = MIBS(4), *b = fy_ones((3), .device = "cuda");
    fy_cuda_reset_peak_memory_stats(NULL);
    assert_int_equal(fy_cuda_memory_allocated("cuda"), 4 * MIB + 512);
    assert_int_equal(fy_cuda_memory_reserved("cuda:0"), 22 * MIB);
    assert_int_equal(fy_cuda_mem_get_info(NULL, &total), 42 * MIB);
    assert_int_equal(total, 64 * MIB);
    fy_free(a);
    assert_int_equal(fy_cuda_memory_allocated(NULL), 512);
    assert_int_equal(fy_cuda_max_memory_allocated(NULL), 4 * MIB + 512);
    fy_cuda_empty_cache();
    assert_int_equal(fy_cuda_memory_reserved(NULL), 2 * MIB);
    assert_int_equal(fy_cuda_max_memory_reserved(NULL), 22 * MIB);
    fy_memory_stats s = fy_cuda_memory_stats("cuda");
    assert_int_equal(s.requested_bytes, 12);
    assert_int_equal(s.inactive_split_bytes, 2 * MIB - 512);
    assert_int_equal(s.allocations, 1);
    assert_int_equal(s.segments, 1);
    assert_int_equal(fy_cuda_memory_allocated("cuda:1"), 0);
    fy_free(b);
}

static void summarize(void *device)
{
    fy_cuda_memory_summary(device);
    fflush(stdout);
}

TEST(a_summary_adds_up_what_looks_the_same)
{
    (void)state;
    FY_SCOPE
    {
        char cuda[] = "cuda";
        for (int i = 0; i < 3; i++) MIBS(4);
        const char *text = printed_by(summarize, cuda);
        assert_non_null(
            strstr(text, "cuda:0 (NVIDIA H200 (simulated)): 12.00 MiB in use by tensors, 20.00 MiB reserved, 44.00 MiB "
                         "not reserved, of 64.00 MiB\n  8.00 MiB of the reserved memory are unused; peak in use: "));
        assert_non_null(strstr(text, "\n  [aaaaaaaaaaaaabbbbbbbbbbbbbcccccccccccc.........................."));
        assert_non_null(strstr(text, "\n   a to c  3 x 4 MiB a tensor (cache_test.c:"));
        assert_non_null(strstr(text, "\n   .  8 MiB free\n"));
    }
}

TEST(asking_about_what_is_no_card_fails)
{
    (void)state;
    int64_t total = 5;
    assert_int_equal(fy_cuda_memory_allocated("cpu"), -1);
    assert_true(failed_with("Expected a cuda device, but got: cpu"));
    assert_int_equal(fy_cuda_mem_get_info("cuda:7", &total), -1);
    assert_int_equal(total, -1);
    assert_true(failed_with("invalid device ordinal"));
    assert_int_equal(fy_cuda_memory_stats("gpu").segments, -1);
    assert_true(failed_with("Expected one of cpu, cuda device type"));
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "h200:capacity=64MiB,gpus=2", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_segment_precedes_its_first_block_and_holds_the_next, setup),
        cmocka_unit_test_setup(a_cached_block_costs_nothing_and_counts_its_tenants, setup),
        cmocka_unit_test_setup(a_block_that_cannot_be_cut_is_taken_whole, setup),
        cmocka_unit_test_setup(nothing_takes_no_block, setup),
        cmocka_unit_test_setup(a_call_that_fails_later_leaves_only_its_segment, setup),
        cmocka_unit_test_setup(fresh_and_freed_blocks_hold_different_fill_bytes, setup),
        cmocka_unit_test_setup(a_block_that_another_stream_uses_is_not_reused_yet, setup),
        cmocka_unit_test_setup(a_full_card_names_what_lives_and_draws_its_pieces, setup),
        cmocka_unit_test_setup(what_can_never_fit_gets_no_advice_to_free_tensors, setup),
        cmocka_unit_test_setup(more_than_there_is_of_anything, setup),
        cmocka_unit_test_setup(room_is_made_from_what_is_cached, setup),
        cmocka_unit_test_setup(page_locked_memory_is_kept_for_the_next, setup),
        cmocka_unit_test_setup(page_locked_memory_waits_for_a_copy_that_goes_on, setup),
        cmocka_unit_test_setup(a_program_asks_about_a_cards_memory, setup),
        cmocka_unit_test_setup(a_summary_adds_up_what_looks_the_same, setup),
        cmocka_unit_test_setup(asking_about_what_is_no_card_fails, setup),
    };
    int failed = cmocka_run_group_tests_name("cache", tests, NULL, NULL);
    recorded_end();
    return failed;
}
