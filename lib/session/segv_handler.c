/* segv_handler.c: explains a host access to VRAM, which is a bug and a crash on any GPU.
 *
 * The pages of simulated VRAM are inaccessible (sim.c), so dereferencing a device pointer raises SIGSEGV. The handler
 * prints which tensor was accessed and the fix, records an `error` event, and lets the signal take its default action.
 * Other faults are passed to the previous handler; if there is none, an `error` event records the crash.
 *
 * This runs in a signal handler: own formatting, write(2), fy_emit; nothing that locks or allocates. It uses an
 * alternate stack in the thread that installed it. */
#define _GNU_SOURCE
#include "segv_handler.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "crash_line.h"
#include "device.h"
#include "dtype.h"
#include "event.h"
#include "frame.h"
#include "lane.h"
#include "session.h"
#include "site.h"
#include "storage.h"

static struct sigaction before_segv, before_bus;
static char handler_stack[64 << 10];

/* ---- async-signal-safe text ----------------------------------------------------------------------- */

typedef struct line {
    char text[700];
    size_t size;
} line;

static void add(line *l, const char *s)
{
    for (; s && *s && l->size < sizeof l->text - 1; s++) l->text[l->size++] = *s;
    l->text[l->size] = 0;
}

static void add_number(line *l, uint64_t n, unsigned base)
{
    char digits[24];
    size_t i = sizeof digits - 1;
    digits[i] = 0;
    do digits[--i] = "0123456789abcdef"[n % base];
    while (n /= base);
    if (base == 16) add(l, "0x");
    add(l, &digits[i]);
}

/* ---- the message --------------------------------------------------------------------------------- */

typedef enum access { ACCESSED, READ, WROTE } access_kind;

/* Read or write, from the CPU's fault information. */
static access_kind access_of(const void *context)
{
#if defined(__x86_64__)
    const ucontext_t *u = context;
    return u->uc_mcontext.gregs[REG_ERR] & 2 ? WROTE : READ;
#elif defined(__aarch64__)
    const ucontext_t *u = context;
    const unsigned char *p = (const unsigned char *)u->uc_mcontext.__reserved;
    for (const struct _aarch64_ctx *c = (const void *)p; c->magic; c = (const void *)(p += c->size)) {
        if (c->magic != ESR_MAGIC) continue;
        uint64_t esr;
        memcpy(&esr, (const char *)c + sizeof *c, sizeof esr);
        return esr & 1 << 6 ? WROTE : READ;
    }
    return ACCESSED;
#else
    (void)context;
    return ACCESSED;
#endif
}

static void add_name(line *l, const fy_storage *s)
{
    const char *name = fy_storage_name(s);
    if (name) {
        add(l, name);
    } else {
        add(l, "storage ");
        add_number(l, s->id, 10);
    }
}

/* "the host read element 3 of b, which lives on cuda:0" */
static void add_what(line *l, const fy_storage *s, size_t offset, access_kind k)
{
    add(l, k == WROTE ? "the host wrote to" : k == READ ? "the host read" : "the host accessed");
    if (!s) {
        add(l, " VRAM that belongs to no tensor; was it freed?");
        return;
    }
    size_t size = s->dtype ? fy_dtype_size(s->dtype) : 1;
    add(l, s->dtype ? " element " : " byte ");
    add_number(l, offset / size, 10);
    add(l, " of '");
    add_name(l, s);
    add(l, "', which lives on ");
    add(l, s->dev->name);
    add(l, ": the CPU cannot access GPU memory through a pointer");
    if (!s->born) return;
    add(l, " ('");
    add_name(l, s);
    add(l, "' was made at ");
    add(l, fy_site_file(s->born->file));
    add(l, ":");
    add_number(l, (uint64_t)s->born->line, 10);
    add(l, ")");
}

/* The line at fault; NULL if it is not known. */
static fy_site *line_of(const void *context)
{
    static fy_site at;
    if (!fy_crash_line(context, &at)) return NULL;
    fy_frames_keep_recorded();
    if (fy_log_is_on()) fy_site_record(&at);
    return &at;
}

static void explain(const void *p, const fy_storage *s, access_kind k, fy_site *where)
{
    line what = {.size = 0}, fix = {.size = 0}, all = {.size = 0};
    size_t offset = s ? (size_t)((const char *)p - (const char *)s->data) : 0;
    add_what(&what, s, offset, k);
    if (k == WROTE) {
        add(&fix, "write into a tensor on the CPU, then copy it to the GPU: b = fy_cuda(a)");
    } else {
        add(&fix, "copy it to the host first: fy_cpu(");
        if (s) add_name(&fix, s);
        else add(&fix, "x");
        add(&fix, ") is a copy that the host can read");
    }

    add(&all, "ferry: ");
    if (where) {
        add(&all, fy_site_file(where->file));
        add(&all, ":");
        add_number(&all, (uint64_t)where->line, 10);
        add(&all, ": ");
    }
    add(&all, what.text);
    add(&all, "\n  at ");
    if (s) {
        add_number(&all, s->addr + offset, 16);
        add(&all, " in the log, ");
    }
    add_number(&all, (uint64_t)(uintptr_t)p, 16);
    add(&all, " in this process\n  fix: ");
    add(&all, fix.text);
    add(&all, "\n");
    fy_lane_forget();
    if (fy_log_is_on())
        FY_EMIT(where, error, .code = fy_ref_str("device_pointer"), .message = fy_ref_str(what.text),
                .hint = fy_ref_str(fix.text));
    for (size_t done = 0; done < all.size;) {
        ssize_t n = write(STDERR_FILENO, all.text + done, all.size - done);
        if (n <= 0) return;
        done += (size_t)n;
    }
}

/* ---- signals ------------------------------------------------------------------------------------ */

static void die_of(int signal_number)
{
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* delivered when the handler returns */
}

/* A fault outside VRAM. Without another handler, records what killed the program. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    const struct sigaction *b = signal_number == SIGSEGV ? &before_segv : &before_bus;
    if (b->sa_flags & SA_SIGINFO && b->sa_sigaction) {
        b->sa_sigaction(signal_number, info, context);
        return;
    }
    if (b->sa_handler != SIG_DFL && b->sa_handler != SIG_IGN) {
        b->sa_handler(signal_number);
        return;
    }

    const char *what = signal_number == SIGSEGV
                           ? "segmentation fault: the program accessed memory that it does not own"
                           : "bus error: the program accessed memory that is not mapped to anything";
    fy_lane_forget();
    fy_session_crashed();
    if (fy_log_is_on())
        FY_EMIT(line_of(context), error, .code = fy_ref_str("crash"), .message = fy_ref_str(what),
                .hint = fy_ref_str("look for a NULL pointer, an index out of range, or a freed tensor"));
    die_of(signal_number);
}

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    const void *p = info->si_addr;
    const fy_storage *s = info->si_code > 0 ? fy_storage_containing(p) : NULL;
    if (s && s->dev->number == 0) s = NULL;
    if (info->si_code <= 0 || (!s && !fy_sim_owns(p))) {
        pass_on(signal_number, info, context);
        return;
    }
    explain(p, s, access_of(context), line_of(context));
    die_of(signal_number);
}

void fy_segv_handler_start(void)
{
    static bool started;
    stack_t old, own = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (started) return;
    started = true;
    fy_crash_line_prepare();
    if (sigaltstack(NULL, &old) == 0 && old.ss_flags & SS_DISABLE) sigaltstack(&own, NULL);
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGBUS, &action, &before_bus);
}
