/* device.c: the devices of this process, opened once, by FERRY_GPU, FERRY_SIM, FERRY_POLICY and FERRY_BLAS.
 *
 *   FERRY_GPU=auto   cuda:0 is a real card when one answers, else simulated (the default)
 *            =sim    simulated, even where there is a card
 *            =real   a real card; where there is none there is no cuda device
 *            =none   no cuda device
 *   FERRY_SIM, CUDA_VISIBLE_DEVICES   which cards are simulated: sim_config.c
 *   FERRY_POLICY=refuse   operands on different devices are an error, as in PyTorch (the default)
 *               =silent   they are copied to one unasked (implicit_copy.c)
 *   FERRY_BLAS=default    the simulated card's matrix products are OpenBLAS's, as a card's are cuBLAS's
 *             =kernel     they are done by the kernels of kernels/matmul.cu
 *
 * A value that cannot be understood ends the program with status 1: to guess would show a learner
 * something untrue. Device 0 is the CPU. Once open, devices stay until the end of the process.
 *
 * Real cards are opened by the first call that hangs on them: it names one, counts them, asks what the clock shows
 * or writes the log's first line. A program that does none of that never starts CUDA's driver, which would hold it up,
 * take memory on the card, and be of no use any more after a fork. */
#include "device.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "address_space.h"
#include "card_params.h"
#include "clock.h"
#include "cuda_library.h"
#include "session_hooks.h"
#include "settings.h"
#include "sim_config.h"
#include "text.h"

enum { MOST_DEVICES = 1 + FY_MOST_SIMS };
static const uint64_t host_base = 0x5500000000, card_base = 0x7000000000; /* modelled, recognisable */
static const uint64_t host_room = (uint64_t)1 << 36;
static const uint64_t card_room = (uint64_t)1 << 40; /* addresses are never short, whatever the segments' sizes */

typedef enum gpu_mode { AUTO, SIM, REAL, NONE } gpu_mode;

static fy_dev devices[MOST_DEVICES];
static int count;      /* devices that are open */
static bool unasked;   /* FERRY_POLICY=silent */
static bool by_kernel; /* FERRY_BLAS=kernel */
static gpu_mode mode;
static const fy_backend *real; /* may have cards, which are opened when they are asked for; NULL: has none */
static char why_not_real[200];
static char mistake[600]; /* what is wrong with the environment; empty if nothing */

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

static bool open_device(fy_dev *d, int number, const char *name, const fy_backend *backend, char *why, size_t room)
{
    d->backend = backend;
    d->number = number;
    snprintf(d->name, sizeof d->name, "%s", name);
    if (!backend->open(d, why, room)) return false;
    backend->info(d);
    bool host = number == 0;
    uint64_t base = host ? host_base : card_base + ((uint64_t)(number - 1) << 40);
    d->addresses = fy_address_space_make(base, host ? host_room : card_room, host ? 64 : 512);
    if (!d->addresses) {
        d->backend->close(d);
        snprintf(why, room, "no memory for the list of its addresses");
        return false;
    }
    count = number + 1;
    return true;
}

/* Every card sees every other, or none does. */
static void introduce(const fy_choice *c)
{
    uint32_t all = 0;
    for (int i = 1; i < count; i++) all |= 1u << i;
    for (int i = 1; i < count && c->peers; i++) devices[i].peers = all & ~(1u << i);
}

static void open_sims(void)
{
    fy_choice c;
    char why[100] = "", name[16];
    if (!fy_choose_sims(&c, mistake, sizeof mistake)) return;
    if (c.count == 0) snprintf(why_not_real, sizeof why_not_real, "CUDA_VISIBLE_DEVICES leaves none of them visible");
    for (int i = 1; i <= c.count && !mistake[0]; i++) {
        devices[i] = (fy_dev){.card = c.card, .capacity = c.capacity, .physical = c.physical[i - 1]};
        snprintf(name, sizeof name, "cuda:%d", i - 1);
        if (!open_device(&devices[i], i, name, &fy_backend_sim, why, sizeof why))
            set_mistake("the simulated card cannot be made: %s; set a smaller one, as in FERRY_SIM=h200:capacity=64MiB",
                        why);
    }
    introduce(&c);
}

/* As many as answer. */
static bool open_real(char *why, size_t room)
{
    char name[16], none_left[100];
    for (int i = 1; i < MOST_DEVICES; i++) {
        snprintf(name, sizeof name, "cuda:%d", i - 1);
        if (!open_device(&devices[i], i, name, real, i == 1 ? why : none_left, i == 1 ? room : sizeof none_left)) break;
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

static void read_blas(void)
{
    const char *value = getenv("FERRY_BLAS");
    by_kernel = value && strcmp(value, "kernel") == 0;
    if (value && *value && !by_kernel && strcmp(value, "default") != 0)
        set_mistake(
            "FERRY_BLAS=%.60s is not a choice; set FERRY_BLAS to kernel (the simulated card's matrix products are "
            "done by kernels/matmul.cu) or default (by OpenBLAS, as a card's are by cuBLAS), or unset it",
            value);
}

static void do_without(const char *why)
{
    snprintf(why_not_real, sizeof why_not_real, "%s", why);
    if (mode == REAL) return;
    open_sims();
    if (count > 1) fy_card_opened();
}

static void open_all(void)
{
    char why[200] = "";
    mode = read_gpu();
    devices[0].card = fy_card_host();
    devices[0].capacity = fy_card_host()->capacity;
    if (!open_device(&devices[0], 0, "cpu", &fy_backend_cpu, why, sizeof why)) {
        set_mistake("the CPU cannot be used: %s", why);
        return;
    }
    read_policy();
    read_blas();
    if (mode == AUTO || mode == REAL) real = fy_cuda_library(mode == REAL, why, sizeof why);
    if (mode == SIM) do_without("asked for the simulated card");
    else if (mode != NONE && !real) do_without(why);
}

/* What the host did so far cost modelled time, of which nobody has heard. */
static void open_cards(void)
{
    char why[200] = "";
    if (!open_real(why, sizeof why)) return do_without(why);
    for (int i = 0; i < count; i++) __atomic_store_n(&devices[i].card, NULL, __ATOMIC_RELAXED);
    fy_clock_measure();
    fy_card_opened();
}

/* Where events are told, on the terminal or in a page, so is why they are not a card's; and a wish that failed. */
static void say_once(void)
{
    const char *gpu = getenv("FERRY_GPU");
    bool asked = gpu && *gpu && strcmp(gpu, "auto") != 0;
    if (asked && strcmp(gpu, "real") == 0 && count == 1)
        fprintf(stderr, "ferry: FERRY_GPU=real, but: %s; there is no cuda device. FERRY_GPU=auto simulates one\n",
                why_not_real);
    if (!asked && count > 1 && why_not_real[0] && (fy_setting_is_on("FERRY_NARRATE") || fy_setting_is_on("FERRY_VIEW")))
        fprintf(stderr, "ferry: cuda:0 is simulated (%s) and its times are modelled: %s\n", devices[1].card->name,
                why_not_real);
}

static void leave_if_mistaken(void)
{
    static _Thread_local bool leaving;
    if (!mistake[0] || leaving) return;
    leaving = true;
    fprintf(stderr, "ferry: %s\n", mistake);
    exit(1);
}

/* Open on first use; real cards where they are asked for. Leaving the process from within pthread_once would lock up
 * its exit handlers. */
static void ready(bool cards)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT, cards_once = PTHREAD_ONCE_INIT, said = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_all);
    leave_if_mistaken();
    if (real && !cards) return;
    if (real) {
        pthread_once(&cards_once, open_cards);
        leave_if_mistaken();
    }
    pthread_once(&said, say_once);
}

int fy_dev_count(void)
{
    ready(true);
    return count;
}

fy_dev *fy_dev_at(int number)
{
    if (number == 0) return ready(false), &devices[0];
    ready(true);
    return number > 0 && number < count ? &devices[number] : NULL;
}

bool fy_dev_copies_unasked(void)
{
    ready(false);
    return unasked;
}

/* Asked by a card, and so with the devices open. */
bool fy_dev_uses_blas(void) { return !by_kernel; }

bool fy_dev_model_clock(void)
{
    ready(true);
    return devices[0].card != NULL;
}

const char *fy_dev_why_not_real(void)
{
    ready(false);
    return why_not_real[0] ? why_not_real : NULL;
}

struct fy_device_fault *fy_fault_location(void)
{
    static _Thread_local struct fy_device_fault fault;
    return &fault;
}

/* ---- the session event ---------------------------------------------------------------------------- */

static void add_figures(fy_text *out, const fy_dev *d)
{
    const char *between = ",\"model\":{";
    for (const fy_card_param *f = fy_card_params; f->option; f++) {
        if (d->number == 0 && !f->host) continue;
        fy_text_printf(out, "%s\"%s\":%lld", between, f->name, (long long)fy_card_param_get(d->card, f));
        between = ",";
    }
    fy_text_printf(out, "}");
}

/* No word here hangs on the machine while the card is simulated: not even why it is. */
void fy_dev_session_json(fy_text *out)
{
    ready(true);
    fy_text_printf(out, "[");
    for (int i = 0; i < count; i++) {
        const fy_dev *d = &devices[i];
        fy_text_printf(out, "%s{\"name\":\"%s\",\"kind\":\"%s\",\"card\":", i ? "," : "", d->name, d->backend->kind);
        fy_text_json(out, d->card_name, strlen(d->card_name));
        fy_text_printf(out, ",\"capacity\":%lld", (long long)d->capacity);
        if (d->card && i) fy_text_printf(out, ",\"physical\":%d", d->physical);
        if (d->card) add_figures(out, d);
        fy_text_printf(out, "}");
    }
    fy_text_printf(out, "]");
}
