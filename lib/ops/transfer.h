/* transfer.h: copies of tensors between memories and dtypes, and to the host. */
#ifndef FERRY_TRANSFER_H
#define FERRY_TRANSFER_H

#include "contents.h"
#include "device.h"
#include "event.h"
#include "tensor.h"

/* transfer.c: copies all elements into a tensor with the same geometry in another memory. Both dense and not empty;
 * false after an error. */
typedef struct fy_transfer_opts {
    bool async;
    fy_word cast; /* the side that converts the dtype: FY_WORD_source, FY_WORD_destination or FY_WORD_none */
    fy_word why;  /* user, op ...; policy: implicit, under FERRY_POLICY=silent */
} fy_transfer_opts;
bool fy_transfer(fy_site *at, const fy_tensor *src, fy_tensor *dst, const fy_transfer_opts *o);
/* Copies `bytes` bytes of GPU memory, from x's first element on, to the host. */
bool fy_fetch(fy_site *at, const fy_tensor *x, void *to, size_t bytes, fy_word why);

/* move.c; all NULL or false after an error */
fy_tensor *fy_copy_to(
    fy_site *at, fy_tensor *x, fy_dev *to, fy_dtype dtype, const fy_transfer_opts *o,
    const char *name); /* o->cast is ignored; name NULL: a copy that the user asked for is named after its variable */
fy_tensor *fy_compact(fy_site *at, fy_tensor *x);
/* The dtype of the transfer: `new` if the source converts, else `old`. */
fy_dtype fy_transfer_dtype(const fy_dev *from, const fy_dev *to, fy_dtype old, fy_dtype new, bool async);
/* Copies src's values, broadcast and converted, into dst on the same device. */
bool fy_write_into(fy_site *at, fy_tensor *dst, fy_tensor *src);

/* to_host.c */
/* All elements on the host, row-major, in x's dtype; the caller frees them. why: print or item, which the log shows;
 * answer: nothing is recorded. NULL after an error. */
void *fy_copy_to_host(fy_site *at, fy_tensor *x, fy_word why);
bool fy_take_item(fy_site *at, fy_tensor *x, fy_arg *value);    /* like fy_item: emits a host read */
bool fy_take_number(fy_site *at, fy_tensor *x, fy_arg *number); /* x has one element; emits no host read */
enum { FY_WHOLE_ANSWER = 65536 };                               /* elements of an answer that its values event holds */
/* elements: all of x, on the host and row-major. */
void fy_emit_values(fy_site *at, const fy_tensor *x, const void *elements, int64_t limit);
/* For the event of what version `version` of x's bytes holds. */
fy_contents fy_contents_of(fy_site *at, const fy_tensor *x, uint32_t version);
void fy_emit_read(fy_site *at, const fy_tensor *x, fy_word via);
void fy_emit_write(fy_site *at, const fy_tensor *x, fy_word via); /* a new version */

#endif
