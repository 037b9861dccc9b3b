/* oracle_case.c: parses a case without loss of precision: dtypes, shapes, input tensors. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

/* The line with every number turned into a string that begins with '#'. */
static char *numbers_as_strings(const char *line)
{
    char *out = malloc(4 * strlen(line) + 1), *to = out;
    bool quoted = false;
    for (const char *s = line; *s;) {
        if (*s == '"') quoted = !quoted;
        if (quoted && *s == '\\') *to++ = *s++;
        if (quoted || (*s != '-' && !isdigit((unsigned char)*s))) {
            *to++ = *s++;
            continue;
        }
        *to++ = '"', *to++ = '#';
        while (*s && strchr("+-.eE0123456789", *s)) *to++ = *s++;
        *to++ = '"';
    }
    *to = 0;
    return out;
}

cJSON *read_case(const char *line)
{
    char *text = numbers_as_strings(line);
    cJSON *json = cJSON_Parse(text);
    free(text);
    return json;
}

bool is_number(const cJSON *j) { return cJSON_IsString(j) && j->valuestring[0] == '#'; }

static const char *digits(const cJSON *j)
{
    if (cJSON_IsBool(j)) return cJSON_IsTrue(j) ? "1" : "0";
    if (!cJSON_IsString(j)) return "nan";
    return j->valuestring + is_number(j);
}

double real_of(const cJSON *j) { return strtod(digits(j), NULL); }

int64_t integer_of(const cJSON *j)
{
    const char *text = digits(j);
    return strpbrk(text, ".eEn") ? (int64_t)strtod(text, NULL) : strtoll(text, NULL, 10);
}

fy_arg arg_of(const cJSON *j)
{
    if (cJSON_IsBool(j)) return FY_ARG((bool)cJSON_IsTrue(j));
    return strpbrk(digits(j), ".eEn") ? FY_ARG(real_of(j)) : FY_ARG(integer_of(j));
}

static const struct {
    const char *name;
    fy_dtype dtype;
    size_t size;
} dtypes[] = {
    {"f32", FY_FLOAT32, 4}, {"f64", FY_FLOAT64, 8}, {"f16", FY_FLOAT16, 2}, {"bf16", FY_BFLOAT16, 2},
    {"i64", FY_INT64, 8},   {"i32", FY_INT32, 4},   {"u8", FY_UINT8, 1},    {"bool", FY_BOOL, 1},
};
#define COUNT (sizeof dtypes / sizeof *dtypes)

fy_dtype dtype_of(const char *name)
{
    for (size_t i = 0; name && i < COUNT; i++)
        if (!strcmp(dtypes[i].name, name)) return dtypes[i].dtype;
    return FY_DTYPE_UNSET;
}

const char *name_of_dtype(fy_dtype dtype)
{
    for (size_t i = 0; i < COUNT; i++)
        if (dtypes[i].dtype == dtype) return dtypes[i].name;
    return "none";
}

size_t size_of(fy_dtype dtype)
{
    for (size_t i = 0; i < COUNT; i++)
        if (dtypes[i].dtype == dtype) return dtypes[i].size;
    return 0;
}

/* A single number is a list of one, as for dim. */
fy_shape shape_of(const cJSON *list)
{
    int64_t dims[FY_MAX_DIMS + 1];
    size_t n = 0;
    const cJSON *d;
    if (is_number(list)) dims[n++] = integer_of(list);
    cJSON_ArrayForEach(d, list) if (n <= FY_MAX_DIMS) dims[n++] = integer_of(d);
    return fy_dims(n, dims);
}

/* x rounded to `bits` bits of mantissa and multiples of 2^least, ties to even. */
static double rounded(double x, int bits, int least)
{
    int e;
    if (x == 0 || !isfinite(x)) return x;
    frexp(x, &e);
    e = e - bits > least ? e - bits : least;
    return ldexp(rint(ldexp(x, -e)), e);
}

static uint16_t half_bits(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    int e;
    x = rounded(fabs(x), 11, -24);
    if (isnan(x)) return 0x7e00;
    if (x > 65504) return sign | 0x7c00;
    if (x < ldexp(1, -14)) return sign | (uint16_t)ldexp(x, 24);
    double m = frexp(x, &e);
    return sign | (uint16_t)(((e + 14) << 10) + (int)((2 * m - 1) * 1024));
}

/* After rounding, the lower half of the float is 0; values out of range become infinity in the cast. */
static uint16_t bfloat_bits(double x)
{
    float f = (float)rounded(x, 8, -133);
    uint32_t word;
    if (isnan(x)) return 0x7fc0;
    memcpy(&word, &f, sizeof word);
    return (uint16_t)(word >> 16);
}

void put_element(void *data, int64_t i, fy_dtype dtype, const cJSON *j)
{
    switch (dtype) {
    case FY_DTYPE_UNSET: break;
    case FY_FLOAT32: ((float *)data)[i] = (float)real_of(j); break;
    case FY_FLOAT64: ((double *)data)[i] = real_of(j); break;
    case FY_FLOAT16: ((uint16_t *)data)[i] = half_bits(real_of(j)); break;
    case FY_BFLOAT16: ((uint16_t *)data)[i] = bfloat_bits(real_of(j)); break;
    case FY_INT64: ((int64_t *)data)[i] = integer_of(j); break;
    case FY_INT32: ((int32_t *)data)[i] = (int32_t)integer_of(j); break;
    case FY_UINT8: ((uint8_t *)data)[i] = (uint8_t)integer_of(j); break;
    case FY_BOOL: ((uint8_t *)data)[i] = integer_of(j) != 0; break;
    }
}

static void free_input(void *data, void *context)
{
    (void)context;
    free(data);
}

fy_tensor *make_input(const program *p, const cJSON *tensor)
{
    fy_dtype dtype = dtype_of(cJSON_GetStringValue(cJSON_GetObjectItem(tensor, "dtype")));
    const cJSON *list = cJSON_GetObjectItem(tensor, "data"), *j;
    void *data = malloc((size_t)cJSON_GetArraySize(list) * size_of(dtype) + 1);
    int64_t i = 0;
    cJSON_ArrayForEach(j, list) put_element(data, i++, dtype, j);
    fy_blob_opts o = {.dtype = dtype, .deleter = free_input};
    fy_tensor *x =
        fy_from_blob_at(FY_AT("fy_from_blob", "data"), data, shape_of(cJSON_GetObjectItem(tensor, "shape")), o);
    return cJSON_HasObjectItem(tensor, "device") || p->on_card ? fy_to(x, "cuda") : x;
}
