/* simt.cc: runs a CUDA kernel on the CPU: the threads of a block in order, the blocks divided among CPU threads
 * (thread_pool.c), since CUDA does not order blocks. Results do not depend on the number of CPU threads; if several
 * blocks have a fault, the first block's is reported.
 *
 * A CUDA thread is a call of the kernel. Until one reaches __syncthreads, the threads of a block run one after another,
 * in a plain loop, on one fiber (a stack of its own). A thread that reaches a barrier is parked with its fiber, and the
 * next thread starts on another fiber; when all are parked, each continues to the next barrier. A barrier that some
 * threads of the block never reach is reported as a fault.
 *
 * If the race checker is linked (racecheck.h), it is told of launches, blocks and barriers; blocks then run in order.
 *
 * Called by the launchers through kernel.h. Each CPU thread has its own machine and its own __shared__ memory. Fibers
 * are switched by fifteen instructions on x86-64, and by swapcontext elsewhere. */
#if defined(__x86_64__) && !defined(FERRY_NO_FIBER_ASM)
#define BY_ASSEMBLY 1
#else
#define BY_ASSEMBLY 0
#endif

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "kernel.h"
#include "racecheck.h"
extern "C" {
#include "thread_pool.h"
}

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, high) ((void)0)
#endif

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#include <sanitizer/asan_interface.h>
#endif

__thread fy_simt_place fy_simt_at;
__thread unsigned fy_simt_threads, fy_simt_started;
__thread bool fy_simt_dry;
const fy_simt_watch *fy_simt_watching;

namespace {

enum { STACK_BYTES = 128 << 10 }; /* per fiber; untouched pages take no memory */
enum { PART_NS = 20000 };         /* least work for which another CPU thread is woken */

struct fiber {
#if BY_ASSEMBLY
    void *stack_pointer;
#else
    ucontext_t context;
#endif
    char *stack;       /* its low end */
    bool idle;         /* waits in fiber_main for threads to run */
    bool parked;       /* its thread waits at a barrier */
    fy_simt_place at;  /* that thread */
    const char *file;  /* the barrier */
    int line;
#ifdef UNDER_TSAN
    void *tsan;
#endif
};

struct machine {
    fiber *fibers[1024]; /* CUDA's maximum of threads per block */
    fiber scheduler;     /* the caller's own stack */
    fiber *running;
    void (*body)(void *);
    void *arguments;
    bool faulty;
    char fault[400];
};

/* A launch, shared by the CPU threads that run its blocks. */
struct launch {
    const char *kernel;
    dim3 grid, block;
    void (*body)(void *);
    void *arguments;
    pthread_mutex_t lock;
    int64_t faulty; /* the first block known to have a fault; INT64_MAX: none */
    char fault[400];
};

__thread machine *mine;
__thread bool starved; /* no memory for a machine */
pthread_key_t machines;
pthread_once_t machines_made = PTHREAD_ONCE_INIT;

#if BY_ASSEMBLY
extern "C" void fy_simt_switch(void **save, void *to);
/* Pushes the callee-saved registers, changes the stack pointer, pops them. */
asm(".text\n.p2align 4\n.globl fy_simt_switch\n.type fy_simt_switch, @function\nfy_simt_switch:\n"
    "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
    "    movq %rsp, (%rdi)\n    movq %rsi, %rsp\n"
    "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n    ret\n"
    ".size fy_simt_switch, .-fy_simt_switch\n");
#endif

void go_to(fiber *to)
{
    fiber *from = mine->running;
    mine->running = to;
#ifdef UNDER_TSAN
    if (from == &mine->scheduler) from->tsan = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
#if BY_ASSEMBLY
    fy_simt_switch(&from->stack_pointer, to->stack_pointer);
#else
    swapcontext(&from->context, &to->context);
#endif
}

/* A fiber runs the block's threads one after another; while one is parked at a barrier its fiber starts no other. */
void fiber_main()
{
    for (;;) {
        mine->body(mine->arguments);
        mine->running->idle = true;
        go_to(&mine->scheduler);
    }
}

/* Gives the fiber an empty stack that starts in fiber_main. */
void prepare(fiber *f, unsigned number)
{
#ifdef UNDER_ASAN
    __asan_unpoison_memory_region(f->stack, STACK_BYTES); /* poisoned by a thread that never returned */
#endif
    /* Different offsets, or all stacks would share the same few cache lines. */
    char *top = f->stack + STACK_BYTES - 192 * (number % 61);
#if BY_ASSEMBLY
    uintptr_t aligned = (uintptr_t)top & ~(uintptr_t)15;
    void **slots = (void **)aligned;
    *--slots = NULL;               /* fiber_main never returns; this ends a debugger's walk */
    *--slots = (void *)fiber_main; /* where the switch's ret goes */
    for (int i = 0; i < 6; i++) *--slots = NULL;
    f->stack_pointer = slots;
#else
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = (size_t)(top - f->stack);
    f->context.uc_link = NULL;
    makecontext(&f->context, fiber_main, 0);
#endif
    f->idle = true;
    f->parked = false;
}

void end_machine(void *p)
{
    machine *m = (machine *)p;
    for (fiber *f : m->fibers) {
        if (!f) continue;
#ifdef UNDER_TSAN
        __tsan_destroy_fiber(f->tsan);
#endif
        munmap(f->stack, STACK_BYTES);
        free(f);
    }
    free(m);
}

void make_key() { pthread_key_create(&machines, end_machine); }

machine *this_machine()
{
    if (mine) return mine;
    pthread_once(&machines_made, make_key);
    mine = (machine *)calloc(1, sizeof *mine);
    if (!mine) return NULL;
    mine->running = &mine->scheduler;
    pthread_setspecific(machines, mine);
    return mine;
}

fiber *fiber_number(unsigned i)
{
    fiber *f = mine->fibers[i];
    if (!f) {
        f = (fiber *)calloc(1, sizeof *f);
        if (!f) return NULL;
        void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stack == MAP_FAILED) {
            free(f);
            return NULL;
        }
        f->stack = (char *)stack;
        (void)VALGRIND_STACK_REGISTER(f->stack, f->stack + STACK_BYTES);
#ifdef UNDER_TSAN
        f->tsan = __tsan_create_fiber(0);
#endif
        mine->fibers[i] = f;
    }
    if (!f->idle) prepare(f, i);
    return f;
}

void resume(fiber *f)
{
    if (f->parked) fy_simt_at = f->at;
    f->idle = f->parked = false;
    go_to(f);
}

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void set_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
void set_fault(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(mine->fault, sizeof mine->fault, format, list);
    va_end(list);
    mine->faulty = true;
}

/* The number of the block's threads that wait at a barrier; `first` is set to one of them. */
unsigned waiting(unsigned used, const fiber **first)
{
    unsigned n = 0;
    for (unsigned i = 0; i < used; i++)
        if (mine->fibers[i]->parked && n++ == 0) *first = mine->fibers[i];
    return n;
}

/* Do all threads of the block wait at the same barrier? If not, sets a fault that says where they are. */
bool all_at_one_barrier(const char *kernel, unsigned used, unsigned n, const fiber *first)
{
    if (mine->faulty) return false; /* an assertion ended some */
    const dim3 &thread = first->at.thread, &block = first->at.block;
    for (unsigned i = 0; i < used; i++) {
        const fiber *f = mine->fibers[i];
        if (!f->parked || (f->line == first->line && f->file == first->file)) continue;
        set_fault("kernel %s: thread (%u,%u,%u) of block (%u,%u,%u) waits at __syncthreads, %s line %d, but "
                  "thread (%u,%u,%u) waits at another, line %d; all threads of a block must meet at the same one",
                  kernel, thread.x, thread.y, thread.z, block.x, block.y, block.z, base_name(first->file),
                  first->line, f->at.thread.x, f->at.thread.y, f->at.thread.z, f->line);
        return false;
    }
    unsigned returned = fy_simt_threads - n;
    if (returned == 0) return true;
    set_fault("kernel %s: %u thread%s of block (%u,%u,%u) wait%s at __syncthreads, %s line %d (the first is thread "
              "(%u,%u,%u)), but %u ha%s already returned; every thread of a block must reach it",
              kernel, n, n == 1 ? "" : "s", block.x, block.y, block.z, n == 1 ? "s" : "", base_name(first->file),
              first->line, thread.x, thread.y, thread.z, returned, returned == 1 ? "s" : "ve");
    return false;
}

/* Runs one block; false after a fault. Fibers that are then still parked are restarted by the next block. */
bool run_block(const char *kernel)
{
    unsigned used = 0, n;
    const fiber *first = NULL;
    fy_simt_started = 0;
    fy_simt_at.thread = dim3(0, 0, 0);
    if (fy_simt_watching) fy_simt_watching->block();
    while (fy_simt_started < fy_simt_threads) {
        fiber *f = fiber_number(used);
        if (!f) {
            set_fault("kernel %s: no memory for the stack of thread %u of a block; use smaller blocks", kernel, used);
            return false;
        }
        used++;
        resume(f);
    }
    while ((n = waiting(used, &first)) > 0) {
        if (!all_at_one_barrier(kernel, used, n, first)) return false;
        if (fy_simt_watching) fy_simt_watching->barrier();
        for (unsigned i = 0; i < used; i++)
            if (mine->fibers[i]->parked) resume(mine->fibers[i]);
    }
    return !mine->faulty; /* an assertion */
}

void note_fault(launch *l, int64_t block, const char *fault)
{
    pthread_mutex_lock(&l->lock);
    if (block < __atomic_load_n(&l->faulty, __ATOMIC_RELAXED)) {
        __atomic_store_n(&l->faulty, block, __ATOMIC_RELAXED);
        snprintf(l->fault, sizeof l->fault, "%s", fault);
    }
    pthread_mutex_unlock(&l->lock);
}

/* Runs blocks from..to of a launch, x fastest, on this CPU thread's machine; skips those after a block with a fault. */
void run_blocks(int64_t from, int64_t to, void *of)
{
    launch *l = (launch *)of;
    if (!this_machine()) return note_fault(l, from, "no memory to run kernels");
    fy_simt_threads = l->block.x * l->block.y * l->block.z;
    mine->body = l->body;
    mine->arguments = l->arguments;
    mine->faulty = false;
    fy_simt_at.block_dim = l->block;
    fy_simt_at.grid_dim = l->grid;
    for (int64_t i = from; i < to && i < __atomic_load_n(&l->faulty, __ATOMIC_RELAXED); i++) {
        int64_t row = i / l->grid.x;
        fy_simt_at.block = dim3((unsigned)(i % l->grid.x), (unsigned)(row % l->grid.y), (unsigned)(row / l->grid.y));
        if (run_block(l->kernel)) continue;
        note_fault(l, i, mine->fault);
        mine->faulty = false;
    }
}

void run_later_blocks(int64_t from, int64_t to, void *of) { run_blocks(from + 1, to + 1, of); }

/* The time of the first block determines how many blocks a CPU thread takes at a time. */
void share_blocks(launch *l, int64_t blocks)
{
    if (blocks == 0) return;
    if (fy_simt_watching) return run_blocks(0, blocks, l);
    timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    run_blocks(0, 1, l);
    clock_gettime(CLOCK_MONOTONIC, &after);
    int64_t one = (after.tv_sec - before.tv_sec) * (int64_t)1000000000 + after.tv_nsec - before.tv_nsec;
    int64_t grain = one > 0 && one < PART_NS ? PART_NS / one : 1;
    if (blocks > 1) fy_thread_pool_run(blocks - 1, grain, run_later_blocks, l);
}

} /* namespace */

extern "C" void fy_simt_barrier(const char *file, int line)
{
    fiber *f = mine->running;
    f->at = fy_simt_at;
    f->file = file;
    f->line = line;
    f->parked = true;
    go_to(&mine->scheduler);
}

/* The thread ends here, as it does on a card; the next block restarts its fiber. */
extern "C" void fy_simt_assert(const char *fact, const char *file, int line)
{
    const dim3 &block = fy_simt_at.block, &thread = fy_simt_at.thread;
    if (!mine->faulty)
        set_fault("device-side assert triggered: %s:%d: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.",
                  base_name(file), line, block.x, block.y, block.z, thread.x, thread.y, thread.z, fact);
    go_to(&mine->scheduler);
}

extern "C" void fy_simt_run(const char *kernel, dim3 grid, dim3 block, void (*body)(void *), void *arguments)
{
    starved = !this_machine();
    if (starved) return;
    mine->faulty = false;
    unsigned threads = block.x * block.y * block.z;
    if (threads == 0 || threads > 1024 || block.z > 64) {
        set_fault("kernel %s: a block has (%u,%u,%u) threads; a card allows 1 to 1024 threads per block, and 64 in z",
                  kernel, block.x, block.y, block.z);
        return;
    }
    launch l = {kernel, grid, block, body, arguments, PTHREAD_MUTEX_INITIALIZER, INT64_MAX, ""};
    if (fy_simt_watching) fy_simt_watching->begin(kernel, (const void *)body);
    share_blocks(&l, (int64_t)grid.x * grid.y * grid.z);
    if (fy_simt_watching) fy_simt_watching->end();
    if (l.faulty < INT64_MAX) set_fault("%s", l.fault);
}

bool fy_simt_on_stack(const void *p)
{
    const char *stack = mine->running->stack;
    return stack && (const char *)p >= stack && (const char *)p < stack + STACK_BYTES;
}

extern "C" void fy_sim_dry_run(bool on) { fy_simt_dry = on; }

extern "C" const char *fy_sim_kernel_fault(void)
{
    if (starved) return "no memory to run kernels";
    if (!mine || !mine->faulty) return NULL;
    mine->faulty = false;
    return mine->fault;
}
