/* ferry_autograd.h: gradients. Included by ferry.h.
 *
 *     fy_tensor *w = fy_randn((3), .requires_grad = true);
 *     fy_tensor *loss = fy_sum(fy_mul(w, w));
 *     fy_backward(loss);
 *     fy_print(fy_grad(w));                      // 2 * w
 *
 * Calls on a tensor that requires grad record a graph, which holds what the gradients need. The tensor that a call
 * returns owns the graph behind it: freeing it, or the end of its scope, releases the graph. Gradients of gradients are
 * not computed. */
#ifndef FERRY_AUTOGRAD_H
#define FERRY_AUTOGRAD_H

/* Options of fy_backward. */
typedef struct fy_backward_opts {
    const struct fy_options_by_name *fy_begin_;
    fy_tensor *gradient; /* of x, of its shape; default 1, which needs an x of one element */
    bool retain_graph;   /* keep what the graph saved, for another fy_backward through it */
    bool create_graph;   /* always an error: gradients of gradients are not computed */
    int fy_end_;
} fy_backward_opts;

#define fy_requires_grad_(...) FY_WITH_NUMBER(fy_requires_grad__at, true, "fy_requires_grad_", #__VA_ARGS__, __VA_ARGS__)
                                 /* fy_requires_grad_(x[, false]): x, a float tensor that no recorded call computed,
                                  * becomes a leaf whose gradient fy_backward computes. Returns x, borrowed */
#define fy_requires_grad(x) fy_requires_grad_at(FY_AT("fy_requires_grad", #x), x) /* does it, or does what it was
                                                                              computed from? false for NULL */
#define fy_is_leaf(x)     fy_is_leaf_at(FY_AT("fy_is_leaf", #x), x) /* true if no recorded call computed it */
#define fy_grad_fn(x)     fy_grad_fn_at(FY_AT("fy_grad_fn", #x), x) /* PyTorch's name of the call that computed x, as
                                                                       fy_print shows it: "MulBackward0"; NULL for a
                                                                       leaf. The text is the library's: it stays valid,
                                                                       do not free it */
#define fy_backward(...)  fy_backward_at(FY_BACKWARD("fy_backward", #__VA_ARGS__, __VA_ARGS__))
                                 /* adds the gradients of x to those of the leaves it was computed from, and releases
                                  * what the graph saved. Options: .gradient, .retain_graph. Returns false after an
                                  * error. Mistakes are found before anything runs; a pass that fails on its way, out
                                  * of memory, keeps the gradients that it has stored. Each gradient is computed in the
                                  * stream that its call ran in; the thread's current streams wait for those of leaves */
#define fy_grad(x)        fy_grad_at(FY_AT("fy_grad", #x), x)       /* the gradient of a leaf, or of a tensor after
                                                                       fy_retain_grad; borrowed; NULL if there is none */
#define fy_set_grad(x, g) fy_set_grad_at(FY_AT("fy_set_grad", #x ", " #g), x, g) /* makes g the gradient of x, of x's
                                                                       shape, dtype and device; NULL: none */
#define fy_retain_grad(x) fy_retain_grad_at(FY_AT("fy_retain_grad", #x), x) /* fy_backward stores x's gradient, too.
                                                                       Returns x, borrowed */
#define fy_saved_bytes(x) fy_saved_bytes_at(FY_AT("fy_saved_bytes", #x), x) /* bytes of the storages that the graph of x
                                                                       keeps for its gradients, each once, without
                                                                       those of leaves that require grad */
#define FY_NO_GRAD FY_NO_GRAD_NAMED(FY_CAT(fy_no_grad_, __COUNTER__)) /* FY_NO_GRAD { ... }: calls inside, by this
                                                                       thread, record no graph; break and return leave
                                                                       it */
bool fy_is_grad_enabled(void);   /* false inside FY_NO_GRAD */

#define FY_BACKWARD(call, text, ...) \
    FY_AT(call, text), FY_FIRST(__VA_ARGS__), \
        FY_OPTIONS(fy_backward_opts, "fy_backward(loss, .retain_graph = true)", FY_REST(__VA_ARGS__, .fy_end_ = 0))

typedef struct fy_no_grad {
    bool open, was_enabled;
    fy_depths depths;
} fy_no_grad;

fy_no_grad fy_no_grad_at(fy_site *at);
void fy_no_grad_end(fy_no_grad *block);
#define FY_NO_GRAD_NAMED(s) \
    for (fy_no_grad s __attribute__((cleanup(fy_no_grad_end))) = fy_no_grad_at(FY_AT("FY_NO_GRAD", "")); s.open; \
         s.open = false)

fy_tensor *fy_requires_grad__at(fy_site *at, fy_tensor *x, int64_t on);
bool fy_requires_grad_at(fy_site *at, fy_tensor *x);
bool fy_is_leaf_at(fy_site *at, fy_tensor *x);
const char *fy_grad_fn_at(fy_site *at, fy_tensor *x);
bool fy_backward_at(fy_site *at, fy_tensor *x, fy_backward_opts o);
fy_tensor *fy_grad_at(fy_site *at, fy_tensor *x);
bool fy_set_grad_at(fy_site *at, fy_tensor *x, fy_tensor *gradient);
fy_tensor *fy_retain_grad_at(fy_site *at, fy_tensor *x);
int64_t fy_saved_bytes_at(fy_site *at, fy_tensor *x);

#endif
