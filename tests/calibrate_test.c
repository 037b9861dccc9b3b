/* A card from figures that were measured (`ferry calibrate`), and from a file (FERRY_SIM=FILE). */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "calibrate.h"
#include "device.h"
#include "event.h"
#include "learner_folder.h"
#include "timing_model.h"

#define CARD \
    "{\"figure\":\"card\",\"format\":1,\"card\":\"Some " \
    "card\",\"driver\":\"580.1\",\"cuda\":13000,\"date\":\"2026-01-02\"," \
    "\"bytes\":8589934592,\"sm\":89,\"multiprocessors\":24,\"threads_each\":1536}\n"

/* Writes a file in the learner's folder; its path is valid until the next. */
static const char *file_of(const char *text)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/file", learner_folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

/* ---- figures ---- */

/* A card whose every figure is what the model says: calibration must find its parameters. */
static const fy_card truth = {
    .flops_f32 = 12e12,
    .flops_f64 = 2e11,
    .flops_f16 = 40e12,
    .memory_bandwidth = 3e11,
    .bus_bandwidth = 13e9,
    .staging_bandwidth = 7e9,
    .staging_chunk = 4 << 20,
    .bus_latency = 2500,
    .call_overhead = 1800,
    .launch_overhead = 3100,
    .kernel_latency = 1500,
    .launch_queue = 1022,
    .malloc_overhead = 90000,
    .free_overhead = 70000,
    .pin_overhead = 60000,
    .pin_bandwidth = 3.5e9,
    .unpin_bandwidth = 9e9,
};

static int64_t copy_time(fy_word dir, int64_t bytes, bool pinned)
{
    fy_timing *t = fy_timing_make(&truth);
    fy_copy_work w = {.dir = dir, .bytes = (size_t)bytes, .pinned = pinned, .async = true};
    fy_time wait;
    fy_timing_copy(t, 0, &w);
    fy_timing_host_wait(t, w.time.held, fy_timing_tail(t, -1), &wait);
    fy_timing_free(t);
    return w.time.held + wait.held;
}

static void write_copies(FILE *f, int64_t bytes)
{
    for (int way = 0; way < 2; way++)
        for (int pinned = 0; pinned < 2; pinned++)
            fprintf(f, "{\"figure\":\"copy\",\"dir\":\"%s\",\"host\":\"%s\",\"bytes\":%lld,\"ns\":%lld}\n",
                    way ? "d2h" : "h2d", pinned ? "pinned" : "pageable", (long long)bytes,
                    (long long)copy_time(way ? FY_WORD_d2h : FY_WORD_h2d, bytes, pinned));
}

static void write_memory(FILE *f, int64_t bytes)
{
    long long n = bytes, pin = llround((double)bytes * 1e9 / truth.pin_bandwidth) + truth.pin_overhead;
    long long unpin = llround((double)bytes * 1e9 / truth.unpin_bandwidth) + truth.free_overhead;
    fprintf(f, "{\"figure\":\"malloc\",\"bytes\":%lld,\"ns\":%lld}\n", n, (long long)truth.malloc_overhead);
    fprintf(f, "{\"figure\":\"free\",\"bytes\":%lld,\"ns\":%lld}\n", n, (long long)truth.free_overhead);
    fprintf(f, "{\"figure\":\"pin\",\"bytes\":%lld,\"ns\":%lld}\n{\"figure\":\"unpin\",\"bytes\":%lld,\"ns\":%lld}\n",
            n, pin, n, unpin);
}

static const char *true_figures(void)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/figures.jsonl", learner_folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(
        CARD
        "{\"figure\":\"launch\",\"ns\":3100}\n{\"figure\":\"record\",\"ns\":1800}\n{\"figure\":\"query\",\"ns\":1800}\n"
        "{\"figure\":\"marks\",\"stream\":\"busy\",\"kernels\":0,\"ns\":700}\n"
        "{\"figure\":\"marks\",\"stream\":\"busy\",\"kernels\":1,\"ns\":2200}\n"
        "{\"figure\":\"queue\",\"launches\":1022}\n{\"figure\":\"of a later version\",\"ns\":\"?\"}\n"
        "{\"figure\":\"memory\",\"how\":\"float4\",\"bytes\":3000000000,\"ns\":10000000}\n",
        f);
    static const char *const products[] = {"float32\",\"ns\":1e6", "float64\",\"ns\":6e7", "bfloat16\",\"ns\":3e5"};
    for (int i = 0; i < 3; i++)
        fprintf(f,
                "{\"figure\":\"op\",\"by\":\"cublas\",\"op\":\"matmul\",\"bytes\":0,\"flops\":12e9,\"dtype\":\"%s}\n",
                products[i]);
    for (int64_t bytes = 4096; bytes <= 1 << 30; bytes *= 4) write_copies(f, bytes), write_memory(f, bytes);
    fclose(f);
    return path;
}

static void a_models_own_figures_give_its_parameters(void **state)
{
    figures f;
    calibration c;
    char err[300] = "", name[FY_CARD_NAME], *text = NULL;
    size_t size = 0;
    fy_card made;
    (void)state;
    if (!figures_read(&f, true_figures(), err, sizeof err)) fail_msg("%s", err);
    calibrate(&c, &f);
    FILE *to = open_memstream(&text, &size);
    calibration_write(&c, &f, "some/where/figures.jsonl", to);
    fclose(to);
    figures_free(&f);
    assert_non_null(strstr(text, "# Some card, driver 580.1, 2026-01-02\n"));
    assert_non_null(strstr(text, "from figures.jsonl"));
    assert_non_null(strstr(text, "# peer = 390.000GB/s is the h200's: not measured\n"));
    if (!fy_card_file_read(file_of(text), &made, name, err, sizeof err)) fail_msg("%s in:\n%s", err, text);
    assert_string_equal(made.name, "Some card");
    assert_int_equal(made.capacity, (int64_t)8 << 30);
    assert_int_equal(made.multiprocessors, 24);
    assert_int_equal(made.threads_each, 1536);
    for (const fy_card_param *p = fy_card_params; p->option; p++) {
        double wanted = (double)fy_card_param_get(&truth, p), got = (double)fy_card_param_get(&made, p);
        if (!strcmp(p->option, "peer") || !strcmp(p->option, "half_peak")) continue;
        if (fabs(got - wanted) > 0.03 * wanted) fail_msg("%s is %g, not %g, of:\n%s", p->option, got, wanted, text);
    }
    free(text);
}

static void the_models_error_is_told_row_by_row(void **state)
{
    char arguments[200], *said;
    (void)state;
    snprintf(arguments, sizeof arguments, "calibrate %s", true_figures());
    assert_int_equal(run_ferry(arguments, &said), 0);
    assert_non_null(strstr(said, "copy h2d pinned, 1073741824 bytes"));
    assert_non_null(strstr(said, "malloc, 4096 bytes"));
    assert_non_null(strstr(said, "\nqueue"));
    const char *launch = strstr(said, "\nlaunch ");
    double measured = 0, model = 0, ratio = 0;
    assert_non_null(launch);
    assert_int_equal(sscanf(launch, " launch %lf %lf %lf", &measured, &model, &ratio), 3);
    assert_true(measured == 3.1 && model == 3.1 && ratio == 1);
    assert_non_null(strstr(said, "figures: half of them are within a factor of 1.0"));
    free(said);
    assert_int_equal(run_ferry("calibrate", &said), 2);
    free(said);
    assert_int_equal(run_ferry("calibrate none.jsonl", &said), 1);
    assert_non_null(strstr(said, "none.jsonl: No such file"));
    free(said);
}

static void bad_figures_are_refused_by_line(void **state)
{
    static const struct {
        const char *text, *said;
    } bad[] = {
        {CARD "{\"figure\":\"launch\"}\n", "line 2: figure 'launch' lacks \"ns\""},
        {CARD "\n{\"figure\":\"launch\",\"ns\":-4}\n", "line 3: figure 'launch' has \"ns\":-4; it must be a number of "
                                                       "at least 0 that a card can have: measure it again"},
        {CARD "{\"figure\":\"launch\",\"ns\":nan}\n", "line 2: no JSON object"},
        {CARD "{\"figure\":\"launch\",\"ns\":\"3100\"}\n", "line 2: figure 'launch' has \"ns\":\"3100\"; "},
        {CARD "{\"figure\":\"launch\",\"ns\":1e999}\n", "line 2: figure 'launch' has \"ns\":"},
        {CARD "{\"figure\":\"copy\",\"dir\":\"h2d\",\"host\":\"pinned\",\"bytes\":1e17,\"ns\":1}\n",
         "line 2: figure 'copy' has \"bytes\":1e+17; "},
        {CARD "{\"figure\":\"copy\",\"dir\":7,\"host\":\"pinned\",\"bytes\":1,\"ns\":1}\n",
         "line 2: figure 'copy' has \"dir\":7; it must be a word in quotes"},
        {CARD "{\"figure\":\"launch\",\"ns\":3100} and more\n", "line 2: no JSON object"},
        {CARD "[1, 2]\n", "line 2: no figure: a JSON object with \"figure\""},
        {"{\"figure\":\"launch\",\"ns\":3100}\n", "line 1: figure 'card' must come first"},
        {CARD CARD, "line 2: a second figure 'card'"},
        {"{\"figure\":\"card\",\"format\":2,\"card\":\"\",\"driver\":\"\",\"date\":\"\",\"bytes\":1,"
         "\"multiprocessors\":1,"
         "\"threads_each\":1}\n",
         "line 1: format 2; this ferry reads format 1"},
        {"", "has no figures; `make gpu-check` makes them"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        figures f;
        char err[600] = "";
        bool ok = figures_read(&f, file_of(bad[i].text), err, sizeof err);
        if (ok || !strstr(err, bad[i].said)) fail_msg("'%s' wanted, not '%s', of:\n%s", bad[i].said, err, bad[i].text);
        figures_free(&f);
    }
}

static void what_was_not_measured_is_the_other_cards(void **state)
{
    figures f;
    calibration c;
    char err[300];
    (void)state;
    assert_true(figures_read(&f, file_of(CARD "{\"figure\":\"launch\",\"ns\":2222}\n"), err, sizeof err));
    calibrate(&c, &f);
    for (const fy_card_param *p = fy_card_params; p->option; p++) {
        int64_t like = fy_card_param_get(fy_card_find("h200"), p), got = fy_card_param_get(&c.card, p);
        assert_int_equal(got, strcmp(p->option, "launch") ? like : 2222);
    }
    figures_free(&f);
}

/* A kernel that took less than none, and a queue that never was full. */
static void what_no_card_has_is_not_used(void **state)
{
    figures f;
    calibration c;
    char err[300], *text = NULL;
    size_t size = 0;
    (void)state;
    assert_true(figures_read(&f,
                             file_of(CARD "{\"figure\":\"marks\",\"stream\":\"busy\",\"kernels\":0,\"ns\":900}\n"
                                          "{\"figure\":\"marks\",\"stream\":\"busy\",\"kernels\":1,\"ns\":800}\n"
                                          "{\"figure\":\"queue\",\"launches\":-1}\n"),
                             err, sizeof err));
    calibrate(&c, &f);
    FILE *to = open_memstream(&text, &size);
    calibration_write(&c, &f, "figures.jsonl", to);
    fclose(to);
    figures_free(&f);
    assert_non_null(strstr(text, "\n# kernel = 3000ns is the h200's: the figures give none that a card can have\n"));
    assert_non_null(strstr(text, "\n# queue = 1024 is the h200's: not measured\n"));
    free(text);
}

/* ---- a card's file ---- */

static void a_file_is_a_card(void **state)
{
    fy_card card, laptop = *fy_card_find("laptop");
    char err[300], name[FY_CARD_NAME];
    const char *path = file_of("# mine\n\n like=laptop # at first\nname = My card\n\tbus = 8GB/s\nqueue = 512\n");
    (void)state;
    if (!fy_card_file_read(path, &card, name, err, sizeof err)) fail_msg("%s", err);
    assert_string_equal(card.name, "My card");
    assert_string_equal(card.key, path);
    assert_true(card.bus_bandwidth == 8e9);
    assert_int_equal(card.launch_queue, 512);
    assert_true(card.memory_bandwidth == laptop.memory_bandwidth);
    assert_int_equal(card.threads_each, laptop.threads_each);
}

static void a_bad_line_is_refused_by_its_number(void **state)
{
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"bus = 8GB/s\nmemry = 200GB/s\n", "line 2: there is no parameter 'memry'; did you mean memory?"},
        {"multiprocesors = 8\n", "line 1: there is no parameter 'multiprocesors'; did you mean multiprocessors?"},
        {"bus = fast\n", "line 1: bus = fast is not valid; write a number and its unit, as in bus=8GB/s"},
        {"bus = 8\n", "line 1: bus = 8 is not valid; write a number and its unit, as in bus=8GB/s"},
        {"bus = -8GB/s\n", "line 1: bus = -8GB/s is not valid"},
        {"bus = nanGB/s\n", "line 1: bus = nanGB/s is not valid"},
        {"launch = 5000ms\n", "line 1: launch = 5000ms is not valid"},
        {"queue = 0\n", "line 1: queue = 0 is not valid; write a number from 1 to 65536, as in queue=1024"},
        {"bus 8GB/s\n", "line 1: 'bus 8GB/s' is not name = value, as in bus = 8GB/s"},
        {"bus = 8GB/s\nbus = 9GB/s\n", "line 2: bus = 9GB/s: there is a line for bus already; keep one"},
        {"like = h300\n", "line 1: like = h300 names no card; known: h200, laptop, old"},
        {"bus = 8GB/s\nlike = old\n", "line 2: like = old must come before the parameters that it would undo"},
        {"# nothing\n", "it has no parameter; write lines as in bus = 8GB/s"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fy_card card;
        char err[300] = "", name[FY_CARD_NAME];
        bool ok = fy_card_file_read(file_of(bad[i].text), &card, name, err, sizeof err);
        if (ok || !strstr(err, bad[i].said)) fail_msg("'%s' wanted, not '%s', of:\n%s", bad[i].said, err, bad[i].text);
    }
    char line[500];
    fy_card card;
    char err[300], name[FY_CARD_NAME];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = 0;
    assert_false(fy_card_file_read(file_of(line), &card, name, err, sizeof err));
    assert_string_equal(err, "line 1 is longer than 300 characters; shorten it");
    assert_false(fy_card_file_read(learner_folder, &card, name, err, sizeof err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_models_own_figures_give_its_parameters),
        cmocka_unit_test(the_models_error_is_told_row_by_row),
        cmocka_unit_test(bad_figures_are_refused_by_line),
        cmocka_unit_test(what_was_not_measured_is_the_other_cards),
        cmocka_unit_test(what_no_card_has_is_not_used),
        cmocka_unit_test(a_file_is_a_card),
        cmocka_unit_test(a_bad_line_is_refused_by_its_number),
    };
    return cmocka_run_group_tests(tests, make_learner_folder, remove_learner_folder);
}
