/* kernel.h: one source, two machines.
 *
 * The files of this folder are CUDA. Under nvcc the words below mean what they always mean. Under g++
 * they make kernels for the simulated card: a launch runs its blocks one after another on the CPU, and
 * the threads of a block in order, each up to its next __syncthreads (simt.cc).
 *
 * The words that are not CUDA:  LAUNCH(kernel, grid, block)(arguments)
 * which is  kernel<<<grid, block, 0, stream>>>(arguments)  under nvcc, in the stream of the work. ASSERT(blame, fact)
 * is an assert that also tells whose work it was; blame is an argument of the kernel, given as BLAME(w). MEMBER
 * marks a __device__ function of a structure, METHOD one that reads the structure's numbers; the structure stands in a
 * nameless namespace, as the objects made by nvcc hold one of the same name.
 *
 * Not there under g++: warp shuffles, __shared__ of a size known only at launch. Pointers inside
 * structures are not looked at: give a kernel its pointers as arguments. */
#ifndef FERRY_KERNEL_H
#define FERRY_KERNEL_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern "C" {
#include "kernel_table.h"
#include "op.h"
#include "run_work.h"
}
#include "half.h"

#ifdef __CUDACC__

#define LAUNCH(kernel, grid, block) kernel<<<grid, block, 0, fy_cuda_launching.stream>>>
#define LAUNCHER(name) extern "C" void fy_cuda_launch_##name(fy_run_work *w)
#define MEMBER __device__ static
#define METHOD __device__

/* When an assertion fails the card is dead, and a word of the host's memory all that can be read: it gets the
 * number of the work. The launcher hands BLAME(w) to the kernel. */
struct fy_blame {
    volatile uint32_t *word;
    uint32_t work;
};
#define BLAME(w) (fy_blame{fy_cuda_launching.blame, (w)->id})
#define ASSERT(blame, fact) ((fact) ? (void)0 : lay(blame), assert(fact))
__device__ inline void lay(fy_blame blame)
{
    if (*blame.word == 0) *blame.word = blame.work;
    __threadfence_system();
}

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
extern __thread bool fy_simt_dry; /* only the shape of a launch is asked for: nothing runs (fy_sim_dry_run) */
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
#undef assert
#define assert(fact) ((fact) ? (void)0 : fy_simt_assert(#fact, __FILE__, __LINE__))

extern "C" void fy_simt_barrier(const char *file, int line);
extern "C" void fy_simt_assert(const char *fact, const char *file, int line); /* ends the thread, and the kernel */
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

#define LAUNCH(kernel, grid, block) fy_simt_dry ? (void)0 : fy_launch<kernel>{#kernel, grid, block}
#define LAUNCHER(name) extern "C" void fy_sim_launch_##name(fy_run_work *w)
#define MEMBER static
#define METHOD
struct fy_blame {}; /* whoever runs the kernel knows its work */
#define BLAME(w) (fy_blame{})
#define ASSERT(blame, fact) ((void)(blame), assert(fact))

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

/* An element as it is read. A bool is a byte, which may be a view of anything: what is not 0 is true. */
template <typename T> __device__ inline T load(const T *p)
{
    return *p;
}
__device__ inline bool load(const bool *p)
{
    return *(const unsigned char *)p != 0;
}

/* Element i of an operand; one without data is a number, the same everywhere. */
template <typename T> __device__ inline T element(const T *data, const fy_layout &l, T number, int64_t i)
{
    return data ? load(&data[at(l, i)]) : number;
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

/* ---- element types ------------------------------------------------------------------------------ */

/* An element as it is computed with: the 16-bit floats as float, all others as they are. */
__host__ __device__ inline float wide(fy_half x)
{
    return fy_half_float(x);
}
__host__ __device__ inline float wide(fy_bfloat x)
{
    return fy_bfloat_float(x);
}
template <typename T> __host__ __device__ inline T wide(T x)
{
    return x;
}
template <typename T> using wide_of = decltype(wide(T()));

/* And back: rounded once. */
__device__ inline void put(fy_half *to, float x)
{
    *to = fy_half_of(x);
}
__device__ inline void put(fy_bfloat *to, float x)
{
    *to = fy_bfloat_of_float(x);
}
template <typename T> __device__ inline void put(T *to, T x)
{
    *to = x;
}

template <typename T> inline constexpr bool is_real = false;
template <> inline constexpr bool is_real<fy_half> = true;
template <> inline constexpr bool is_real<fy_bfloat> = true;
template <> inline constexpr bool is_real<float> = true;
template <> inline constexpr bool is_real<double> = true;

/* x < 0, without a word from the compiler where nothing is. */
template <typename T> __device__ inline bool is_negative(T x)
{
    if constexpr ((T)-1 > (T)1) return false;
    else return x < 0;
}

/* The unsigned type of an integer's size: in it arithmetic wraps around, in the integer's own it must not. */
template <typename T> struct unsigned_of {
    using type = T;
};
template <> struct unsigned_of<int32_t> {
    using type = uint32_t;
};
template <> struct unsigned_of<int64_t> {
    using type = uint64_t;
};

/* A number of the call as an element. */
static inline void set_number(fy_half *to, double real, int64_t)
{
    *to = fy_half_of(real);
}
static inline void set_number(fy_bfloat *to, double real, int64_t)
{
    *to = fy_bfloat_of(real);
}
static inline void set_number(float *to, double real, int64_t)
{
    *to = (float)real;
}
static inline void set_number(double *to, double real, int64_t)
{
    *to = real;
}
static inline void set_number(bool *to, double real, int64_t integer)
{
    *to = real != 0 || integer != 0;
}
template <typename T> static inline void set_number(T *to, double, int64_t integer)
{
    *to = (T)integer;
}
template <typename T> static inline T number_of(const fy_run_work *w, int i)
{
    T x;
    set_number(&x, w->real[i], w->integer[i]);
    return x;
}

/* In a launcher: `...` for the type that the op computes in, called T there; `name` is "OP_f32".
 *
 *     LAUNCHER(relu) { FOR_NUMBERS("relu", launch<T>(w, name)) }
 *
 * REALS are the four floats, NUMBERS those and the integers, ALL those and bool. */
#define FOR_REALS(op, ...) \
    FOR_TYPE(FY_FLOAT32, float, op "_f32", __VA_ARGS__) \
    FOR_TYPE(FY_FLOAT64, double, op "_f64", __VA_ARGS__) \
    FOR_TYPE(FY_FLOAT16, fy_half, op "_f16", __VA_ARGS__) \
    FOR_TYPE(FY_BFLOAT16, fy_bfloat, op "_bf16", __VA_ARGS__)
#define FOR_INTEGERS(op, ...) \
    FOR_TYPE(FY_INT64, int64_t, op "_i64", __VA_ARGS__) \
    FOR_TYPE(FY_INT32, int32_t, op "_i32", __VA_ARGS__) \
    FOR_TYPE(FY_UINT8, uint8_t, op "_u8", __VA_ARGS__)
#define FOR_NUMBERS(op, ...) FOR_REALS(op, __VA_ARGS__) FOR_INTEGERS(op, __VA_ARGS__)
#define FOR_ALL(op, ...) FOR_NUMBERS(op, __VA_ARGS__) FOR_TYPE(FY_BOOL, bool, op "_bool", __VA_ARGS__)
#define FOR_TYPE(tag, type, words, ...) \
    if (w->dtype == tag) { \
        using T = type; \
        const char *name = words; \
        __VA_ARGS__; \
    }

/* ---- launching ---------------------------------------------------------------------------------- */

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
