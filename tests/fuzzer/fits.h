/* fits.h: will a step work? Asked before it is made, so that most programs run to their end. It may say
 * no too often; when it says yes and the call fails, the program has merely met a mistake. */
#ifndef FUZZ_FITS_H
#define FUZZ_FITS_H

#include "program.h"

/* Operand i on the CPU: its shape, dtype and values are those of the card's. */
fy_tensor *host_operand(const step *s, int i);
/* Must the step fail in the program as written because of where its operands live? */
bool has_device_conflict(const step *s);
bool has_shape_of(const fy_tensor *x, const fy_shape *s);
bool is_writable(const fy_tensor *x);
/* Element i of a tensor of the first world, row by row. */
const unsigned char *element_of(const fy_tensor *x, int64_t i);
bool is_mask(const step *s, int i);
bool fits(const step *s);

#endif
