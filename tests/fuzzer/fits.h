/* fits.h: predicts whether a step will succeed, so that most programs run without a failure. May be false for steps
 * that would succeed; a step that fails despite true is only a failing call. */
#ifndef FUZZ_FITS_H
#define FUZZ_FITS_H

#include "program.h"

/* Operand i in the host world; the card world's has the same shape, dtype and values. */
fy_tensor *host_operand(const step *s, int i);
/* Must the step fail in the card world because its operands are on different devices? */
bool has_device_conflict(const step *s);
bool has_shape_of(const fy_tensor *x, const fy_shape *s);
bool is_writable(const fy_tensor *x);
/* Where element i, row-major, is in x's storage, counted in elements. */
int64_t place_of(const fy_tensor *x, int64_t i);
/* Element i, row-major, of a tensor of the host world. */
const unsigned char *element_of(const fy_tensor *x, int64_t i);
bool is_mask(const step *s, int i);
bool fits(const step *s);

#endif
