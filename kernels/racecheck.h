/* racecheck.h: what simt.cc and kernel.h tell the race checker, and ask it. It is linked only beside kernels that were
 * compiled with -fsanitize=thread and -DFERRY_RACECHECK (racecheck.cc). */
#ifndef FERRY_RACECHECK_H
#define FERRY_RACECHECK_H

#include <stddef.h>
#include <stdint.h>

/* Called by the thread that runs a launch; simt.cc then runs its blocks one after another. */
struct fy_simt_watch {
    void (*begin)(const char *kernel, const void *body); /* body: a function beside the kernel, in the same object */
    void (*block)(void);                                 /* fy_simt_at.block begins */
    void (*barrier)(void);                               /* all threads of the block have met */
    void (*end)(void);
};
extern const fy_simt_watch *fy_simt_watching; /* NULL: racecheck.cc is not linked */

/* Is it on the stack that this CPU thread runs on? Many threads of a block have it, one after another. */
bool fy_simt_on_stack(const void *p);

/* A kernel's name, of the __PRETTY_FUNCTION__ of fy_launch<kernel>: "softmax<float>". Valid until the next. */
const char *fy_racecheck_name(const char *function);
/* The pointers among the launch's arguments, in order; NULL: no pointer. */
void fy_racecheck_arguments(const void *const *pointers, unsigned n);

/* racecheck_places.cc: names for a report. The file and line of an instruction, and the text of that line. */
struct fy_place {
    char file[300]; /* "" if unknown */
    int line;
    char text[200];
};
void fy_place_of(const void *pc, fy_place *place);
/* The variable at an address, of the object that contains the instruction pc: its name, and the offset in it; false:
 * none. shared: where this CPU thread's shared memory begins; 0: the address is not in it. */
bool fy_variable_at(const void *pc, uintptr_t address, uintptr_t shared, char *name, size_t room, uintptr_t *within);
/* The name of a kernel's argument, from its source; "" if it is not found. */
void fy_parameter_name(const char *file, const char *kernel, unsigned number, char *name, size_t room);

#endif
