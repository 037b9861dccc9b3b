/* round_card.h: a simulated card with round parameters, for tests that use the back end directly.
 *
 * Bandwidths in bytes per ns: bus 1, staging 2 (in chunks of 1000 bytes), VRAM 4. Overheads in ns: call 10, launch 20,
 * transfer 5, kernel 7. 1 flop takes 1 ns. */
#ifndef ROUND_CARD_H
#define ROUND_CARD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "card_params.h"
#include "device.h"
#include "event.h"
#include "op.h"
#include "run_work.h"

extern fy_card round_card;
/* number 1 is cuda:0; each number has its own fy_dev */
fy_dev *open_card_number(int number, const fy_card *card, int64_t capacity);
fy_dev *open_card(const fy_card *card, int64_t capacity);
int open_round_card(void **state);
int close_round_card(void **state);
void *alloc(fy_dev *d, size_t bytes);
void release(fy_dev *d, void *p, size_t bytes);
fy_copy_work copy_dir(fy_dev *d, fy_word dir, void *dst, const void *src, size_t bytes, bool pinned, bool async);
fy_copy_work copy_h2d(fy_dev *d, void *dst, const void *src, size_t bytes);
fy_copy_work copy_d2h(fy_dev *d, void *dst, const void *src, size_t bytes);
void wait_for_all(fy_dev *d);
fy_run_work fill_work(void *out, int64_t n, int64_t flops);

#define WITH_CARD(test) cmocka_unit_test_setup_teardown(test, open_round_card, close_round_card)

#endif
