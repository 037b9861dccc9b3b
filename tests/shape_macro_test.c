/* Lists in parentheses: valid shapes are parsed correctly, and invalid ones do not compile, with our message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recorded.h"

#define TEST(name) static void name(void **state)

static bool is_shape(fy_shape s, int ndim, int64_t a, int64_t b)
{
    return s.ndim == ndim && (ndim < 1 || s.dims[0] == a) && (ndim < 2 || s.dims[1] == b);
}

TEST(lists_of_every_length_are_distinct)
{
    (void)state;
    FY_SCOPE
    {
        assert_true(is_shape(fy_shape_of(fy_zeros((3))), 1, 3, 0));
        assert_true(is_shape(fy_shape_of(fy_zeros((3, 0))), 2, 3, 0));
        assert_true(is_shape(fy_shape_of(fy_zeros((0, 3))), 2, 0, 3));
        assert_true(is_shape(fy_shape_of(fy_zeros((0))), 1, 0, 0));
        assert_true(is_shape(fy_shape_of(fy_zeros(())), 0, 0, 0));
        assert_true(is_shape(fy_shape_of(fy_zeros((3), .device = "cuda")), 1, 3, 0));
        assert_true(is_shape(fy_shape_of(fy_zeros((3, 0), .device = "cuda")), 2, 3, 0));
        assert_true(is_shape(fy_shape_of(fy_zeros((0), .device = "cuda")), 1, 0, 0));
        assert_true(is_shape(fy_shape_of(fy_zeros((), .device = "cuda")), 0, 0, 0));
        assert_true(is_shape(fy_shape_of(fy_full((), 2, .device = "cuda")), 0, 0, 0));
        assert_int_equal(fy_dim(fy_zeros((1, 2, 1, 2, 1, 2, 1, 2))), 8);
    }
}

TEST(sizes_may_be_expressions_of_any_integer_type)
{
    int n = 2;
    int64_t m = 3;
    (void)state;
    FY_SCOPE
    {
        assert_true(is_shape(fy_shape_of(fy_ones((n, m))), 2, 2, 3));
        assert_true(is_shape(fy_shape_of(fy_ones((n * 2, (int)m - 1), .dtype = FY_INT64)), 2, 4, 2));
        assert_true(is_shape(fy_shape_of(fy_view(fy_arange((n * m)), (m, n))), 2, 3, 2));
        assert_true(HOLDS(fy_tensor((n, m, 7)), 2, 3, 7));
        assert_true(HOLDS(fy_tensor(((n + 1) * 2, (7))), 6, 7));
        assert_true(HOLDS(fy_tensor(((n))), 2));
        assert_true(is_shape(fy_shape_of(fy_tensor(())), 1, 0, 0));
        assert_int_equal(fy_dtype_of(fy_tensor((), .device = "cuda")), FY_FLOAT32);
        assert_int_equal(fy_numel(fy_tensor((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                             22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32))),
                         32);
    }
}

TEST(a_call_within_a_call_has_its_own_place)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *m = fy_ones((2, 3));
        since();
        int line = __LINE__ + 1;
        assert_null(fy_add(m, fy_matmul(m, fy_relu(m))));
        assert_int_equal(number_of(event_of("op", 0), "line"), line);
        assert_string_equal(text_of(event_of("error", 0), "written"), "fy_matmul(m, fy_relu(m))");
        assert_true(failed_with(": fy_matmul: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"));
    }
}

TEST(a_call_within_a_call_is_shown_as_written)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *m = fy_ones((2, 3));
        assert_null(fy_neg(fy_gt(m, 0)));
        assert_true(failed_with("\n  fy_gt(m, 0) is on cpu (2, 3) bool\n"));
        assert_null(fy_mul(m, fy_cuda(fy_neg(m))));
        assert_true(failed_with("; fy_cuda(fy_neg(m)) is on cuda:0 (2, 3) float32\n"));
        assert_null(fy_reshape(fy_mul_(m, fy_relu(m)), (4)));
        assert_true(failed_with("\n  fy_mul_(m, fy_relu(m)) is on cpu (2, 3) float32\n"));
    }
}

/* Compiles one expression as a learner would; returns the compiler's output. */
static const char *compiled(const char *compiler, const char *flags, const char *expression)
{
    static char text[16384];
    char command[1000], path[] = "/tmp/ferry-shape-XXXXXX.c";
    int fd = mkstemps(path, 2);
    assert_true(fd >= 0);
    dprintf(fd,
            "#include <ferry.h>\n\nint main(void)\n{\n    int n = 2;\n    fy_tensor *y = fy_ones((n, 3));\n"
            "    FY_SCOPE {\n        FY_SCOPE {\n            fy_tensor *x = %s;\n            fy_print(fy_add(x, "
            "fy_mul(y, n)));\n"
            "        }\n    }\n}\n",
            expression);
    close(fd);
    snprintf(command, sizeof command, "%s -std=gnu11 %s -Ilib -fsyntax-only %s 2>&1", compiler, flags, path);
    FILE *p = popen(command, "r");
    size_t n = p ? fread(text, 1, sizeof text - 1, p) : 0;
    text[n] = 0;
    if (p) pclose(p);
    unlink(path);
    return text;
}

static bool is_installed(const char *compiler)
{
    char command[100];
    snprintf(command, sizeof command, "command -v %s >/dev/null", compiler);
    return system(command) == 0;
}

static void wrong_lists(const char *compiler, const char *flags)
{
    static const char *const wrong[][2] = {
        {"fy_zeros()", "the shape needs parentheses of its own: fy_zeros((2, 3))"},
        {"fy_zeros(3)", "the shape needs parentheses of its own"},
        {"fy_zeros(2, 3)", "the shape needs parentheses of its own"},
        {"fy_zeros(.device = \"cuda\")", "the shape needs parentheses of its own"},
        {"fy_randn(n)", "the shape needs parentheses of its own: fy_randn((2, 3))"},
        {"fy_max(y, 1)", "the dimensions need parentheses of their own: fy_max(x, (0)), or fy_max(x, (), "},
        {"fy_ones((2), .device = 0)", "a device is named by text, not by a number: .device = "},
        {"fy_ones((2), .dtype = FY_INT64, .device=7)", "a device is named by text"},
        {"fy_ones((2), .name = fy_device(y), .device = 1 - 1)", "a device is named by text"},
        {"fy_randn((2, 3), \"cuda\")", "options are given by name, with a dot in front: fy_randn((2), .device = "},
        {"fy_randint((0, 9), (2), \"cuda\")", "options are given by name, with a dot in front: fy_randint("},
        {"fy_to(y, \"cuda\", true)", "options are given by name, with a dot in front: fy_to(x, "},
        {"fy_var(y, (0), true)", "options are given by name, with a dot in front: fy_var(x, (0), .keepdim = true)"},
        {"(fy_tensor *)fy_optim_adam((y), .lr = 1, .beta1 = 0, .beta2 = 0, .eps = 1, .weight_decay = 0, .amsgrad = 0, "
         ".maximize = 0, true)",
         "options are given by name, with a dot in front: fy_optim_adam(net, .lr = 0.1)"},
        {"fy_add(NULL, y)", "expected a tensor or a number, not NULL"},
        {"fy_fill_(y, NULL)", "expected a tensor or a number, not NULL"},
        {"fy_mul(y, \"2\")", "expected a tensor or a number"},
        {"fy_mul(fy_shape_of(y), y)", "expected a tensor or a number"},
        {"fy_tensor((1, &n))", "expected a tensor or a number"},
        {"fy_mul(y, 1.0if)", "expected a tensor or a number"},
        {"fy_mul(y, (__int128)1)", "expected a tensor or a number"},
        {"fy_view(y, 6)", "the shape needs parentheses of its own"},
        {"fy_full(2, 7.5)", "the shape needs parentheses of its own"},
        {"fy_full((2))", "the value comes second: fy_full((2, 3), 7.5)"},
        {"fy_tensor(1, 2)", "the values need parentheses of their own: fy_tensor((1, 2, 3))"},
        {"fy_arange(5)", "the values need parentheses of their own"},
        {"fy_to(y)", "the target is missing: fy_to(x, "},
        {"fy_to(y, 3.5)", "error:"},
        {"fy_to(y, 1)", "a number is not a target: write a dtype, fy_to(x, FY_FLOAT32)"},
        {"fy_to(y, FY_DTYPE_UNSET)", "a number is not a target"},
        {"fy_zeros((2), .devise = 0)", "devise"},
    };
    if (!is_installed(compiler)) skip();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *output = compiled(compiler, flags, wrong[i][0]);
        if (!strstr(output, ".c:9:") || !strstr(output, "error:") || !strstr(output, wrong[i][1]))
            fail_msg("%s of %s: %s", compiler, wrong[i][0], output);
        if (*flags && strstr(output, "ferry_call.h")) fail_msg("%s shows our header: %s", compiler, output);
    }
}

static void right_lists(const char *compiler)
{
    static const char *const right[] = {
        "fy_zeros(())",
        "fy_zeros((n, 3))",
        "fy_ones((0), .device = NULL, .name = 0)",
        "fy_ones((0), .device = n > 2 ? \"cuda\" : fy_device(y), .pin_memory = 0)",
        "fy_from_blob(0, (0), .strides = {1, {3}}, .dtype = FY_INT64)",
        "fy_mul(y, 0.5L)",
        "fy_add(fy_mul(fy_sub(fy_div(fy_add(fy_mul(fy_add(fy_mul(y, 2), 1), 2), 1), 2), 1), 2), 1)",
        "fy_add(y, sizeof n)",
        "fy_add(y, (char)n)",
        "fy_full((), n)",
        "fy_full((2, 3), 7.5)",
        "fy_tensor((1, 2.5, n))",
        "fy_tensor(())",
        "fy_tensor(((n + 1) * 2, (n)))",
        "fy_arange((0, n, 2), .dtype = FY_FLOAT32)",
        "fy_to(y, y)",
        "fy_to(y, FY_INT64, .copy = true)",
        "fy_to(y, fy_device(y))",
        "fy_view(y, (-1))",
        "fy_to(y, fy_dtype_of(y))",
        "fy_to(y, fy_to(y, FY_INT64))",
        "fy_to(fy_cpu(y), fy_cpu(fy_to(y, n > 2 ? FY_INT64 : FY_FLOAT32)))",
    };
    if (!is_installed(compiler)) skip();
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        const char *output = compiled(compiler, "-Wall -Wextra -Wpedantic -Wshadow -Wconversion", right[i]);
        if (*output) fail_msg("%s of %s: %s", compiler, right[i], output);
    }
}

/* With the lesson runner's flag gcc shows no line of Ferry's headers. */
TEST(gcc_refuses_what_is_no_list_in_our_words)
{
    (void)state;
    wrong_lists("gcc", "-ftrack-macro-expansion=0");
}
TEST(clang_refuses_what_is_no_list_in_our_words)
{
    (void)state;
    wrong_lists("clang", "");
}
TEST(gcc_takes_what_is_right_without_a_warning)
{
    (void)state;
    right_lists("gcc");
}
TEST(clang_takes_what_is_right_without_a_warning)
{
    (void)state;
    right_lists("clang");
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_every_length_are_distinct),
        cmocka_unit_test(sizes_may_be_expressions_of_any_integer_type),
        cmocka_unit_test(a_call_within_a_call_has_its_own_place),
        cmocka_unit_test(a_call_within_a_call_is_shown_as_written),
        cmocka_unit_test(gcc_refuses_what_is_no_list_in_our_words),
        cmocka_unit_test(clang_refuses_what_is_no_list_in_our_words),
        cmocka_unit_test(gcc_takes_what_is_right_without_a_warning),
        cmocka_unit_test(clang_takes_what_is_right_without_a_warning),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    recorded_end();
    return failed;
}
