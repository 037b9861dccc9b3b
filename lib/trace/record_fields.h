/* record_fields.h: the schema as tables: each kind's fields, their types and offsets. Code that formats or parses
 * records uses them, so that a new field needs no code there. */
#ifndef FERRY_RECORD_FIELDS_H
#define FERRY_RECORD_FIELDS_H

#include <stddef.h>

#include "event.h"

/* clang-format off */
#define FY_TYPES(T) \
    T(INT) T(OPT) T(ID) T(SEQ) T(BOOL) T(FLAG) T(ADDR) T(REAL) T(DEV) T(ENUM) T(STR) T(DIMS) T(IDS) T(NUMS) \
    T(REFS) T(JSON) T(DIM3) T(SIDE)
/* clang-format on */

typedef enum fy_type {
#define T(type) FY_TYPE_##type,
    FY_TYPES(T)
#undef T
} fy_type;

typedef struct fy_field {
    const char *name, *type_name, *doc;
    fy_type type;
    size_t offset;
} fy_field;

const fy_field *fy_kind_fields(unsigned kind); /* ends with a NULL name; NULL if there is no such kind */
const char *fy_kind_name(unsigned kind);       /* likewise */
const char *fy_kind_doc(unsigned kind);        /* likewise */
const char *fy_word_name(unsigned word);       /* likewise */
bool fy_type_refers(fy_type type);             /* is it an fy_ref: STR, JSON, a list? */
size_t fy_element_size(fy_type type);          /* bytes per element of DIMS, IDS, NUMS, REFS; else 1 */

#endif
