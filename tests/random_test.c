/* Random numbers: the host's equal PyTorch 1.13's (bits by FNV-1a hash, normal numbers other than blocks of float32 by
 * value); a card's are counter- based. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dtype.h"
#include "op.h"
#include "recorded.h"

#define TEST(name) static void name(void **state)

static const struct {
    const char *op;
    fy_dtype dtype;
    uint64_t seed;
    int64_t n, low, high;
    uint64_t hash;
} drawn[] = {
    {"rand", FY_FLOAT32, 0, 7, 0, 0, 0x8768f25c390904c3},
    {"rand", FY_FLOAT32, 42, 1000, 0, 0, 0x3d546ae2030c8c06},
    {"rand", FY_FLOAT32, 1099511627779, 1250, 0, 0, 0xbe604d355c42d422},
    {"rand", FY_FLOAT64, 0, 7, 0, 0, 0x8db7b95b814a7895},
    {"rand", FY_FLOAT64, 42, 1000, 0, 0, 0x45a87be3b5ecb018},
    {"rand", FY_FLOAT64, 1099511627779, 1250, 0, 0, 0xa1c7577339229ecf},
    {"rand", FY_FLOAT16, 0, 7, 0, 0, 0xdfccecdce7dc45b9},
    {"rand", FY_FLOAT16, 42, 1000, 0, 0, 0x16c470805008b01e},
    {"rand", FY_FLOAT16, 1099511627779, 1250, 0, 0, 0x4deb97949ce7521f},
    {"rand", FY_BFLOAT16, 0, 7, 0, 0, 0x56ce99921d345b09},
    {"rand", FY_BFLOAT16, 42, 1000, 0, 0, 0x2afc8a47a330c21f},
    {"rand", FY_BFLOAT16, 1099511627779, 1250, 0, 0, 0x1aad163b7504d943},
    {"randn", FY_FLOAT32, 7, 16, 0, 0, 0x088950cf18323876},
    {"randn", FY_FLOAT32, 7, 33, 0, 0, 0x486af40848a27c9e},
    {"randn", FY_FLOAT32, 123, 100, 0, 0, 0x30eb251466b2a186},
    {"randn", FY_FLOAT32, 42, 20000, 0, 0, 0x61551c13e8a8c75d},
    {"randperm", FY_INT64, 0, 8, 0, 0, 0x807c65477d650f43},
    {"randperm", FY_INT64, 5, 1000, 0, 0, 0xd5994247f376a36b},
    {"randperm", FY_INT32, 7, 313, 0, 0, 0x7b0831d5a64cfb24},
    {"randperm", FY_FLOAT32, 7, 100, 0, 0, 0x2a097efe124143b6},
    {"randperm", FY_FLOAT16, 3, 2049, 0, 0, 0xd611697b78b9dc6d},
    {"randperm", FY_BFLOAT16, 3, 200, 0, 0, 0xd7aa13ac0d4f0ade},
    {"randperm", FY_UINT8, 1, 256, 0, 0, 0xe5aeac4721d6e10d},
    {"randperm", FY_FLOAT64, 2, 17, 0, 0, 0xc0d419284937a122},
    {"randint", FY_INT64, 0, 100, 0, 10, 0xb88863f7a5a225a9},
    {"randint", FY_INT64, 1, 100, -5, 5, 0x64896b839d13b566},
    {"randint", FY_INT64, 2, 700, 0, 4294967295, 0x3a0142ef8272e59e},
    {"randint", FY_INT64, 2, 700, 0, 4294967296, 0x57cde204f2997bc5},
    {"randint", FY_INT64, 3, 700, -4611686018427387904, 4611686018427387904, 0x9bb6f23a8bff4df6},
    {"randint", FY_INT32, 4, 100, -2147483648, 2147483647, 0x83d7a5878f0d0936},
    {"randint", FY_UINT8, 5, 100, 0, 256, 0x36cc5aa66ccee3fb},
    {"randint", FY_BOOL, 6, 100, 0, 2, 0x546249307d064ab3},
    {"randint", FY_FLOAT32, 7, 100, 0, 8589934592, 0xd993cd46db7c38b3},
    {"randint", FY_FLOAT64, 8, 100, -9007199254740992, 9007199254740992, 0xc9a6eaff7da8d38d},
    {"randint", FY_FLOAT16, 9, 100, -3000, 5000, 0x5d974550c793d8cd},
    {"randint", FY_BFLOAT16, 10, 100, 0, 34359738368, 0x0d58b2348c92fa00},
    {"randint", FY_FLOAT32, 11, 100, -16777217, 5, 0x8cd8aacff4032346},
};

static const struct {
    fy_dtype dtype;
    uint64_t seed;
    int64_t n;
    double first_middle_last[3];
} normal[] = {
    {FY_FLOAT32, 0, 3, {1.54099607, -0.293428898, -2.17878938}},
    {FY_FLOAT32, 7, 15, {-0.146795094, 1.23238575, 1.39545083}},
    {FY_FLOAT32, 7, 16, {-0.820134521, 0.926542997, 1.09016514}},
    {FY_FLOAT32, 7, 17, {-0.820134521, -0.848908603, -0.866701603}},
    {FY_FLOAT32, 7, 33, {-0.820134521, -1.58266461, -1.6370213}},
    {FY_FLOAT32, 123, 100, {0.337370187, -1.47794199, -0.895680785}},
    {FY_FLOAT64, 0, 3, {1.54099611, -0.293428906, -2.17878938}},
    {FY_FLOAT64, 7, 15, {-0.146795097, 1.23238575, 1.3954508}},
    {FY_FLOAT64, 7, 16, {0.0662675397, -0.806781544, -1.04921461}},
    {FY_FLOAT64, 7, 17, {0.0662675397, -1.31314966, -1.66772913}},
    {FY_FLOAT64, 7, 33, {0.0662675397, 0.128772066, -0.415598646}},
    {FY_FLOAT64, 123, 100, {0.909757532, 0.286822343, 0.383769347}},
};

static fy_tensor *draw(const char *op, fy_dtype d, int64_t n, int64_t low, int64_t high, const char *device)
{
    if (strcmp(op, "rand") == 0) return fy_rand((n), .dtype = d, .device = device);
    if (strcmp(op, "randn") == 0) return fy_randn((n), .dtype = d, .device = device);
    if (strcmp(op, "randperm") == 0) return fy_randperm((n), .dtype = d, .device = device);
    return fy_randint((low, high), (n), .dtype = d, .device = device);
}

static uint64_t hash_of(fy_tensor *x)
{
    const unsigned char *p = fy_data(x);
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < (size_t)fy_numel(x) * fy_dtype_size(fy_dtype_of(x)); i++) h = (h ^ p[i]) * 1099511628211u;
    return h;
}

TEST(the_host_draws_pytorchs_bits)
{
    (void)state;
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) FY_SCOPE
        {
            fy_manual_seed(drawn[i].seed);
            fy_tensor *x = draw(drawn[i].op, drawn[i].dtype, drawn[i].n, drawn[i].low, drawn[i].high, "cpu");
            if (hash_of(x) != drawn[i].hash)
                fail_msg("row %zu: %s of %s differs", i, drawn[i].op, fy_dtype_name(drawn[i].dtype));
        }
}

TEST(the_host_draws_pytorchs_normal_numbers)
{
    (void)state;
    for (size_t i = 0; i < sizeof normal / sizeof *normal; i++) FY_SCOPE
        {
            int64_t n = normal[i].n, at[] = {0, n / 2, n - 1};
            fy_manual_seed(normal[i].seed);
            fy_tensor *x = fy_randn((n), .dtype = normal[i].dtype);
            for (int k = 0; k < 3; k++)
                if (fabs(element(x, at[k]) - normal[i].first_middle_last[k]) > 1e-6)
                    fail_msg("row %zu, element %d: %.9g", i, (int)at[k], element(x, at[k]));
        }
}

TEST(normal_weights_are_pytorchs_to_the_bit)
{
    (void)state;
    const struct {
        double mean, std;
        uint64_t hash;
    } rows[] = {{0, 0.02, 0x26ad04b16302a24a}, {0.1, 0.02, 0xee2425a2274b8060}, {-3, 7, 0xfd5c6146c15ffb9d}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) FY_SCOPE
        {
            fy_manual_seed(5);
            assert_int_equal(hash_of(fy_normal_(fy_empty((1001)), rows[i].mean, rows[i].std)), rows[i].hash);
        }
}

/* ---- a card ---- */

/* The second of two calls on an H200: bits from cuRAND's own header, compiled for the host, in the order of PyTorch's
 * distribution kernels. 1,200,000 numbers need more than one counter per thread; some permutations have equal keys. */
static const struct {
    const char *op;
    fy_dtype dtype;
    uint64_t seed;
    int64_t n, low, high;
    uint64_t hash;
} drawn_on_cuda[] = {
    {"rand", FY_FLOAT32, 0, 7, 0, 0, 0x1cf940f9d125f94f},
    {"rand", FY_FLOAT32, 42, 1000, 0, 0, 0x1b3734abd241ec15},
    {"rand", FY_FLOAT32, 7, 1200000, 0, 0, 0xa9f8e376c6bf0205},
    {"rand", FY_FLOAT64, 0, 7, 0, 0, 0x8d20eba4dbc8f8df},
    {"rand", FY_FLOAT64, 42, 1000, 0, 0, 0xe971ed6b0f70a84c},
    {"rand", FY_FLOAT64, 7, 1200000, 0, 0, 0x5ab0ba6d9fb8293b},
    {"randint", FY_INT64, 0, 7, -5, 995, 0x863b0daa87f44d5d},
    {"randint", FY_INT64, 42, 1000, -5, 995, 0xeca0f878c8b59209},
    {"randint", FY_INT64, 7, 1200000, -5, 995, 0x4ab0504376171c46},
    {"randint", FY_INT64, 0, 7, 0, 1099511627776, 0xa51a1e14cbddcad0},
    {"randint", FY_INT64, 42, 1000, 0, 1099511627776, 0xaff3ffa92aae9874},
    {"randint", FY_INT64, 7, 1200000, 0, 1099511627776, 0x42c92f6271df5e93},
    {"randperm", FY_INT64, 8, 8, 0, 0, 0x5eba2a80e64257a3},
    {"randperm", FY_INT64, 20, 8, 0, 0, 0x7964e315d55461a3},
    {"randperm", FY_INT64, 1000, 1000, 0, 0, 0x9afb006fd3cf2323},
    {"randperm", FY_INT64, 1011, 1000, 0, 0, 0x2d58cb522fe0d107},
    {"randperm", FY_INT64, 4096, 4096, 0, 0, 0x3d7cdf1dda5465cb},
    {"randperm", FY_INT64, 4120, 4096, 0, 0, 0x2351257907b2e927},
};

static const struct {
    fy_dtype dtype;
    uint64_t seed;
    int64_t n;
    double first_middle_last[3];
} normal_on_cuda[] = {
    {FY_FLOAT32, 0, 7, {0.1808258, -0.734970272, 0.129655942}},
    {FY_FLOAT32, 42, 1000, {0.139137551, -0.555951953, -0.732679725}},
    {FY_FLOAT32, 7, 1200000, {0.169606954, -3.04876614, 1.37074268}},
    {FY_FLOAT64, 0, 7, {0.329210701, -0.410038096, -0.50618777}},
    {FY_FLOAT64, 42, 1000, {0.423280436, 0.16640909, -0.137190388}},
    {FY_FLOAT64, 7, 1200000, {1.27622722, -0.36788907, -0.533625978}},
};

TEST(a_card_draws_the_bits_that_cuda_draws)
{
    (void)state;
    for (size_t i = 0; i < sizeof drawn_on_cuda / sizeof *drawn_on_cuda; i++) FY_SCOPE
        {
            const char *op = drawn_on_cuda[i].op;
            int64_t n = drawn_on_cuda[i].n, low = drawn_on_cuda[i].low, high = drawn_on_cuda[i].high;
            fy_manual_seed(drawn_on_cuda[i].seed);
            draw(op, drawn_on_cuda[i].dtype, n, low, high, "cuda");
            fy_tensor *x = fy_cpu(draw(op, drawn_on_cuda[i].dtype, n, low, high, "cuda"));
            if (hash_of(x) != drawn_on_cuda[i].hash) fail_msg("row %zu: %s of %lld differs", i, op, (long long)n);
        }
}

TEST(a_card_draws_the_normal_numbers_that_cuda_draws)
{
    (void)state;
    for (size_t i = 0; i < sizeof normal_on_cuda / sizeof *normal_on_cuda; i++) FY_SCOPE
        {
            int64_t n = normal_on_cuda[i].n, at[] = {0, n / 2, n - 1};
            fy_manual_seed(normal_on_cuda[i].seed);
            fy_randn((n), .dtype = normal_on_cuda[i].dtype, .device = "cuda");
            fy_tensor *x = fy_cpu(fy_randn((n), .dtype = normal_on_cuda[i].dtype, .device = "cuda"));
            for (int k = 0; k < 3; k++)
                if (fabs(element(x, at[k]) - normal_on_cuda[i].first_middle_last[k]) > 1e-6)
                    fail_msg("row %zu, element %d: %.9g", i, (int)at[k], element(x, at[k]));
        }
}

/* As PyTorch printed them on an H200, seed 0. */
TEST(the_first_numbers_are_those_of_an_h200)
{
    (void)state;
    const double uniform[] = {0.3990, 0.5167, 0.0249, 0.9401}, normals[] = {-0.9247, -0.4253, -2.6438, 0.1452};
    FY_SCOPE
    {
        fy_manual_seed(0);
        fy_tensor *u = fy_cpu(fy_rand((4), .device = "cuda"));
        fy_manual_seed(0);
        fy_tensor *x = fy_cpu(fy_randn((4), .device = "cuda"));
        for (int i = 0; i < 4; i++) assert_true(fabs(element(u, i) - uniform[i]) < 5.1e-5);
        for (int i = 0; i < 4; i++) assert_true(fabs(element(x, i) - normals[i]) < 5.1e-5);
    }
}

static const char *const ops[] = {"rand", "randn", "randint", "randperm"};

TEST(a_seeded_card_repeats_itself_and_differs_from_the_host)
{
    (void)state;
    for (int i = 0; i < 4; i++) FY_SCOPE
        {
            fy_manual_seed(7);
            fy_tensor *host = draw(ops[i], FY_FLOAT32, 100, 0, 1000, "cpu");
            fy_tensor *card = draw(ops[i], FY_FLOAT32, 100, 0, 1000, "cuda");
            fy_tensor *next = draw(ops[i], FY_FLOAT32, 100, 0, 1000, "cuda");
            fy_manual_seed(7); /* of every device */
            fy_tensor *again = draw(ops[i], FY_FLOAT32, 100, 0, 1000, "cuda");
            assert_true(fy_item(fy_all(fy_eq(card, again))) == 1);
            assert_true(fy_item(fy_all(fy_eq(card, next))) == 0);
            assert_true(fy_item(fy_all(fy_eq(host, fy_cpu(card)))) == 0);
        }
}

TEST(a_cards_numbers_lie_where_they_should)
{
    (void)state;
    const fy_dtype reals[] = {FY_FLOAT32, FY_FLOAT64, FY_FLOAT16, FY_BFLOAT16};
    fy_manual_seed(1);
    for (int i = 0; i < 4; i++) FY_SCOPE
        {
            fy_tensor *u = fy_to(fy_rand((4096), .dtype = reals[i], .device = "cuda"), FY_FLOAT64);
            fy_tensor *n = fy_to(fy_randn((4096), .dtype = reals[i], .device = "cuda"), FY_FLOAT64);
            assert_true(fy_item(fy_min(u)) >= 0 && fy_item(fy_max(u)) < 1);
            assert_true(fabs(fy_item(fy_mean(u)) - 0.5) < 0.03 && fabs(fy_item(fy_var(u)) - 1 / 12.0) < 0.01);
            assert_true(fabs(fy_item(fy_mean(n))) < 0.07 && fabs(fy_item(fy_var(n)) - 1) < 0.1);
        }
}

TEST(a_cards_integers_reach_both_bounds_and_no_further)
{
    (void)state;
    for (fy_dtype d = FY_FLOAT32; d <= FY_BOOL; d++) FY_SCOPE
        {
            int64_t high = d == FY_BOOL ? 2 : 7;
            fy_tensor *x = fy_to(fy_randint((0, high), (500), .dtype = d, .device = "cuda"), FY_INT64);
            assert_true(fy_item(fy_min(x)) == 0 && fy_item(fy_max(x)) == (double)(high - 1));
        }
    FY_SCOPE
    {
        fy_tensor *wide = fy_randint((0, INT64_MAX), (64), .device = "cuda");
        assert_true(fy_item(fy_max(wide)) > 0x1p61); /* more than 64 bits */
    }
}

TEST(a_cards_permutation_holds_every_number_once)
{
    (void)state;
    const int64_t sizes[] = {0, 1, 2, 3, 4, 5, 16, 17, 255, 1000, 4097};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) FY_SCOPE
        {
            int64_t n = sizes[i];
            fy_tensor *x = fy_randperm((n), .device = "cuda"), *on_host = fy_cpu(x);
            const int64_t *p = fy_data(on_host);
            char *seen = calloc((size_t)n + 1, 1);
            for (int64_t k = 0; k < n; k++) {
                assert_true(p[k] >= 0 && p[k] < n && !seen[p[k]]);
                seen[p[k]] = 1;
            }
            free(seen);
        }
}

/* All six permutations of three are about equally frequent. */
TEST(a_cards_permutations_are_fair)
{
    (void)state;
    int count[27] = {0};
    for (int i = 0; i < 1200; i++) FY_SCOPE
        {
            fy_tensor *on_host = fy_cpu(fy_randperm((3), .device = "cuda"));
            const int64_t *p = fy_data(on_host);
            count[p[0] * 9 + p[1] * 3 + p[2]]++;
        }
    for (int i = 0; i < 27; i++) assert_true(count[i] == 0 || (count[i] > 120 && count[i] < 280));
    assert_true(count[5] && count[7] && count[11] && count[15] && count[19] && count[21]);
}

TEST(a_failed_draw_leaves_the_generator_as_it_was)
{
    (void)state;
    FY_SCOPE
    {
        fy_manual_seed(3);
        fy_tensor *wanted = fy_rand((8), .device = "cuda");
        fy_manual_seed(3);
        assert_null(fy_rand((1 << 30), .device = "cuda"));
        assert_true(failed_with("CUDA out of memory"));
        assert_true(fy_item(fy_all(fy_eq(fy_rand((8), .device = "cuda"), wanted))) == 1);
    }
}

TEST(what_cannot_be_written_is_refused_before_anything_is_drawn)
{
    (void)state;
    for (int card = 0; card < 2; card++) FY_SCOPE
        {
            const char *device = card ? "cuda" : "cpu";
            fy_manual_seed(3);
            fy_tensor *wanted = fy_rand((8), .device = device);
            fy_tensor *wide = fy_expand(fy_ones((3), .device = device), (2, 3));
            fy_tensor *leaf = fy_ones((2, 3), .device = device, .requires_grad = true);
            fy_manual_seed(3);
            assert_null(fy_uniform_(wide, 0, 1));
            assert_true(failed_with("more than one element of the written-to tensor refers to a single memory"));
            assert_null(fy_normal_(leaf, 0, 1));
            assert_true(failed_with("a leaf Variable that requires grad is being used in an in-place operation"));
            assert_null(fy_bernoulli_(fy_t(leaf), 0.5));
            assert_true(failed_with("leaf Variable that requires grad"));
            assert_true(fy_equal(fy_rand((8), .device = device), wanted));
        }
}

TEST(values_drawn_into_a_view_leave_the_rest)
{
    (void)state;
    for (int card = 0; card < 2; card++) FY_SCOPE
        {
            fy_tensor *x = fy_full((2, 4), 7.0, .device = card ? "cuda" : "cpu"), *odd = fy_slice(x, 1, 1, FY_END, 2);
            assert_ptr_equal(fy_uniform_(odd, 3, 3), odd);
            assert_true(HOLDS(fy_cpu(x), 7, 3, 7, 3, 7, 3, 7, 3));
            fy_tensor *turned = fy_t(odd);
            assert_ptr_equal(fy_normal_(turned, 2, 0), turned);
            assert_true(HOLDS(fy_cpu(x), 7, 2, 7, 2, 7, 2, 7, 2));
            fy_bernoulli_(fy_select(x, 0, 1), 0);
            assert_true(HOLDS(fy_cpu(x), 7, 2, 7, 2, 0, 0, 0, 0));
        }
}

TEST(bounds_that_do_not_fit_are_refused_in_pytorchs_words)
{
    (void)state;
#define FAILS(call, words) (assert_null(call), assert_true(failed_with(words)))
    FAILS(fy_randint((0, 0), (2)), "random_ expects 'from' to be less than 'to', but got from=0 >= to=0");
    FAILS(fy_randint((0, 300), (2), .dtype = FY_UINT8), "to - 1 is out of bounds for unsigned char");
    FAILS(fy_randint((-1, 5), (2), .dtype = FY_UINT8), "from is out of bounds for unsigned char");
    FAILS(fy_randint((0, 3), (2), .dtype = FY_BOOL), "to - 1 is out of bounds for bool");
    FAILS(fy_randint((0, 70000), (2), .dtype = FY_FLOAT16), "to - 1 is out of bounds for c10::Half");
    FAILS(fy_rand((2), .dtype = FY_INT64), "\"check_uniform_bounds\" not implemented for 'Long'");
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2)), *half = fy_ones((2), .dtype = FY_FLOAT16),
                  *on_card = fy_ones((2), .device = "cuda");
        FAILS(fy_uniform_(x, 0, 1e40), "to is out of bounds for float");
        FAILS(fy_uniform_(on_card, NAN, 1), "from is out of bounds for float");
        FAILS(fy_uniform_(half, 0, 1e5), "to is out of bounds for c10::Half");
        FAILS(fy_uniform_(half, -60000, 60000),
              "uniform_ expects to-from <= std::numeric_limits<Half>::max(), but found to=60000 and from=-60000 which "
              "result in to-from to exceed the limit");
        FAILS(fy_normal_(fy_ones((2), .dtype = FY_INT64), 0, 1), "\"normal_kernel_cpu\" not implemented for 'Long'");
    }
    FAILS(fy_randperm((2050), .dtype = FY_FLOAT16), "n cannot be greater than 2049 for Half type.");
    FAILS(fy_randperm((300), .dtype = FY_UINT8), "value cannot be converted to type uint8_t without overflow");
    FAILS(fy_randperm((5), .dtype = FY_BOOL), "\"randperm\" not implemented for 'Bool'");
    FAILS(fy_randperm((-1)), "Trying to create tensor with negative dimension -1: [-1]");
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_draws_pytorchs_bits),
        cmocka_unit_test(the_host_draws_pytorchs_normal_numbers),
        cmocka_unit_test(normal_weights_are_pytorchs_to_the_bit),
        cmocka_unit_test(a_card_draws_the_bits_that_cuda_draws),
        cmocka_unit_test(a_card_draws_the_normal_numbers_that_cuda_draws),
        cmocka_unit_test(the_first_numbers_are_those_of_an_h200),
        cmocka_unit_test(a_seeded_card_repeats_itself_and_differs_from_the_host),
        cmocka_unit_test(a_cards_numbers_lie_where_they_should),
        cmocka_unit_test(a_cards_integers_reach_both_bounds_and_no_further),
        cmocka_unit_test(a_cards_permutation_holds_every_number_once),
        cmocka_unit_test(a_cards_permutations_are_fair),
        cmocka_unit_test(a_failed_draw_leaves_the_generator_as_it_was),
        cmocka_unit_test(what_cannot_be_written_is_refused_before_anything_is_drawn),
        cmocka_unit_test(values_drawn_into_a_view_leave_the_rest),
        cmocka_unit_test(bounds_that_do_not_fit_are_refused_in_pytorchs_words),
    };
    int failed = cmocka_run_group_tests_name("random", tests, NULL, NULL);
    recorded_end();
    return failed;
}
