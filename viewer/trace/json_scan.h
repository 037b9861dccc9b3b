/* json_scan.h: reads values from JSON text in place, without building a tree.
 *
 * The text must have passed fy_json_is_well_formed (text.h): the grammar is not checked again. */
#ifndef FERRY_JSON_SCAN_H
#define FERRY_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value's bytes in the text. The first byte is its type: one of { [ " t f n, or a number's. */
typedef struct json {
    const char *at;
    size_t size; /* 0: no value */
} json;

json json_of(const char *text, size_t size); /* without surrounding whitespace */
static inline char json_type(json v) { return v.size ? *v.at : 0; }
static inline bool json_is_number(json v)
{
    return json_type(v) == '-' || (json_type(v) >= '0' && json_type(v) <= '9');
}

/* Iterates over an object or a list: initialize rest with it; key may be NULL. false: no more items. */
bool json_next(json *rest, json *key, json *item);
json json_member(json object, const char *name); /* the first of that name; size 0: none */
size_t json_count(json list);
bool json_is(json string, const char *text); /* a string of exactly these characters, written without escapes? */

/* Decodes a string into a buffer of string.size bytes. false: an unpaired surrogate. */
bool json_unescape(json string, char *to, size_t *size);
bool json_has_escapes(json string);
double json_number(json number); /* infinite beyond a double's range */

#endif
