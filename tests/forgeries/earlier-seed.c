/* 03 | fails | lesson-settings | FERRY_SEED changed before the session began */
#include <ferry.h>
#include <stdlib.h>

__attribute__((constructor(101))) static void choose(void) { setenv("FERRY_SEED", "1", 1); }

int main(void) { fy_answer("h", fy_given("x")); }
