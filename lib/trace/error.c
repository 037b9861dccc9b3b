/* error.c: error reports: call site, source line, arguments, PyTorch's message, the fix. */
#include "error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "session_hooks.h"
#include "site.h"

static _Thread_local fy_on_error_mode mode = FY_EXIT;
static _Thread_local char first[4096]; /* the first report since the last clear */
static _Thread_local char hint_text[512];
static _Thread_local uint64_t reports;
static _Thread_local fy_caught instead_of_exit;

void fy_on_error(fy_on_error_mode m) { mode = m; }
const char *fy_error(void) { return first[0] ? first : NULL; }
void fy_clear_error(void) { first[0] = 0; }
fy_on_error_mode fy_error_mode(void) { return mode; }
uint64_t fy_error_count(void) { return reports; }

fy_caught fy_error_catch(fy_caught caught)
{
    fy_caught before = instead_of_exit;
    instead_of_exit = caught;
    return before;
}

const char *fy_hint(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(hint_text, sizeof hint_text, format, list);
    va_end(list);
    return hint_text;
}

/* End of the argument that starts at p: the next comma outside brackets and quotes, or the end of the list around it. */
static const char *argument_end(const char *p)
{
    int depth = 0;
    for (char quote = 0; *p; p++) {
        if (quote) {
            if (*p == '\\' && p[1]) p++;
            else if (*p == quote) quote = 0;
        } else if (*p == '"' || *p == '\'') quote = *p;
        else if (strchr("([{", *p)) depth++;
        else if (strchr(")]}", *p) && depth-- == 0) break;
        else if (*p == ',' && depth == 0) break;
    }
    return p;
}

const char *fy_argument(const fy_site *at, int i, char *buf, size_t room)
{
    const char *p = at && at->args ? at->args : "";
    if (i >= FY_IN_LIST && *p == '(') p++;
    const char *end = argument_end(p);
    i %= FY_IN_LIST;
    for (int skip = i; skip > 0 && *end; skip--) end = argument_end(p = *end == ',' ? end + 1 : end + strlen(end));
    while (isspace((unsigned char)*p)) p++;
    while (end > p && isspace((unsigned char)end[-1])) end--;
    if (end <= p) snprintf(buf, room, "argument %d", i + 1);
    else snprintf(buf, room, "%.*s", (int)(end - p), p);
    return buf;
}

static void record(fy_site *at, const fy_concern *about, const char *code, const char *hint, const char *message)
{
    char recorded[2600], call[600];
    const char *given = about->given ? about->given : "";
    size_t length = strlen(message), n = about->count;
    const char *separator = !*given ? "" : length && strchr(".!?", message[length - 1]) ? " " : ". ";
    snprintf(recorded, sizeof recorded, "%s%s%s", message, separator, given);
    snprintf(call, sizeof call, "%s(%s)", at ? at->call : "", at ? at->args : "");
    FY_EMIT(at, error, .code = fy_ref_str(code), .message = fy_ref_str(recorded), .hint = fy_ref_str(hint),
            .written = at ? fy_ref_str(call) : 0, .caused_by = about->cause,
            .operands = n ? fy_ref_bytes(about->operands, n * sizeof about->operands[0]) : 0);
}

void *fy_report(fy_site *at, const fy_concern *about, const char *code, const char *hint, const char *format,
                va_list list)
{
    char message[1400], text[4096];
    const size_t room = sizeof text;
    size_t n = 0;
    fy_session_start();
    vsnprintf(message, sizeof message, format, list);

    const char *line = at ? fy_site_line(at) : NULL;
    if (at) n = (size_t)snprintf(text, room, "%s:%d: %s: ", at->file, at->line, at->call);
    if (n < room) n += (size_t)snprintf(text + n, room - n, "%s", message);
    if (line && n < room) n += (size_t)snprintf(text + n, room - n, "\n    %s", line);
    if (about->given && *about->given && n < room) n += (size_t)snprintf(text + n, room - n, "\n  %s", about->given);
    if (hint && n < room) snprintf(text + n, room - n, "\n  fix: %s", hint);

    if (fy_log_is_on()) record(at, about, code, hint, message);
    return fy_error_pass_on(text);
}

void *fy_error_pass_on(const char *text)
{
    reports++;
    if (!first[0]) snprintf(first, sizeof first, "%s", text);
    if (mode == FY_RETURN) return NULL;
    if (instead_of_exit) instead_of_exit();
    fflush(stdout);
    fy_narrate_flush();
    fprintf(stderr, "%s\n", text);
    exit(1);
}

void *fy_fail(fy_site *at, const char *code, const char *hint, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fy_report(at, &(fy_concern){0}, code, hint, format, list);
    va_end(list);
    return NULL;
}

void *fy_fail_caused(fy_site *at, uint64_t cause, const char *code, const char *hint, const char *given,
                     const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fy_report(at, &(fy_concern){.cause = cause, .given = given}, code, hint, format, list);
    va_end(list);
    return NULL;
}

void *fy_fail_null(fy_site *at, int i, const char *kind)
{
    char name[200];
    if (mode == FY_RETURN) return NULL; /* the call that returned NULL has reported why */
    fy_argument(at, i, name, sizeof name);
    if (!strcmp(name, "NULL") || !strcmp(name, "0"))
        return fy_fail(at, "null", fy_hint("pass a%s %s", strchr("aeiou", *kind) ? "n" : "", kind),
                       "argument %d is NULL, not a%s %s", i % FY_IN_LIST + 1, strchr("aeiou", *kind) ? "n" : "", kind);
    return fy_fail(at, "null", fy_hint("assign a%s %s to %s first", strchr("aeiou", *kind) ? "n" : "", kind, name),
                   "'%s' is NULL, not a%s %s", name, strchr("aeiou", *kind) ? "n" : "", kind);
}

const char *fy_line_text(const fy_site *at, const fy_site *seen_from, char *buf, size_t room)
{
    bool same = at && seen_from && !strcmp(at->file, seen_from->file);
    if (!at) snprintf(buf, room, "%s", "");
    else if (same) snprintf(buf, room, " on line %d", at->line);
    else snprintf(buf, room, " at %s:%d", at->file, at->line);
    return buf;
}

void fy_advise(fy_site *at, const char *format, ...)
{
    va_list list;
    if (__atomic_exchange_n(&at->advised, true, __ATOMIC_RELAXED)) return;
    fy_narrate_flush();
    flockfile(stderr);
    fprintf(stderr, *at->args ? "ferry: %s:%d: %s(%s): " : "ferry: %s:%d: %s%s: ", fy_site_file(at->file), at->line,
            at->call, at->args);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    funlockfile(stderr);
}
