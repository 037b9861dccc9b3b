/* device_mismatch.c: what PyTorch says of tensors on several devices. Elementwise ops name two devices. Functions that
 * check their arguments one by one name the first that is not where the ones before it are; they said it in the words
 * of elementwise ops for years, and most pages that a learner finds still do. */
#include <stdio.h>

#include "device.h"
#include "dispatch.h"

#define EXPECTED "Expected all tensors to be on the same device, but "

const char *fy_device_words(const fy_dev *common, const fy_dev *stray, const fy_checked *by, char *buf, size_t room)
{
    if (!by) snprintf(buf, room, EXPECTED "found at least two devices, %s and %s!", common->name, stray->name);
    else
        snprintf(buf, room,
                 EXPECTED "got %s is on %s, different from other tensors on %s (when checking argument in method "
                          "wrapper_CUDA_%s). In older versions: found at least two devices, %s and %s!",
                 by->argument, stray->name, common->name, by->function, common->name, stray->name);
    return buf;
}
