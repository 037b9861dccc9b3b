// Lesson 22, your turn: y = relu(x) + w. A second stream does the copies, beside the work.
//
// w is on its way to the card while relu runs. That is the plan. But each of the two streams reads something
// that the other one may not have written yet. Order them. The CPU waits once, at the end.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_cuda(fy_given("x"));
    fy_tensor *box = fy_pin_memory(fy_given("w"));
    fy_stream *work = fy_cuda_current_stream();
    fy_stream *copies = fy_cuda_stream();
    fy_tensor *w = NULL, *home = NULL;

    // --- your code ---
    // Right values, but the CPU waits for the whole card each time, and queues nothing meanwhile.
    FY_STREAM(copies) { w = fy_to(box, "cuda", .non_blocking = true); }
    fy_tensor *positive = fy_relu(x);
    fy_cuda_synchronize();
    fy_tensor *y = fy_add(positive, w);
    fy_cuda_synchronize();
    FY_STREAM(copies) { home = fy_to(y, "cpu", .non_blocking = true); }
    // --- end ---

    fy_stream_synchronize(copies); // now the CPU may read home
    fy_answer("y", home);
}
