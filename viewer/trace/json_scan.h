/* json_scan.h: values in JSON text, found where they stand, without a tree.
 *
 * The text must be one that fy_json_is_well_formed (text.h) has passed: nothing here looks at grammar again. */
#ifndef FERRY_JSON_SCAN_H
#define FERRY_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value as it is written: from its first byte on. *at tells what it is: one of { [ " t f n, or a number's. */
typedef struct json {
    const char *at;
    size_t size; /* 0: there is none */
} json;

json json_of(const char *text, size_t size); /* without the blanks around it */
static inline char json_type(json v) { return v.size ? *v.at : 0; }
static inline bool json_is_number(json v)
{
    return json_type(v) == '-' || (json_type(v) >= '0' && json_type(v) <= '9');
}

/* The items of an object or a list, one after the other. rest begins as that value; key may be NULL. False: no more. */
bool json_next(json *rest, json *key, json *item);
json json_member(json object, const char *name); /* the first of that name; none: size 0 */
size_t json_count(json list);
bool json_is(json string, const char *text); /* a string of exactly these characters, written without escapes? */

/* What a string says, into room for string.size bytes. False: half a surrogate pair says nothing. */
bool json_unescape(json string, char *to, size_t *size);
bool json_has_escapes(json string);
double json_number(json number); /* beyond a double's range: infinite */

#endif
