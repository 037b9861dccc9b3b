/* launch_record.c: which call a card's work came from. A card does its work after the call has returned, so that a
 * fault in it is told by some later call; the report then names the line that gave the card that work.
 *
 * Under FERRY_LAUNCH_BLOCKING the host waits after each piece of work, as under CUDA_LAUNCH_BLOCKING: the line
 * that reports is the line at fault. */
#include "launch_record.h"

#include <stdatomic.h>
#include <stdio.h>

#include "completion.h"
#include "device.h"
#include "error.h"
#include "event.h"
#include "run_work.h"
#include "settings.h"
#include "vector_clock.h"

enum { REMEMBERED = 65536 };

/* No lock: a place is taken anew only 65536 works later, and a reader checks that it was not. */
static struct {
    _Atomic uint32_t id;
    _Atomic(fy_site *) at;
    _Atomic uint64_t seq;
} works[REMEMBERED];

uint32_t fy_work_id(void)
{
    static uint32_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

void fy_work_note(uint32_t id, uint64_t seq, fy_site *at)
{
    uint32_t i = id % REMEMBERED;
    atomic_store_explicit(&works[i].id, 0, memory_order_relaxed);
    atomic_store_explicit(&works[i].at, at, memory_order_release);
    atomic_store_explicit(&works[i].seq, seq, memory_order_release);
    atomic_store_explicit(&works[i].id, id, memory_order_release);
}

bool fy_work_find(uint32_t id, uint64_t *seq, fy_site **at)
{
    uint32_t i = id % REMEMBERED;
    if (id == 0 || atomic_load_explicit(&works[i].id, memory_order_acquire) != id) return false;
    *seq = atomic_load_explicit(&works[i].seq, memory_order_acquire);
    *at = atomic_load_explicit(&works[i].at, memory_order_acquire);
    return atomic_load_explicit(&works[i].id, memory_order_acquire) == id;
}

/* ---- a card that failed ------------------------------------------------------------------------------- */

static const char *hint_for_fault(void)
{
    if (strncmp(fy_fault.text, "no memory", 9) == 0) return "close other programs, or raise ulimit -v";
    if (strstr(fy_fault.text, "forked")) return "use the card in one process alone, or fork before its first use";
    if (strstr(fy_fault.text, "Assertion"))
        return "what the assertion asks for does not hold for the values that this call was given: look at them with "
               "fy_print before it. The card does nothing more for this process";
    return "run it again with FERRY_GPU=sim to see whether the card is at fault";
}

/* CUDA's words, and what they leave out: who gave the card that work. */
static const char *late_hint(void)
{
    return fy_launch_blocking() ? "fix that call: the card does nothing more for this process after it"
                                : "run it again with FERRY_LAUNCH_BLOCKING=1: the host then waits for each piece of "
                                  "work, and the error is reported by the line that causes it";
}

static void *fail_late(fy_site *at)
{
    char cause[400] = "what caused it is too long ago to be named";
    uint64_t seq = 0;
    fy_site *from = NULL;
    bool found = fy_work_find(fy_fault.work, &seq, &from), is_said = strncmp(fy_fault.text, "CUDA error", 10) == 0;
    if (found && from)
        snprintf(cause, sizeof cause, "the card was at fault in work of an earlier call, %s:%d: %s(%s)", from->file,
                 from->line, from->call, from->args);
    return fy_fail_caused(at, found ? seq + 1 : 0, "device", late_hint(), cause, "%s%s It surfaced at this call",
                          is_said ? "" : "CUDA error: ", fy_fault.text);
}

void *fy_fail_work(fy_site *at, const fy_dev *d, uint32_t own, const char *what)
{
    if (fy_fault.work && fy_fault.work != own) return fail_late(at);
    return fy_fail(at, "device", hint_for_fault(), "%s could not %s: %s", d->name, what, fy_fault.text);
}

void *fy_fail_device(fy_site *at, const fy_dev *d, const char *what) { return fy_fail_work(at, d, 0, what); }

/* ---- launch blocking ---------------------------------------------------------------------------------- */

static bool wait_for(fy_site *at, fy_dev *d, int stream, uint32_t id, uint64_t seq)
{
    fy_time t = {0};
    if (!d->backend->wait(d, &(fy_point){.stream = stream}, NULL, 0, &t))
        return fy_fail_work(at, d, id, "do the work of this call");
    fy_order_join(FY_HOST, fy_agent_of(d, stream));
    fy_work_poll(d);
    FY_EMIT(at, sync, .scope = FY_WORD_stream, .device = (uint8_t)d->number, .stream = stream, .why = FY_WORD_policy,
            .cause = seq + 1, .held = t.held);
    return true;
}

bool fy_work_issued(fy_site *at, fy_dev *d, int stream, uint32_t id, uint64_t seq)
{
    fy_work_note(id, seq, at);
    return d->number == 0 || !fy_launch_blocking() || wait_for(at, d, stream, id, seq);
}
