/* ferry_memory.h: a card's memory and its caching allocator, PyTorch's torch.cuda.memory_*. Included by ferry.h.
 *
 * The allocator allocates segments from the card and splits them into blocks for tensors. A freed block is cached for
 * the next tensor of its stream; an unused segment is returned to the card by fy_cuda_empty_cache, or when an
 * allocation would fail. device: "cuda:1"; NULL: the current card. Results in bytes; -1 after an error. */
#ifndef FERRY_MEMORY_H
#define FERRY_MEMORY_H

#define fy_cuda_memory_allocated(device) fy_cuda_memory_allocated_at(FY_AT("fy_cuda_memory_allocated", #device), device)
                                         /* bytes of blocks in use */
#define fy_cuda_memory_reserved(device) fy_cuda_memory_reserved_at(FY_AT("fy_cuda_memory_reserved", #device), device)
                                        /* bytes of segments */
#define fy_cuda_max_memory_allocated(device) \
    fy_cuda_max_memory_allocated_at(FY_AT("fy_cuda_max_memory_allocated", #device), device)
#define fy_cuda_max_memory_reserved(device) \
    fy_cuda_max_memory_reserved_at(FY_AT("fy_cuda_max_memory_reserved", #device), device)
#define fy_cuda_reset_peak_memory_stats(device) \
    fy_cuda_reset_peak_memory_stats_at(FY_AT("fy_cuda_reset_peak_memory_stats", #device), device)
#define fy_cuda_mem_get_info(device, total) \
    fy_cuda_mem_get_info_at(FY_AT("fy_cuda_mem_get_info", #device ", " #total), device, total)
                            /* bytes not in segments; *total: the card's capacity; total may be NULL */
#define fy_cuda_empty_cache() fy_cuda_empty_cache_at(FY_AT("fy_cuda_empty_cache", ""))
                              /* frees the unused segments of all cards, and of pinned host memory */
#define fy_cuda_memory_summary(device) fy_cuda_memory_summary_at(FY_AT("fy_cuda_memory_summary", #device), device)
                                       /* prints the segments and their blocks on stdout */
#define fy_cuda_memory_stats(device) fy_cuda_memory_stats_at(FY_AT("fy_cuda_memory_stats", #device), device)

typedef struct fy_memory_stats { /* of one card since the start; names as in PyTorch */
    int64_t allocated_bytes, max_allocated_bytes; /* blocks in use */
    int64_t reserved_bytes, max_reserved_bytes;   /* segments */
    int64_t requested_bytes;                      /* of blocks in use, before rounding */
    int64_t inactive_split_bytes;                 /* free blocks of segments that are partly in use */
    int64_t allocations, segments;                /* current numbers of blocks in use and of segments */
    int64_t num_alloc_retries, num_ooms;          /* retries after freeing cached memory; failures of these */
} fy_memory_stats;

int64_t fy_cuda_memory_allocated_at(fy_site *at, const char *device);
int64_t fy_cuda_memory_reserved_at(fy_site *at, const char *device);
int64_t fy_cuda_max_memory_allocated_at(fy_site *at, const char *device);
int64_t fy_cuda_max_memory_reserved_at(fy_site *at, const char *device);
void fy_cuda_reset_peak_memory_stats_at(fy_site *at, const char *device);
int64_t fy_cuda_mem_get_info_at(fy_site *at, const char *device, int64_t *total);
void fy_cuda_empty_cache_at(fy_site *at);
void fy_cuda_memory_summary_at(fy_site *at, const char *device);
fy_memory_stats fy_cuda_memory_stats_at(fy_site *at, const char *device);

#endif
