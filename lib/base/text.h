/* text.h: growing text, JSON strings and numbers. */
#ifndef FERRY_TEXT_H
#define FERRY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialize it; the owner frees text.data. */
typedef struct fy_text {
    char *data;
    size_t size, room;
    bool lost; /* out of memory: the text is incomplete */
} fy_text;

void fy_text_add(fy_text *t, const char *s, size_t n);
void fy_text_printf(fy_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fy_text_json(fy_text *t, const char *s, size_t n); /* quoted and escaped; invalid UTF-8 becomes U+FFFD */
void fy_text_utf8(fy_text *t, const char *s, size_t n); /* unquoted; invalid UTF-8 becomes U+FFFD */
void fy_text_str(fy_text *t, const char *s);            /* verbatim */
void fy_text_int(fy_text *t, int64_t value);
void fy_text_real(fy_text *t, double value); /* shortest that round-trips; "nan", "inf", "-inf" as strings */

bool fy_utf8_is_valid(const char *s, size_t n);

/* Is it one well-formed JSON value on one line? Untrusted JSON is copied into a line only if so. (json.c) */
bool fy_json_is_well_formed(const char *s, size_t n);

#endif
