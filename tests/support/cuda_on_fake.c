/* cuda_on_fake.c: see cuda_on_fake.h. lib/devices/cuda.c is included under other names: the library's own may be linked
 * into the same program. */
#include <string.h>

#include "kernel_table.h"
#include "op.h"
#include "cuda_on_fake.h"

static const fy_kernel *kernel_on_fake(int op);
static fy_cuda_built kernels_on_fake(void);
#define fy_cuda_kernel kernel_on_fake
#define fy_cuda_kernels kernels_on_fake
#define fy_cuda_launching launching_on_fake
#define fy_log_is_on() fake_log_is_on
#define dlopen fake_dlopen
#define dlsym fake_dlsym
#define dlclose fake_dlclose
#include "../../lib/devices/cuda.c"

bool fake_log_is_on;
cudaError_t next_launch_breaks;
fy_dev fake_card0, fake_card1;

/* A failing launch sets the last error, like CUDA's. */
static void launch_on_fake(fy_run_work *w)
{
    struct CUstream_st *s = fake_stream(fy_cuda_launching.stream);
    cudaError_t e = called_in("Launch", s->number);
    fake.now += fake.launching;
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

static void nothing_on_fake(void)
{
    struct CUstream_st *s = fake_stream(fy_cuda_launching.stream);
    double work = fake.work;
    called_in("Nothing", s->number);
    fake.work = fake.empty;
    fake_work(s);
    fake.work = work;
}

static fy_cuda_built kernels_on_fake(void)
{
    static const int code[] = {75, 80, 90};
    return (fy_cuda_built){&fake, fake.oldest, nothing_on_fake, code, 3};
}

fy_dev *dev_on_fake(int number) { return number == 1 ? &fake_card0 : number == 2 ? &fake_card1 : NULL; }

const char *open_error(fy_dev *d, int number)
{
    static char why[128];
    why[0] = 0;
    *d = (fy_dev){.backend = &fy_backend_cuda, .number = number};
    snprintf(d->name, sizeof d->name, "cuda:%d", (number - 1) % 100);
    return fy_backend_cuda.open(d, why, sizeof why) ? NULL : why;
}

const char *info_error(fy_dev *d)
{
    static char why[200];
    return fy_backend_cuda.info(d, why, sizeof why) ? NULL : why;
}

void fake_reset(int cards)
{
    memset(&fake, 0, sizeof fake);
    fake.cards = cards, fake.driver = 13000, fake.work = 1, fake.peers = true;
    fake.sm = 90, fake.oldest = 75, fake.multiprocessors = 2, fake.memory = 8 << 20;
}

void begin_calls(void) { fake.calls[0] = 0, fake.count = 0; }

/* Creates the clock's events and some to be reused, so that later calls are only those of the work. */
static void warm_up(fy_dev *d)
{
    fy_point p[3] = {{0}};
    for (int i = 0; i < 3; i++) fy_backend_cuda.record(d, 0, &p[i]);
    for (int i = 0; i < 3; i++) fy_backend_cuda.record(d, -1, &p[i]);
}

int setup(void **state)
{
    (void)state;
    fake_log_is_on = true;
    next_launch_breaks = 0;
    fake_reset(2);
    if (open_error(&fake_card0, 1) || open_error(&fake_card1, 2)) return -1;
    if (info_error(&fake_card0) || info_error(&fake_card1)) return -1;
    warm_up(&fake_card0);
    warm_up(&fake_card1);
    fake.made = 0; /* number streams from 1 */
    begin_calls();
    return 0;
}

int teardown(void **state)
{
    (void)state;
    fake.sticky = 0;
    fy_backend_cuda.close(&fake_card0);
    fy_backend_cuda.close(&fake_card1);
    return fake.blocks || fake.events || fake.pinned || fake.streams;
}

void fail_next(const char *call, cudaError_t e) { fake.fail = call, fake.error = e; }

/* ---- shorthands for the back end ---- */

void *alloc_block(fy_dev *d, size_t bytes) { return fy_backend_cuda.alloc(d, bytes, FY_WORD_device, &(fy_time){0}); }
void release_block(fy_dev *d, void *p) { fy_backend_cuda.release(d, p, 1, FY_WORD_device, &(fy_time){0}); }
bool copy_of(fy_dev *d, fy_copy_work *w) { return fy_backend_cuda.copy(d, w); }

bool start_work(fy_dev *d, fy_run_work *w)
{
    bool ok = fy_backend_cuda.run(d, w);
    if (ok && next_launch_breaks) {
        *fy_cuda_launching.blame = w->id;
        fake.sticky = next_launch_breaks;
    }
    return ok;
}

bool copy_on_fake(fy_word dir, void *dst, const void *src, size_t bytes, fy_copy_work *w)
{
    *w = (fy_copy_work){.dst = dst, .src = src, .bytes = bytes, .dir = dir};
    return copy_of(&fake_card0, w);
}

fy_run_work add_on_fake(float *a, float *b, float *out, int64_t n)
{
    fy_layout l = {.ndim = 1, .numel = n, .shape = {n}, .strides = {1}};
    return (fy_run_work){.op = FY_OP_add,
                         .dtype = FY_FLOAT32,
                         .nin = 2,
                         .real = {[FY_ADD_alpha] = 1},
                         .in = {{a, FY_FLOAT32, l}, {b, FY_FLOAT32, l}},
                         .out = {out, FY_FLOAT32, l}};
}

void drop_fake_marks(fy_dev *d, fy_time *t) { drop_marks(d, t); }

void clear_blame(fy_dev *d) { *((cuda *)d->state)->blame = 0; }

void use_stream(fy_dev *d, int number)
{
    fy_point p = {0};
    assert_true(fy_backend_cuda.record(d, number, &p) && fy_backend_cuda.record(d, -1, &p));
}
