/* fuzz_device.c: parses libFuzzer's bytes as a device string (make fuzz-files): it names an existing device or is
 * refused with a message. */
#include <stdlib.h>

#include "device.h"
#include "tensor.h"

/* The valid names with one simulated card. */
static bool is_right(const char *s)
{
    static const char *const right[] = {"cpu", "cpu:0", "cuda", "cuda:0"};
    for (int i = 0; i < 4; i++)
        if (strcmp(s, right[i]) == 0) return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[4096];
    if (size >= sizeof name) return 0;
    memcpy(name, data, size);
    name[size] = 0;
    setenv("FERRY_GPU", "sim", 1);
    fy_on_error(FY_RETURN);
    fy_clear_error();
    fy_tensor *x = fy_zeros((2), .device = name);
    if (!x == !fy_error()) abort();
    if ((x != NULL) != is_right(name)) abort();
    if (x && strcmp(fy_device(x), name[1] == 'p' ? "cpu" : "cuda:0")) abort();
    fy_free(x);
    if (fy_dev_at(0)->live_bytes || fy_dev_at(1)->live_bytes) abort();
    return 0;
}
