/* .npy files: every dtype, byte order and layout; saved files equal numpy.save's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dtype.h"
#include "npy_files.h"
#include "recorded.h"
#include "tensor.h"

#define TEST(name) static void name(void **state)

/* ---- loading ---- */

static const unsigned char one_and_a_half[][8] = {{0, 0x3e},
                                                  {0, 0, 0xc0, 0x3f},
                                                  {0, 0, 0, 0, 0, 0, 0xf8, 0x3f},
                                                  {0xfe, 0xff, 0xff, 0xff},
                                                  {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

TEST(every_dtype_is_read_in_both_byte_orders)
{
    static const struct {
        const char *code;
        fy_dtype dtype;
        int size, bytes;
        double value;
    } cases[] = {{"f2", FY_FLOAT16, 2, 0, 1.5},
                 {"f4", FY_FLOAT32, 4, 1, 1.5},
                 {"f8", FY_FLOAT64, 8, 2, 1.5},
                 {"i4", FY_INT32, 4, 3, -2},
                 {"i8", FY_INT64, 8, 4, -2}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int big = 0; big < 2; big++) {
            char header[100], elements[16] = {0};
            int size = cases[i].size;
            for (int b = 0; b < size; b++)
                elements[size + b] = (char)one_and_a_half[cases[i].bytes][big ? size - 1 - b : b];
            snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': False, 'shape': (2,), }\n",
                     big ? '>' : '<', cases[i].code);
            fy_tensor *x = fy_load_npy(write_npy(1, header, elements, 2 * (size_t)size));
            assert_non_null(x);
            assert_int_equal(fy_dtype_of(x), cases[i].dtype);
            assert_true(fy_real_at(cases[i].dtype, fy_data(x), 0) == 0);
            assert_true(fy_real_at(cases[i].dtype, fy_data(x), 1) == cases[i].value);
            fy_free(x);
        }
    }
}

TEST(bytes_and_truth_values_are_read)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *u =
            fy_load_npy(write_npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "\0\7\xff", 3));
        assert_int_equal(fy_dtype_of(u), FY_UINT8);
        assert_true(fy_integer_at(FY_UINT8, fy_data(u), 2) == 255);
        fy_tensor *b =
            fy_load_npy(write_npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\0\1\x02", 3));
        assert_int_equal(fy_dtype_of(b), FY_BOOL);
        assert_memory_equal(fy_data(b), "\0\1\1", 3); /* bools are normalized to 0 or 1 */
    }
}

TEST(fortran_order_becomes_strides)
{
    (void)state;
    FY_SCOPE
    {
        int64_t elements[6] = {0, 3, 1, 4, 2, 5};
        fy_tensor *x =
            fy_load_npy(write_npy(1, "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }", elements, 48));
        assert_true(HAS_STRIDES(x, 1, 2));
        assert_true(HOLDS(x, 0, 1, 2, 3, 4, 5));
        assert_false(fy_is_contiguous(x));
    }
}

TEST(headers_are_read_as_python_reads_them)
{
    static const char *headers[] = {
        "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1)}",
        "{\"shape\": (2,1,), \"descr\": \"<i8\", \"fortran_order\": False}          \n",
        "{ 'fortran_order' : False , 'shape' : ( 2L , 1L ) , 'descr' : '<i8' , }\n",
        "{'descr':'=i8','fortran_order':False,'shape':(2,1)}",
    };
    (void)state;
    FY_SCOPE
    {
        int64_t elements[2] = {5, -6};
        for (int version = 1; version <= 3; version++) {
            for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
                fy_tensor *x = fy_load_npy(write_npy(version, headers[i], elements, 16));
                assert_true(HAS_SHAPE(x, 2, 1));
                assert_true(HOLDS(x, 5, -6));
            }
        }
        fy_tensor *zero =
            fy_load_npy(write_npy(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (), }", elements, 8));
        assert_int_equal(fy_dim(zero), 0);
        assert_true(fy_item(zero) == 5);
        assert_true(HAS_SHAPE(
            fy_load_npy(write_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", 0, 0)), 0, 3));
    }
}

TEST(loading_is_recorded_as_a_write_of_the_hosts)
{
    (void)state;
    FY_SCOPE
    {
        float elements[2] = {1, 2};
        const char *path = write_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", elements, 8);
        since();
        fy_tensor *weights = fy_load_npy(path);
        assert_string_equal(kinds(), "alloc tensor host_write");
        assert_string_equal(text_of(event_of("host_write", 0), "via"), "load");
        assert_int_equal(number_of(event_of("host_write", 0), "count"), 2);
        assert_string_equal(text_of(event_of("tensor", 0), "name"), "weights");
        assert_true(HOLDS(fy_cuda(weights), 1, 2));
    }
}

/* ---- saving ---- */

/* The header that numpy.save writes; the elements follow. */
static void assert_saved(const char *path, const char *header, const void *elements, size_t bytes)
{
    char file[1024];
    size_t n = read_bytes(path, file, sizeof file), length = strlen(header);
    assert_memory_equal(file, "\x93NUMPY\1\0\x76\0", 10);
    assert_int_equal(n, 128 + bytes);
    assert_memory_equal(file + 10, header, length);
    for (size_t i = 10 + length; i < 127; i++) assert_int_equal(file[i], ' ');
    assert_int_equal(file[127], '\n');
    if (bytes) assert_memory_equal(file + 128, elements, bytes);
}

TEST(files_are_numpys_byte_for_byte)
{
    (void)state;
    FY_SCOPE
    {
        const char *path = npy_path("saved.npy");
        float rows[6] = {0, 3, 1, 4, 2, 5};
        fy_tensor *m = fy_view(fy_arange((6), .dtype = FY_FLOAT32), (2, 3));
        assert_true(fy_save_npy(path, fy_t(m)));
        assert_saved(path, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", rows, 24);
        assert_true(fy_save_npy(path, fy_full((), -2, .dtype = FY_INT64)));
        assert_saved(path, "{'descr': '<i8', 'fortran_order': False, 'shape': (), }", &(int64_t){-2}, 8);
        assert_true(fy_save_npy(path, fy_gt(fy_tensor((1, 0)), 0)));
        assert_saved(path, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\1\0", 2);
        assert_true(fy_save_npy(path, fy_zeros((2, 0), .dtype = FY_FLOAT16)));
        assert_saved(path, "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 0), }", "", 0);
        assert_true(fy_save_npy(path, fy_view(fy_full((1), 7, .dtype = FY_UINT8), FY_BOOL)));
        assert_saved(path, "{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", "\1", 1);
    }
}

TEST(what_is_saved_is_loaded_again)
{
    static const struct {
        fy_dtype dtype;
    } cases[] = {{FY_FLOAT16}, {FY_FLOAT32}, {FY_FLOAT64}, {FY_INT32}, {FY_INT64}, {FY_UINT8}, {FY_BOOL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FY_SCOPE
        {
            const char *path = npy_path("again.npy");
            fy_tensor *x = fy_to(fy_view(fy_arange((24)), (2, 3, 4)), cases[i].dtype),
                      *v = fy_slice(fy_permute(x, (2, 0, 1)), 2, 0, FY_END, 2);
            assert_true(fy_save_npy(path, i % 2 ? fy_cuda(v) : v));
            fy_tensor *y = fy_load_npy(path);
            assert_int_equal(fy_dtype_of(y), cases[i].dtype);
            assert_true(HAS_SHAPE(y, 4, 2, 2));
            assert_true(fy_item(fy_all(fy_eq(y, v))) == 1);
        }
    }
    fy_tensor *deep = fy_ones((1, 2, 1, 1, 3, 1, 1, 1));
    assert_true(fy_save_npy(npy_path("deep.npy"), deep));
    fy_tensor *again = fy_load_npy(npy_path("deep.npy"));
    assert_true(HAS_SHAPE(again, 1, 2, 1, 1, 3, 1, 1, 1));
    fy_free(again);
    fy_free(deep);
}

TEST(saving_is_recorded_as_a_read_of_the_hosts)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2)), *g = fy_cuda(x);
        since();
        assert_true(fy_save_npy(npy_path("x.npy"), x));
        assert_string_equal(kinds(), "host_read");
        assert_string_equal(text_of(event_of("host_read", 0), "via"), "save");
        since();
        assert_true(fy_save_npy(npy_path("x.npy"), g));
        assert_string_equal(kinds(), "copy complete sync host_read");
        assert_string_equal(text_of(event_of("copy", 0), "dir"), "d2h");
        assert_string_equal(text_of(event_of("copy", 0), "why"), "save");
    }
}

TEST(links_are_followed_and_rights_kept)
{
    (void)state;
    FY_SCOPE
    {
        struct stat about;
        const char *file = write_bytes("real.npy", "old", 3), *link = npy_path("link.npy");
        assert_int_equal(chmod(file, 0640), 0);
        assert_int_equal(symlink("real.npy", link), 0);
        assert_true(fy_save_npy(link, fy_ones((2))));
        assert_int_equal(lstat(link, &about), 0);
        assert_true(S_ISLNK(about.st_mode));
        assert_int_equal(stat(file, &about), 0);
        assert_int_equal(about.st_mode & 0777, 0640);
        assert_int_equal(about.st_size, 136);
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_is_read_in_both_byte_orders),
        cmocka_unit_test(bytes_and_truth_values_are_read),
        cmocka_unit_test(fortran_order_becomes_strides),
        cmocka_unit_test(headers_are_read_as_python_reads_them),
        cmocka_unit_test(loading_is_recorded_as_a_write_of_the_hosts),
        cmocka_unit_test(files_are_numpys_byte_for_byte),
        cmocka_unit_test(what_is_saved_is_loaded_again),
        cmocka_unit_test(saving_is_recorded_as_a_read_of_the_hosts),
        cmocka_unit_test(links_are_followed_and_rights_kept),
    };
    int failed = cmocka_run_group_tests_name("npy", tests, make_npy_folder, remove_npy_folder);
    recorded_end();
    return failed;
}
