/* run_work.h: one call of one op, as kernels and host loops get it: operands, scalars, cost and times. */
#ifndef FERRY_RUN_WORK_H
#define FERRY_RUN_WORK_H

#include "ferry.h"

typedef struct fy_time {             /* all in ns */
    int64_t start, end;              /* of the work itself; -1: not known yet (completion.h) */
    int64_t held;                    /* how long the call blocked the host */
    int64_t wire, staging, overhead; /* parts of a copy's cost */
    int64_t wire_up;                 /* of wire: by way of the host, on the second bus; 0: another way, or not known */
    int64_t launch;                  /* real card: from the mark before the work to the return of its launch ... */
    int64_t launched;                /* ... and when that was, at the latest; -1: not known */
    void *begun, *ended;             /* fy_point natives to query if start or end is -1; NULL: never known */
} fy_time;

/* A strided array, as kernels and host loops traverse it. Strides in elements. */
typedef struct fy_layout {
    int32_t ndim;
    int32_t pad_;
    int64_t numel;
    int64_t shape[FY_MAX_DIMS], strides[FY_MAX_DIMS];
} fy_layout;

typedef struct fy_operand {
    void *data; /* element 0 of the view, in the device's memory; NULL: a scalar (op.h) */
    fy_dtype dtype;
    fy_layout layout;
} fy_operand;

/* The call that an event of later belongs to (frame.h). */
typedef struct fy_belonging {
    struct fy_site *at;
    uint64_t record; /* generation of the log, and reference in it; 0: the call of `at` */
    uint32_t untold; /* calls that no event has told yet: it and its parents */
} fy_belonging;

/* The tensor that a copy or an op writes, for the event of its contents (contents.h). tensor 0: not asked for. */
typedef struct fy_contents {
    fy_belonging belongs;
    uint32_t tensor, version;
    fy_dtype dtype;
    const void *data; /* its first element, in the device's memory */
    fy_layout layout; /* the tensor's: that of the work's operand may have its dimensions in another order */
} fy_contents;

/* Accesses of a launch that race with earlier work (race_detector.c). On the simulated card they yield poison, whatever
 * the modelled times are. Bit i of a mask: input i (0: a copy's source); FY_RACE_OUT: the output. own: accesses of this
 * launch; earlier: those of earlier launches, by id, which may not have been executed yet. */
enum { FY_RACE_OUT = 1 << 7, FY_MOST_RACES = 8 };
typedef struct fy_races {
    uint8_t own;
    uint8_t n;
    struct {
        uint32_t id;
        uint8_t bits;
        uint8_t item; /* of the earlier work's list; 0 if it has none */
    } earlier[FY_MOST_RACES];
} fy_races;

/* Streams are numbered per card: 0 is the default stream, 1 to 32 are the pool, as in PyTorch. */
enum { FY_STREAMS = 33 };

enum { FY_MAX_INPUTS = 4, FY_MAX_SCALARS = 6 }; /* scalars: operands that are numbers, then parameters (op.h) */

/* One launch may compute an elementwise op of many tensors, as PyTorch's _foreach functions do: an item is one of them.
 * All operands of an item have the same shape and strides, without gaps, so each is a run of numel elements. A list has
 * the same scalars for all items. At most FY_MOST_ITEMS, so that their pointers fit into the 4 KiB of a kernel's
 * arguments. */
enum { FY_MOST_ITEMS = 64, FY_ITEM_INPUTS = 3 };
typedef struct fy_item {
    const void *in[FY_ITEM_INPUTS]; /* NULL: a number */
    void *out;
    int64_t numel;
    fy_races races;
    fy_contents contents;
} fy_item;

typedef struct fy_run_work {
    uint32_t id; /* of the work */
    int stream;
    fy_races races;
    fy_contents contents;
    int op; /* index into fy_ops (op.h) */
    int nin;
    fy_dtype dtype;                    /* of the computation; for cast: the operand's */
    int reduced;                       /* number of reduced dimensions of in[0] (op.h) */
    fy_operand in[FY_MAX_INPUTS], out; /* inputs already have the op's dtype */
    fy_item *items; /* NULL: none; else of `in` and `out` only the dtypes are meant, and out's numel */
    int nitems;
    double real[FY_MAX_SCALARS]; /* indexed by FY_ADD_alpha and so on */
    int64_t integer[FY_MAX_SCALARS];
    int64_t flops, bytes;       /* cost, from the op table */
    const char *kernel, *blas;  /* out: kernel or BLAS routine */
    uint32_t grid[3], block[3]; /* out */
    fy_time time;               /* out */
} fy_run_work;

#endif
