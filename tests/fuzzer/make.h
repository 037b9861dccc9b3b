/* make.h: the next step of a random program, chosen by what is alive. */
#ifndef FUZZ_MAKE_H
#define FUZZ_MAKE_H

#include "program.h"

extern chance dice;
extern bool wild; /* this step may be a mistake */

fy_arg any_number(void);
fy_dtype any_dtype(void);
int any_place(void);
/* A slot of a live tensor; NOTHING when there is none. */
int any_slot(void);
int any_dim(int ndim);

/* ---- from nothing ---- */

void add_value(step *s, fy_arg x);
void choose_made(step *s);

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
fy_shape times_of(const fy_tensor *x);
/* Another shape of as many elements. */
fy_shape refold(const fy_tensor *x);
fy_shape shuffled(int n);
fy_shape widened(const fy_tensor *x);

#endif
