/* 03 | fails | right-numbers | a verdict that the program writes into its own log */
#include <ferry.h>

unsigned long fy_emit(void *at, int kind, const void *record, unsigned long bytes);
unsigned fy_ref_str(const char *text);

int main(void)
{
    struct __attribute__((packed)) {
        unsigned char empty;
        unsigned lesson;
        unsigned char pass;
        long passed, checks;
        unsigned message;
    } grade = {0, fy_ref_str("03-round-trip"), 1, 9, 9, fy_ref_str("All checks passed.")};
    fy_answer("h", fy_given("x"));
    fy_emit(0, 39, &grade, sizeof grade);
}
