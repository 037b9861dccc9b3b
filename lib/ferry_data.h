/* ferry_data.h: datasets and loaders, PyTorch's torch.utils.data. Included by ferry.h.
 *
 *     fy_dataset *data = fy_tensor_dataset((x, y));           // 1000 rows
 *     fy_dataloader *loader = fy_dataloader(data, .batch_size = 32, .shuffle = true, .num_workers = 2);
 *     FY_TIMES(epoch, 10)
 *         FY_EACH(batch, loader)                              // 32 batches, the last of 8 rows
 *         {
 *             fy_tensor *input = fy_to(batch[0], "cuda"), *target = fy_to(batch[1], "cuda");
 *             ...
 *         }
 *
 * Each FY_EACH over a loader is an epoch. A batch is on the CPU; its tensors are freed at the end of the iteration.
 *
 * Workers are threads, which make batches while the loop works. Batch i is made by worker i % num_workers, and the loop
 * gets them in order. The workers of an epoch have ended when the loop is left. Where time is modelled, each has a clock
 * of its own, and they take turns with the loop in the order of these clocks: every run has the same events. So code
 * that a dataset's `get` calls must not wait for the loop, nor for another worker. A worker draws random numbers from a
 * generator of its own.
 *
 * The numbers are PyTorch's: with the same fy_manual_seed an epoch has the same order, and a worker the same random
 * numbers. An error in a worker is reported when the loop comes to its batch. */
#ifndef FERRY_DATA_H
#define FERRY_DATA_H

typedef struct fy_dataset fy_dataset;

enum { FY_MAX_ITEM = 8 }; /* tensors of one item */

typedef struct fy_dataset_opts {
    const struct fy_options_by_name *fy_begin_;
    int64_t len; /* number of items */
    /* Makes the tensors of one item, 0 <= index < len: item[0] = ..., item[1] = ... They are freed after they were
     * copied into the batch; all items have the same number of tensors, of the same shapes. With workers, several
     * threads call it at once. */
    void (*get)(void *self, int64_t index, fy_tensor **item);
    void *self; /* passed to get */
    int fy_end_;
} fy_dataset_opts;

/* fy_dataset(.len = 1000, .get = read_image, .self = &files): a dataset of your own; you own it. */
#define fy_dataset(...) \
    fy_dataset_at(FY_AT("fy_dataset", #__VA_ARGS__), \
                  FY_OPTIONS(fy_dataset_opts, "fy_dataset(.len = 1000, .get = read_item)", __VA_ARGS__))
/* fy_tensor_dataset((x, y)): item i is the rows x[i] and y[i]. It keeps the tensors. */
#define fy_tensor_dataset(...) FY_TENSOR_DATASET("fy_tensor_dataset", #__VA_ARGS__, __VA_ARGS__)
#define fy_dataset_get(ds, index, item) fy_dataset_get_at(FY_AT("fy_dataset_get", #ds ", " #index ", " #item), ds, index, item)
                                      /* item `index` into item[FY_MAX_ITEM], those beyond it NULL; a negative index
                                         counts from the end. Returns the number of tensors; 0 after an error */
int64_t fy_dataset_len(const fy_dataset *ds); /* 0 for NULL */
#define fy_dataset_free(ds) fy_dataset_free_at(FY_AT("fy_dataset_free", #ds), ds) /* loaders that use it keep it */

typedef struct fy_dataloader_opts {
    const struct fy_options_by_name *fy_begin_;
    int64_t batch_size;      /* default 1 */
    bool shuffle;            /* another order in each epoch */
    int64_t num_workers;     /* 0: batches are made in the loop's thread */
    bool pin_memory;         /* batches in page-locked memory; no effect without a card */
    bool drop_last;          /* no last batch that is smaller */
    int64_t prefetch_factor; /* batches that each worker makes ahead; default 2 */
    int fy_end_;             /* ends the list; set where an option is given whose default is not 0 */
} fy_dataloader_opts;

/* fy_dataloader(ds, .batch_size = 32, .shuffle = true): you own it; NULL after an error. */
#define fy_dataloader(...) \
    fy_dataloader_at(FY_AT("fy_dataloader", #__VA_ARGS__), FY_FIRST(__VA_ARGS__), \
                     FY_OPTIONS(fy_dataloader_opts, "fy_dataloader(ds, .batch_size = 32)", \
                                FY_LOADER_TOLD(FY_REST(__VA_ARGS__, .fy_end_ = 0))))
int64_t fy_dataloader_len(const fy_dataloader *loader); /* batches of an epoch; 0 for NULL */
#define fy_dataloader_free(loader) fy_dataloader_free_at(FY_AT("fy_dataloader_free", #loader), loader)

/* ---- implementation of the macros ---------------------------------------------------------------- */

#define FY_TENSOR_DATASET(call, text, ...) \
    fy_tensor_dataset_at(FY_AT(call, text), \
                         FY_CAT(FY_TENSORS_, FY_IS_ONE_LIST(__VA_ARGS__))(call "((x, y))", FY_FIRST(__VA_ARGS__)))
enum { FY_BATCH_SIZE_TOLD = 1, FY_PREFETCH_TOLD = 2 };
#define FY_IS_NO_BATCH_SIZE(text) (__builtin_strncmp(text, ".batch_size", 11) != 0)
#define FY_IS_NO_PREFETCH(text) (__builtin_strncmp(text, ".prefetch_factor", 16) != 0)
#define FY_LOADER_TOLD(...) \
    __VA_ARGS__ + FY_TOLD(FY_BATCH_SIZE_TOLD, FY_IS_NO_BATCH_SIZE, __VA_ARGS__) + \
        FY_TOLD(FY_PREFETCH_TOLD, FY_IS_NO_PREFETCH, __VA_ARGS__)

fy_dataset *fy_dataset_at(fy_site *at, fy_dataset_opts o);
fy_dataset *fy_tensor_dataset_at(fy_site *at, size_t n, fy_tensor *const *x);
void fy_dataset_free_at(fy_site *at, fy_dataset *ds);
void fy_dataloader_free_at(fy_site *at, fy_dataloader *loader);
int fy_dataset_get_at(fy_site *at, fy_dataset *ds, int64_t index, fy_tensor **item);
fy_dataloader *fy_dataloader_at(fy_site *at, fy_dataset *ds, fy_dataloader_opts o);

#endif
