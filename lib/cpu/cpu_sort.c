/* cpu_sort.c: argsort on the host: a stable merge sort of integer keys that have the elements' order, whatever the
 * dtype. */
#include <math.h>
#include <stdlib.h>

#include "cpu.h"
#include "dtype.h"
#include "offset.h"
#include "op.h"
#include "out_of_memory.h"
#include "run_work.h"
#include "thread_pool.h"

enum { GRAIN = 1 << 12 /* elements worth a thread */ };

typedef struct entry {
    uint64_t key;
    int64_t index;
} entry;

/* Floats: 0 and -0 get equal keys, the bits of negative ones are inverted, NaN is the largest. */
static uint64_t key_of(fy_dtype d, const void *data, int64_t place)
{
    const uint64_t sign = (uint64_t)1 << 63;
    uint64_t bits;
    if (d == FY_BOOL) return ((const uint8_t *)data)[place] != 0;
    if (!fy_dtype_is_real(d)) return (uint64_t)fy_integer_at(d, data, place) ^ sign;
    double x = fy_real_at(d, data, place);
    if (isnan(x)) return UINT64_MAX;
    if (x == 0) x = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

/* Merges two sorted runs; of equal keys the left one comes first (stable). */
static void merge(const entry *left, int64_t n, const entry *right, int64_t m, entry *out)
{
    while (n > 0 && m > 0) {
        if (right->key < left->key) {
            *out++ = *right++;
            m--;
        } else {
            *out++ = *left++;
            n--;
        }
    }
    memcpy(out, left, (size_t)n * sizeof *left);
    memcpy(out + n, right, (size_t)m * sizeof *right);
}

/* Returns whichever of the two buffers holds the sorted entries. */
static entry *sort(entry *x, entry *other, int64_t n)
{
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t i = 0; i < n; i += 2 * run) {
            int64_t left = n - i < run ? n - i : run, right = n - i - left < run ? n - i - left : run;
            merge(x + i, left, x + i + left, right, other + i);
        }
        entry *swap = x;
        x = other;
        other = swap;
    }
    return x;
}

static void sort_lines(int64_t first, int64_t last, void *work)
{
    const fy_run_work *w = work;
    const fy_layout *l = &w->in[0].layout, *o = &w->out.layout;
    int64_t n = l->shape[l->ndim - 1], step = l->strides[l->ndim - 1], out_step = o->strides[o->ndim - 1];
    uint64_t turn = w->integer[FY_ARGSORT_descending] ? UINT64_MAX : 0; /* reverses the order of the keys */
    int64_t *out = w->out.data;
    entry *room = malloc((size_t)n * 2 * sizeof *room);
    if (!room) fy_out_of_memory("a line that is sorted");
    for (int64_t line = first; line < last; line++) {
        int64_t from = fy_offset_of(l, l->ndim - 1, line), to = fy_offset_of(o, o->ndim - 1, line);
        for (int64_t i = 0; i < n; i++) room[i] = (entry){key_of(w->dtype, w->in[0].data, from + i * step) ^ turn, i};
        const entry *sorted = sort(room, room + n, n);
        for (int64_t i = 0; i < n; i++) out[to + i * out_step] = sorted[i].index;
    }
    free(room);
}

void fy_host_argsort(fy_run_work *w)
{
    int64_t n = w->in[0].layout.shape[w->in[0].layout.ndim - 1];
    fy_thread_pool_run(w->out.layout.numel / n, GRAIN / n + 1, sort_lines, w);
}
