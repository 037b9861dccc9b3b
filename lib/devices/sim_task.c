/* sim_task.c: what the simulated card's work does to memory when it executes.
 *
 * The result of a data race is undefined. Here it is always poison: bytes of 0xff, which are NaN and -1. So a program
 * with a race is wrong on every run, not on some. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "contents.h"
#include "cpu.h"
#include "device.h"
#include "dtype.h"
#include "event.h"
#include "kernel_table.h"
#include "out_of_memory.h"
#include "run_work.h"
#include "sim.h"

enum { PAGE = 65536 };
static const size_t max_fill = (size_t)64 << 20; /* bytes; limits the RAM that a large allocation touches */

size_t fy_sim_extent(const fy_operand *o)
{
    int64_t last = 0;
    for (int i = 0; i < o->layout.ndim; i++) last += (o->layout.shape[i] - 1) * o->layout.strides[i];
    return (size_t)(last + 1) * fy_dtype_size(o->dtype);
}

/* data: where the host can read it. */
static void log_result(uint32_t work, fy_contents contents, const void *data)
{
    contents.data = data;
    fy_result_emit(&contents, work);
}

/* ---- copies ---- */

void fy_sim_fill(fy_sim *s, void *p, size_t bytes, int byte)
{
    char *at = fy_sim_alias(s, p), *end = at + bytes;
    memset(at, byte, bytes < max_fill ? bytes : max_fill);
    if (bytes <= max_fill) return;
    size_t offset = (size_t)(at + max_fill - s->alias + PAGE - 1) / PAGE * PAGE;
    size_t to = (size_t)(end - s->alias) / PAGE * PAGE;
    if (to > offset) madvise(s->alias + offset, to - offset, MADV_REMOVE);
}

/* An address that the host can access; NULL: on a closed card. */
static void *host_address(const void *p, size_t bytes, bool on_card)
{
    const fy_sim *s = on_card ? fy_sim_owner(p, bytes) : NULL;
    return !on_card ? (void *)(uintptr_t)p : s ? fy_sim_alias(s, p) : NULL;
}

void fy_sim_move(const fy_copy_work *w, const void *side, uint8_t races)
{
    void *dst = host_address(w->dst, w->bytes, w->dir != FY_WORD_d2h);
    const void *src = side ? side : host_address(w->src, w->bytes, w->dir != FY_WORD_h2d);
    if (!dst || !src || !w->bytes) return;
    if (races) memset(dst, FY_SIM_POISON, w->bytes);
    else memmove(dst, src, w->bytes);
    if (w->contents.tensor) log_result(w->id, w->contents, dst);
}

/* ---- kernels ---- */

/* Elements only, not the gaps between them. */
static void poison(const fy_operand *o)
{
    const fy_layout *l = &o->layout;
    size_t size = fy_dtype_size(o->dtype);
    int64_t index[FY_MAX_DIMS] = {0}, offset = 0;
    for (int64_t i = 0; i < l->numel; i++) {
        memset((char *)o->data + offset * (int64_t)size, FY_SIM_POISON, size);
        for (int d = l->ndim - 1; d >= 0; d--) {
            offset += l->strides[d];
            if (++index[d] < l->shape[d]) break;
            offset -= l->strides[d] * l->shape[d];
            index[d] = 0;
        }
    }
}

/* Poison is NaN in the float types of a list, and what a kernel computes from NaN is NaN: so a racing input, too, makes
 * the result poison. */
static void end_item(const fy_sim *s, const fy_run_work *w, const fy_item *item, const char *fault)
{
    if (item->races.own) memset(item->out, FY_SIM_POISON, (size_t)item->numel * fy_dtype_size(w->dtype));
    if (!fault && item->contents.tensor) log_result(w->id, item->contents, fy_sim_alias(s, item->contents.data));
}

/* Its addresses are mapped already. A kernel's fault makes the card fail at every later call, with CUDA's text and the
 * kernel's. */
static void run(fy_sim *s, fy_task *t)
{
    fy_run_work *w = &t->run;
    void *replaced[FY_MAX_INPUTS] = {0}; /* poison in place of each input that races */
    for (int i = 0; t->races && i < w->nin; i++) {
        fy_operand *o = &w->in[i];
        if (!(t->races >> i & 1) || !o->data || o->layout.numel <= 0) continue;
        replaced[i] = malloc(fy_sim_extent(o));
        if (!replaced[i]) fy_out_of_memory("the result of a data race");
        o->data = memset(replaced[i], FY_SIM_POISON, fy_sim_extent(o));
    }

    if (w->blas) fy_host_op_find(w->op)(w);
    else fy_sim_kernel(w->op)->launch(w);
    const char *fault = w->blas ? NULL : fy_sim_kernel_fault();
    if (fault) {
        bool assertion = strncmp(fault, "device-side assert", 18) == 0;
        snprintf(s->fault, sizeof s->fault, "CUDA error: %s%s", assertion ? "" : "unspecified launch failure: ", fault);
        s->fault_work = t->id;
    }

    if (t->races & FY_RACE_OUT) poison(&w->out);
    for (int i = 0; i < w->nitems; i++) end_item(s, w, &w->items[i], fault);
    if (!fault && w->contents.tensor) log_result(w->id, w->contents, fy_sim_alias(s, w->contents.data));
    for (int i = 0; t->races && i < w->nin; i++) free(replaced[i]);
}

void fy_sim_task_run(fy_sim *s, fy_task *t)
{
    if (t->kind == FY_TASK_RUN) run(s, t);
    else if (!t->copy.src) fy_sim_fill(s, t->copy.dst, t->copy.bytes, t->copy.fill_byte);
    else fy_sim_move(&t->copy, t->side, t->races);
    fy_sim_pinned_done(t);
}
