/* make.h: the next step of a random program, chosen by what is alive. */
#ifndef FUZZ_MAKE_H
#define FUZZ_MAKE_H

#include "program.h"

extern rng_state rng;
extern bool may_fail; /* this step may be a mistake */

fy_arg random_number(void);
fy_dtype random_dtype(void);
int random_device(void);
/* A slot of a live tensor; NOTHING when there is none. */
int random_slot(void);
int random_dim(int ndim);

/* ---- from nothing ---- */

void add_value(step *s, fy_arg x);
void choose_factory(step *s);

/* ---- from others: the second operand is made to fit by a step before ---- */

void plan_step(program *p, step s);
/* Steps that make the other operands, and the product. False when nothing fits. */
bool choose_product(program *p, step s);
bool choose_cross_entropy(program *p, step s);
/* Steps that make the index, and what is scattered. False when nothing fits. */
bool choose_by_index(program *p, step s);
/* A step that makes the mask, of bytes, for the first dimensions of x or for the last. */
bool choose_masked(program *p, step s);
/* Classes first, one of them perhaps too large. */
bool choose_one_hot(program *p, step s);

/* ---- shapes ---- */

/* How often each dimension is repeated. */
fy_shape random_repeat(const fy_tensor *x);
/* Another shape of as many elements. */
fy_shape random_reshape(const fy_tensor *x);
fy_shape random_permutation(int n);
fy_shape random_expand(const fy_tensor *x);

#endif
