/* A small stand-in for the CUDA runtime's header: the calls that lib/devices/cuda.c makes, declared by us, so
 * that it compiles without a toolkit. Each has a name of its own (fake_...), so that the real runtime
 * may be linked into the same test. What they do is in fake_cuda.h. */
#ifndef FAKE_CUDA_RUNTIME_API_H
#define FAKE_CUDA_RUNTIME_API_H

#include <stddef.h>

typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorOperatingSystem = 304,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorAssert = 710,
    cudaErrorLaunchFailure = 719,
} cudaError_t;

enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor;
    int multiProcessorCount, maxThreadsPerMultiProcessor;
};

struct cudaFuncAttributes {
    int numRegs;
};

struct cudaPointerAttributes {
    int device;
};

typedef struct fake_event *cudaEvent_t;
typedef struct CUstream_st *cudaStream_t;

#define cudaHostAllocPortable 1
#define cudaStreamNonBlocking 1

#define FAKE(name) fake_##name
#define cudaGetDeviceCount FAKE(GetDeviceCount)
#define cudaDriverGetVersion FAKE(DriverGetVersion)
#define cudaGetDeviceProperties FAKE(GetDeviceProperties)
#define cudaSetDevice FAKE(SetDevice)
#define cudaGetErrorString FAKE(GetErrorString)
#define cudaGetErrorName FAKE(GetErrorName)
#define cudaGetLastError FAKE(GetLastError)
#define cudaMalloc FAKE(Malloc)
#define cudaFree FAKE(Free)
#define cudaHostAlloc FAKE(HostAlloc)
#define cudaFreeHost FAKE(FreeHost)
#define cudaMemsetAsync FAKE(MemsetAsync)
#define cudaMemcpyAsync FAKE(MemcpyAsync)
#define cudaMemcpyPeerAsync FAKE(MemcpyPeerAsync)
#define cudaPointerGetAttributes FAKE(PointerGetAttributes)
#define cudaDeviceCanAccessPeer FAKE(DeviceCanAccessPeer)
#define cudaDeviceEnablePeerAccess FAKE(DeviceEnablePeerAccess)
#define cudaStreamCreateWithFlags FAKE(StreamCreateWithFlags)
#define cudaStreamDestroy FAKE(StreamDestroy)
#define cudaStreamSynchronize FAKE(StreamSynchronize)
#define cudaStreamQuery FAKE(StreamQuery)
#define cudaStreamWaitEvent FAKE(StreamWaitEvent)
#define cudaEventCreate FAKE(EventCreate)
#define cudaEventDestroy FAKE(EventDestroy)
#define cudaEventRecord FAKE(EventRecord)
#define cudaEventSynchronize FAKE(EventSynchronize)
#define cudaEventQuery FAKE(EventQuery)
#define cudaEventElapsedTime FAKE(EventElapsedTime)
#define cudaDeviceSynchronize FAKE(DeviceSynchronize)
#define cudaFuncGetAttributes FAKE(FuncGetAttributes)

#endif
