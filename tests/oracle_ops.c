/* oracle_ops.c: maps PyTorch's names to ferry.h's functions. Each row calls one function with the case's arguments and
 * computes nothing. */
#include <signal.h>
#include <string.h>

#include "oracle.h"

#define AT(call) FY_AT(call, "")

/* ---- arguments of a case ---- */

static const cJSON *argument(const call *c, const char *name)
{
    const cJSON *j = cJSON_GetObjectItem(c->args, name);
    return cJSON_IsNull(j) ? NULL : j;
}

static int64_t integer(const call *c, const char *name, int64_t otherwise)
{
    const cJSON *j = argument(c, name);
    return j ? integer_of(j) : otherwise;
}

static bool flag(const call *c, const char *name) { return cJSON_IsTrue(argument(c, name)); }
static const char *word(const call *c, const char *name) { return cJSON_GetStringValue(argument(c, name)); }

static fy_arg operand(const call *c, int i)
{
    const cJSON *j = cJSON_GetArrayItem(c->operands, i);
    if (!cJSON_IsString(j) || is_number(j)) return arg_of(j);
    for (int n = c->p->n - 1; n >= 0; n--)
        if (!strcmp(c->p->names[n].text, j->valuestring)) return FY_ARG(c->p->names[n].v.tensor);
    return arg_of(j); /* "nan", "inf" */
}

static fy_tensor *tensor(const call *c, int i) { return operand(c, i).tensor; }

static const char *device(const call *c)
{
    const char *name = word(c, "device");
    if (name && !strcmp(name, "other")) return "cuda";
    return name ? name : c->p->on_card ? "cuda" : "cpu";
}

static fy_opts options(const call *c)
{
    fy_opts o = {.device = device(c), .dtype = dtype_of(word(c, "dtype"))};
    if (argument(c, "seed")) fy_manual_seed((uint64_t)integer(c, "seed", 0));
    return o;
}

static int numbers(const call *c, fy_arg *to, const char *const *names)
{
    int n = 0;
    for (; *names; names++)
        if (argument(c, *names)) to[n++] = arg_of(argument(c, *names));
    return n;
}

/* ---- results ---- */

static value of_tensor(fy_tensor *x) { return (value){.kind = TENSOR, .tensor = x}; }
static value of_truth(bool b) { return (value){.kind = BOOL, .boolean = b}; }
static value of_number(double x) { return (value){.kind = NUMBER, .number = x}; }
static value of_dtype(fy_dtype d) { return (value){.kind = DTYPE, .dtype = d}; }

#define OP(name) static value run_##name(call *c)

/* ---- families ---- */

/* clang-format off */
#define X(op) OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), operand(c, 0), operand(c, 1))); }
FY_TWO_OPERAND_OPS(X) FY_TWO_OPERAND_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
#define X(op) OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), operand(c, 0), operand(c, 1), operand(c, 2))); }
FY_THREE_OPERAND_OPS(X)
#undef X
#define X(op) OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), tensor(c, 0))); }
FY_ONE_OPERAND_OPS(X) FY_ONE_OPERAND_OPS_IN_PLACE(FY_IN_PLACE)
X(t) X(contiguous) X(clone) X(detach) X(zeros_like) X(ones_like) X(empty_like) X(cpu) X(pin_memory)
#undef X
#define X(op) OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), tensor(c, 0), tensor(c, 1))); }
X(matmul) X(mm) X(bmm) X(mv) X(dot)
#undef X
#define X(op) OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), tensor(c, 0), integer(c, "dim", 0))); }
X(softmax) X(log_softmax) X(unsqueeze)
#undef X
#define X(op) OP(op) { return options(c), of_tensor(fy_##op##_at(AT("fy_" #op), tensor(c, 0))); } /* seeded */
X(rand_like) X(randn_like)
#undef X
#define X(op) OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), tensor(c, 0), integer(c, "diagonal", 0))); }
FY_TRIANGLE_OPS(X)
#undef X
#define X(op) OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), tensor(c, 0), shape_of(argument(c, "shape")))); }
X(view) X(reshape) X(expand) X(repeat)
#undef X
#define X(op) OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), shape_of(argument(c, "shape")), options(c))); }
X(zeros) X(ones) X(empty) X(rand) X(randn)
#undef X

static fy_arg value_or_1(const call *c) { return argument(c, "value") ? arg_of(argument(c, "value")) : FY_ARG(1); }
#define VALUED(op) \
    OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), tensor(c, 0), tensor(c, 1), tensor(c, 2), value_or_1(c))); }
#define X(op) VALUED(op) VALUED(op##_)
FY_VALUE_OPS(X)
#undef X
#define X(op) OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), tensor(c, 0), tensor(c, 1), operand(c, 2))); }
X(masked_fill) X(masked_fill_)
#undef X

/* The number comes first: 1 / a. */
#define X(op) OP(r##op) { return of_tensor(fy_##op##_at(AT("fy_" #op), operand(c, 1), operand(c, 0))); }
X(div) X(mul) X(floor_divide) X(remainder) X(pow)
#undef X

static fy_arg alpha(const call *c) { return argument(c, "alpha") ? arg_of(argument(c, "alpha")) : FY_ARG(1); }
#define X(op) OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), operand(c, 0), operand(c, 1), alpha(c))); }
FY_ALPHA_OPS(X) FY_ALPHA_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
OP(radd) { return of_tensor(fy_add_at(AT("fy_add"), operand(c, 1), operand(c, 0), alpha(c))); }
OP(rsub) { return of_tensor(fy_sub_at(AT("fy_sub"), operand(c, 1), operand(c, 0), alpha(c))); }

static value reduce(call *c, fy_tensor *(*f)(fy_site *, fy_tensor *, fy_shape, fy_reduce_opts), fy_site *at,
                    bool with_indices)
{
    fy_tensor *indices = NULL;
    fy_reduce_opts o = {.keepdim = flag(c, "keepdim"), .dtype = dtype_of(word(c, "dtype"))};
    o.biased = cJSON_IsFalse(argument(c, "unbiased"));
    if (argument(c, "p")) o.p = real_of(argument(c, "p")), o.fy_end_ = FY_P_TOLD;
    if (with_indices && argument(c, "dim")) o.indices = &indices;
    value v = of_tensor(f(at, tensor(c, 0), argument(c, "dim") ? shape_of(argument(c, "dim")) : fy_dims(0, NULL), o));
    c->second = of_tensor(indices);
    return v;
}
#define X(op) OP(op) { return reduce(c, fy_##op##_at, AT("fy_" #op), !strcmp(#op, "max") || !strcmp(#op, "min")); }
FY_REDUCTIONS(X)
#undef X
/* clang-format on */

/* ---- single ops ---- */

OP(fill_)
{
    fy_arg x = argument(c, "value") ? arg_of(argument(c, "value")) : operand(c, 1);
    return of_tensor(fy_fill__at(AT("fy_fill_"), tensor(c, 0), x));
}
OP(zero_) { return of_tensor(fy_zero_(tensor(c, 0))); }
OP(addmm)
{
    fy_arg beta = argument(c, "beta") ? arg_of(argument(c, "beta")) : FY_ARG(1);
    return of_tensor(fy_addmm_at(AT("fy_addmm"), tensor(c, 0), tensor(c, 1), tensor(c, 2), beta, alpha(c)));
}
OP(linear)
{
    fy_tensor *bias = cJSON_GetArraySize(c->operands) > 2 ? tensor(c, 2) : NULL;
    return of_tensor(fy_linear_at(AT("fy_linear"), tensor(c, 0), tensor(c, 1), bias));
}

static fy_loss_opts loss(const call *c)
{
    fy_loss_opts o = {.reduction = FY_MEAN};
    const char *name = word(c, "reduction");
    if (name && !strcmp(name, "sum")) o.reduction = FY_SUM;
    if (name && !strcmp(name, "none")) o.reduction = FY_NONE;
    if (argument(c, "label_smoothing")) o.label_smoothing = real_of(argument(c, "label_smoothing"));
    return o;
}
OP(cross_entropy)
{
    return of_tensor(fy_cross_entropy_at(AT("fy_cross_entropy"), tensor(c, 0), tensor(c, 1), loss(c)));
}
OP(mse_loss) { return of_tensor(fy_mse_loss_at(AT("fy_mse_loss"), tensor(c, 0), tensor(c, 1), loss(c))); }

OP(one_hot) { return of_tensor(fy_one_hot_at(AT("fy_one_hot"), tensor(c, 0), integer(c, "num_classes", -1))); }
OP(full_like) { return of_tensor(fy_full_like_at(AT("fy_full_like"), tensor(c, 0), arg_of(argument(c, "value")))); }

static fy_close_opts closeness(const call *c)
{
    fy_close_opts o = {.equal_nan = flag(c, "equal_nan")};
    if (argument(c, "rtol")) o.rtol = real_of(argument(c, "rtol")), o.fy_end_ |= FY_RTOL_TOLD;
    if (argument(c, "atol")) o.atol = real_of(argument(c, "atol")), o.fy_end_ |= FY_ATOL_TOLD;
    return o;
}
OP(isclose) { return of_tensor(fy_isclose_at(AT("fy_isclose"), tensor(c, 0), tensor(c, 1), closeness(c))); }
OP(allclose) { return of_truth(fy_allclose_at(AT("fy_allclose"), tensor(c, 0), tensor(c, 1), closeness(c))); }
OP(equal) { return of_truth(fy_equal_at(AT("fy_equal"), tensor(c, 0), tensor(c, 1))); }

/* A single value is a 0-dim tensor, fy_full((), value) in C. */
OP(full)
{
    return of_tensor(
        fy_full_at(AT("fy_full"), shape_of(argument(c, "shape")), arg_of(argument(c, "value")), options(c)));
}
static fy_tensor *rows(const call *c, const cJSON *values);
OP(tensor)
{
    const cJSON *values = argument(c, "values");
    if (cJSON_IsArray(values)) return of_tensor(rows(c, values));
    return of_tensor(fy_full_at(AT("fy_full"), fy_dims(0, NULL), arg_of(values), options(c)));
}
/* Nested lists are stacked. */
static fy_tensor *rows(const call *c, const cJSON *values)
{
    fy_arg args[64];
    fy_tensor *parts[64];
    size_t n = 0;
    const cJSON *j;
    bool nested = cJSON_IsArray(cJSON_GetArrayItem(values, 0));
    cJSON_ArrayForEach(j, values)
    {
        if (n == 64) break;
        if (nested) parts[n++] = rows(c, j);
        else args[n++] = arg_of(j);
    }
    return nested ? fy_stack_at(AT("fy_stack"), n, parts, 0) : fy_tensor_at(AT("fy_tensor"), n, args, options(c));
}
OP(arange)
{
    fy_arg range[3];
    int n = numbers(c, range, (const char *const[]){"start", "end", "step", NULL});
    return of_tensor(fy_arange_at(AT("fy_arange"), (size_t)n, range, options(c)));
}
OP(linspace)
{
    fy_arg range[3];
    int n = numbers(c, range, (const char *const[]){"start", "end", "steps", NULL});
    return of_tensor(fy_linspace_at(AT("fy_linspace"), (size_t)n, range, options(c)));
}
OP(randint)
{
    fy_arg range[2] = {FY_ARG(0)};
    int n = numbers(c, range + !argument(c, "low"), (const char *const[]){"low", "high", NULL});
    return of_tensor(fy_randint_at(AT("fy_randint"), (size_t)(n + !argument(c, "low")), range,
                                   shape_of(argument(c, argument(c, "shape") ? "shape" : "size")), options(c)));
}
OP(randperm)
{
    int64_t n = integer(c, "n", 0);
    return of_tensor(fy_randperm_at(AT("fy_randperm"), fy_dims(1, &n), options(c)));
}
OP(eye)
{
    int64_t dims[] = {integer(c, "n", 0), integer(c, "m", 0)};
    return of_tensor(fy_eye_at(AT("fy_eye"), fy_dims(argument(c, "m") ? 2 : 1, dims), options(c)));
}

OP(copy_) { return of_tensor(fy_copy__at(AT("fy_copy_"), tensor(c, 0), tensor(c, 1), (fy_copy_opts){0})); }
OP(to)
{
    fy_to_opts o = {
        .dtype = dtype_of(word(c, "dtype")), .copy = flag(c, "copy"), .non_blocking = flag(c, "non_blocking")};
    fy_tensor *x = tensor(c, 0);
    fy_target target = word(c, "device") ? FY_TARGET(device(c))
                       : o.dtype         ? FY_TARGET(o.dtype)
                                         : FY_TARGET(fy_device(x));
    return of_tensor(fy_to_at(AT("fy_to"), x, target, o));
}
OP(to_like)
{
    fy_to_opts o = {.copy = flag(c, "copy"), .non_blocking = flag(c, "non_blocking")};
    fy_tensor *other = tensor(c, 1);
    return of_tensor(fy_to_at(AT("fy_to"), tensor(c, 0), FY_TARGET(other), o));
}
OP(cuda)
{
    fy_cuda_opts card = {.device = (int)integer(c, "device", -1)};
    return of_tensor(fy_cuda_at(AT("fy_cuda"), tensor(c, 0), true, card));
}

OP(view_as_dtype) { return of_tensor(fy_view_dtype_at(AT("fy_view"), tensor(c, 0), dtype_of(word(c, "dtype")))); }
OP(flatten)
{
    return of_tensor(
        fy_flatten_at(AT("fy_flatten"), tensor(c, 0), integer(c, "start_dim", 0), integer(c, "end_dim", -1)));
}
OP(transpose)
{
    return of_tensor(fy_transpose_at(AT("fy_transpose"), tensor(c, 0), integer(c, "dim0", 0), integer(c, "dim1", 1)));
}
OP(permute) { return of_tensor(fy_permute_at(AT("fy_permute"), tensor(c, 0), shape_of(argument(c, "dims")))); }
OP(squeeze) { return of_tensor(fy_squeeze_at(AT("fy_squeeze"), tensor(c, 0), integer(c, "dim", FY_END))); }
OP(select)
{
    return of_tensor(fy_select_at(AT("fy_select"), tensor(c, 0), integer(c, "dim", 0), integer(c, "index", 0)));
}
OP(narrow)
{
    return of_tensor(fy_narrow_at(AT("fy_narrow"), tensor(c, 0), integer(c, "dim", 0), integer(c, "start", 0),
                                  integer(c, "length", 0)));
}
OP(slice)
{
    return of_tensor(fy_slice_at(AT("fy_slice"), tensor(c, 0), integer(c, "dim", 0), integer(c, "start", 0),
                                 integer(c, "end", FY_END), integer(c, "step", 1)));
}
static value join(call *c, fy_site *at, fy_tensor *(*f)(fy_site *, size_t, fy_tensor *const *, int64_t))
{
    fy_tensor *x[64];
    int n = cJSON_GetArraySize(c->operands);
    for (int i = 0; i < n && i < 64; i++) x[i] = tensor(c, i);
    return of_tensor(f(at, (size_t)n, x, integer(c, "dim", 0)));
}
OP(cat) { return join(c, AT("fy_cat"), fy_cat_at); }
OP(stack) { return join(c, AT("fy_stack"), fy_stack_at); }

/* ---- elements by their index, and order ---- */

/* The results are part.0, part.1 ...; `dst` of such a step is a list of names. */
static value parts_of(call *c, fy_tensors p)
{
    for (int i = 0; i < p.n; i++) c->part[i] = of_tensor(p.at[i]);
    c->parts = p.n;
    return of_tensor(p.n ? p.at[0] : NULL);
}
OP(split)
{
    fy_arg sizes[FY_MOST_PARTS];
    int n = 0;
    const cJSON *j;
    if (!cJSON_IsArray(argument(c, "size")))
        return parts_of(c, fy_split_at(AT("fy_split"), tensor(c, 0), integer(c, "size", 0), integer(c, "dim", 0)));
    cJSON_ArrayForEach(j, argument(c, "size")) sizes[n++] = arg_of(j);
    return parts_of(c, fy_split_sizes_at(AT("fy_split"), tensor(c, 0), (size_t)n, sizes, integer(c, "dim", 0)));
}
OP(chunk)
{
    return parts_of(c, fy_chunk_at(AT("fy_chunk"), tensor(c, 0), integer(c, "chunks", 0), integer(c, "dim", 0)));
}
/* clang-format off */
#define X(op) OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), tensor(c, 0), integer(c, "dim", 0), tensor(c, 1))); }
X(index_select) X(gather)
#undef X
#define X(op) OP(op) { return of_tensor(fy_##op##_at(AT("fy_" #op), tensor(c, 0), tensor(c, 1))); }
X(embedding) X(masked_select) X(index)
#undef X
    /* clang-format on */
    OP(scatter_add_)
{
    return of_tensor(
        fy_scatter_add__at(AT("fy_scatter_add_"), tensor(c, 0), integer(c, "dim", 0), tensor(c, 1), tensor(c, 2)));
}
OP(cumsum)
{
    fy_cumsum_opts o = {.dtype = dtype_of(word(c, "dtype"))};
    return of_tensor(fy_cumsum_at(AT("fy_cumsum"), tensor(c, 0), integer(c, "dim", 0), o));
}
OP(sort)
{
    fy_tensor *indices = NULL;
    fy_sort_opts o = {.descending = flag(c, "descending"), .stable = flag(c, "stable"), .indices = &indices};
    value v = of_tensor(fy_sort_at(AT("fy_sort"), tensor(c, 0), integer(c, "dim", -1), o));
    c->second = of_tensor(indices);
    return v;
}
OP(argsort)
{
    fy_sort_opts o = {.descending = flag(c, "descending")};
    return of_tensor(fy_argsort_at(AT("fy_argsort"), tensor(c, 0), integer(c, "dim", -1), o));
}
OP(topk)
{
    fy_tensor *indices = NULL;
    fy_topk_opts o = {.smallest = cJSON_IsFalse(argument(c, "largest")), .indices = &indices};
    value v = of_tensor(fy_topk_at(AT("fy_topk"), tensor(c, 0), integer(c, "k", 1), integer(c, "dim", -1), o));
    c->second = of_tensor(indices);
    return v;
}
OP(nonzero) { return of_tensor(fy_nonzero_at(AT("fy_nonzero"), tensor(c, 0))); }

/* ---- questions ---- */

OP(same_storage) { return of_truth(fy_same_storage_at(AT("fy_same_storage"), tensor(c, 0), tensor(c, 1))); }
OP(same_tensor) { return of_truth(tensor(c, 0) == tensor(c, 1)); }
OP(is_contiguous) { return of_truth(fy_is_contiguous(tensor(c, 0))); }
OP(is_pinned) { return of_truth(fy_is_pinned(tensor(c, 0))); }
OP(is_cuda) { return of_truth(fy_is_cuda(tensor(c, 0))); }
OP(storage_offset) { return of_number((double)fy_storage_offset(tensor(c, 0))); }
OP(numel) { return of_number((double)fy_numel(tensor(c, 0))); }
OP(dim) { return of_number(fy_dim(tensor(c, 0))); }
OP(size) { return of_number((double)fy_size(tensor(c, 0), (int)integer(c, "dim", 0))); }
OP(stride) { return of_number((double)fy_stride(tensor(c, 0), (int)integer(c, "dim", 0))); }
OP(item) { return of_number(fy_item(tensor(c, 0))); }
OP(dtype) { return of_dtype(fy_dtype_of(tensor(c, 0))); }
OP(result_type) { return of_dtype(fy_result_type_at(AT("fy_result_type"), operand(c, 0), operand(c, 1))); }
OP(promote_types) { return of_dtype(fy_promote_types(dtype_of(word(c, "a")), dtype_of(word(c, "b")))); }
OP(can_cast) { return of_truth(fy_can_cast(dtype_of(word(c, "from")), dtype_of(word(c, "to")))); }

/* ---- gradients ---- */

OP(requires_grad_)
{
    const cJSON *on = argument(c, "value");
    return of_tensor(fy_requires_grad__at(AT("fy_requires_grad_"), tensor(c, 0), !on || cJSON_IsTrue(on)));
}
OP(requires_grad) { return of_truth(fy_requires_grad_at(AT("fy_requires_grad"), tensor(c, 0))); }
OP(is_leaf) { return of_truth(fy_is_leaf_at(AT("fy_is_leaf"), tensor(c, 0))); }
OP(backward)
{
    fy_backward_opts o = {.gradient = tensor(c, 1), .retain_graph = flag(c, "retain_graph")};
    return of_truth(fy_backward_at(AT("fy_backward"), tensor(c, 0), o));
}
OP(grad) /* a reference of the case's own */
{
    fy_tensor *g = fy_grad_at(AT("fy_grad"), tensor(c, 0));
    return of_tensor(g ? fy_detach_at(AT("fy_detach"), g) : NULL);
}
OP(retain_grad) { return of_tensor(fy_retain_grad_at(AT("fy_retain_grad"), tensor(c, 0))); }
OP(set_grad) { return of_truth(fy_set_grad_at(AT("fy_set_grad"), tensor(c, 0), tensor(c, 1))); }
OP(no_grad_add_)
{
    fy_tensor *out = NULL;
    FY_NO_GRAD out = fy_add__at(AT("fy_add_"), operand(c, 0), operand(c, 1), FY_ARG(1));
    return of_tensor(out);
}

/* ---- training ---- */

static double real(const call *c, const char *name, double otherwise)
{
    return argument(c, name) ? real_of(argument(c, name)) : otherwise;
}

/* The operands: the parameter's first values, then a gradient for each step. */
static value trained(const call *c, optimizer_of make)
{
    fy_tensor *x[64];
    size_t n = (size_t)cJSON_GetArraySize(c->operands);
    if (n > sizeof x / sizeof *x) return of_tensor(NULL);
    for (size_t i = 0; i < n; i++) x[i] = tensor(c, (int)i);
    return of_tensor(train_both(c->args, make, n - 1, x));
}
OP(sgd) { return trained(c, sgd_of); }
OP(adam) { return trained(c, adam_of); }
OP(adamw) { return trained(c, adamw_of); }
OP(clip_grad_norm_)
{
    fy_tensor *w[2];
    size_t n = (size_t)cJSON_GetArraySize(c->operands);
    for (size_t i = 0; i < n; i++) {
        w[i] = fy_requires_grad_(fy_clone(tensor(c, (int)i)));
        fy_set_grad(w[i], fy_clone(tensor(c, (int)i)));
    }
    fy_tensor *total =
        fy_clip_grad_norm__at(AT("fy_clip_grad_norm_"), fy_trained_tensors(n, w), real(c, "max_norm", 1));
    c->part[c->parts++] = of_tensor(total);
    for (size_t i = 0; i < n; i++) c->part[c->parts++] = of_tensor(fy_detach(fy_grad(w[i])));
    return c->part[0];
}
OP(layer_norm)
{
    fy_layer_norm_with o = {.eps = real(c, "eps", 1e-5), .fy_end_ = FY_EPS_TOLD};
    if (cJSON_GetArraySize(c->operands) > 1) o.weight = tensor(c, 1), o.bias = tensor(c, 2);
    return of_tensor(fy_layer_norm_at(AT("fy_layer_norm"), tensor(c, 0), shape_of(argument(c, "shape")), o));
}
static fy_tensor *seeded(const call *c)
{
    fy_manual_seed((uint64_t)integer(c, "seed", 0));
    return fy_clone(tensor(c, 0));
}
OP(uniform_) { return of_tensor(fy_uniform_(seeded(c), real(c, "low", 0), real(c, "high", 1))); }
OP(normal_) { return of_tensor(fy_normal_(seeded(c), real(c, "mean", 0), real(c, "std", 1))); }
OP(bernoulli_) { return of_tensor(fy_bernoulli_(seeded(c), real(c, "p", 0.5))); }
OP(dropout) { return of_tensor(fy_dropout(seeded(c), real(c, "p", 0.5))); }

/* The parameters of a new module. */
static value parameters_of(call *c, fy_module *m)
{
    size_t n = 0;
    fy_tensor *const *x = m ? fy_parameters(m, &n) : NULL;
    for (size_t i = 0; i < n; i++) c->part[c->parts++] = of_tensor(fy_detach(x[i]));
    fy_module_free(m);
    return c->part[0];
}
static fy_dtype of_seed(const call *c) { return fy_manual_seed((uint64_t)integer(c, "seed", 0)), FY_FLOAT32; }
OP(nn_linear)
{
    bool bias = !cJSON_IsFalse(argument(c, "bias"));
    fy_dtype d = of_seed(c);
    return parameters_of(c, fy_nn_linear(integer(c, "n", 1), integer(c, "m", 1), .bias = bias, .dtype = d));
}
OP(nn_embedding)
{
    fy_dtype d = of_seed(c);
    return parameters_of(c, fy_nn_embedding(integer(c, "n", 1), integer(c, "m", 1), .dtype = d));
}
OP(nn_layer_norm)
{
    fy_dtype d = of_seed(c);
    return parameters_of(c, fy_nn_layer_norm((integer(c, "n", 1)), .device = device(c), .dtype = d));
}

/* Crashes, for the test of this program. */
OP(crash)
{
    (void)c;
    raise(SIGKILL);
    return of_truth(false);
}

/* clang-format off */
#define ROW(name, args) {#name, " " args " ", run_##name},
#define PLAIN(name) ROW(name, "")

static const oracle_op ops[] = {
    FY_THREE_OPERAND_OPS(PLAIN) FY_TWO_OPERAND_OPS(PLAIN) FY_ONE_OPERAND_OPS(PLAIN)
#define X(name) PLAIN(name)
    FY_TWO_OPERAND_OPS_IN_PLACE(FY_IN_PLACE) FY_ONE_OPERAND_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
#define X(name) ROW(name, "alpha")
    FY_ALPHA_OPS(X) FY_ALPHA_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
#define X(name) ROW(name, "value") ROW(name##_, "value")
    FY_VALUE_OPS(X)
#undef X
    PLAIN(masked_fill) PLAIN(masked_fill_)
    ROW(radd, "alpha") ROW(rsub, "alpha")
    PLAIN(rdiv) PLAIN(rmul) PLAIN(rfloor_divide) PLAIN(rremainder) PLAIN(rpow) ROW(fill_, "value") PLAIN(zero_)

    ROW(sum, "dim keepdim dtype") ROW(prod, "dim keepdim dtype") ROW(mean, "dim keepdim dtype")
    ROW(var, "dim keepdim unbiased") ROW(max, "dim keepdim") ROW(min, "dim keepdim") ROW(argmax, "dim keepdim")
    ROW(argmin, "dim keepdim") ROW(any, "dim keepdim") ROW(all, "dim keepdim")
    ROW(norm, "p dim keepdim dtype")
    ROW(softmax, "dim") ROW(log_softmax, "dim")

    PLAIN(matmul) PLAIN(mm) PLAIN(bmm) PLAIN(mv) PLAIN(dot) ROW(addmm, "beta alpha") PLAIN(linear)
    ROW(cross_entropy, "reduction label_smoothing") ROW(mse_loss, "reduction")

    ROW(zeros, "shape dtype device") ROW(ones, "shape dtype device") ROW(full, "shape value dtype device")
    ROW(tensor, "values dtype device") ROW(arange, "start end step dtype device")
    ROW(linspace, "start end steps dtype device") ROW(eye, "n m dtype device")
    ROW(rand, "shape seed dtype device") ROW(randn, "shape seed dtype device")
    ROW(randint, "low high shape size seed dtype device") ROW(randperm, "n seed dtype device")
    PLAIN(empty_like) PLAIN(zeros_like) PLAIN(ones_like) ROW(empty, "shape dtype device") ROW(full_like, "value")
    ROW(isclose, "rtol atol equal_nan") ROW(allclose, "rtol atol equal_nan") PLAIN(equal)
    ROW(rand_like, "seed") ROW(randn_like, "seed") ROW(one_hot, "num_classes") ROW(tril, "diagonal") ROW(triu, "diagonal")

    ROW(to, "dtype device copy non_blocking") ROW(to_like, "copy non_blocking") ROW(cuda, "device") PLAIN(cpu)
    PLAIN(copy_) PLAIN(pin_memory) PLAIN(is_pinned) PLAIN(is_cuda)

    ROW(view, "shape") ROW(view_as_dtype, "dtype") ROW(reshape, "shape") ROW(flatten, "start_dim end_dim")
    ROW(transpose, "dim0 dim1") PLAIN(t) ROW(permute, "dims") ROW(expand, "shape") ROW(squeeze, "dim")
    ROW(unsqueeze, "dim") ROW(select, "dim index") ROW(narrow, "dim start length") ROW(slice, "dim start end step")
    PLAIN(contiguous) PLAIN(clone) PLAIN(detach) ROW(cat, "dim") ROW(stack, "dim")

    ROW(split, "size dim") ROW(chunk, "chunks dim") ROW(repeat, "shape") ROW(index_select, "dim") ROW(gather, "dim")
    PLAIN(embedding) ROW(scatter_add_, "dim") ROW(cumsum, "dim dtype") ROW(sort, "dim descending stable")
    ROW(argsort, "dim descending") ROW(topk, "k dim largest") PLAIN(nonzero) PLAIN(masked_select) PLAIN(index)

    PLAIN(same_storage) PLAIN(same_tensor) PLAIN(is_contiguous) PLAIN(storage_offset) PLAIN(numel) PLAIN(dim)
    ROW(size, "dim") ROW(stride, "dim") PLAIN(item) PLAIN(dtype)
    PLAIN(result_type) ROW(promote_types, "a b") ROW(can_cast, "from to") PLAIN(crash)

    ROW(requires_grad_, "value") PLAIN(requires_grad) PLAIN(is_leaf) ROW(backward, "retain_graph") PLAIN(grad)
    PLAIN(no_grad_add_) PLAIN(retain_grad) PLAIN(set_grad)
    ROW(sgd, "lr momentum dampening weight_decay nesterov maximize")
    ROW(adam, "lr betas eps weight_decay amsgrad maximize") ROW(adamw, "lr betas eps weight_decay amsgrad maximize")
    ROW(clip_grad_norm_, "max_norm") ROW(layer_norm, "shape eps")
    ROW(uniform_, "seed low high") ROW(normal_, "seed mean std") ROW(bernoulli_, "seed p") ROW(dropout, "seed p")
    ROW(nn_linear, "seed n m bias") ROW(nn_embedding, "seed n m") ROW(nn_layer_norm, "seed n")
};
/* clang-format on */

const oracle_op *find_op(const char *name)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(ops[i].name, name)) return &ops[i];
    return NULL;
}
