/* Myth 5: d is cloned before the one order, and the result of the other is. A clone changes no value. */
#include <ferry.h>

int main(void)
{
    fy_tensor *d = fy_given("d"), *early = fy_to(fy_to(fy_clone(d), FY_FLOAT32), "cuda");
    fy_mark("false");
    fy_tensor *late = fy_clone(fy_to(fy_to(d, "cuda"), FY_FLOAT32));
    fy_answer("early", early);
    fy_answer("late", late);
}
