/* 02 | fails | lesson-settings | FERRY_POLICY set before the session began, so that Ferry copies what is on the
 * other device */
#include <ferry.h>
#include <stdlib.h>

__attribute__((constructor(101))) static void choose(void) { setenv("FERRY_POLICY", "silent", 1); }

int main(void) { fy_answer("y", fy_relu(fy_matmul(fy_to(fy_given("mat1"), "cuda"), fy_given("mat2")))); }
