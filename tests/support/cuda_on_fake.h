/* cuda_on_fake.h: lib/devices/cuda.c compiled against the fake CUDA runtime with two cards, with the fake's clock as
 * the session's. For tests that check its runtime calls. */
#ifndef CUDA_ON_FAKE_H
#define CUDA_ON_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "clock.h"
#include "device.h"
#include "event.h"
#include "run_work.h"
#include "fake_cuda/fake_cuda.h"

fy_dev *dev_on_fake(int number);
#define fy_backend_cuda backend_on_fake
#define fy_dev_at dev_on_fake
#define fy_clock_now() ((int64_t)(fake.now * 1e6 + 0.5))
extern const fy_backend fy_backend_cuda;

extern bool fake_log_is_on;
extern cudaError_t next_launch_breaks; /* the next launch makes every later call fail with this error, like a
                                          device-side assertion; 0: none */
extern fy_dev fake_card0, fake_card1;  /* cuda:0 and cuda:1 */

const char *open_error(fy_dev *d, int number);
const char *info_error(fy_dev *d);
void fake_reset(int cards);
void begin_calls(void);
int setup(void **state);
/* Fails if a block, pinned block, stream or event was not freed. */
int teardown(void **state);
#define WITH_CARDS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
void fail_next(const char *call, cudaError_t e);

/* ---- shorthands for the back end ---- */

void *alloc_block(fy_dev *d, size_t bytes);
void release_block(fy_dev *d, void *p);
bool copy_of(fy_dev *d, fy_copy_work *w);
bool start_work(fy_dev *d, fy_run_work *w);
bool copy_on_fake(fy_word dir, void *dst, const void *src, size_t bytes, fy_copy_work *w);
fy_run_work add_on_fake(float *a, float *b, float *out, int64_t n);
void drop_fake_marks(fy_dev *d, fy_time *t);
void clear_blame(fy_dev *d); /* resets the id of the launch whose assertion failed */
/* Creates the stream and an event that later calls reuse. */
void use_stream(fy_dev *d, int number);

#endif
