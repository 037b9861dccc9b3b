// Lesson 23, your turn: a result is on its way home in a second stream, and its memory is needed for the next one.
//
// square is freed as soon as its copy is queued: nothing here needs it any more. But what comes home are not
// the squares. Let the memory wait for the copy, and nobody else: not the CPU, not the work.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_cuda(fy_given("x"));
    fy_stream *work = fy_cuda_current_stream();
    fy_stream *copies = fy_cuda_stream();
    fy_tensor *home = NULL;
    fy_tensor *square = fy_mul(x, x);
    fy_stream_wait_stream(copies, work); // square is computed before it is copied

    // --- your code ---
    // In one stream everything is in order, without any word about it. But then the work waits for the bus.
    home = fy_to(square, "cpu", .non_blocking = true);
    fy_free(square);
    // --- end ---

    fy_tensor *triple = fy_mul(x, 3.0); // the next result
    fy_cuda_synchronize();              // now the CPU may read home
    fy_answer("home", home);
    fy_answer("triple", triple);
}
