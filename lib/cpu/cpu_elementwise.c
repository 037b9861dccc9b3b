/* cpu_elementwise.c: runs an elementwise op over operands of any layout. A loop takes contiguous elements only; other
 * layouts, 16-bit floats and numbers go through a small buffer, block by block. */
#include "cpu.h"
#include "dtype.h"
#include "op.h"
#include "run_work.h"
#include "thread_pool.h"

enum { BLOCK = 512, GRAIN = 128 * BLOCK, WIDEST = 8, LONG_ROW = 64 };

/* One operand; dimensions in the result's memory order, innermost first. */
typedef struct side {
    char *data; /* NULL: a number */
    int64_t size;
    fy_dtype dtype;
    bool flat;   /* element i is at data + i * size */
    bool halves; /* 16-bit floats, which the loop takes as float */
    int64_t step[FY_MAX_DIMS];
} side;

typedef struct map {
    const fy_run_work *w;
    fy_loop loop;
    int ndim;
    int64_t shape[FY_MAX_DIMS];
    side out, in[FY_MAX_INPUTS];
    bool direct; /* no operand needs a buffer */
    bool by_row; /* blocks end at rows: within a row, contiguous operands need no buffer */
} map;

typedef union block {
    char bytes[BLOCK * WIDEST];
    double align;
} block;

/* ---- planning ------------------------------------------------------------------------------------ */

/* Dimensions by increasing stride of the result, so that it is written in memory order. */
static void sort_dims(const fy_layout *l, int *order)
{
    for (int i = 0; i < l->ndim; i++) {
        int d = l->ndim - 1 - i, j = i;
        for (; j > 0 && l->strides[d] < l->strides[order[j - 1]]; j--) order[j] = order[j - 1];
        order[j] = d;
    }
}

static void set_side(side *s, const fy_operand *x, int ndim, const int *order, bool raw)
{
    int64_t run = 1;
    s->data = x->data;
    s->dtype = x->dtype;
    s->size = (int64_t)fy_dtype_size(x->dtype);
    s->flat = x->data != NULL;
    s->halves = !raw && (x->dtype == FY_FLOAT16 || x->dtype == FY_BFLOAT16);
    if (!x->data) return;
    for (int i = 0; i < ndim; i++) {
        bool walked = x->layout.shape[order[i]] != 1; /* the stride of a size of 1 is arbitrary */
        s->step[i] = walked ? x->layout.strides[order[i]] * s->size : 0;
        if (walked && x->layout.strides[order[i]] != run) s->flat = false;
        run *= x->layout.shape[order[i]];
    }
}

/* Merges dimensions that are contiguous in every operand. */
static void join_dims(map *m)
{
    side *s[1 + FY_MAX_INPUTS] = {&m->out};
    int sides = 1 + m->w->nin, kept = 0;
    for (int k = 1; k < sides; k++) s[k] = &m->in[k - 1];
    for (int d = 0; d < m->ndim; d++) {
        bool joins = kept > 0;
        if (m->shape[d] == 1) continue;
        for (int k = 0; k < sides && joins; k++)
            if (s[k]->data && s[k]->step[d] != s[k]->step[kept - 1] * m->shape[kept - 1]) joins = false;
        if (joins) {
            m->shape[kept - 1] *= m->shape[d];
            continue;
        }
        m->shape[kept] = m->shape[d];
        for (int k = 0; k < sides; k++) s[k]->step[kept] = s[k]->step[d];
        kept++;
    }
    m->ndim = kept;
}

static void plan(map *m, const fy_run_work *w, bool raw)
{
    const fy_layout *l = &w->out.layout;
    int order[FY_MAX_DIMS];
    sort_dims(l, order);
    m->w = w;
    m->by_row = false;
    m->ndim = l->ndim;
    for (int i = 0; i < l->ndim; i++) m->shape[i] = l->shape[order[i]];
    set_side(&m->out, &w->out, l->ndim, order, raw);
    m->direct = m->out.flat && !m->out.halves;
    for (int k = 0; k < w->nin; k++) {
        m->in[k] = (side){.data = NULL};
        set_side(&m->in[k], &w->in[k], l->ndim, order, raw);
        m->direct = m->direct && m->in[k].flat && !m->in[k].halves;
    }
    if (m->direct) return;
    join_dims(m);
    m->by_row = m->ndim > 0 && m->shape[0] >= LONG_ROW;
}

/* ---- blocks -------------------------------------------------------------------------------------- */

#define COPY_STEPS(T) \
    for (int64_t i = 0; i < n; i++) *(T *)(void *)(to + i * to_step) = *(const T *)(const void *)(from + i * from_step);

static void copy_row(int64_t n, int64_t size, char *to, int64_t to_step, const char *from, int64_t from_step)
{
    if (to_step == size && from_step == size) {
        memcpy(to, from, (size_t)(n * size));
        return;
    }
    switch (size) {
    case 1: COPY_STEPS(uint8_t) break;
    case 2: COPY_STEPS(uint16_t) break;
    case 4: COPY_STEPS(uint32_t) break;
    default: COPY_STEPS(uint64_t) break;
    }
}

/* Copies elements from .. from + n of an operand into a buffer, or back. */
static void exchange(const map *m, const side *s, int64_t from, int64_t n, char *buffer, bool fetch)
{
    int64_t at[FY_MAX_DIMS] = {0};
    char *p = s->data;
    for (int d = 0; d < m->ndim; d++) {
        at[d] = from % m->shape[d];
        from /= m->shape[d];
        p += at[d] * s->step[d];
    }
    int64_t width = m->ndim ? m->shape[0] : 1, step = m->ndim ? s->step[0] : 0;
    for (;;) {
        int64_t row = width - at[0] < n ? width - at[0] : n;
        if (fetch) copy_row(row, s->size, buffer, s->size, p, step);
        else copy_row(row, s->size, p, step, buffer, s->size);
        buffer += row * s->size;
        if ((n -= row) == 0) return;
        p -= at[0] * step;
        at[0] = 0;
        for (int d = 1; d < m->ndim; d++) {
            p += s->step[d];
            if (++at[d] < m->shape[d]) break;
            p -= s->step[d] * m->shape[d];
            at[d] = 0;
        }
    }
}

static void widen(const side *s, int64_t n, void *to, const void *from)
{
    if (s->dtype == FY_FLOAT16) fy_half_widen(n, to, from);
    else fy_bfloat_widen(n, to, from);
}

/* A number, n times. */
static void repeat(const map *m, int k, int64_t n, block *b)
{
    const side *s = &m->in[k];
    fy_arg number = fy_dtype_is_real(s->dtype) ? fy_arg_real(m->w->real[k]) : fy_arg_int(m->w->integer[k]);
    union {
        uint64_t whole;
        char bytes[8];
    } x = {0};
    fy_number_put(s->dtype, &x, 0, number);
    char *p = b->bytes;
    int64_t size = s->size;
    if (s->halves) {
        float wide = (float)m->w->real[k];
        if (!fy_op_keeps_number(m->w->op)) widen(s, 1, &wide, &x);
        memcpy(&x, &wide, sizeof wide);
        size = sizeof wide;
    }
    copy_row(n, size, p, size, x.bytes, 0);
}

/* Address of element `from` if the rest of the block is contiguous, else NULL. */
static char *place_of(const map *m, const side *s, int64_t from)
{
    if (s->flat) return s->data + from * s->size;
    if (!m->by_row || s->step[0] != s->size) return NULL;
    char *p = s->data;
    for (int d = 0; d < m->ndim; d++) {
        p += from % m->shape[d] * s->step[d];
        from /= m->shape[d];
    }
    return p;
}

/* Where the loop reads elements from .. from + n of input k. */
static const void *input(const map *m, int k, int64_t from, int64_t n, block *raw, block *wide)
{
    const side *s = &m->in[k];
    if (!s->data) return wide; /* repeated there */
    const char *p = place_of(m, s, from);
    if (!p) {
        exchange(m, s, from, n, raw->bytes, true);
        p = raw->bytes;
    }
    if (!s->halves) return p;
    widen(s, n, wide, p);
    return wide;
}

/* raw and wide: a buffer per operand, the last one for the result. */
static void run_block(const map *m, int64_t from, int64_t n, block *raw, block *wide)
{
    const side *out = &m->out;
    const void *in[FY_MAX_INPUTS];
    int k = 0;
    for (; k < m->w->nin; k++) in[k] = input(m, k, from, n, &raw[k], &wide[k]);
    char *there = place_of(m, out, from), *place = there ? there : raw[k].bytes;
    m->loop(n, out->halves ? wide[k].bytes : place, in, m->w);
    if (out->halves && out->dtype == FY_FLOAT16) fy_half_narrow(n, (void *)place, (void *)wide[k].bytes);
    else if (out->halves) fy_bfloat_narrow(n, (void *)place, (void *)wide[k].bytes);
    if (!there) exchange(m, out, from, n, place, false);
}

static void run_part(int64_t from, int64_t to, void *context)
{
    const map *m = context;
    block raw[FY_MAX_INPUTS + 1], wide[FY_MAX_INPUTS + 1];
    if (m->direct) {
        const void *in[FY_MAX_INPUTS];
        for (int k = 0; k < m->w->nin; k++) in[k] = m->in[k].data + from * m->in[k].size;
        m->loop(to - from, m->out.data + from * m->out.size, in, m->w);
        return;
    }
    for (int k = 0; k < m->w->nin; k++)
        if (!m->in[k].data) repeat(m, k, to - from < BLOCK ? to - from : BLOCK, &wide[k]);
    for (int64_t n; from < to; from += n) {
        int64_t row = m->by_row ? m->shape[0] - from % m->shape[0] : BLOCK, left = to - from;
        n = left < BLOCK ? left : BLOCK;
        if (row < n) n = row;
        run_block(m, from, n, raw, wide);
    }
}

static void run(fy_run_work *w, fy_loop loop, bool raw)
{
    map m;
    plan(&m, w, raw);
    m.loop = loop;
    fy_thread_pool_run(w->out.layout.numel, GRAIN, run_part, &m);
}

void fy_map(fy_run_work *w, fy_loop loop) { run(w, loop, false); }
void fy_map_raw(fy_run_work *w, fy_loop loop) { run(w, loop, true); }

void fy_map_any(fy_run_work *w, const fy_loops *loops)
{
    switch (w->dtype) {
    case FY_FLOAT16:
    case FY_BFLOAT16:
    case FY_FLOAT32: fy_map(w, loops->f32); break;
    case FY_FLOAT64: fy_map(w, loops->f64); break;
    case FY_INT64: fy_map(w, loops->i64); break;
    case FY_INT32: fy_map(w, loops->i32); break;
    case FY_UINT8: fy_map(w, loops->u8); break;
    case FY_BOOL: fy_map(w, loops->boolean); break;
    case FY_DTYPE_UNSET: break;
    }
}
