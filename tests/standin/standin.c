/* standin.c: a CUDA runtime without a card, for rehearsing what is meant for one. It is linked with lib/devices/cuda.c
 * in place of NVIDIA's (kernels.c has what runs). Where the fake runtime (tests/fake_cuda, whose header this fills) has
 * a clock that tests move, time passes here: a copy, fill or launch does its work at once, is over after what
 * STANDIN_US says (microseconds, 50 unless set), and each stream takes one at a time. So events are pending, blocks are
 * not free yet and times differ from run to run, as on a card.
 *
 * It refuses what CUDA refuses: calls in a forked child and after the runtime's end, and the time of an event that was
 * not reached. STANDIN_SMS=0 is a card of no multiprocessors. Thread-safe. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "standin.h"

enum { STREAMS = 64, BAD_DEVICE = 101, NOT_INITIALIZED = 3, UNLOADING = 4, BAD_HANDLE = 400 };
static const size_t most_spoiled = 1 << 20; /* bytes of fresh memory that are no zeros */

static struct {
    pthread_mutex_t lock;
    struct CUstream_st stream[STREAMS]; /* the default stream first */
    bool taken[STREAMS];
    cudaError_t sticky;
    pid_t owner;
    bool over;
} card = {.lock = PTHREAD_MUTEX_INITIALIZER};
static __thread cudaError_t last;

/* ---- time ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double setting(const char *name, double usual)
{
    const char *value = getenv(name);
    return value ? strtod(value, NULL) : usual;
}

static double least(double a, double b) { return a < b ? a : b; }

static void sleep_until(double ms)
{
    for (double left; (left = ms - now()) > 0;) usleep((useconds_t)(least(left, 100) * 1e3) + 1);
}

static struct CUstream_st *stream_of(cudaStream_t s) { return s ? s : &card.stream[0]; }

static double end_of(cudaStream_t s)
{
    pthread_mutex_lock(&card.lock);
    double end = stream_of(s)->end;
    pthread_mutex_unlock(&card.lock);
    return end;
}

void standin_work(cudaStream_t stream)
{
    struct CUstream_st *s = stream_of(stream);
    pthread_mutex_lock(&card.lock);
    double begin = now();
    s->end = (s->end > begin ? s->end : begin) + setting("STANDIN_US", 50) / 1e3;
    pthread_mutex_unlock(&card.lock);
}

/* ---- errors ---- */

static void end(void) { card.over = true; }

static void begin(void)
{
    card.owner = getpid();
    atexit(end);
}

/* What a call returns that would return e. */
static cudaError_t said(cudaError_t e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    if (card.over) return (cudaError_t)UNLOADING;
    if (card.owner != getpid()) e = (cudaError_t)NOT_INITIALIZED;
    if (card.sticky) e = card.sticky;
    if (e) last = e;
    return e;
}

void standin_break(cudaError_t e) { card.sticky = e; }

const char *fake_GetErrorString(cudaError_t e)
{
    return e == cudaErrorAssert             ? "device-side assert triggered"
           : e == cudaErrorMemoryAllocation ? "out of memory"
           : (int)e == NOT_INITIALIZED      ? "initialization error"
                                            : "an error of the stand-in";
}

const char *fake_GetErrorName(cudaError_t e)
{
    return e == cudaErrorAssert             ? "cudaErrorAssert"
           : e == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
           : (int)e == NOT_INITIALIZED      ? "cudaErrorInitializationError"
                                            : "cudaErrorStandin";
}

cudaError_t fake_GetLastError(void)
{
    cudaError_t e = card.sticky ? card.sticky : last;
    last = cudaSuccess;
    return e;
}

/* ---- the machine: what the simulated card has, so that random numbers are the same ---- */

cudaError_t fake_GetDeviceCount(int *n) { return *n = 1, said(cudaSuccess); }
cudaError_t fake_DriverGetVersion(int *version) { return *version = 13000, said(cudaSuccess); }
cudaError_t fake_SetDevice(int number) { return said(number ? (cudaError_t)BAD_DEVICE : cudaSuccess); }

cudaError_t fake_GetDeviceProperties(struct cudaDeviceProp *p, int number)
{
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "stand-in, no card");
    p->totalGlobalMem = (size_t)140 << 30;
    p->major = 9;
    p->multiProcessorCount = (int)setting("STANDIN_SMS", 132);
    p->maxThreadsPerMultiProcessor = 2048;
    return said(number ? (cudaError_t)BAD_DEVICE : cudaSuccess);
}

cudaError_t fake_FuncGetAttributes(struct cudaFuncAttributes *a, const void *kernel)
{
    memset(a, 0, sizeof *a);
    return said(kernel ? cudaSuccess : (cudaError_t)BAD_HANDLE);
}

cudaError_t fake_DeviceCanAccessPeer(int *can, int number, int peer)
{
    (void)number, (void)peer;
    return *can = 0, said(cudaSuccess);
}

cudaError_t fake_DeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    return said((cudaError_t)BAD_DEVICE);
}

cudaError_t fake_DeviceSynchronize(void)
{
    for (int i = 0; i < STREAMS; i++) sleep_until(end_of(&card.stream[i]));
    return said(cudaSuccess);
}

/* ---- memory ---- */

static cudaError_t allocate(void **p, size_t bytes)
{
    *p = NULL;
    if (posix_memalign(p, 4096, bytes ? bytes : 1)) return said(cudaErrorMemoryAllocation);
    memset(*p, 0xee, bytes < most_spoiled ? bytes : most_spoiled);
    return said(cudaSuccess);
}

static cudaError_t release(void *p)
{
    fake_DeviceSynchronize();
    free(p);
    return said(cudaSuccess);
}

cudaError_t fake_Malloc(void **p, size_t bytes) { return allocate(p, bytes); }
cudaError_t fake_Free(void *p) { return release(p); }
cudaError_t fake_FreeHost(void *p) { return release(p); }

cudaError_t fake_HostAlloc(void **p, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate(p, bytes);
}

cudaError_t fake_PointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    (void)p;
    memset(a, 0, sizeof *a);
    return said(cudaSuccess);
}

cudaError_t fake_MemsetAsync(void *p, int value, size_t bytes, cudaStream_t s)
{
    memset(p, value, bytes);
    standin_work(s);
    return said(cudaSuccess);
}

cudaError_t fake_MemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s)
{
    (void)kind;
    memcpy(to, from, bytes);
    standin_work(s);
    return said(cudaSuccess);
}

cudaError_t fake_MemcpyPeerAsync(void *to, int to_card, const void *from, int from_card, size_t bytes, cudaStream_t s)
{
    (void)to_card, (void)from_card;
    return fake_MemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, s);
}

/* ---- streams ---- */

cudaError_t fake_StreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
    (void)flags;
    *s = NULL;
    pthread_mutex_lock(&card.lock);
    for (int i = 1; i < STREAMS && !*s; i++)
        if (!card.taken[i]) card.taken[i] = true, *s = &card.stream[i];
    pthread_mutex_unlock(&card.lock);
    return said(*s ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t fake_StreamDestroy(cudaStream_t s)
{
    pthread_mutex_lock(&card.lock);
    card.taken[s - card.stream] = false;
    pthread_mutex_unlock(&card.lock);
    return said(cudaSuccess);
}

cudaError_t fake_StreamSynchronize(cudaStream_t s) { return sleep_until(end_of(s)), said(cudaSuccess); }

/* Is `ms` over? Not being ready is no error that cudaGetLastError would tell of later (CUDA's is, and is cleared). */
static cudaError_t reached(double ms) { return said(ms <= now() ? cudaSuccess : cudaErrorNotReady); }

cudaError_t fake_StreamQuery(cudaStream_t s) { return reached(end_of(s)); }

cudaError_t fake_StreamWaitEvent(cudaStream_t s, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    pthread_mutex_lock(&card.lock);
    if (stream_of(s)->end < event->ms) stream_of(s)->end = event->ms;
    pthread_mutex_unlock(&card.lock);
    return said(cudaSuccess);
}

/* ---- events ---- */

cudaError_t fake_EventCreate(cudaEvent_t *event)
{
    *event = calloc(1, sizeof **event);
    return said(*event ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t fake_EventDestroy(cudaEvent_t event) { return free(event), said(cudaSuccess); }

cudaError_t fake_EventRecord(cudaEvent_t event, cudaStream_t s)
{
    double end_now = end_of(s), here = now();
    event->ms = end_now > here ? end_now : here;
    return said(cudaSuccess);
}

cudaError_t fake_EventSynchronize(cudaEvent_t event) { return sleep_until(event->ms), said(cudaSuccess); }
cudaError_t fake_EventQuery(cudaEvent_t event) { return reached(event->ms); }

cudaError_t fake_EventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = (float)(to->ms - from->ms);
    return reached(from->ms > to->ms ? from->ms : to->ms);
}
