/* lesson_io.c: fy_given and fy_answer, a lesson's inputs and answers. Whoever starts the program describes the inputs
 * in the environment: FERRY_GIVEN lists names, dtypes and sizes, FERRY_SEED seeds the values. */
#include "lesson_io.h"

#include <stdio.h>
#include <stdlib.h>

#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "make.h"
#include "session_hooks.h"
#include "settings.h"
#include "tensor.h"
#include "transfer.h"

/* ---- the list ---- */

/* Entries are separated by blanks; the name ends at the first ':'. */
static const char *skip_blanks(const char *p) { return p + strspn(p, " \t"); }
static size_t entry_length(const char *p) { return strcspn(p, " \t"); }

/* "4x3", or nothing for a 0-dim tensor. */
static bool read_sizes(const char *p, const char *end, fy_shape *shape)
{
    *shape = (fy_shape){0};
    while (p < end) {
        char *next;
        if (*p < '0' || *p > '9' || shape->ndim == FY_MAX_DIMS) return false;
        shape->dims[shape->ndim++] = strtoll(p, &next, 10);
        if (next > end || (next < end && *next != 'x') || next == end - 1) return false;
        p = next < end ? next + 1 : next;
    }
    return true;
}

bool fy_given_spec(const char *spec, const char *name, fy_dtype *dtype, fy_shape *shape)
{
    size_t length = strlen(name);
    for (const char *p = skip_blanks(spec); *p; p = skip_blanks(p + entry_length(p))) {
        const char *end = p + entry_length(p);
        if (strncmp(p, name, length) != 0 || p[length] != ':') continue;
        const char *type = p + length + 1;
        size_t n = strcspn(type, ": \t");
        *dtype = fy_dtype_named(type, n);
        return *dtype != FY_DTYPE_UNSET && type + n < end && read_sizes(type + n + 1, end, shape);
    }
    return false;
}

/* ---- the values ---- */

/* splitmix64 */
static uint64_t splitmix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Exact in every dtype: floats are multiples of 1/64 in [-4, 4), integers -8 to 8. */
void fy_given_values(uint64_t seed, const char *name, fy_dtype dtype, int64_t n, double *out)
{
    uint64_t start = splitmix64(seed);
    for (const char *p = name; *p; p++) start = splitmix64(start ^ (unsigned char)*p);
    start = splitmix64(start ^ (uint64_t)dtype);
    for (int64_t i = 0; i < n; i++) {
        uint64_t r = splitmix64(start + (uint64_t)i) >> 20;
        if (fy_dtype_is_real(dtype)) out[i] = ((double)(r % 512) - 256) / 64;
        else if (dtype == FY_BOOL) out[i] = (double)(r % 2);
        else out[i] = (double)(int64_t)(r % 17) - (dtype == FY_UINT8 ? 0 : 8);
    }
}

/* ---- the calls ---- */

static fy_tensor *fail_unknown(fy_site *at, const char *name, const char *spec)
{
    char names[400] = ""; /* "mat1, mat2" */
    size_t used = 0;
    if (!spec || !*skip_blanks(spec))
        return fy_fail(at, "given", "start the program with `ferry run`, or set FERRY_GIVEN=\"mat1:float32:4x3\"",
                       "there is no input '%.60s': this program was started without inputs", name);
    for (const char *p = skip_blanks(spec); *p && used < sizeof names; p = skip_blanks(p + entry_length(p)))
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "", (int)strcspn(p, ": \t"), p);
    return fy_fail(at, "given", fy_hint("the inputs are: %s", names), "there is no input '%.60s'", name);
}

fy_tensor *fy_given_at(fy_site *at, const char *name)
{
    FY_CALL(at);
    fy_dtype dtype;
    fy_shape shape;
    const char *spec = getenv("FERRY_GIVEN");
    fy_session_start();
    if (!name) return fy_fail(at, "given", "fy_given(\"mat1\")", "the name of an input is NULL");
    if (!spec || !fy_given_spec(spec, name, &dtype, &shape)) return fail_unknown(at, name, spec);
    fy_tensor *x = fy_make_host(at, dtype, &shape, fy_name_intern(name));
    if (!x) return NULL;

    int64_t n = fy_tensor_numel(x);
    double *values = malloc((size_t)(n > 0 ? n : 1) * sizeof *values);
    if (!values) {
        fy_tensor_release(at, x, FY_WORD_free);
        return fy_fail(at, "oom", "ask for smaller inputs", "no memory to make the input '%.60s'", name);
    }
    fy_given_values(fy_session_seed(), name, dtype, n, values);
    for (int64_t i = 0; i < n; i++) fy_number_put(dtype, x->storage->data, i, fy_arg_real(values[i]));
    free(values);

    fy_emit_write(at, x, FY_WORD_given);
    FY_EMIT(at, given, .name = fy_ref_str(name), .tensor = x->id, .storage = x->storage->id, .device = 0);
    fy_emit_values(at, x, x->storage->data, FY_SAMPLE);
    return fy_scope_track(x);
}

/* An answer does not count as a copy by the program: a tensor on a GPU is read without events or ordering. */
void fy_answer_at(fy_site *at, const char *name, fy_tensor *x)
{
    FY_CALL(at);
    fy_session_start();
    if (!name) fy_fail(at, "answer", "fy_answer(\"c\", c)", "the name of an answer is NULL");
    if (!name || !fy_check(at, 1, x)) return;
    void *values = fy_copy_to_host(at, x, FY_WORD_answer);
    if (!values) return;
    FY_EMIT(at, answer, .name = fy_ref_str(name), .tensor = x->id, .storage = x->storage->id,
            .device = (uint8_t)x->storage->dev->number);
    fy_emit_read(at, x, FY_WORD_answer);
    fy_emit_values(at, x, values, FY_WHOLE_ANSWER);
    free(values);
    fy_narrate_flush();
}
