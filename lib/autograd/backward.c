/* backward.c: fy_backward: runs the nodes of a graph from its result to its leaves, each once all gradients of its
 * result have arrived. A node made later never needs one made earlier, so the nodes run in the reverse order of their
 * making.
 *
 * Everything that can be wrong with the graph is checked before anything runs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "accumulate.h"
#include "autocast.h"
#include "composed.h"
#include "device.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "grad_mode.h"
#include "gradients.h"
#include "lane.h"
#include "out_of_memory.h"
#include "pass_streams.h"
#include "session_hooks.h"
#include "shape.h"
#include "tensor.h"
#include "transfer.h"

/* `arriving`, `awaited` and `seen` of all nodes. A pass takes other locks while it holds this one, so fork does not
 * take it (lock.h); in the child no pass runs, and the next one gets a new number. */
static pthread_mutex_t one_pass = PTHREAD_MUTEX_INITIALIZER;
static uint64_t passes;

static void in_child(void) { pthread_mutex_init(&one_pass, NULL); }
__attribute__((constructor(102))) static void watch_fork(void) { pthread_atfork(NULL, NULL, in_child); }

typedef struct pass {
    fy_site *at;
    bool retain;
    fy_node **nodes; /* reachable, the newest first */
    size_t n, room;
    fy_pass_streams streams;
    uint64_t number;
} pass;

/* What a pass changes for its thread: its calls are those of a composed call, record no graph, and cast nothing, since
 * a gradient is computed in the dtype of its call. */
static _Thread_local struct {
    fy_composed composed;
    bool grad, cast;
    fy_caught caught;
    pass *pass;
} outside;
static void finish(pass *p);

static void end_pass(void)
{
    fy_compose(outside.composed);
    fy_grad_set_enabled(outside.grad);
    fy_autocast_is_on = outside.cast;
    fy_error_catch(outside.caught);
    pthread_mutex_unlock(&one_pass);
}

/* An error that ends the program, or a loader's worker, ends the pass: others, and atexit's functions, have passes too.
 */
static void leave_pass(void)
{
    finish(outside.pass);
    end_pass();
    if (outside.caught) outside.caught();
}

static void begin_pass(pass *p)
{
    fy_lane_acquire(&one_pass);
    fy_algebra_site = p->at;
    outside.pass = p;
    outside.composed = fy_compose((fy_composed){.on = true}); /* `ok = fy_backward(x)` names nothing */
    outside.grad = fy_grad_set_enabled(false);
    outside.cast = fy_autocast_is_on;
    fy_autocast_is_on = false;
    outside.caught = fy_error_catch(leave_pass);
}

/* ---- the nodes ---- */

static void add(pass *p, fy_node *node)
{
    if (node->seen == p->number) return;
    if (p->n == p->room) {
        p->room = p->room ? p->room * 2 : 256;
        p->nodes = realloc(p->nodes, p->room * sizeof(fy_node *));
        if (!p->nodes) fy_out_of_memory("a backward pass");
    }
    node->seen = p->number;
    node->awaited = 0;
    node->arriving = NULL;
    p->nodes[p->n++] = node;
}

static int newest_first(const void *a, const void *b)
{
    uint32_t x = (*(fy_node *const *)a)->id, y = (*(fy_node *const *)b)->id;
    return (x < y) - (x > y);
}

/* The list is also the queue of nodes whose operands were not visited yet. */
static void collect(pass *p, fy_node *root)
{
    p->number = ++passes;
    add(p, root);
    for (size_t k = 0; k < p->n; k++)
        for (int i = 0; i < p->nodes[k]->n; i++)
            if (p->nodes[k]->next[i]) add(p, p->nodes[k]->next[i]);
    for (size_t k = 0; k < p->n; k++)
        for (int i = 0; i < p->nodes[k]->n; i++)
            if (p->nodes[k]->next[i]) p->nodes[k]->next[i]->awaited++;
    qsort(p->nodes, p->n, sizeof *p->nodes, newest_first);
}

/* ---- checks ---- */

/* "CPUBFloat16Type": PyTorch has no older name of it, as torch.FloatTensor. */
static const char *type_text(const fy_tensor *x, char *buf, size_t room)
{
    bool on_card = x->storage->dev->number, plain = x->dtype == FY_BFLOAT16;
    snprintf(buf, room, plain ? "%s%sType" : "torch.%s%sTensor",
             plain     ? (on_card ? "CUDA" : "CPU")
             : on_card ? "cuda."
                       : "",
             fy_dtype_torch(x->dtype));
    return buf;
}

/* ", which is output 0 of ExpBackward0,": the call that computed the tensor as it is now. "": no recorded one. */
static const char *origin_text(const fy_node *node, const fy_saved *saved, char *buf, size_t room)
{
    char name[80] = "";
    ptrdiff_t i = saved - node->saved;
    const fy_node *by = i < node->n ? node->next[i] : NULL;
    if (i == FY_RESULT && saved->of_view) snprintf(name, sizeof name, "AsStridedBackward0"); /* written in place */
    else if (i == FY_RESULT) fy_node_name(node, name, sizeof name);
    else if (!fy_node_writer_name(saved, name, sizeof name) && by && by->op != FY_NODE_LEAF)
        fy_node_name(by, name, sizeof name);
    buf[0] = 0;
    const char *inside = strcmp(name, "CopySlices") ? "" : "torch::autograd::"; /* this error has the name of C++ */
    if (name[0]) snprintf(buf, room, ", which is output 0 of %s%s,", inside, name);
    return buf;
}

static bool fail_modified(fy_site *at, const fy_node *node, const fy_saved *saved)
{
    char shape[256], type[80], origin[160], line[80], label[80];
    const fy_tensor *x = saved->is.tensor;
    uint32_t now = fy_storage_version(x->storage) - saved->base, then = saved->version - saved->base;
    fy_geometry g = fy_geometry_of(x);
    return fy_fail(
        at, "grad",
        fy_hint("%s%s needs %s as it was: write into a new tensor instead, or before that call", node->at->call,
                fy_line_text(node->at, at, line, sizeof line), fy_tensor_label(x, label, sizeof label)),
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [%s %s]%s is at version %u; expected version %u instead.",
        type_text(x, type, sizeof type), fy_shape_text(g.shape.dims, g.shape.ndim, "[]", shape, sizeof shape),
        origin_text(node, saved, origin, sizeof origin), now, then);
}

static bool check_node(fy_site *at, const fy_node *node)
{
    if (node->released)
        return fy_fail(
            at, "grad", "pass .retain_graph = true to the first fy_backward, or compute the loss again",
            "Trying to backward through the graph a second time (or directly access saved tensors after they "
            "have already been freed). Saved intermediate values of the graph are freed when you call "
            ".backward() or autograd.grad().");
    if (node->op < FY_OP_COUNT && fy_op_refuses_gradient(node->op))
        return fy_fail(at, "grad", "leave it out of the graph: FY_NO_GRAD { ... }, or fy_detach(x) as its operand",
                       "derivative for aten::%s is not implemented", fy_ops[node->op].name);
    for (int i = 0; i <= FY_MAX_INPUTS; i++) {
        const fy_saved *s = &node->saved[i];
        if (s->is.tensor && fy_storage_version(s->is.tensor->storage) != s->version) return fail_modified(at, node, s);
    }
    return !node->inner || check_node(at, node->inner);
}

static bool check_nodes(const pass *p)
{
    for (size_t k = 0; k < p->n; k++)
        if (!check_node(p->at, p->nodes[k])) return false;
    return true;
}

/* ---- running ---- */

/* The gradient as the operand's: of its shape, dtype and device. A new reference. */
static fy_tensor *as_operand(fy_site *at, const fy_node *operand, fy_tensor *g)
{
    g = fy_algebra_sum_to(g, &operand->is.shape);
    if (!g) return NULL;
    if (g->dtype == operand->is.dtype && g->storage->dev == operand->dev) return fy_tensor_retain(g);
    return fy_copy_to(at, g, operand->dev, operand->is.dtype, &(fy_transfer_opts){.why = FY_WORD_grad}, NULL);
}

/* Another gradient has arrived; takes over the reference to g. False after an error. */
static bool deliver(fy_site *at, fy_node *to, fy_tensor *g)
{
    if (g && to->arriving) {
        fy_tensor *sum = fy_gradient_sum(at, to->arriving, g);
        fy_tensor_release(at, g, FY_WORD_graph);
        to->arriving = sum;
        if (!sum) return false;
    } else if (g) {
        to->arriving = g;
    }
    to->awaited--;
    if (to->op != FY_NODE_LEAF || to->awaited > 0 || !to->arriving) return true;
    fy_tensor *all = to->arriving;
    to->arriving = NULL;
    return fy_gradient_store(at, to, all);
}

static int last_operand(const fy_node *node)
{
    int i = node->n - 1;
    while (i >= 0 && !node->next[i]) i--;
    return i;
}

/* The gradients of the operands, which are delivered at once. Takes over the reference to g: it goes before the last
 * one is delivered, which may be a view of it that a leaf then keeps. */
static bool run_node(pass *p, fy_node *node, fy_tensor *g)
{
    int last = last_operand(node);
    bool ok = true;
    FY_REGION(p->at, FY_WORD_gradient, NULL, node->id, fy_belonging_call(&node->made));
    fy_node_emit(p->at, node, FY_WORD_run);
    for (int i = 0; i <= last && ok; i++) {
        if (!node->next[i]) continue;
        fy_scope scope = fy_scope_begin(p->at);
        fy_pass_streams_run(&p->streams, node);
        fy_tensor *raw = fy_gradient(node, i, g), *mine = raw ? as_operand(p->at, node->next[i], raw) : NULL;
        if (mine) fy_pass_streams_deliver(&p->streams, raw->storage->dev, mine, node->next[i]);
        fy_scope_end(&scope);
        if (i == last || !mine) fy_tensor_release(p->at, g, FY_WORD_graph);
        ok = mine && deliver(p->at, node->next[i], mine);
        if (!ok && mine && i < last) fy_tensor_release(p->at, g, FY_WORD_graph);
    }
    if (!p->retain) fy_node_release_saved(p->at, node);
    return ok;
}

/* "grad of hidden", for who looks at the log. */
static void name_arriving(fy_site *at, const fy_node *node, fy_tensor *g)
{
    char name[80];
    if (!fy_log_is_on() || !node->name || g->name) return;
    if (snprintf(name, sizeof name, "grad of %s", node->name) < (int)sizeof name) fy_tensor_rename(at, g, name);
}

/* A node that no gradient reached passes none on. */
static void skip(fy_node *node)
{
    for (int i = 0; i < node->n; i++)
        if (node->next[i]) node->next[i]->awaited--;
}

static bool run(pass *p)
{
    bool ok = true;
    for (size_t k = 0; ok && k < p->n; k++) {
        fy_node *node = p->nodes[k];
        fy_tensor *g = node->arriving;
        if (node->op == FY_NODE_LEAF && !g) continue; /* stored when its last gradient arrived */
        node->arriving = NULL;
        if (!g) skip(node);
        if (!g) continue;
        fy_pass_streams_run(&p->streams, node);
        name_arriving(p->at, node, g);
        if (node->retains_grad || node->op == FY_NODE_LEAF) ok = fy_gradient_store(p->at, node, fy_tensor_retain(g));
        if (ok && node->op != FY_NODE_LEAF) ok = run_node(p, node, g);
        else fy_tensor_release(p->at, g, FY_WORD_graph);
    }
    return ok;
}

static void finish(pass *p)
{
    for (size_t k = 0; k < p->n; k++) {
        fy_tensor_release(p->at, p->nodes[k]->arriving, FY_WORD_graph);
        p->nodes[k]->arriving = NULL;
    }
    free(p->nodes);
}

/* ---- fy_backward ---- */

/* What PyTorch checks before it looks at the graph. */
static bool check_shape(fy_site *at, fy_tensor *x, fy_tensor *given)
{
    char want[256], got[256];
    fy_geometry g = fy_geometry_of(x);
    if (!given && (fy_shape_numel(&g.shape) == 1 || !fy_needs_grad(x))) return true;
    if (!given)
        return fy_fail_about(at, "grad", "fy_backward(fy_sum(x)), or pass .gradient, of x's shape", 1, &x,
                             "grad can be implicitly created only for scalar outputs");
    if (!fy_check(at, 1, given)) return false;
    fy_geometry other = fy_geometry_of(given);
    if (other.shape.ndim != g.shape.ndim ||
        memcmp(other.shape.dims, g.shape.dims, (size_t)g.shape.ndim * sizeof *g.shape.dims))
        return fy_fail_about(
            at, "shape", "a gradient has the shape of its tensor", 2, (fy_tensor *[]){x, given},
            "Mismatch in shape: grad_output[0] has a shape of torch.Size(%s) and output[0] has a shape "
            "of torch.Size(%s).",
            fy_shape_text(other.shape.dims, other.shape.ndim, "[]", got, sizeof got),
            fy_shape_text(g.shape.dims, g.shape.ndim, "[]", want, sizeof want));
    return true;
}

/* The gradient to start from: a new reference; NULL after an error. */
static fy_tensor *first_gradient(fy_site *at, fy_tensor *x, fy_tensor *given)
{
    if (!given) {
        fy_tensor *one = fy_algebra_zeros(x, &x->node->is.shape);
        return one && fy_fill__at(at, one, fy_arg_int(1)) ? fy_tensor_retain(one) : NULL;
    }
    if (given->storage->dev != x->storage->dev && given->ndim > 0)
        return fy_fail_about(at, "device_mismatch",
                             fy_hint("copy it first: fy_to(gradient, \"%s\")", x->storage->dev->name), 2,
                             (fy_tensor *[]){x, given}, "invalid gradient at index 0 - expected device %s but got %s",
                             x->storage->dev->name, given->storage->dev->name);
    return as_operand(at, x->node, given);
}

static bool backward(pass *p, fy_tensor *x, fy_tensor *given)
{
    fy_node *root = fy_node_of(x);
    fy_scope scope = fy_scope_begin(p->at);
    collect(p, root);
    fy_tensor *g = check_nodes(p) ? first_gradient(p->at, x, given) : NULL;
    bool ok = g;
    if (ok) {
        FY_EMIT(p->at, backward, .what = FY_WORD_begin, .tensor = x->id);
        fy_pass_streams_begin(&p->streams, p->at, p->nodes, p->n);
        fy_pass_streams_deliver(&p->streams, root->dev, g, root);
        root->arriving = g;
        ok = run(p);
        fy_pass_streams_end(&p->streams);
        FY_EMIT(p->at, backward, .what = FY_WORD_end, .tensor = x->id);
    }
    finish(p);
    fy_scope_end(&scope);
    return ok;
}

bool fy_backward_at(fy_site *at, fy_tensor *x, fy_backward_opts o)
{
    FY_CALL(at);
    pass p = {.at = at, .retain = o.retain_graph};
    fy_session_start();
    if (!fy_check(at, 0, x)) return false;
    if (o.create_graph)
        return fy_fail(at, "grad", "leave .create_graph out",
                       "double backward: Ferry does not compute gradients of gradients");
    if (!check_shape(at, x, o.gradient)) return false;
    if (!fy_needs_grad(x))
        return fy_fail_about(at, "grad",
                             "make what it was computed from with .requires_grad = true, outside FY_NO_GRAD", 1, &x,
                             "element 0 of tensors does not require grad and does not have a grad_fn");
    begin_pass(&p);
    bool ok = backward(&p, x, o.gradient);
    end_pass();
    return ok;
}

/* ---- fy_saved_bytes ---- */

static int by_address(const void *a, const void *b)
{
    const fy_storage *x = *(fy_storage *const *)a, *y = *(fy_storage *const *)b;
    return (x > y) - (x < y);
}

/* The storages that the nodes save, those of leaves that require grad left out; returns how many. */
static size_t saved_by(const pass *p, fy_storage **list)
{
    size_t n = 0;
    for (size_t k = 0; k < p->n; k++)
        for (const fy_node *node = p->nodes[k]; node; node = node->inner)
            for (int i = 0; i <= FY_MAX_INPUTS; i++) {
                const fy_saved *s = &node->saved[i];
                if (!s->is.tensor || s->of_leaf) continue;
                if (list) list[n] = s->is.tensor->storage;
                n++;
            }
    return n;
}

int64_t fy_saved_bytes_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    pass p = {.at = at};
    int64_t bytes = 0;
    if (!x || !fy_check(at, 0, x) || !fy_needs_grad(x)) return 0;
    fy_lane_acquire(&one_pass);
    collect(&p, x->node);
    size_t n = saved_by(&p, NULL);
    fy_storage **list = n ? malloc(n * sizeof *list) : NULL;
    if (n && !list) fy_out_of_memory("the list of what a graph saves");
    n = saved_by(&p, list);
    if (n) qsort(list, n, sizeof *list, by_address);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || list[i] != list[i - 1]) bytes += (int64_t)list[i]->asked;
    free(list);
    finish(&p);
    pthread_mutex_unlock(&one_pass);
    return bytes;
}
