/* program.h: what a random program is made of: steps, each one call of the public API, as plain data
 * that can be made again from a seed, run again without some of its steps, and shown. */
#ifndef FUZZ_PROGRAM_H
#define FUZZ_PROGRAM_H

#include "tensor.h"

enum {
    MAX_API_CALLS = 300,
    MAX_STEPS = 20,
    MAX_SLOTS = 2 * MAX_STEPS, /* step i's result, and from MOST_STEPS on its second one (.indices) */
    MAX_ELEMENTS = 300,        /* of a tensor; small ones make many programs a second */
    NUMBER = -1,               /* in place of a slot */
    NO_TENSOR = -2,            /* NULL in place of a tensor */
};

/* How a function is called, and what it wants. */
typedef enum call_kind {
    MAKE,
    FULL,
    RANGE,
    VALUES,
    EYE,
    RANDINT,
    RANDPERM, /* from nothing */
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
    ALONG, /* element by element, over dimensions */
    PRODUCT,
    ADDMM,
    LINEAR,
    CROSS_ENTROPY,
    MSE, /* from several */
    SAME,
    SHAPED,
    DTYPED,
    PAIR,
    DIM,
    NARROW,
    SLICE,
    JOIN,     /* views, and what may be one */
    SPLIT,    /* several views */
    BY_INDEX, /* an index is made for it */
    MASKED,   /* and a mask */
    ORDER,
    TO,
    CUDA,
    COPY,
    NPY,
    FREE,
    ITEM,
    PREDICATE, /* two tensors, for a bool */
    DEVICE,
} call_kind;

/* A public function. */
typedef struct api_call {
    const char *name; /* without fy_ */
    call_kind kind;
    int weight; /* how often it is tried */
    void (*function)(void);
} api_call;

extern const api_call api_calls[];
extern const int api_call_count;

/* Devices as a program may name them; the first three are right. */
enum { VALID_DEVICE_NAMES = 3, DEVICE_NAMES = 14 };
extern const char *const device_names[DEVICE_NAMES];

enum { DTYPES = 8 };
extern const fy_dtype dtypes[DTYPES];

typedef struct step {
    int call_index, n;
    int in[3];       /* slots, NUMBER or NOTHING */
    fy_arg number;   /* the operand that is one */
    fy_arg value[3]; /* alpha; the value; a range; beta and alpha */
    int values;
    fy_shape shape; /* or dimensions */
    int64_t at[4];
    fy_dtype dtype; /* an option, or a target */
    int device;     /* likewise: index into places; -1: not said */
    int reduction;
    bool keepdim, biased, indices, copy, non_blocking, descending;
    bool dropped; /* left out when a failing program is made shorter */
} step;

typedef struct program {
    uint64_t seed;
    bool careful, scoped; /* without deliberate mistakes; inside one FY_SCOPE */
    int n, planned;       /* steps so far, and how many there shall be */
    step steps[MAX_STEPS];
    int ready; /* steps[n] to steps[ready - 1] were decided together with an earlier one */
} program;

/* ---- chance ---- */

typedef struct rng_state {
    uint64_t state;
} rng_state;

uint64_t rng_next(rng_state *r);
int64_t rng_below(rng_state *r, int64_t n);
int64_t rng_between(rng_state *r, int64_t low, int64_t high);
bool rng_percent(rng_state *r, int n);

/* ---- what a step is ---- */

const api_call *call_of(const step *s);
bool is_named(const step *s, const char *name);
bool is_in_place(const step *s);
/* The op that a step is named after; -1 if it is not named after one. */
int op_of(const step *s);
/* Values that two devices draw differently. */
bool is_random(const step *s);
bool is_unset(const step *s);

#endif
