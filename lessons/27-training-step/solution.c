// Lesson 27, your turn: the same training, in little more than half the time.
//
// Every value is right, and nearly every line costs something that it need not. `ferry explain`
// tells what. Change as much as you like between the two marks. This card is small: x takes as much as it has.
#include <ferry.h>
#include <stdio.h>

typedef struct scaled {
    fy_module base;
    fy_tensor *weight, *scale; // the scale is a constant
} scaled;

static fy_tensor *scaled_forward(void *module, fy_tensor *x)
{
    scaled *self = module;
    return fy_matmul(fy_mul(x, fy_to(self->scale, x)), self->weight);
}

int main(void)
{
    fy_tensor *x = fy_given("x"), *y = fy_given("y"); // four batches of rows
    int64_t rows = fy_size(x, 0) / 4;
    scaled *net = fy_module_new(scaled, scaled_forward);
    net->weight = fy_parameter(net, "weight", fy_given("w"));

    // --- your code ---
    net->scale = fy_buffer(net, "scale", fy_given("scale"));
    fy_module_to(net, "cuda");
    fy_tensor *wanted_all = fy_cuda(y);
    fy_tensor *locked = fy_pin_memory(x);
    fy_stream *work = fy_cuda_current_stream(), *copies = fy_cuda_stream();
    fy_optimizer *optimizer = fy_optim_sgd(net, .lr = 0.02);
    fy_tensor *off = fy_zeros((), .device = "cuda");

    FY_TIMES (step, 12) {
        int64_t at = step % 4 * rows;
        fy_tensor *batch = NULL;
        FY_STREAM(copies) { batch = fy_to(fy_narrow(locked, 0, at, rows), "cuda", .non_blocking = true); }
        fy_stream_wait_stream(work, copies);
        fy_record_stream(batch, work);
        fy_tensor *error = fy_sub(fy_call(net, batch), fy_narrow(wanted_all, 0, at, rows));
        fy_zero_grad(optimizer);
        fy_backward(fy_mean(fy_mul(error, error)));
        fy_step(optimizer);
        fy_set(&off, fy_add(off, fy_detach(fy_mean(fy_abs(error)))));
    }
    printf("off by %g in all\n", fy_item(off));
    // --- end ---

    fy_answer("off", off);
    fy_answer("w", net->weight);
    fy_optimizer_free(optimizer);
    fy_module_free(net);
}
