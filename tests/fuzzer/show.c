/* show.c: see show.h. */
#include <stdarg.h>

#include "show.h"

typedef struct line {
    char text[1024];
    size_t used;
} line;

__attribute__((format(printf, 2, 3))) static void append(line *l, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (l->used < sizeof l->text)
        l->used += (size_t)vsnprintf(l->text + l->used, sizeof l->text - l->used, format, list);
    va_end(list);
}

static void append_number(line *l, fy_arg x)
{
    if (x.is_int) append(l, "%lld", (long long)x.integer);
    else append(l, x.real == (double)(int64_t)x.real && x.real > -1e9 && x.real < 1e9 ? "%.1f" : "%.17g", x.real);
}

static void append_operand(line *l, const step *s, int i)
{
    if (s->in[i] == NUMBER) append_number(l, s->number);
    else if (s->in[i] == NO_TENSOR) append(l, "NULL");
    else append(l, s->in[i] >= MAX_STEPS ? "i%d" : "t%d", s->in[i] % MAX_STEPS);
}

static void append_shape(line *l, const fy_shape *s)
{
    append(l, "(");
    for (int i = 0; i < s->ndim && i < FY_MAX_DIMS; i++) append(l, i ? ", %lld" : "%lld", (long long)s->dims[i]);
    append(l, s->ndim > FY_MAX_DIMS ? ", 1)" : ")");
}

static void append_values(line *l, const step *s)
{
    append(l, "(");
    for (int i = 0; i < s->values; i++) {
        if (i) append(l, ", ");
        append_number(l, s->value[i]);
    }
    append(l, ")");
}

static const char *dtype_word(fy_dtype d)
{
    static const char *const words[] = {"FY_DTYPE_UNSET", "FY_FLOAT32", "FY_INT64", "FY_FLOAT16", "FY_BFLOAT16",
                                        "FY_FLOAT64",     "FY_INT32",   "FY_UINT8", "FY_BOOL"};
    return (unsigned)d < sizeof words / sizeof *words ? words[d] : "(fy_dtype)99";
}

static void put_device(line *l, int device)
{
    append(l, device_names[device] ? "\"%s\"" : "NULL%s", device_names[device] ? device_names[device] : "");
}

static void append_options(line *l, const step *s)
{
    call_kind k = call_of(s)->kind;
    if (s->keepdim) append(l, ", .keepdim = true");
    if (s->biased) append(l, ", .biased = true");
    if (s->indices) append(l, ", .indices = &i");
    if (k == REDUCE && s->values) append(l, ", .p = %g", s->value[0].real);
    for (int i = 1; k == LAYER_NORM && i < s->n; i++)
        if (!is_optional(s, i)) append(l, i == 1 ? ", .weight = " : ", .bias = "), append_operand(l, s, i);
    if (k == LAYER_NORM && s->values) append(l, ", .eps = %g", s->value[0].real);
    if (s->copy) append(l, ", .copy = true");
    if (k == ORDER && is_named(s, "topk") && !s->descending) append(l, ", .smallest = true");
    if (k == ORDER && !is_named(s, "topk") && s->descending) append(l, ", .descending = true");
    if (s->non_blocking) append(l, ", .non_blocking = true");
    if (k == CROSS_ENTROPY || k == MSE)
        append(l, ", .reduction = %s",
               s->reduction == FY_MEAN  ? "FY_MEAN"
               : s->reduction == FY_SUM ? "FY_SUM"
                                        : "FY_NONE");
    if (k == CROSS_ENTROPY && s->values) append(l, ", .label_smoothing = %g", s->value[0].real);
    if (k == TO || k == DTYPED) return;
    if (s->dtype) append(l, ", .dtype = %s", dtype_word(s->dtype));
    if (k < ONE && s->device >= 0) {
        append(l, ", .device = ");
        put_device(l, s->device);
    }
}

static void append_target(line *l, const step *s)
{
    if (s->n > 1) {
        append(l, ", ");
        append_operand(l, s, 1);
        return;
    }
    if (s->device >= 0) append(l, ", ");
    if (s->device >= 0) put_device(l, s->device);
    if (s->dtype) append(l, s->device >= 0 ? ", .dtype = %s" : ", %s", dtype_word(s->dtype));
}

/* The arguments between the operands and the options. */
static void append_middle(line *l, const step *s)
{
    switch (call_of(s)->kind) {
    case MAKE:
    case EYE:
    case RANDPERM: append_shape(l, &s->shape); break;
    case FULL: append_shape(l, &s->shape), append(l, ", "), append_number(l, s->value[0]); break;
    case RANGE:
    case VALUES: append_values(l, s); break;
    case RANDINT: append_values(l, s), append(l, ", "), append_shape(l, &s->shape); break;
    case ALPHA:
    case VALUE:
    case MASK_FILL:
    case FILL:
    case DRAW:
    case CHANCE:
    case ADDMM:
        for (int i = 0; i < s->values; i++) append(l, ", "), append_number(l, s->value[i]);
        break;
    case REDUCE:
    case LAYER_NORM:
    case SHAPED: append(l, ", "), append_shape(l, &s->shape); break;
    case ALONG:
    case TRIANGLE:
    case ONE_HOT:
    case DIM:
    case BY_INDEX:
    case CUDA: append(l, ", %lld", (long long)s->at[0]); break;
    case PAIR: append(l, ", %lld, %lld", (long long)s->at[0], (long long)s->at[1]); break;
    case SPLIT: append(l, ", %lld, %lld", (long long)s->at[1], (long long)s->at[0]); break;
    case ORDER:
        if (is_named(s, "topk")) append(l, ", %lld", (long long)s->at[1]);
        append(l, ", %lld", (long long)s->at[0]);
        break;
    case NARROW: append(l, ", %lld, %lld, %lld", (long long)s->at[0], (long long)s->at[1], (long long)s->at[2]); break;
    case SLICE:
        append(l, ", %lld, %lld, %lld, %lld", (long long)s->at[0], (long long)s->at[1], (long long)s->at[2],
               (long long)s->at[3]);
        break;
    case JOIN: append(l, "), %lld", (long long)s->at[0]); break;
    case DTYPED: append(l, ", %s", dtype_word(s->dtype)); break;
    case TO: append_target(l, s); break;
    case DEVICE: append(l, "%lld", (long long)s->at[0]); break;
    default: break;
    }
}

void show_step(const program *p, int i, FILE *out)
{
    const step *s = &p->steps[i];
    line l = {.used = 0};
    const char *name = call_of(s)->name;
    append(&l, "t%d = fy_%s(", i, call_of(s)->kind == DTYPED ? "view" : name);
    if (call_of(s)->kind == JOIN) append(&l, "(");
    bool one = call_of(s)->kind == TO || call_of(s)->kind == LAYER_NORM; /* the others are told later */
    for (int k = 0; k < s->n && !(one && k); k++) {
        if (k) append(&l, ", ");
        append_operand(&l, s, k);
    }
    append_middle(&l, s);
    append_options(&l, s);
    fprintf(out, "    %s);\n", l.text);
}
