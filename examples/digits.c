/* Ten digits: small pictures, drawn here by strokes that are shifted, turned, scaled and made noisy, are told apart by
 * a network of two layers. Prints after each epoch the share of new pictures that it tells right. */
#include <ferry.h>
#include <math.h>
#include <stdio.h>

enum { SIDE = 28, PIXELS = SIDE * SIDE, STROKES = 9, TRAINED = 3000, NEW = 500 };

/* A digit's strokes: points (x, y) in a square of 10, y down; -1 lifts the pen. */
static const char *const strokes[10] = {
    "3,1 7,1 8,3 8,7 7,9 3,9 2,7 2,3 3,1", "3,3 5,1 5,9",     "2,3 3,1 7,1 8,3 7,5 2,9 8,9",
    "2,1 7,1 8,3 6,5 8,7 7,9 2,9",         "6,9 6,1 2,6 8,6", "8,1 2,1 2,5 7,5 8,7 7,9 2,9",
    "7,1 3,3 2,7 3,9 7,9 8,7 7,5 2,6",     "2,1 8,1 4,9",     "5,5 2,3 3,1 7,1 8,3 5,5 2,7 3,9 7,9 8,7 5,5",
    "8,4 3,5 2,3 3,1 7,1 8,3 7,7 4,9",
};

/* Numbers that depend on the picture alone, so that it is the same in every epoch: 0 to 1. */
static double chance(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24);
}

/* How far a point is from the line between two. */
static double distance(double px, double py, double ax, double ay, double bx, double by)
{
    double dx = bx - ax, dy = by - ay, t = ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(px - ax - t * dx, py - ay - t * dy);
}

/* Item `index` of the dataset: a picture (784) and its digit (). */
static void draw(void *self, int64_t index, fy_tensor **item)
{
    uint32_t state = (uint32_t)(index * 2654435761u) + *(uint32_t *)self;
    for (int i = 0; i < 4; i++) chance(&state);
    int digit = (int)(index % 10), x, y, used, n = 0;
    double turn = 0.5 * (chance(&state) - 0.5), size = 2.1 + 0.5 * chance(&state), left = 4 * (chance(&state) - 0.5),
           down = 4 * (chance(&state) - 0.5), width = 1 + 0.8 * chance(&state), at[16][2];
    for (const char *p = strokes[digit]; sscanf(p, "%d,%d%n", &x, &y, &used) == 2; p += used, n++) {
        at[n][0] = SIDE / 2.0 + left + size * ((x - 5) * cos(turn) - (y - 5) * sin(turn));
        at[n][1] = SIDE / 2.0 + down + size * ((x - 5) * sin(turn) + (y - 5) * cos(turn));
    }
    float pixels[PIXELS];
    for (int i = 0; i < PIXELS; i++) {
        double near = 100;
        for (int k = 1; k < n; k++)
            near = fmin(near, distance(i % SIDE, i / SIDE, at[k - 1][0], at[k - 1][1], at[k][0], at[k][1]));
        pixels[i] = (float)(fmax(0, fmin(1, width + 0.5 - near)) + 0.3 * (chance(&state) - 0.5));
    }
    item[0] = fy_clone(fy_from_blob(pixels, (PIXELS)));
    item[1] = fy_full((), digit, .dtype = FY_INT64);
}

/* The share of the loader's pictures that the network tells right. */
static double right_of(fy_module *net, fy_dataloader *loader, const char *device)
{
    double right = 0, all = 0;
    fy_eval(net);
    FY_NO_GRAD FY_EACH (batch, loader)
    {
        fy_tensor *told = fy_argmax(fy_call(net, fy_to(batch[0], device)), (1));
        right += (double)fy_item_int(fy_sum(fy_eq(told, fy_to(batch[1], device))));
        all += (double)fy_size(batch[0], 0);
    }
    fy_train(net);
    return right / all;
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "cuda";
    uint32_t known = 1, unknown = 2;
    fy_manual_seed(0);
    fy_dataset *trained = fy_dataset(.len = TRAINED, .get = draw, .self = &known);
    fy_dataset *fresh = fy_dataset(.len = NEW, .get = draw, .self = &unknown);
    fy_dataloader *loader =
        fy_dataloader(trained, .batch_size = 64, .shuffle = true, .num_workers = 2, .pin_memory = true);
    fy_dataloader *tests = fy_dataloader(fresh, .batch_size = 250);

    fy_module *net = fy_sequential((fy_nn_linear(PIXELS, 256), fy_nn_relu(), fy_nn_linear(256, 10)));
    fy_module_to(net, device);
    fy_optimizer *optimizer = fy_optim_adam(net, .lr = 1e-3);
    FY_TIMES (epoch, 3) {
        FY_EACH (batch, loader) {
            fy_tensor *pictures = fy_to(batch[0], device, .non_blocking = true);
            fy_tensor *digits = fy_to(batch[1], device, .non_blocking = true);
            fy_tensor *loss = fy_cross_entropy(fy_call(net, pictures), digits);
            fy_zero_grad(optimizer);
            fy_backward(loss);
            fy_step(optimizer);
        }
        printf("epoch %d: %.1f %% right\n", epoch + 1, 100 * right_of(net, tests, device));
    }
    fy_optimizer_free(optimizer);
    fy_module_free(net);
    fy_dataloader_free(tests);
    fy_dataloader_free(loader);
    fy_dataset_free(fresh);
    fy_dataset_free(trained);
    return 0;
}
