/* text.h: growing text, numbers in it, JSON strings. */
#ifndef FERRY_TEXT_H
#define FERRY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Growing text. Zero it to start; free(text.data) ends it. */
typedef struct fy_text {
    char *data;
    size_t size, room;
    bool lost; /* there was no memory for part of it: what it holds is not all */
} fy_text;

void fy_text_add(fy_text *t, const char *s, size_t n);
void fy_text_printf(fy_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fy_text_json(fy_text *t, const char *s, size_t n); /* quoted and escaped; bad UTF-8 becomes U+FFFD */
void fy_text_utf8(fy_text *t, const char *s, size_t n); /* bad UTF-8 becomes U+FFFD, likewise */
void fy_text_str(fy_text *t, const char *s);            /* as it is */
void fy_text_int(fy_text *t, int64_t value);
void fy_text_real(fy_text *t, double value); /* shortest that reads back; "nan", "inf", "-inf" as strings */

bool fy_utf8_is_valid(const char *s, size_t n);

/* Is it one well-formed JSON value on one line? Nothing foreign enters a line without this. (json.c) */
bool fy_json_is_well_formed(const char *s, size_t n);

#endif
