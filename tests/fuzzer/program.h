/* program.h: a random program as plain data: steps that are calls of the public API. It can be made again from its
 * seed, run without some of its steps, and printed. */
#ifndef FUZZ_PROGRAM_H
#define FUZZ_PROGRAM_H

#include "tensor.h"

enum {
    MAX_API_CALLS = 300,
    MAX_STEPS = 20,
    MAX_SLOTS = 2 * MAX_STEPS, /* step i's result; from MAX_STEPS on its second result (.indices) */
    MAX_ELEMENTS = 300,        /* per tensor; small tensors allow many programs per second */
    NUMBER = -1,               /* instead of a slot */
    NO_TENSOR = -2,            /* NULL as operand */
};

/* The signature and operands of a function. */
typedef enum call_kind {
    MAKE,
    FULL,
    RANGE,
    VALUES,
    EYE,
    RANDINT,
    RANDPERM, /* factories */
    ONE,
    CLOSE,
    TRIANGLE,
    ONE_HOT,
    TWO,
    THREE,
    ALPHA,
    VALUE,
    MASK_FILL,
    FILL,
    REDUCE,
    ALONG, /* elementwise and reductions */
    PRODUCT,
    ADDMM,
    LINEAR,
    CROSS_ENTROPY,
    MSE, /* products and losses */
    SAME,
    SHAPED,
    DTYPED,
    PAIR,
    DIM,
    NARROW,
    SLICE,
    JOIN,     /* views, or functions that may return one */
    SPLIT,    /* returns several views */
    BY_INDEX, /* takes an index */
    MASKED,   /* takes a mask */
    DRAW,     /* random values in place, between or around two numbers */
    CHANCE,   /* takes a probability */
    LAYER_NORM,
    ORDER,
    TO,
    CUDA,
    COPY,
    NPY,
    FREE,
    ITEM,
    PREDICATE, /* two tensors to bool */
    DEVICE,
} call_kind;

/* A public function, as an entry of the call table. */
typedef struct api_call {
    const char *name; /* without the fy_ prefix */
    call_kind kind;
    int weight; /* relative frequency */
    void (*function)(void);
} api_call;

extern const api_call api_calls[];
extern const int api_call_count;

/* Device strings; the first three are valid. */
enum { VALID_DEVICE_NAMES = 3, DEVICE_NAMES = 14 };
extern const char *const device_names[DEVICE_NAMES];

enum { DTYPES = 8 };
extern const fy_dtype dtypes[DTYPES];

typedef struct step {
    int call_index, n;
    int in[3];       /* slots, NUMBER or NO_TENSOR; layer_norm: x, weight and bias */
    fy_arg number;   /* the operand whose slot is NUMBER */
    fy_arg value[3]; /* alpha; the value; start, end, step; beta and alpha; low and high; p; eps */
    int values;
    fy_shape shape; /* or a list of dimensions */
    int64_t at[4];
    fy_dtype dtype; /* an option, or a target */
    int device;     /* an option, or a target: index into device_names; -1: none */
    int reduction;
    bool keepdim, biased, indices, copy, non_blocking, descending;
    bool dropped; /* omitted while minimizing a failing program */
} step;

typedef struct program {
    uint64_t seed;
    bool careful, scoped; /* no invalid steps on purpose; all steps inside one FY_SCOPE */
    int n, planned;       /* steps so far, and their final number */
    step steps[MAX_STEPS];
    int ready; /* steps[n] to steps[ready - 1] were planned together with an earlier one */
} program;

/* ---- chance ---- */

typedef struct rng_state {
    uint64_t state;
} rng_state;

uint64_t rng_next(rng_state *r);
int64_t rng_below(rng_state *r, int64_t n);
int64_t rng_between(rng_state *r, int64_t low, int64_t high);
bool rng_percent(rng_state *r, int n);

/* ---- properties of a step ---- */

const api_call *call_of(const step *s);
bool is_named(const step *s, const char *name);
bool is_in_place(const step *s);
/* The op of the same name; -1: none. */
int op_of(const step *s);
/* Does each device generate different values? */
bool is_random(const step *s);
/* May operand i be missing? */
bool is_optional(const step *s, int i);
bool is_unset(const step *s);

#endif
