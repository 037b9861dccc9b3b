/* out_of_memory.h: host memory for Ferry's own data structures (names, lists, queues) ran out. A run without them
 * would be recorded wrongly, so this prints a message and exits with status 1. Tensor memory is different: there the
 * call fails (memory/oom.c). */
#ifndef FERRY_OUT_OF_MEMORY_H
#define FERRY_OUT_OF_MEMORY_H

_Noreturn void fy_out_of_memory(const char *for_what);

#endif
