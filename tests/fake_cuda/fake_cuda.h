/* The fake CUDA runtime: does on the CPU what each call would do, at once, writes down that it was
 * called, and fails when told to. Its clock moves 1 ms at every copy, fill and launch. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_runtime_api.h"

static struct {
    int cards, driver;       /* what the machine has */
    cudaError_t count_error; /* cudaGetDeviceCount's answer; then it leaves the count unwritten */
    const char *fail;        /* the call that fails next ... */
    cudaError_t error;       /* ... and how */
    cudaError_t last;        /* what cudaGetLastError will say */
    double ms;               /* the device's clock */
    int blocks, events;      /* not yet freed */
    int pinned;              /* likewise, on the host */
    char calls[8192];        /* names, blanks between */
} fake = {.cards = 1, .driver = 13000};

struct fake_event {
    double ms;
};

/* Write the call down; the error it is to return. */
static cudaError_t called(const char *name)
{
    size_t n = strlen(fake.calls);
    snprintf(fake.calls + n, sizeof fake.calls - n, "%s%s", n ? " " : "", name);
    if (!fake.fail || strcmp(fake.fail, name) != 0) return cudaSuccess;
    fake.fail = NULL;
    return fake.last = fake.error;
}

static inline cudaError_t fake_GetDeviceCount(int *n)
{
    cudaError_t e = called("GetDeviceCount");
    if (fake.count_error) return fake.last = fake.count_error;
    *n = fake.cards;
    return e;
}

static inline cudaError_t fake_DriverGetVersion(int *version)
{
    *version = fake.driver;
    return called("DriverGetVersion");
}

static inline cudaError_t fake_GetDeviceProperties(struct cudaDeviceProp *p, int card)
{
    snprintf(p->name, sizeof p->name, "Fake Card %d", card);
    p->totalGlobalMem = 8u << 20;
    return called("GetDeviceProperties");
}

static inline cudaError_t fake_SetDevice(int card) { return called(card == 0 ? "SetDevice" : "SetDevice?"); }

static inline const char *fake_GetErrorString(cudaError_t e)
{
    return e == cudaErrorMemoryAllocation ? "out of memory"
           : e == cudaErrorLaunchFailure  ? "unspecified launch failure"
                                          : "some error";
}

static inline const char *fake_GetErrorName(cudaError_t e)
{
    return e == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
           : e == cudaErrorLaunchFailure  ? "cudaErrorLaunchFailure"
                                          : "cudaErrorX";
}

static inline cudaError_t fake_GetLastError(void)
{
    cudaError_t e = called("GetLastError");
    if (!e) e = fake.last;
    fake.last = cudaSuccess;
    return e;
}

static inline cudaError_t fake_Malloc(void **p, size_t bytes)
{
    cudaError_t e = called("Malloc");
    if (e) return e;
    if (bytes > 8u << 20) return fake.last = cudaErrorMemoryAllocation;
    *p = malloc(bytes);
    fake.blocks++;
    return cudaSuccess;
}

static inline cudaError_t fake_Free(void *p)
{
    if (p) fake.blocks--;
    free(p);
    return called("Free");
}

static inline cudaError_t fake_HostAlloc(void **p, size_t bytes, unsigned flags)
{
    cudaError_t e = called("HostAlloc");
    if (e || flags != cudaHostAllocPortable) return e ? e : cudaErrorLaunchFailure;
    *p = malloc(bytes);
    fake.pinned++;
    return cudaSuccess;
}

static inline cudaError_t fake_FreeHost(void *p)
{
    fake.pinned--;
    free(p);
    return called("FreeHost");
}

static inline cudaError_t fake_MemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    fake.ms += 1;
    memset(p, value, bytes);
    return called("MemsetAsync");
}

static inline cudaError_t fake_MemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                           cudaStream_t stream)
{
    static const char *const names[] = {"MemcpyHostToHost", "MemcpyHostToDevice", "MemcpyDeviceToHost",
                                        "MemcpyDeviceToDevice"};
    cudaError_t e = called(names[kind]);
    (void)stream;
    if (e) return e;
    fake.ms += 1;
    memcpy(to, from, bytes);
    return cudaSuccess;
}

static inline cudaError_t fake_EventCreate(cudaEvent_t *event)
{
    cudaError_t e = called("EventCreate");
    if (e) return e;
    *event = calloc(1, sizeof **event);
    fake.events++;
    return cudaSuccess;
}

static inline cudaError_t fake_EventDestroy(cudaEvent_t event)
{
    free(event);
    fake.events--;
    return called("EventDestroy");
}

static inline cudaError_t fake_EventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)stream;
    event->ms = fake.ms;
    return called("EventRecord");
}

static inline cudaError_t fake_EventSynchronize(cudaEvent_t event) { return (void)event, called("EventSynchronize"); }
static inline cudaError_t fake_EventQuery(cudaEvent_t event) { return (void)event, called("EventQuery"); }

static inline cudaError_t fake_EventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = (float)(to->ms - from->ms);
    return called("EventElapsedTime");
}

static inline cudaError_t fake_StreamQuery(cudaStream_t stream) { return (void)stream, called("StreamQuery"); }
static inline cudaError_t fake_DeviceSynchronize(void) { return called("DeviceSynchronize"); }

#endif
