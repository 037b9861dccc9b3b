/* run.c: see run.h. */
#include <stdio.h>
#include <unistd.h>

#include "run.h"

#define CALL(...) ((fy_tensor * (*)(__VA_ARGS__)) call_of(s)->function)
#define SITE (&sites[s->call_index])

world worlds[2];
bool predicate_results[2];
fy_site sites[MAX_API_CALLS];
static char scratch_path[64];

void set_sites(void)
{
    const char *folder = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm"; /* tmpfs, where fsync is cheap */
    snprintf(scratch_path, sizeof scratch_path, "%s/ferry-fuzz-%d.npy", folder, (int)getpid());
    for (int i = 0; i < api_call_count; i++)
        sites[i] = (fy_site){
            .file = "fuzz", .line = 1, .fn = "main", .call = api_calls[i].name, .args = "x, y, z", .variable = ""};
}

bool is_live(int slot) { return slot >= 0 && worlds[HOST_WORLD].slot[slot] && worlds[CARD_WORLD].slot[slot]; }

bool is_on_card(int slot) { return slot >= 0 && fy_is_cuda(worlds[CARD_WORLD].slot[slot]); }

fy_tensor *operand(const world *w, const step *s, int i)
{
    int slot = i < s->n ? s->in[i] : NO_TENSOR;
    if (slot < 0) return NULL;
    return w->slot[slot] ? w->slot[slot] : w->dead[slot];
}

fy_arg argument(const world *w, const step *s, int i)
{
    return s->in[i] == NUMBER ? s->number : fy_arg_tensor(operand(w, s, i));
}

static const char *device_name_in(const world *w, int device)
{
    if (device < 0) return NULL;
    return w->which == HOST_WORLD && device < VALID_DEVICE_NAMES ? "cpu" : device_names[device];
}

static fy_tensor *make(const world *w, const step *s)
{
    fy_opts o = {.device = device_name_in(w, s->device), .dtype = s->dtype};
    switch (call_of(s)->kind) {
    case FULL: return CALL(fy_site *, fy_shape, fy_arg, fy_opts)(SITE, s->shape, s->value[0], o);
    case RANGE:
    case VALUES: return CALL(fy_site *, size_t, const fy_arg *, fy_opts)(SITE, (size_t)s->values, s->value, o);
    case RANDINT:
        return CALL(fy_site *, size_t, const fy_arg *, fy_shape, fy_opts)(SITE, (size_t)s->values, s->value, s->shape,
                                                                          o);
    default: return CALL(fy_site *, fy_shape, fy_opts)(SITE, s->shape, o);
    }
}

static fy_tensor *join(const world *w, const step *s)
{
    fy_tensor *x[3];
    for (int i = 0; i < s->n; i++) x[i] = operand(w, s, i);
    return CALL(fy_site *, size_t, fy_tensor *const *, int64_t)(SITE, (size_t)s->n, x, s->at[0]);
}

static fy_tensor *reduce(const world *w, const step *s, fy_tensor **second)
{
    fy_reduce_opts o = {.keepdim = s->keepdim, .biased = s->biased, .dtype = s->dtype};
    if (s->values) o.p = s->value[0].real, o.fy_end_ = FY_P_TOLD;
    if (s->indices) o.indices = second;
    return CALL(fy_site *, fy_tensor *, fy_shape, fy_reduce_opts)(SITE, operand(w, s, 0), s->shape, o);
}

/* ---- parts and order ---- */

/* Keeps the first two parts and frees the others. */
static fy_tensor *split(const world *w, const step *s, fy_tensor **second)
{
    fy_tensor *x = operand(w, s, 0);
    fy_tensors p =
        is_named(s, "split") ? fy_split_at(SITE, x, s->at[1], s->at[0]) : fy_chunk_at(SITE, x, s->at[1], s->at[0]);
    for (int i = 2; i < p.n; i++) fy_free_at(SITE, p.at[i]);
    *second = p.at[1];
    return p.at[0];
}

static fy_tensor *order(const world *w, const step *s, fy_tensor **second)
{
    fy_tensor *x = operand(w, s, 0), **indices = s->indices ? second : NULL;
    if (is_named(s, "cumsum")) return fy_cumsum_at(SITE, x, s->at[0], (fy_cumsum_opts){.dtype = s->dtype});
    if (is_named(s, "topk"))
        return fy_topk_at(SITE, x, s->at[1], s->at[0], (fy_topk_opts){.smallest = !s->descending, .indices = indices});
    fy_sort_opts o = {.descending = s->descending, .indices = indices};
    return CALL(fy_site *, fy_tensor *, int64_t, fy_sort_opts)(SITE, x, s->at[0], o);
}

static fy_tensor *by_index(const world *w, const step *s)
{
    fy_tensor *x = operand(w, s, 0), *index = operand(w, s, 1);
    if (is_named(s, "embedding")) return fy_embedding_at(SITE, x, index);
    if (is_named(s, "scatter_add_")) return fy_scatter_add__at(SITE, x, s->at[0], index, operand(w, s, 2));
    return CALL(fy_site *, fy_tensor *, int64_t, fy_tensor *)(SITE, x, s->at[0], index);
}

/* ---- moving ---- */

/* Does the step copy its operand to another device in the card world? */
static bool changes_device(const step *s)
{
    bool from = is_on_card(s->in[0]);
    if (is_named(s, "cpu")) return from;
    if (is_named(s, "cuda")) return !from;
    if (s->n > 1) return is_on_card(s->in[1]) != from;
    return s->device >= 0 && s->device < VALID_DEVICE_NAMES && (s->device > 0) != from;
}

/* A non-blocking copy to the host returns pinned memory. */
static fy_tensor *pinned_instead(fy_site *at, fy_tensor *x)
{
    fy_tensor *pinned = x ? fy_pin_memory_at(at, x) : NULL;
    if (x) fy_free_at(at, x);
    return pinned;
}

static fy_tensor *move(const world *w, const step *s)
{
    fy_tensor *x = operand(w, s, 0);
    bool host = w->which == HOST_WORLD, crosses = changes_device(s);
    fy_to_opts o = {.copy = s->copy || (host && crosses), .non_blocking = s->non_blocking && !host, .dtype = s->dtype};
    fy_target to = s->n > 1 ? fy_target_like(operand(w, s, 1)) : fy_target_device(device_name_in(w, s->device));
    if (s->n < 2 && s->device < 0) {
        to = fy_target_dtype(s->dtype);
        o.dtype = FY_DTYPE_UNSET;
    }
    fy_tensor *out = fy_to_at(SITE, x, to, o);
    return host && crosses && s->non_blocking && is_on_card(s->in[0]) ? pinned_instead(SITE, out) : out;
}

/* fy_cuda(x, i), fy_cpu(x) */
static fy_tensor *move_to_device(const world *w, const step *s)
{
    fy_tensor *x = operand(w, s, 0);
    if (w->which == HOST_WORLD && s->at[0] <= 0)
        return fy_to_at(SITE, x, fy_target_device("cpu"), (fy_to_opts){.copy = changes_device(s)});
    return is_named(s, "cpu") ? fy_cpu_at(SITE, x) : fy_cuda_at(SITE, x, true, (fy_cuda_opts){.device = (int)s->at[0]});
}

/* ---- the rest ---- */

/* The loaded tensor is on the CPU, also when x is on the card. */
static fy_tensor *save_and_load(const world *w, const step *s)
{
    fy_tensor *x = operand(w, s, 0);
    if (!fy_save_npy_at(SITE, scratch_path, x)) return NULL;
    fy_tensor *out = fy_load_npy_at(SITE, scratch_path);
    unlink(scratch_path);
    return out;
}

static fy_tensor *free_slot(world *w, const step *s)
{
    int slot = s->in[0];
    fy_free_at(SITE, operand(w, s, 0));
    if (slot < 0 || !w->slot[slot]) return NULL;
    w->dead[slot] = w->slot[slot];
    for (int i = 0; i < MAX_SLOTS; i++) /* other references of the handle keep it alive */
        if (i != slot && w->slot[i] == w->slot[slot]) w->dead[slot] = NULL;
    w->slot[slot] = NULL;
    return NULL;
}

/* Factories, ops and losses. */
static fy_tensor *compute(const world *w, const step *s, fy_tensor **second)
{
    fy_tensor *x = operand(w, s, 0), *y = operand(w, s, 1);
    switch (call_of(s)->kind) {
    case ONE: return CALL(fy_site *, fy_tensor *)(SITE, x);
    case TWO: return CALL(fy_site *, fy_arg, fy_arg)(SITE, argument(w, s, 0), argument(w, s, 1));
    case THREE:
        return CALL(fy_site *, fy_arg, fy_arg, fy_arg)(SITE, argument(w, s, 0), argument(w, s, 1), argument(w, s, 2));
    case ALPHA: return CALL(fy_site *, fy_arg, fy_arg, fy_arg)(SITE, argument(w, s, 0), argument(w, s, 1), s->value[0]);
    case VALUE:
        return CALL(fy_site *, fy_tensor *, fy_tensor *, fy_tensor *, fy_arg)(SITE, x, y, operand(w, s, 2),
                                                                              s->value[0]);
    case MASK_FILL: return CALL(fy_site *, fy_tensor *, fy_tensor *, fy_arg)(SITE, x, y, s->value[0]);
    case FILL: return CALL(fy_site *, fy_tensor *, fy_arg)(SITE, x, s->value[0]);
    case DRAW: return CALL(fy_site *, fy_tensor *, double, double)(SITE, x, s->value[0].real, s->value[1].real);
    case CHANCE: return CALL(fy_site *, fy_tensor *, double)(SITE, x, s->value[0].real);
    case LAYER_NORM: {
        fy_layer_norm_with o = {.weight = y, .bias = operand(w, s, 2)};
        if (s->values) o.eps = s->value[0].real, o.fy_end_ = FY_EPS_TOLD;
        return fy_layer_norm_at(SITE, x, s->shape, o);
    }
    case REDUCE: return reduce(w, s, second);
    case ALONG:
    case TRIANGLE:
    case ONE_HOT: return CALL(fy_site *, fy_tensor *, int64_t)(SITE, x, s->at[0]);
    case ORDER: return order(w, s, second);
    case BY_INDEX: return by_index(w, s);
    case MASKED:
    case PRODUCT: return CALL(fy_site *, fy_tensor *, fy_tensor *)(SITE, x, y);
    case ADDMM: return fy_addmm_at(SITE, x, y, operand(w, s, 2), s->value[0], s->value[1]);
    case LINEAR: return fy_linear_at(SITE, x, y, operand(w, s, 2));
    case CROSS_ENTROPY:
    case MSE: {
        fy_loss_opts o = {.reduction = (fy_reduction)s->reduction, .label_smoothing = s->values ? s->value[0].real : 0};
        return CALL(fy_site *, fy_tensor *, fy_tensor *, fy_loss_opts)(SITE, x, y, o);
    }
    case CLOSE: {
        fy_close_opts o = {.rtol = 0.25, .equal_nan = s->keepdim, .fy_end_ = FY_RTOL_TOLD};
        return CALL(fy_site *, fy_tensor *, fy_tensor *, fy_close_opts)(SITE, x, y, o);
    }
    default: return make(w, s);
    }
}

fy_tensor *execute_step(world *w, const step *s, fy_tensor **second)
{
    fy_tensor *x = operand(w, s, 0), *y = operand(w, s, 1);
    switch (call_of(s)->kind) {
    case SAME: return is_named(s, "cpu") ? move_to_device(w, s) : CALL(fy_site *, fy_tensor *)(SITE, x);
    case DIM: return CALL(fy_site *, fy_tensor *, int64_t)(SITE, x, s->at[0]);
    case SHAPED: return CALL(fy_site *, fy_tensor *, fy_shape)(SITE, x, s->shape);
    case DTYPED: return fy_view_dtype_at(SITE, x, s->dtype);
    case PAIR: return CALL(fy_site *, fy_tensor *, int64_t, int64_t)(SITE, x, s->at[0], s->at[1]);
    case NARROW: return fy_narrow_at(SITE, x, s->at[0], s->at[1], s->at[2]);
    case SLICE: return fy_slice_at(SITE, x, s->at[0], s->at[1], s->at[2], s->at[3]);
    case SPLIT: return split(w, s, second);
    case JOIN: return join(w, s);
    case TO: return move(w, s);
    case CUDA: return move_to_device(w, s);
    case COPY: return fy_copy__at(SITE, x, y, (fy_copy_opts){0});
    case NPY: return save_and_load(w, s);
    case FREE: return free_slot(w, s);
    case ITEM: return (void)fy_item_at(SITE, x), NULL;
    case DEVICE: return fy_cuda_set_device_at(SITE, (int)s->at[0]), NULL;
    case PREDICATE:
        predicate_results[w->which] =
            is_named(s, "equal") ? fy_equal_at(SITE, x, y) : fy_allclose_at(SITE, x, y, (fy_close_opts){0});
        return NULL;
    default: return compute(w, s, second);
    }
}
