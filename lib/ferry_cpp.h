/* ferry_cpp.h: the C++ versions of some macros. Included at the end of ferry.h by C++17 and later. Programs are
 * written as in C, but options must be in the order of their struct. */
#ifndef FERRY_CPP_H
#define FERRY_CPP_H

#pragma GCC system_header /* no warnings about macro expansions in the caller's code */

extern "C++" {

template <typename T, size_t n> struct fy_pack {
    T x[n + 1];
    const T *begin() const { return x; } /* valid until the end of the full expression */
};

template <typename... T> inline fy_shape fy_dims_of(T... sizes)
{
    const int64_t d[] = {0, static_cast<int64_t>(sizes)...};
    return fy_dims(sizeof...(sizes), d + 1);
}

inline fy_arg fy_arg_of(fy_tensor *x) { return fy_arg_tensor(x); }
inline fy_arg fy_arg_of(float x) { return fy_arg_real(x); }
inline fy_arg fy_arg_of(double x) { return fy_arg_real(x); }
inline fy_arg fy_arg_of(bool x) { return fy_arg_bool(x); }
inline fy_arg fy_arg_of(int x) { return fy_arg_int(x); }
inline fy_arg fy_arg_of(unsigned x) { return fy_arg_int(x); }
inline fy_arg fy_arg_of(long x) { return fy_arg_int(x); }
inline fy_arg fy_arg_of(long long x) { return fy_arg_int(x); }
inline fy_arg fy_arg_of(unsigned long x) { return fy_arg_unsigned(x); }
inline fy_arg fy_arg_of(unsigned long long x) { return fy_arg_unsigned(x); }
inline fy_arg fy_arg_of(long double x) { return fy_arg_float(x); }
fy_arg fy_arg_of(const void *) = delete; /* else a string would convert to bool */
fy_arg fy_arg_of(decltype(nullptr)) = delete;

inline fy_target fy_target_of(const char *device) { return fy_target_device(device); }
inline fy_target fy_target_of(fy_tensor *like) { return fy_target_like(like); }
inline fy_target fy_target_of(fy_dtype dtype) { return fy_target_dtype(dtype); }
fy_target fy_target_of(int) = delete; /* a number is not a target: FY_FLOAT32, FY_INT64, or a device such as "cuda" */

template <typename... T> constexpr size_t fy_count_of(T...) { return sizeof...(T); }

template <size_t n> inline fy_items fy_items_of(fy_tensor *const (&x)[n]) { return fy_items_array(x, n); }
inline fy_items fy_items_of(fy_iterator *from) { return fy_items_iterator(from, 0); }
template <typename T> inline fy_module *fy_module_of(T *m)
{
    static_assert(__builtin_offsetof(T, base) == 0, "a module of your own is a struct that begins with `fy_module base`");
    return reinterpret_cast<fy_module *>(m);
}
inline void fy_zero_grad_of(fy_site *at, fy_optimizer *o) { fy_zero_grad_at(at, o); }
template <typename T> inline void fy_zero_grad_of(fy_site *at, T *m) { fy_module_zero_grad_at(at, fy_module_of(m)); }
inline fy_items fy_items_of(fy_dataloader *loader) { return fy_items_loader(loader, 0); }
template <size_t n> fy_tensor *fy_item_of(fy_tensor *const (&)[n]);
fy_tensor **fy_item_of(fy_iterator *);
fy_tensor **fy_item_of(fy_dataloader *);

} /* extern "C++" */

#undef FY_LITERAL
#define FY_LITERAL(type, ...) (type{__VA_ARGS__})
#undef FY_CUDA_OPTS
#define FY_CUDA_OPTS(...) fy_cuda_opts{FY_REST(__VA_ARGS__, )} /* C++ has no mixture of names and none */
#undef FY_DIMS
#define FY_DIMS(...) fy_dims_of(__VA_ARGS__)
#undef FY_ARG
#define FY_ARG(x) FY_ARG_(x) /* expands NULL */
#define FY_ARG_(x) fy_arg_of((FY_HOLDS(!!__builtin_strcmp(#x, "__null"), "NULL is neither a tensor nor a number"), (x)))
#undef FY_HOLDS
#define FY_HOLDS(holds, words) (void)FY_DEMAND(holds, words)
#undef FY_TARGET
#define FY_TARGET(x) fy_target_of(x)
#undef FY_DEMAND
#define FY_DEMAND(holds, words) ([] { static_assert(holds, words); return 0; }())
#undef FY_LIST_0
#define FY_LIST_0(...) \
    FY_COUNT32(__VA_ARGS__), \
        (fy_pack<fy_arg, FY_COUNT32(__VA_ARGS__)>{{FY_CAT(FY_EACH_, FY_COUNT32(__VA_ARGS__))(__VA_ARGS__)}}.begin())
#undef FY_ITEM
#define FY_ITEM(source) decltype(fy_item_of(source))
#undef FY_ITEMS
#define FY_ITEMS(source) fy_items_of(source)
#undef FY_TENSOR_COUNT
#define FY_TENSOR_COUNT(...) fy_count_of(__VA_ARGS__)
#undef FY_TENSOR_ARRAY
#define FY_TENSOR_ARRAY(...) (fy_pack<fy_tensor *, FY_COUNT32(__VA_ARGS__)>{{__VA_ARGS__}}.begin())
#undef FY_MODULE
#define FY_MODULE(m) fy_module_of(m)
#undef FY_MODULES
#define FY_MODULES(...) FY_COUNT32(__VA_ARGS__), (fy_pack<fy_module *, FY_COUNT32(__VA_ARGS__)>{{__VA_ARGS__}}.begin())
#undef FY_ZERO_GRAD
#define FY_ZERO_GRAD(at, x) fy_zero_grad_of(at, x)
#undef FY_DTYPE_OF_VIEW
#define FY_DTYPE_OF_VIEW(x) (x) /* checked by the function's parameter type */

#endif
