/* fix_dtypes.c: Python's and C's type names, which beginners write for a dtype, and Ferry's names for them. */
#include <stdio.h>
#include <string.h>

#include "diagnostic.h"

/* A beginner's int is Python's int, of any size: int64. */
static const char *const words[][2] = {
    {"float32", "FY_FLOAT32"}, {"float", "FY_FLOAT32"},     {"FY_FLOAT", "FY_FLOAT32"}, {"float64", "FY_FLOAT64"},
    {"double", "FY_FLOAT64"},  {"FY_DOUBLE", "FY_FLOAT64"}, {"float16", "FY_FLOAT16"},  {"half", "FY_FLOAT16"},
    {"FY_HALF", "FY_FLOAT16"}, {"bfloat16", "FY_BFLOAT16"}, {"int64", "FY_INT64"},      {"int64_t", "FY_INT64"},
    {"long", "FY_INT64"},      {"FY_LONG", "FY_INT64"},     {"int", "FY_INT64"},        {"FY_INT", "FY_INT64"},
    {"int32", "FY_INT32"},     {"int32_t", "FY_INT32"},     {"uint8", "FY_UINT8"},      {"uint8_t", "FY_UINT8"},
    {"char", "FY_UINT8"},      {"unsigned", "FY_UINT8"},    {"FY_BYTE", "FY_UINT8"},    {"bool", "FY_BOOL"},
    {"_Bool", "FY_BOOL"},
};

const char *dtype_alias(const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i][0], word)) return words[i][1];
    return NULL;
}

/* .dtype = double, fy_to(x, float) */
bool fix_c_type(const diagnostic *c, diagnosis *d)
{
    char word[32] = "";
    const char *option = strstr(c->here, ".dtype");
    if (option) word_after(option + 6 + strspn(option + 6, " ="), word, sizeof word);
    if (!dtype_alias(word)) {
        const char *call = strstr(c->here, "fy_to("), *end = call ? strstr(call, ");") : NULL;
        if (end) word_before(call, end, word, sizeof word);
    }
    const char *dtype = dtype_alias(word);
    if (!dtype) return false;
    SET(message, "'%s' is a C type, not a dtype", word);
    SET(hint, "write %s", dtype);
    return true;
}

/* .dtype = "float16" */
bool fix_dtype_text(const diagnostic *c, diagnosis *d)
{
    char word[32];
    const char *p = strstr(c->here, "dtype"), *text = p ? strchr(p, '"') : NULL;
    if (!text) return false;
    word_after(text + 1, word, sizeof word);
    if (!strcmp(word, "torch") && text[6] == '.') word_after(text + 7, word, sizeof word);
    const char *dtype = dtype_alias(word);
    SET(message, "a dtype is not a string");
    SET(hint, "write %s", dtype ? dtype : "FY_INT64 or FY_FLOAT32");
    return true;
}

/* torch.float16, np.int32 */
bool fix_python_dtype(const diagnostic *c, diagnosis *d)
{
    char word[32];
    for (const char *p = c->here; (p = strchr(p, '.')); p++) {
        word_after(p + 1, word, sizeof word);
        const char *dtype = dtype_alias(word);
        if (!dtype || p < c->here + 2 || (strncmp(p - 2, "np", 2) && (p < c->here + 5 || strncmp(p - 5, "torch", 5))))
            continue;
        SET(message, "'%s.%s' is Python's name for this dtype", p[-1] == 'p' ? "np" : "torch", word);
        SET(hint, "write %s", dtype);
        return true;
    }
    return false;
}

/* The bare name float64. */
bool fix_dtype_name(const char *name, diagnosis *d)
{
    const char *dtype = dtype_alias(name);
    if (!dtype) return false;
    SET(message, strncmp(name, "FY_", 3) ? "'%s' is Python's name for this dtype" : "there is no dtype '%s'", name);
    SET(hint, "write %s", dtype);
    return true;
}
