/* racecheck_cases.cu: small kernels, right and wrong, for the race checker (tests/kernel_races_test.sh). The argument
 * names the one that runs. A report shows the line's text, and so its comment. */
#include <stdlib.h>

#include "kernel.h"

enum { N = 64 };

__global__ void reversed(const int *in, int *out)
{
    __shared__ int tile[N];
    unsigned t = threadIdx.x, first = blockIdx.x * N;
    tile[t] = in[first + t];
    __syncthreads();
    out[first + t] = tile[N - 1 - t];
}

/* The first thread reads what the last has not yet written. */
__global__ void no_barrier(const int *in, int *out)
{
    __shared__ int tile[N];
    unsigned t = threadIdx.x;
    tile[t] = in[t]; /* writes too late */
    out[t] = tile[N - 1 - t]; /* reads early */
}

/* All threads read the sum, and the first one overwrites it. */
__global__ void overwritten(int *out)
{
    __shared__ int sum;
    unsigned t = threadIdx.x;
    if (t == 0) sum = 1;
    __syncthreads();
    out[t] = sum; /* reads it */
    if (t == N - 1) sum = 2; /* overwrites it */
}

__global__ void one_place(int *out)
{
    out[threadIdx.x / 2] = 1; /* two threads */
}

/* Nothing orders blocks: a barrier is the block's own. */
__global__ void neighbours(int *out)
{
    out[blockIdx.x + 1] = 1; /* writes for the next block */
    __syncthreads();
    out[N + blockIdx.x] = out[blockIdx.x]; /* reads the neighbour's */
}

__device__ int total;
__global__ void counted()
{
    total++; /* without an atomic */
}

/* Of the helpers in kernel.h the kernel's own line is told. */
__global__ void by_helper(float *out)
{
    put(&out[0], 1.0f); /* all write it */
}

__global__ void in_a_plane(int *out)
{
    if (threadIdx.y == 3 && threadIdx.z < 2) out[threadIdx.x] = 1; /* of two planes */
}

/* Each its own byte of a word. */
__global__ void apart(int *out)
{
    ((char *)out)[threadIdx.x] = 1;
}

__global__ void own_again(int *out)
{
    for (int i = 0; i < 3; i++) out[threadIdx.x]++;
}

/* A thread's own array has one address in all threads that run on the same stack. */
__global__ void own_array(int *out)
{
    int mine[8];
    for (int i = 0; i < 8; i++) mine[i] = (int)threadIdx.x * i;
    int *volatile elsewhere = mine;
    for (int i = 0; i < 8; i++) out[threadIdx.x] += elsewhere[i];
}

int main(int argc, char **argv)
{
    int *in = (int *)calloc(2 * N, sizeof *in), *out = (int *)calloc(4 * N, sizeof *out);
    if (!in || !out) return 1;
    const char *name = argc > 1 ? argv[1] : "";
#define CASE(kernel, ...) \
    if (strcmp(name, #kernel) == 0) LAUNCH(kernel, __VA_ARGS__)
    CASE(reversed, 2, N)(in, out);
    CASE(no_barrier, 1, N)(in, out);
    CASE(overwritten, 1, N)(out);
    CASE(one_place, 1, N)(out);
    CASE(neighbours, 3, 1)(out);
    CASE(counted, 1, 2)();
    CASE(by_helper, 1, 2)((float *)out);
    CASE(in_a_plane, 1, dim3(2, 4, 2))(out);
    CASE(apart, 1, N)(out);
    for (int i = 0; i < 2; i++) CASE(own_again, 1, N)(out); /* launches are in order */
    CASE(own_array, 1, N)(out);
    free(in);
    free(out);
    return 0;
}
