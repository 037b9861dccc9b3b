/* graph.h: the autograd graph. A node stands for one differentiable call: it holds what the call's gradient needs, and
 * the nodes of the call's operands. A tensor that was computed owns its node, and so the graph behind it; nodes never
 * own a tensor of the program, only handles of their own on its storage. */
#ifndef FERRY_GRAPH_H
#define FERRY_GRAPH_H

#include "event.h"
#include "op.h"
#include "tensor.h"

/* Nodes of calls that are no op of the table. */
typedef enum fy_node_kind {
    FY_NODE_LEAF = FY_OP_COUNT, /* no call: gradients add up here */
    FY_NODE_RESHAPE,            /* a view with the elements in the same order */
    FY_NODE_PERMUTE,            /* a view; dims: the operand's dimension of each dimension */
    FY_NODE_EXPAND,             /* a view */
    FY_NODE_PART,               /* a view; dims: {dimension, first index, step}; one of a list: and its number, and
                                 * whether the call named all sizes */
    FY_NODE_TO,                 /* a copy to another device or dtype */
    FY_NODE_COPY,               /* fy_copy_: operand 0 is overwritten by operand 1 */
    FY_NODE_JOIN,               /* cat, stack; dims: {dimension, 1 for stack} */
    FY_NODE_WRITE,              /* an op in place on a view, as seen from the view's base */
    FY_NODE_VIEWED,             /* a view of a base that was written in place since the view was made */
    FY_NODE_KINDS
} fy_node_kind;

enum { FY_RESULT = FY_MAX_INPUTS }; /* index of the saved result in saved[]; operands a, b, c have 0 to 2 */

/* A tensor that the gradient reads. */
typedef struct fy_saved {
    fy_arg is;        /* a handle of the node's own, or a number; is_tensor with NULL: not saved */
    uint32_t of;      /* the tensor that it is a handle of */
    uint32_t version; /* of the storage when it was saved */
    uint32_t base;    /* its storage's version when the program got it: PyTorch counts from there */
    bool of_leaf;     /* the bytes are those of a leaf that requires grad */
    bool of_view;     /* the tensor is a view */
} fy_saved;

typedef struct fy_node {
    uint32_t id; /* increases: a node's operands have smaller ones */
    uint32_t refs;
    int op;             /* of the table, or an fy_node_kind */
    bool requires_grad; /* of a leaf */
    bool retains_grad;  /* fy_retain_grad */
    bool keeps_number;  /* the gradient reads a number of the call */
    bool released;      /* a backward pass released what it saved */
    fy_site *at;        /* the call */
    fy_belonging made;  /* likewise, as recorded */
    const char *called; /* PyTorch's name of the node, where op does not give it: fy_node_call; static */
    uint8_t tensors;    /* bit i: operand i of the op is a tensor, not a number */
    uint32_t tensor;    /* the result, or the leaf */
    const char *name;   /* its name, or NULL */
    fy_geometry is;     /* its geometry */
    fy_dev *dev;
    int stream;      /* of dev that was current at the call; of a leaf: at its first use in a graph; atomic */
    fy_tensor *grad; /* a leaf's, or a retained one */

    fy_saved saved[FY_MAX_INPUTS + 1];
    fy_shape dims; /* of the call */
    bool keepdim;
    double real[FY_MAX_SCALARS]; /* the call's scalars (op.h) */
    int64_t integer[FY_MAX_SCALARS];
    struct fy_node *inner; /* FY_NODE_WRITE: the op's own node, on the view */
    fy_geometry part;      /* FY_NODE_WRITE: the view; FY_NODE_VIEWED: the base */
    int64_t *sizes;        /* FY_NODE_JOIN: of each operand, along the dimension */

    fy_tensor *arriving; /* in a backward pass: the gradients so far */
    int awaited;         /* how many are still to come */
    uint64_t seen;       /* by the pass of that number */

    int n;
    struct fy_node *next[]; /* of the operands; NULL: no gradient is needed */
} fy_node;

/* The newest node of a tensor that has views, shared with them: an op in place on one changes the gradient of all. */
typedef struct fy_history {
    uint32_t refs;
    uint32_t writes; /* in place, with a node */
    fy_node *node;   /* of the base; NULL: none */
    fy_geometry is;  /* of the base */
    uint32_t tensor;
} fy_history;

/* May the tensor be part of a graph? Another thread may make the first view of it at the same time. */
#define FY_HAS_GRAPH(x) ((x)->node || __atomic_load_n(&(x)->history, __ATOMIC_ACQUIRE))

bool fy_needs_grad(fy_tensor *x); /* is it part of a graph, or a leaf that requires grad? x is alive, or NULL */

/* A new node of n operands, for the result `out`. Link the operands and save what the gradient needs; finish makes it
 * out's node, and takes over the reference. */
fy_node *fy_node_make(fy_site *at, int op, const fy_tensor *out, int n);
void fy_node_link(fy_node *node, int i, fy_tensor *operand);
void fy_node_save(fy_node *node, int i, const fy_tensor *x);
void fy_node_finish(fy_node *node, fy_tensor *out, bool in_place);
void fy_node_release(fy_site *at, fy_node *node);
void fy_node_release_saved(fy_site *at, fy_node *node);            /* after a backward pass */
void fy_node_emit(fy_site *at, const fy_node *node, fy_word what); /* FY_WORD_make, FY_WORD_run */
fy_node *fy_node_of(fy_tensor *x); /* x's node, up to date with writes in place; NULL: none */
const char *fy_node_name(const fy_node *node, char *buf, size_t room); /* PyTorch's: "MulBackward0" */
/* Sets it for x, which this call has made, and which may be in no graph, or NULL: ops that are one call of PyTorch's
 * are one node there. Returns x. */
fy_tensor *fy_node_call(fy_tensor *x, const char *name);

/* The name of the recorded call that has written the saved tensor in place; false: none has. */
bool fy_node_writer_name(const fy_saved *saved, char *buf, size_t room);

bool fy_base_needs_grad(const fy_tensor *x); /* x is a view, and its base is part of a graph */
/* Does x require grad? Also a view that no graph records, as one made under FY_NO_GRAD, if its base does: as in PyTorch
 * calls on it are recorded then, though no gradient flows through it. */
bool fy_is_required(fy_tensor *x);
/* May the tensor be written in place? False after an error: a leaf that requires grad, or a view of one. recorded: an
 * operand of the call needs a gradient. */
bool fy_graph_check_written(fy_site *at, fy_tensor *x, bool recorded);

void fy_graph_require(fy_site *at, fy_tensor *x, bool on); /* x is a leaf */
void fy_node_follow(fy_node *leaf, const fy_tensor *x);    /* x, whose leaf it is, has other bytes now */

/* A view of x has a gradient: kind and dims as above. */
void fy_graph_view(fy_site *at, fy_tensor *x, fy_tensor *view, fy_node_kind kind, const fy_shape *dims);

fy_history *fy_history_retain(fy_history *h);
void fy_history_release(fy_site *at, fy_history *h);

/* A new handle on x's storage with geometry g, that no scope owns and no graph records. */
fy_tensor *fy_tensor_alias(fy_site *at, const fy_tensor *x, const fy_geometry *g, const char *name);

#endif
