/* ferry_amp.h: mixed precision, PyTorch's torch.amp. Included by ferry.h.
 *
 *     fy_tensor *loss = NULL;                               // declared outside: the block is a scope of C
 *     FY_AUTOCAST("cuda", FY_BFLOAT16) {
 *         loss = fy_cross_entropy(fy_linear(x, w, b), y);   // the product in bfloat16, the loss in float32
 *     }
 *     fy_backward(loss);                                    // the gradients of w and b are float32
 *
 * Inside the block each call casts the operands that need it, as PyTorch's lists say:
 *
 *     on a card   to the block's dtype: fy_matmul, fy_mm, fy_bmm, fy_mv, fy_addmm, fy_linear
 *                 to float32: fy_exp, fy_log, fy_pow, number / tensor, fy_softmax, fy_log_softmax, fy_sum, fy_prod,
 *                 fy_cumsum, fy_norm, fy_layer_norm, fy_cross_entropy, fy_mse_loss
 *                 to the widest of the operands' dtypes: fy_dot, fy_cat, fy_stack
 *     on the CPU  to bfloat16: fy_matmul, fy_mm, fy_bmm, fy_addmm, fy_linear; to float32: fy_prod, fy_cross_entropy,
 *                 fy_mse_loss
 *
 * Other calls, those in place, and tensors of float64 or of integers are as outside. A cast is an op in the log, and part
 * of the graph. That of a leaf that requires grad is kept for later calls, until the outermost block ends: a weight is
 * cast once. A weight that is changed inside the block is not cast anew. */
#ifndef FERRY_AMP_H
#define FERRY_AMP_H

/* FY_AUTOCAST("cuda") { ... }, FY_AUTOCAST("cuda", FY_BFLOAT16), FY_AUTOCAST("cpu"): "cuda" means every card; the dtype
 * is FY_FLOAT16 or FY_BFLOAT16, by default FY_FLOAT16 on cards, and FY_BFLOAT16 on the CPU, which knows no other. Calls
 * of this thread; break and return leave it. Blocks nest. Without a card "cuda" is a warning, and changes nothing. */
#define FY_AUTOCAST(...) \
    FY_AUTOCAST_NAMED(FY_CAT(fy_autocast_, __COUNTER__), "FY_AUTOCAST", #__VA_ARGS__, \
                      (FY_AT_MOST(2, "FY_AUTOCAST", "(\"cuda\", FY_BFLOAT16)", __VA_ARGS__), FY_FIRST(__VA_ARGS__)), \
                      FY_SECOND_OR(FY_DTYPE_UNSET, __VA_ARGS__), true)
/* FY_NO_AUTOCAST("cuda") { ... }: inside an FY_AUTOCAST, a part without it. */
#define FY_NO_AUTOCAST(device) \
    FY_AUTOCAST_NAMED(FY_CAT(fy_autocast_, __COUNTER__), "FY_NO_AUTOCAST", #device, device, FY_DTYPE_UNSET, false)
#define fy_is_autocast_enabled(device) \
    fy_is_autocast_enabled_at(FY_AT("fy_is_autocast_enabled", #device), device) /* "cuda" or "cpu"; emits no event */

/* ---- gradient scaling ------------------------------------------------------------------------------------------
 *
 * A float16 gradient below 6e-8 is 0. So the loss, and with it every gradient, is multiplied by a scale, and the gradients
 * are divided by it before the step. If one overflowed, the step is left out and the scale is halved; after 2000 good
 * steps it is doubled. bfloat16 needs none of this.
 *
 *     fy_backward(fy_scaler_scale(scaler, loss));
 *     fy_scaler_step(scaler, optimizer);     // in place of fy_step
 *     fy_scaler_update(scaler);
 */
typedef struct fy_grad_scaler fy_grad_scaler;

typedef struct fy_grad_scaler_opts {
    const struct fy_options_by_name *fy_begin_;
    double init_scale;       /* default 65536 */
    double growth_factor;    /* default 2 */
    double backoff_factor;   /* default 0.5 */
    int64_t growth_interval; /* good steps in a row before the scale grows; default 2000 */
    bool disabled;           /* the calls scale and check nothing: fy_scaler_step is fy_step */
    int fy_end_;
} fy_grad_scaler_opts;

/* fy_amp_grad_scaler(), fy_amp_grad_scaler(.init_scale = 1024): you own it, fy_grad_scaler_free frees it. */
#define fy_amp_grad_scaler(...) \
    fy_amp_grad_scaler_at(FY_AT("fy_amp_grad_scaler", #__VA_ARGS__), \
                          FY_OPTIONS(fy_grad_scaler_opts, "fy_amp_grad_scaler(.init_scale = 1024)", __VA_ARGS__))
#define fy_scaler_scale(scaler, loss) /* loss * scale, a new tensor; float32 for a 16-bit loss */ \
    fy_scaler_scale_at(FY_AT("fy_scaler_scale", #scaler ", " #loss), scaler, loss)
#define fy_scaler_unscale_(scaler, optimizer) /* divides the gradients of the optimizer's parameters by the scale, where \
                                 they are, once before its step: to clip them. False after an error */ \
    fy_scaler_unscale__at(FY_AT("fy_scaler_unscale_", #scaler ", " #optimizer), scaler, optimizer)
#define fy_scaler_step(scaler, optimizer) /* unscales, unless that is done, and steps, unless a gradient is infinite or \
                                 NaN. To know that it waits for the card. True if it stepped */ \
    fy_scaler_step_at(FY_AT("fy_scaler_step", #scaler ", " #optimizer), scaler, optimizer)
#define fy_scaler_update(scaler) fy_scaler_update_at(FY_AT("fy_scaler_update", #scaler), scaler) /* changes the scale, at
                                 the end of an iteration. False after an error */
#define fy_scaler_get_scale(scaler) fy_scaler_get_scale_at(FY_AT("fy_scaler_get_scale", #scaler), scaler) /* a double */
#define fy_grad_scaler_free(scaler) fy_grad_scaler_free_at(FY_AT("fy_grad_scaler_free", #scaler), scaler)

fy_grad_scaler *fy_amp_grad_scaler_at(fy_site *at, fy_grad_scaler_opts o);
fy_tensor *fy_scaler_scale_at(fy_site *at, fy_grad_scaler *s, fy_tensor *loss);
bool fy_scaler_unscale__at(fy_site *at, fy_grad_scaler *s, fy_optimizer *o);
bool fy_scaler_step_at(fy_site *at, fy_grad_scaler *s, fy_optimizer *o);
bool fy_scaler_update_at(fy_site *at, fy_grad_scaler *s);
double fy_scaler_get_scale_at(fy_site *at, fy_grad_scaler *s);
void fy_grad_scaler_free_at(fy_site *at, fy_grad_scaler *s);

/* ---- implementation of the macros ------------------------------------------------------------------------------ */

typedef struct fy_autocast {
    fy_site *at;
    int kind, turns; /* kind: 0 the CPU, 1 cards, -1 after an error; turns: 1, then 0 */
    fy_dtype before; /* of the enclosing block; FY_DTYPE_UNSET: none */
    fy_depths depths;
} fy_autocast;

fy_autocast fy_autocast_begin(fy_site *at, const char *device, fy_dtype dtype, bool enabled);
void fy_autocast_end(fy_autocast *block);
bool fy_is_autocast_enabled_at(fy_site *at, const char *device);
#define FY_AUTOCAST_NAMED(block, call, text, device, dtype, enabled) \
    for (fy_autocast block __attribute__((cleanup(fy_autocast_end))) = \
             fy_autocast_begin(FY_AT(call, text), device, dtype, enabled); \
         block.turns-- > 0;)

#endif
