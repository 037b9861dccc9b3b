/* error.h: error reports. Each call emits an `error` event, prints a report (call site, source line, arguments,
 * message, fix), and exits or returns NULL, as fy_on_error (ferry.h) says.
 *
 * code: as in the schema; format: PyTorch's message with the actual values; hint: the fix. Per thread. */
#ifndef FERRY_ERROR_H
#define FERRY_ERROR_H

#include <stdarg.h>

#include "ferry.h"

/* All return NULL. */
void *fy_fail(fy_site *at, const char *code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* For work that failed after its call returned: cause is the seq of its event, plus 1, or 0; given: details. */
void *fy_fail_caused(fy_site *at, uint64_t cause, const char *code, const char *hint, const char *given,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Argument i is NULL; kind: "tensor", "stream" or "event". Silent under FY_RETURN, where NULL propagates. */
void *fy_fail_null(fy_site *at, int i, const char *kind);
/* What an error is about. */
typedef struct fy_concern {
    uint64_t cause;       /* seq of the event whose work failed, plus 1; or 0 */
    const char *given;    /* a description of the arguments; or NULL */
    uint32_t operands[8]; /* ids of tensors: the first ones of `count` */
    size_t count;
} fy_concern;
void *fy_report(fy_site *at, const fy_concern *about, const char *code, const char *hint, const char *format,
                va_list list); /* used by the others */
/* An error that another thread had, and that its `error` event tells: prints the text and exits, or returns NULL. */
void *fy_error_pass_on(const char *text);
fy_on_error_mode fy_error_mode(void); /* this thread's */
uint64_t fy_error_count(void);        /* how many errors this thread has had */
/* Prints a warning about the call on stderr, once per call site. format: without a newline at its end. */
void fy_advise(fy_site *at, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Where an error would end the program, `caught` is called first, and may leave by longjmp; no lock is held. NULL: ends
 * the program. This thread only. */
typedef void (*fy_caught)(void);
fy_caught fy_error_catch(fy_caught caught); /* returns the one before */
/* " on line 14", or " at other.c:14" seen from another file; "" of NULL. */
const char *fy_line_text(const fy_site *at, const fy_site *seen_from, char *buf, size_t room);
/* The i-th argument as written, or "argument 2"; FY_IN_LIST + i: the i-th of a list in parentheses that is the first
 * argument. */
enum { FY_IN_LIST = 1 << 16 };
const char *fy_argument(const fy_site *at, int i, char *buf, size_t room);
/* Formats a hint; valid until the thread's next call. */
const char *fy_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
