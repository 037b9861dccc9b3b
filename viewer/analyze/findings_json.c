/* findings_json.c: findings as JSON, for `ferry explain --json` and for the page. */
#include "findings.h"

#include <inttypes.h>
#include <string.h>

#include "memory.h"

static void text_field(fy_text *to, const char *name, const char *value)
{
    fy_text_printf(to, ",\"%s\":", name);
    fy_text_json(to, value, strlen(value));
}

static void add_finding(fy_text *to, const finding *x)
{
    fy_text_printf(to, "{\"rule\":\"%s\"", x->rule->name);
    text_field(to, "about", x->rule->about);
    text_field(to, "weight", finding_weight_name(x->rule->weight));
    if (x->line) {
        text_field(to, "file", x->file);
        fy_text_printf(to, ",\"line\":%d", x->line);
        text_field(to, "source", x->source);
    }
    fy_text_printf(to, ",\"seq\":%" PRId64 ",\"times\":%d,\"ns\":%" PRId64 ",\"bytes\":%" PRId64, x->seq, x->times,
                   x->ns, x->bytes);
    text_field(to, "what", x->what);
    text_field(to, "fix", x->fix);
    if (x->change) text_field(to, "try", x->change);
    if (*x->no_try) text_field(to, "no_try", x->no_try);
    fy_text_str(to, "}");
}

void findings_json(const findings *f, int most, fy_text *out)
{
    int n = f->count < most ? f->count : most;
    fy_text_printf(out, "{\"clock\":\"%s\"", f->measured ? "measured" : "model");
    if (*f->note) text_field(out, "note", f->note);
    if (f->shown) fy_text_printf(out, ",\"shown\":%d", f->shown);
    if (n < f->count) fy_text_printf(out, ",\"more\":%d", f->count - n);
    fy_text_str(out, ",\"findings\":[");
    for (int i = 0; i < n; i++) {
        if (i) fy_text_str(out, ",");
        add_finding(out, &f->list[i]);
    }
    fy_text_str(out, "]}");
    if (out->lost) memory_fail("the findings");
}
