/* collate.c: makes a batch: gets its items, stacks them into new memory and, if asked to, pins that. Each step is a
 * call like the program's own, with events of its own. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "error.h"
#include "loader.h"
#include "shape.h"
#include "tensor.h"

static int64_t index_of(const fy_collate *c, int64_t i) { return c->order ? c->order[c->first + i] : c->first + i; }

/* "[3, 4]" */
static const char *sizes_of(const fy_tensor *x, char *buf, size_t room)
{
    size_t n = (size_t)snprintf(buf, room, "[");
    for (int d = 0; d < x->ndim && n < room; d++)
        n += (size_t)snprintf(buf + n, room - n, "%s%" PRId64, d ? ", " : "", x->shape[d]);
    if (n < room) snprintf(buf + n, room - n, "]");
    return buf;
}

/* Can x, of item i, be stacked onto the one of item 0? */
static bool fits(const fy_collate *c, int64_t i, const fy_tensor *first, const fy_tensor *x)
{
    char a[200], b[200];
    if (c->in_worker && x->storage->dev->number != 0)
        return fy_fail(c->at, "device",
                       "return CPU tensors from the dataset and copy the batch in the loop: fy_to(batch[0], \"cuda\"); "
                       "or leave .num_workers out",
                       "Cannot re-initialize CUDA in forked subprocess: item %" PRId64 " is on %s, and workers have no "
                       "card",
                       index_of(c, i), x->storage->dev->name);
    if (x->storage->dev != first->storage->dev)
        return fy_fail(c->at, "device_mismatch", "make all items on one device, the CPU",
                       "Expected all tensors to be on the same device, but found at least two devices, %s (item "
                       "%" PRId64 ") and %s (item %" PRId64 ")!",
                       first->storage->dev->name, index_of(c, 0), x->storage->dev->name, index_of(c, i));
    bool same = x->ndim == first->ndim;
    for (int d = 0; same && d < x->ndim; d++) same = x->shape[d] == first->shape[d];
    return same || fy_fail(c->at, "shape", "make all items of one shape: crop or pad them",
                           "stack expects each tensor to be equal size, but got %s at entry 0 (item %" PRId64
                           ") and %s at entry %" PRId64 " (item %" PRId64 ")",
                           sizes_of(first, a, sizeof a), index_of(c, 0), sizes_of(x, b, sizeof b), i, index_of(c, i));
}

/* rows: field by field, so that each field's tensors are consecutive. Returns the number of fields; 0: failed. */
static int get_items(const fy_collate *c, fy_tensor **rows)
{
    int fields = 0;
    for (int64_t i = 0; i < c->count; i++) {
        fy_tensor *item[FY_MAX_ITEM];
        if (c->stop && atomic_load(c->stop)) return 0;
        int n = fy_dataset_item(c->at, c->loader->ds, index_of(c, i), item);
        if (n == 0) return 0;
        if (i == 0) fields = n;
        if (n != fields) {
            fy_fail(c->at, "shape", "store as many tensors for each item",
                    "each element in list of batch should be of equal size: item %" PRId64
                    " has %d tensors, item %" PRId64 " has %d",
                    index_of(c, 0), fields, index_of(c, i), n);
            return 0;
        }
        for (int f = 0; f < n; f++) {
            rows[f * c->count + i] = item[f];
            if (!fits(c, i, rows[f * c->count], item[f])) return 0;
        }
    }
    return fields;
}

/* Named as the loop uses it: batch[0], batch[1]. */
static fy_tensor *stacked(const fy_collate *c, fy_tensor **rows, int field)
{
    char variable[80], name[96];
    fy_tensor *x = fy_stack_at(c->at, (size_t)c->count, rows + field * c->count, 0);
    if (x && c->loader->pin_memory && fy_cuda_is_available()) x = fy_pin_memory_at(c->at, x);
    if (!x) return NULL;
    snprintf(name, sizeof name, "%s[%d]", fy_argument(c->at, 0, variable, sizeof variable), field);
    fy_tensor_rename(c->at, x, name);
    return fy_tensor_retain(x);
}

bool fy_collate_items(const fy_collate *c, fy_tensor **rows, fy_tensor **out)
{
    fy_scope scope = fy_scope_begin(c->at);
    int fields = get_items(c, rows), made = 0;
    while (made < fields && (out[made] = stacked(c, rows, made))) made++;
    fy_scope_end(&scope);
    return fields > 0 && made == fields;
}
