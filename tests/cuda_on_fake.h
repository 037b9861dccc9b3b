/* cuda_on_fake.h: lib/devices/cuda.c compiled against the fake of the CUDA runtime, two cards of it, and the clock of
 * the fake as the session's. For the tests that ask what it calls. */
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
#include "kernel_table.h"
#include "run_work.h"
#include "fake_cuda/fake_cuda.h"

#include "op.h"

static const fy_kernel *kernel_on_fake(int op);
static fy_cuda_built kernels_on_fake(void);
static fy_dev *dev_on_fake(int number);
static bool recording;
#define fy_backend_cuda backend_on_fake
#define fy_cuda_kernel kernel_on_fake
#define fy_cuda_kernels kernels_on_fake
#define fy_cuda_launching launching_on_fake
#define fy_dev_at dev_on_fake
#define fy_log_is_on() recording
#define fy_clock_now() ((int64_t)(fake.now * 1e6 + 0.5))
#include "../lib/devices/cuda.c"
#undef fy_cuda_kernel
#undef fy_log_is_on

static cudaError_t breaks; /* the next launch breaks the card, as a failed assertion does */

/* A launch told to fail does so as a launch does: by the last error. */
static void launch_on_fake(fy_run_work *w)
{
    struct CUstream_st *s = fake_stream(fy_cuda_launching.stream);
    cudaError_t e = called_in("Launch", s->number);
    fake_work(s);
    fy_sim_kernel(w->op)->launch(w);
    if (e) fake.last = e;
}

static const fy_kernel *kernel_on_fake(int op)
{
    static fy_kernel k;
    k = *fy_sim_kernel(op);
    k.launch = launch_on_fake;
    return &k;
}

static fy_cuda_built kernels_on_fake(void) { return (fy_cuda_built){&fake, fake.oldest}; }

static fy_dev dev, other; /* cuda:0, cuda:1 */

static fy_dev *dev_on_fake(int number) { return number == 1 ? &dev : number == 2 ? &other : NULL; }

static inline const char *opening(fy_dev *d, int number)
{
    static char why[128];
    why[0] = 0;
    *d = (fy_dev){.backend = &fy_backend_cuda, .number = number};
    snprintf(d->name, sizeof d->name, "cuda:%d", (number - 1) % 100);
    return fy_backend_cuda.open(d, why, sizeof why) ? NULL : why;
}

static void fake_reset(int cards)
{
    memset(&fake, 0, sizeof fake);
    fake.cards = cards, fake.driver = 13000, fake.work = 1, fake.peers = true;
    fake.sm = 90, fake.oldest = 75;
}

static inline void begin_calls(void) { fake.calls[0] = 0; }

/* The clock runs, and there are marks to be used again: calls from now on are those of work. */
static inline void warm_up(fy_dev *d)
{
    fy_point p[3] = {{0}};
    for (int i = 0; i < 3; i++) fy_backend_cuda.record(d, 0, &p[i]);
    for (int i = 0; i < 3; i++) fy_backend_cuda.record(d, -1, &p[i]);
}

static inline int setup(void **state)
{
    (void)state;
    recording = true;
    breaks = 0;
    fake_reset(2);
    if (opening(&dev, 1) || opening(&other, 2)) return -1;
    fy_backend_cuda.info(&dev);
    fy_backend_cuda.info(&other);
    warm_up(&dev);
    warm_up(&other);
    fake.made = 0; /* streams are numbered from 1 again */
    begin_calls();
    return 0;
}

/* Every block, pinned or not, stream and event that was made is gone again. */
static inline int teardown(void **state)
{
    (void)state;
    fake.sticky = 0;
    fy_backend_cuda.close(&dev);
    fy_backend_cuda.close(&other);
    return fake.blocks || fake.events || fake.pinned || fake.streams;
}

#define WITH_CARDS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static inline void fail_next(const char *call, cudaError_t e) { fake.fail = call, fake.error = e; }

/* ---- the table, with fewer words ---- */

static inline void *take(fy_dev *d, size_t bytes)
{
    return fy_backend_cuda.alloc(d, bytes, FY_WORD_device, &(fy_time){0});
}
static inline void give(fy_dev *d, void *p) { fy_backend_cuda.release(d, p, 1, FY_WORD_device, &(fy_time){0}); }
static inline bool copy_of(fy_dev *d, fy_copy_work *w) { return fy_backend_cuda.copy(d, w); }

static inline bool run(fy_dev *d, fy_run_work *w)
{
    bool ok = fy_backend_cuda.run(d, w);
    if (ok && breaks) {
        *fy_cuda_launching.blame = w->id;
        fake.sticky = breaks;
    }
    return ok;
}

static inline bool copy_way(fy_word dir, void *dst, const void *src, size_t bytes, fy_copy_work *w)
{
    *w = (fy_copy_work){.dst = dst, .src = src, .bytes = bytes, .dir = dir};
    return copy_of(&dev, w);
}

static inline fy_run_work add_work(float *a, float *b, float *out, int64_t n)
{
    fy_layout l = {.ndim = 1, .numel = n, .shape = {n}, .strides = {1}};
    return (fy_run_work){.op = FY_OP_add,
                         .dtype = FY_FLOAT32,
                         .nin = 2,
                         .real = {[FY_ADD_alpha] = 1},
                         .in = {{a, FY_FLOAT32, l}, {b, FY_FLOAT32, l}},
                         .out = {out, FY_FLOAT32, l}};
}

/* The stream is made, and there is a mark to be used again. */
static inline void use_stream(fy_dev *d, int number)
{
    fy_point p = {0};
    assert_true(fy_backend_cuda.record(d, number, &p) && fy_backend_cuda.record(d, -1, &p));
}

#endif
