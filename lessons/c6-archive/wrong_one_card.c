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
    // The first card does it all: it has to hold every page.
    fy_tensor *scores = fy_matmul(fy_to(pages, "cuda:0"), fy_to(question, "cuda:0"));
    fy_tensor *behind = fy_sub(scores, fy_max(scores));
    // --- end ---

    fy_answer("behind", behind);
}
