// Challenge, your turn: what is left of each day's takings?
//
// sold (a row for each day, a column for each article) and prices (one for each article) are in CPU RAM.
// The card does all of the arithmetic. Submit left, one number for each day, in CPU RAM.
#include <ferry.h>

int main(void)
{
    fy_tensor *sold = fy_given("sold");
    fy_tensor *prices = fy_given("prices");

    // --- your code ---
    fy_tensor *left = sold;
    // --- end ---

    fy_answer("left", left);
}
