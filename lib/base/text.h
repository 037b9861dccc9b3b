/* text.h: what text.c has beyond log.h, for the files of lib that print events. */
#ifndef FERRY_TEXT_H
#define FERRY_TEXT_H

#include "log.h"

void fy_text_str(fy_text *t, const char *s); /* as it is */
void fy_text_int(fy_text *t, int64_t value);
void fy_text_real(fy_text *t, double value); /* shortest that reads back; "nan", "inf", "-inf" as strings */

bool fy_utf8_is_valid(const char *s, size_t n);

/* Is it one well-formed JSON value on one line? Nothing foreign enters a line without this. (json.c) */
bool fy_json_is_well_formed(const char *s, size_t n);

#endif
