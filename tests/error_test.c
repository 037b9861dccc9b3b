/* Errors: PyTorch's text, the learner's line, the operands and the fix; failing calls change nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "device.h"
#include "forked.h"
#include "recorded.h"

#define TEST(name) static void name(void **state)

static int returning(void **state)
{
    (void)state;
    fy_on_error(FY_RETURN);
    fy_clear_error();
    return 0;
}

TEST(the_report_has_place_line_operands_words_and_fix)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *mat1 = fy_ones((4, 3), .device = "cuda"), *mat2 = fy_ones((3, 2));
        fy_tensor *c = fy_matmul(mat1, mat2);
        int line = __LINE__ - 1;
        char want[1000];
        snprintf(
            want, sizeof want,
            "tests/error_test.c:%d: fy_matmul: Expected all tensors to be on the same device, but got mat2 is on cpu, "
            "different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_mm). In older "
            "versions: found at least two devices, cuda:0 and cpu!\n"
            "    fy_tensor *c = fy_matmul(mat1, mat2);\n"
            "  mat1 is on cuda:0 (4, 3) float32; mat2 is on cpu (3, 2) float32\n"
            "  fix: copy mat2 with fy_to(mat2, \"cuda\") and use the copy, or create it there with .device = \"cuda\"",
            line);
        assert_null(c);
        assert_string_equal(fy_error(), want);
        fy_clear_error();
        assert_null(fy_error());
    }
}

TEST(devices_are_named_in_pytorchs_order)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *c = fy_ones((2)), *g = fy_ones((2), .device = "cuda"), *m = fy_ones((2, 2)),
                  *one = fy_ones((), .device = "cuda");
        fy_tensor *first = fy_narrow(c, 0, 0, 1);
        FAILS_ALONE(fy_add(c, g),
                    "found at least two devices, cuda:0 and cpu!"); /* elementwise: names the card first */
        FAILS_ALONE(fy_add(g, c), "found at least two devices, cuda:0 and cpu!");
        FAILS_ALONE(fy_mul(c, one),
                    "found at least two devices, cuda:0 and cpu!"); /* 0-dim card tensors are not copied implicitly */
        FAILS_ALONE(fy_mul(g, first), "cuda:0 and cpu!");
        fy_tensor *mg = fy_to(m, "cuda"), *n = fy_tensor((1, 2, 3)), *ng = fy_cuda(n);
        FAILS_ALONE(fy_matmul(m, mg), "found at least two devices, cpu and cuda:0!\n");
        FAILS_ALONE(fy_matmul(mg, c), "found at least two devices, cpu and cuda:0!\n"); /* the vector counts first */
        FAILS_ALONE(fy_add(n, ng), "cuda:0 and cpu!");
        fy_add(c, g);
        assert_true(failed_with("fix: copy c with fy_to(c, \"cuda\")"));
    }
}

/* The call fails with these words. Events of nested calls are not checked. */
#define FAILS(call, words) \
    do { \
        assert_null(call); \
        assert_true(failed_with(words)); \
    } while (0)

#define OTHER(call, argument, dev, others, function) \
    FAILS(call, "same device, but got " argument " is on " dev ", different from other tensors on " others \
                " (when checking argument in method wrapper_CUDA_" function "). In older")

TEST(a_mismatch_names_the_argument_that_pytorch_checks)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *v = fy_ones((2)), *m = fy_ones((2, 2)), *b = fy_ones((3, 2, 2)),
                  *i = fy_zeros((2), .dtype = FY_INT64);
        fy_tensor *vg = fy_cuda(v), *mg = fy_cuda(m), *bg = fy_cuda(b), *ig = fy_cuda(i), *s = fy_ones((2, 2));
        fy_tensor *ii = fy_zeros((2, 2), .dtype = FY_INT64), *iig = fy_cuda(ii);
        OTHER(fy_matmul(m, mg), "mat2", "cuda:0", "cpu", "mm");
        OTHER(fy_matmul(b, mg), "mat2", "cuda:0", "cpu", "mm");
        OTHER(fy_matmul(m, bg), "mat2", "cuda:0", "cpu", "bmm");
        OTHER(fy_matmul(bg, b), "mat2", "cpu", "cuda:0", "bmm");
        OTHER(fy_matmul(mg, v), "mat", "cuda:0", "cpu", "addmv_");
        OTHER(fy_matmul(vg, m), "mat2", "cpu", "cuda:0", "mm"); /* a row */
        OTHER(fy_matmul(vg, b), "mat", "cpu", "cuda:0", "addmv_");
        fy_tensor *learned = fy_ones((2, 2), .requires_grad = true);
        OTHER(fy_matmul(learned, bg), "mat2", "cpu", "cuda:0", "mm"); /* the transposed product */
        OTHER(fy_matmul(v, vg), "tensor", "cuda:0", "cpu", "_dot");
        OTHER(fy_addmm(vg, m, mg), "mat1", "cpu", "cuda:0", "addmm");
        OTHER(fy_addmm(vg, mg, m), "mat2", "cpu", "cuda:0", "addmm");
        OTHER(fy_index_select(mg, 0, i), "index", "cpu", "cuda:0", "_index_select");
        OTHER(fy_embedding(m, ig), "index", "cuda:0", "cpu", "_index_select");
        OTHER(fy_gather(mg, 0, ii), "index", "cpu", "cuda:0", "gather");
        OTHER(fy_scatter_add_(mg, 0, iig, s), "src", "cpu", "cuda:0", "scatter_add_");
        OTHER(fy_cross_entropy(mg, i), "target", "cpu", "cuda:0", "nll_loss_forward");
        OTHER(fy_cat((mg, m), 0), "tensors", "cpu", "cuda:0", "cat");
    }
}

TEST(a_layers_mismatch_is_of_input_and_weight)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((4, 2)), *deep = fy_ones((3, 4, 2)), *xg = fy_cuda(x);
        fy_tensor *weight = fy_ones((2, 2), .device = "cuda"), *bias = fy_ones((2), .device = "cuda"),
                  *b = fy_ones((2));
        OTHER(fy_linear(x, weight, bias), "mat1", "cpu", "cuda:0", "addmm");
        fy_linear(x, weight, bias);
        assert_true(failed_with("  x is on cpu (4, 2) float32; weight is on cuda:0 (2, 2) float32\n"));
        OTHER(fy_linear(deep, weight, bias), "mat1", "cpu", "cuda:0", "addmm");
        OTHER(fy_linear(x, weight, NULL), "mat2", "cuda:0", "cpu", "mm");
        OTHER(fy_linear(xg, weight, b), "mat1", "cuda:0", "cpu", "addmm"); /* the bias alone is elsewhere */
        fy_linear(xg, weight, b);
        assert_true(failed_with("fix: copy b with fy_to(b, \"cuda\")"));
    }
}

TEST(shapes_that_do_not_fit)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *m = fy_ones((2, 3));
        FAILS(fy_add(m, fy_ones((4))),
              "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1");
        FAILS(fy_add(m, fy_ones((2))),
              "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1");
        FAILS(fy_mul(fy_ones((0, 3)), fy_ones((2, 3))),
              "tensor a (0) must match the size of tensor b (2) at non-singleton dimension 0");
        FAILS(fy_matmul(m, m), "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
        FAILS(fy_matmul(fy_ones((4)), fy_ones((3, 2))), "mat1 and mat2 shapes cannot be multiplied (1x4 and 3x2)");
        FAILS(fy_matmul(m, fy_ones((4))), "size mismatch, got input (2), mat (2x3), vec (4)");
        FAILS(fy_matmul(fy_ones((3)), fy_ones((4))),
              "inconsistent tensor size, expected tensor [3] and src [4] to have the same number of elements, but got "
              "3 and 4 elements respectively");
        FAILS(fy_matmul(fy_ones(()), fy_ones((3))),
              "both arguments to matmul need to be at least 1D, but they are 0D and 1D");
        FAILS(fy_matmul(fy_ones((2, 2, 2)), fy_ones((3, 2))),
              "mat1 and mat2 shapes cannot be multiplied (4x2 and 3x2)");
        FAILS(fy_matmul(fy_ones((2, 2, 2)), fy_ones((2, 3, 2))),
              "Expected size for first two dimensions of batch2 tensor to be: [2, 2] but got: [2, 3].");
        FAILS(fy_zeros((2, -1)), "Trying to create tensor with negative dimension -1: [2, -1]");
        FAILS(fy_zeros((1, 1, 1, 1, 1, 1, 1, 1, 1)), "a shape has at most 8 dimensions");
        FAILS(fy_zeros((1L << 40, 1L << 40)),
              "Storage size calculation overflowed with sizes=[1099511627776, 1099511627776]");
        FAILS(fy_randn((1L << 40, 1L << 40), .device = "cuda"), "Storage size calculation overflowed");
    }
}

TEST(dtypes_that_do_not_fit)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2, 2)), *n = fy_to(x, FY_INT64);
        FAILS(fy_matmul(x, n), "expected m1 and m2 to have the same dtype, but got: float != long int");
        FAILS(fy_matmul(fy_cuda(n), fy_cuda(x)),
              "expected mat1 and mat2 to have the same dtype, but got: long int != float");
        FAILS(fy_matmul(fy_cuda(n), fy_cuda(n)), "\"addmm_cuda\" not implemented for 'Long'");
        FAILS(fy_randn((2), .dtype = FY_INT64), "\"normal_kernel_cpu\" not implemented for 'Long'");
        FAILS(fy_randn((2), .dtype = FY_INT64, .device = "cuda"), "\"normal_kernel_cuda\" not implemented for 'Long'");
        FAILS(fy_zeros((2), .dtype = (fy_dtype)9), "9 is not a dtype");
        FAILS(fy_to(x, (fy_dtype)9), "9 is not a dtype");
    }
}

TEST(views_that_cannot_be)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_arange((6)), (2, 3));
        FAILS(fy_view(fy_t(x), (6)), "view size is not compatible with input tensor's size and stride (at least one "
                                     "dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
        FAILS(fy_view(x, (4, 2)), "shape '[4, 2]' is invalid for input of size 6");
        FAILS(fy_view(x, (-1, 4)), "shape '[-1, 4]' is invalid for input of size 6");
        FAILS(fy_view(x, (-1, -1)), "only one dimension can be inferred");
        FAILS(fy_view(x, (-2)), "invalid shape dimension -2");
        FAILS(fy_transpose(x, 0, 2), "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
        FAILS(fy_t(fy_zeros((1, 2, 3))), "t() expects a tensor with <= 2 dimensions, but self is 3D");
        FAILS(fy_select(x, 1, 3), "select(): index 3 out of range for tensor of size [2, 3] at dimension 1");
        FAILS(fy_select(fy_ones(()), 0, 0), "select() cannot be applied to a 0-dim tensor.");
        FAILS(fy_narrow(x, 1, 2, 2), "start (2) + length (2) exceeds dimension size (3).");
        FAILS(fy_narrow(x, 1, 0, -1), "narrow(): length must be non-negative.");
        FAILS(fy_narrow(x, 1, 5, 0), "start out of range (expected to be in range of [-3, 3], but got 5)");
    }
}

TEST(devices_that_are_not)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2));
        FAILS(fy_to(x, "gpu"), "device type at start of device string: gpu");
        FAILS(fy_to(x, ""), "Device string must not be empty");
        FAILS(fy_to(x, (const char *)NULL), "Device string must not be empty");
        FAILS(fy_zeros((2), .device = "cuda:"), "Invalid device string: 'cuda:'");
        FAILS(fy_zeros((2), .device = "cuda:7"), "invalid device ordinal");
        FAILS(fy_zeros((2), .device = "cpu:1"), "cpu:1");
    }
}

TEST(values_that_make_no_sense)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2));
        FAILS(fy_arange((0, 3, 0)), "step must be nonzero");
        FAILS(fy_arange((0, 3, -1)), "upper bound and larger bound inconsistent with step sign");
        FAILS(fy_arange((1, 2, 3, 4)), "a range has 1 to 3 numbers, not 4");
        FAILS(fy_full((2), x), "the fill value must be a number, not a tensor");
        FAILS(fy_tensor((1, x)), "the values must be numbers, not tensors");
        assert_true(isnan(fy_item(x)));
        assert_true(failed_with("a Tensor with 2 elements cannot be converted to Scalar"));
        FAILS(fy_given(NULL), "the name of an input is NULL");
        setenv("FERRY_GIVEN", "mat1:float32:2 mat2:float32:3", 1);
        FAILS(fy_given("mat3"), "there is no input 'mat3'");
        fy_given("mat3");
        assert_true(failed_with("fix: the inputs are: mat1, mat2"));
        unsetenv("FERRY_GIVEN");
        FAILS(fy_given("mat1"), "started without inputs");
    }
}

TEST(a_full_card_says_how_full)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((1024, 1024), .device = "cuda"), *big = fy_zeros((1024, 1024));
        int64_t before = fy_dev_at(1)->live_bytes;
        fy_cuda_empty_cache();
        since();
        assert_null(fy_zeros((4096, 4096), .device = "cuda"));
        assert_string_equal(kinds(), "oom error");
        assert_int_equal(number_of(event_of("oom", 0), "asked"), 67108864);
        assert_int_equal(number_of(event_of("oom", 0), "allocated"), before);
        assert_true(failed_with(
            "CUDA out of memory. Tried to allocate 64.00 MiB (GPU 0; 30.00 MiB total capacity; 4.00 MiB already "
            "allocated; 10.00 MiB free; 20.00 MiB reserved in total by Ferry)\n"));
        fy_tensor *second = fy_ones((3, 1024, 1024), .device = "cuda");
        since();
        assert_null(fy_to(big, "cuda", .dtype = FY_INT64)); /* the copy would need a cast: it must not start */
        assert_string_equal(kinds(), "oom error");
        fy_clear_error();
        since();
        assert_null(fy_add(fy_view(second, (3072, 1024)), 1.5));
        assert_string_equal(kinds(), "tensor oom error");
        fy_clear_error();
        assert_true(fy_item(fy_select(fy_select(x, 0, 0), 0, 0)) == 1);
        FAILS(fy_zeros((1L << 33)), "can't allocate memory: you tried to allocate 34359738368 bytes");
        FAILS(fy_zeros((1L << 59)), "fix: it can never fit: ask for a smaller tensor, or a smaller .dtype");
    }
}

TEST(a_failed_call_changes_nothing)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_tensor((1, 2)), *g = fy_ones((2), .device = "cuda"), *m = fy_ones((3));
        int64_t host = fy_dev_at(0)->live_bytes, card = fy_dev_at(1)->live_bytes;
        since();
        assert_null(fy_add(a, g));
        assert_null(fy_add(a, m)); /* would need a cast: none is run */
        assert_null(fy_matmul(a, m));
        assert_null(fy_to(a, "cuda:3"));
        assert_null(fy_view(a, (3)));
        assert_string_equal(kinds(), "error error error error error");
        assert_int_equal(fy_dev_at(0)->live_bytes, host);
        assert_int_equal(fy_dev_at(1)->live_bytes, card);
        assert_true(HOLDS(a, 1, 2));
        assert_string_equal(text_of(event_of("error", 0), "code"), "device_mismatch");
        assert_string_equal(text_of(event_of("error", 0), "written"), "fy_add(a, g)");
        assert_true(strstr(text_of(event_of("error", 0), "hint"), "fy_to(a, \"cuda\")") != NULL);
        assert_true(strstr(text_of(event_of("error", 0), "message"),
                           "a is on cpu (2) int64; g is on cuda:0 (2) float32") != NULL);
        fy_clear_error();
    }
}

TEST(the_first_error_is_kept_and_null_passes_through)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2)), *bad = fy_add(x, fy_ones((3)));
        since();
        fy_tensor *y = fy_relu(fy_mul(bad, 2)), *z = fy_matmul(fy_t(fy_view(y, (1, 2))), fy_to(y, "cuda"));
        assert_null(z);
        assert_null(fy_add(x, bad));
        assert_true(isnan(fy_item(z)));
        assert_null(fy_data(z));
        assert_null(fy_keep(z));
        fy_print(z);
        fy_answer("c", z);
        assert_string_equal(kinds(), "");
        fy_to(x, "gpu");
        assert_true(failed_with("The size of tensor a (2) must match the size of tensor b (3)"));
        assert_int_equal(fy_numel(NULL), 0);
        assert_string_equal(fy_device(NULL), "none");
        assert_int_equal(fy_size(NULL, 0), -1);
    }
}

TEST(operands_are_called_what_the_source_calls_them)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2)), *list[2] = {x, x};
        fy_add(list[0], fy_view(fy_ones((6)), (2, 3))); /* commas inside brackets do not end an argument */
        assert_true(
            failed_with("list[0] is on cpu (2) float32; fy_view(fy_ones((6)), (2, 3)) is on cpu (2, 3) float32"));
        fy_tensor *rows = fy_ones((2, 3)), *weight = fy_ones((4, 3));
        fy_linear(rows, weight, fy_ones((4), .dtype = FY_FLOAT64)); /* computed as addmm(bias, x, weight) */
        assert_true(failed_with("fix: convert with fy_to(fy_ones((4), .dtype = FY_FLOAT64), FY_FLOAT32)"));
        fy_mm(rows, fy_ones((5)));
        assert_true(failed_with("\n  fy_ones((5)) is on cpu (5) float32\n"));
        fy_matmul(rows, fy_ones((3, 4), .dtype = FY_BFLOAT16));
        assert_true(failed_with("fix: convert with fy_to(fy_ones((3, 4), .dtype = FY_BFLOAT16), FY_FLOAT32)"));
        fy_matmul(fy_ones((2, 3), .dtype = FY_FLOAT64), fy_ones((3, 4), .dtype = FY_BFLOAT16));
        assert_true(failed_with("fix: convert with fy_to(fy_ones((2, 3), .dtype = FY_FLOAT64), "
                                "fy_dtype_of(fy_ones((3, 4), .dtype = FY_BFLOAT16)))"));
    }
}

TEST(errors_name_elements_of_a_list_as_it_does)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2)), *gone = fy_ones((2));
        fy_free(gone);
        assert_null(fy_cat((x, fy_view(x, (1, 2)), gone), 0));
        assert_true(failed_with("fix: free gone once, after its last use"));
        assert_null(fy_stack((gone, x), 0));
        assert_true(failed_with("fix: free gone once"));
        assert_null(fy_tensor_dataset((x, gone)));
        assert_true(failed_with("fix: free gone once"));
        assert_null(fy_optim_sgd((x, gone), .lr = 0.1));
        assert_true(failed_with("fix: free gone once"));
        assert_null(fy_clip_grad_norm_((gone), 1));
        assert_true(failed_with("fix: free gone once"));
        assert_null(fy_tensor_dataset((x, fy_ones((3)))));
        assert_true(failed_with("\n  x is on cpu (2) float32; fy_ones((3)) is on cpu (3) float32\n"));
    }
}

static void null_in_a_list(void)
{
    fy_tensor *x = fy_ones((2)), *missing = NULL;
    fy_on_error(FY_EXIT);
    fy_cat((x, missing), 0);
}

TEST(a_null_in_a_list_is_named)
{
    (void)state;
    run_forked(null_in_a_list, NULL, 0);
    assert_exited_with(1);
    assert_said("'missing' is NULL, not a tensor");
    assert_said("fix: assign a tensor to missing first");
}

static double operand_id(int i)
{
    char path[32];
    snprintf(path, sizeof path, "operands.%d", i);
    return number_of(event_of("error", 0), path);
}

TEST(the_log_says_which_tensors_an_error_is_about)
{
    (void)state;
    FY_SCOPE
    {
        since();
        fy_tensor *w = fy_ones((2)), *other = fy_ones((3)), *of_that_name = fy_ones((5), .name = "w");
        double ids[] = {number_of(event_of("tensor", 0), "tensor"), number_of(event_of("tensor", 1), "tensor")};
        fy_add(w, other);
        assert_true(operand_id(0) == ids[0] && operand_id(1) == ids[1]);
        assert_null(field(event_of("error", 0), "operands.2"));
        since();
        fy_free(w);
        fy_relu(w);
        assert_true(operand_id(0) == ids[0]);
        since();
        fy_to(of_that_name, "gpu");
        assert_null(field(event_of("error", 0), "operands"));
        fy_clear_error();
    }
}

/* ---- by default the program ends ---- */

static void mistake(void)
{
    fy_on_error(FY_EXIT);
    fy_add(fy_ones((2)), fy_ones((3)));
}

static void null_operand(void)
{
    fy_tensor *nothing = NULL;
    fy_on_error(FY_EXIT);
    fy_relu(nothing);
}

TEST(without_on_error_the_program_ends_with_status_1)
{
    (void)state;
    run_forked(mistake, NULL, false);
    assert_exited_with(1);
    assert_non_null(strstr(last_child.output, "fy_add: The size of tensor a (2) must match"));
    assert_non_null(strstr(last_child.output, "    fy_add(fy_ones((2)), fy_ones((3)));\n"));
    assert_non_null(strstr(last_child.output, "\n  fix: "));
    run_forked(null_operand, NULL, false);
    assert_exited_with(1);
    assert_non_null(strstr(last_child.output, "fy_relu: 'nothing' is NULL, not a tensor"));
}

static const char *self;

static void no_card(void)
{
    setenv("FERRY_GPU", "none", 1);
    unsetenv("FERRY_LOG_FD");
    execl(self, self, "no-card", (char *)NULL);
}

TEST(without_a_card_cuda_is_refused_in_pytorchs_words)
{
    (void)state;
    run_forked(no_card, NULL, false);
    assert_exited_with(1);
    assert_non_null(strstr(last_child.output, "fy_cuda: No CUDA GPUs are available"));
    assert_non_null(strstr(last_child.output, "    fy_cuda(fy_ones((2)));"));
}

static int run_without_card(void)
{
    if (fy_cuda_is_available() || fy_cuda_device_count() != 0) return 3;
    fy_cuda(fy_ones((2)));
    return 0;
}

#define T(name) cmocka_unit_test_setup(name, returning)

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc > 1 && strcmp(argv[1], "no-card") == 0) return run_without_card();
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "h200:capacity=30MiB", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        T(the_report_has_place_line_operands_words_and_fix),
        T(devices_are_named_in_pytorchs_order),
        T(shapes_that_do_not_fit),
        T(dtypes_that_do_not_fit),
        T(views_that_cannot_be),
        T(devices_that_are_not),
        T(values_that_make_no_sense),
        T(a_full_card_says_how_full),
        T(a_failed_call_changes_nothing),
        T(a_mismatch_names_the_argument_that_pytorch_checks),
        T(a_layers_mismatch_is_of_input_and_weight),
        T(the_first_error_is_kept_and_null_passes_through),
        T(operands_are_called_what_the_source_calls_them),
        T(errors_name_elements_of_a_list_as_it_does),
        T(a_null_in_a_list_is_named),
        T(the_log_says_which_tensors_an_error_is_about),
        T(without_on_error_the_program_ends_with_status_1),
        T(without_a_card_cuda_is_refused_in_pytorchs_words),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    recorded_end();
    return failed;
}
