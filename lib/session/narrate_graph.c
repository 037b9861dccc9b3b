/* narrate_graph.c: the lines about gradients: a backward pass, its steps, and the gradients that it stores. What the
 * graph saves has no lines of its own. */
#include "event.h"
#include "log_format.h"
#include "narrate_state.h"
#include "text.h"

void fy_narrate_backward(fy_narration *t)
{
    const fy_ev_backward *e = &t->event.is.backward;
    bool begins = e->what == FY_WORD_begin;
    fy_line_begin(t, "backward");
    fy_add_label(t, subject(t), e->tensor);
    fy_text_str(rest(t), begins ? "computes the gradients of what it was computed from" : "done");
    end(t);
}

void fy_narrate_graph(fy_narration *t)
{
    const fy_ev_graph *e = &t->event.is.graph;
    if (e->what != FY_WORD_run) return;
    fy_line_begin(t, "gradient");
    fy_add_label(t, subject(t), e->tensor);
    fy_text_str(rest(t), "back through ");
    fy_add_string(t->log, rest(t), e->op);
    end(t);
}

void fy_narrate_grad(fy_narration *t)
{
    const fy_ev_grad *e = &t->event.is.grad;
    fy_line_begin(t, "grad");
    fy_add_label(t, subject(t), e->tensor);
    fy_text_str(rest(t), e->added ? "added to the gradient of " : "is the gradient of ");
    fy_add_label(t, rest(t), e->leaf);
    end(t);
}
