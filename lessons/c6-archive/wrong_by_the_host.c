// Challenge, your turn: which page of the archive fits the question best? There are two cards, and
// neither has room for all pages.
//
// pages (a row for each page) and question (a number for each column) are in CPU RAM. Submit behind,
// one number for each page: its score less the best score of all. On the first card.
#include <ferry.h>

int main(void)
{
    fy_tensor *pages = fy_given("pages");
    fy_tensor *question = fy_given("question");

    // --- your code ---
    // The scores of the second card come to CPU RAM first, and leave for the first card from there.
    int64_t count = fy_size(pages, 0), half = count / 2;
    fy_tensor *low = fy_to(fy_narrow(pages, 0, 0, half), "cuda:0");
    fy_tensor *high = fy_to(fy_narrow(pages, 0, half, count - half), "cuda:1");
    fy_tensor *first = fy_matmul(low, fy_to(question, "cuda:0"));
    fy_tensor *second = fy_cpu(fy_matmul(high, fy_to(question, "cuda:1")));
    fy_tensor *scores = fy_cat((first, fy_to(second, "cuda:0")), 0);
    fy_tensor *behind = fy_sub(scores, fy_max(scores));
    // --- end ---

    fy_answer("behind", behind);
}
