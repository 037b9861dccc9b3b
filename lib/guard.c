#include "device.h"
void fy_guard_start(void) {}
