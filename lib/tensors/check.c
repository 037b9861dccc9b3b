/* check.c: argument checks, and errors that describe the tensor arguments. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "composed.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "shape.h"
#include "tensor.h"

/* The argument that is the tensor's variable comes first: operands are not always in the order of the arguments. */
const char *fy_argument_of(const fy_site *at, int i, const fy_tensor *x, char *buf, size_t room)
{
    if (fy_composed_now.on && x == fy_composed_now.input) return fy_argument(at, 1, buf, room);
    for (int j = 0; x->name && j < 5; j++)
        if (!strcmp(fy_argument(at, j, buf, room), x->name)) return buf;
    if (fy_composed_now.on) return fy_tensor_label(x, buf, room);
    return fy_argument(at, i, buf, room);
}

/* "mat1 is on cuda:0 (4, 3) float32; mat2 ..." */
static void describe(const fy_site *at, int first, int n, fy_tensor *const *x, char *buf, size_t room)
{
    char shape[200], name[200];
    size_t used = 0;
    buf[0] = 0;
    for (int i = 0; i < n && used < room; i++) {
        if (!x[i] || x[i]->magic != FY_ALIVE) continue;
        used += (size_t)snprintf(buf + used, room - used, "%s%s is on %s %s %s", used ? "; " : "",
                                 fy_argument_of(at, first + i, x[i], name, sizeof name), x[i]->storage->dev->name,
                                 fy_shape_text(x[i]->shape, x[i]->ndim, "()", shape, sizeof shape),
                                 fy_dtype_name(x[i]->dtype));
    }
}

static void *fail(fy_site *at, const char *code, const char *hint, int first, int n, fy_tensor *const *x,
                  const char *format, va_list list)
{
    char given[1200];
    fy_concern about = {.given = given};
    describe(at, first, n, x, given, sizeof given);
    for (int i = 0; i < n && about.count < sizeof about.operands / sizeof about.operands[0]; i++)
        if (x[i] && (x[i]->magic == FY_ALIVE || x[i]->magic == FY_FREED)) about.operands[about.count++] = x[i]->id;
    return fy_report(at, &about, code, hint, format, list);
}

void *fy_fail_about(fy_site *at, const char *code, const char *hint, int n, fy_tensor *const *x, const char *format,
                    ...)
{
    va_list list;
    va_start(list, format);
    fail(at, code, hint, 0, n, x, format, list);
    va_end(list);
    return NULL;
}

void *fy_fail_listed(fy_site *at, const char *code, const char *hint, int first, int n, fy_tensor *const *x,
                     const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fail(at, code, hint, FY_IN_LIST + first, n, x, format, list);
    va_end(list);
    return NULL;
}

bool fy_dtype_ok(fy_site *at, fy_dtype d)
{
    if (fy_dtype_exists(d)) return true;
    fy_fail(at, "dtype", "pass FY_FLOAT32, FY_INT64 or another dtype of ferry.h", "%d is not a dtype", (int)d);
    return false;
}

static void fail_freed(fy_site *at, const char *name, const fy_tensor *x)
{
    char label[80], alias[84] = "", where[300];
    bool by_scope = x->freed_by == FY_WORD_scope;
    fy_tensor_label(x, label, sizeof label);
    if (strcmp(label, name) != 0) snprintf(alias, sizeof alias, " (%s)", label);
    fy_line_text(x->freed, at, where, sizeof where);

    if (x->before) /* the slot was reused: x->freed describes its last tensor, which may not be the one meant */
        fy_fail(at, "use_after_free",
                fy_hint("free %s once, after its last use, or move it to the outer scope with fy_keep", name),
                "%s was already freed. Its handle has been reused since, so the line is not certain: the last tensor "
                "there was %s, freed %s%s",
                name, label, by_scope ? "at the end of its FY_SCOPE" : "by fy_free", where);
    else if (by_scope)
        fy_fail_about(
            at, "use_after_free",
            fy_hint(
                "move it to the outer scope with fy_keep(%s), or use it inside; or fy_set(&%s, ...), if each iteration "
                "of a loop assigns a new tensor",
                name, name),
            1, (fy_tensor *[]){(fy_tensor *)x}, "%s%s was freed at the end of its FY_SCOPE%s", name, alias, where);
    else
        fy_fail_about(at, "use_after_free", fy_hint("free %s once, after its last use", name), 1,
                      (fy_tensor *[]){(fy_tensor *)x}, "%s%s was already freed%s", name, alias, where);
}

bool fy_check(fy_site *at, int i, const fy_tensor *x)
{
    char name[200];
    if (x && x->magic == FY_ALIVE) return true;
    if (x)
        fail_freed(
            at, fy_composed_now.on ? fy_tensor_label(x, name, sizeof name) : fy_argument(at, i, name, sizeof name), x);
    else fy_fail_null(at, i, "tensor");
    return false;
}

bool fy_number_ok(fy_site *at, const fy_arg *x)
{
    if (!x->is_huge) return true;
    return fy_fail(at, "value", fy_hint("the largest integer is 2^63 - 1; as a float it is %.16e", x->real),
                   "value cannot be converted to type int64_t without overflow");
}
