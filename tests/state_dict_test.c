/* State dicts: NumPy's archives of what a module holds, and archives that are not what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorded.h"
#include "tensor.h"

#define TEST(name) static void name(void **state)

static char path[] = "/tmp/ferry-state-dict-XXXXXX";

static fy_module *two_layers(void) { return fy_sequential((fy_nn_linear(3, 4), fy_nn_relu(), fy_nn_linear(4, 2))); }

/* ---- C14.8, C14.9 ---- */

TEST(values_are_loaded_into_what_is_there)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *saved = two_layers(), *other = two_layers();
        fy_module_to(saved, "cuda");
        fy_module_to(other, FY_FLOAT64);
        fy_tensor *weight = fy_get_parameter(other, "2.weight");
        assert_true(fy_save_state_dict(saved, path));
        since();
        assert_true(fy_load_state_dict(other, path));
        assert_string_equal(text_of(event_of("copy", 0), "dir"), "h2d"); /* where it was saved */
        assert_ptr_equal(fy_get_parameter(other, "2.weight"), weight);
        assert_string_equal(fy_device(weight), "cpu");
        assert_int_equal(fy_dtype_of(weight), FY_FLOAT64);
        assert_true(fy_is_leaf(weight) && fy_requires_grad(weight));
        for (int64_t i = 0; i < 8; i++)
            assert_true(element(weight, i) == element(fy_get_parameter(saved, "2.weight"), i));
        since();
        assert_true(fy_load_state_dict(other, path, .map_location = "cpu"));
        assert_null(event_of("copy", 0));
        fy_module_free(saved);
        fy_module_free(other);
    }
}

TEST(what_does_not_fit_is_named_and_nothing_changes)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *saved = fy_sequential((fy_nn_linear(3, 2), fy_nn_linear(2, 2)));
        fy_module *narrow = fy_sequential((fy_nn_linear(3, 2), fy_nn_linear(2, 3)));
        fy_module *fewer = fy_sequential((fy_nn_linear(3, 2, .bias = false)));
        fy_module *more = fy_sequential((fy_nn_linear(3, 2), fy_nn_linear(2, 2), fy_nn_embedding(2, 2)));
        double first = element(fy_get_parameter(narrow, "0.weight"), 0);
        assert_true(fy_save_state_dict(saved, path));
        assert_false(fy_load_state_dict(narrow, path));
        assert_true(
            failed_with("Error(s) in loading state_dict for Sequential: size mismatch for 1.weight: copying a param "
                        "with shape torch.Size([2, 2]) from checkpoint, the shape in current model is "
                        "torch.Size([3, 2])."));
        assert_true(element(fy_get_parameter(narrow, "0.weight"), 0) == first);
        assert_false(fy_load_state_dict(fewer, path));
        assert_true(failed_with("Unexpected key(s) in state_dict: \"0.bias\", \"1.weight\", \"1.bias\"."));
        assert_true(fy_load_state_dict(fewer, path, .strict = false));
        assert_true(element(fy_get_parameter(fewer, "0.weight"), 0) == element(fy_get_parameter(saved, "0.weight"), 0));
        assert_false(fy_load_state_dict(more, path));
        assert_true(failed_with("Missing key(s) in state_dict: \"2.weight\"."));
        fy_module *all[] = {saved, narrow, fewer, more};
        for (int i = 0; i < 4; i++) fy_module_free(all[i]);
    }
}

TEST(a_module_without_parameters_is_saved_as_an_empty_archive)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *nothing = fy_nn_relu(), *net = two_layers();
        assert_true(fy_save_state_dict(nothing, path));
        assert_true(fy_load_state_dict(nothing, path));
        assert_false(fy_load_state_dict(net, path));
        assert_true(failed_with("Missing key(s) in state_dict: \"0.weight\""));
        fy_module_free(nothing);
        fy_module_free(net);
    }
}

static void overwrite(long at, const char *with)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
    fputs(with, f);
    fclose(f);
}

TEST(damaged_and_foreign_files_are_errors)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *net = two_layers();
        assert_false(fy_load_state_dict(net, "/none/net.npz"));
        assert_true(failed_with("cannot open '/none/net.npz': No such file"));
        assert_false(fy_save_state_dict(net, "/none/net.npz"));
        assert_true(failed_with("cannot write '/none/net.npz'"));
        assert_true(fy_save_state_dict(net, path));
        overwrite(60, "spoiled"); /* in the first array's header */
        assert_false(fy_load_state_dict(net, path));
        assert_true(failed_with("0.weight.npy"));
        assert_true(fy_save_state_dict(net, path));
        assert_int_equal(truncate(path, 700), 0);
        assert_false(fy_load_state_dict(net, path));
        assert_true(failed_with("cannot open"));
        fy_module_to(net, FY_BFLOAT16);
        assert_false(fy_save_state_dict(net, path));
        assert_true(failed_with("NumPy has no such type"));
        fy_module_free(net);
    }
}

/* Sets the sizes that the archive tells of its first array, whose bytes are in the file as they are. */
static void lie_about_size(uint32_t bytes)
{
    static char file[1 << 20];
    FILE *f = fopen(path, "r+b");
    size_t n = fread(file, 1, sizeof file, f);
    for (size_t i = 0; i + 46 < n; i++)
        if (!memcmp(file + i, "PK\1\2", 4)) {
            memcpy(file + i + 24, &bytes, sizeof bytes);
            break;
        }
    rewind(f);
    fwrite(file, 1, n, f);
    fclose(f);
}

TEST(an_archive_is_not_believed_about_its_sizes)
{
    (void)state;
    FY_SCOPE
    {
        fy_module *large = fy_nn_linear(200, 200, .bias = false), *net = fy_nn_linear(2, 2, .bias = false);
        assert_true(fy_save_state_dict(large, path));
        assert_false(fy_load_state_dict(net, path));
        assert_true(failed_with("has 160128 bytes; the module's tensor needs at most 131104"));
        lie_about_size(144);
        assert_false(fy_load_state_dict(net, path));
        assert_true(failed_with("has more than 131104 bytes; the module's tensor needs at most 131104"));
        fy_module_free(large);
        fy_module_free(net);
    }
}

TEST(a_device_that_is_not_there_asks_for_map_location)
{
    (void)state;
    FY_SCOPE
    {
        char file[2048];
        fy_module *net = fy_nn_linear(2, 1);
        fy_module_to(net, "cuda");
        assert_true(fy_save_state_dict(net, path));
        FILE *f = fopen(path, "rb");
        size_t n = fread(file, 1, sizeof file, f);
        fclose(f);
        for (size_t i = 0; i + 6 <= n; i++)
            if (!memcmp(file + i, "cuda:0", 6)) overwrite((long)i, "cuda:7");
        assert_false(fy_load_state_dict(net, path));
        assert_true(
            failed_with("Attempting to deserialize 'weight' on cuda:7, where it was saved, but this machine has 1 "
                        "card"));
        assert_true(fy_load_state_dict(net, path, .map_location = "cpu"));
        fy_module_free(net);
    }
}

/* A module whose one parameter is that of the module in it. */
typedef struct tied {
    fy_module base;
    fy_module *inner;
} tied;

static fy_tensor *forward(void *module, fy_tensor *x) { return fy_call(((tied *)module)->inner, x); }

TEST(a_tied_weight_is_saved_under_both_names)
{
    (void)state;
    FY_SCOPE
    {
        tied *net = fy_module_new(tied, forward);
        net->inner = fy_submodule(net, "inner", fy_nn_linear(2, 1, .bias = false));
        fy_tensor *w = fy_parameter(net, "weight", fy_get_parameter(net->inner, "weight"));
        double first = element(w, 0);
        assert_true(fy_save_state_dict(net, path));
        FY_NO_GRAD fy_fill_(w, 7);
        assert_true(fy_load_state_dict(net, path));
        assert_true(element(w, 0) == first);
        fy_module *alone = fy_nn_linear(2, 1, .bias = false);
        assert_false(fy_load_state_dict(alone, path));
        assert_true(failed_with("Unexpected key(s) in state_dict: \"inner.weight\""));
        fy_module_free(alone);
        fy_module_free(&net->base);
    }
}

static int begin(void **state)
{
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    return record_on_sim(state);
}

static int end(void **state)
{
    unlink(path);
    return record_no_more(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_loaded_into_what_is_there),
        cmocka_unit_test(what_does_not_fit_is_named_and_nothing_changes),
        cmocka_unit_test(a_module_without_parameters_is_saved_as_an_empty_archive),
        cmocka_unit_test(damaged_and_foreign_files_are_errors),
        cmocka_unit_test(an_archive_is_not_believed_about_its_sizes),
        cmocka_unit_test(a_device_that_is_not_there_asks_for_map_location),
        cmocka_unit_test(a_tied_weight_is_saved_under_both_names),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
