/* program.h: what a random program is made of: steps, each one call of the public API, as plain data
 * that can be made again from a seed, run again without some of its steps, and shown. */
#ifndef FUZZ_PROGRAM_H
#define FUZZ_PROGRAM_H

#include "tensor.h"

enum {
    MOST_DEEDS = 300,
    MOST_STEPS = 20,
    MOST_SLOTS = 2 * MOST_STEPS, /* step i's result, and from MOST_STEPS on its second one (.indices) */
    MOST_ELEMENTS = 300,         /* of a tensor; small ones make many programs a second */
    NUMBER = -1,                 /* in place of a slot */
    NOTHING = -2,                /* NULL in place of a tensor */
};

/* How a function is called, and what it wants. */
typedef enum deed_kind {
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
    CUT,      /* several views */
    BY_INDEX, /* an index is made for it */
    MASKED,   /* and a mask */
    ORDER,
    TO,
    CUDA,
    COPY,
    NPY,
    FREE,
    ITEM,
    ASK, /* two tensors, for a bool */
    DEVICE,
} deed_kind;

/* A public function. */
typedef struct deed {
    const char *name; /* without fy_ */
    deed_kind kind;
    int weight; /* how often it is tried */
    void (*call)(void);
} deed;

extern const deed deeds[];
extern const int deed_count;

/* Devices as a program may name them; the first three are right. */
enum { RIGHT_PLACES = 3, PLACES = 14 };
extern const char *const places[PLACES];

enum { DTYPES = 8 };
extern const fy_dtype dtypes[DTYPES];

typedef struct step {
    int deed, n;
    int in[3];       /* slots, NUMBER or NOTHING */
    fy_arg number;   /* the operand that is one */
    fy_arg value[3]; /* alpha; the value; a range; beta and alpha */
    int values;
    fy_shape shape; /* or dimensions */
    int64_t at[4];
    fy_dtype dtype; /* an option, or a target */
    int place;      /* likewise: index into places; -1: not said */
    int reduction;
    bool keepdim, biased, indices, copy, non_blocking, descending;
    bool dropped; /* left out when a failing program is made shorter */
} step;

typedef struct program {
    uint64_t seed;
    bool careful, scoped; /* without deliberate mistakes; inside one FY_SCOPE */
    int n, planned;       /* steps so far, and how many there shall be */
    step steps[MOST_STEPS];
    int ready; /* steps[n] to steps[ready - 1] were decided together with an earlier one */
} program;

/* ---- chance ---- */

typedef struct chance {
    uint64_t state;
} chance;

uint64_t draw(chance *r);
int64_t below(chance *r, int64_t n);
int64_t between(chance *r, int64_t low, int64_t high);
bool percent(chance *r, int n);

/* ---- what a step is ---- */

const deed *deed_of(const step *s);
bool is_named(const step *s, const char *name);
bool is_in_place(const step *s);
/* The op that a step is named after; -1 if it is not named after one. */
int op_of(const step *s);
/* Values that two devices draw differently. */
bool is_random(const step *s);
bool is_unset(const step *s);

#endif
