/* default_device.c: where factories put a new tensor if no .device is given: on the CPU, or where this thread said. */
#include <string.h>

#include "device.h"
#include "event.h"
#include "frame.h"
#include "session_hooks.h"

enum { CURRENT_CARD = -1 };          /* "cuda": whichever card is current when a tensor is made */
static _Thread_local int by_default; /* the device's number, or CURRENT_CARD */

fy_dev *fy_dev_default(fy_site *at)
{
    return by_default == CURRENT_CARD ? fy_dev_card(at, CURRENT_CARD) : fy_dev_at(by_default);
}

const char *fy_get_default_device(void)
{
    fy_session_start();
    return fy_dev_default(NULL)->name;
}

static bool set(fy_site *at, const char *name)
{
    fy_session_start();
    const fy_dev *d = fy_dev_parse(at, name);
    if (!d) return false;
    by_default = strcmp(name, "cuda") == 0 ? CURRENT_CARD : d->number;
    return true;
}

bool fy_set_default_device_at(fy_site *at, const char *name)
{
    FY_CALL(at);
    return set(at, name);
}

fy_with_device fy_with_device_at(fy_site *at, const char *name)
{
    fy_depths depths = FY_REGION_OF_BLOCK(at, FY_WORD_device, FY_ABSENT, FY_ABSENT);
    fy_with_device with = {by_default, 1, depths};
    set(at, name);
    return with;
}

void fy_with_device_end(fy_with_device *with)
{
    fy_region_close(&with->depths);
    by_default = with->before;
}
