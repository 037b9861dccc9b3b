/* When real cards are opened: lib/devices/device.c on the fake CUDA runtime, which replaces the library that is loaded
 * on a machine with a driver. Devices are opened once per process, so each case runs in a child. */
#include "device.h"
#include "cuda_on_fake.h"
#undef fy_dev_at /* the library's functions from here on */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_library.h"
#include "text.h"
#include "tensor.h"

/* Replaces the function that looks for a driver and a file. */
const fy_backend *fy_cuda_library(bool anyway, char *why, size_t room)
{
    (void)anyway, (void)why, (void)room;
    return &fy_backend_cuda;
}

/* Runs `body` in a child with FERRY_GPU=auto; its status is 0 unless it exits with another. */
static int child(void (*body)(void))
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("FERRY_GPU", "auto", 1);
        unsetenv("CUDA_MODULE_LOADING");
        body();
        _exit(0);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define IS(fact) \
    if (!(fact)) fprintf(stderr, "# line %d: %s; calls: %s\n", __LINE__, #fact, fake.calls), _exit(1)

static void compute_on_cpu(void)
{
    fy_tensor *a = fy_randn((40, 40)), *b = fy_matmul(a, a);
    fy_tensor *c = fy_to(fy_sum(fy_add(b, 1)), "cpu");
    fy_print(c);
    fy_item(c);
}

static void uses_cpu_only(void)
{
    compute_on_cpu();
    IS(fake.calls[0] == 0);
}

static void forks_first(void)
{
    compute_on_cpu();
    if (fork() == 0) {
        compute_on_cpu();
        _exit(fake.calls[0] != 0);
    }
    int status = 1;
    wait(&status);
    IS(status == 0 && fake.calls[0] == 0);
}

static void names_a_card(void)
{
    compute_on_cpu();
    fy_tensor *b = fy_cuda(fy_ones((3)));
    IS(fy_item(fy_sum(b)) == 3);
    IS(strncmp(fake.calls, "GetDeviceCount ", 15) == 0 && strstr(fake.calls, "Launch") && !fake.lazy);
    IS(!strstr(fake.calls, "SetDevice:1")); /* only one card was opened */
    IS(fy_dev_count() == 3 && !fy_dev_why_not_real() && !fy_dev_model_clock());
}

static void counts(void) { IS(fy_cuda_device_count() == 2 && !fake.context[0] && !fake.context[1]); }

/* What the first line of a log asks for. */
static void describes_its_devices(void)
{
    fy_text devices = {0};
    fy_dev_session_json(&devices);
    IS(strstr(devices.data, "Fake Card 1") && !fake.context[0] && !fake.context[1]);
    free(devices.data);
}

/* The clock must be the card's from the first reading on. */
static void reads_clock(void)
{
    fy_now();
    IS(fake.calls[0] != 0 && !fake.context[0] && !fy_dev_model_clock());
}

/* Whatever was there: the fake's memory is 0. */
static void reads_fresh_memory(void)
{
    for (int logged = 0; logged < 2; logged++) {
        fake_log_is_on = logged;
        IS(isnan(fy_item(fy_sum(fy_empty((1000), .device = "cuda")))));
        IS(fy_item(fy_empty_like(fy_ones((1), .dtype = FY_INT64, .device = "cuda"))) == -1);
        begin_calls();
        IS(fy_item(fy_sum(fy_ones((1000), .device = "cuda"))) == 1000 && !strstr(fake.calls, "Memset"));
    }
}

static void reads_fresh_memory_unfilled(void)
{
    setenv("FERRY_FILL", "0", 1);
    IS(fy_item(fy_sum(fy_empty((1000), .device = "cuda"))) == 0 && !strstr(fake.calls, "Memset"));
}

/* Else the fill could come after what that stream wrote. Once is enough, and in its own stream none is. */
static void writes_fresh_memory_in_another_stream(void)
{
    fy_stream *side = fy_cuda_stream();
    fy_tensor *x = fy_empty((4), .device = "cuda");
    begin_calls();
    fy_fill_(x, 1);
    IS(!strstr(fake.calls, "Wait"));
    FY_STREAM(side)
    {
        begin_calls();
        fy_fill_(x, 2);
        const char *waits = strstr(fake.calls, "StreamWaitEvent"), *runs = strstr(fake.calls, "Launch");
        IS(waits && runs && waits < runs);
        begin_calls();
        fy_fill_(x, 3);
        IS(!strstr(fake.calls, "Wait"));
    }
    int events = fake.events;
    fy_free(x);
    x = fy_empty((4), .device = "cuda");
    IS(fake.events == events); /* the point is used again */
}

static void is_too_old(void)
{
    fake.sm = 61;
    compute_on_cpu();
    IS(fy_item(fy_sum(fy_cuda(fy_ones((3))))) == 3);
    IS(fy_dev_count() == 2 && strcmp(fy_dev_at(1)->backend->kind, "sim") == 0);
    IS(strcmp(fy_dev_why_not_real(),
              "card too old for this build: Fake Card 0 is sm_61, and the oldest kernels are for sm_75") == 0);
    IS(fy_dev_model_clock() && !strstr(fake.calls, "Malloc"));
}

static void has_no_multiprocessors(void)
{
    fake.multiprocessors = 0;
    IS(fy_item(fy_sum(fy_ones((3), .device = "cuda"))) == 3); /* the simulated card's */
    fy_randn((4), .device = "cuda");
    IS(strstr(fy_dev_why_not_real(), "Fake Card 0 says that it has 0 multiprocessors"));
}

#define CASE(name, body) \
    static void name(void **state) \
    { \
        (void)state; \
        fake_reset(2); \
        assert_int_equal(child(body), 0); \
    }

CASE(a_program_on_the_cpu_alone_calls_nothing_of_cuda, uses_cpu_only)
CASE(nor_do_its_children, forks_first)
CASE(the_first_card_named_is_opened_and_no_other, names_a_card)
CASE(counting_cards_creates_no_context, counts)
CASE(nor_does_the_first_line_of_a_log, describes_its_devices)
CASE(the_clock_is_the_cards_from_the_first_look_on, reads_clock)
CASE(fresh_memory_is_nan_with_a_log_and_without, reads_fresh_memory)
CASE(it_keeps_its_old_values_where_that_is_asked_for, reads_fresh_memory_unfilled)
CASE(another_streams_first_use_comes_after_the_fill, writes_fresh_memory_in_another_stream)
CASE(a_card_of_no_multiprocessors_is_simulated_and_that_is_said, has_no_multiprocessors)
CASE(a_card_too_old_is_simulated_and_that_is_said, is_too_old)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_on_the_cpu_alone_calls_nothing_of_cuda),
        cmocka_unit_test(nor_do_its_children),
        cmocka_unit_test(the_first_card_named_is_opened_and_no_other),
        cmocka_unit_test(counting_cards_creates_no_context),
        cmocka_unit_test(nor_does_the_first_line_of_a_log),
        cmocka_unit_test(the_clock_is_the_cards_from_the_first_look_on),
        cmocka_unit_test(fresh_memory_is_nan_with_a_log_and_without),
        cmocka_unit_test(it_keeps_its_old_values_where_that_is_asked_for),
        cmocka_unit_test(another_streams_first_use_comes_after_the_fill),
        cmocka_unit_test(a_card_of_no_multiprocessors_is_simulated_and_that_is_said),
        cmocka_unit_test(a_card_too_old_is_simulated_and_that_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
