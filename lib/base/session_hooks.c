/* session_hooks.c: calls into the session from lower layers. */
#include "session_hooks.h"

#include <stdatomic.h>
#include <stddef.h>

static const fy_session_hooks none, *hooks = &none;

void fy_session_hook(const fy_session_hooks *set) { hooks = set; }

/* The flag only saves the call: the hook synchronizes concurrent calls itself. */
void fy_session_start(void)
{
    static atomic_bool started;
    if (atomic_load_explicit(&started, memory_order_relaxed) || !hooks->start) return;
    hooks->start();
    atomic_store_explicit(&started, true, memory_order_relaxed);
}

bool fy_session_start_late(void) { return hooks->late && hooks->late(); }

void fy_session_disable(void)
{
    if (hooks->over) hooks->over();
}

bool fy_narration_is_on(void) { return hooks->narrates && hooks->narrates(); }

void fy_narrate_flush(void)
{
    if (hooks->flush) hooks->flush();
}

void fy_card_opened(void)
{
    if (hooks->card_opened) hooks->card_opened();
}
