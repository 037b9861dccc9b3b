/* ferry_nn.h: modules, PyTorch's torch.nn. Included by ferry.h.
 *
 *     fy_module *net = fy_sequential((fy_nn_linear(2, 32), fy_nn_relu(), fy_nn_linear(32, 2)));
 *     fy_module_to(net, "cuda");
 *     fy_tensor *scores = fy_call(net, x);
 *     fy_module_free(net);
 *
 * A module holds parameters, buffers and other modules, each under a name: "0.weight" is the weight of the module "0" of
 * net. It owns what it holds: fy_module_free(net) frees all of it, and no scope does. A module of your own is a struct
 * that begins with `fy_module base`:
 *
 *     typedef struct scale { fy_module base; fy_tensor *factor; } scale;
 *     static fy_tensor *scale_forward(void *module, fy_tensor *x)
 *     {
 *         scale *self = module;
 *         return fy_mul(x, self->factor);
 *     }
 *     ...
 *     scale *net = fy_module_new(scale, scale_forward);
 *     net->factor = fy_parameter(net, "factor", fy_ones((1)));
 *
 * Initial values are PyTorch's: on the CPU the same numbers under the same seed. */
#ifndef FERRY_NN_H
#define FERRY_NN_H

typedef struct fy_module {
    struct fy_module_base *base; /* internal */
} fy_module;

/* Computes a module's result for x. What it makes, but the result, is freed when it returns. */
typedef fy_tensor *(*fy_forward)(void *module, fy_tensor *x);

typedef struct fy_linear_opts {
    const struct fy_options_by_name *fy_begin_;
    bool bias;          /* default true */
    const char *device; /* of the parameters; default "cpu" */
    fy_dtype dtype;     /* default float32 */
    int fy_end_;
} fy_linear_opts;

typedef struct fy_layer_norm_opts {
    const struct fy_options_by_name *fy_begin_;
    double eps;         /* added to the variance; default 1e-5 */
    const char *device;
    fy_dtype dtype;
    int fy_end_;
} fy_layer_norm_opts;

typedef struct fy_embedding_opts {
    const struct fy_options_by_name *fy_begin_;
    const char *device;
    fy_dtype dtype;
    int fy_end_;
} fy_embedding_opts;

typedef struct fy_load_opts {
    const struct fy_options_by_name *fy_begin_;
    const char *map_location; /* device that all tensors of the file are put on first; default: where each was saved */
    bool strict;              /* default true: names that only the file or only the module has are an error */
    int fy_end_;
} fy_load_opts;

/* ---- modules: the caller gets the module, and owns it until another module does ------------------------------------ */

#define fy_nn_linear(...) FY_NN_LINEAR("fy_nn_linear", #__VA_ARGS__, __VA_ARGS__) /* fy_nn_linear(in, out): x (..., in) ->
                                 (..., out): fy_linear(x, weight, bias); weight (out, in) and bias (out), both uniform in
                                 +-1/sqrt(in). Options: .bias = false, .device, .dtype */
#define fy_nn_embedding(...) FY_NN_EMBEDDING("fy_nn_embedding", #__VA_ARGS__, __VA_ARGS__) /* fy_nn_embedding(rows, n):
                                 int64 x (...) -> (..., n): rows of weight (rows, n), normal(0, 1). Options: .device,
                                 .dtype */
#define fy_nn_layer_norm(...) FY_NN_LAYER_NORM("fy_nn_layer_norm", #__VA_ARGS__, __VA_ARGS__) /* fy_nn_layer_norm((n)):
                                 fy_layer_norm over the last dimensions, of these sizes; weight 1, bias 0. Options: .eps,
                                 .device, .dtype */
#define fy_nn_dropout(p) fy_nn_dropout_at(FY_AT("fy_nn_dropout", #p), p) /* fy_dropout(x, p) in training; x in evaluation */
#define fy_nn_relu()    fy_nn_relu_at(FY_AT("fy_nn_relu", ""))
#define fy_nn_tanh()    fy_nn_tanh_at(FY_AT("fy_nn_tanh", ""))
#define fy_nn_sigmoid() fy_nn_sigmoid_at(FY_AT("fy_nn_sigmoid", ""))
#define fy_sequential(...) FY_SEQUENTIAL("fy_sequential", #__VA_ARGS__, __VA_ARGS__) /* fy_sequential((a, b, c)): c(b(a(x)));
                                 takes over the modules, under the names "0", "1" ...; a module of your own as &m->base */

#define fy_module_new(type, forward) ((type *)fy_module_new_at(FY_AT("fy_module_new", #type ", " #forward), \
                                                 ((void)FY_IS_MODULE(type), sizeof(type)), #type, forward))
                                 /* a module of your own: the struct, its other members 0 */
#define fy_parameter(m, name, x) fy_parameter_at(FY_AT("fy_parameter", #m ", " #name ", " #x), FY_MODULE(m), name, x)
                                 /* the module takes over x, and trains it: x requires grad. Returns x, borrowed. x may be
                                  * a parameter of another module, too: tied weights */
#define fy_buffer(m, name, x) fy_buffer_at(FY_AT("fy_buffer", #m ", " #name ", " #x), FY_MODULE(m), name, x)
                                 /* likewise, without a gradient: moved and saved, not trained */
#define fy_submodule(m, name, child) fy_submodule_at(FY_AT("fy_submodule", #m ", " #name ", " #child), FY_MODULE(m), \
                                 name, FY_MODULE(child)) /* the module takes over the child; returns it, borrowed */

/* ---- using them -------------------------------------------------------------------------------------------------- */

#define fy_call(m, x) fy_call_at(FY_AT("fy_call", #m ", " #x), FY_MODULE(m), x) /* the module's result for x */
#define fy_train(m)   fy_train_at(FY_AT("fy_train", #m), FY_MODULE(m), true) /* training, as a new module: dropout drops */
#define fy_eval(m)    fy_train_at(FY_AT("fy_eval", #m), FY_MODULE(m), false) /* evaluation; gradients are still
                                                                                     recorded: see FY_NO_GRAD */
#define fy_is_training(m) fy_is_training_at(FY_AT("fy_is_training", #m), FY_MODULE(m))
#define fy_module_to(m, target) fy_module_to_at(FY_AT("fy_module_to", #m ", " #target), FY_MODULE(m), FY_TARGET(target))
                                 /* moves parameters, their gradients and buffers to a device, or converts those of a
                                  * float dtype to another. A parameter stays the same fy_tensor *, so an optimizer keeps
                                  * it. Tensors that are only members of a struct, and an optimizer's state, stay. Returns
                                  * false after an error, with what was moved so far */
#define fy_parameters(m, count) fy_parameters_at(FY_AT("fy_parameters", #m ", " #count), FY_MODULE(m), count)
                                 /* an array of all parameters, borrowed until the module changes; its length in *count */
#define fy_get_parameter(m, name) fy_get_parameter_at(FY_AT("fy_get_parameter", #m ", " #name), FY_MODULE(m), name)
                                 /* the parameter or buffer "0.weight", borrowed */
#define fy_module_requires_grad_(m, on) fy_module_requires_grad__at(FY_AT("fy_module_requires_grad_", #m ", " #on), \
                                 FY_MODULE(m), on) /* of all parameters; false freezes them */
#define fy_save_state_dict(m, path) fy_save_state_dict_at(FY_AT("fy_save_state_dict", #m ", " #path), FY_MODULE(m), path)
                                 /* writes parameters and buffers to a .npz file, which numpy.load reads; what is on a
                                  * card is copied to the host. Replaces the file atomically. Returns true if written */
#define fy_load_state_dict(m, ...) FY_LOAD_STATE_DICT("fy_load_state_dict", #m ", " #__VA_ARGS__, m, __VA_ARGS__)
                                 /* fy_load_state_dict(net, "net.npz"): copies the file's values into the parameters and
                                  * buffers, which keep device and dtype. Each tensor is first put on the device that it
                                  * was saved on. Options: .map_location = "cpu", .strict = false. Returns true if all were
                                  * loaded; names or shapes that do not fit are an error, and nothing is changed */
#define fy_module_free(m) fy_module_free_at(FY_AT("fy_module_free", #m), FY_MODULE_OR_NULL(m)) /* m may be NULL */

/* ---- implementation of the macros -------------------------------------------------------------------------------- */

#define FY_IS_MODULE(type) \
    FY_DEMAND(__builtin_offsetof(type, base) == 0, "a module of your own is a struct that begins with `fy_module base`")
#define FY_MODULE(m) ((void)FY_IS_MODULE(__typeof__(*(m))), (fy_module *)(void *)(m))
#define FY_MODULE_OR_NULL(m) ((fy_module *)(void *)(m))
#define FY_IS_NO_BIAS(text) (__builtin_strncmp(text, ".bias", 5) != 0)
#define FY_IS_NO_STRICT(text) (__builtin_strncmp(text, ".strict", 7) != 0)
enum { FY_BIAS_TOLD = 1, FY_STRICT_TOLD = 1 };
#define FY_LOAD_TOLD(...) __VA_ARGS__ + FY_TOLD(FY_STRICT_TOLD, FY_IS_NO_STRICT, __VA_ARGS__)
#define FY_LINEAR_TOLD(...) __VA_ARGS__ + FY_TOLD(FY_BIAS_TOLD, FY_IS_NO_BIAS, __VA_ARGS__)
#define FY_NN_LINEAR(call, text, ...) \
    fy_nn_linear_at(FY_AT(call, text), FY_FIRST(__VA_ARGS__), \
                    FY_SECOND_OR(FY_TOO_FEW(call, "(in, out)"), __VA_ARGS__), \
                    FY_OPTIONS(fy_linear_opts, "fy_nn_linear(2, 32, .bias = false)", \
                               FY_LINEAR_TOLD(FY_REST(FY_REST(__VA_ARGS__, .fy_end_ = 0)))))
#define FY_NN_EMBEDDING(call, text, ...) \
    fy_nn_embedding_at(FY_AT(call, text), FY_FIRST(__VA_ARGS__), \
                       FY_SECOND_OR(FY_TOO_FEW(call, "(rows, n)"), __VA_ARGS__), \
                       FY_OPTIONS(fy_embedding_opts, "fy_nn_embedding(100, 8, .device = \"cuda\")", \
                                  FY_REST(FY_REST(__VA_ARGS__, .fy_end_ = 0))))
#define FY_NN_LAYER_NORM(call, text, ...) \
    fy_nn_layer_norm_at(FY_AT(call, text), FY_SHAPE(call, FY_FIRST(__VA_ARGS__)), \
                        FY_OPTIONS(fy_layer_norm_opts, "fy_nn_layer_norm((32), .eps = 1e-6)", \
                                   FY_EPS_TOLD_IN(FY_REST(__VA_ARGS__, .fy_end_ = 0))))
#define FY_SEQUENTIAL(call, text, ...) \
    FY_CAT(FY_SEQUENTIAL_, FY_IS_ONE_LIST(__VA_ARGS__))(call, text, FY_FIRST(__VA_ARGS__))
#define FY_SEQUENTIAL_1(call, text, x) fy_sequential_at(FY_AT(call, text), FY_MODULES x)
#define FY_SEQUENTIAL_0(call, text, x) \
    fy_sequential_at(FY_AT(call, text), \
                     (size_t)FY_REFUSE("the modules need parentheses of their own: fy_sequential((a, b))"), 0)
#define FY_MODULES(...) FY_COUNT32(__VA_ARGS__), __extension__(fy_module *const[]){__VA_ARGS__}
#define FY_LOAD_STATE_DICT(call, text, m, ...) \
    fy_load_state_dict_at(FY_AT(call, text), FY_MODULE(m), FY_FIRST(__VA_ARGS__), \
                          FY_OPTIONS(fy_load_opts, "fy_load_state_dict(net, \"net.npz\", .map_location = \"cpu\")", \
                                     FY_LOAD_TOLD(FY_REST(__VA_ARGS__, .fy_end_ = 0))))

fy_module *fy_nn_linear_at(fy_site *at, int64_t in, int64_t out, fy_linear_opts o);
fy_module *fy_nn_embedding_at(fy_site *at, int64_t rows, int64_t n, fy_embedding_opts o);
fy_module *fy_nn_layer_norm_at(fy_site *at, fy_shape shape, fy_layer_norm_opts o);
fy_module *fy_nn_dropout_at(fy_site *at, double p);
fy_module *fy_nn_relu_at(fy_site *at);
fy_module *fy_nn_tanh_at(fy_site *at);
fy_module *fy_nn_sigmoid_at(fy_site *at);
fy_module *fy_sequential_at(fy_site *at, size_t n, fy_module *const *modules);
void *fy_module_new_at(fy_site *at, size_t bytes, const char *type, fy_forward forward);
fy_tensor *fy_parameter_at(fy_site *at, fy_module *m, const char *name, fy_tensor *x);
fy_tensor *fy_buffer_at(fy_site *at, fy_module *m, const char *name, fy_tensor *x);
void *fy_submodule_at(fy_site *at, fy_module *m, const char *name, fy_module *child);
fy_tensor *fy_call_at(fy_site *at, fy_module *m, fy_tensor *x);
void fy_train_at(fy_site *at, fy_module *m, bool on);
bool fy_is_training_at(fy_site *at, fy_module *m);
bool fy_module_to_at(fy_site *at, fy_module *m, fy_target target);
fy_tensor *const *fy_parameters_at(fy_site *at, fy_module *m, size_t *count);
fy_tensor *fy_get_parameter_at(fy_site *at, fy_module *m, const char *name);
void fy_module_requires_grad__at(fy_site *at, fy_module *m, bool on);
bool fy_save_state_dict_at(fy_site *at, fy_module *m, const char *path);
bool fy_load_state_dict_at(fy_site *at, fy_module *m, const char *path, fy_load_opts o);
void fy_module_free_at(fy_site *at, fy_module *m);

#endif
