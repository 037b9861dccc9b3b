/* launch_record.c: which call launched which work. Launches are asynchronous, so an error on the card surfaces in some
 * later call; the report then names the line that launched the work.
 *
 * Under FERRY_LAUNCH_BLOCKING the host synchronizes after each launch, as under CUDA_LAUNCH_BLOCKING: then the line
 * that reports an error is the line that caused it. */
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

/* A lock-free ring: an entry is overwritten 65536 launches later, and a reader checks `id` again after reading. */
static struct {
    _Atomic uint32_t id;
    _Atomic(fy_site *) at;
    _Atomic uint64_t seq;
} records[REMEMBERED];

uint32_t fy_work_id(void)
{
    static uint32_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

void fy_launch_record_add(uint32_t id, uint64_t seq, fy_site *at)
{
    uint32_t i = id % REMEMBERED;
    atomic_store_explicit(&records[i].id, 0, memory_order_relaxed);
    atomic_store_explicit(&records[i].at, at, memory_order_release);
    atomic_store_explicit(&records[i].seq, seq, memory_order_release);
    atomic_store_explicit(&records[i].id, id, memory_order_release);
}

bool fy_launch_record_find(uint32_t id, uint64_t *seq, fy_site **at)
{
    uint32_t i = id % REMEMBERED;
    if (id == 0 || atomic_load_explicit(&records[i].id, memory_order_acquire) != id) return false;
    *seq = atomic_load_explicit(&records[i].seq, memory_order_acquire);
    *at = atomic_load_explicit(&records[i].at, memory_order_acquire);
    return atomic_load_explicit(&records[i].id, memory_order_acquire) == id;
}

/* ---- a card that failed ------------------------------------------------------------------------------- */

static const char *hint_for_fault(void)
{
    if (strncmp(fy_fault.text, "no memory", 9) == 0) return "close other programs, or raise ulimit -v";
    if (strstr(fy_fault.text, "forked"))
        return "use the card in one process only, or fork before the first use of the card";
    if (strstr(fy_fault.text, "Assertion"))
        return "the values given to this call violate the assertion: print them with fy_print before this call. The "
               "card accepts no more work from this process";
    return "run it again with FERRY_GPU=sim to see whether the card is at fault";
}

/* CUDA's text, and what it leaves out: the call that launched the work. */
static void *fail_late(fy_site *at)
{
    char cause[400] = "the call that caused it was too many launches ago to be named";
    uint64_t seq = 0;
    fy_site *from = NULL;
    bool found = fy_launch_record_find(fy_fault.work, &seq, &from),
         has_prefix = strncmp(fy_fault.text, "CUDA error", 10) == 0;
    const char *hint = fy_launch_blocking()
                           ? "fix that call: after an error the card accepts no more work from this process"
                           : "run it again with FERRY_LAUNCH_BLOCKING=1: the host then waits for each piece of "
                             "work, and the error is reported by the line that causes it";
    if (found && from)
        snprintf(cause, sizeof cause, "work launched by an earlier call failed on the card: %s:%d: %s(%s)", from->file,
                 from->line, from->call, from->args);
    return fy_fail_caused(at, found ? seq + 1 : 0, "device", hint, cause, "%s%s It was reported by this call",
                          has_prefix ? "" : "CUDA error: ", fy_fault.text);
}

void *fy_fail_launch(fy_site *at, const fy_dev *d, uint32_t own, const char *what)
{
    if (fy_fault.work && fy_fault.work != own) return fail_late(at);
    return fy_fail(at, "device", hint_for_fault(), "%s could not %s: %s", d->name, what, fy_fault.text);
}

void *fy_fail_device(fy_site *at, const fy_dev *d, const char *what) { return fy_fail_launch(at, d, 0, what); }

/* ---- launch blocking ---------------------------------------------------------------------------------- */

bool fy_launch_record_issued(fy_site *at, fy_dev *d, int stream, uint32_t id, uint64_t seq)
{
    fy_launch_record_add(id, seq, at);
    if (d->number == 0 || !fy_launch_blocking()) return true;

    fy_time t = {0};
    if (!d->backend->wait(d, &(fy_point){.stream = stream}, NULL, 0, &t))
        return fy_fail_launch(at, d, id, "do the work of this call");
    fy_order_join(FY_HOST, fy_agent_of(d, stream));
    fy_completion_poll(d);
    FY_EMIT(at, sync, .scope = FY_WORD_stream, .device = (uint8_t)d->number, .stream = stream, .why = FY_WORD_policy,
            .cause = seq + 1, .held = t.held);
    return true;
}
