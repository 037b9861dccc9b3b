/* out_of_memory.h: no memory for Ferry's own books: names, lists, queues, lines of a log. A run that went on without
 * them would be told wrongly: so that is said, and the program ends with status 1. The memory of tensors is another
 * matter: a call that cannot have it fails (memory/full.c). */
#ifndef FERRY_OUT_OF_MEMORY_H
#define FERRY_OUT_OF_MEMORY_H

_Noreturn void fy_out_of_memory(const char *for_what);

#endif
