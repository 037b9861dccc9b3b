/* segv_handler.h: explains a host access to VRAM. */
#ifndef FERRY_SEGV_HANDLER_H
#define FERRY_SEGV_HANDLER_H

void fy_segv_handler_start(void); /* idempotent; from now on SIGSEGV and SIGBUS in VRAM are explained */

#endif
