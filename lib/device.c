/* device.c: the devices of this process, opened once, by FERRY_GPU, FERRY_SIM and FERRY_POLICY.
 *
 *   FERRY_GPU=auto   cuda:0 is a real card when one answers, else simulated (the default)
 *            =sim    simulated, even where there is a card
 *            =real   a real card; where there is none there is no cuda device
 *            =none   no cuda device
 *   FERRY_SIM=h200[:capacity=64MiB][,gpus=2]   which card is simulated, with how much VRAM, and how many
 *   FERRY_POLICY=refuse   operands on different devices are an error, as in PyTorch (the default)
 *               =silent   they are copied to one unasked (policy.c)
 *
 * A value that cannot be understood ends the program with status 1: to guess would show a learner
 * something untrue. Device 0 is the CPU. Once open, devices stay until the end of the process. */
#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "log.h"
#include "tensor.h"

enum { MOST_CARDS = 8, MOST_DEVICES = 1 + MOST_CARDS };
static const uint64_t host_base = 0x5500000000, card_base = 0x7000000000; /* modelled, recognisable */
static const uint64_t host_room = (uint64_t)1 << 36;

typedef enum gpu_mode { AUTO, SIM, REAL, NONE } gpu_mode;

static fy_dev devices[MOST_DEVICES];
static int count, simulated = 1; /* devices that are open; cards to simulate */
static bool unasked;             /* FERRY_POLICY=silent */
static char why_not_real[128];
static char mistake[400]; /* what is wrong with the environment; empty if nothing */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void set_mistake(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(mistake, sizeof mistake, format, list);
    va_end(list);
}

static gpu_mode read_gpu(void)
{
    static const char *const names[] = {"auto", "sim", "real", "none"};
    const char *value = getenv("FERRY_GPU");
    if (!value || !*value) return AUTO;
    for (int i = 0; i < 4; i++)
        if (strcmp(value, names[i]) == 0) return (gpu_mode)i;
    set_mistake("FERRY_GPU=%.60s is not a choice; set FERRY_GPU to auto, sim, real or none, or unset it", value);
    return NONE;
}

/* "64MiB" to bytes; -1 if it is not a size. A unit is demanded: 64 of what? */
static int64_t read_size(const char *s)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } units[] = {{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
                 {"KB", 1000},     {"MB", 1000000},  {"GB", 1000000000}};
    int64_t n = 0;
    const char *p = s;
    for (; isdigit((unsigned char)*p) && n < 1000000000; p++) n = n * 10 + (*p - '0');
    for (size_t i = 0; p > s && i < sizeof units / sizeof *units; i++)
        if (strcmp(p, units[i].name) == 0 && n <= ((int64_t)1 << 46) / units[i].bytes) return n * units[i].bytes;
    return -1;
}

/* One option of FERRY_SIM, n characters; false if it is not understood. */
static bool read_option(const char *p, size_t n, fy_dev *d)
{
    char option[40];
    if (n >= sizeof option) return false;
    snprintf(option, sizeof option, "%.*s", (int)n, p);
    if (strncmp(option, "gpus=", 5) == 0 && option[5] >= '1' && option[5] <= '0' + MOST_CARDS && !option[6])
        return simulated = option[5] - '0', true;
    if (strncmp(option, "capacity=", 9) != 0) return false;
    d->capacity = read_size(option + 9);
    return d->capacity >= 1 << 20;
}

/* Read FERRY_SIM into the card's figures and capacity. */
static void read_sim(fy_dev *d)
{
    const char *value = getenv("FERRY_SIM");
    if (!value || !*value) value = "h200";
    size_t n = strcspn(value, ":");
    char key[32];
    snprintf(key, sizeof key, "%.*s", (int)n, value);
    d->card = fy_card_find(key);
    d->capacity = FY_SIM_CAPACITY;
    if (!d->card)
        set_mistake("FERRY_SIM=%.60s names no card that is known; known: %s, as in FERRY_SIM=h200", value,
                    fy_card_keys());
    for (const char *p = value + n; *p && !mistake[0]; p += n) {
        n = strcspn(++p, ",");
        if (!read_option(p, n, d))
            set_mistake("FERRY_SIM=%.60s: '%.60s' is not understood; write FERRY_SIM=h200:capacity=64MiB "
                        "(a whole number, KiB, MiB or GiB, at least 1MiB), FERRY_SIM=h200:gpus=2 (1 to %d), or both "
                        "with a comma between",
                        value, p, MOST_CARDS);
    }
}

static bool open_device(fy_dev *d, int number, const char *name, const fy_backend *backend, char *why, size_t room)
{
    d->backend = backend;
    d->number = number;
    snprintf(d->name, sizeof d->name, "%s", name);
    if (!backend->open(d, why, room)) return false;
    backend->info(d);
    bool host = number == 0;
    uint64_t bytes =
        d->card && !host ? (uint64_t)d->capacity : host_room; /* a real card decides itself when it is full */
    uint64_t base = host ? host_base : card_base + ((uint64_t)(number - 1) << 40);
    d->addresses = fy_ranges_make(base, bytes, host ? 64 : 512);
    count = number + 1;
    return true;
}

/* All of them are alike. */
static void open_sims(void)
{
    fy_dev like = {0};
    char why[100] = "", name[16];
    read_sim(&like);
    for (int i = 1; i <= simulated && !mistake[0]; i++) {
        devices[i] = like;
        snprintf(name, sizeof name, "cuda:%d", i - 1);
        if (!open_device(&devices[i], i, name, &fy_backend_sim, why, sizeof why))
            set_mistake("the simulated card cannot be made: %s; set a smaller one, as in FERRY_SIM=h200:capacity=64MiB",
                        why);
    }
}

/* As many as answer. */
static bool open_real(char *why, size_t room)
{
    char name[16], none_left[100];
    for (int i = 1; i < MOST_DEVICES; i++) {
        snprintf(name, sizeof name, "cuda:%d", i - 1);
        if (!open_device(&devices[i], i, name, &fy_backend_cuda, i == 1 ? why : none_left,
                         i == 1 ? room : sizeof none_left))
            break;
    }
    return count > 1;
}

static void read_policy(void)
{
    const char *value = getenv("FERRY_POLICY");
    unasked = value && strcmp(value, "silent") == 0;
    if (value && *value && !unasked && strcmp(value, "refuse") != 0)
        set_mistake("FERRY_POLICY=%.60s is not a choice; set FERRY_POLICY to silent (operands on different devices are "
                    "copied unasked) or refuse (as PyTorch does), or unset it",
                    value);
}

static void open_all(void)
{
    char why[100] = "";
    gpu_mode mode = read_gpu();
    devices[0].card = fy_card_host();
    devices[0].capacity = fy_card_host()->capacity;
    open_device(&devices[0], 0, "cpu", &fy_backend_cpu, why, sizeof why);
    read_policy();
    if (mode == NONE) return;
    if (mode != SIM && open_real(why, sizeof why)) {
        for (int i = 0; i < count; i++) devices[i].card = NULL; /* times are measured, on the host too */
        fy_clock_measure();
    } else {
        snprintf(why_not_real, sizeof why_not_real, "%s", mode == SIM ? "asked for the simulated card" : why);
        if (mode != REAL) open_sims();
    }
    if (count > 1) fy_guard_start();
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0") != 0;
}

/* Where events are told, on the terminal or in a page, so is why they are not a card's; and a wish that failed. */
static void say_once(void)
{
    const char *gpu = getenv("FERRY_GPU");
    bool asked = gpu && *gpu && strcmp(gpu, "auto") != 0;
    if (asked && strcmp(gpu, "real") == 0 && count == 1)
        fprintf(stderr, "ferry: FERRY_GPU=real, but: %s; there is no cuda device. FERRY_GPU=auto simulates one\n",
                why_not_real);
    if (!asked && count > 1 && why_not_real[0] && (is_set("FERRY_NARRATE") || is_set("FERRY_VIEW")))
        fprintf(stderr, "ferry: cuda:0 is simulated (%s) and its times are modelled: %s\n", devices[1].card->name,
                why_not_real);
}

/* Open on first use. Leaving the process from within pthread_once would lock up its exit handlers. */
static void ready(void)
{
    static pthread_once_t said = PTHREAD_ONCE_INIT;
    static _Thread_local bool leaving;
    pthread_once(&once, open_all);
    if (mistake[0] && !leaving) {
        leaving = true;
        fprintf(stderr, "ferry: %s\n", mistake);
        exit(1);
    }
    pthread_once(&said, say_once);
}

int fy_dev_count(void)
{
    ready();
    return count;
}

fy_dev *fy_dev_at(int number)
{
    ready();
    return number >= 0 && number < count ? &devices[number] : NULL;
}

bool fy_dev_copies_unasked(void)
{
    ready();
    return unasked;
}

bool fy_dev_model_clock(void)
{
    ready();
    return devices[0].card != NULL;
}

const char *fy_dev_why_not_real(void)
{
    ready();
    return why_not_real[0] ? why_not_real : NULL;
}

/* ---- the session event ---------------------------------------------------------------------------- */

static void add_figures(fy_text *out, const fy_card *c)
{
    fy_text_printf(out,
                   ",\"model\":{\"flops_f32\":%.0f,\"memory_bandwidth\":%.0f,\"bus_bandwidth\":%.0f,"
                   "\"staging_bandwidth\":%.0f,\"staging_chunk\":%lld,",
                   c->flops_f32, c->memory_bandwidth, c->bus_bandwidth, c->staging_bandwidth,
                   (long long)c->staging_chunk);
    fy_text_printf(out, "\"bus_latency\":%lld,\"call_overhead\":%lld,\"launch_overhead\":%lld,\"kernel_latency\":%lld}",
                   (long long)c->bus_latency, (long long)c->call_overhead, (long long)c->launch_overhead,
                   (long long)c->kernel_latency);
}

/* No word here hangs on the machine while the card is simulated: not even why it is. */
void fy_dev_session_json(fy_text *out)
{
    ready();
    fy_text_printf(out, "[");
    for (int i = 0; i < count; i++) {
        const fy_dev *d = &devices[i];
        fy_text_printf(out, "%s{\"name\":\"%s\",\"kind\":\"%s\",\"card\":", i ? "," : "", d->name, d->backend->kind);
        fy_text_json(out, d->card_name, strlen(d->card_name));
        fy_text_printf(out, ",\"capacity\":%lld", (long long)d->capacity);
        if (d->card) add_figures(out, d->card);
        fy_text_printf(out, "}");
    }
    fy_text_printf(out, "]");
}
