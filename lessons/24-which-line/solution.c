// Which line, your turn: the days of a diary, the newest first, and what each of them adds up to.
//
// days has a row for each day, the oldest first. The program stops with an error, at a line that
// did nothing wrong. Find the line that caused it, and fix that one.
#include <ferry.h>

int main(void)
{
    fy_tensor *days = fy_to(fy_given("days"), "cuda");
    int64_t count = fy_size(days, 0);

    // --- your code ---
    fy_tensor *back = fy_arange((count), .device = "cuda"); // 0, 1, 2 ... days ago
    fy_tensor *order = fy_sub(count - 1, back);             // the row of the newest day first
    fy_tensor *newest = fy_index_select(days, 0, order);
    fy_tensor *gains = fy_relu(newest);
    fy_tensor *sums = fy_sum(gains, (1));
    // --- end ---

    fy_tensor *y = fy_cpu(sums);
    fy_answer("y", y);
}
