/* unchanged_test.c: a failing call changes nothing: neither bytes nor references of its operands nor allocated memory;
 * it records only the error. One line per mistake, for PyTorch's rules that Ferry implements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device.h"
#include "dtype.h"
#include "event.h"
#include "recorded.h"
#include "shape.h"
#include "tensor.h"
#include "transfer.h"

static float memory[6];

// clang-format off
/* The operands; _c: on the card. */
#define OPERANDS(X) \
    X(a, fy_view(fy_arange((0.0, 6.0)), (2, 3)))          /* float32 */ \
    X(a_c, fy_to(a, "cuda")) \
    X(ints, fy_view(fy_arange((6)), (2, 3)))                  /* int64, with a zero */ \
    X(ints_c, fy_to(ints, "cuda")) \
    X(mask, fy_eye((2, 3), .dtype = FY_BOOL)) \
    X(doubles, fy_to(a, FY_FLOAT64)) \
    X(halves, fy_to(a, FY_FLOAT16)) \
    X(bytes, fy_to(a, FY_UINT8)) \
    X(brain, fy_to(a, FY_BFLOAT16)) \
    X(four, fy_ones((4))) \
    X(three, fy_ones((3))) \
    X(wide, fy_expand(three, (2, 3)))                      /* expanded */ \
    X(wide_c, fy_expand(fy_ones((3), .device = "cuda"), (2, 3))) \
    X(turned, fy_t(a)) \
    X(tall_c, fy_t(a_c)) \
    X(tall_ints_c, fy_t(ints_c)) \
    X(tall_doubles, fy_t(doubles)) \
    X(tall_mask, fy_t(mask)) \
    X(left, fy_narrow(a, 1, 0, 2)) \
    X(left_c, fy_narrow(a_c, 1, 0, 2)) \
    X(front, fy_narrow(three, 0, 0, 2)) \
    X(back, fy_narrow(three, 0, 1, 2)) \
    X(one, fy_ones((1))) \
    X(point, fy_full((), 2.0)) \
    X(point_c, fy_full((), 2.0, .device = "cuda")) \
    X(none, fy_zeros((0, 3))) \
    X(cube, fy_ones((2, 2, 3))) \
    X(classes, fy_tensor((0, 2))) \
    X(classes_c, fy_to(classes, "cuda")) \
    X(class, fy_narrow(classes, 0, 0, 1)) \
    X(beyond, fy_tensor((0, 3)))
#define X(name, made) static fy_tensor *name;
OPERANDS(X)
#undef X

/* X(the call, part of its message) */
#define MOVES(X) \
    X(fy_to(a, "nope"), "Expected one of cpu, cuda") \
    X(fy_to(a, "CUDA"), "Expected one of cpu, cuda") \
    X(fy_to(a, ""), "Device string must not be empty") \
    X(fy_to(a, "cuda:"), "Invalid device string: 'cuda:'") \
    X(fy_to(a, "cuda:-1"), "Invalid device string") \
    X(fy_to(a, "cuda:01"), "Invalid device string") \
    X(fy_to(a, "cuda:1a"), "Invalid device string") \
    X(fy_to(a, "cuda 0"), "Invalid device string") \
    X(fy_to(a, "cuda:99999999999"), "Could not parse device index") \
    X(fy_to(a, "cuda:300"), "invalid device ordinal") \
    X(fy_to(a, "cuda:7"), "invalid device ordinal") \
    X(fy_to(a, "cpu:1"), "CPU device index must be -1 or zero") \
    X(fy_to(a, (fy_dtype)99), "is not a dtype") \
    X(fy_cuda(a, 5), "invalid device ordinal") \
    X(fy_cuda_set_device(5), "invalid device ordinal") \
    X(fy_pin_memory(a_c), "only dense CPU tensors can be pinned") \
    X(fy_copy_(wide, a), "more than one element") \
    X(fy_copy_(wide_c, a), "more than one element") \
    X(fy_copy_(a, four), "size of") \
    X(fy_copy_(three, a), "output with shape [3] doesn't match") \
    X(fy_copy_(three, a_c), "output with shape [3] doesn't match") \
    X(fy_zeros((2), .device = "cuda:7"), "invalid device ordinal") \
    X(fy_item(a), "one element") \
    X(fy_item(a_c), "one element")
#define DEVICES(X) \
    X(fy_add(a, a_c), "at least two devices, cuda:0 and cpu!") \
    X(fy_add(a_c, a), "at least two devices, cuda:0 and cpu!") \
    X(fy_add(a, point_c), "at least two devices, cuda:0 and cpu!") \
    X(fy_add(a_c, one), "at least two devices, cuda:0 and cpu!") \
    X(fy_maximum(a, ints_c), "at least two devices") \
    X(fy_eq(a_c, ints), "at least two devices") \
    X(fy_add_(a, a_c), "at least two devices") \
    X(fy_add_(a_c, a), "at least two devices") \
    X(fy_mul_(a_c, ints), "at least two devices") \
    X(fy_div_(point, point_c), "at least two devices") \
    X(fy_matmul(a, tall_c), "at least two devices") \
    X(fy_mv(a_c, three), "at least two devices, cpu and cuda:0!") \
    X(fy_addmm(a, left_c, a_c), "at least two devices") \
    X(fy_linear(a, a_c), "at least two devices, cpu and cuda:0!") \
    X(fy_cat((a, a_c), 0), "at least two devices") \
    X(fy_stack((a_c, a), 0), "at least two devices") \
    X(fy_cross_entropy(a_c, classes), "at least two devices") \
    X(fy_cross_entropy(a, classes_c), "at least two devices") \
    X(fy_mse_loss(a, a_c), "at least two devices")
#define IN_PLACE(X) \
    X(fy_add_(three, a), "output with shape [3] doesn't match the broadcast shape [2, 3]") \
    X(fy_sub_(point, a), "output with shape [] doesn't match the broadcast shape [2, 3]") \
    X(fy_add_(ints, a), "result type Float can't be cast to the desired output type Long") \
    X(fy_add_(ints_c, a_c), "result type Float can't be cast to the desired output type Long") \
    X(fy_mul_(ints, 0.5), "result type Float can't be cast to the desired output type Long") \
    X(fy_div_(ints, 2), "result type Float can't be cast to the desired output type Long") \
    X(fy_add_(mask, ints), "result type Long can't be cast to the desired output type Bool") \
    X(fy_exp_(ints), "result type Float can't be cast") \
    X(fy_exp_(ints_c), "result type Float can't be cast") \
    X(fy_add_(wide, 1), "more than one element of the written-to tensor") \
    X(fy_add_(wide_c, 1), "more than one element of the written-to tensor") \
    X(fy_exp_(wide), "more than one element of the written-to tensor") \
    X(fy_add_(front, back), "some elements of the input tensor and the written-to tensor") \
    X(fy_add_(a, four), "must match the size") \
    X(fy_sub_(mask, mask), "Subtraction, the `-` operator") \
    X(fy_neg_(mask), "Negation, the `-` operator, on a bool tensor") \
    X(fy_relu_(mask), "Boolean inputs not supported for relu") \
    X(fy_add_(ints, 1, 0.5), "argument alpha must not be a floating point number") \
    X(fy_fill_(bytes, 300), "without overflow")
#define TYPES(X) \
    X(fy_sub(mask, mask), "with two bool tensors is not supported") \
    X(fy_sub(ints, mask), "with a bool tensor is not supported") \
    X(fy_add(ints, ints, 0.5), "argument alpha must not be a floating point number") \
    X(fy_matmul(a, tall_doubles), "to have the same dtype") \
    X(fy_matmul(mask, tall_mask), "not implemented for 'Bool'") \
    X(fy_matmul(ints_c, tall_ints_c), "not implemented for 'Long'") \
    X(fy_mean(ints), "could not infer output dtype") \
    X(fy_var(ints_c), "only support floating point") \
    X(fy_softmax(ints, 0), "not implemented for 'Long'") \
    X(fy_log_softmax(ints_c, 0), "not implemented for 'Long'") \
    X(fy_argmax(mask), "not implemented for 'Bool'") \
    X(fy_randn((3), .dtype = FY_INT64), "not implemented for 'Long'") \
    X(fy_rand((3), .dtype = FY_BOOL, .device = "cuda"), "not implemented for 'Bool'") \
    X(fy_tensor((256), .dtype = FY_UINT8), "cannot be converted to type uint8") \
    X(fy_floor_divide(ints, 0), "ZeroDivisionError") \
    X(fy_floor_divide(ints, ints), "ZeroDivisionError") \
    X(fy_remainder(ints, ints), "ZeroDivisionError") \
    X(fy_pow(ints, -2), "Integers to negative integer powers are not allowed") \
    X(fy_index_select(a, 0, front), "index_select(): Expected dtype int32 or int64 for index") \
    X(fy_scatter_add_(a, 0, class, ints), "Expected self.dtype to be equal to src.dtype") \
    X(fy_topk(mask, 1), "not implemented for 'Bool'") \
    X(fy_masked_select(a, ints), "expected BoolTensor or ByteTensor for mask") \
    X(fy_cross_entropy(a, front), "expected scalar type Long but found Float") \
    X(fy_save_npy("unwritten.npy", brain), "BFloat16")
#define SHAPES(X) \
    X(fy_add(a, four), "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1") \
    X(fy_add(none, a), "must match the size") \
    X(fy_matmul(a, a), "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)") \
    X(fy_matmul(a_c, a_c), "cannot be multiplied (2x3 and 2x3)") \
    X(fy_matmul(a, four), "size mismatch") \
    X(fy_matmul(three, four), "inconsistent tensor size") \
    X(fy_matmul(cube, cube), "Expected size for first two dimensions of batch2 tensor") \
    X(fy_matmul(point, a), "at least 1D") \
    X(fy_mm(three, a), "self must be a matrix") \
    X(fy_bmm(a, cube), "batch1 must be a 3D tensor") \
    X(fy_dot(a, three), "1D tensors expected") \
    X(fy_addmm(four, turned, a), "must match") \
    X(fy_expand(a, (2, 4)), "The expanded size of the tensor (4) must match the existing size (3)") \
    X(fy_expand(a, (3)), "must be greater or equal to the number of dimensions") \
    X(fy_expand(three, (-1, 3)), "isn't allowed in a leading, non-existing dimension 0") \
    X(fy_view(turned, (6)), "view size is not compatible") \
    X(fy_view(a, (4, 2)), "shape '[4, 2]' is invalid for input of size 6") \
    X(fy_view(a, (-1, -1)), "only one dimension can be inferred") \
    X(fy_reshape(a, (-2, 3)), "invalid shape dimension -2") \
    X(fy_view(left, FY_FLOAT64), "must be divisible by 2") \
    X(fy_transpose(a, 0, 2), "Dimension out of range (expected to be in range of [-2, 1], but got 2)") \
    X(fy_unsqueeze(a, 4), "Dimension out of range") \
    X(fy_squeeze(a, 2), "Dimension out of range") \
    X(fy_permute(a, (0, 0)), "duplicate dims are not allowed") \
    X(fy_select(a, 1, 3), "index 3 out of range for tensor of size [2, 3] at dimension 1") \
    X(fy_narrow(a, 1, 2, 2), "start (2) + length (2) exceeds dimension size (3)") \
    X(fy_slice(a, 0, 0, 2, -1), "step must be positive") \
    X(fy_t(cube), "t() expects a tensor with <= 2 dimensions, but self is 3D") \
    X(fy_cat((a, cube), 0), "same number of dimensions") \
    X(fy_cat((turned, a), 0), "Sizes of tensors must match except in dimension 0") \
    X(fy_stack((three, four), 0), "stack expects each tensor to be equal size, but got [3] at entry 0 and [4] at entry 1") \
    X(fy_sum(a, (0, 0)), "dim 0 appears multiple times in the list of dims") \
    X(fy_sum(a_c, (2)), "Dimension out of range") \
    X(fy_max(none), "Expected reduction dim to be specified for input.numel() == 0") \
    X(fy_argmax(none, (0)), "to have non-zero size") \
    X(fy_softmax(a, 2), "Dimension out of range") \
    X(fy_sort(a, 2), "Dimension out of range") \
    X(fy_topk(a, 4), "selected index k out of range") \
    X(fy_repeat(a, (2)), "Number of dimensions of repeat dims can not be smaller") \
    X(fy_gather(a, 0, class), "same number of dimensions as input tensor") \
    X(fy_index_select(a, 0, beyond), "index out of range in self") \
    X(fy_embedding(three, class), "'weight' must be 2-D") \
    X(fy_index(four, mask), "too many indices for tensor of dimension 1") \
    X(fy_split(a, 0, 1).at[0], "split_size can only be 0 if dimension size is 0") \
    X(fy_chunk(a, 0, 1).at[0], "greater than 0, got: 0") \
    X(fy_cross_entropy(a, beyond), "Target 3 is out of bounds") \
    X(fy_cross_entropy(a, class), "Expected input batch_size (2) to match target batch_size (1)") \
    X(fy_from_blob(memory, (2, 3), .strides = FY_STRIDES(-3, 1)), "negative") \
    X(fy_zeros((2, -1)), "negative dimension -1") \
    X(fy_ones((1 << 30, 1 << 30, 1 << 30)), "overflow") \
    X(fy_arange((0, 5, 0)), "step must be nonzero") \
    X(fy_linspace((0, 1, -1)), "number of steps must be non-negative") \
    X(fy_randint((5, 5), (2)), "from") \
    X(fy_randperm((-1)), "negative")

// clang-format on
#define MISTAKES(X) MOVES(X) DEVICES(X) IN_PLACE(X) TYPES(X) SHAPES(X)

static const struct {
    const char *call, *words;
} mistakes[] = {
#define X(call, words) {#call, words},
    MISTAKES(X)
#undef X
};
enum { MISTAKE_COUNT = sizeof mistakes / sizeof *mistakes };

static void make_mistake(int n)
{
    int i = 0;
#define X(call, words) \
    if (n == i++) (void)(call);
    MISTAKES(X)
#undef X
}

/* ---- recorded state ---- */

typedef struct state_of {
    unsigned char bytes[64];
    uint32_t refs, storage_refs, version;
    fy_dtype dtype;
    fy_geometry form;
} state_of;

#define X(name, made) &name,
static fy_tensor **const operands[] = {OPERANDS(X)};
#undef X
enum { OPERAND_COUNT = sizeof operands / sizeof *operands };

static state_of state_of_tensor(fy_tensor *x)
{
    state_of s;
    memset(&s, 0, sizeof s); /* padding is compared */
    size_t size = (size_t)fy_numel(x) * fy_dtype_size(x->dtype);
    void *on_host = fy_copy_to_host(NULL, x, FY_WORD_answer);
    assert_true(on_host && size <= sizeof s.bytes + 32);
    memcpy(s.bytes, on_host, size < sizeof s.bytes ? size : sizeof s.bytes);
    free(on_host);
    s.refs = x->refs;
    s.storage_refs = x->storage->refs;
    s.version = x->storage->version;
    s.dtype = x->dtype;
    fy_geometry g = fy_geometry_of(x);
    memcpy(&s.form, &g, sizeof g);
    return s;
}

static void record_state(state_of *all, int64_t *live)
{
    for (int i = 0; i < OPERAND_COUNT; i++) {
        state_of s = state_of_tensor(*operands[i]);
        memcpy(&all[i], &s, sizeof s);
    }
    for (int i = 0; i < 2; i++) live[i] = fy_dev_at(i)->live_bytes;
}

/* ---- the tests ---- */

/* Prints each failure, so that one run shows all. */
__attribute__((format(printf, 2, 3))) static bool report(int n, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s: ", mistakes[n].call);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    return false;
}

static bool check_words(int n)
{
    char words[4096];
    snprintf(words, sizeof words, "%s", fy_error() ? fy_error() : "no error");
    fy_clear_error();
    if (!strstr(words, mistakes[n].words)) return report(n, "'%s' was wanted, not: %s", mistakes[n].words, words);
    return strstr(words, "fix:") || report(n, "no fix is told: %s", words);
}

static bool check(int n)
{
    static state_of before[OPERAND_COUNT], after[OPERAND_COUNT];
    int64_t live_before[2], live_after[2];
    record_state(before, live_before);
    since();
    make_mistake(n);
    if (!check_words(n)) return false;
    if (strcmp(kinds(), "error") && strcmp(kinds(), "tensor error drop")) /* a temporary view */
        return report(n, "it is recorded as: %s", kinds());
    record_state(after, live_after);
    if (memcmp(before, after, sizeof before)) return report(n, "an operand was changed");
    return memcmp(live_before, live_after, sizeof live_before) == 0 || report(n, "other bytes are alive");
}

static void a_call_that_fails_changes_nothing(void **state)
{
    int count = 0;
    (void)state;
    for (int n = 0; n < MISTAKE_COUNT; n++) count += !check(n);
    assert_int_equal(count, 0);
    assert_int_not_equal(access("unwritten.npy", F_OK), 0);
}

/* All these mistakes leave only the operands. */
static void what_is_freed_afterwards_is_all_that_there_was(void **state)
{
    (void)state;
    for (int i = 0; i < OPERAND_COUNT; i++) fy_free(*operands[i]);
    for (int i = 0; i < 2; i++) assert_int_equal(fy_dev_at(i)->live_bytes, 0);
}

static int start(void **state)
{
    record_on_sim(state);
#define X(name, made) \
    FY_SCOPE { name = fy_keep(made); }
    OPERANDS(X)
#undef X
    return fy_error() != NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_that_fails_changes_nothing),
        cmocka_unit_test(what_is_freed_afterwards_is_all_that_there_was),
    };
    return cmocka_run_group_tests_name("unchanged", tests, start, record_no_more);
}
