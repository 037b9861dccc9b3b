/* cuda_entry.c: part of libferry-cuda.so alone: its entry point (cuda_library.h), and the functions that cuda.c calls,
 * forwarded to the program that loaded it. */
#include "cuda_library.h"

#include <string.h>

#include "clock.h"
#include "event.h"

static const fy_cuda_host *host;

int64_t fy_clock_now(void) { return host->now(); }
bool fy_log_is_on(void) { return host->log_is_on(); }
fy_dev *fy_dev_at(int number) { return host->dev_at(number); }
struct fy_device_fault *fy_fault_location(void) { return host->fault(); }

__attribute__((visibility("default"))) const fy_backend *fy_cuda_open_library(const fy_cuda_host *program);
const fy_backend *fy_cuda_open_library(const fy_cuda_host *program)
{
    if (program->layout != fy_cuda_layout() || strcmp(program->version, FERRY_VERSION) != 0) return NULL;
    host = program;
    return &fy_backend_cuda;
}
