/* graph.c: nodes of the autograd graph: what they save, how they are linked and released. Emits graph; nothing else
 * does. */
#include "graph.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "dtype.h"
#include "error.h"
#include "frame.h"
#include "out_of_memory.h"
#include "shape.h"
#include "storage.h"
#include "stream.h"

static uint32_t last_id;

/* ---- names ---- */

static const char *kind_name(int op)
{
    static const char *const names[] = {
        [FY_NODE_LEAF - FY_OP_COUNT] = "leaf",       [FY_NODE_RESHAPE - FY_OP_COUNT] = "view",
        [FY_NODE_PERMUTE - FY_OP_COUNT] = "permute", [FY_NODE_EXPAND - FY_OP_COUNT] = "expand",
        [FY_NODE_PART - FY_OP_COUNT] = "slice",      [FY_NODE_TO - FY_OP_COUNT] = "to",
        [FY_NODE_COPY - FY_OP_COUNT] = "copy",       [FY_NODE_JOIN - FY_OP_COUNT] = "cat",
        [FY_NODE_WRITE - FY_OP_COUNT] = "write",     [FY_NODE_VIEWED - FY_OP_COUNT] = "as_strided",
    };
    return op < FY_OP_COUNT ? fy_ops[op].name : names[op - FY_OP_COUNT];
}

enum { PART_DIMS = 3 }; /* of a part that is not one of a list */

/* PyTorch's number of the call's form: a reduction along a dimension is another one than of all elements. */
static int form_of(const fy_node *node)
{
    bool along = node->dims.ndim > 0, second = node->tensors & 2, third = node->tensors & 4;
    switch (node->op) {
    case FY_OP_sum:
    case FY_OP_mean:
    case FY_OP_prod: return along;
    case FY_OP_max:
    case FY_OP_min: return !along;
    case FY_OP_pow:
    case FY_OP_remainder:
    case FY_OP_clamp_min:
    case FY_OP_clamp_max: return second;
    case FY_OP_clamp: return !second;
    case FY_OP_lerp: return third;
    case FY_OP_fill: return 2; /* in place, of a number */
    default: return 0;
    }
}

/* Nodes whose name is not that of their op or kind; else NULL. */
static const char *irregular_name(const fy_node *node)
{
    bool number_first = node->tensors && !(node->tensors & 1);
    if (node->called) return node->called;
    switch (node->op) {
    case FY_NODE_TO: return "ToCopyBackward0";
    case FY_NODE_COPY: return "CopyBackwards";
    case FY_NODE_WRITE: return "CopySlices";
    case FY_NODE_JOIN: return node->dims.dims[1] ? "StackBackward0" : NULL;
    case FY_NODE_PART:
        if (node->dims.ndim > PART_DIMS)
            return node->dims.dims[PART_DIMS + 1] ? "SplitWithSizesBackward0" : "SplitBackward0";
        return node->next[0] && node->is.shape.ndim < node->next[0]->is.shape.ndim ? "SelectBackward0" : NULL;
    case FY_OP_norm: return "LinalgVectorNormBackward0";
    case FY_OP_layer_norm: return "NativeLayerNormBackward0";
    case FY_OP_fill: return node->at && !strcmp(node->at->call, "fy_zero_") ? "ZeroBackward0" : NULL;
    case FY_OP_floor_divide: return "NotImplemented";
    case FY_OP_remainder: return number_first ? "NotImplemented" : NULL;
    case FY_OP_sub: return number_first ? "RsubBackward1" : NULL;
    case FY_OP_div: return number_first ? "MulBackward0" : NULL; /* by the reciprocal */
    default: return NULL;
    }
}

/* log_softmax gives LogSoftmaxBackward0. */
const char *fy_node_name(const fy_node *node, char *buf, size_t room)
{
    size_t n = 0;
    bool upper = true;
    const char *irregular = irregular_name(node);
    if (irregular) {
        snprintf(buf, room, "%s", irregular);
        return buf;
    }
    for (const char *c = kind_name(node->op); *c && n + 1 < room; c++) {
        if (*c != '_') buf[n++] = upper ? (char)toupper((unsigned char)*c) : *c;
        upper = *c == '_';
    }
    snprintf(buf + n, room - n, "Backward%d", form_of(node));
    return buf;
}

fy_tensor *fy_node_call(fy_tensor *x, const char *name)
{
    if (x && x->node && x->node->op != FY_NODE_LEAF) x->node->called = name;
    return x;
}

bool fy_node_writer_name(const fy_saved *saved, char *buf, size_t room)
{
    int op = saved->is.tensor->storage->writer - 1;
    if (op < 0) return false;
    fy_node writer = {.op = saved->of_view ? FY_NODE_VIEWED : op};
    fy_node_name(&writer, buf, room);
    return true;
}

/* ---- making ---- */

fy_node *fy_node_make(fy_site *at, int op, const fy_tensor *out, int n)
{
    fy_node *node = calloc(1, sizeof *node + (size_t)n * sizeof *node->next);
    if (!node) fy_out_of_memory("a node of the autograd graph");
    node->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    node->refs = 1;
    node->op = op;
    node->at = at;
    node->made = fy_belonging_here(at, 0);
    node->tensor = out->id;
    node->name = out->name;
    node->is = fy_geometry_of(out);
    node->dev = out->storage->dev;
    node->stream = fy_stream_current(node->dev);
    node->n = n;
    return node;
}

static bool needs_gradient(const fy_node *node) { return node && (node->op != FY_NODE_LEAF || node->requires_grad); }

static bool is_required_leaf(const fy_node *node) { return node && node->op == FY_NODE_LEAF && node->requires_grad; }

static fy_node *retain(fy_node *node)
{
    __atomic_add_fetch(&node->refs, 1, __ATOMIC_RELAXED);
    return node;
}

/* Gradients add up in the stream in which the graph first uses the leaf. No graph does yet: only the tensor holds the
 * node, and its history. */
static void set_leaf_stream(fy_node *leaf, const fy_tensor *x)
{
    uint32_t own = x->history && x->history->node == leaf ? 2 : 1;
    if (__atomic_load_n(&leaf->refs, __ATOMIC_RELAXED) == own)
        __atomic_store_n(&leaf->stream, fy_stream_current(leaf->dev), __ATOMIC_RELAXED);
}

void fy_node_link(fy_node *node, int i, fy_tensor *operand)
{
    fy_node *next = operand ? fy_node_of(operand) : NULL;
    if (!needs_gradient(next)) return;
    if (next->op == FY_NODE_LEAF) set_leaf_stream(next, operand);
    node->next[i] = retain(next);
}

fy_tensor *fy_tensor_alias(fy_site *at, const fy_tensor *x, const fy_geometry *g, const char *name)
{
    __atomic_add_fetch(&x->storage->refs, 1, __ATOMIC_RELAXED);
    return fy_tensor_make(at, x->storage, g, name, x->id, false);
}

/* An operand that is passed twice is saved once. */
static fy_tensor *handle_of(const fy_node *node, const fy_tensor *x)
{
    for (int i = 0; i <= FY_MAX_INPUTS; i++)
        if (node->saved[i].is.tensor && node->saved[i].of == x->id) return fy_tensor_retain(node->saved[i].is.tensor);
    return fy_tensor_save(node->at, x);
}

void fy_node_save(fy_node *node, int i, const fy_tensor *x)
{
    fy_storage *s = x->storage;
    uint32_t version = fy_storage_version(s), made = __atomic_load_n(&s->made, __ATOMIC_RELAXED);
    node->saved[i] = (fy_saved){.is = fy_arg_tensor(handle_of(node, x)),
                                .of = x->id,
                                .version = version,
                                .of_leaf = is_required_leaf(x->is_view ? x->history->node : x->node),
                                .of_view = x->is_view,
                                .base = made == FY_NOT_MADE ? version : made};
    __atomic_store_n(&s->saved_by, node->at, __ATOMIC_RELAXED);
    __atomic_add_fetch(&s->saves, 1, __ATOMIC_RELAXED);
}

/* ---- events ---- */

static fy_ref next_nodes(const fy_node *node)
{
    size_t bytes = (size_t)node->n * sizeof(uint32_t);
    uint32_t few[FY_MAX_INPUTS], *ids = bytes <= sizeof few ? few : malloc(bytes);
    if (!ids) fy_out_of_memory("the operands of a call");
    for (int i = 0; i < node->n; i++) ids[i] = node->next[i] ? node->next[i]->id : 0;
    fy_ref list = bytes ? fy_ref_bytes(ids, bytes) : 0;
    if (ids != few) free(ids);
    return list;
}

void fy_node_emit(fy_site *at, const fy_node *node, fy_word what)
{
    uint32_t saves[FY_MAX_INPUTS + 1];
    size_t n = 0;
    if (!fy_log_is_on()) return;
    for (int i = 0; i <= FY_MAX_INPUTS; i++)
        if (node->saved[i].is.tensor && (n == 0 || saves[n - 1] != node->saved[i].is.tensor->id))
            saves[n++] = node->saved[i].is.tensor->id;
    FY_EMIT(at, graph, .node = node->id, .what = (uint8_t)what, .op = fy_ref_str(kind_name(node->op)),
            .tensor = node->tensor, .saves = n ? fy_ref_bytes(saves, n * sizeof *saves) : 0, .next = next_nodes(node));
}

/* ---- tensors and nodes ---- */

/* fy_retain_grad asked for the gradient of the tensor, whose node is another one now. */
static void move_retains(fy_node *from, fy_node *to)
{
    if (!from || from->op == FY_NODE_LEAF) return;
    to->retains_grad = from->retains_grad;
    from->retains_grad = false;
}

/* An op in place on a view: its base gets a node that runs the op's own on the view. The view's and those of the base's
 * other views are made when they are asked for. Operand 0 is the target. */
static void write_through(fy_node *node, const fy_tensor *view, fy_history *h)
{
    fy_tensor base = {.id = h->tensor, .storage = view->storage, .dtype = h->is.dtype};
    fy_node *write = fy_node_make(node->at, FY_NODE_WRITE, &base, node->n > 1 ? node->n : 1);
    write->is = h->is;
    write->part = fy_geometry_of(view);
    write->inner = node;
    write->next[0] = h->node; /* takes over the reference */
    for (int i = 1; i < node->n; i++)
        if (node->next[i]) write->next[i] = retain(node->next[i]);
    fy_node_emit(node->at, write, FY_WORD_make);
    move_retains(h->node, write);
    h->node = write;
    h->writes++;
}

void fy_node_finish(fy_node *node, fy_tensor *out, bool in_place)
{
    fy_history *h = in_place ? out->history : NULL;
    if (in_place) out->storage->writer = (uint16_t)(1 + (out->is_view ? FY_NODE_WRITE : node->op));
    fy_node_emit(node->at, node, FY_WORD_make);
    if (h && out->is_view) {
        write_through(node, out, h);
        return;
    }
    if (h) {
        fy_node_release(node->at, h->node);
        h->node = retain(node);
        out->history_seen = ++h->writes;
    }
    if (in_place) move_retains(out->node, node);
    fy_node_release(node->at, out->node);
    out->node = node;
}

fy_node *fy_node_of(fy_tensor *x)
{
    fy_history *h = __atomic_load_n(&x->history, __ATOMIC_ACQUIRE);
    if (!h || h->writes == x->history_seen) return x->node;
    fy_node *old = x->node;
    x->history_seen = h->writes;
    if (!x->is_view) {
        x->node = h->node ? retain(h->node) : NULL;
    } else {
        fy_node *node = fy_node_make(h->node->at, FY_NODE_VIEWED, x, 1);
        node->next[0] = retain(h->node);
        node->part = h->is; /* of the base */
        move_retains(old, node);
        node->made = h->node->made; /* what follows belongs to that call, whoever asks */
        FY_BELONGS(&node->made);
        fy_node_emit(node->at, node, FY_WORD_make);
        x->node = node;
    }
    if (old) {
        FY_BELONGS(&old->made);
        fy_node_release(old->at, old);
    }
    return x->node;
}

bool fy_needs_grad(fy_tensor *x)
{
    return x && x->magic == FY_ALIVE && FY_HAS_GRAPH(x) && needs_gradient(fy_node_of(x));
}

bool fy_base_needs_grad(const fy_tensor *x) { return x->is_view && x->history && needs_gradient(x->history->node); }

bool fy_is_required(fy_tensor *x)
{
    return fy_needs_grad(x) ||
           (x && x->magic == FY_ALIVE && x->is_view && fy_dtype_is_real(x->dtype) && fy_base_needs_grad(x));
}

/* ---- views ---- */

fy_history *fy_history_retain(fy_history *h)
{
    __atomic_add_fetch(&h->refs, 1, __ATOMIC_RELAXED);
    return h;
}

void fy_history_release(fy_site *at, fy_history *h)
{
    if (!h || __atomic_sub_fetch(&h->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    fy_node_release(at, h->node);
    free(h);
}

static fy_history *history_of(fy_tensor *base)
{
    fy_history *h = __atomic_load_n(&base->history, __ATOMIC_ACQUIRE);
    if (h) return h;
    h = calloc(1, sizeof *h);
    if (!h) fy_out_of_memory("the history of a tensor");
    h->refs = 1;
    h->is = fy_geometry_of(base);
    h->tensor = base->id;
    h->node = base->node ? retain(base->node) : NULL;
    fy_history *other = NULL; /* of another thread that makes a view of it, too */
    if (__atomic_compare_exchange_n(&base->history, &other, h, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return h;
    fy_history_release(base->born, h);
    return other;
}

void fy_graph_view(fy_site *at, fy_tensor *x, fy_tensor *view, fy_node_kind kind, const fy_shape *dims)
{
    bool tracked = fy_is_grad_enabled() && fy_is_required(x) && fy_dtype_is_real(view->dtype);
    view->history = fy_history_retain(history_of(x));
    view->history_seen = view->history->writes;
    view->is_view = true;
    view->made = kind == FY_NODE_PART && dims->ndim > PART_DIMS ? FY_VIEW_OF_LIST
                 : x->is_view && x->made                        ? x->made
                 : fy_is_grad_enabled()                         ? FY_VIEW_PLAIN
                                                                : FY_VIEW_WITHOUT_GRAD;
    if (!tracked) return;
    fy_node *node = fy_node_make(at, (int)kind, view, 1);
    fy_node_link(node, 0, x);
    node->dims = *dims;
    fy_node_finish(node, view, false);
}

static const char write_hint[] = "change its values with FY_NO_GRAD { ... }, or write into a new tensor";

/* "Output 1 of SplitBackward0 is a view and ..." */
static bool fail_made(fy_site *at, fy_tensor *x)
{
    char name[80], output[120];
    const fy_node *node = x->node;
    int64_t i = node && node->op == FY_NODE_PART && node->dims.ndim > PART_DIMS ? node->dims.dims[PART_DIMS] : 0;
    bool list = x->made == FY_VIEW_OF_LIST, known = node && node->op != FY_NODE_LEAF;
    snprintf(output, sizeof output, "Output %lld of %s", (long long)i,
             known ? fy_node_name(node, name, sizeof name) : "");
    return fy_fail_about(
        at, "grad",
        list ? "write into fy_clone(x), or use the result of a call that is not in place; fy_narrow gives a part that "
               "may "
               "be written"
             : "make the view outside FY_NO_GRAD, or write inside it, too",
        1, &x, "%s and is being modified inplace%s. %s",
        known ? fy_hint("%s is a view", output) : "A view was created in no_grad mode",
        known ? "" : " with grad mode enabled",
        list
            ? "This view is the output of a function that returns multiple views. Such functions do not allow the "
              "output "
              "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
            : "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
              "moving "
              "both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be "
              "tracked) or both outside (if you want the inplace to be tracked).");
}

/* A view of a leaf that does not require grad counts, too, if the view was made to require it. */
static bool check_view(fy_site *at, fy_tensor *x, bool recorded)
{
    const fy_node *base = x->history->node;
    bool needs = fy_needs_grad(x) || needs_gradient(base);
    if ((needs || recorded) && x->made != FY_VIEW_PLAIN) return fail_made(at, x);
    if (!needs || (base && base->op != FY_NODE_LEAF)) return true;
    return fy_fail_about(at, "grad", write_hint, 1, &x,
                         "a view of a leaf Variable that requires grad is being used in an in-place operation.");
}

bool fy_graph_check_written(fy_site *at, fy_tensor *x, bool recorded)
{
    if (!fy_is_grad_enabled()) return true;
    if (x->is_view && x->history && !check_view(at, x, recorded)) return false;
    if (!is_required_leaf(x->node)) return true;
    return fy_fail_about(at, "grad", write_hint, 1, &x,
                         "a leaf Variable that requires grad is being used in an in-place operation.");
}

/* ---- leaves ---- */

void fy_graph_require(fy_site *at, fy_tensor *x, bool on)
{
    if (!x->node && on) {
        x->node = fy_node_make(at, FY_NODE_LEAF, x, 0);
        if (x->history && !x->is_view) x->history->node = retain(x->node);
        x->node->requires_grad = true;
        fy_node_emit(at, x->node, FY_WORD_make);
    }
    if (x->node) x->node->requires_grad = on;
}

void fy_node_follow(fy_node *leaf, const fy_tensor *x)
{
    leaf->tensor = x->id;
    leaf->is = fy_geometry_of(x);
    leaf->dev = x->storage->dev;
}

/* ---- releasing ---- */

void fy_node_release_saved(fy_site *at, fy_node *node)
{
    bool any = false;
    node->released |= node->keeps_number;
    for (int i = 0; i <= FY_MAX_INPUTS; i++) {
        fy_tensor *x = node->saved[i].is.tensor;
        if (!x) continue;
        any = node->released = true;
        node->saved[i].is.tensor = NULL;
        __atomic_sub_fetch(&x->storage->saves, 1, __ATOMIC_RELAXED);
        fy_tensor_release(at, x, FY_WORD_graph);
    }
    if (any) FY_EMIT(at, graph, .node = node->id, .what = FY_WORD_release, .op = fy_ref_str(kind_name(node->op)));
    if (node->inner) fy_node_release_saved(at, node->inner);
}

/* Not recursive: a graph may be a million nodes deep. */
void fy_node_release(fy_site *at, fy_node *node)
{
    fy_node **stack = NULL;
    size_t n = 0, room = 0;
    while (node) {
        if (__atomic_sub_fetch(&node->refs, 1, __ATOMIC_ACQ_REL) == 0) {
            fy_node_release_saved(at, node);
            fy_tensor_release(at, node->grad, FY_WORD_graph);
            for (int i = 0; i <= node->n; i++) {
                fy_node *behind = i < node->n ? node->next[i] : node->inner;
                if (!behind) continue;
                if (n == room) {
                    room = room ? room * 2 : 64;
                    stack = realloc(stack, room * sizeof(fy_node *));
                    if (!stack) fy_out_of_memory("the nodes of an autograd graph");
                }
                stack[n++] = behind;
            }
            free(node->sizes);
            free(node);
        }
        node = n ? stack[--n] : NULL;
    }
    free(stack);
}
