/* cpu.h: the host versions of the ops (one function per op, see op.h), and what the elementwise ones share. */
#ifndef FERRY_CPU_H
#define FERRY_CPU_H

#include "half.h"
#include "run_work.h"

/* Host versions, one function per op: any strides, every dtype of the op. (cpu_*.c; looked up in cpu_table.c) */
typedef void (*fy_host_op)(fy_run_work *w);
fy_host_op fy_host_op_find(int op);
const char *fy_host_blas(const fy_run_work *w); /* the BLAS routine that w is computed with; NULL: none */

/* Computes n contiguous elements: out[i] from in[0][i], in[1][i] and so on. `out` may alias an input. The 16-bit floats
 * are passed as float. */
typedef void (*fy_loop)(int64_t n, void *out, const void *const *in, const fy_run_work *w);

/* Runs the loop over operands of any layout, above some size on several threads: parts must be independent.
 * (cpu_elementwise.c) */
void fy_map(fy_run_work *w, fy_loop loop);
void fy_map_raw(fy_run_work *w, fy_loop loop); /* 16-bit floats unconverted */

/* A loop per dtype of a computation; NULL for those that the op does not support. */
typedef struct fy_loops {
    fy_loop f32, f64, i64, i32, u8, boolean;
} fy_loops;
void fy_map_any(fy_run_work *w, const fy_loops *loops);

/* Converts n elements; 16-bit floats are passed unconverted. (cpu_cast.c) */
fy_loop fy_cast_loop(fy_dtype from, fy_dtype to);

/* n 16-bit floats to float and back. (cpu_half.c) */
void fy_half_widen(int64_t n, float *to, const fy_half *from);
void fy_half_narrow(int64_t n, fy_half *to, const float *from);
void fy_bfloat_widen(int64_t n, float *to, const fy_bfloat *from);
void fy_bfloat_narrow(int64_t n, fy_bfloat *to, const float *from);

/* Around each call of OpenBLAS. (blas.c) */
void fy_blas_begin(void);
void fy_blas_end(void);

/* Compiled for baseline x86-64 and for AVX2; selected at load time. Not for AVX-512: that would take as long to compile
 * as both, and most of these loops wait for memory. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define FY_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define FY_CLONES
#endif

/* Before a loop whose output may alias an input at the same index only. */
#ifdef __clang__
#define FY_IVDEP /* clang detects this itself, and warns if the pragma has no effect */
#else
#define FY_IVDEP _Pragma("GCC ivdep")
#endif

/* A fy_loop called `name`: the result, of type R, from x and y of type T. */
#define FY_LOOP(name, T, R, ...) \
    FY_CLONES static void name(int64_t n, void *to, const void *const *in, const fy_run_work *w) \
    { \
        R *out = to; \
        const T *a = in[0]; \
        (void)w; \
        FY_IVDEP for (int64_t i = 0; i < n; i++) \
        { \
            T x = a[i]; \
            out[i] = (R)(__VA_ARGS__); \
        } \
    }
#define FY_LOOP2(name, T, R, ...) FY_LOOP2_AS(name, T, T, R, __VA_ARGS__)

/* Likewise for elements of type E that are read as T: a bool is a byte, nonzero is true. */
#define FY_LOOP2_AS(name, E, T, R, ...) \
    FY_CLONES static void name(int64_t n, void *to, const void *const *in, const fy_run_work *w) \
    { \
        R *out = to; \
        const E *a = in[0], *b = in[1]; \
        (void)w; \
        FY_IVDEP for (int64_t i = 0; i < n; i++) \
        { \
            T x = (T)a[i], y = (T)b[i]; \
            out[i] = (R)(__VA_ARGS__); \
        } \
    }

/* From x, y and z of type T, a T. */
#define FY_LOOP3(name, T, ...) \
    FY_CLONES static void name(int64_t n, void *to, const void *const *in, const fy_run_work *w) \
    { \
        T *out = to; \
        const T *a = in[0], *b = in[1], *c = in[2]; \
        (void)w; \
        FY_IVDEP for (int64_t i = 0; i < n; i++) \
        { \
            T x = a[i], y = b[i], z = c[i]; \
            out[i] = (T)(__VA_ARGS__); \
        } \
    }

#endif
