/* Calls whose names end in _ return their first argument borrowed: on no path do they add a reference, record a handle
 * event, or register the tensor with a scope. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "device.h"
#include "recorded.h"
#include "tensor.h"

#define TEST(name) static void name(void **state)

enum { TURNS = 20 };

static fy_tensor *x, *y, *doubles, *point, *wide, *on_card, *freed, *mask, *classes;

// clang-format off
/* X(a call that writes into x, a failing call of the same function) */
#define IN_PLACE(X) \
    X(fy_add_(x, 1), fy_add_(wide, 1)) \
    X(fy_add_(x, doubles, 2), fy_add_(wide, doubles, 2))  /* through a temporary of another dtype */ \
    X(fy_sub_(x, y), fy_sub_(point, y)) \
    X(fy_mul_(x, x), fy_mul_(wide, x)) \
    X(fy_div_(x, 2), fy_div_(wide, 2)) \
    X(fy_relu_(x), fy_relu_(wide)) \
    X(fy_neg_(x), fy_neg_(wide)) \
    X(fy_exp_(x), fy_exp_(wide)) \
    X(fy_sqrt_(x), fy_sqrt_(wide)) \
    X(fy_addcmul_(x, y, y), fy_addcmul_(wide, y, y)) \
    X(fy_addcdiv_(x, y, y, 2), fy_addcdiv_(wide, y, y, 2)) \
    X(fy_masked_fill_(x, mask, 2), fy_masked_fill_(wide, mask, 2)) \
    X(fy_scatter_add_(x, 1, classes, y), fy_scatter_add_(wide, 1, classes, y)) \
    X(fy_fill_(x, 2), fy_fill_(x, y)) \
    X(fy_fill_(x, point), fy_fill_(x, freed)) \
    X(fy_zero_(x), fy_zero_(freed)) \
    X(fy_copy_(x, y), fy_copy_(point, y)) \
    X(fy_copy_(x, x), fy_copy_(x, freed)) \
    X(fy_copy_(x, doubles), fy_copy_(wide, doubles)) \
    X(fy_requires_grad_(x, false), fy_requires_grad_(classes)) \
    X(fy_uniform_(x, -1, 1), fy_uniform_(wide, -1, 1)) \
    X(fy_uniform_(x, 2, 2), fy_uniform_(x, 2, 1)) \
    X(fy_normal_(x, 0, 1), fy_normal_(wide, 0, 1)) \
    X(fy_normal_(x, 1, 0), fy_normal_(x, 0, -1)) \
    X(fy_bernoulli_(x, 0.5), fy_bernoulli_(wide, 0.5)) \
    X(fy_bernoulli_(x, 1), fy_bernoulli_(classes, 0.5)) \
    X(fy_copy_(x, on_card), fy_copy_(wide, on_card))            /* through temporaries on both devices */
// clang-format on

static const char *const calls[] = {
#define X(right, wrong) #right,
    IN_PLACE(X)
#undef X
};
enum { CALLS = sizeof calls / sizeof *calls };

static fy_tensor *call(int n, bool right_one)
{
    int i = 0;
#define X(right, wrong) \
    if (n == i++) return right_one ? (right) : (wrong);
    IN_PLACE(X)
#undef X
    return NULL;
}

static fy_tensor **const operands[] = {&x, &y, &doubles, &point, &wide, &on_card, &mask, &classes};
enum { OPERANDS = sizeof operands / sizeof *operands };

/* Each has one reference and belongs to no scope. With gaps, x is every second column of a larger tensor. */
static void make_operands(const char *device, const char *other_device, bool gaps)
{
    FY_SCOPE { x = fy_keep(fy_slice(fy_ones((2, gaps ? 6 : 3), .device = device), 1, 0, FY_END, gaps ? 2 : 1)); }
    y = fy_ones((2, 3), .device = device);
    doubles = fy_ones((2, 3), .device = device, .dtype = FY_FLOAT64);
    point = fy_full((), 2.0, .device = device);
    freed = fy_ones((2, 3), .device = device);
    mask = fy_ones((2, 3), .device = device, .dtype = FY_BOOL);
    classes = fy_zeros((2, 3), .device = device, .dtype = FY_INT64);
    FY_SCOPE
    {
        wide = fy_keep(fy_expand(fy_ones((3), .device = device), (2, 3)));
        on_card = fy_keep(fy_t(fy_ones((3, 2), .device = other_device, .dtype = FY_FLOAT64)));
    }
    fy_free(freed);
}

static void on_both(void (*test)(void))
{
    for (int way = 0; way < 4; way++) {
        bool card = way % 2, gaps = way / 2;
        make_operands(card ? "cuda" : "cpu", card ? "cpu" : "cuda", gaps);
        test();
        for (int i = 0; i < OPERANDS; i++) fy_free(*operands[i]);
        assert_null(fy_error());
    }
}

static int64_t live_bytes(void) { return fy_dev_at(0)->live_bytes + fy_dev_at(1)->live_bytes; }

/* Events of that kind since then: all of them, or those about x. */
static int count(const char *kind, bool of_x)
{
    int n = 0;
    const cJSON *e;
    for (int i = 0; (e = event_of(kind, i)); i++) n += !of_x || number_of(e, "tensor") == x->id;
    return n;
}

/* Temporaries are made and freed; x is unchanged. */
static void repeat(int n)
{
    int64_t before = live_bytes();
    since();
    for (int i = 0; i < TURNS; i++)
        if (call(n, true) != x) fail_msg("%s does not return x", calls[n]);
    if (x->refs != 1 || x->storage->refs != 1) fail_msg("%s: x has %u references", calls[n], x->refs);
    if (count("tensor", true) || count("drop", true)) fail_msg("%s: the log tells of the handle", calls[n]);
    if (count("tensor", false) != count("drop", false) || count("alloc", false) != count("free", false))
        fail_msg("%s leaves a temporary", calls[n]);
    assert_int_equal(live_bytes(), before);
}

static void repeat_all(void)
{
    for (int n = 0; n < CALLS; n++) {
        repeat(n);
        FY_SCOPE { repeat(n); }
        assert_int_equal(x->refs, 1);
    }
    since();
    fy_free(x);
    assert_string_equal(kinds(), "drop free");
    x = NULL;
}

TEST(a_loop_of_calls_takes_no_reference)
{
    (void)state;
    on_both(repeat_all);
}

static void fail_all(void)
{
    int64_t before = live_bytes();
    for (int n = 0; n < CALLS; n++) {
        since();
        if (call(n, false)) fail_msg("the mistake beside %s is none", calls[n]);
        assert_string_equal(kinds(), "error");
        fy_clear_error();
        for (int i = 0; i < OPERANDS; i++) assert_int_equal((*operands[i])->refs, 1);
    }
    assert_int_equal(live_bytes(), before);
}

TEST(a_call_that_fails_returns_null_and_takes_no_reference)
{
    (void)state;
    on_both(fail_all);
}

TEST(what_was_made_outside_a_scope_outlives_it)
{
    (void)state;
    fy_tensor *a = fy_ones((2)), *b = NULL;
    since();
    FY_SCOPE { b = fy_add_(a, 1); }
    FY_SCOPE { fy_keep(fy_mul_(a, 2)); }
    assert_null(event_of("drop", 0));
    assert_true(b == a && HOLDS(a, 4, 4));
    FY_SCOPE
    {
        fy_tensor *c = fy_ones((2));
        FY_SCOPE { fy_keep(fy_add_(c, a)); }
        assert_true(HOLDS(c, 5, 5));
    }
    fy_free(a);
    assert_null(fy_add_(b, 1));
    assert_true(failed_with("was already freed"));
}

static fy_tensor *made_inside(void)
{
    FY_SCOPE { return fy_keep(fy_add_(fy_ones((2)), 1)); }
    return NULL;
}

TEST(what_was_made_inside_goes_with_its_scope_unless_kept)
{
    int64_t before = live_bytes();
    (void)state;
    FY_SCOPE { fy_neg_(fy_add_(fy_ones((2)), 1)); }
    assert_int_equal(live_bytes(), before);
    fy_tensor *kept = made_inside();
    assert_true(HOLDS(kept, 2, 2));
    fy_free(kept);
    assert_int_equal(live_bytes(), before);
}

/* Is a call of this name, as in "fy_add_", in the table? */
static bool is_listed(const char *name)
{
    for (int n = 0; n < CALLS; n++)
        if (strncmp(calls[n], name, strlen(name)) == 0 && calls[n][strlen(name)] == '(') return true;
    return false;
}

/* The first argument of these is no tensor that they write into: it is the optimizer, the module or the list of
 * parameters whose gradients or flags they change. fy_clip_grad_norm_ gives a new tensor, the norm;
 * fy_module_requires_grad_ gives nothing, fy_scaler_unscale_ tells whether it went well. */
static bool takes_no_tensor(const char *name)
{
    return strcmp(name, "fy_clip_grad_norm_") == 0 || strcmp(name, "fy_module_requires_grad_") == 0 ||
           strcmp(name, "fy_scaler_unscale_") == 0;
}

TEST(every_name_of_the_headers_that_ends_so_is_tried)
{
    glob_t headers;
    char line[400], name[100], paren;
    int found = 0;
    (void)state;
    assert_int_equal(glob("lib/ferry*.h", 0, NULL, &headers), 0);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        FILE *f = fopen(headers.gl_pathv[i], "r");
        while (f && fgets(line, sizeof line, f)) {
            if (sscanf(line, "#define %99[a-z0-9_]%c", name, &paren) < 2 || paren != '(') continue;
            if (strncmp(name, "fy_", 3) != 0 || name[strlen(name) - 1] != '_') continue;
            if (takes_no_tensor(name)) continue;
            if (!is_listed(name)) fail_msg("%s is not in the table", name);
            found++;
        }
        if (f) fclose(f);
    }
    globfree(&headers);
    assert_true(found >= 10);
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_of_calls_takes_no_reference),
        cmocka_unit_test(a_call_that_fails_returns_null_and_takes_no_reference),
        cmocka_unit_test(what_was_made_outside_a_scope_outlives_it),
        cmocka_unit_test(what_was_made_inside_goes_with_its_scope_unless_kept),
        cmocka_unit_test(every_name_of_the_headers_that_ends_so_is_tried),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    recorded_end();
    return failed;
}
