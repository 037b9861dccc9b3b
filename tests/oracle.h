/* oracle.h: shared by the files of build/tests/oracle: a parsed case, its variables, and a call of an op. The program
 * runs what PyTorch ran, through ferry.h alone, and compares the results with PyTorch's. */
#ifndef ORACLE_H
#define ORACLE_H

#include <cjson/cJSON.h>
#include "ferry.h"

/* The value of a variable. */
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
    const cJSON *json; /* its numbers are strings that begin with '#': a double cannot hold every int64 */
    bool on_card;      /* inputs and new tensors are on the card */
    named names[64];
    int n;
    char complaint[8192]; /* the differences from the expected results */
} program;

/* One step of a program. */
typedef struct call {
    program *p;
    const cJSON *operands, *args;
    value second; /* of calls with two results */
    int parts;    /* number of results of calls that return a list */
    value part[FY_MOST_PARTS];
} call;

typedef struct oracle_op {
    const char *name;
    const char *args; /* the known arguments, each between blanks */
    value (*run)(call *c);
} oracle_op;

/* oracle_case.c: reading */
cJSON *read_case(const char *line);
bool is_number(const cJSON *j);
double real_of(const cJSON *j);     /* a number, or "nan", "inf", "-0" ... */
int64_t integer_of(const cJSON *j); /* all 64 bits */
fy_arg arg_of(const cJSON *j);      /* converted like the C literals 2, 2.0 and true */
fy_dtype dtype_of(const char *name);
const char *name_of_dtype(fy_dtype dtype);
fy_shape shape_of(const cJSON *list);
size_t size_of(fy_dtype dtype);
void put_element(void *data, int64_t i, fy_dtype dtype, const cJSON *j); /* rounded once, to nearest even */
fy_tensor *make_input(const program *p, const cJSON *tensor);

/* oracle_ops.c: the table */
const oracle_op *find_op(const char *name);

/* oracle_training.c: optimizers. The parameter x[0] after a step with each of the gradients x[1] ... x[steps]; NULL
 * after an error, or if .foreach gives other bytes. */
typedef fy_optimizer *(*optimizer_of)(const cJSON *args, fy_trained what, bool foreach);
fy_optimizer *sgd_of(const cJSON *args, fy_trained what, bool foreach);
fy_optimizer *adam_of(const cJSON *args, fy_trained what, bool foreach);
fy_optimizer *adamw_of(const cJSON *args, fy_trained what, bool foreach);
fy_tensor *train_both(const cJSON *args, optimizer_of make, size_t steps, fy_tensor *const *x);

/* oracle_compare.c: comparing */
void complain(program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void compare_value(program *p, const char *of, const cJSON *expected, value got);
const char *error_message(void);       /* of Ferry's last error */
bool is_same_error(const char *torch); /* does Ferry's error describe the same condition? */

#endif
