/* loader.h: loaders, and one epoch of a loader. */
#ifndef FERRY_LOADER_H
#define FERRY_LOADER_H

#include "dataset.h"
#include "event.h"

struct fy_dataloader {
    fy_site *at; /* where it was made */
    uint32_t id;
    fy_dataset *ds;
    int64_t batch_size, prefetch;
    bool shuffle, drop_last, pin_memory;
    int workers;
    int refs;               /* the program's, and one of each epoch that runs */
    int64_t epochs;         /* begun so far */
    bool busy;              /* an epoch runs whose workers have `threads` */
    fy_log_thread *threads; /* numbers of the workers in the log: the same in each epoch */
};

int64_t fy_loader_most(const fy_dataloader *loader); /* items of its largest batch */
void fy_loader_release(fy_site *at, fy_dataloader *loader);

/* collate.c: makes the batch of these `count` items, in scopes of its own: of each field of the items one tensor, in
 * out[FY_MAX_ITEM], with a reference of its own. False after an error, or if *stop became true: what is in out by then
 * is the caller's. rows: room for count * FY_MAX_ITEM; in_worker: is this a worker's thread? */
typedef struct fy_collate {
    fy_site *at; /* of the loop */
    const fy_dataloader *loader;
    int64_t first, count;
    const int64_t *order; /* indexes of the epoch's items; NULL: in order */
    const _Atomic bool *stop;
    bool in_worker;
} fy_collate;
bool fy_collate_items(const fy_collate *c, fy_tensor **rows, fy_tensor **out);

#endif
