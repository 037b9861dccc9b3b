/* calibrate.c: a card's parameters from its figures. The model is coarse, and that is said: each parameter is computed
 * from the figures that say most of it, and then each figure is computed by the model (timing_model.c), beside what was
 * measured. */
#include "calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "event.h"
#include "timing_model.h"

enum { SMALL = 64 << 10 };  /* bytes of a copy that shows its latency */
enum { SEGMENT = 2 << 20 }; /* the least that the caching allocator asks of a card */

static const double UNKNOWN = -1e300; /* no figure says it */

/* Which lines: of this kind, and with these words unless NULL. */
typedef struct choice {
    const char *kind, *dir, *host;
    double least, most; /* bytes; most 0: any */
} choice;

static bool fits(const cJSON *line, const choice *c)
{
    double bytes = figures_number(line, "bytes");
    return figures_is(line, c->kind) && (!c->dir || !strcmp(figures_word(line, "dir"), c->dir)) &&
           (!c->host || !strcmp(figures_word(line, "host"), c->host)) && bytes >= c->least &&
           (c->most == 0 || bytes <= c->most);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, ascending);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* ---- parameters ---- */

static int param_number(const char *option)
{
    int i = 0;
    while (strcmp(fy_card_params[i].option, option)) i++;
    return i;
}

static bool is_measured(const calibration *c, const char *option) { return *c->from[param_number(option)]; }

static void set(calibration *c, const char *option, double value, const char *from)
{
    int i = param_number(option);
    const fy_card_param *p = &fy_card_params[i];
    if (value == UNKNOWN) return;
    c->impossible[i] = !(value >= (double)p->least && value <= (double)p->most);
    if (c->impossible[i]) return;
    fy_card_param_set(&c->card, p, llround(value));
    snprintf(c->from[i], sizeof c->from[i], "%s", from);
}

/* The median of the chosen lines' ns, less `fixed` and what their bytes take at that rate, but not below 0. */
static double median_of(const figures *f, const choice *which, int choices, double fixed, double rate)
{
    double *values = malloc((size_t)f->n * sizeof *values), result = UNKNOWN;
    int n = 0;
    for (int i = 0; values && i < f->n; i++)
        for (int k = 0; k < choices; k++)
            if (fits(f->line[i], &which[k])) {
                double wire = rate > 0 ? figures_number(f->line[i], "bytes") * 1e9 / rate : 0;
                values[n++] = figures_number(f->line[i], "ns") - fixed - wire;
                break;
            }
    if (n) result = fmax(median(values, n), 0);
    free(values);
    return result;
}

/* What the largest takes more than the smallest, as bytes a second, over all choices together. */
static double slope(const figures *f, const choice *which, int choices)
{
    double bytes = 0, ns = 0;
    for (int k = 0; k < choices; k++) {
        const cJSON *small = NULL, *large = NULL;
        for (int i = 0; i < f->n; i++) {
            const cJSON *line = f->line[i];
            if (!fits(line, &which[k])) continue;
            if (!small || figures_number(line, "bytes") < figures_number(small, "bytes")) small = line;
            if (!large || figures_number(line, "bytes") > figures_number(large, "bytes")) large = line;
        }
        if (!large) continue;
        bytes += figures_number(large, "bytes") - figures_number(small, "bytes");
        ns += figures_number(large, "ns") - figures_number(small, "ns");
    }
    return bytes > 0 ? ns > 0 ? bytes * 1e9 / ns : INFINITY : UNKNOWN;
}

static void host_calls(calibration *c, const figures *f)
{
    const choice calls[] = {
        {.kind = "record"}, {.kind = "query"}, {.kind = "copy_call", .host = "pinned", .most = SMALL}};
    const choice launch = {.kind = "launch"};
    set(c, "call", median_of(f, calls, 3, 0, 0),
        "the median of record, query and small pinned copies; all calls alike");
    set(c, "launch", median_of(f, &launch, 1, 0, 0), "what the host spends in a launch");
    for (int i = 0; i < f->n; i++)
        if (figures_is(f->line[i], "queue") && figures_number(f->line[i], "launches") >= 0)
            set(c, "queue", figures_number(f->line[i], "launches"), "the launches before one that waits");
}

/* What an empty kernel adds between two events in a busy stream. */
static void kernels(calibration *c, const figures *f)
{
    double with = UNKNOWN, without = UNKNOWN;
    for (int i = 0; i < f->n; i++) {
        const cJSON *line = f->line[i];
        if (!figures_is(line, "marks") || strcmp(figures_word(line, "stream"), "busy")) continue;
        if (figures_number(line, "kernels") == 1) with = figures_number(line, "ns");
        if (figures_number(line, "kernels") == 0) without = figures_number(line, "ns");
    }
    if (with != UNKNOWN && without != UNKNOWN)
        set(c, "kernel", with - without, "two events in a busy stream: with an empty kernel between, less without");
}

static void copies(calibration *c, const figures *f)
{
    const choice pinned[] = {{"copy", "h2d", "pinned", 0, 0}, {"copy", "d2h", "pinned", 0, 0}};
    const choice pageable[] = {{"copy", "h2d", "pageable", 0, 0}, {"copy", "d2h", "pageable", 0, 0}};
    const choice small = {"copy", NULL, "pinned", 0, SMALL};
    set(c, "bus", slope(f, pinned, 2), "what the largest pinned copies take more than the smallest, both ways");
    set(c, "staging", slope(f, pageable, 2), "likewise pageable ones: slower than the bus, or as if it were");
    double rest =
        is_measured(c, "bus") ? median_of(f, &small, 1, (double)c->card.call_overhead, c->card.bus_bandwidth) : UNKNOWN;
    set(c, "latency", rest, "small pinned copies, less a call and the bus; the median");
}

static void allocations(calibration *c, const figures *f)
{
    const choice allocated = {.kind = "malloc", .least = SEGMENT}, released = {.kind = "free", .least = SEGMENT};
    const choice pin = {.kind = "pin"}, unpin = {.kind = "unpin"}, small = {.kind = "pin", .most = SMALL};
    set(c, "malloc", median_of(f, &allocated, 1, 0, 0), "the median of 2 MiB and more; in the model of any size");
    set(c, "free", median_of(f, &released, 1, 0, 0), "the median of 2 MiB and more; in the model of any size");
    set(c, "pinning", slope(f, &pin, 1), "what the largest takes more than the smallest");
    set(c, "pin", median_of(f, &small, 1, 0, is_measured(c, "pinning") ? c->card.pin_bandwidth : 0),
        "the median of up to 64 KiB, less their size");
    set(c, "unpinning", slope(f, &unpin, 1), "what the largest takes more than the smallest");
}

/* The best rate of the lines of a kind and dtype, and who reached it. */
static void best_rate(calibration *c, const figures *f, const char *option, const char *kind, const char *amount,
                      const char *dtype)
{
    char from[160];
    for (int i = 0; i < f->n; i++) {
        const cJSON *line = f->line[i];
        double ns = figures_number(line, "ns");
        if (!figures_is(line, kind) || ns <= 0) continue;
        if (dtype && (strcmp(figures_word(line, "dtype"), dtype) || strncmp(figures_word(line, "op"), "matmul", 6)))
            continue;
        double rate = figures_number(line, amount) * 1e9 / ns;
        if (is_measured(c, option) &&
            rate <= (double)fy_card_param_get(&c->card, &fy_card_params[param_number(option)]))
            continue;
        if (dtype) snprintf(from, sizeof from, "the best product of %s, by %.20s", dtype, figures_word(line, "by"));
        else snprintf(from, sizeof from, "the best copy on the card, by %.20s", figures_word(line, "how"));
        set(c, option, rate, from);
    }
}

static void rates(calibration *c, const figures *f)
{
    best_rate(c, f, "memory", "memory", "bytes", NULL);
    best_rate(c, f, "flops", "op", "flops", "float32");
    best_rate(c, f, "double", "op", "flops", "float64");
    best_rate(c, f, "half", "op", "flops", "float16");
    best_rate(c, f, "half", "op", "flops", "bfloat16");
    if (is_measured(c, "half"))
        set(c, "half_peak", c->card.flops_f16, "as half: the published figure cannot be measured");
}

void calibrate(calibration *c, const figures *f)
{
    static const char *const keys[] = {"h200", "laptop", "old"};
    *c = (calibration){.like = fy_card_find(keys[0])};
    for (int i = 0; i < 3; i++)
        if (!strcmp(fy_card_find(keys[i])->name, figures_word(f->card, "card"))) c->like = fy_card_find(keys[i]);
    c->card = *c->like;
    host_calls(c, f);
    kernels(c, f);
    copies(c, f);
    allocations(c, f);
    rates(c, f);
}

/* ---- the file ---- */

/* "50.12GB/s", as fy_card_param_read has it. */
static void write_value(const fy_card_param *p, int64_t value, FILE *to)
{
    double x = (double)value;
    if (p->unit == FY_UNIT_COUNT) fprintf(to, "%lld", (long long)value);
    else if (p->unit == FY_UNIT_BYTES) fprintf(to, "%lldKiB", (long long)value >> 10);
    else if (p->unit == FY_UNIT_TIME) fprintf(to, "%lldns", (long long)value);
    else {
        static const char *const rate[] = {"MB/s", "GB/s", "TB/s"}, *const flops[] = {"MFLOPS", "GFLOPS", "TFLOPS"};
        int i = x < 1e9 ? 0 : x < 1e12 ? 1 : 2;
        fprintf(to, "%.3f%s", x / (i == 0 ? 1e6 : i == 1 ? 1e9 : 1e12), (p->unit == FY_UNIT_RATE ? rate : flops)[i]);
    }
}

/* Of a measured file, on one line of a comment. */
static void write_word(const char *text, FILE *to)
{
    for (int i = 0; text[i] && i < 90; i++) fputc((unsigned char)text[i] < ' ' || text[i] == '#' ? '?' : text[i], to);
}

void calibration_write(const calibration *c, const figures *f, const char *path, FILE *to)
{
    const cJSON *card = f->card;
    double most = 65536, units = figures_number(card, "multiprocessors"),
           threads = figures_number(card, "threads_each");
    const char *slash = strrchr(path, '/'), *driver = figures_word(card, "driver");
    fprintf(to, "# ");
    write_word(figures_word(card, "card"), to);
    fprintf(to, "%s", *driver ? ", driver " : "");
    write_word(driver, to);
    fprintf(to, ", ");
    write_word(figures_word(card, "date"), to);
    fprintf(to, "\n# Computed by `ferry calibrate` from ");
    write_word(slash ? slash + 1 : path, to);
    fprintf(to, "; FERRY_SIM=FILE simulates this card.\nlike = %s\nname = ", c->like->key);
    write_word(figures_word(card, "card"), to);
    fprintf(to, "\ncapacity = %.0fMiB\n", fmin(fmax(figures_number(card, "bytes") / (1 << 20), 1), 4096 * 1024));
    if (units >= 1 && units <= most) fprintf(to, "multiprocessors = %.0f\n", units);
    if (threads >= 1 && threads <= most) fprintf(to, "threads_each = %.0f\n", threads);
    for (int i = 0; fy_card_params[i].option; i++) {
        const fy_card_param *p = &fy_card_params[i];
        fprintf(to, "%s%s = ", *c->from[i] ? "" : "# ", p->option);
        write_value(p, fy_card_param_get(&c->card, p), to);
        if (*c->from[i]) fprintf(to, " # %s\n", c->from[i]);
        else
            fprintf(to, " is the %s's: %s\n", c->like->key,
                    c->impossible[i] ? "the figures give none that a card can have" : "not measured");
    }
}

/* ---- the model's error ---- */

static int64_t done(fy_timing *t, int64_t now)
{
    fy_time wait;
    fy_timing_host_wait(t, now, fy_timing_tail(t, -1), &wait);
    return now + wait.held;
}

static fy_copy_work copy(fy_timing *t, int64_t now, int stream, fy_word dir, double bytes, bool pinned)
{
    fy_copy_work w = {.stream = stream, .dir = dir, .bytes = (size_t)bytes, .pinned = pinned, .async = true};
    fy_timing_copy(t, now, &w);
    return w;
}

static fy_arithmetic arithmetic(const cJSON *line)
{
    const char *dtype = figures_word(line, "dtype");
    bool product = !strncmp(figures_word(line, "op"), "matmul", 6), half = strstr(dtype, "float16") != NULL;
    return !strcmp(dtype, "float64") ? FY_DOUBLE : product && half ? FY_TENSOR : FY_SINGLE;
}

/* What the model has for the figure: ns, or launches; -1: nothing. */
static double modelled(const fy_card *card, fy_timing *t, const cJSON *line)
{
    double bytes = figures_number(line, "bytes");
    int64_t size = (int64_t)bytes;
    fy_time time = {0};
    if (figures_is(line, "launch")) return (double)card->launch_overhead;
    if (figures_is(line, "record") || figures_is(line, "query")) return (double)card->call_overhead;
    if (figures_is(line, "queue") && figures_number(line, "launches") >= 0) return (double)card->launch_queue;
    if (figures_is(line, "launch_wait")) {
        fy_timing_run(t, 0, 0, FY_SINGLE, 0, 0, &time);
        return (double)done(t, time.held);
    }
    if (figures_is(line, "malloc")) return fy_timing_alloc(t, 0, size, FY_WORD_device, &time), (double)time.held;
    if (figures_is(line, "pin")) return fy_timing_alloc(t, 0, size, FY_WORD_pinned, &time), (double)time.held;
    if (figures_is(line, "free")) return fy_timing_release(t, 0, size, FY_WORD_device, &time), (double)time.held;
    if (figures_is(line, "unpin")) return fy_timing_release(t, 0, size, FY_WORD_pinned, &time), (double)time.held;
    if (figures_is(line, "copy") || figures_is(line, "copy_call")) {
        fy_word dir = !strcmp(figures_word(line, "dir"), "h2d") ? FY_WORD_h2d : FY_WORD_d2h;
        fy_copy_work w = copy(t, 0, 0, dir, bytes, !strcmp(figures_word(line, "host"), "pinned"));
        return (double)(figures_is(line, "copy") ? done(t, w.time.held) : w.time.held);
    }
    if (figures_is(line, "both_ways")) {
        int64_t now = copy(t, 0, 0, FY_WORD_h2d, bytes, true).time.held;
        return (double)done(t, now + copy(t, now, 1, FY_WORD_d2h, bytes, true).time.held);
    }
    if (figures_is(line, "memory") && !strcmp(figures_word(line, "how"), "memcpy")) {
        time = copy(t, 0, 0, FY_WORD_d2d, bytes / 2, false).time;
        return (double)(time.end - time.start);
    }
    if (!figures_is(line, "memory") && !figures_is(line, "op")) return -1;
    fy_timing_run(t, 0, 0, arithmetic(line), (int64_t)figures_number(line, "flops"), size, &time);
    return (double)(time.end - time.start);
}

/* "copy h2d pinned, 4096 bytes" */
static void name_figure(const cJSON *line, char *name, size_t room)
{
    static const char *const words[] = {"figure", "dir", "host", "how", "by", "op", "dtype"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = figures_word(line, words[i]);
        if (*word) n += (size_t)snprintf(name + n, room - n, "%s%.20s", n ? " " : "", word);
    }
    double bytes = figures_number(line, "bytes");
    if (bytes > 0) snprintf(name + n, room - n, ", %.0f bytes", bytes);
    for (char *p = name; *p; p++)
        if ((unsigned char)*p < ' ') *p = '?';
}

void calibration_compare(const calibration *c, const figures *f, FILE *to)
{
    double *factors = calloc((size_t)f->n + 1, sizeof *factors);
    int n = 0;
    fprintf(to, "%-58s %15s %15s  model / measured\n", "figure (times in us)", "measured", "the model's");
    for (int i = 0; factors && i < f->n; i++) {
        char name[200];
        fy_timing *t = fy_timing_make(&c->card);
        double model = t ? modelled(&c->card, t, f->line[i]) : -1;
        bool count = figures_is(f->line[i], "queue");
        double measured = figures_number(f->line[i], count ? "launches" : "ns"), unit = count ? 1 : 1000;
        fy_timing_free(t);
        if (model < 0) continue;
        name_figure(f->line[i], name, sizeof name);
        fprintf(to, "%-58s %15.3f %15.3f", name, measured / unit, model / unit);
        if (measured > 0 && model > 0) {
            fprintf(to, " %6.2f", model / measured);
            factors[n++] = fmax(model / measured, measured / model);
        }
        fputc('\n', to);
    }
    if (n) {
        double middle = median(factors, n);
        fprintf(to, "%d figures: half of them are within a factor of %.2f of the model, the worst is %.2f away.\n", n,
                middle, factors[n - 1]);
    }
    fprintf(to, "The model is coarse: malloc and free take the same time for every size, and all calls are alike.\n");
    free(factors);
}
