/* fake_cuda.c: see fake_cuda.h. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"

fake_runtime fake = {
    .cards = 1, .driver = 13000, .sm = 90, .oldest = 75, .multiprocessors = 2, .memory = 8 << 20, .work = 1};

struct CUstream_st *fake_stream(struct CUstream_st *s)
{
    fake.zero[fake.card].card = fake.card;
    return s ? s : &fake.zero[fake.card];
}

/* Since toolkit 12, setting the device creates its context, too. */
static bool creates_context(const char *name)
{
    static const char *const none[] = {"GetDeviceCount", "DriverGetVersion",    "GetDeviceProperties",
                                       "GetLastError",   "DeviceCanAccessPeer", "PointerGetAttributes"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strcmp(name, none[i]) == 0) return false;
    return true;
}

cudaError_t called_in(const char *name, int stream)
{
    size_t n = strlen(fake.calls);
    fake.count++;
    if (creates_context(name)) fake.context[fake.card] = true;
    const char *loading = getenv("CUDA_MODULE_LOADING");
    if (!loading || strcmp(loading, "EAGER") != 0) fake.lazy = true;
    snprintf(fake.calls + n, sizeof fake.calls - n, "%s%s", n ? " " : "", name);
    n = strlen(fake.calls);
    if (stream > 0) snprintf(fake.calls + n, sizeof fake.calls - n, "@%d", stream);
    if (fake.sticky) return fake.last = fake.sticky;
    if (!fake.fail || strcmp(fake.fail, name) != 0) return cudaSuccess;
    fake.fail = NULL;
    return fake.last = fake.error;
}

static cudaError_t called(const char *name) { return called_in(name, 0); }

double fake_work(struct CUstream_st *s)
{
    if (s->end < fake.now) s->end = fake.now;
    return s->end += fake.work;
}

static void fake_wait_until(double ms)
{
    if (fake.now < ms) fake.now = ms;
}

/* ---- NVML ---- */

static int nvml_ok(void) { return 0; }
static int nvml_count(unsigned *n) { return *n = (unsigned)fake.cards, 0; }
static int nvml_handle(unsigned i, void **card) { return *card = &fake.zero[i], 0; }

static int nvml_capability(void *card, int *major, int *minor)
{
    (void)card;
    *major = fake.nvml / 10, *minor = fake.nvml % 10;
    return 0;
}

void *fake_dlopen(const char *file, int flags)
{
    (void)flags;
    return fake.nvml && strcmp(file, "libnvidia-ml.so.1") == 0 ? &fake : NULL;
}

void *fake_dlsym(void *library, const char *name)
{
    static const struct {
        const char *name;
        uintptr_t call;
    } calls[] = {{"nvmlInit_v2", (uintptr_t)nvml_ok},
                 {"nvmlDeviceGetCount_v2", (uintptr_t)nvml_count},
                 {"nvmlDeviceGetHandleByIndex_v2", (uintptr_t)nvml_handle},
                 {"nvmlDeviceGetCudaComputeCapability", (uintptr_t)nvml_capability},
                 {"nvmlShutdown", (uintptr_t)nvml_ok}};
    (void)library;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i].name) == 0) return (void *)calls[i].call;
    return NULL;
}

int fake_dlclose(void *library) { return library != &fake; }

/* ---- the machine ---- */

cudaError_t fake_GetDeviceCount(int *n)
{
    cudaError_t e = called("GetDeviceCount");
    if (fake.count_error) return fake.last = fake.count_error;
    *n = fake.cards;
    return e;
}

cudaError_t fake_DriverGetVersion(int *version)
{
    *version = fake.driver;
    return called("DriverGetVersion");
}

cudaError_t fake_GetDeviceProperties(struct cudaDeviceProp *p, int card)
{
    snprintf(p->name, sizeof p->name, "Fake Card %d", card);
    p->totalGlobalMem = fake.memory;
    p->major = fake.sm / 10, p->minor = fake.sm % 10;
    p->multiProcessorCount = fake.multiprocessors;
    p->maxThreadsPerMultiProcessor = 2048;
    return called("GetDeviceProperties");
}

cudaError_t fake_SetDevice(int card)
{
    fake.card = card;
    return called(card == 0 ? "SetDevice" : "SetDevice:1");
}

cudaError_t fake_FuncGetAttributes(struct cudaFuncAttributes *a, const void *kernel)
{
    cudaError_t e = called(kernel ? "FuncGetAttributes" : "FuncGetAttributes?");
    a->numRegs = 8;
    return e || fake.sm >= fake.oldest ? e : (fake.last = cudaErrorNoKernelImageForDevice);
}

cudaError_t fake_DeviceCanAccessPeer(int *can, int card, int peer)
{
    *can = fake.peers && card != peer;
    return called("DeviceCanAccessPeer");
}

cudaError_t fake_DeviceEnablePeerAccess(int peer, unsigned flags)
{
    return called(flags || peer == fake.card ? "DeviceEnablePeerAccess?" : "DeviceEnablePeerAccess");
}

cudaError_t fake_DeviceSynchronize(void)
{
    cudaError_t e = called("DeviceSynchronize");
    if (e) return e;
    fake_wait_until(fake.zero[fake.card].end);
    for (int i = 0; i < fake.made; i++)
        if (fake.all[i] && fake.all[i]->card == fake.card) fake_wait_until(fake.all[i]->end);
    return cudaSuccess;
}

/* ---- errors ---- */

const char *fake_GetErrorString(cudaError_t e)
{
    return e == cudaErrorMemoryAllocation ? "out of memory"
           : e == cudaErrorLaunchFailure  ? "unspecified launch failure"
           : e == cudaErrorAssert         ? "device-side assert triggered"
                                          : "some error";
}

const char *fake_GetErrorName(cudaError_t e)
{
    return e == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
           : e == cudaErrorLaunchFailure  ? "cudaErrorLaunchFailure"
           : e == cudaErrorAssert         ? "cudaErrorAssert"
                                          : "cudaErrorX";
}

cudaError_t fake_GetLastError(void)
{
    cudaError_t e = called("GetLastError");
    if (!e) e = fake.last;
    fake.last = cudaSuccess;
    return e;
}

/* ---- memory ---- */

cudaError_t fake_Malloc(void **p, size_t bytes)
{
    cudaError_t e = called("Malloc");
    if (e) return e;
    if (bytes > fake.memory || fake.blocks == FAKE_BLOCKS) return fake.last = cudaErrorMemoryAllocation;
    *p = calloc(1, bytes);
    for (int i = 0;; i++)
        if (!fake.block[i].p) {
            fake.block[i].p = *p, fake.block[i].bytes = bytes, fake.block[i].card = fake.card;
            break;
        }
    fake.blocks++;
    return cudaSuccess;
}

cudaError_t fake_Free(void *p)
{
    for (int i = 0; i < FAKE_BLOCKS; i++)
        if (p && fake.block[i].p == p) fake.block[i].p = NULL, fake.blocks--;
    free(p);
    return called("Free");
}

cudaError_t fake_PointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    a->device = -1;
    for (int i = 0; i < FAKE_BLOCKS; i++)
        if (fake.block[i].p && (const char *)p >= fake.block[i].p &&
            (const char *)p < fake.block[i].p + fake.block[i].bytes)
            a->device = fake.block[i].card;
    return called("PointerGetAttributes");
}

cudaError_t fake_HostAlloc(void **p, size_t bytes, unsigned flags)
{
    cudaError_t e = called("HostAlloc");
    if (e || flags != cudaHostAllocPortable) return e ? e : cudaErrorLaunchFailure;
    *p = malloc(bytes);
    fake.pinned++;
    return cudaSuccess;
}

cudaError_t fake_FreeHost(void *p)
{
    fake.pinned--;
    free(p);
    return called("FreeHost");
}

cudaError_t fake_MemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    struct CUstream_st *s = fake_stream(stream);
    cudaError_t e = called_in("MemsetAsync", s->number);
    if (e) return e;
    fake_work(s);
    memset(p, value, bytes);
    return cudaSuccess;
}

static cudaError_t fake_copy(const char *name, void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    struct CUstream_st *s = fake_stream(stream);
    cudaError_t e = called_in(name, s->number);
    if (e) return e;
    fake_work(s);
    memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t fake_MemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    static const char *const names[] = {"MemcpyHostToHost", "MemcpyHostToDevice", "MemcpyDeviceToHost",
                                        "MemcpyDeviceToDevice"};
    return fake_copy(names[kind], to, from, bytes, stream);
}

cudaError_t fake_MemcpyPeerAsync(void *to, int to_card, const void *from, int from_card, size_t bytes,
                                 cudaStream_t stream)
{
    return fake_copy(to_card == from_card ? "MemcpyPeerAsync?" : "MemcpyPeerAsync", to, from, bytes, stream);
}

/* ---- streams ---- */

cudaError_t fake_StreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
    cudaError_t e = called(flags == cudaStreamNonBlocking ? "StreamCreate" : "StreamCreate?");
    if (e) return e;
    *s = calloc(1, sizeof **s);
    (*s)->card = fake.card;
    fake.all[fake.made++] = *s;
    (*s)->number = fake.made;
    fake.streams++;
    return cudaSuccess;
}

cudaError_t fake_StreamDestroy(cudaStream_t s)
{
    fake.all[s->number - 1] = NULL;
    free(s);
    fake.streams--;
    return called("StreamDestroy");
}

cudaError_t fake_StreamSynchronize(cudaStream_t stream)
{
    struct CUstream_st *s = fake_stream(stream);
    cudaError_t e = called_in("StreamSynchronize", s->number);
    if (!e) fake_wait_until(s->end);
    return e;
}

cudaError_t fake_StreamQuery(cudaStream_t stream)
{
    struct CUstream_st *s = fake_stream(stream);
    cudaError_t e = called_in("StreamQuery", s->number);
    return e ? e : s->end <= fake.now ? cudaSuccess : (fake.last = cudaErrorNotReady);
}

cudaError_t fake_StreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    struct CUstream_st *s = fake_stream(stream);
    cudaError_t e = called_in(flags || s->card != fake.card ? "StreamWaitEvent?" : "StreamWaitEvent", s->number);
    if (!e && s->end < event->ms) s->end = event->ms;
    return e;
}

/* ---- events ---- */

cudaError_t fake_EventCreate(cudaEvent_t *event)
{
    cudaError_t e = called("EventCreate");
    if (e) return e;
    *event = calloc(1, sizeof **event);
    (*event)->card = fake.card;
    fake.events++;
    return cudaSuccess;
}

cudaError_t fake_EventDestroy(cudaEvent_t event)
{
    free(event);
    fake.events--;
    return called("EventDestroy");
}

cudaError_t fake_EventRecord(cudaEvent_t event, cudaStream_t stream)
{
    struct CUstream_st *s = fake_stream(stream);
    cudaError_t e = called_in(event->card == s->card ? "EventRecord" : "EventRecord?", s->number);
    if (!e) event->ms = s->end > fake.now ? s->end : fake.now;
    return e;
}

cudaError_t fake_EventSynchronize(cudaEvent_t event)
{
    cudaError_t e = called("EventSynchronize");
    if (!e) fake_wait_until(event->ms);
    return e;
}

cudaError_t fake_EventQuery(cudaEvent_t event)
{
    cudaError_t e = called("EventQuery");
    return e ? e : event->ms <= fake.now ? cudaSuccess : (fake.last = cudaErrorNotReady);
}

cudaError_t fake_EventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = (float)((to->ms - from->ms) * (1 + fake.drift));
    return called(from->card == to->card ? "EventElapsedTime" : "EventElapsedTime?");
}
