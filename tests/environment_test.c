/* FERRY_GPU and FERRY_SIM, their invalid values, and device names. Devices are opened once per process, so each case
 * runs in a child. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "device.h"
#include "forked.h"
#include "log.h"
#include "text.h"

static void run_with(const char *gpu, const char *sim, void (*program)(void))
{
    run_forked(program, ENVIRONMENT("FERRY_GPU", gpu, "FERRY_SIM", sim), true);
}

static void assert_refused(const char *text)
{
    assert_exited_with(1);
    assert_said(text);
}

/* ---- programs ---- */

static void print_devices(void)
{
    fy_text json = {0};
    fy_dev_session_json(&json);
    printf("count %d available %d\n%.*s\n", fy_cuda_device_count(), fy_cuda_is_available(), (int)json.size, json.data);
    printf("why %s\n", fy_dev_why_not_real() ? fy_dev_why_not_real() : "none");
    if (fy_dev_at(1)) printf("capacity %lld\n", (long long)fy_dev_at(1)->capacity);
    free(json.data);
}

static void use_cuda(void) { fy_zeros((2), .device = "cuda"); }

static void fill_card(void)
{
    fy_tensor *half = fy_zeros((8, 1 << 20)); /* 32 MiB */
    fy_tensor *on_card = fy_cuda(half);
    (void)on_card;
    fy_on_error(FY_RETURN);
    fy_tensor *second = fy_ones((8, 1 << 20), .device = "cuda"), *small = fy_ones((3), .device = "cuda");
    printf("%s\n%s, then sum %g\n", fy_error(), second ? "fits" : "full", fy_item(fy_sum(small)));
}

static void need_a_large_segment(void)
{
    fy_on_error(FY_RETURN);
    fy_ones((3, 1 << 17), .device = "cuda"); /* 1.5 MiB */
    printf("%s\n", fy_error());
}

static const char *const names[] = {"cpu",      "cpu:0",   "cuda",    "cuda:0",  "",
                                    "gpu",      "CUDA",    "other:0", "cuda:",   "cuda:-1",
                                    "cuda:01",  "cuda:1a", "cuda 0",  "cuda:0 ", "cuda:99999999999",
                                    "cuda:300", "cuda:7",  "cpu:1",   "meta",    ":0"};

static void parse_names(void)
{
    fy_on_error(FY_RETURN);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fy_dev *d = fy_dev_parse(NULL, names[i]);
        printf("[%s] %s\n", names[i], d ? d->name : fy_error());
        fy_clear_error();
    }
    printf("[NULL] %s\n", fy_dev_parse(NULL, NULL) ? "?" : fy_error());
}

/* ---- tests ---- */

static void sim_is_512_mib_of_an_h200_and_says_so(void **state)
{
    (void)state;
    run_with("sim", NULL, print_devices);
    assert_said("count 1 available 1");
    assert_said("\"kind\":\"sim\",\"card\":\"NVIDIA H200 (simulated)\",\"capacity\":536870912,"
                "\"physical\":0,\"model\":{");
    assert_said("why FERRY_GPU=sim asks for the simulated card");
}

static void none_means_no_cuda_and_the_cpu_works(void **state)
{
    (void)state;
    run_with("none", NULL, print_devices);
    assert_said("count 0 available 0");
    assert_null(strstr(last_child.output, "cuda:0"));
    run_with("none", NULL, use_cuda);
    assert_refused("No CUDA GPUs are available (FERRY_GPU=none)");
    assert_said("fix: ");
}

/* Also passes on a machine with a card, where the real one is used. */
static void auto_uses_a_card_or_reports_why_not(void **state)
{
    (void)state;
    run_with(NULL, NULL, print_devices);
    assert_said("count 1 available 1");
    if (strstr(last_child.output, "\"kind\":\"real\"")) return;
    static const char *const reasons[] = {"no NVIDIA driver was found",
                                          "the NVIDIA driver is too old",
                                          "no NVIDIA card was found",
                                          "no permission to use the card",
                                          "card too old",
                                          "the kernels for a real card are not built"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (!strncmp(strstr(last_child.output, "why ") + 4, reasons[i], strlen(reasons[i]))) return;
    fail_msg("%s", last_child.output);
}

/* Readers of modelled times get a note that the card is simulated; other programs do not. */
static void why_the_card_is_simulated_is_said_once_to_viewers(void **state)
{
    static const char *const looking[][2] = {
        {NULL, NULL}, {"FERRY_NARRATE", NULL}, {"FERRY_VIEW", NULL}, {"FERRY_NARRATE", "FERRY_VIEW"}};
    (void)state;
    for (size_t i = 0; i < sizeof looking / sizeof *looking; i++) {
        for (int k = 0; k < 2; k++)
            if (looking[i][k]) setenv(looking[i][k], "1", 1);
        run_with(NULL, NULL, print_devices);
        unsetenv("FERRY_NARRATE"), unsetenv("FERRY_VIEW");
        if (strstr(last_child.output, "\"kind\":\"real\"")) return;
        int count = 0;
        for (const char *p = last_child.output;
             (p = strstr(p, "is simulated (NVIDIA H200), and its times are modelled, not measured. Reason: ")); p++)
            count++;
        assert_int_equal(count, i > 0);
    }
}

static void read_clock(void)
{
    for (int i = 0; i < 3; i++) fy_now();
}

/* Two of several: data read or rewritten before the copy is done. */
static void make_data_races(void)
{
    for (int i = 0; i < 2; i++) fy_print(fy_to(fy_ones((2), .device = "cuda"), "cpu", .non_blocking = true));
}

static int count_in_output(const char *text)
{
    int n = 0;
    for (const char *p = last_child.output; (p = strstr(p, text)); p++) n++;
    return n;
}

static void readers_of_modelled_times_get_one_note(void **state)
{
    (void)state;
    run_with("sim", "old", read_clock);
    assert_int_equal(count_in_output("ferry: times are modelled for NVIDIA GeForce GTX 680 (simulated), not measured"),
                     1);
    run_with("sim", NULL, use_cuda);
    assert_int_equal(count_in_output("modelled"), 0);
}

static void a_data_race_is_reported_once_with_line_and_fix(void **state)
{
    (void)state;
    run_with("sim", NULL, make_data_races);
    assert_int_equal(count_in_output("data race: nothing makes this wait for fy_"), 1);
    assert_said("ferry: tests/environment_test.c:");
    assert_said("fix: call fy_cuda_synchronize(), or fy_stream_synchronize(");
    run_with("sim", NULL, use_cuda);
    assert_int_equal(count_in_output("data race"), 0);
}

static void a_simulated_cards_log_does_not_depend_on_the_machine(void **state)
{
    char asked[4096];
    (void)state;
    run_with("sim", NULL, print_devices);
    memcpy(asked, strchr(last_child.output, '['), sizeof asked - 100);
    *strchr(asked, '\n') = 0;
    run_with("auto", NULL, print_devices);
    if (!strstr(last_child.output, "\"kind\":\"real\"")) assert_said(asked);
}

static void capacity_is_what_ferry_sim_says_and_no_more(void **state)
{
    (void)state;
    run_with("sim", "h200:capacity=64MiB", print_devices);
    assert_said("capacity 67108864");
    run_with("sim", "H200:capacity=1GB", print_devices);
    assert_said("capacity 1000000000");
    run_with("sim", "", print_devices);
    assert_said("capacity 536870912");
    run_with("sim", "h200:capacity=48MiB", fill_card);
    assert_said("CUDA out of memory. Tried to allocate 32.00 MiB (GPU 0; 48.00 MiB total capacity; 32.00 MiB already "
                "allocated; 16.00 MiB free;");
    assert_said("full, then sum 3");
    run_with("sim", "h200:capacity=8MiB", need_a_large_segment); /* on an empty card */
    assert_said(
        "fix: a tensor of 1.50 MiB needs a segment of 20.00 MiB (tensors of up to 1 MiB need one of 2 MiB), but "
        "cuda:0 has only "
        "8.00 MiB: freeing tensors does not help.");
}

static void nonsense_in_the_environment_is_refused_with_value_and_fix(void **state)
{
    (void)state;
    run_with("fake", NULL, print_devices);
    assert_refused("FERRY_GPU=fake is not a valid value; set FERRY_GPU to auto, sim, real or none");
    run_with("sim", "h201", print_devices);
    assert_refused("FERRY_SIM=h201 is not a known card; known: h200, laptop, old");
    setenv("FERRY_BLAS", "cublas", 1);
    run_with("sim", NULL, print_devices);
    unsetenv("FERRY_BLAS");
    assert_refused("FERRY_BLAS=cublas is not a valid value; set FERRY_BLAS to kernel (");
    run_with("sim", ":capacity=1GiB", print_devices);
    assert_refused("is not a known card");
    run_with("sim", "Makefile:gpus=2", print_devices);
    assert_refused("FERRY_SIM=Makefile:gpus=2: line 3: ");
}

static void a_file_of_parameters_is_a_card(void **state)
{
    char path[] = "/tmp/ferry-card.XXXXXX", sim[60];
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    dprintf(fd, "like = laptop\nname = My card\nbus = 3GB/s\n");
    snprintf(sim, sizeof sim, "%s:gpus=2,latency=7us", path); /* options follow, as with any card */
    run_with("sim", sim, print_devices);
    assert_exited_with(0);
    assert_said("count 2 available 1");
    assert_said("\"card\":\"My card (simulated)\"");
    assert_said("\"memory_bandwidth\":256000000000,\"bus_bandwidth\":3000000000,");
    assert_said("\"bus_latency\":7000,");
    dprintf(fd, "launch = 5\n");
    run_with("sim", sim, print_devices);
    close(fd);
    unlink(path);
    assert_refused("line 4: launch = 5 is not valid; write a number and its unit, as in launch=4us");
}

static void a_card_too_large_here_is_refused_with_a_fix(void **state)
{
    (void)state;
    run_with("sim", "h200:capacity=60000GiB", print_devices);
    if (WIFEXITED(last_child.status) && WEXITSTATUS(last_child.status) == 0)
        return; /* this machine has enough address space */
    assert_refused("cannot create the simulated card");
}

static void names_are_read_as_pytorch_reads_them(void **state)
{
    static const char *const lines[] = {
        "[cpu] cpu\n",
        "[cpu:0] cpu\n",
        "[cuda] cuda:0\n",
        "[cuda:0] cuda:0\n",
        "[] Device string must not be empty\n",
        "[gpu] Expected one of cpu, cuda device type at start of device string: gpu\n",
        "[CUDA] Expected one of cpu, cuda device type at start of device string: CUDA\n",
        "[other:0] Expected one of cpu, cuda device type at start of device string: other\n",
        "[cuda:] Invalid device string: 'cuda:'\n",
        "[cuda:-1] Invalid device string: 'cuda:-1'\n",
        "[cuda:01] Invalid device string: 'cuda:01'\n",
        "[cuda:1a] Invalid device string: 'cuda:1a'\n",
        "[cuda 0] Invalid device string: 'cuda 0'\n",
        "[cuda:0 ] Invalid device string: 'cuda:0 '\n",
        "[cuda:99999999999] Could not parse device index '99999999999' in device string 'cuda:99999999999'\n",
        "[cuda:300] CUDA error: invalid device ordinal (\"cuda:300\", but there is 1 card)\n",
        "[cuda:7] CUDA error: invalid device ordinal (\"cuda:7\", but there is 1 card)\n",
        "[cpu:1] CPU device index must be -1 or zero, got 1 ('cpu:1')\n",
        "[meta] Expected one of cpu, cuda device type at start of device string: meta\n",
        "[:0] Invalid device string: ':0'\n",
        "[NULL] Device string must not be empty (it is NULL)\n",
    };
    (void)state;
    run_with("sim", NULL, parse_names);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) assert_said(lines[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sim_is_512_mib_of_an_h200_and_says_so),
        cmocka_unit_test(none_means_no_cuda_and_the_cpu_works),
        cmocka_unit_test(auto_uses_a_card_or_reports_why_not),
        cmocka_unit_test(why_the_card_is_simulated_is_said_once_to_viewers),
        cmocka_unit_test(readers_of_modelled_times_get_one_note),
        cmocka_unit_test(a_data_race_is_reported_once_with_line_and_fix),
        cmocka_unit_test(a_simulated_cards_log_does_not_depend_on_the_machine),
        cmocka_unit_test(capacity_is_what_ferry_sim_says_and_no_more),
        cmocka_unit_test(nonsense_in_the_environment_is_refused_with_value_and_fix),
        cmocka_unit_test(a_file_of_parameters_is_a_card),
        cmocka_unit_test(a_card_too_large_here_is_refused_with_a_fix),
        cmocka_unit_test(names_are_read_as_pytorch_reads_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
