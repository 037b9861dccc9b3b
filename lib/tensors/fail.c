/* fail.c: mistakes in a call, explained: where, the line, what was given, PyTorch's words, the fix. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tensor.h"

static _Thread_local fy_on_error_mode mode = FY_EXIT;
static _Thread_local char first[4096]; /* the first report since the last clear */
static _Thread_local char hint_text[512];

void fy_on_error(fy_on_error_mode m) { mode = m; }
const char *fy_error(void) { return first[0] ? first : NULL; }
void fy_clear_error(void) { first[0] = 0; }

const char *fy_hint(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(hint_text, sizeof hint_text, format, list);
    va_end(list);
    return hint_text;
}

/* End of the argument that begins at p: the next comma outside brackets and quotes. */
static const char *argument_end(const char *p)
{
    int depth = 0;
    for (char quote = 0; *p; p++) {
        if (quote) {
            if (*p == '\\' && p[1]) p++;
            else if (*p == quote) quote = 0;
        } else if (*p == '"' || *p == '\'') quote = *p;
        else if (strchr("([{", *p)) depth++;
        else if (strchr(")]}", *p)) depth--;
        else if (*p == ',' && depth == 0) break;
    }
    return p;
}

const char *fy_argument(const fy_site *at, int i, char *buf, size_t room)
{
    const char *p = at && at->args ? at->args : "", *end = argument_end(p);
    for (int skip = i; skip > 0 && *end; skip--) end = argument_end(p = end + 1);
    while (isspace((unsigned char)*p)) p++;
    while (end > p && isspace((unsigned char)end[-1])) end--;
    if (end <= p) snprintf(buf, room, "argument %d", i + 1);
    else snprintf(buf, room, "%.*s", (int)(end - p), p);
    return buf;
}

/* "mat1 is on cuda:0 (4, 3) float32; mat2 ..." */
static void describe(const fy_site *at, int n, fy_tensor *const *x, char *buf, size_t room)
{
    char shape[200], name[200];
    size_t at_ = 0;
    buf[0] = 0;
    for (int i = 0; i < n && at_ < room; i++) {
        if (!x[i] || x[i]->magic != FY_ALIVE) continue;
        at_ += (size_t)snprintf(buf + at_, room - at_, "%s%s is on %s %s %s", at_ ? "; " : "",
                                fy_argument(at, i, name, sizeof name), x[i]->storage->dev->name,
                                fy_shape_text(x[i]->shape, x[i]->ndim, "()", shape, sizeof shape),
                                fy_dtype_name(x[i]->dtype));
    }
}

/* The whole report, as a terminal shows it. */
static void compose(fy_site *at, const char *message, const char *given, const char *hint, char *buf, size_t room)
{
    const char *line = at ? fy_site_line(at) : NULL;
    size_t n = 0;
    if (at) n = (size_t)snprintf(buf, room, "%s:%d: %s: ", at->file, at->line, at->call);
    if (n < room) n += (size_t)snprintf(buf + n, room - n, "%s", message);
    if (line && n < room) n += (size_t)snprintf(buf + n, room - n, "\n    %s", line);
    if (*given && n < room) n += (size_t)snprintf(buf + n, room - n, "\n  %s", given);
    if (hint && n < room) snprintf(buf + n, room - n, "\n  fix: %s", hint);
}

static void record(fy_site *at, uint64_t cause, const char *code, const char *message, const char *given,
                   const char *hint)
{
    char call[600], whole[2600];
    if (!fy_log_is_on()) return;
    snprintf(call, sizeof call, "%s(%s)", at ? at->call : "", at ? at->args : "");
    size_t n = strlen(message);
    const char *stop = !*given ? "" : n && strchr(".!?", message[n - 1]) ? " " : ". ";
    snprintf(whole, sizeof whole, "%s%s%s", message, stop, given);
    FY_EMIT(at, error, .code = fy_ref_str(code), .message = fy_ref_str(whole), .hint = fy_ref_str(hint),
            .call = at ? fy_ref_str(call) : 0, .caused_by = cause);
}

static void *report(fy_site *at, uint64_t cause, const char *code, const char *hint, const char *given,
                    const char *format, va_list list)
{
    char message[1400], whole[4096];
    fy_session_start();
    vsnprintf(message, sizeof message, format, list);
    compose(at, message, given, hint, whole, sizeof whole);
    record(at, cause, code, message, given, hint);
    if (!first[0]) memcpy(first, whole, sizeof first);
    if (mode == FY_RETURN) return NULL;
    fflush(stdout);
    fy_narrate_flush();
    fprintf(stderr, "%s\n", whole);
    exit(1);
}

void *fy_fail(fy_site *at, const char *code, const char *hint, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report(at, 0, code, hint, "", format, list);
    va_end(list);
    return NULL;
}

void *fy_fail_about(fy_site *at, const char *code, const char *hint, int n, fy_tensor *const *x, const char *format,
                    ...)
{
    char given[1200];
    va_list list;
    describe(at, n, x, given, sizeof given);
    va_start(list, format);
    report(at, 0, code, hint, given, format, list);
    va_end(list);
    return NULL;
}

void *fy_fail_caused(fy_site *at, uint64_t cause, const char *code, const char *hint, const char *given,
                     const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report(at, cause, code, hint, given, format, list);
    va_end(list);
    return NULL;
}

/* Handles are used again, and one that had the place before looks like the last that had it. */
static void fail_long_dead(fy_site *at, const char *name, const fy_tensor *x, const char *label)
{
    char where[400] = "";
    if (x->freed)
        snprintf(where, sizeof where, " %s at %s:%d", x->gone == FY_WORD_scope ? "with its FY_SCOPE" : "by fy_free",
                 x->freed->file, x->freed->line);
    fy_fail(
        at, "use_after_free",
        fy_hint("free %s once, after its last use, or carry it out of its scope with fy_keep", name),
        "'%s' was already freed. Which line did it is not known: its place was used again. If it is the last tensor "
        "that had it (%s), it went%s",
        name, label, where);
}

static void fail_dead(fy_site *at, const char *name, const fy_tensor *x)
{
    char label[80], where[300] = "";
    fy_tensor_label(x, label, sizeof label);
    if (x->before) {
        fail_long_dead(at, name, x, label);
        return;
    }
    if (x->freed) snprintf(where, sizeof where, " at %s:%d", x->freed->file, x->freed->line);
    if (x->gone == FY_WORD_scope)
        fy_fail(at, "use_after_free", fy_hint("carry it out of the scope with fy_keep(%s), or use it inside", name),
                "'%s' (%s) went with its FY_SCOPE%s", name, label, where);
    else
        fy_fail(at, "use_after_free", fy_hint("free %s once, after its last use", name),
                "'%s' (%s) was already freed by fy_free%s", name, label, where);
}

void *fy_fail_null(fy_site *at, int i, const char *kind)
{
    char name[200];
    if (mode == FY_RETURN) return NULL; /* the call that gave it has told why */
    fy_argument(at, i, name, sizeof name);
    return fy_fail(at, "null", fy_hint("give %s a%s %s first", name, strchr("aeiou", *kind) ? "n" : "", kind),
                   "'%s' is NULL, not a%s %s", name, strchr("aeiou", *kind) ? "n" : "", kind);
}

bool fy_check(fy_site *at, int i, const fy_tensor *x)
{
    char name[200];
    if (x && x->magic == FY_ALIVE) return true;
    fy_argument(at, i, name, sizeof name);
    if (x) fail_dead(at, name, x);
    else fy_fail_null(at, i, "tensor");
    return false;
}
