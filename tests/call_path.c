/* Traces fy_to(on_cpu, "cuda") through the library: the first call of a program, and a second one, for which the
 * session, the devices, the first segment and the call site exist. path_test.sh builds lib/ with -finstrument-
 * functions, so that every entered function calls the hook below. Prints a line for each: first or again, and the
 * function's address for addr2line. */
#include <stdint.h>
#include <stdio.h>

#include "ferry.h"

enum { MOST = 100000 };
static struct step {
    const char *call;
    uintptr_t function;
} steps[MOST];
static int count;
static _Thread_local const char *followed; /* the phase that this thread is in */
extern const char __executable_start;

void __cyg_profile_func_enter(void *function, void *from);
void __cyg_profile_func_exit(void *function, void *from);

void __cyg_profile_func_enter(void *function, void *from)
{
    (void)from;
    if (followed && count < MOST)
        steps[count++] = (struct step){followed, (uintptr_t)function - (uintptr_t)&__executable_start};
}

void __cyg_profile_func_exit(void *function, void *from) { (void)function, (void)from; }

int main(void)
{
    static const char *const calls[] = {"first", "again"};
    fy_tensor *on_cpu = fy_arange((4));
    for (int i = 0; i < 2; i++) {
        followed = calls[i];
        fy_tensor *on_card = fy_to(on_cpu, "cuda");
        followed = NULL;
        if (!fy_is_cuda(on_card)) return 1;
        fy_free(on_card);
    }
    for (int i = 0; i < count; i++) printf("%s %#jx\n", steps[i].call, (uintmax_t)steps[i].function);
    return count == MOST;
}
