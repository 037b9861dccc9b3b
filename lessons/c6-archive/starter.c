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
    fy_tensor *behind = pages;
    // --- end ---

    fy_answer("behind", behind);
}
