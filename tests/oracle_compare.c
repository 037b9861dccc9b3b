/* oracle_compare.c: compares results with PyTorch's: values exactly or within the case's tolerance; dtype, shape,
 * strides, device; and whether an error describes the same condition. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

void complain(program *p, const char *format, ...)
{
    size_t n = strlen(p->complaint);
    va_list list;
    va_start(list, format);
    if (n) n += (size_t)snprintf(p->complaint + n, sizeof p->complaint - n, "; ");
    if (n < sizeof p->complaint) vsnprintf(p->complaint + n, sizeof p->complaint - n, format, list);
    va_end(list);
}

static const cJSON *item(const cJSON *j, const char *key) { return cJSON_GetObjectItem(j, key); }

/* ---- numbers ---- */

static double half_value(unsigned bits)
{
    double sign = bits & 0x8000 ? -1 : 1, m = bits & 0x3ff;
    int e = (int)(bits >> 10 & 0x1f);
    if (e == 31) return m > 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * ldexp(e > 0 ? m + 1024 : m, (e > 0 ? e : 1) - 25);
}

static double bfloat_value(unsigned bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float f;
    memcpy(&f, &word, sizeof f);
    return (double)f;
}

static double element(const void *data, int64_t i, fy_dtype dtype)
{
    switch (dtype) {
    case FY_FLOAT32: return (double)((const float *)data)[i];
    case FY_FLOAT64: return ((const double *)data)[i];
    case FY_FLOAT16: return half_value(((const uint16_t *)data)[i]);
    case FY_BFLOAT16: return bfloat_value(((const uint16_t *)data)[i]);
    case FY_INT64: return (double)((const int64_t *)data)[i];
    case FY_INT32: return ((const int32_t *)data)[i];
    default: return ((const uint8_t *)data)[i];
    }
}

static bool is_close(double expected, double got, const cJSON *tol)
{
    if (isnan(expected) || isnan(got)) return isnan(expected) && isnan(got);
    if (expected == got) return true;
    return fabs(expected - got) <= real_of(item(tol, "atol")) + real_of(item(tol, "rtol")) * fabs(expected);
}

/* The element's bytes equal the expected value's; all NaNs are equal. */
static bool is_exact(const void *data, int64_t i, fy_dtype dtype, const cJSON *expected)
{
    size_t size = size_of(dtype);
    uint64_t wanted = 0;
    put_element(&wanted, 0, dtype, expected);
    if (isnan(element(data, i, dtype))) return isnan(element(&wanted, 0, dtype));
    return !memcmp(&wanted, (const char *)data + (size_t)i * size, size);
}

static void format_element(char *to, size_t room, double x, fy_dtype dtype, const void *data, int64_t i)
{
    if (dtype == FY_INT64) snprintf(to, room, "%lld", (long long)((const int64_t *)data)[i]);
    else if (size_of(dtype) == 2) snprintf(to, room, "%.9g (%04x)", x, ((const uint16_t *)data)[i]);
    else snprintf(to, room, "%.*g", dtype == FY_FLOAT64 ? 17 : 9, x);
}

/* Offset of element i in row-major order. */
static int64_t place(const fy_tensor *x, int64_t i)
{
    int64_t at = 0;
    for (int d = fy_dim(x) - 1; d >= 0; d--) {
        at += i % fy_size(x, d) * fy_stride(x, d);
        i /= fy_size(x, d);
    }
    return at;
}

static void compare_data(program *p, const char *of, const cJSON *list, fy_tensor *x)
{
    fy_tensor *on_host = fy_cpu(x);
    const void *data = on_host ? fy_data(on_host) : NULL;
    const cJSON *tol = item(p->json, "tol"), *j = list ? list->child : NULL;
    fy_dtype dtype = fy_dtype_of(x);
    for (int64_t i = 0; data && j; i++, j = j->next) {
        int64_t at = place(on_host, i);
        double got = element(data, at, dtype);
        if (tol ? is_close(real_of(j), got, tol) : is_exact(data, at, dtype, j)) continue;
        char text[64];
        format_element(text, sizeof text, got, dtype, data, at);
        complain(p, "%s: element %lld: expected %s, got %s", of, (long long)i,
                 cJSON_IsBool(j) ? cJSON_IsTrue(j) ? "1" : "0" : j->valuestring + is_number(j), text);
        return;
    }
}

/* ---- tensors ---- */

static char *list_text(char *to, size_t room, int n, const int64_t *x)
{
    size_t at = (size_t)snprintf(to, room, "[");
    for (int i = 0; i < n && at < room; i++)
        at += (size_t)snprintf(to + at, room - at, "%s%lld", i ? ", " : "", (long long)x[i]);
    if (at < room) snprintf(to + at, room - at, "]");
    return to;
}

static bool compare_list(program *p, const char *of, const char *what, const cJSON *list, int n, const int64_t *got)
{
    char a[200], b[200];
    fy_shape wanted = shape_of(list);
    if (wanted.ndim == n && !memcmp(wanted.dims, got, (size_t)n * sizeof *got)) return true;
    complain(p, "%s: expected %s %s, got %s", of, what, list_text(a, sizeof a, wanted.ndim, wanted.dims),
             list_text(b, sizeof b, n, got));
    return false;
}

static void compare_tensor(program *p, const char *of, const cJSON *expected, fy_tensor *x)
{
    if (!x) return complain(p, "%s: expected a tensor, got none", of);
    const char *dtype = cJSON_GetStringValue(item(expected, "dtype"));
    int64_t strides[FY_MAX_DIMS];
    fy_shape shape = fy_shape_of(x);
    for (int d = 0; d < shape.ndim; d++) strides[d] = fy_stride(x, d);
    bool same = compare_list(p, of, "shape", item(expected, "shape"), shape.ndim, shape.dims);
    if (item(expected, "strides")) compare_list(p, of, "strides", item(expected, "strides"), shape.ndim, strides);
    if (strcmp(dtype, name_of_dtype(fy_dtype_of(x)))) {
        complain(p, "%s: expected dtype %s, got %s", of, dtype, name_of_dtype(fy_dtype_of(x)));
        same = false;
    }
    if (fy_is_cuda(x) != (p->on_card || item(expected, "device"))) complain(p, "%s: is on %s", of, fy_device(x));
    if (same) compare_data(p, of, item(expected, "data"), x);
}

static void compare_plain(program *p, const char *of, const cJSON *expected, value got)
{
    char text[64] = "nothing";
    bool same = false;
    if (got.kind == BOOL) {
        snprintf(text, sizeof text, "%s", got.boolean ? "true" : "false");
        same = cJSON_IsBool(expected) && cJSON_IsTrue(expected) == got.boolean;
    } else if (got.kind == NUMBER) {
        snprintf(text, sizeof text, "%.17g", got.number);
        same = !cJSON_IsNull(expected) && is_close(real_of(expected), got.number, item(p->json, "tol"));
    } else if (got.kind == DTYPE) {
        snprintf(text, sizeof text, "%s", name_of_dtype(got.dtype));
        same = cJSON_IsString(expected) && !strcmp(expected->valuestring, text);
    } else if (got.kind == NOTHING || !got.tensor) same = cJSON_IsNull(expected);
    if (same) return;
    char *wanted = cJSON_PrintUnformatted(expected);
    complain(p, "%s: expected %s, got %s", of, wanted ? wanted : "?", text);
    free(wanted);
}

void compare_value(program *p, const char *of, const cJSON *expected, value got)
{
    const cJSON *plain = item(expected, "value");
    if (plain) compare_plain(p, of, plain, got);
    else compare_tensor(p, of, expected, got.kind == TENSOR ? got.tensor : NULL);
    if (plain || got.kind != TENSOR || !got.tensor) return;
    bool wanted = cJSON_IsTrue(item(expected, "requires_grad"));
    if (fy_requires_grad(got.tensor) != wanted)
        complain(p, "%s: expected requires_grad %s", of, wanted ? "true" : "false");
}

/* ---- errors ---- */

/* Where Ferry follows a newer PyTorch than 1.13, or uses C's terms: 1.13's phrase, and Ferry's. */
static const struct {
    const char *torch, *ferry;
} other_words[] = {
    {"but found at least two devices, meta and cpu!", "but found at least two devices, cuda:0 and cpu!"},
    {"expected scalar type", "to have the same dtype, but got"},
    {"mat1 and mat2 must have the same dtype", "must have the same dtype, but got"},
    {"mat1 and mat2 must have the same dtype", "to have the same dtype"},
    {"permute(sparse_coo): number of dimensions", "number of dimensions in the tensor input does not match"},
    {"expected sequence of length", "stack expects each tensor to be equal size"}, /* nested lists are stacked */
    {"size mismatch, got ", "size mismatch, got input ("},
    {"expand(torch.", "the number of sizes provided ("},
    {"(while checking arguments for embedding)", "(while checking arguments for embedding)"}, /* torch.cuda. */
    {"slice step cannot be zero", "slice step must be positive"},
    {"+ length (-", "narrow(): length must be non-negative."},
    {"Dimension out of range", "start out of range"},                             /* start of narrow */
    {"Dimension out of range", ": input tensor must have at least 2 dimensions"}, /* tril, triu */
    {"Dimension specified as -2", ": input tensor must have at least 2 dimensions"},
    {"because this dimension is empty", "because this dimension is empty"}, /* 1.13 omits a blank before it */
    {"Integer division with addcdiv is no longer supported", "Integer division with addcdiv is no longer supported"},
    {"only one element tensors can be converted to Python scalars", "elements cannot be converted to Scalar"},
};

/* The message without the source line below it, which is this program's. */
const char *error_message(void)
{
    static char message[4096];
    const char *error = fy_error() ? fy_error() : "", *message_at = strstr(error, ": fy_");
    snprintf(message, sizeof message, "%s", message_at ? message_at + 2 : error);
    message[strcspn(message, "\n")] = 0;
    return message;
}

/* PyTorch's advice at the end of a message names calls of Python; Ferry's hint names those of C. And the literal 1.0 is
 * "1.0" in Python. */
static const char *comparable(const char *torch)
{
    static const char *const advice[] = {" Hint: enable anomaly detection", " Specify retain_graph=True"};
    static char text[4096];
    snprintf(text, sizeof text, "%s", torch);
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
        char *at = strstr(text, advice[i]);
        if (at) *at = 0;
    }
    size_t n = strlen(text);
    if (n > 2 && !strcmp(text + n - 2, ".0")) text[n - 2] = 0;
    return text;
}

/* PyTorch's cases ran on the CPU: of a type it is [torch.FloatTensor [2]], on a card [torch.cuda.FloatTensor [2]]. */
static const char *as_on_cpu(const char *message)
{
    static char text[4096];
    static const char *const types[][2] = {{"[torch.cuda.", "[torch."}, {"[CUDA", "[CPU"}};
    snprintf(text, sizeof text, "%s", message);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *at = strstr(message, types[i][0]);
        if (at)
            snprintf(text, sizeof text, "%.*s%s%s", (int)(at - message), message, types[i][1],
                     at + strlen(types[i][0]));
    }
    return text;
}

bool is_same_error(const char *torch)
{
    if (strstr(as_on_cpu(error_message()), comparable(torch))) return true;
    if (strstr(error_message(), comparable(torch))) return true;
    for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++)
        if (strstr(torch, other_words[i].torch) && strstr(error_message(), other_words[i].ferry)) return true;
    const char *missing = strstr(torch, "not implemented for '");
    return missing && strstr(error_message(), missing);
}
