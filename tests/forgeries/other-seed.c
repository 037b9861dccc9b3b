/* 03 | fails | log-is-possible | FERRY_SEED changed after the session began */
#include <ferry.h>
#include <stdlib.h>

int main(void)
{
    setenv("FERRY_SEED", "1", 1);
    fy_answer("h", fy_given("x"));
}
