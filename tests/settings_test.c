/* What a program finds in its environment, and what it sets there itself before and after its first call, with and
 * without a log; and a log of a program that makes no call. Each case is this program again. */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "log.h"
#include "storage.h"
#include "tensor.h"
#include "text.h"

static char own_path[4096], trace[64];

/* ---- the programs ---- */

static void hide_cards(void) { setenv("CUDA_VISIBLE_DEVICES", "", 1); }

static void count_cards(void) { printf("cards %d\n", fy_cuda_device_count()); }

static int run_case(const char *name)
{
    volatile int *volatile unmapped = (volatile int *)8;
    if (strcmp(name, "early") == 0) hide_cards(), count_cards();
    if (strcmp(name, "late") == 0) count_cards(), hide_cards(), count_cards(), count_cards();
    if (strcmp(name, "latest") == 0) fy_ones((2), .device = "cuda"), hide_cards();
    if (strcmp(name, "same") == 0) count_cards(), setenv("CUDA_VISIBLE_DEVICES", "0", 1), count_cards();
    if (strcmp(name, "crash") == 0) *unmapped = 1;
    return 0;
}

/* ---- running one ---- */

static char said[8192];

/* Its output; returns its wait status. */
static int run(const char *environment, const char *name)
{
    char command[8192];
    snprintf(command, sizeof command, "env -u CUDA_VISIBLE_DEVICES FERRY_GPU=sim %s '%s' %s 2>&1", environment,
             own_path, name);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    said[fread(said, 1, sizeof said - 1, f)] = 0;
    return pclose(f);
}

static int times(const char *text)
{
    int n = 0;
    for (const char *p = said; (p = strstr(p, text)); p++) n++;
    return n;
}

static const char *traced(void)
{
    static char environment[100];
    snprintf(trace, sizeof trace, "/tmp/ferry-settings-%d.jsonl", (int)getpid());
    unlink(trace);
    snprintf(environment, sizeof environment, "FERRY_TRACE=%s", trace);
    return environment;
}

/* ---- tests ---- */

static void cards_hidden_before_the_first_call_are_hidden(void **state)
{
    (void)state;
    const char *logs[] = {"", traced(), "FERRY_NARRATE=1", "FERRY_VALUES=1"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(run(logs[i], "early"), 0);
        assert_int_equal(times("cards 0"), 1);
        assert_int_equal(times("too late"), 0);
    }
    unlink(trace);
}

static void a_late_list_of_cards_is_said_once(void **state)
{
    (void)state;
    assert_int_equal(run("", "late"), 0);
    assert_int_equal(times("cards 1"), 3);
    assert_int_equal(times("CUDA_VISIBLE_DEVICES= came too late and has no effect"), 1);
    assert_int_equal(run("FERRY_NARRATE=1", "latest"), 0); /* no call follows: said at the end */
    assert_int_equal(times("came too late"), 1);
    assert_int_equal(run("CUDA_VISIBLE_DEVICES=0", "same"), 0);
    assert_int_equal(times("came too late"), 0);
}

static void the_allocators_settings_are_said_to_be_ignored(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        run(i ? "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True FERRY_NARRATE=1" : "PYTORCH_CUDA_ALLOC_CONF=x",
            "late");
        assert_int_equal(times("ferry: PYTORCH_CUDA_ALLOC_CONF="), 1);
        assert_int_equal(times(" is ignored: the caching allocator has PyTorch's default settings"), 1);
    }
}

static void a_program_without_a_call_has_a_whole_log(void **state)
{
    (void)state;
    assert_int_equal(run(traced(), "none"), 0);
    FILE *f = fopen(trace, "r");
    assert_non_null(f);
    said[fread(said, 1, sizeof said - 1, f)] = 0;
    fclose(f);
    unlink(trace);
    assert_int_equal(times("\n"), 2);
    assert_int_equal(times("\"kind\":\"session\""), 1);
    assert_int_equal(times("\"name\":\"cuda:0\""), 1);
    assert_int_equal(times("\"kind\":\"end\""), 1);
}

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* which have handlers of their own */
static void a_crash_before_the_first_call_is_recorded(void **state)
{
    char err[200];
    (void)state;
    run(traced(), "crash");
    int fd = open(trace, O_RDONLY);
    fy_log *log = fy_log_open(fd, err, sizeof err);
    assert_non_null(log);
    fy_text text = {0};
    uint64_t cursor = 0;
    assert_true(fy_log_read(log, &cursor, &text, SIZE_MAX) >= 2);
    assert_ptr_equal(strstr(text.data, "\"kind\":\"session\""), strstr(text.data, "\"kind\""));
    assert_non_null(strstr(text.data, "segmentation fault"));
    free(text.data);
    fy_log_close(log);
    close(fd);
    unlink(trace);
}
#endif

static void what_has_no_bytes_yet_contains_no_address(void **state)
{
    (void)state;
    fy_tensor *x = fy_ones((1000));
    void *data = x->storage->data;
    assert_ptr_equal(fy_storage_containing((char *)data + 4), x->storage);
    x->storage->data = NULL; /* as while another thread allocates it */
    assert_null(fy_storage_containing(NULL));
    assert_null(fy_storage_containing((void *)8));
    x->storage->data = data;
    fy_free(x);
}

int main(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
    if (argc > 1) return run_case(argv[1]);
    if (n < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards_hidden_before_the_first_call_are_hidden),
        cmocka_unit_test(a_late_list_of_cards_is_said_once),
        cmocka_unit_test(the_allocators_settings_are_said_to_be_ignored),
        cmocka_unit_test(a_program_without_a_call_has_a_whole_log),
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
        cmocka_unit_test(a_crash_before_the_first_call_is_recorded),
#endif
        cmocka_unit_test(what_has_no_bytes_yet_contains_no_address),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
