/* dtype.c: what each element type is called and how large it is. */
#include "tensor.h"

static const struct {
    const char *name, *torch, *c;
    size_t size;
    fy_word word;
} types[] = {
    [FY_DTYPE_UNSET] = {"unset", "Undefined", "void", 0, FY_WORD_none},
    [FY_FLOAT32] = {"float32", "Float", "float", sizeof(float), FY_WORD_float32},
    [FY_INT64] = {"int64", "Long", "long int", sizeof(int64_t), FY_WORD_int64},
};

static unsigned row(fy_dtype d) { return (unsigned)d < sizeof types / sizeof *types ? (unsigned)d : 0; }

size_t fy_dtype_size(fy_dtype d) { return types[row(d)].size; }
const char *fy_dtype_name(fy_dtype d) { return types[row(d)].name; }
const char *fy_dtype_torch(fy_dtype d) { return types[row(d)].torch; }
const char *fy_dtype_c(fy_dtype d) { return types[row(d)].c; }
fy_word fy_dtype_word(fy_dtype d) { return types[row(d)].word; }

bool fy_dtype_ok(fy_site *at, fy_dtype d)
{
    if (row(d) != FY_DTYPE_UNSET) return true;
    fy_fail(at, "dtype", "say FY_FLOAT32 or FY_INT64", "%d is not a dtype", (int)d);
    return false;
}
