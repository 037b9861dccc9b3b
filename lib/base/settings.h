/* settings.h: environment variables that several layers read. README.md lists all of them. */
#ifndef FERRY_SETTINGS_H
#define FERRY_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

bool fy_setting_is_on(const char *name); /* set, and neither empty nor "0" */
uint64_t fy_session_seed(void);          /* FERRY_SEED, or 0 */
bool fy_launch_blocking(void);           /* FERRY_LAUNCH_BLOCKING=1, or CUDA_LAUNCH_BLOCKING=1 */

#endif
