/* record_fields.c: tables generated from schema.h. */
#include "record_fields.h"

/* fields_alloc[], fields_copy[] ...; each ends with a NULL name. */
#define KIND(kind, doc) static const fy_field fields_##kind[] = {
#define FIELD(kind, type, name, doc) {#name, #type, doc, FY_TYPE_##type, offsetof(fy_ev_##kind, name)},
#define END(kind) \
    { \
        NULL, NULL, NULL, FY_TYPE_INT, 0 \
    } \
    } \
    ;
FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END

static const struct kind {
    const char *name, *doc;
    const fy_field *fields;
} kinds[FY_KIND_COUNT] = {
#define KIND(kind, doc) [FY_KIND_##kind] = {#kind, doc, fields_##kind},
#define FIELD(kind, type, name, doc)
#define END(kind)
    FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END
};

static const char *const words[FY_WORD_COUNT] = {
#define W(word) #word,
    FY_WORDS(W)
#undef W
};

const char *fy_word_name(unsigned word) { return word < FY_WORD_COUNT ? words[word] : NULL; }
const char *fy_kind_name(unsigned kind) { return kind < FY_KIND_COUNT ? kinds[kind].name : NULL; }
const char *fy_kind_doc(unsigned kind) { return kind < FY_KIND_COUNT ? kinds[kind].doc : NULL; }
const fy_field *fy_kind_fields(unsigned kind) { return kind < FY_KIND_COUNT ? kinds[kind].fields : NULL; }

bool fy_type_refers(fy_type type) { return type == FY_TYPE_STR || type == FY_TYPE_JSON || fy_element_size(type) > 1; }

size_t fy_element_size(fy_type type)
{
    switch (type) {
    case FY_TYPE_DIMS: return sizeof(int64_t);
    case FY_TYPE_IDS: return sizeof(uint32_t);
    case FY_TYPE_NUMS: return sizeof(double);
    case FY_TYPE_REFS: return sizeof(fy_use);
    default: return 1;
    }
}
