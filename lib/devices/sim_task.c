/* sim_task.c: what the simulated card's work does to memory when it is done.
 *
 * Where an access races, nobody can say what it finds. Here it finds poison, always: bytes of 0xff, which are NaN
 * and -1. So a program with a race is wrong on every run, not on some. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu.h"
#include "device.h"
#include "dtype.h"
#include "event.h"
#include "kernel_table.h"
#include "out_of_memory.h"
#include "run_work.h"
#include "sim.h"

enum { PAGE = 65536 };
static const size_t fill_most = (size_t)64 << 20; /* so that a large allocation eats no RAM */

size_t fy_sim_extent(const fy_operand *o)
{
    int64_t last = 0;
    for (int i = 0; i < o->layout.ndim; i++) last += (o->layout.shape[i] - 1) * o->layout.strides[i];
    return (size_t)(last + 1) * fy_dtype_size(o->dtype);
}

/* ---- copies ---- */

void fy_sim_fill(fy_sim *s, void *p, size_t bytes, int byte)
{
    char *at = fy_sim_alias(s, p), *end = at + bytes;
    memset(at, byte, bytes < fill_most ? bytes : fill_most);
    if (bytes <= fill_most) return;
    size_t from = (size_t)(at + fill_most - s->alias + PAGE - 1) / PAGE * PAGE;
    size_t to = (size_t)(end - s->alias) / PAGE * PAGE;
    if (to > from) madvise(s->alias + from, to - from, MADV_REMOVE);
}

/* NULL: on a card that is closed. */
static void *touchable(const void *p, size_t bytes, bool on_card)
{
    const fy_sim *s = on_card ? fy_sim_owner(p, bytes) : NULL;
    return !on_card ? (void *)(uintptr_t)p : s ? fy_sim_alias(s, p) : NULL;
}

void fy_sim_move(const fy_copy_work *w, const void *side, uint8_t races)
{
    void *dst = touchable(w->dst, w->bytes, w->dir != FY_WORD_d2h);
    const void *src = side ? side : touchable(w->src, w->bytes, w->dir != FY_WORD_h2d);
    if (!dst || !src || !w->bytes) return;
    if (races) memset(dst, FY_SIM_POISON, w->bytes);
    else memmove(dst, src, w->bytes);
}

/* ---- kernels ---- */

static bool is_there(const fy_operand *o) { return o->data && o->layout.numel > 0; }

/* Instead of an operand that races. */
static void *poison_like(const fy_operand *o)
{
    void *p = malloc(fy_sim_extent(o));
    if (!p) fy_out_of_memory("what a race leaves");
    return memset(p, FY_SIM_POISON, fy_sim_extent(o));
}

/* Every element, and nothing between them. */
static void poison(const fy_operand *o)
{
    const fy_layout *l = &o->layout;
    size_t size = fy_dtype_size(o->dtype);
    int64_t index[FY_MAX_DIMS] = {0}, from = 0;
    for (int64_t i = 0; i < l->numel; i++) {
        memset((char *)o->data + from * (int64_t)size, FY_SIM_POISON, size);
        for (int d = l->ndim - 1; d >= 0; d--) {
            from += l->strides[d];
            if (++index[d] < l->shape[d]) break;
            from -= l->strides[d] * l->shape[d];
            index[d] = 0;
        }
    }
}

/* The card stops here, in CUDA's words and the kernel's own. */
static void note_fault(fy_sim *s, const fy_task *t, const char *fault)
{
    bool assertion = strncmp(fault, "device-side assert", 18) == 0;
    snprintf(s->fault, sizeof s->fault, "CUDA error: %s%s", assertion ? "" : "unspecified launch failure: ", fault);
    s->fault_work = t->id;
}

/* The addresses are already such as the host may use. */
static const char *launch(fy_run_work *w)
{
    if (w->blas) return fy_host_op_find(w->op)(w), NULL;
    fy_sim_kernel(w->op)->launch(w);
    return fy_sim_kernel_fault();
}

static void run(fy_sim *s, fy_task *t)
{
    fy_run_work *w = &t->run;
    void *instead[FY_MAX_INPUTS] = {0};
    for (int i = 0; t->races && i < w->nin; i++)
        if (t->races >> i & 1 && is_there(&w->in[i])) w->in[i].data = instead[i] = poison_like(&w->in[i]);
    const char *fault = launch(w);
    if (fault) note_fault(s, t, fault);
    if (t->races & FY_RACE_OUT) poison(&w->out);
    for (int i = 0; t->races && i < w->nin; i++) free(instead[i]);
}

void fy_sim_do(fy_sim *s, fy_task *t)
{
    if (t->kind == FY_TASK_RUN) run(s, t);
    else if (!t->copy.src) fy_sim_fill(s, t->copy.dst, t->copy.bytes, t->copy.fill_byte);
    else fy_sim_move(&t->copy, t->side, t->races);
    fy_sim_pinned_done(t);
}
