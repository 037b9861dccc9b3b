/* rules_stop.c: rules about what ended a program early: a call that failed, or a crash. */
#include "event.h"
#include "findings_history.h"

#include <stdio.h>
#include <string.h>

static const char *text_at(const history *h, int i, const char *otherwise) { return i >= 0 ? h->names[i] : otherwise; }

/* The line of the last call before act i that has one; -1. */
static int site_before(const history *h, int i)
{
    while (i >= 0 && h->acts[i].site < 0) i--;
    return i >= 0 ? h->acts[i].site : -1;
}

/* Out of memory has rules of its own, which name what filled the memory. */
static bool has_own_rule(const history *h, int i)
{
    const act *a = &h->acts[i];
    if (strcmp(text_at(h, a->name, ""), "oom") != 0) return false;
    while (i >= 0 && h->acts[i].kind != FY_KIND_oom) i--;
    return i >= 0;
}

/* fy_module_to has moved the other tensors, but not this one. */
static void say_left_behind(finding *x, const history *h, int i, int left, int move, const char *message)
{
    const act *a = &h->acts[i];
    char made[96], moved[96], card[16];
    const char *name = name_of(h, left);
    line_of(h, h->tensors[left].site, a->site, made);
    line_of(h, h->acts[move].site, a->site, moved);
    device_name(h, h->acts[move].dst.device, card);
    if (is_step(h, a)) {
        say_what(x,
                 "%.300s. %.60s is state of the optimizer, made on the CPU by its first step (%s). fy_module_to (%s) "
                 "moved the parameters to %s after that, and no optimizer's state.",
                 message, name, made, moved, card);
        say_fix(x, "move the module before the first fy_step; or make a new optimizer after fy_module_to: it begins "
                   "without state");
        return;
    }
    say_what(x,
             "%.300s. %.60s was made on the CPU (%s). fy_module_to (%s) moved a module's parameters and buffers to %s "
             "after that: it is none of them.",
             message, name, made, moved, card);
    say_fix(
        x,
        "if it belongs to the module, register it before the move: fy_buffer(net, \"name\", x), or fy_parameter; if "
        "it is an input, use fy_to(x, \"%s\")",
        card);
}

static void failed(findings *f, const history *h, int i, bool ended_it)
{
    const act *a = &h->acts[i];
    bool line_known = a->site >= 0; /* a fault has no call and no line: the last call before it is the nearest */
    char line[96] = "", late[160] = "";
    finding *x = found(f, h, line_known ? a->site : site_before(h, i), i, 0, 0);
    if (!x || x->times > 1) return;
    int move, left = left_behind(h, i, &move);
    if (left >= 0) {
        say_left_behind(x, h, i, left, move, text_at(h, a->message, ""));
        return;
    }
    int cause = act_of_seq(h, a->src.version);
    if (cause >= 0 && h->acts[cause].site >= 0)
        snprintf(late, sizeof late, " The work that failed was queued at %s.",
                 line_of(h, h->acts[cause].site, a->site, line));
    say_what(x, "%s: %.330s%s%s",
             !ended_it    ? "this call failed, and the program continued"
             : line_known ? "the program stopped here"
                          : "the program crashed after this line",
             text_at(h, a->message, "no reason was recorded"), *late ? "." : "", late);
    say_fix(x, "%s", text_at(h, a->hint, "check the arguments of this call"));
}

void rule_stopped(findings *f, const history *h)
{
    int fatal = -1; /* the last error after which the program did nothing more; work queued earlier may still end */
    for (int i = 0; i < h->act_count; i++) {
        uint8_t kind = h->acts[i].kind;
        if (kind == FY_KIND_error) fatal = i;
        else if (kind == FY_KIND_op || kind == FY_KIND_copy || kind == FY_KIND_alloc || kind == FY_KIND_tensor ||
                 kind == FY_KIND_host_read || kind == FY_KIND_host_write || kind == FY_KIND_answer)
            fatal = -1;
    }
    if (h->ended && h->status == 0) fatal = -1;
    for (int i = 0; i < h->act_count; i++)
        if (h->acts[i].kind == FY_KIND_error && !has_own_rule(h, i)) failed(f, h, i, i == fatal);

    /* Neither an error nor an end event: the log does not show whether the program was killed, or by what. */
    if (fatal >= 0 || h->ended || h->full) return;
    int last = h->act_count - 1, site = site_before(h, last);
    finding *x = site >= 0 ? found(f, h, site, last, 0, 0) : NULL;
    if (!x) return;
    say_what(x, "the log ends after this line without an end event: the program crashed, was killed, called _exit, "
                "or is still running. The last Ferry call that finished is on this line.");
    say_fix(x,
            "check the code after this line for a NULL pointer, an index past the end, or memory that ran out; gdb, or "
            "compiling with -fsanitize=address, names the line");
}
