/* mapping.c: mapped logs, and a SIGBUS handler for files that are truncated while mapped.
 *
 * Accessing a shared mapping beyond the end of its file raises SIGBUS. Any program may truncate the file
 * (`: > run.jsonl`) at any time, so checking its size first does not help. The handler maps anonymous zero pages over
 * the missing ones. Readers find no published slots there, a writer stops recording, and fy_log_is_truncated reports
 * it. SIGBUS at other addresses is passed on to the previous handler.
 *
 * The handler takes no lock and allocates nothing: list nodes are reused and never freed. */
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

/* Zero pages from the one that contains `at` to the end of its FY_LOG_ALIGN, no further: later pages may exist. False
 * if it is in no log. */
static bool patch(uintptr_t at)
{
    fy_mapping *m = atomic_load(&all);
    uintptr_t from = 0;
    for (; m; m = m->next) {
        from = atomic_load(&m->from);
        if (from && at >= from && at - from < atomic_load(&m->bytes)) break;
    }
    if (!m) return false;

    uintptr_t page = at & ~(page_bytes - 1), end = from + (at - from) / FY_LOG_ALIGN * FY_LOG_ALIGN + FY_LOG_ALIGN;
    int error = errno;
    void *made = mmap((void *)page, end - page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = error;
    if (made == MAP_FAILED) return false;
    atomic_fetch_add(&m->patches, 1);
    fy_log_stop((const fy_head *)from);
    return true;
}

static void on_bus_error(int signal_number, siginfo_t *info, void *context)
{
    if (info->si_code == BUS_ADRERR && patch((uintptr_t)info->si_addr)) return;
    if (before.sa_flags & SA_SIGINFO && before.sa_sigaction) {
        before.sa_sigaction(signal_number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(signal_number);
    } else {
        signal(signal_number, SIG_DFL);
        raise(signal_number); /* delivered when the handler returns */
    }
}

static void install_handler(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
}

/* The handler reads `from` first, so it is stored last. */
static void fill(fy_mapping *m, const void *from, size_t bytes)
{
    atomic_store(&m->patches, 0);
    atomic_store(&m->bytes, bytes);
    atomic_store(&m->from, (uintptr_t)from);
}

fy_mapping *fy_mapping_add(const void *from, size_t bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_handler);
    for (fy_mapping *m = atomic_load(&all); m; m = m->next) {
        bool taken = atomic_exchange(&m->taken, true);
        if (!taken) return fill(m, from, bytes), m;
    }
    fy_mapping *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    atomic_store(&m->taken, true);
    fill(m, from, bytes);
    m->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &m->next, m)) continue;
    return m;
}

void fy_mapping_drop(fy_mapping *m)
{
    atomic_store(&m->from, 0);
    atomic_store(&m->taken, false);
}
