/* measure_kernels.cu: see measure.h. */
#include "measure.h"

static __global__ void nothing()
{
}

static __global__ void spin(int64_t cycles)
{
    int64_t begin = clock64();
    while (clock64() - begin < cycles) continue;
}

/* Neighbours copy neighbours; a thread with more than one word has them a block apart. */
template <typename T, int each> static __global__ void copy(T *to, const T *from, int64_t n)
{
    int64_t first = (int64_t)blockIdx.x * blockDim.x * each + threadIdx.x;
    T word[each];
#pragma unroll
    for (int k = 0; k < each; k++)
        if (first + k * blockDim.x < n) word[k] = from[first + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < each; k++)
        if (first + k * blockDim.x < n) to[first + k * blockDim.x] = word[k];
}

template <typename T, int each> static void launch_copy(void *to, const void *from, size_t bytes, cudaStream_t s)
{
    int64_t n = (int64_t)(bytes / sizeof(T));
    unsigned blocks = (unsigned)((n + 256 * each - 1) / (256 * each));
    copy<T, each><<<blocks, 256, 0, s>>>((T *)to, (const T *)from, n);
}

void measure_nothing(cudaStream_t s)
{
    nothing<<<1, 32, 0, s>>>();
}

void measure_spin(int64_t cycles, cudaStream_t s)
{
    spin<<<1, 1, 0, s>>>(cycles);
}

void measure_copy(int words, void *to, const void *from, size_t bytes, cudaStream_t s)
{
    if (words == 1) launch_copy<float, 1>(to, from, bytes, s);
    else if (words == 4) launch_copy<float4, 1>(to, from, bytes, s);
    else launch_copy<float4, 4>(to, from, bytes, s);
}
