/* peer_access.c: which cards can access each other's memory directly. */
#include "device.h"
#include "error.h"
#include "frame.h"
#include "session_hooks.h"

bool fy_cuda_can_device_access_peer_at(fy_site *at, int device, int peer)
{
    FY_CALL(at);
    fy_session_start();
    if (device < 0 || peer < 0)
        return fy_fail(at, "device", "cards are numbered from 0", "Invalid device id: %d", device < 0 ? device : peer);
    const fy_dev *a = fy_dev_card(at, device), *b = a ? fy_dev_card(at, peer) : NULL;
    return b && a != b && (a->peers >> b->number & 1);
}
