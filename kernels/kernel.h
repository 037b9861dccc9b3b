/* kernel.h: one source, two machines.
 *
 * The files of this folder are CUDA. Under nvcc the words below mean what they always mean. Under g++
 * they make kernels for the simulated card: a launch runs its blocks one after another on the CPU, and
 * the threads of a block in order, each up to its next __syncthreads (simt.cc).
 *
 * The one word that is not CUDA:  LAUNCH(kernel, grid, block)(arguments)
 * which is  kernel<<<grid, block>>>(arguments)  under nvcc.
 *
 * Not there under g++: warp shuffles, __shared__ of a size known only at launch. Pointers inside
 * structures are not looked at: give a kernel its pointers as arguments. */
#ifndef FERRY_KERNEL_H
#define FERRY_KERNEL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern "C" {
#include "op.h" /* fy_run_work and fy_layout: plain structures */
}

#ifdef __CUDACC__

#define LAUNCH(kernel, grid, block) kernel<<<grid, block>>>
#define LAUNCHER(name) extern "C" void fy_cuda_launch_##name(fy_run_work *w)

#else

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* Where the running thread stands. The names are CUDA's. */
struct fy_simt_place {
    dim3 thread, block, block_dim, grid_dim;
};
extern __thread fy_simt_place fy_simt_at;
#define threadIdx fy_simt_at.thread
#define blockIdx fy_simt_at.block
#define blockDim fy_simt_at.block_dim
#define gridDim fy_simt_at.grid_dim

/* static: the objects made by nvcc hold functions of the same names. */
#define __global__ static
#define __device__ static
#define __host__
#define __shared__ static __thread
#define __syncthreads() fy_simt_barrier(__FILE__, __LINE__)

extern "C" void fy_simt_barrier(const char *file, int line);
extern "C" void fy_simt_run(const char *kernel, dim3 grid, dim3 block, void (*body)(void *), void *arguments);

/* A kernel with its grid; calling it runs every thread. The kernel is part of the type, so that the
 * compiler sees it in the loop over threads. */
template <auto kernel> struct fy_launch;
template <typename... P, void (*kernel)(P...)> struct fy_launch<kernel> {
    const char *name;
    dim3 grid, block;

    void operator()(P... arguments) const
    {
        auto one_thread = [&] { kernel(arguments...); };
        fy_simt_run(name, grid, block, [](void *f) { (*(decltype(one_thread) *)f)(); }, &one_thread);
    }
};

#define LAUNCH(kernel, grid, block) (fy_launch<kernel>{#kernel, grid, block})
#define LAUNCHER(name) extern "C" void fy_sim_launch_##name(fy_run_work *w)

#endif

/* ---- for all kernels ------------------------------------------------------------------------- */

enum { FY_THREADS = 256 }; /* threads of a block where nothing else decides */

/* Where element i, counted row by row, lies: its distance from element 0, in elements. */
__device__ inline int64_t at(const fy_layout &l, int64_t i)
{
    int64_t offset = 0;
    for (int d = l.ndim - 1; d > 0; d--) {
        offset += i % l.shape[d] * l.strides[d];
        i /= l.shape[d];
    }
    return l.ndim ? offset + i * l.strides[0] : 0;
}

/* Element i of an operand; one without data is a number, the same everywhere. */
template <typename T> __device__ inline T element(const T *data, const fy_layout &l, T number, int64_t i)
{
    return data ? data[at(l, i)] : number;
}

/* The thread's number in a one-dimensional grid. */
__device__ inline int64_t thread_number()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* One dimension where the elements lie without gaps: `at` then needs no division. */
static inline fy_layout flat(fy_layout l)
{
    int64_t step = 1;
    for (int d = l.ndim - 1; d >= 0; d--) {
        if (l.shape[d] != 1 && l.strides[d] != step) return l;
        step *= l.shape[d];
    }
    l.ndim = 1;
    l.shape[0] = l.numel;
    l.strides[0] = 1;
    return l;
}

/* What stands for input i where it is a number. */
static inline void number_of(const fy_run_work *w, int i, float *x)
{
    *x = (float)w->real[i];
}
static inline void number_of(const fy_run_work *w, int i, int64_t *x)
{
    *x = w->integer[i];
}

/* Note the shape of a launch in the work order. */
static inline void note(fy_run_work *w, const char *kernel, dim3 grid, dim3 block)
{
    w->kernel = kernel;
    w->grid[0] = grid.x, w->grid[1] = grid.y, w->grid[2] = grid.z;
    w->block[0] = block.x, w->block[1] = block.y, w->block[2] = block.z;
}

/* One thread an element: the grid, noted. */
static inline dim3 grid_for(fy_run_work *w, const char *kernel, int64_t elements)
{
    dim3 grid((unsigned)((elements + FY_THREADS - 1) / FY_THREADS));
    note(w, kernel, grid, dim3(FY_THREADS));
    return grid;
}

#endif
