/* 07 | fails | lesson-settings | FERRY_SIM changed before the session began, so that copies are fast */
#include <ferry.h>
#include <stdlib.h>

__attribute__((constructor(101))) static void choose(void) { setenv("FERRY_SIM", "laptop:bus=400GB/s", 1); }

int main(void) { fy_answer("y", fy_ones((2))); }
