/* The fake CUDA runtime: up to two cards with streams on a clock of their own. It writes down each call, with its
 * stream, and fails when told to. What work does to memory it does at once; when it is over, the clock says: each
 * copy, fill and launch takes `work` ms of its stream. The host's calls take no time; waiting moves the clock. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#include "cuda_runtime_api.h"

enum { FAKE_CARDS = 2, FAKE_BLOCKS = 64 };

struct CUstream_st {
    int number, card; /* numbers in the order in which they were made, from 1; 0: the default stream */
    double end;       /* when its work is over, in ms */
};

struct fake_event {
    double ms; /* when its stream gets there */
    int card;
};

typedef struct fake_runtime {
    int cards, driver;        /* what the machine has */
    int sm, oldest;           /* what its cards can, and what the kernels ask for: 90, 75 */
    int multiprocessors;      /* of each of its cards: 2 */
    int nvml;                 /* what NVML says that they can; 0: there is no such library */
    bool context[FAKE_CARDS]; /* which cards have one */
    bool lazy;                /* was there a call while kernels would load late? */
    bool peers;               /* can its cards read each other? */
    cudaError_t count_error;  /* cudaGetDeviceCount's answer; then it leaves the count unwritten */
    const char *fail;         /* the call that fails next ... */
    cudaError_t error;        /* ... and how */
    cudaError_t sticky;       /* what all calls of a broken card say; 0: it is whole */
    cudaError_t last;         /* what cudaGetLastError will say */
    double now, work;         /* the clock; what a piece of work takes */
    double empty, launching;  /* what a kernel that does nothing takes, and the host for a launch: 0 */
    size_t memory;            /* of each card: 8 MiB */
    double drift;             /* how much faster the card's clock is than the host's: 1e-5 */
    int blocks, events;       /* not yet freed */
    int pinned, streams;      /* likewise */
    int card, made;           /* the current one; streams made so far */
    struct CUstream_st zero[FAKE_CARDS];
    struct {
        char *p;
        size_t bytes;
        int card;
    } block[FAKE_BLOCKS];
    struct CUstream_st *all[64];
    int count;         /* calls, launches among them, since begin_calls */
    char calls[65536]; /* names with their streams, blanks between */
} fake_runtime;

extern fake_runtime fake;

struct CUstream_st *fake_stream(struct CUstream_st *s);
/* In place of those that find NVML. */
void *fake_dlopen(const char *file, int flags);
void *fake_dlsym(void *library, const char *name);
int fake_dlclose(void *library);
/* Write the call down, as "Name" or "Name@STREAM"; the error it is to return. */
cudaError_t called_in(const char *name, int stream);
/* Work in a stream: when it is over. */
double fake_work(struct CUstream_st *s);

/* ---- the machine ---- */

cudaError_t fake_GetDeviceCount(int *n);
cudaError_t fake_DriverGetVersion(int *version);
cudaError_t fake_GetDeviceProperties(struct cudaDeviceProp *p, int card);
cudaError_t fake_SetDevice(int card);
cudaError_t fake_FuncGetAttributes(struct cudaFuncAttributes *a, const void *kernel);
cudaError_t fake_DeviceCanAccessPeer(int *can, int card, int peer);
cudaError_t fake_DeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t fake_DeviceSynchronize(void);

/* ---- errors ---- */

const char *fake_GetErrorString(cudaError_t e);
const char *fake_GetErrorName(cudaError_t e);
cudaError_t fake_GetLastError(void);

/* ---- memory ---- */

cudaError_t fake_Malloc(void **p, size_t bytes);
cudaError_t fake_Free(void *p);
cudaError_t fake_PointerGetAttributes(struct cudaPointerAttributes *a, const void *p);
cudaError_t fake_HostAlloc(void **p, size_t bytes, unsigned flags);
cudaError_t fake_FreeHost(void *p);
cudaError_t fake_MemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream);
cudaError_t fake_MemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t fake_MemcpyPeerAsync(void *to, int to_card, const void *from, int from_card, size_t bytes,
                                 cudaStream_t stream);

/* ---- streams ---- */

cudaError_t fake_StreamCreateWithFlags(cudaStream_t *s, unsigned flags);
cudaError_t fake_StreamDestroy(cudaStream_t s);
cudaError_t fake_StreamSynchronize(cudaStream_t stream);
cudaError_t fake_StreamQuery(cudaStream_t stream);
/* A stream of another card than the current one would be a mistake. */
cudaError_t fake_StreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);

/* ---- events ---- */

cudaError_t fake_EventCreate(cudaEvent_t *event);
cudaError_t fake_EventDestroy(cudaEvent_t event);
cudaError_t fake_EventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t fake_EventSynchronize(cudaEvent_t event);
cudaError_t fake_EventQuery(cudaEvent_t event);
/* By the card's clock, as a float: that is all the real one tells. */
cudaError_t fake_EventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);

#endif
