/* show.c: see show.h. */
#include <stdarg.h>

#include "show.h"

typedef struct line {
    char text[1024];
    size_t used;
} line;

__attribute__((format(printf, 2, 3))) static void put(line *l, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (l->used < sizeof l->text)
        l->used += (size_t)vsnprintf(l->text + l->used, sizeof l->text - l->used, format, list);
    va_end(list);
}

static void put_number(line *l, fy_arg x)
{
    if (x.is_int) put(l, "%lld", (long long)x.integer);
    else put(l, x.real == (double)(int64_t)x.real && x.real > -1e9 && x.real < 1e9 ? "%.1f" : "%.17g", x.real);
}

static void put_operand(line *l, const step *s, int i)
{
    if (s->in[i] == NUMBER) put_number(l, s->number);
    else if (s->in[i] == NOTHING) put(l, "NULL");
    else put(l, s->in[i] >= MOST_STEPS ? "i%d" : "t%d", s->in[i] % MOST_STEPS);
}

static void put_shape(line *l, const fy_shape *s)
{
    put(l, "(");
    for (int i = 0; i < s->ndim && i < FY_MAX_DIMS; i++) put(l, i ? ", %lld" : "%lld", (long long)s->dims[i]);
    put(l, s->ndim > FY_MAX_DIMS ? ", 1)" : ")");
}

static void put_values(line *l, const step *s)
{
    put(l, "(");
    for (int i = 0; i < s->values; i++) {
        if (i) put(l, ", ");
        put_number(l, s->value[i]);
    }
    put(l, ")");
}

static const char *dtype_word(fy_dtype d)
{
    static const char *const words[] = {"FY_DTYPE_UNSET", "FY_FLOAT32", "FY_INT64", "FY_FLOAT16", "FY_BFLOAT16",
                                        "FY_FLOAT64",     "FY_INT32",   "FY_UINT8", "FY_BOOL"};
    return (unsigned)d < sizeof words / sizeof *words ? words[d] : "(fy_dtype)99";
}

static void put_place(line *l, int place)
{
    put(l, places[place] ? "\"%s\"" : "NULL%s", places[place] ? places[place] : "");
}

static void put_options(line *l, const step *s)
{
    deed_kind k = deed_of(s)->kind;
    if (s->keepdim) put(l, ", .keepdim = true");
    if (s->biased) put(l, ", .biased = true");
    if (s->indices) put(l, ", .indices = &i");
    if (k == REDUCE && s->values) put(l, ", .p = %g", s->value[0].real);
    if (s->copy) put(l, ", .copy = true");
    if (k == ORDER && is_named(s, "topk") && !s->descending) put(l, ", .smallest = true");
    if (k == ORDER && !is_named(s, "topk") && s->descending) put(l, ", .descending = true");
    if (s->non_blocking) put(l, ", .non_blocking = true");
    if (k == CROSS_ENTROPY || k == MSE)
        put(l, ", .reduction = %s",
            s->reduction == FY_MEAN  ? "FY_MEAN"
            : s->reduction == FY_SUM ? "FY_SUM"
                                     : "FY_NONE");
    if (k == CROSS_ENTROPY && s->values) put(l, ", .label_smoothing = %g", s->value[0].real);
    if (k == TO || k == DTYPED) return;
    if (s->dtype) put(l, ", .dtype = %s", dtype_word(s->dtype));
    if (k < ONE && s->place >= 0) {
        put(l, ", .device = ");
        put_place(l, s->place);
    }
}

static void put_target(line *l, const step *s)
{
    if (s->n > 1) {
        put(l, ", ");
        put_operand(l, s, 1);
        return;
    }
    if (s->place >= 0) put(l, ", ");
    if (s->place >= 0) put_place(l, s->place);
    if (s->dtype) put(l, s->place >= 0 ? ", .dtype = %s" : ", %s", dtype_word(s->dtype));
}

/* What stands between the operands and the options. */
static void put_middle(line *l, const step *s)
{
    switch (deed_of(s)->kind) {
    case MAKE:
    case EYE:
    case RANDPERM: put_shape(l, &s->shape); break;
    case FULL: put_shape(l, &s->shape), put(l, ", "), put_number(l, s->value[0]); break;
    case RANGE:
    case VALUES: put_values(l, s); break;
    case RANDINT: put_values(l, s), put(l, ", "), put_shape(l, &s->shape); break;
    case ALPHA:
    case VALUE:
    case MASK_FILL:
    case FILL:
    case ADDMM:
        for (int i = 0; i < s->values; i++) put(l, ", "), put_number(l, s->value[i]);
        break;
    case REDUCE:
    case SHAPED: put(l, ", "), put_shape(l, &s->shape); break;
    case ALONG:
    case TRIANGLE:
    case ONE_HOT:
    case DIM:
    case BY_INDEX:
    case CUDA: put(l, ", %lld", (long long)s->at[0]); break;
    case PAIR: put(l, ", %lld, %lld", (long long)s->at[0], (long long)s->at[1]); break;
    case CUT: put(l, ", %lld, %lld", (long long)s->at[1], (long long)s->at[0]); break;
    case ORDER:
        if (is_named(s, "topk")) put(l, ", %lld", (long long)s->at[1]);
        put(l, ", %lld", (long long)s->at[0]);
        break;
    case NARROW: put(l, ", %lld, %lld, %lld", (long long)s->at[0], (long long)s->at[1], (long long)s->at[2]); break;
    case SLICE:
        put(l, ", %lld, %lld, %lld, %lld", (long long)s->at[0], (long long)s->at[1], (long long)s->at[2],
            (long long)s->at[3]);
        break;
    case JOIN: put(l, "), %lld", (long long)s->at[0]); break;
    case DTYPED: put(l, ", %s", dtype_word(s->dtype)); break;
    case TO: put_target(l, s); break;
    case DEVICE: put(l, "%lld", (long long)s->at[0]); break;
    default: break;
    }
}

void show_step(const program *p, int i, FILE *out)
{
    const step *s = &p->steps[i];
    line l = {.used = 0};
    const char *name = deed_of(s)->name;
    put(&l, "t%d = fy_%s(", i, deed_of(s)->kind == DTYPED ? "view" : name);
    if (deed_of(s)->kind == JOIN) put(&l, "(");
    for (int k = 0; k < s->n && !(deed_of(s)->kind == TO && k); k++) {
        if (k) put(&l, ", ");
        put_operand(&l, s, k);
    }
    put_middle(&l, s);
    put_options(&l, s);
    fprintf(out, "    %s);\n", l.text);
}
