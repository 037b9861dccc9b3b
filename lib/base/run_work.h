/* run_work.h: one call of one op, as kernels and the host's loops are given it: operands in memory, the numbers that
 * travel with them, what it costs and when it ran. */
#ifndef FERRY_RUN_WORK_H
#define FERRY_RUN_WORK_H

#include "ferry.h"

typedef struct fy_time {
    int64_t start, end;              /* when the work itself began and ended; -1: not known yet (completion.h) */
    int64_t held;                    /* how long the host was held by the call */
    int64_t wire, staging, overhead; /* parts of a copy's cost */
    void *begun, *ended;             /* natives of the points that will tell of -1; NULL: nobody will */
} fy_time;

/* A strided array: what kernels and host loops walk. Strides in elements. */
typedef struct fy_layout {
    int32_t ndim;
    int32_t pad_;
    int64_t numel;
    int64_t shape[FY_MAX_DIMS], strides[FY_MAX_DIMS];
} fy_layout;

typedef struct fy_operand {
    void *data; /* element 0 of the view, in the device's memory; NULL: a number (op.h) */
    fy_dtype dtype;
    fy_layout layout;
} fy_operand;

/* Accesses of a piece of work that nothing orders with those of earlier work (race_detector.c). On the simulated card
 * they find poison, whatever the timetable says. Bit i of a mask: input i (0 is a copy's source); FY_RACE_OUT:
 * the output. `earlier`: works that may not have been done yet, by their numbers. */
enum { FY_RACE_OUT = 1 << 7, FY_MOST_RACES = 8 };
typedef struct fy_races {
    uint8_t own;
    uint8_t n;
    struct {
        uint32_t id;
        uint8_t bits;
    } earlier[FY_MOST_RACES];
} fy_races;

/* Streams are numbered within their card: 0 is the default stream, 1 to 32 are PyTorch's pool. */
enum { FY_STREAMS = 33 };

enum { FY_MAX_INPUTS = 4, FY_MAX_SCALARS = 6 }; /* scalars: an operand's number, then the call's own (op.h) */

typedef struct fy_run_work {
    uint32_t id; /* number of the work */
    int stream;
    fy_races races;
    int op; /* index into fy_ops (op.h) */
    int nin;
    fy_dtype dtype;                    /* the type that the op computes in; for cast the operand's */
    int reduced;                       /* dimensions of in[0] that are gone through for one element (op.h) */
    fy_operand in[FY_MAX_INPUTS], out; /* inputs already have the op's dtype */
    double real[FY_MAX_SCALARS];       /* by FY_ADD_alpha and the like */
    int64_t integer[FY_MAX_SCALARS];
    int64_t flops, bytes;       /* cost, from the op table */
    const char *kernel, *blas;  /* out: what did it */
    uint32_t grid[3], block[3]; /* out */
    fy_time time;               /* out */
} fy_run_work;

#endif
