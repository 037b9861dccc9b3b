/* racecheck.cc: finds hazards in kernels that run on the simulated card: two threads that access the same byte, one of
 * them writing, with nothing that orders them. Within a block __syncthreads orders; between blocks of a launch nothing
 * does. As compute-sanitizer's racecheck, but also for global memory, and without a card.
 *
 * g++ and clang, told -fsanitize=thread, call a function before each access: __tsan_read4 and its kin. Those are here, in
 * place of libtsan. An archive's member, it is linked only where kernels call them; simt.cc then runs a launch's blocks
 * one after another, and tells of blocks and barriers. Whatever FERRY_THREADS is, the findings are the same.
 *
 * For each byte that a launch accesses, its cell has the last write and two reads. That is enough: blocks and, in a
 * block, the phases between barriers come in order, so an access can only conflict with
 *   - an access in an earlier block: one is remembered, and conflicts with whatever comes;
 *   - one in this phase by another thread: of two threads' reads, one is another's.
 * A write that hides an earlier write either follows it in order or was a hazard itself. Shared memory begins anew with
 * each block. Atomics are unknown here, as in kernel.h; g++ does not tell of a memcpy that the kernel calls.
 *
 * A hazard is told once for each pair of places, on stderr; a last line counts. With RACECHECK=kernels the names of all
 * kernels that ran come before it. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if !defined(__SANITIZE_THREAD__) && !__has_feature(thread_sanitizer) /* else libtsan has these functions */

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel.h"
#include "racecheck.h"

namespace {

enum { PAGE = 512 };         /* bytes whose cells are allocated together */
enum { MOST_PAGES = 8192 };  /* 200 MB; with more, the next launch begins with none */
enum { MOST_FINDINGS = 64 }; /* pairs of places; further ones are only counted */
enum { MOST_KERNELS = 4096 };
const unsigned MOST_ARGUMENTS = 64;

/* An access. Phases are numbered through the whole run; phase 0: none. */
struct stamp {
    uint64_t phase : 54;
    uint64_t thread : 10;
    const void *pc;
};
struct cell {
    stamp write, read[2];
};
struct page {
    uintptr_t number;
    cell cells[PAGE];
};

/* Of the running launch; one runs at a time. */
struct launch {
    const char *kernel;
    uint64_t from, block_from; /* its first phase, and the block's */
    uint64_t *block_begins;    /* first phase of each block so far */
    size_t blocks, room;
    uintptr_t shared, shared_end; /* this CPU thread's shared memory */
    const void *pointers[MOST_ARGUMENTS];
    unsigned arguments;
};

struct finding {
    const void *here, *there;
    const char *what;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__thread bool watched; /* this thread runs the launch */
__thread const void *const *given;
__thread unsigned given_count;
launch now;
uint64_t phase;
page **pages, *last; /* a hash table; the page that was used last */
size_t page_count, page_room;
finding findings[MOST_FINDINGS];
struct {
    const char *function;
    char name[200];
    unsigned long launches;
} kernels[MOST_KERNELS];
unsigned kernel_count;
struct {
    unsigned long launches, accesses, barriers, hazards, missed;
    unsigned places;
} counted;

/* ---- cells ---- */

page **slot_of(page **table, size_t room, uintptr_t number)
{
    size_t i = (size_t)(number * 0x9E3779B97F4A7C15u >> 20) & (room - 1);
    while (table[i] && table[i]->number != number) i = (i + 1) & (room - 1);
    return &table[i];
}

bool grow()
{
    size_t room = page_room ? 2 * page_room : 1024;
    page **table = (page **)calloc(room, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < page_room; i++)
        if (pages[i]) *slot_of(table, room, pages[i]->number) = pages[i];
    free(pages);
    pages = table;
    page_room = room;
    return true;
}

/* NULL: no memory. */
cell *cell_of(uintptr_t address)
{
    uintptr_t number = address / PAGE;
    if (!last || last->number != number) {
        if (2 * page_count >= page_room && !grow()) return NULL;
        page **slot = slot_of(pages, page_room, number);
        if (!*slot) {
            page *fresh = (page *)calloc(1, sizeof *fresh);
            if (!fresh) return NULL;
            fresh->number = number;
            *slot = fresh;
            page_count++;
        }
        last = *slot;
    }
    return &last->cells[address % PAGE];
}

void forget_pages()
{
    for (size_t i = 0; i < page_room; i++) {
        free(pages[i]);
        pages[i] = NULL;
    }
    page_count = 0;
    last = NULL;
}

/* ---- reports ---- */

/* "thread (3,0,0) of block (1,0,0)" of an access in this launch. */
void name_thread(const stamp &s, char *text, size_t room)
{
    size_t block = 0;
    while (block + 1 < now.blocks && now.block_begins[block + 1] <= s.phase) block++;
    const dim3 &b = blockDim, &g = gridDim;
    unsigned t = (unsigned)s.thread, n = (unsigned)block;
    snprintf(text, room, "thread (%u,%u,%u) of block (%u,%u,%u)", t % b.x, t / b.x % b.y, t / b.x / b.y, n % g.x,
             n / g.x % g.y, n / g.x / g.y);
}

/* The last of the arguments that point to `address` or below it: its number, and its name in the kernel's source. */
bool name_argument(uintptr_t address, const char *file, char *text, size_t room)
{
    unsigned best = MOST_ARGUMENTS;
    char name[100];
    for (unsigned i = 0; i < now.arguments; i++) {
        uintptr_t p = (uintptr_t)now.pointers[i];
        if (p && p <= address && (best == MOST_ARGUMENTS || p > (uintptr_t)now.pointers[best])) best = i;
    }
    if (best == MOST_ARGUMENTS) return false;
    fy_parameter_name(file, now.kernel, best, name, sizeof name);
    snprintf(text, room, "%s%sargument %u, + %zu bytes", name, *name ? ", " : "", best + 1,
             (size_t)(address - (uintptr_t)now.pointers[best]));
    return true;
}

void name_memory(uintptr_t address, bool shared, const void *pc, const char *file, char *text, size_t room)
{
    char name[200];
    uintptr_t within;
    if (fy_variable_at(pc, address, shared ? now.shared : 0, name, sizeof name, &within))
        snprintf(text, room, "%s + %zu bytes", name, (size_t)within);
    else if (shared || !name_argument(address, file, text, room)) snprintf(text, room, "%p", (void *)address);
}

void tell(const char *what, uintptr_t address, bool shared, const stamp &mine, const stamp &other)
{
    char memory[400], me[100], them[100];
    fy_place here, there;
    fy_place_of(mine.pc, &here);
    fy_place_of(other.pc, &there);
    name_memory(address, shared, mine.pc, here.file, memory, sizeof memory);
    name_thread(mine, me, sizeof me);
    name_thread(other, them, sizeof them);
    bool wrote_first = strncmp(what + strlen(what) - 5, "write", 5) == 0;
    const char *names[2] = {strrchr(here.file, '/'), strrchr(there.file, '/')};
    fprintf(stderr,
            "racecheck: kernel %s: %s in %s memory, %s: %s\n"
            "racecheck:   %s line %d: %s %s: %s\n"
            "racecheck:   %s line %d: %s %s: %s\n",
            now.kernel, what, shared ? "shared" : "global", memory,
            other.phase < now.block_from ? "nothing orders the blocks of a launch" : "no __syncthreads is between",
            names[0] ? names[0] + 1 : here.file, here.line, me, *what == 'w' ? "writes" : "reads", here.text,
            names[1] ? names[1] + 1 : there.file, there.line, them, wrote_first ? "wrote" : "read", there.text);
}

void report(const char *what, uintptr_t address, bool shared, const stamp &mine, const stamp &other)
{
    counted.hazards++;
    for (unsigned i = 0; i < counted.places && i < MOST_FINDINGS; i++) {
        const finding &f = findings[i];
        if (f.here == mine.pc && f.there == other.pc && f.what == what) return;
    }
    if (counted.places < MOST_FINDINGS) findings[counted.places] = {mine.pc, other.pc, what};
    if (counted.places++ < MOST_FINDINGS) tell(what, address, shared, mine, other);
}

/* ---- accesses ---- */

/* Does nothing order that access of this launch before `mine`? */
bool conflicts(const stamp &s, const stamp &mine, bool shared)
{
    if (s.phase < now.from) return false;
    if (s.phase < now.block_from) return !shared;
    return s.phase == mine.phase && s.thread != mine.thread;
}

/* Keeps what a later write might conflict with. */
void remember_read(cell *c, const stamp &mine, bool shared)
{
    stamp *r = c->read;
    if (r[0].phase >= now.from && r[0].phase < now.block_from && !shared) return; /* conflicts with any write to come */
    if (r[0].phase != mine.phase) r[0] = mine, r[1] = {};
    else if (r[0].thread != mine.thread && !r[1].phase) r[1] = mine;
}

/* True if it was reported. */
bool access_byte(uintptr_t address, const stamp &mine, bool write, bool shared)
{
    cell *c = cell_of(address);
    if (!c) return counted.missed++, false;
    const stamp *other = NULL;
    const char *what = write ? "write after write" : "read after write";
    if (conflicts(c->write, mine, shared)) other = &c->write;
    for (int i = 0; i < 2 && write && !other; i++)
        if (conflicts(c->read[i], mine, shared)) other = &c->read[i], what = "write after read";
    if (other) report(what, address, shared, mine, *other);
    if (write) c->write = mine;
    else remember_read(c, mine, shared);
    return other != NULL;
}

void access(const void *p, size_t n, bool write, const void *pc)
{
    if (!watched || fy_simt_on_stack(p)) return;
    uintptr_t address = (uintptr_t)p;
    bool shared = address >= now.shared && address < now.shared_end, told = false;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    stamp mine = {phase, thread & 1023, pc};
    counted.accesses++;
    for (size_t i = 0; i < n && !told; i++) told = access_byte(address + i, mine, write, shared);
}

/* ---- what simt.cc tells ---- */

/* Finds the object that the kernel is in: where it was loaded, and its thread-local variables. */
int find_object(struct dl_phdr_info *info, size_t, void *body)
{
    uintptr_t at = (uintptr_t)body;
    bool own = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &part = info->dlpi_phdr[i];
        if (part.p_type == PT_LOAD && at - info->dlpi_addr - part.p_vaddr < part.p_memsz) own = true;
    }
    if (!own) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS) {
            now.shared = (uintptr_t)info->dlpi_tls_data;
            now.shared_end = now.shared + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

void begin(const char *kernel, const void *body)
{
    pthread_mutex_lock(&lock);
    now.kernel = kernel;
    now.from = now.block_from = phase + 1;
    now.blocks = 0;
    now.arguments = given_count < MOST_ARGUMENTS ? given_count : MOST_ARGUMENTS;
    if (now.arguments) memcpy(now.pointers, given, now.arguments * sizeof *given);
    dl_iterate_phdr(find_object, (void *)body);
    if (page_count > MOST_PAGES) forget_pages();
    counted.launches++;
    watched = true;
}

void block()
{
    now.block_from = ++phase;
    if (now.blocks == now.room) {
        size_t room = now.room ? 2 * now.room : 1024;
        uint64_t *more = (uint64_t *)realloc(now.block_begins, room * sizeof *more);
        if (!more) return; /* a report would name an earlier block */
        now.block_begins = more;
        now.room = room;
    }
    now.block_begins[now.blocks++] = phase;
}

void barrier()
{
    phase++;
    counted.barriers++;
}

void end()
{
    watched = false;
    given_count = 0;
    pthread_mutex_unlock(&lock);
}

const fy_simt_watch watch = {begin, block, barrier, end};

__attribute__((constructor)) void start() { fy_simt_watching = &watch; }

__attribute__((destructor)) void finish()
{
    const char *asked = getenv("RACECHECK");
    if (!counted.launches) return;
    for (unsigned i = 0; i < kernel_count && asked && strcmp(asked, "kernels") == 0; i++)
        fprintf(stderr, "racecheck: launches %lu of kernel %s\n", kernels[i].launches, kernels[i].name);
    if (counted.missed)
        fprintf(stderr, "racecheck: no memory for %lu accessed bytes: hazards there are not seen\n", counted.missed);
    fprintf(stderr, "racecheck: launches %lu, accesses %lu, barriers %lu, hazards %lu, places %u\n", counted.launches,
            counted.accesses, counted.barriers, counted.hazards, counted.places);
}

/* "... [with P = {...}; void (* kernel)(P ...) = softmax<float>]" of g++, "... [kernel = &softmax]" of clang. */
void cut_name(const char *function, char *name, size_t room)
{
    static const char *const before[] = {"kernel)(P ...) = ", "kernel = &"};
    for (const char *words : before) {
        const char *found = strstr(function, words);
        if (found) function = found + strlen(words);
    }
    snprintf(name, room, "%.*s", (int)strcspn(function, "]"), function);
}

} /* namespace */

const char *fy_racecheck_name(const char *function)
{
    pthread_mutex_lock(&lock);
    unsigned i = 0;
    while (i < kernel_count && kernels[i].function != function) i++;
    if (i == kernel_count && i < MOST_KERNELS - 1) {
        kernels[i].function = function;
        cut_name(function, kernels[i].name, sizeof kernels[i].name);
        kernel_count++;
    }
    kernels[i].launches++;
    pthread_mutex_unlock(&lock);
    return kernels[i].name;
}

void fy_racecheck_arguments(const void *const *pointers, unsigned n)
{
    given = pointers;
    given_count = n;
}

/* ---- what compiled kernels call ---- */

#define CALLER __builtin_return_address(0)
#define ACCESS(name, n, write) \
    void __tsan_##name(void *p) { access(p, n, write, CALLER); }
#define ACCESSES(n) \
    ACCESS(read##n, n, false) ACCESS(write##n, n, true) \
    ACCESS(unaligned_read##n, n, false) ACCESS(unaligned_write##n, n, true)

extern "C" { /* with the types that g++ itself declares */
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void *p, long n) { access(p, (size_t)n, false, CALLER); }
void __tsan_write_range(void *p, long n) { access(p, (size_t)n, true, CALLER); }
void *__tsan_memcpy(void *to, const void *from, size_t n) /* this and the next two: of later versions of clang */
{
    access(from, n, false, CALLER);
    access(to, n, true, CALLER);
    return memcpy(to, from, n);
}
void *__tsan_memmove(void *to, const void *from, size_t n)
{
    access(from, n, false, CALLER);
    access(to, n, true, CALLER);
    return memmove(to, from, n);
}
void *__tsan_memset(void *to, int byte, size_t n)
{
    access(to, n, true, CALLER);
    return memset(to, byte, n);
}
void __tsan_init(void) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void *) {}
}

#endif
