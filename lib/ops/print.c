/* print.c: fy_print, in PyTorch's format:
 *
 *     tensor([[1.0000, 2.5000],
 *             [3.0000, 4.0000]], device='cuda:0')
 *
 * Four digits after the point; whole numbers as 1. ; scientific notation if the magnitudes differ widely. More than
 * 1000 elements are summarised by three at each end of a dimension. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dtype.h"
#include "event.h"
#include "frame.h"
#include "graph.h"
#include "session_hooks.h"
#include "shape.h"
#include "tensor.h"
#include "text.h"
#include "transfer.h"

enum { EDGE = 3, THRESHOLD = 1000, LINE = 80, INDENT = 7 /* "tensor(" */ };

typedef enum style { TRUTH, INTEGER, WHOLE, FIXED, SCIENTIFIC } style;

typedef struct printer {
    const fy_tensor *x;
    const fy_node *node; /* of its gradient; NULL: none */
    bool required;       /* x requires grad */
    const void *data;    /* rows */
    bool summary;
    style style;
    int width;
    bool found, fraction; /* while measuring: a finite nonzero value; one that is not whole */
    double low, high;     /* its magnitudes */
    fy_text out;
} printer;

static bool is_real(const printer *p) { return p->style > INTEGER; }
static double real_at(const printer *p, int64_t i) { return fy_real_at(p->x->dtype, p->data, i); }
static int64_t integer_at(const printer *p, int64_t i) { return fy_integer_at(p->x->dtype, p->data, i); }

/* One value, not padded; returns its length. */
static int format(const printer *p, int64_t i, char *buf, size_t room)
{
    if (p->style == TRUTH) return snprintf(buf, room, integer_at(p, i) ? "True" : "False");
    if (p->style == INTEGER) return snprintf(buf, room, "%lld", (long long)integer_at(p, i));
    double v = real_at(p, i);
    if (isnan(v)) return snprintf(buf, room, "nan");
    if (isinf(v)) return snprintf(buf, room, v < 0 ? "-inf" : "inf");
    if (p->style == SCIENTIFIC) return snprintf(buf, room, "%.4e", v);
    return snprintf(buf, room, p->style == WHOLE ? "%.0f." : "%.4f", v);
}

/* ---- measuring ---- */

static void range(printer *p, int64_t i)
{
    double v = is_real(p) ? fabs(real_at(p, i)) : 0;
    if (v == 0 || !isfinite(v)) return;
    p->low = p->found && p->low < v ? p->low : v;
    p->high = p->found && p->high > v ? p->high : v;
    p->found = true;
    p->fraction |= v != ceil(v);
}

static void widen(printer *p, int64_t i)
{
    char buf[400];
    if (is_real(p) && (real_at(p, i) == 0 || !isfinite(real_at(p, i)))) return;
    int n = format(p, i, buf, sizeof buf);
    p->width = n > p->width ? n : p->width;
}

/* Is index i summarised by "..."? */
static bool is_skipped(const printer *p, int64_t i, int64_t size)
{
    return p->summary && size > 2 * EDGE && i >= EDGE && i < size - EDGE;
}

/* Calls f for each element that is printed. */
static void visit(printer *p, int dim, int64_t first, void (*f)(printer *, int64_t))
{
    if (dim == p->x->ndim) {
        f(p, first);
        return;
    }
    int64_t step = 1, size = p->x->shape[dim];
    for (int d = dim + 1; d < p->x->ndim; d++) step *= p->x->shape[d];
    for (int64_t i = 0; i < size; i++) {
        if (is_skipped(p, i, size)) i = size - EDGE;
        visit(p, dim + 1, first + i * step, f);
    }
}

static void measure(printer *p)
{
    p->style = fy_dtype_is_real(p->x->dtype) ? WHOLE : p->x->dtype == FY_BOOL ? TRUTH : INTEGER;
    p->width = 1;
    visit(p, 0, 0, range);
    bool wide = p->found && (p->high / p->low > 1000 || p->high > 1e8 || (p->fraction && p->low < 1e-4));
    if (is_real(p) && p->found) p->style = wide ? SCIENTIFIC : p->fraction ? FIXED : WHOLE;
    visit(p, 0, 0, widen);
}

/* ---- writing ---- */

static void add(printer *p, const char *s) { fy_text_add(&p->out, s, strlen(s)); }

static void add_element(printer *p, int64_t i)
{
    char buf[400];
    format(p, i, buf, sizeof buf);
    fy_text_printf(&p->out, "%*s", p->x->ndim ? p->width : 0, buf);
}

static void add_row(printer *p, int64_t first, int64_t size, int indent)
{
    int64_t per_line = (LINE - indent) / (p->width + 2), on_line = 0;
    add(p, "[");
    for (int64_t i = 0; i < size; i++, on_line++) {
        if (i > 0 && on_line >= (per_line > 0 ? per_line : 1)) {
            fy_text_printf(&p->out, ",\n%*s", indent + 1, "");
            on_line = 0;
        } else if (i > 0) {
            add(p, ", ");
        }
        if (is_skipped(p, i, size)) {
            add(p, " ...");
            i = size - EDGE - 1;
        } else {
            add_element(p, first + i);
        }
    }
    add(p, "]");
}

static void add_block(printer *p, int dim, int64_t first, int indent)
{
    const fy_tensor *x = p->x;
    if (dim == x->ndim) {
        add_element(p, first);
        return;
    }
    if (dim == x->ndim - 1) {
        add_row(p, first, x->shape[dim], indent);
        return;
    }
    int64_t step = 1, size = x->shape[dim];
    for (int d = dim + 1; d < x->ndim; d++) step *= x->shape[d];
    add(p, "[");
    for (int64_t i = 0; i < size; i++) {
        if (i > 0) add(p, ",");
        for (int d = dim; i > 0 && d < x->ndim - 1; d++) add(p, "\n");
        if (i > 0) fy_text_printf(&p->out, "%*s", indent + 1, "");
        if (is_skipped(p, i, size)) {
            add(p, "...");
            i = size - EDGE - 1;
        } else {
            add_block(p, dim + 1, first + i * step, indent + 1);
        }
    }
    add(p, "]");
}

/* ", suffix", on a new line if the last one is full. `length` is the last line's length, as PyTorch counts it. */
static void add_suffix(printer *p, size_t *length, const char *suffix)
{
    size_t n = strlen(suffix);
    bool full = *length + n + 2 > LINE;
    if (full) fy_text_printf(&p->out, ",\n%*s%s", INDENT, "", suffix);
    else fy_text_printf(&p->out, ", %s", suffix);
    *length = full ? INDENT + n : *length + n + 2;
}

/* Device, size and dtype, as far as the values do not imply them; and what gradients it has. */
static void add_suffixes(printer *p)
{
    char buf[300], shape[256];
    const fy_tensor *x = p->x;
    size_t length = 0; /* of the last line, plus 2: PyTorch counts the newline and the closing bracket */
    if (!p->out.lost) {
        const char *end = p->out.data + p->out.size, *line = end;
        while (line > p->out.data && line[-1] != '\n') line--;
        length = (size_t)(end - line) + 2;
    }
    if (x->storage->dev->number > 0) {
        snprintf(buf, sizeof buf, "device='%s'", x->storage->dev->name);
        add_suffix(p, &length, buf);
    }
    bool empty = fy_tensor_numel(x) == 0;
    if (empty && x->ndim != 1) {
        snprintf(buf, sizeof buf, "size=%s", fy_shape_text(x->shape, x->ndim, "()", shape, sizeof shape));
        add_suffix(p, &length, buf);
    }
    if (x->dtype != FY_FLOAT32 && (empty || (x->dtype != FY_INT64 && x->dtype != FY_BOOL))) {
        snprintf(buf, sizeof buf, "dtype=%s", fy_dtype_name(x->dtype));
        add_suffix(p, &length, buf);
    }
    if (p->node && p->node->op != FY_NODE_LEAF) {
        snprintf(buf, sizeof buf, "grad_fn=<%s>", fy_node_name(p->node, shape, sizeof shape));
        add_suffix(p, &length, buf);
    } else if (p->required) add_suffix(p, &length, "requires_grad=True");
}

/* False if out of memory; then nothing is printed. */
static bool write_out(fy_tensor *x, const void *data)
{
    printer p = {.x = x,
                 .node = fy_node_of(x),
                 .required = fy_is_required(x),
                 .data = data,
                 .summary = fy_tensor_numel(x) > THRESHOLD};
    add(&p, "tensor(");
    if (fy_tensor_numel(x) == 0) {
        add(&p, "[]");
    } else {
        measure(&p);
        add_block(&p, 0, 0, INDENT);
    }
    add_suffixes(&p);
    add(&p, ")\n");
    if (!p.out.lost) fwrite(p.out.data, 1, p.out.size, stdout);
    free(p.out.data);
    return !p.out.lost;
}

void fy_print_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_check(at, 0, x)) return;
    void *data = fy_copy_to_host(at, x, FY_WORD_print);
    if (!data) return;
    fy_emit_read(at, x, FY_WORD_print);
    fy_emit_values(at, x, data, FY_SAMPLE);
    bool printed = write_out(x, data);
    free(data);
    if (!printed)
        fy_fail_about(at, "oom", "print a part of it: fy_narrow", 1, &x, "out of memory for the printed text");
    fflush(stdout);
    fy_narrate_flush();
}
