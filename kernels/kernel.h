/* kernel.h: lets both nvcc and g++ compile the kernels.
 *
 * The files of this folder are CUDA. For nvcc CUDA's keywords have their own meaning. For g++ this header defines them,
 * so that kernels run on the simulated card: a launch runs its blocks on the CPU, and the threads of a block one after
 * another, each up to its next __syncthreads (simt.cc).
 *
 * Not CUDA:
 *   LAUNCH(kernel, grid, block)(arguments)  for nvcc kernel<<<grid, block, 0, stream>>>(arguments); the work's stream
 *   ASSERT(blame, fact)                     an assert that records which work failed; the launcher passes BLAME(w) to
 *                                           the kernel as an argument
 *   PACKED(type)                            a large structure as a kernel's argument: no thread copies it
 *   MEMBER, METHOD                          a __device__ function of a structure: static; one that reads its members
 * Such structures are in an unnamed namespace, since nvcc's objects contain structures of the same names.
 *
 * Not available with g++: warp shuffles, dynamic shared memory. Pointers inside structures are not checked: pass
 * pointers to a kernel as arguments. */
#ifndef FERRY_KERNEL_H
#define FERRY_KERNEL_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <type_traits>

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
#define PACKED(type) const __grid_constant__ type

/* After a failed assertion nothing can be read from the card, so the kernel writes the work's id to a word of host
 * memory first. */
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

/* The indices of the running thread, under CUDA's names. */
struct fy_simt_place {
    dim3 thread, block, block_dim, grid_dim;
};
extern __thread fy_simt_place fy_simt_at;
extern __thread bool fy_simt_dry; /* launchers set their outputs and run no kernel (fy_sim_dry_run) */
#define threadIdx fy_simt_at.thread
#define blockIdx fy_simt_at.block
#define blockDim fy_simt_at.block_dim
#define gridDim fy_simt_at.grid_dim

/* static, since nvcc's objects contain functions of the same names. */
#define __global__ static
#define __device__ static
#define __host__
#define __shared__ static __thread
#define __syncthreads() fy_simt_barrier(__FILE__, __LINE__)
#undef assert
#define assert(fact) ((fact) ? (void)0 : fy_simt_assert(#fact, __FILE__, __LINE__))

/* CUDA's product and sum that no compiler joins to a multiply-add, which rounds once: not even where g++ may. */
inline float __fmul_rn(float a, float b)
{
    volatile float product = a * b;
    return product;
}
inline double __dmul_rn(double a, double b)
{
    volatile double product = a * b;
    return product;
}
inline float __fadd_rn(float a, float b) { return a + b; }
inline double __dadd_rn(double a, double b) { return a + b; }

extern "C" void fy_simt_barrier(const char *file, int line);
extern "C" void fy_simt_assert(const char *fact, const char *file, int line); /* ends the thread, and the kernel */
extern "C" void fy_simt_run(const char *kernel, dim3 grid, dim3 block, void (*body)(void *), void *arguments);

extern __thread unsigned fy_simt_threads, fy_simt_started; /* of the running block */

/* The loop over a block's threads is no part of the kernel: the race checker is not to hear of it (racecheck.cc). */
#ifdef FERRY_RACECHECK
#include "racecheck.h"
#define UNWATCHED __attribute__((no_sanitize("thread")))
#define KERNEL_NAME(name) fy_racecheck_name(__PRETTY_FUNCTION__)
template <typename T> inline const void *pointer_of(T *p) { return (const void *)p; }
template <typename T> inline const void *pointer_of(const T &) { return NULL; }
#else
#define UNWATCHED
#define KERNEL_NAME(name) name
#endif

/* Makes the block's next thread the running one, x fastest, then y, then z; false: all have started. */
UNWATCHED inline bool fy_simt_start()
{
    unsigned n = fy_simt_started, width = blockDim.x;
    if (n == fy_simt_threads) return false;
    fy_simt_started = n + 1;
    if (n < width) threadIdx.x = n; /* the first row, or all: y and z are 0, and a division costs more than a thread */
    else threadIdx = dim3(n % width, n / width % blockDim.y, n / width / blockDim.y);
    return true;
}

/* A kernel with its grid; calling it runs every thread. The kernel is a template argument and the loop over a block's
 * threads is here, so that the compiler inlines one into the other. A thread that waits at a barrier leaves the loop to
 * another fiber, which enters it anew (simt.cc). */
template <auto kernel> struct fy_launch;
template <typename... P, void (*kernel)(P...)> struct fy_launch<kernel> {
    const char *name;
    dim3 grid, block;

    /* The arguments are copies: what no other function can reach stays in registers over a thread's calls. */
    template <typename... V> UNWATCHED static void run_threads(V... arguments)
    {
        while (fy_simt_start()) kernel(arguments...);
    }

    void operator()(P... arguments) const
    {
        auto threads = [&]() UNWATCHED { run_threads<std::decay_t<P>...>(arguments...); };
#ifdef FERRY_RACECHECK
        const void *pointers[] = {pointer_of(arguments)...};
        fy_racecheck_arguments(pointers, sizeof...(P));
#endif
        fy_simt_run(KERNEL_NAME(name), grid, block, [](void *f) UNWATCHED { (*(decltype(threads) *)f)(); }, &threads);
    }
};

#define LAUNCH(kernel, grid, block) fy_simt_dry ? (void)0 : fy_launch<kernel>{#kernel, grid, block}
#define LAUNCHER(name) extern "C" void fy_sim_launch_##name(fy_run_work *w)
#define MEMBER static
#define METHOD
#define PACKED(type) const type &
struct fy_blame {}; /* the simulator knows which work it runs */
#define BLAME(w) (fy_blame{})
#define ASSERT(blame, fact) ((void)(blame), assert(fact))

#endif

/* ---- for all kernels ------------------------------------------------------------------------- */

enum { FY_THREADS = 256 }; /* default number of threads per block */

/* A kernel's parameter: on a card each thread reads it from constant memory; here a copy would cost more than a thread. */
#ifdef __CUDACC__
using fy_layout_arg = fy_layout;
#else
using fy_layout_arg = const fy_layout &;
#endif

/* Offset in elements of element i, counted row-major. */
__device__ inline int64_t at_indices(const fy_layout &l, int64_t i)
{
    int64_t offset = 0;
    for (int d = l.ndim - 1; d > 0; d--) {
        offset += i % l.shape[d] * l.strides[d];
        i /= l.shape[d];
    }
    return l.ndim ? offset + i * l.strides[0] : 0;
}
__device__ inline int64_t at(const fy_layout &l, int64_t i)
{
    return l.ndim == 1 ? i * l.strides[0] : at_indices(l, i);
}

/* The layout of a dense operand, row-major from its first element: element i is at i. */
namespace {
struct dense {
    int64_t numel;
};
} /* namespace */
__device__ inline int64_t at(dense, int64_t i)
{
    return i;
}

/* Reads an element. A bool is a byte, maybe of a view of another dtype: nonzero is true. */
template <typename T> __device__ inline T load(const T *p)
{
    return *p;
}
__device__ inline bool load(const bool *p)
{
    return *(const unsigned char *)p != 0;
}

/* Element i of an operand; an operand without data is a number. L: fy_layout or dense. */
template <typename T, typename L> __device__ inline T element(const T *data, const L &l, T number, int64_t i)
{
    return data ? load(&data[at(l, i)]) : number;
}

/* The thread's index in a one-dimensional grid. */
__device__ inline int64_t thread_number()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Shared memory: a T for each thread of the block. All kernels of a file have one array of a type: on the simulated card
 * every CPU thread has its own of each, and the C library clears them all whenever a thread starts. */
template <typename T> __device__ inline T *one_per_thread()
{
    __shared__ T array[FY_THREADS];
    return array;
}

/* A row-major layout as one dimension, for which `at` needs no division; others are returned unchanged. */
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

/* Are the output and the inputs that have data dense, and of one size? Then a kernel needs no layouts. */
static inline bool is_dense(const fy_run_work *w, int inputs)
{
    auto fits = [w](const fy_layout &l) {
        fy_layout row = flat(l);
        return row.ndim == 1 && row.numel == w->out.layout.numel && (row.strides[0] == 1 || row.numel == 1);
    };
    for (int i = 0; i < inputs; i++)
        if (w->in[i].data && !fits(w->in[i].layout)) return false;
    return fits(w->out.layout);
}

/* ---- element types ------------------------------------------------------------------------------ */

/* Converts an element to the type it is computed in: 16-bit floats to float; others are unchanged. */
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

/* Stores a computed value as an element, rounded once. */
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

/* x < 0, without a compiler warning for unsigned types. */
template <typename T> __device__ inline bool is_negative(T x)
{
    if constexpr ((T)-1 > (T)1) return false;
    else return x < 0;
}

/* The unsigned type of an integer type, for arithmetic that wraps around: signed overflow is undefined. */
template <typename T> struct unsigned_of {
    using type = T;
};
template <> struct unsigned_of<int32_t> {
    using type = uint32_t;
};
template <> struct unsigned_of<int64_t> {
    using type = uint64_t;
};

/* Scalar i of the call as an element. */
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
/* Operand i, a number, in the type that the op computes in. */
template <typename T> static inline wide_of<T> wide_number_of(const fy_run_work *w, int i)
{
    if constexpr (is_real<T>) return fy_op_keeps_number(w->op) ? (wide_of<T>)w->real[i] : wide(number_of<T>(w, i));
    else return number_of<T>(w, i);
}
/* Element i of an operand likewise. */
template <typename T, typename L>
__device__ inline wide_of<T> wide_element(const T *data, const L &l, wide_of<T> number, int64_t i)
{
    return data ? wide(load(&data[at(l, i)])) : number;
}

/* In a launcher: runs `...` for the dtype that the op computes in, with T as its C type and `name` as "OP_f32":
 *
 *     LAUNCHER(relu) { FOR_NUMBERS("relu", launch<T>(w, name)) }
 *
 * REALS are the four float types, NUMBERS also the integers, ALL also bool. */
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

/* Records the kernel, the grid and the block for the op's event. */
static inline void note(fy_run_work *w, const char *kernel, dim3 grid, dim3 block)
{
    w->kernel = kernel;
    w->grid[0] = grid.x, w->grid[1] = grid.y, w->grid[2] = grid.z;
    w->block[0] = block.x, w->block[1] = block.y, w->block[2] = block.z;
}

/* The grid for one thread per element; also records it. */
static inline dim3 grid_for(fy_run_work *w, const char *kernel, int64_t elements)
{
    dim3 grid((unsigned)((elements + FY_THREADS - 1) / FY_THREADS));
    note(w, kernel, grid, dim3(FY_THREADS));
    return grid;
}

#endif
