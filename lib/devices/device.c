/* device.c: the devices of this process, opened once, by FERRY_GPU, FERRY_SIM, FERRY_POLICY and FERRY_BLAS.
 *
 *   FERRY_GPU=auto   cuda:0 is a real card when one answers, else simulated (the default)
 *            =sim    simulated, even where there is a card
 *            =real   a real card; without one there is no cuda device
 *            =none   no cuda device
 *   FERRY_SIM, CUDA_VISIBLE_DEVICES   which cards are simulated: sim_config.c
 *   FERRY_POLICY=refuse   operands on different devices are an error, as in PyTorch (the default)
 *               =silent   they are copied implicitly (implicit_copy.c)
 *   FERRY_BLAS=default    the simulated card computes matrix products with OpenBLAS, as a card does with cuBLAS
 *             =kernel     with the kernels of kernels/matmul.cu
 *
 * An invalid value ends the program with status 1: a guess could teach a learner something false. Device 0 is the CPU.
 * Devices stay open until the process ends.
 *
 * Real cards are opened lazily, by the first call that depends on them: one that names or counts cards, reads the clock
 * or writes the log's first line. Other programs never initialize CUDA, which does not survive a fork. A card's
 * context, which takes time and memory on it, is created at its first use. */
#include "device.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
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
static const uint64_t host_base = 0x5500000000, card_base = 0x7000000000; /* modelled addresses, easy to recognise */
static const uint64_t host_room = (uint64_t)1 << 36;
static const uint64_t card_room = (uint64_t)1 << 40; /* never exhausted, whatever the segment sizes */

typedef enum gpu_mode { AUTO, SIM, REAL, NONE } gpu_mode;

static fy_dev devices[MOST_DEVICES];
static int count;             /* open devices */
static bool copies_silently;  /* FERRY_POLICY=silent */
static bool matmul_by_kernel; /* FERRY_BLAS=kernel */
static gpu_mode mode;
static const fy_backend *real; /* its cards are opened lazily; NULL: not available */
static char why_not_real[200];
static char bad_setting[600]; /* what is wrong with the environment; empty if nothing */

static void refuse_setting(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void refuse_setting(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(bad_setting, sizeof bad_setting, format, list);
    va_end(list);
}

static gpu_mode read_gpu(void)
{
    static const char *const names[] = {"auto", "sim", "real", "none"};
    const char *value = getenv("FERRY_GPU");
    if (!value || !*value) return AUTO;
    for (int i = 0; i < 4; i++)
        if (strcmp(value, names[i]) == 0) return (gpu_mode)i;
    refuse_setting("FERRY_GPU=%.60s is not a valid value; set FERRY_GPU to auto, sim, real or none, or unset it",
                   value);
    return NONE;
}

static bool open_device(fy_dev *d, int number, const char *name, const fy_backend *backend, char *why, size_t room)
{
    d->backend = backend;
    d->number = number;
    snprintf(d->name, sizeof d->name, "%s", name);
    if (!backend->open(d, why, room)) return false;
    if (!backend->info(d, why, room)) return backend->close(d), false;
    bool host = number == 0;
    uint64_t base = host ? host_base : card_base + ((uint64_t)(number - 1) << 40);
    d->addresses = fy_address_space_make(base, host ? host_room : card_room, host ? 64 : 512);
    if (!d->addresses) {
        d->backend->close(d);
        snprintf(why, room, "out of memory for its table of addresses");
        return false;
    }
    count = number + 1;
    return true;
}

static void open_sims(void)
{
    fy_sim_config c;
    char why[100] = "", name[16];
    if (!fy_sim_config_read(&c, bad_setting, sizeof bad_setting)) return;
    if (c.count == 0) snprintf(why_not_real, sizeof why_not_real, "CUDA_VISIBLE_DEVICES hides every simulated card");
    for (int i = 1; i <= c.count && !bad_setting[0]; i++) {
        devices[i] = (fy_dev){.card = c.card, .capacity = c.capacity, .physical = c.physical[i - 1]};
        snprintf(name, sizeof name, "cuda:%d", i - 1);
        if (!open_device(&devices[i], i, name, &fy_backend_sim, why, sizeof why))
            refuse_setting(
                "cannot create the simulated card: %s; set a smaller one, as in FERRY_SIM=h200:capacity=64MiB", why);
    }

    /* Peer access is all or nothing: between every pair of cards, or none. */
    uint32_t all = 0;
    for (int i = 1; i < count; i++) all |= 1u << i;
    for (int i = 1; i < count && c.peers; i++) devices[i].peers = all & ~(1u << i);
}

static void read_policy(void)
{
    const char *value = getenv("FERRY_POLICY");
    copies_silently = value && strcmp(value, "silent") == 0;
    if (value && *value && !copies_silently && strcmp(value, "refuse") != 0)
        refuse_setting("FERRY_POLICY=%.60s is not a valid value; set FERRY_POLICY to silent (operands on different "
                       "devices are copied implicitly) or refuse (an error, as in PyTorch), or unset it",
                       value);
}

static void read_blas(void)
{
    const char *value = getenv("FERRY_BLAS");
    matmul_by_kernel = value && strcmp(value, "kernel") == 0;
    if (value && *value && !matmul_by_kernel && strcmp(value, "default") != 0)
        refuse_setting(
            "FERRY_BLAS=%.60s is not a valid value; set FERRY_BLAS to kernel (the simulated card computes matrix "
            "products with kernels/matmul.cu) or default (with OpenBLAS, as a card does with cuBLAS), or unset it",
            value);
}

/* ---- CUDA_VISIBLE_DEVICES, as it was when the cards were opened ---- */

static _Atomic bool cards_counted;
static char visible_then[256]; /* with a = before it; "": it was not set */
static void visible_now(char *out, size_t room)
{
    const char *value = getenv("CUDA_VISIBLE_DEVICES");
    snprintf(out, room, "%s%s", value ? "=" : "", value ? value : "");
}

void fy_dev_note_late_setting(void)
{
    static atomic_flag noted = ATOMIC_FLAG_INIT;
    char now[sizeof visible_then];
    visible_now(now, sizeof now);
    if (!atomic_load(&cards_counted) || strcmp(now, visible_then) == 0 || atomic_flag_test_and_set(&noted)) return;
    fprintf(stderr,
            "ferry: CUDA_VISIBLE_DEVICES%.80s came too late and has no effect: the cards were counted before. Set it "
            "before the first call that has to do with a card\n",
            *now ? now : " was unset, which");
}

static void note_visible(void)
{
    visible_now(visible_then, sizeof visible_then);
    if (!atomic_exchange(&cards_counted, true)) atexit(fy_dev_note_late_setting);
}

static void fall_back(const char *why)
{
    snprintf(why_not_real, sizeof why_not_real, "%s", why);
    if (mode == REAL) return;
    note_visible();
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
        refuse_setting("the CPU cannot be used: %s", why);
        return;
    }
    read_policy();
    read_blas();
    if (mode == AUTO || mode == REAL) real = fy_cuda_library(mode == REAL, why, sizeof why);
    if (mode == SIM) fall_back("FERRY_GPU=sim asks for the simulated card");
    else if (mode != NONE && !real) fall_back(why);
}

/* Cards 0, 1 ... until one fails to open; if the first fails, the card is simulated. Switching to the measured clock
 * here is safe: no modelled time has been logged or returned yet. */
static void open_cards(void)
{
    char why[200] = "", name[16];
    note_visible();
    for (int i = 1; i < MOST_DEVICES; i++) {
        snprintf(name, sizeof name, "cuda:%d", i - 1);
        if (open_device(&devices[i], i, name, real, why, sizeof why)) continue;
        if (i == 1) return fall_back(why);
        if (strcmp(why, "no such card") != 0)
            fprintf(stderr, "ferry: %s and later cards are not used: %s\n", name, why);
        break;
    }
    for (int i = 0; i < count; i++) __atomic_store_n(&devices[i].card, NULL, __ATOMIC_RELAXED);
    fy_clock_measure();
    fy_card_opened();
}

static void report_ignored(void)
{
    static const char *const ignored[] = {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"};
    for (int i = 0; i < 2; i++) {
        const char *value = getenv(ignored[i]);
        if (value && *value)
            fprintf(stderr, "ferry: %s=%.80s is ignored: the caching allocator has PyTorch's default settings\n",
                    ignored[i], value);
    }
}

/* FERRY_GPU=real that failed; and, for narration and the page, why the card is simulated. */
static void report_choice(void)
{
    const char *gpu = getenv("FERRY_GPU");
    bool chosen = gpu && *gpu && strcmp(gpu, "auto") != 0;
    if (count > 1) report_ignored();
    if (chosen && strcmp(gpu, "real") == 0 && count == 1)
        fprintf(stderr,
                "ferry: FERRY_GPU=real needs a real card, and there is none: %s. FERRY_GPU=auto simulates one\n",
                why_not_real);
    if (!chosen && count > 1 && why_not_real[0] &&
        (fy_setting_is_on("FERRY_NARRATE") || fy_setting_is_on("FERRY_VIEW")))
        fprintf(stderr, "ferry: cuda:0 is simulated (%s), and its times are modelled, not measured. Reason: %s\n",
                devices[1].card->name, why_not_real);
}

static void exit_if_bad_setting(void)
{
    static _Thread_local bool exiting;
    if (!bad_setting[0] || exiting) return;
    exiting = true;
    fprintf(stderr, "ferry: %s\n", bad_setting);
    exit(1);
}

/* Opens the devices on first use; real cards only where `cards` asks for them. It exits outside of pthread_once: an
 * exit handler that called in here again would deadlock. */
static void ensure_open(bool cards)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT, cards_once = PTHREAD_ONCE_INIT, reported = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_all);
    exit_if_bad_setting();
    if (real && !cards) return;
    if (real) {
        pthread_once(&cards_once, open_cards);
        exit_if_bad_setting();
    }
    pthread_once(&reported, report_choice);
}

int fy_dev_count(void)
{
    ensure_open(true);
    return count;
}

fy_dev *fy_dev_at(int number)
{
    if (number == 0) return ensure_open(false), &devices[0];
    ensure_open(true);
    return number > 0 && number < count ? &devices[number] : NULL;
}

bool fy_dev_copies_implicitly(void)
{
    ensure_open(false);
    return copies_silently;
}

/* Called by a card's back end, so the devices are open. */
bool fy_dev_uses_blas(void) { return !matmul_by_kernel; }

bool fy_dev_model_clock(void)
{
    ensure_open(true);
    return devices[0].card != NULL;
}

const char *fy_dev_why_not_real(void)
{
    ensure_open(false);
    return why_not_real[0] ? why_not_real : NULL;
}

struct fy_device_fault *fy_fault_location(void)
{
    static _Thread_local struct fy_device_fault fault;
    return &fault;
}

/* ---- the session event ---------------------------------------------------------------------------- */

/* Nothing here depends on the machine while the card is simulated, not even why it is: logs must be reproducible. */
void fy_dev_session_json(fy_text *out)
{
    ensure_open(true);
    fy_text_printf(out, "[");
    for (int i = 0; i < count; i++) {
        const fy_dev *d = &devices[i];
        fy_text_printf(out, "%s{\"name\":\"%s\",\"kind\":\"%s\",\"card\":", i ? "," : "", d->name, d->backend->kind);
        fy_text_json(out, d->card_name, strlen(d->card_name));
        fy_text_printf(out, ",\"capacity\":%lld", (long long)d->capacity);
        if (d->card && i) fy_text_printf(out, ",\"physical\":%d", d->physical);
        const char *separator = ",\"model\":{";
        for (const fy_card_param *f = fy_card_params; d->card && f->option; f++) {
            if (i == 0 && !f->host) continue;
            fy_text_printf(out, "%s\"%s\":%lld", separator, f->name, (long long)fy_card_param_get(d->card, f));
            separator = ",";
        }
        fy_text_str(out, d->card ? "}}" : "}");
    }
    fy_text_printf(out, "]");
}
