/* make.h: random arguments, and steps that need operands made for them. */
#ifndef FUZZ_MAKE_H
#define FUZZ_MAKE_H

#include "program.h"

extern rng_state rng;
extern bool may_fail; /* this step may have invalid arguments */

fy_arg random_number(void);
fy_dtype random_dtype(void);
int random_device(void);
/* A slot of a live tensor; NO_TENSOR if there is none. */
int random_slot(void);
int random_dim(int ndim);

/* ---- factories ---- */

void add_value(step *s, fy_arg x);
void choose_factory(step *s);

/* ---- operands made by earlier steps ---- */

void plan_step(program *p, step s);
/* Plans steps that make the other operands, and the product. False: no operand fits. */
bool choose_product(program *p, step s);
bool choose_cross_entropy(program *p, step s);
/* Plans steps that make the index and the scattered values. False: no operand fits. */
bool choose_by_index(program *p, step s);
/* Plans a step that makes a byte mask for the first or last dimensions of x. */
bool choose_masked(program *p, step s);
/* Plans a step that makes classes; one may be too large. */
bool choose_one_hot(program *p, step s);

/* Plans steps that make weight and bias, perhaps of another shape or dtype. False: no operand fits. */
bool choose_layer_norm(program *p, step s);

/* ---- shapes ---- */

/* Repetitions for each dimension of x. */
fy_shape random_repeat(const fy_tensor *x);
/* Another shape with as many elements. */
fy_shape random_reshape(const fy_tensor *x);
fy_shape random_permutation(int n);
fy_shape random_expand(const fy_tensor *x);

#endif
