/* loader.c: loaders: their options, as PyTorch checks them. */
#include "loader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "error.h"
#include "frame.h"
#include "out_of_memory.h"
#include "session_hooks.h"

enum { MOST_WORKERS = 1024 }; /* threads */

static bool options_ok(fy_site *at, const fy_dataset *ds, const fy_dataloader_opts *o)
{
    if (o->num_workers < 0)
        return fy_fail(at, "range", "leave .num_workers out, or pass 1, 2 ...",
                       "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.");
    if (o->num_workers > MOST_WORKERS)
        return fy_fail(at, "range", "as many workers as the machine has cores are enough",
                       "num_workers is at most %d, but got num_workers=%" PRId64, MOST_WORKERS, o->num_workers);
    if (o->num_workers == 0 && o->prefetch_factor != 2)
        return fy_fail(at, "range", "pass .num_workers, or leave .prefetch_factor out",
                       "prefetch_factor option could only be specified in multiprocessing. let num_workers > 0 to "
                       "enable multiprocessing.");
    if (o->prefetch_factor <= 0 || o->prefetch_factor > INT32_MAX)
        return fy_fail(at, "range", "leave .prefetch_factor out for 2",
                       "prefetch_factor option should be a positive integer value, but got prefetch_factor=%" PRId64,
                       o->prefetch_factor);
    if (o->batch_size <= 0)
        return fy_fail(at, "range", "leave .batch_size out for 1",
                       "batch_size should be a positive integer value, but got batch_size=%" PRId64, o->batch_size);
    if (o->shuffle && ds->len == 0)
        return fy_fail(at, "range", "the dataset is empty: leave .shuffle out, or check its .len",
                       "num_samples should be a positive integer value, but got num_samples=0");
    return true;
}

fy_dataloader *fy_dataloader_at(fy_site *at, fy_dataset *ds, fy_dataloader_opts o)
{
    FY_CALL(at);
    static _Atomic uint32_t last_id;
    fy_session_start();
    if (!ds) return fy_fail_null(at, 0, "dataset");
    if (!(o.fy_end_ & FY_BATCH_SIZE_TOLD)) o.batch_size = 1;
    if (!(o.fy_end_ & FY_PREFETCH_TOLD)) o.prefetch_factor = 2;
    if (!options_ok(at, ds, &o)) return NULL;

    fy_dataloader *loader = calloc(1, sizeof *loader);
    fy_log_thread *threads = calloc((size_t)o.num_workers + 1, sizeof *threads);
    if (!loader || !threads) fy_out_of_memory("a loader");
    __atomic_add_fetch(&ds->refs, 1, __ATOMIC_RELAXED);
    *loader = (fy_dataloader){
        .at = at,
        .id = ++last_id,
        .ds = ds,
        .batch_size = o.batch_size,
        .prefetch = o.prefetch_factor,
        .shuffle = o.shuffle,
        .drop_last = o.drop_last,
        .pin_memory = o.pin_memory,
        .workers = (int)o.num_workers,
        .refs = 1,
        .threads = threads,
    };
    return loader;
}

int64_t fy_dataloader_len(const fy_dataloader *loader)
{
    if (!loader) return 0;
    int64_t whole = loader->ds->len / loader->batch_size, rest = loader->ds->len % loader->batch_size;
    return whole + (rest && !loader->drop_last);
}

int64_t fy_loader_most(const fy_dataloader *loader)
{
    return loader->batch_size < loader->ds->len ? loader->batch_size : loader->ds->len;
}

void fy_loader_release(fy_site *at, fy_dataloader *loader)
{
    if (__atomic_sub_fetch(&loader->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    fy_dataset_free_at(at, loader->ds);
    free(loader->threads);
    free(loader);
}

void fy_dataloader_free_at(fy_site *at, fy_dataloader *loader)
{
    FY_CALL(at);
    if (loader) fy_loader_release(at, loader);
}
