/* transfer.h: tensors from one memory or type to another, and to the host to be looked at. */
#ifndef FERRY_TRANSFER_H
#define FERRY_TRANSFER_H

#include "device.h"
#include "event.h"
#include "tensor.h"

/* transfer.c: a tensor's elements, dense and at least one, into one that lies alike in another memory; false after
 * an error. */
typedef struct fy_transfer_opts {
    bool async;
    fy_word cast; /* FY_WORD_source, FY_WORD_destination: where the dtype is converted; FY_WORD_none */
    fy_word why;  /* user, op ...; policy: FERRY_POLICY=silent, nobody asked for it */
} fy_transfer_opts;
bool fy_transfer(fy_site *at, const fy_tensor *src, fy_tensor *dst, const fy_transfer_opts *o);
/* Bytes of a card from x's first element on. */
bool fy_fetch(fy_site *at, const fy_tensor *x, void *to, size_t bytes, fy_word why);

/* move.c; all NULL or false after an error */
fy_tensor *fy_copy_to(
    fy_site *at, fy_tensor *x, fy_dev *to, fy_dtype dtype, const fy_transfer_opts *o,
    const char *name); /* `cast` is not looked at; name NULL: what the user asked for is called as its variable */
fy_tensor *fy_compact(fy_site *at, fy_tensor *x);
/* The type in which elements are transferred: the new one, if they are converted before. */
fy_dtype fy_transfer_dtype(const fy_dev *from, const fy_dev *to, fy_dtype old, fy_dtype new, bool async);
/* src's values, broadcast and converted, into dst on the same device. */
bool fy_write_into(fy_site *at, fy_tensor *dst, fy_tensor *src);

/* to_host.c */
/* All elements on the host, row-major, in x's dtype; free() it. why: print or item, which shows in the
 * log; answer: nothing is recorded. NULL after an error. */
void *fy_copy_to_host(fy_site *at, fy_tensor *x, fy_word why);
bool fy_take_item(fy_site *at, fy_tensor *x, fy_arg *value);    /* as fy_item, which is noted as a read */
bool fy_take_number(fy_site *at, fy_tensor *x, fy_arg *number); /* of one element; from a card it is an item */
enum { FY_SAMPLE = 16, FY_WHOLE_ANSWER = 65536 };               /* elements that a values event holds */
void fy_emit_values(fy_site *at, const fy_tensor *x, const void *home, int64_t limit);
void fy_emit_read(fy_site *at, const fy_tensor *x, fy_word via);
void fy_emit_write(fy_site *at, const fy_tensor *x, fy_word via); /* a new version */

#endif
