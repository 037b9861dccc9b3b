/* dtype.c: element types: names, sizes, and reading and writing one element. */
#include "dtype.h"

#include <string.h>

#include "half.h"

typedef enum category { NONE, BOOLEAN, INTEGER, REAL } category;

static const struct {
    const char *name, *torch, *c;
    size_t size;
    category category;
} types[] = {
    [FY_DTYPE_UNSET] = {"unset", "Undefined", "void", 0, NONE},
    [FY_FLOAT32] = {"float32", "Float", "float", sizeof(float), REAL},
    [FY_INT64] = {"int64", "Long", "long int", sizeof(int64_t), INTEGER},
    [FY_FLOAT16] = {"float16", "Half", "c10::Half", sizeof(fy_half), REAL},
    [FY_BFLOAT16] = {"bfloat16", "BFloat16", "c10::BFloat16", sizeof(fy_bfloat), REAL},
    [FY_FLOAT64] = {"float64", "Double", "double", sizeof(double), REAL},
    [FY_INT32] = {"int32", "Int", "int", sizeof(int32_t), INTEGER},
    [FY_UINT8] = {"uint8", "Byte", "unsigned char", sizeof(uint8_t), INTEGER},
    [FY_BOOL] = {"bool", "Bool", "bool", sizeof(bool), BOOLEAN},
};

static unsigned row(fy_dtype d) { return (unsigned)d < sizeof types / sizeof *types ? (unsigned)d : 0; }

size_t fy_dtype_size(fy_dtype d) { return types[row(d)].size; }
const char *fy_dtype_name(fy_dtype d) { return types[row(d)].name; }
const char *fy_dtype_torch(fy_dtype d) { return types[row(d)].torch; }
const char *fy_dtype_c(fy_dtype d) { return types[row(d)].c; }
bool fy_dtype_exists(fy_dtype d) { return row(d) != FY_DTYPE_UNSET; }
bool fy_dtype_is_real(fy_dtype d) { return types[row(d)].category == REAL; }
bool fy_dtype_is_integer(fy_dtype d) { return types[row(d)].category == INTEGER; }
int fy_dtype_category(fy_dtype d) { return (int)types[row(d)].category; }

fy_dtype fy_dtype_named(const char *name, size_t length)
{
    for (unsigned d = 1; d < sizeof types / sizeof *types; d++)
        if (strlen(types[d].name) == length && memcmp(types[d].name, name, length) == 0) return (fy_dtype)d;
    return FY_DTYPE_UNSET;
}

double fy_real_at(fy_dtype d, const void *p, int64_t i)
{
    switch (d) {
    case FY_FLOAT32: return (double)((const float *)p)[i];
    case FY_FLOAT64: return ((const double *)p)[i];
    case FY_FLOAT16: return (double)fy_half_float(((const fy_half *)p)[i]);
    case FY_BFLOAT16: return (double)fy_bfloat_float(((const fy_bfloat *)p)[i]);
    default: return (double)fy_integer_at(d, p, i);
    }
}

int64_t fy_integer_at(fy_dtype d, const void *p, int64_t i)
{
    switch (d) {
    case FY_INT64: return ((const int64_t *)p)[i];
    case FY_INT32: return ((const int32_t *)p)[i];
    case FY_UINT8: return ((const uint8_t *)p)[i];
    case FY_BOOL: return ((const uint8_t *)p)[i] != 0;
    default: return fy_to_int64(fy_real_at(d, p, i));
    }
}

fy_arg fy_number_at(fy_dtype d, const void *p, int64_t i)
{
    return fy_dtype_is_real(d) ? fy_arg_real(fy_real_at(d, p, i)) : fy_arg_int(fy_integer_at(d, p, i));
}

void fy_number_put(fy_dtype d, void *p, int64_t i, fy_arg x)
{
    int64_t integer = x.is_int ? x.integer : fy_to_int64(x.real);
    double real = x.is_int ? (double)x.integer : x.real;
    switch (d) {
    case FY_FLOAT32: ((float *)p)[i] = (float)real; break;
    case FY_FLOAT64: ((double *)p)[i] = real; break;
    case FY_FLOAT16: ((fy_half *)p)[i] = fy_half_of(real); break;
    case FY_BFLOAT16: ((fy_bfloat *)p)[i] = fy_bfloat_of(real); break;
    case FY_INT64: ((int64_t *)p)[i] = integer; break;
    case FY_INT32: ((int32_t *)p)[i] = (int32_t)integer; break;
    case FY_UINT8: ((uint8_t *)p)[i] = (uint8_t)integer; break;
    case FY_BOOL: ((bool *)p)[i] = x.is_int ? x.integer != 0 : x.real != 0; break;
    case FY_DTYPE_UNSET: break;
    }
}
