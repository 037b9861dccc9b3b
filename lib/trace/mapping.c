/* mapping.c: the mappings of logs, and what is done when a file is cut off under one.
 *
 * A shared mapping has no pages beyond the end of its file: whoever touches one there is killed by SIGBUS. Any
 * program may cut the file (`: > run.jsonl`), at any instant, so that no look at its size comes in time. A handler
 * puts empty pages of this process where the file's are gone. Readers find nothing published there; a writer
 * records no more; both are told by fy_log_is_cut. Bus errors elsewhere go to whoever handled them before.
 *
 * The handler takes no lock and allocates nothing: places in the list are used again, and never given back. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log_format.h"

static _Atomic(fy_mapping *) all;
static uintptr_t page_bytes;
static struct sigaction before;

/* Empty pages from the one that holds `at` to the end of its piece, and no further: what follows may be whole. */
static bool patch(fy_mapping *m, uintptr_t from, uintptr_t at)
{
    uintptr_t page = at & ~(page_bytes - 1), end = from + (at - from) / FY_LOG_PIECE * FY_LOG_PIECE + FY_LOG_PIECE;
    int error = errno;
    void *made = mmap((void *)page, end - page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = error;
    if (made == MAP_FAILED) return false;
    atomic_fetch_add(&m->patches, 1);
    fy_log_stop((const fy_head *)from);
    return true;
}

static bool is_patched(const void *p)
{
    uintptr_t at = (uintptr_t)p;
    for (fy_mapping *m = atomic_load(&all); m; m = m->next) {
        uintptr_t from = atomic_load(&m->from);
        if (from && at >= from && at - from < atomic_load(&m->bytes)) return patch(m, from, at);
    }
    return false;
}

static void on_bus_error(int signal_number, siginfo_t *info, void *context)
{
    if (info->si_code == BUS_ADRERR && is_patched(info->si_addr)) return;
    if (before.sa_flags & SA_SIGINFO && before.sa_sigaction) {
        before.sa_sigaction(signal_number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(signal_number);
    } else {
        signal(signal_number, SIG_DFL);
        raise(signal_number); /* arrives when the handler returns */
    }
}

static void catch_bus_errors(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
}

/* The bytes of a place come before its address: a place with an address is whole. */
static void use(fy_mapping *m, const void *from, size_t bytes)
{
    atomic_store(&m->patches, 0);
    atomic_store(&m->bytes, bytes);
    atomic_store(&m->from, (uintptr_t)from);
}

fy_mapping *fy_mapping_add(const void *from, size_t bytes)
{
    static pthread_once_t caught = PTHREAD_ONCE_INIT;
    pthread_once(&caught, catch_bus_errors);
    for (fy_mapping *m = atomic_load(&all); m; m = m->next) {
        bool taken = atomic_exchange(&m->taken, true);
        if (!taken) return use(m, from, bytes), m;
    }
    fy_mapping *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    atomic_store(&m->taken, true);
    use(m, from, bytes);
    m->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &m->next, m)) continue;
    return m;
}

void fy_mapping_drop(fy_mapping *m)
{
    atomic_store(&m->from, 0);
    atomic_store(&m->taken, false);
}
