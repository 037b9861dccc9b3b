/* oracle.h: what the files of build/tests/oracle share: a case as it was read, its names, and an op's call.
 * The program runs what PyTorch ran, through ferry.h alone, and holds the answers against PyTorch's. */
#ifndef ORACLE_H
#define ORACLE_H

#include <cjson/cJSON.h>
#include "ferry.h"

/* What a name stands for. */
typedef struct value {
    enum { NOTHING, TENSOR, BOOL, NUMBER, DTYPE } kind;
    fy_tensor *tensor;
    bool boolean;
    double number;
    fy_dtype dtype;
} value;

typedef struct named {
    const char *text;
    value v;
} named;

typedef struct program {
    const cJSON *json; /* numbers in it are strings that begin with '#': a double would lose long integers */
    bool on_card;      /* inputs and new tensors live there */
    named names[64];
    int n;
    char complaint[8192]; /* what is not as expected */
} program;

/* One step of a program. */
typedef struct call {
    program *p;
    const cJSON *operands, *args;
    value second; /* of a call with two results */
    int parts;    /* of a call with as many results as it makes */
    value part[FY_MOST_PARTS];
} call;

typedef struct oracle_op {
    const char *name;
    const char *args;      /* those that it knows, each between blanks */
    value (*run)(call *c); /* NULL: waits for a part of Ferry that is not there yet */
} oracle_op;

/* oracle_case.c: reading */
cJSON *read_case(const char *line);
bool is_number(const cJSON *j);
double real_of(const cJSON *j);     /* a number, or "nan", "inf", "-0" ... */
int64_t integer_of(const cJSON *j); /* all 64 bits of it */
fy_arg arg_of(const cJSON *j);      /* a literal: what C's 2, 2.0 and true are */
fy_dtype dtype_of(const char *name);
const char *name_of_dtype(fy_dtype dtype);
fy_shape shape_of(const cJSON *list);
size_t size_of(fy_dtype dtype);
void put_element(void *data, int64_t i, fy_dtype dtype, const cJSON *j); /* rounded once, to nearest even */
fy_tensor *make_input(const program *p, const cJSON *tensor);

/* oracle_ops.c: the table */
const oracle_op *find_op(const char *name);

/* oracle_compare.c: judging */
void complain(program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void compare_value(program *p, const char *of, const cJSON *expected, value got);
const char *error_message(void);       /* the error's message */
bool is_same_error(const char *torch); /* does it name the same condition? */

#endif
