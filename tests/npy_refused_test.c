/* Invalid .npy files: each has its own message, costs nothing, and leaves nothing behind. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "device.h"
#include "npy_files.h"
#include "recorded.h"

#define TEST(name) static void name(void **state)

/* Loading fails with the file's name and these words, and records only the error. */
static void refused(const char *path, const char *words)
{
    int64_t live = fy_dev_at(0)->live_bytes;
    since();
    fy_tensor *x = fy_load_npy(path);
    if (x) fail_msg("%s was loaded; wanted: %s", path, words);
    assert_true(!fy_error() || strstr(fy_error(), path));
    assert_true(failed_with(words));
    assert_string_equal(kinds(), "error");
    assert_int_equal(fy_dev_at(0)->live_bytes, live);
}

TEST(headers_that_lie_or_cannot_be_read_are_refused)
{
    static const struct {
        const char *header, *words;
    } cases[] = {
        {"", "has a malformed header: expected a brace before ''"},
        {"{}", "has no 'descr' in its header"},
        {"{'descr': '<f4', 'shape': (1,)}", "has no 'fortran_order' in its header"},
        {"{'descr': '<f4', 'fortran_order': False}", "has no 'shape' in its header"},
        {"{'descr': '<f4', 'descr': '<f4'}", "has a second 'descr' in its header"},
        {"{'colour': 'red'}", "has an unknown key 'colour' in its header"},
        {"{'descr': '<f4', 'fortran_order': 1}", "expected True or False before '1}'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 3}", "expected a shape in parentheses before '3}'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3)}", "expected a comma before ')}'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,,)}", "expected a size before ',)}'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", "expected a size before ''"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "expected the end of the header before 'x'"},
        {"{'descr': '<f4", "expected a closing quote before ''"},
        {"{'descr' '<f4'}", "expected a colon before"},
        {"{'a\\x41': 1}", "expected a short string without escapes before"},
        {"{'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa': 1}", "expected a short string without escapes before"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "holds Python objects (dtype '|O')"},
        {"{'descr': [('x', '<f4'), ('y', '<f4')], 'fortran_order': False, 'shape': (1,)}", "holds records"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "holds elements of dtype '<c8', which Ferry"},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (1,)}", "holds elements of dtype '<i2', which Ferry"},
        {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", "holds elements of dtype '', which Ferry"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
         "has the size -1 in its shape: a size must be 0 or more"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "larger than an int64"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "too large for any memory"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}",
         "is truncated: shape (1000000000000) of float64 needs 8000000000000 bytes, but 0 follow the header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1)}",
         "has more than 8 dimensions"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(write_npy(1, cases[i].header, NULL, 0), cases[i].words);
    refused(write_npy(4, "{}", NULL, 0), "has version 4.0 of the format; 1, 2 and 3 are known");
}

TEST(files_cut_short_or_too_long_are_refused)
{
    const char *header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
    int elements[3] = {1, 2, 3};
    char file[200];
    (void)state;
    size_t whole = read_bytes(write_npy(1, header, elements, 8), file, sizeof file);
    assert_int_equal(whole, 10 + strlen(header) + 8);
    for (size_t n = 0; n < whole; n++) refused(write_bytes("cut.npy", file, n), n < 10 ? "too short" : "is truncated");
    refused(write_npy(1, header, elements, 12),
            "has bytes after its array: shape (2) of int32 needs 8 bytes, but 12 follow");
    refused(write_npy(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (0, 4611686018427387904), }", elements, 4),
            "has bytes after its array");
    refused(write_bytes("long.npy", "\x93NUMPY\2\0\xff\xff\xff\xff{}", 14), "its header should be 4294967295 bytes");
    refused(write_bytes("zip.npz", "PK\3\4..........", 14), "is a zip archive, not a .npy file");
    refused(write_bytes("text.csv", "1,2,3\n4,5,6\n7,8,9\n", 18), "it does not begin with \\x93NUMPY");
}

/* Two megabytes of blanks: a header by its length, but not an array's. */
TEST(a_header_of_megabytes_is_refused)
{
    (void)state;
    char *file = malloc(2 << 20);
    memset(file, ' ', 2 << 20);
    memcpy(file, "\x93NUMPY\2\0\0\0\x10\0", 12);
    refused(write_bytes("blanks.npy", file, 2 << 20), "claims a header of 1048576 bytes; the maximum is");
    free(file);
}

TEST(what_is_no_file_is_refused_at_once)
{
    (void)state;
    const char *pipe = npy_path("pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    refused(pipe, "is a pipe or a device, not a .npy file");
    refused(npy_folder, "is a folder, not a .npy file");
    refused("/dev/null", "is a pipe or a device");
    refused(npy_path("nothing.npy"), "No such file or directory");
    since();
    assert_null(fy_load_npy(""));
    assert_true(failed_with("the path is empty"));
    assert_null(fy_load_npy(NULL));
    assert_true(failed_with("the path is NULL"));
    const char *locked = write_bytes("locked.npy", "x", 1);
    assert_int_equal(chmod(locked, 0), 0);
    if (access(locked, R_OK)) refused(locked, "Permission denied"); /* root can read every file */
}

/* ---- saving ---- */

#define FAILS(call, words) \
    do { \
        int files = npy_count(); \
        since(); \
        assert_false(call); \
        assert_true(failed_with(words)); \
        assert_string_equal(kinds(), "error"); \
        assert_int_equal(npy_count(), files); \
    } while (0)

TEST(where_nothing_can_be_written_nothing_is)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2)), *half = fy_ones((2), .dtype = FY_BFLOAT16), *dead = NULL;
        char path[4200];
        FAILS(fy_save_npy(npy_path("x.npy"), half), "Got unsupported ScalarType BFloat16");
        FAILS(fy_save_npy(npy_folder, x), "it is a folder");
        FAILS(fy_save_npy("/dev/null", x), "it is a pipe or a device");
        FAILS(fy_save_npy(npy_path("none/x.npy"), x), "No such file or directory");
        FAILS(fy_save_npy("", x), "the path is empty");
        FAILS(fy_save_npy(NULL, x), "the path is NULL");
        memset(path, 'a', sizeof path - 1);
        path[sizeof path - 1] = 0;
        FAILS(fy_save_npy(path, x), "File name too long");
        assert_false(fy_save_npy(npy_path("x.npy"), dead));
        const char *kept = write_bytes("kept.npy", "kept", 4);
        assert_int_equal(chmod(kept, 0400), 0);
        if (access(kept, W_OK)) FAILS(fy_save_npy(kept, x), "Permission denied"); /* root can write everywhere */
    }
}

/* In a process with a file size limit of 4096 bytes, like on a full disk. */
static int save_on_a_full_disk(const char *path, fy_tensor *x)
{
    struct rlimit little = {4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &little)) return 2;
    if (fy_save_npy(path, x)) return 3;
    return fy_error() && strstr(fy_error(), "File too large") && strstr(fy_error(), "an existing file is unchanged")
               ? 0
               : 4;
}

TEST(a_full_disk_leaves_the_old_file_alone)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((5000));
        const char *path = write_bytes("full.npy", "the old file", 12);
        int files = npy_count(), status;
        pid_t child = fork();
        if (child == 0) _exit(save_on_a_full_disk(path, x));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        char text[40] = "";
        assert_int_equal(read_bytes(path, text, sizeof text), 12);
        assert_string_equal(text, "the old file");
        assert_int_equal(npy_count(), files);
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_that_lie_or_cannot_be_read_are_refused),
        cmocka_unit_test(files_cut_short_or_too_long_are_refused),
        cmocka_unit_test(a_header_of_megabytes_is_refused),
        cmocka_unit_test(what_is_no_file_is_refused_at_once),
        cmocka_unit_test(where_nothing_can_be_written_nothing_is),
        cmocka_unit_test(a_full_disk_leaves_the_old_file_alone),
    };
    int failed = cmocka_run_group_tests_name("npy_refused", tests, make_npy_folder, remove_npy_folder);
    recorded_end();
    return failed;
}
