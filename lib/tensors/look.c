/* look.c: what a tensor is and what it holds, one value at a time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "site.h"
#include "tensor.h"

/* Getters have no call site: a dead handle is reported without a line, NULL reads as nothing. */
static bool alive(const fy_tensor *x) { return x && (x->magic == FY_ALIVE || fy_check(NULL, 0, x)); }

const char *fy_device(const fy_tensor *x) { return alive(x) ? x->storage->dev->name : "none"; }
bool fy_is_cuda(const fy_tensor *x) { return alive(x) && x->storage->dev->number > 0; }
fy_dtype fy_dtype_of(const fy_tensor *x) { return alive(x) ? x->dtype : FY_DTYPE_UNSET; }
fy_shape fy_shape_of(const fy_tensor *x) { return alive(x) ? fy_geometry_of(x).shape : (fy_shape){0}; }
int fy_dim(const fy_tensor *x) { return alive(x) ? x->ndim : 0; }

static int wrapped(const fy_tensor *x, int dim)
{
    if (!alive(x) || dim < -x->ndim || dim >= x->ndim) return -1;
    return dim < 0 ? dim + x->ndim : dim;
}

int64_t fy_size(const fy_tensor *x, int dim)
{
    int d = wrapped(x, dim);
    return d < 0 ? -1 : x->shape[d];
}

int64_t fy_stride(const fy_tensor *x, int dim)
{
    int d = wrapped(x, dim);
    return d < 0 ? -1 : x->strides[d];
}

int64_t fy_numel(const fy_tensor *x)
{
    fy_shape s = fy_shape_of(x);
    return alive(x) ? fy_shape_numel(&s) : 0;
}

bool fy_is_contiguous(const fy_tensor *x)
{
    if (!alive(x)) return false;
    fy_geometry g = fy_geometry_of(x);
    int64_t rows[FY_MAX_DIMS];
    if (fy_shape_numel(&g.shape) == 0) return true;
    fy_shape_rows(&g.shape, rows);
    for (int i = 0; i < x->ndim; i++)
        if (x->shape[i] != 1 && x->strides[i] != rows[i]) return false;
    return true;
}

int64_t fy_storage_offset(const fy_tensor *x) { return alive(x) ? x->offset : 0; }

bool fy_same_storage_at(fy_site *at, fy_tensor *a, fy_tensor *b)
{
    return fy_check(at, 0, a) && fy_check(at, 1, b) && a->storage == b->storage;
}

/* The one element, brought home; false after an error. */
static bool take_item(fy_site *at, fy_tensor *x, fy_arg *value)
{
    if (fy_numel(x) != 1)
        return fy_fail_about(at, "shape", "fy_sum, or fy_select until one element is left", 1, &x,
                             "a Tensor with %lld elements cannot be converted to Scalar", (long long)fy_numel(x));
    void *home = fy_bring_home(at, x, FY_WORD_item);
    if (!home) return false;
    *value = fy_number_at(x->dtype, home, 0);
    fy_emit_read(at, x, FY_WORD_item);
    fy_emit_values(at, x, home, 1);
    free(home);
    fy_narrate_flush();
    return true;
}

/* A double holds every whole number up to 2^53, and some beyond. */
static bool is_rounded(const fy_arg *x) { return x->is_int && (x->real == 0x1p63 || (int64_t)x->real != x->integer); }

static void advise_exact(fy_site *at, const fy_arg *x)
{
    if (__atomic_exchange_n(&at->advised, true, __ATOMIC_RELAXED)) return;
    fprintf(stderr,
            "ferry: %s:%d: fy_item(%s): a double holds %.0f instead of %lld\n"
            "  fix: int64_t n = fy_item_int(%s);\n",
            fy_site_file(at->file), at->line, at->args, x->real, (long long)x->integer, at->args);
}

double fy_item_at(fy_site *at, fy_tensor *x)
{
    fy_arg value;
    if (!fy_check(at, 0, x) || !take_item(at, x, &value)) return NAN;
    if (is_rounded(&value)) advise_exact(at, &value);
    return value.real;
}

int64_t fy_item_int_at(fy_site *at, fy_tensor *x)
{
    fy_arg value;
    char name[200];
    if (!fy_check(at, 0, x)) return 0;
    if (fy_dtype_is_real(x->dtype)) {
        fy_argument(at, 0, name, sizeof name);
        fy_fail_about(
            at, "dtype",
            fy_hint("fy_item(%s) gives a float; fy_item_int(fy_to(%s, FY_INT64)) cuts its fraction off", name, name), 1,
            &x, "fy_item_int takes integers and bool, not %s", fy_dtype_name(x->dtype));
        return 0;
    }
    return take_item(at, x, &value) ? value.integer : 0;
}

/* The program may read and write through the pointer unseen: the log notes that it was handed out. On a
 * card nothing is noted, since the host cannot read there. */
void *fy_data_at(fy_site *at, fy_tensor *x)
{
    if (!fy_check(at, 0, x) || !x->storage->data) return NULL;
    if (x->storage->dev->number == 0) fy_emit_read(at, x, FY_WORD_data);
    return (char *)x->storage->data + x->offset * (int64_t)fy_dtype_size(x->dtype);
}
