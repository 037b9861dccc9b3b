/* cpu.c: the host as a back end. Every call is synchronous. Its time is modelled (card_models.c), or measured if there
 * is a real card. */
#define _GNU_SOURCE 1 /* MADV_HUGEPAGE */
#include "cpu.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "card_params.h"
#include "clock.h"
#include "device.h"
#include "event.h"
#include "run_work.h"

enum { ALIGN = 64, LARGE_PAGE = 2 << 20, LARGE = 2 * LARGE_PAGE };

static bool cpu_open(fy_dev *d, char *why, size_t room)
{
    (void)d, (void)why, (void)room;
    return true;
}

static void cpu_close(fy_dev *d) { (void)d; }

static bool cpu_info(fy_dev *d, char *why, size_t room)
{
    (void)why, (void)room;
    strcpy(d->card_name, fy_card_host()->name);
    d->capacity = fy_card_host()->capacity;
    return true;
}

/* The capacity is the model's, not this machine's, so that programs run out of memory at the same point everywhere.
 * Pinned memory is allocated by a card's back end. */
static void *cpu_alloc(fy_dev *d, size_t bytes, fy_word mem, fy_time *t)
{
    *t = (fy_time){.start = fy_clock_now(), .end = fy_clock_now()};
    int64_t live = __atomic_load_n(&d->live_bytes, __ATOMIC_RELAXED);
    if (mem == FY_WORD_pinned) return strcpy(fy_fault.text, "only a card can pin memory"), NULL;
    if (bytes > (size_t)d->capacity || (int64_t)bytes > d->capacity - live) return NULL;

    /* Large blocks use huge pages: faulting in fresh memory 4 KiB at a time takes far longer than most ops. */
    size_t align = bytes < LARGE ? ALIGN : LARGE_PAGE, rounded = (bytes + align - 1) / align * align;
    void *p = aligned_alloc(align, rounded);
    if (p && align == LARGE_PAGE) madvise(p, rounded, MADV_HUGEPAGE);
    return p;
}

static void cpu_release(fy_dev *d, void *p, size_t bytes, fy_word mem, fy_time *t)
{
    (void)d, (void)bytes, (void)mem;
    *t = (fy_time){.start = fy_clock_now(), .end = fy_clock_now()};
    free(p);
}

/* The model's parameters; NULL: times are measured, as soon as a real card is open. */
static const fy_card *model(const fy_dev *d) { return __atomic_load_n(&d->card, __ATOMIC_RELAXED); }

/* Advances the modelled clock by the cost of work that began at `before`, and fills *t. */
static void advance(const fy_dev *d, fy_time *t, int64_t before, double seconds)
{
    const fy_card *card = model(d);
    int64_t overhead = card ? card->call_overhead : 0;
    if (card) fy_clock_advance(overhead + llround(seconds * 1e9));
    *t = (fy_time){.start = before + overhead, .end = fy_clock_now(), .overhead = overhead};
    t->held = t->end - before;
}

static bool cpu_copy(fy_dev *d, fy_copy_work *w)
{
    const fy_card *card = model(d);
    int64_t before = fy_clock_now();
    if (w->bytes) memmove(w->dst, w->src, w->bytes);
    w->route = FY_WORD_host;
    w->was_async = false;
    advance(d, &w->time, before, card ? (double)w->bytes / card->memory_bandwidth : 0);
    return true;
}

/* Item by item. */
static void run_items(fy_host_op op, const fy_run_work *w)
{
    fy_run_work one = *w;
    one.items = NULL;
    for (int i = 0; i < w->nitems; i++) {
        const fy_item *item = &w->items[i];
        fy_layout flat = {.ndim = 1, .numel = item->numel, .shape = {item->numel}, .strides = {1}};
        if (item->numel == 0) continue;
        for (int k = 0; k < w->nin; k++) one.in[k] = (fy_operand){(void *)(uintptr_t)item->in[k], w->in[k].dtype, flat};
        one.out = (fy_operand){item->out, w->out.dtype, flat};
        op(&one);
    }
}

/* Roofline: the slower of arithmetic and memory. */
static bool cpu_run(fy_dev *d, fy_run_work *w)
{
    int64_t before = fy_clock_now();
    fy_host_op op = fy_host_op_find(w->op);
    if (!op) return strcpy(fy_fault.text, "no host version of this op"), false;
    if (w->items) run_items(op, w);
    else op(w);
    double work = 0;
    const fy_card *card = model(d);
    if (card) work = fmax((double)w->flops / card->flops_f32, (double)w->bytes / card->memory_bandwidth);
    advance(d, &w->time, before, work);
    return true;
}

static bool cpu_record(fy_dev *d, int stream, fy_point *p)
{
    (void)d, (void)stream;
    p->when = fy_clock_now();
    return true;
}

static bool cpu_wait(fy_dev *d, const fy_point *p, fy_dev *waiter, int stream, fy_time *t)
{
    (void)d, (void)p, (void)waiter, (void)stream;
    *t = (fy_time){.start = fy_clock_now(), .end = fy_clock_now()};
    return true;
}

static bool cpu_done(fy_dev *d, const fy_point *p, int64_t *when)
{
    (void)d;
    *when = p->when;
    return true;
}

const fy_backend fy_backend_cpu = {
    .kind = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .info = cpu_info,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .copy = cpu_copy,
    .run = cpu_run,
    .record = cpu_record,
    .wait = cpu_wait,
    .done = cpu_done,
};
