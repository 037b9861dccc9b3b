/* dataset.c: datasets by callback, and of the rows of tensors. */
#include "dataset.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "composed.h"
#include "error.h"
#include "frame.h"
#include "lane.h"
#include "out_of_memory.h"
#include "session_hooks.h"
#include "tensor.h"

static fy_dataset *make(fy_site *at, int64_t len)
{
    fy_dataset *ds = calloc(1, sizeof *ds);
    if (!ds) fy_out_of_memory("a dataset");
    ds->at = at;
    ds->len = len;
    ds->refs = 1;
    return ds;
}

fy_dataset *fy_dataset_at(fy_site *at, fy_dataset_opts o)
{
    FY_CALL(at);
    fy_session_start();
    if (!o.get)
        return fy_fail(at, "null", "pass a function that makes item `index`: .get = read_item",
                       "the dataset has no .get");
    if (o.len < 0)
        return fy_fail(at, "range", "pass the number of items: .len = 1000",
                       "__len__() should return >= 0, but .len is %" PRId64, o.len);
    fy_dataset *ds = make(at, o.len);
    ds->get = o.get;
    ds->self = o.self;
    return ds;
}

fy_dataset *fy_tensor_dataset_at(fy_site *at, size_t n, fy_tensor *const *x)
{
    FY_CALL(at);
    fy_session_start();
    for (size_t i = 0; i < n; i++)
        if (!fy_check(at, FY_IN_LIST + (int)i, x[i])) return NULL;
    if (n == 0 || n > FY_MAX_ITEM)
        return fy_fail_listed(at, "shape", "combine some of them with fy_cat", 0, n ? FY_MAX_ITEM : 0, x,
                              "a dataset has 1 to %d tensors, not %zu", FY_MAX_ITEM, n);
    for (size_t i = 0; i < n; i++)
        if (x[i]->ndim == 0 || x[i]->shape[0] != x[0]->shape[0])
            return fy_fail_listed(at, "shape", "each tensor has one row per item: equal sizes in dimension 0", 0,
                                  (int)n, x,
                                  x[i]->ndim ? "Size mismatch between tensors" : "a 0-dim tensor has no rows");
    fy_dataset *ds = make(at, x[0]->shape[0]);
    for (size_t i = 0; i < n; i++) ds->x[ds->n++] = fy_tensor_retain(x[i]);
    return ds;
}

int64_t fy_dataset_len(const fy_dataset *ds) { return ds ? ds->len : 0; }

void fy_dataset_free_at(fy_site *at, fy_dataset *ds)
{
    FY_CALL(at);
    if (!ds || __atomic_sub_fetch(&ds->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    for (int i = 0; i < ds->n; i++) fy_tensor_release(at, ds->x[i], FY_WORD_free);
    free(ds);
}

/* Are the n tensors that .get made an item? */
static bool check_item(const fy_dataset *ds, int64_t index, int n, fy_tensor *const *made)
{
    if (n == 0)
        return fy_fail(ds->at, "null", "store what you made: item[0] = ...",
                       ".get made no tensor for index %" PRId64 ": item[0] is NULL", index);
    if (n > FY_MAX_ITEM)
        return fy_fail(ds->at, "range", "combine some of them with fy_cat",
                       "an item has at most %d tensors, but .get made more for index %" PRId64, FY_MAX_ITEM, index);
    fy_composed before = fy_compose((fy_composed){.on = true}); /* they are not arguments of fy_dataset */
    int alive = 0;
    while (alive < n && fy_check(ds->at, 1, made[alive])) alive++;
    fy_compose(before);
    return alive == n;
}

/* The program's function may hold locks of the program, so no other lane runs meanwhile. */
static void run_get(fy_site *at, const fy_dataset *ds, int64_t index, fy_tensor **made)
{
    FY_REGION(at, FY_WORD_item, NULL, index, FY_ABSENT);
    fy_region_runs_program();
    bool kept = fy_lane_keep(true);
    ds->get(ds->self, index, made);
    fy_lane_keep(kept);
}

/* There is room for more tensors than .get may make, so that too many are an error, and not written elsewhere. */
static int call_get(fy_site *at, const fy_dataset *ds, int64_t index, fy_tensor **item)
{
    int n = 0;
    fy_tensor *made[4 * FY_MAX_ITEM + 1] = {NULL};
    uint64_t errors = fy_error_count();
    run_get(at, ds, index, made);
    FY_LANE_TURN();
    while (n < 4 * FY_MAX_ITEM && made[n]) n++;
    if (fy_error_count() > errors || !check_item(ds, index, n, made)) return 0;
    memcpy(item, made, (size_t)n * sizeof *item);
    return n;
}

int fy_dataset_item(fy_site *at, const fy_dataset *ds, int64_t index, fy_tensor **item)
{
    memset(item, 0, FY_MAX_ITEM * sizeof *item);
    if (ds->get) return call_get(at, ds, index, item);
    for (int i = 0; i < ds->n; i++)
        if (!(item[i] = fy_select_at(at, ds->x[i], 0, index))) return 0;
    return ds->n;
}

int fy_dataset_get_at(fy_site *at, fy_dataset *ds, int64_t index, fy_tensor **item)
{
    FY_CALL(at);
    fy_session_start();
    if (!ds || !item) return fy_fail_null(at, ds ? 2 : 0, ds ? "array" : "dataset"), 0;
    if (index < -ds->len || index >= ds->len) {
        memset(item, 0, FY_MAX_ITEM * sizeof *item);
        fy_fail(at, "range", fy_hint("indexes are 0 to %" PRId64, ds->len - 1),
                "index %" PRId64 " is out of bounds for a dataset of %" PRId64 " items", index, ds->len);
        return 0;
    }
    int n = fy_dataset_item(at, ds, index < 0 ? index + ds->len : index, item);
    fy_returned(at, n, item);
    return n;
}
