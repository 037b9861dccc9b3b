/* Which cards are simulated: the cards, parameters and units of FERRY_SIM, CUDA_VISIBLE_DEVICES, and peer access.
 * Devices are opened once per process, so each case runs in a child. */
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

#include "card_params.h"
#include "device.h"
#include "forked.h"
#include "log.h"
#include "text.h"

static void run_with(const char *sim, const char *visible, void (*program)(void))
{
    run_forked(program, ENVIRONMENT("FERRY_GPU", "sim", "FERRY_SIM", sim, "CUDA_VISIBLE_DEVICES", visible), true);
}

static void assert_exited_ok(void) { assert_exited_with(0); }

static void assert_refused(const char *sim, const char *text)
{
    run_with(sim, NULL, (void (*)(void))fy_cuda_device_count);
    assert_exited_with(1);
    assert_said(text);
}

/* ---- programs ---- */

static void print_devices(void)
{
    fy_text json = {0};
    fy_dev_session_json(&json);
    printf("count %d\n%.*s\n", fy_cuda_device_count(), (int)json.size, json.data);
    printf("why %s\n", fy_dev_why_not_real());
    for (int i = 1; i < fy_dev_count(); i++) printf("%d is %d\n", i - 1, fy_dev_at(i)->physical);
    free(json.data);
}

static void print_card_params(void)
{
    const fy_card *c = fy_dev_at(1)->card;
    for (const fy_card_param *f = fy_card_params; f->option; f++)
        printf("%s=%lld\n", f->option, (long long)fy_card_param_get(c, f));
    printf("capacity=%lld\n", (long long)fy_dev_at(1)->capacity);
}

static void print_peers(void)
{
    for (int i = 0; i < fy_cuda_device_count(); i++)
        for (int j = 0; j < fy_cuda_device_count(); j++)
            printf("%d to %d: %d\n", i, j, fy_cuda_can_device_access_peer(i, j));
    fy_on_error(FY_RETURN);
    bool can = fy_cuda_can_device_access_peer(0, 9);
    printf("%d, %s\n", can, fy_error());
    fy_clear_error();
    can = fy_cuda_can_device_access_peer(-1, 0);
    printf("%d, %s\n", can, fy_error());
}

/* ---- FERRY_SIM ---- */

static void every_listed_card_is_found_and_complete(void **state)
{
    (void)state;
    char keys[100], *key, *rest = keys;
    snprintf(keys, sizeof keys, "%s", fy_card_keys());
    while ((key = strsep(&rest, ", ")) != NULL) {
        const fy_card *c = fy_card_find(key);
        if (!*key) continue;
        assert_non_null(c);
        assert_true(c->capacity > 0);
        for (const fy_card_param *f = fy_card_params; f->option; f++)
            if (strcmp(f->option, "peer"))
                assert_in_range(fy_card_param_get(c, f), f->least > 1 ? f->least : 1, f->most);
    }
}

static void every_figure_can_be_overridden_with_its_unit(void **state)
{
    (void)state;
    run_with("laptop:flops=1.5TFLOPS,memory=100GB/s,bus=8GB/s,staging=500MB/s,chunk=128KiB,latency=0ns,call=1.5us,"
             "launch=2ms,kernel=7ns,peer=1TB/s,queue=16,malloc=1us,free=2us,pin=3us,pinning=1GB/s,unpinning=2GB/s,"
             "double=3GFLOPS,half=4TFLOPS,half_peak=5TFLOPS,capacity=1.5GiB",
             NULL, print_card_params);
    assert_exited_ok();
    assert_said("flops=1500000000000\nmemory=100000000000\nbus=8000000000\nstaging=500000000\nchunk=131072\n"
                "latency=0\ncall=1500\nlaunch=2000000\nkernel=7\npeer=1000000000000\nqueue=16\nmalloc=1000\n"
                "free=2000\npin=3000\npinning=1000000000\nunpinning=2000000000\ndouble=3000000000\n"
                "half=4000000000000\nhalf_peak=5000000000000\ncapacity=1610612736\n");
}

static void what_is_not_said_stays_as_the_card_has_it(void **state)
{
    (void)state;
    run_with("OLD:bus=3GB/s", NULL, print_devices);
    assert_exited_ok();
    assert_said("\"card\":\"NVIDIA GeForce GTX 680 (simulated)\",\"capacity\":536870912,\"physical\":0,\"model\":{"
                "\"flops_f32\":3090000000000,\"memory_bandwidth\":192200000000,\"bus_bandwidth\":3000000000,");
}

static void nonsense_is_refused_with_thing_value_and_fix(void **state)
{
    (void)state;
    assert_refused("gtx", "FERRY_SIM=gtx is not a known card; known: h200, laptop, old, as in FERRY_SIM=h200");
    assert_refused("h200:capacity=64",
                   "'capacity=64' is not a valid value for capacity; write a number and its unit, as "
                   "in capacity=64MiB");
    assert_refused("h200:capacity=", "'capacity=' is not a valid value for capacity");
    assert_refused("h200:capacity=-1MiB", "is not a valid value for capacity");
    assert_refused("h200:capacity=1MiB", "at least 2MiB");
    assert_refused("h200:capacity=99999999999999999999GiB", "is not a valid value for capacity");
    assert_refused("h200:capacity=64MiB,x", "FERRY_SIM=h200:capacity=64MiB,x: there is no option 'x'; known: gpus, "
                                            "capacity, flops, memory, bus, staging, chunk, latency,");
    assert_refused("h200:", "there is no option ''");
    assert_refused("h200:gpus=9", "'gpus=9' is not a valid number of cards; write gpus=2 (1 to 8)");
    assert_refused("h200:gpus=0", "'gpus=0' is not a valid number of cards");
    assert_refused("h200:bus=8", "'bus=8' is not a valid value for bus; write a number and its unit, as in bus=8GB/s");
    assert_refused("h200:bus=8us", "'bus=8us' is not a valid value for bus");
    assert_refused("h200:bus=.GB/s", "is not a valid value for bus");
    assert_refused("h200:bus=1.GB/s", "is not a valid value for bus");
    assert_refused("h200:bus=0GB/s", "is not a valid value for bus");
    assert_refused("h200:bus", "'bus' is not a valid value for bus");
    assert_refused("h200:call=2s",
                   "'call=2s' is not a valid value for call; write a number and its unit, as in call=3us");
    assert_refused("h200:queue=0", "'queue=0' is not a valid value for queue; write a number from 1 to 65536");
    assert_refused("h200:peer=no", "'peer=no' is not a valid value for peer");
}

/* ---- CUDA_VISIBLE_DEVICES ---- */

static void visible_devices_are_renumbered_as_cuda_does(void **state)
{
    (void)state;
    run_with("h200:gpus=4", "2,0", print_devices);
    assert_said("count 2\n");
    assert_said("\"name\":\"cuda:0\",\"kind\":\"sim\",\"card\":\"NVIDIA H200 (simulated)\",\"capacity\":536870912,"
                "\"physical\":2,");
    assert_said("0 is 2\n1 is 0\n");
    run_with("h200:gpus=4", NULL, print_devices);
    assert_said("count 4\n");
    assert_said("3 is 3\n");
}

static void the_list_ends_at_the_first_that_is_no_card(void **state)
{
    static const struct {
        const char *list;
        int count;
    } cases[] = {{"0,1,2,3", 4}, {"0,7,1", 1},       {"1,-1,2", 1}, {"", 0},  {"-1", 0},   {"x", 0},
                 {"3,", 1},      {"1,1", 1},         {"2 ", 0},     {"9", 0}, {"0,,1", 1}, {"GPU-12", 0},
                 {"01", 1},      {"100000000000", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[20];
        run_with("h200:gpus=4", cases[i].list, print_devices);
        assert_exited_ok();
        snprintf(wanted, sizeof wanted, "count %d\n", cases[i].count);
        assert_said(wanted);
    }
}

static void where_none_is_visible_it_is_said_why(void **state)
{
    (void)state;
    run_with("h200", "", print_devices);
    assert_said("why CUDA_VISIBLE_DEVICES hides every simulated card");
}

/* ---- peers ---- */

static void cards_see_each_other_unless_disabled(void **state)
{
    (void)state;
    run_with("h200:gpus=3", "0,2", print_peers);
    assert_said("0 to 0: 0\n0 to 1: 1\n1 to 0: 1\n1 to 1: 0\n");
    assert_said("fy_cuda_can_device_access_peer: CUDA error: invalid device ordinal (\"cuda:9\"");
    assert_said("Invalid device id: -1");
    run_with("h200:gpus=2,peer=off", NULL, print_peers);
    assert_said("0 to 0: 0\n0 to 1: 0\n1 to 0: 0\n1 to 1: 0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_listed_card_is_found_and_complete),
        cmocka_unit_test(every_figure_can_be_overridden_with_its_unit),
        cmocka_unit_test(what_is_not_said_stays_as_the_card_has_it),
        cmocka_unit_test(nonsense_is_refused_with_thing_value_and_fix),
        cmocka_unit_test(visible_devices_are_renumbered_as_cuda_does),
        cmocka_unit_test(the_list_ends_at_the_first_that_is_no_card),
        cmocka_unit_test(where_none_is_visible_it_is_said_why),
        cmocka_unit_test(cards_see_each_other_unless_disabled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
