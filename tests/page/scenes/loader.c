/* loader.c: an epoch of six batches, made by two workers in page-locked memory while the card computes on those before. */
#include <ferry.h>

static void picture(void *self, int64_t index, fy_tensor **item)
{
    (void)self;
    item[0] = fy_full((64, 64), 1.0);
    item[1] = fy_full((), index % 10, .dtype = FY_INT64);
}

int main(void)
{
    fy_dataset *pictures = fy_dataset(.len = 48, .get = picture);
    fy_dataloader *loader = fy_dataloader(pictures, .batch_size = 8, .shuffle = true, .num_workers = 2, .pin_memory = true);
    fy_tensor *w = fy_randn((4096, 256), .device = "cuda");
    FY_EACH(batch, loader)
    {
        fy_tensor *x = fy_to(batch[0], "cuda", .non_blocking = true);
        fy_tensor *hidden = fy_relu(fy_matmul(fy_view(x, (8, 4096)), w));
        fy_log_scalar("activity", fy_mean(hidden));
    }
    fy_free(w);
    fy_dataloader_free(loader);
    fy_dataset_free(pictures);
    return 0;
}
