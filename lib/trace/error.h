/* error.h: mistakes in a call, explained: where, the line, what was given, PyTorch's words, the fix. Each emits an
 * `error` event, prints a report, and exits or returns (fy_on_error of ferry.h).
 *
 * code: a word of the schema; message: PyTorch's words with the real values; hint: the fix. */
#ifndef FERRY_ERROR_H
#define FERRY_ERROR_H

#include <stdarg.h>

#include "ferry.h"

/* All return NULL. */
void *fy_fail(fy_site *at, const char *code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Of work that failed after its call: cause is the seq of its event, plus one, or 0; given: more about it. */
void *fy_fail_caused(fy_site *at, uint64_t cause, const char *code, const char *hint, const char *given,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Argument i is NULL where a tensor, stream or event belongs: silent after FY_RETURN, where NULL passes through. */
void *fy_fail_null(fy_site *at, int i, const char *kind);
void *fy_report(fy_site *at, uint64_t cause, const char *code, const char *hint, const char *given, const char *format,
                va_list list); /* what the others come down to; given: "" or what was passed */
/* " on line 14", or " at other.c:14" seen from another file; "" of NULL. */
const char *fy_line_text(const fy_site *at, const fy_site *seen_from, char *buf, size_t room);
/* The i-th argument as written, or "argument 2". */
const char *fy_argument(const fy_site *at, int i, char *buf, size_t room);
/* A hint put together: valid until the thread's next. */
const char *fy_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
