/* ferry_call.h: implementation of the macros of ferry.h: call sites, lists and arguments. Included by ferry.h; not
 * needed to use Ferry.
 *
 * Each macro expansion has one static call site. It has the text of the arguments, so that messages can name 'mat1'
 * without the source, and caches the site's reference in the log. */
#ifndef FERRY_CALL_H
#define FERRY_CALL_H

typedef struct fy_site {
    const char *file;
    int line;
    const char *fn;   /* the calling function */
    const char *call; /* "fy_add" */
    const char *args; /* "a, b", as written */
    uint64_t interned; /* cache: log generation and reference */
    const char *variable; /* cache: the name left of '='; "" if there is none */
    uint32_t unscoped;      /* number of live tensors made here outside any scope */
    bool advised;         /* the once-per-line warning was printed */
} fy_site;

/* A statement expression (hence __extension__), because no other expression can define a static object. */
#define FY_AT(call, args) \
    (__extension__({ \
        static fy_site fy_site_ = {__FILE__, __LINE__, __func__, call, args, 0, 0, 0, false}; \
        &fy_site_; \
    }))

/* How deep the thread was in calls and regions outside of a block, and is inside; inside 0: the block is none of the
 * program's. */
typedef struct fy_depths {
    uint32_t outside, inside;
} fy_depths;

/* Lists in parentheses. FY_IS_PAREN(x) is 1 if x is written (...), else 0. */
#define FY_CAT_(a, b) a##b
#define FY_CAT(a, b) FY_CAT_(a, b)
#define FY_FIRST_(a, ...) a
#define FY_FIRST(...) FY_FIRST_(__VA_ARGS__, ~)
#define FY_SECOND_(a, b, ...) b
#define FY_SECOND(...) FY_SECOND_(__VA_ARGS__, ~, ~)
#define FY_SECOND_OR(otherwise, ...) FY_SECOND_(__VA_ARGS__, otherwise, ~)
#define FY_REST_(a, ...) __VA_ARGS__
#define FY_REST(...) FY_REST_(__VA_ARGS__) /* always called with a closing .fy_end_ = 0 */
#define FY_PAREN_PROBE(...) ~, 1, ~ /* FY_SECOND drops what follows the list */
#define FY_IS_PAREN(x) FY_SECOND(FY_PAREN_PROBE x, 0)

/* 1 for a single argument that is a list, else 0. */
#define FY_IS_ONE_LIST(...) FY_CAT(FY_IS_ONE_LIST_, FY_ALONE(__VA_ARGS__))(FY_FIRST(__VA_ARGS__))
#define FY_IS_ONE_LIST_0(x) 0
#define FY_IS_ONE_LIST_1(x) FY_IS_PAREN(x)

/* The leading 0 avoids an empty array for an empty list. */
#define FY_COUNT(...) (sizeof((const int64_t[]){0, __VA_ARGS__}) / sizeof(int64_t) - 1)
#define FY_DIMS(...) fy_dims(FY_COUNT(__VA_ARGS__), (const int64_t[]){0, __VA_ARGS__} + 1)
#define FY_SHAPE(call, x) \
    FY_SHAPE_IN("the shape needs parentheses of its own: " call "((2, 3)); (3) for one dimension, () for a 0-dim " \
                "tensor", x)
#define FY_SHAPE_IN(words, x) FY_CAT(FY_SHAPE_, FY_IS_PAREN(x))(words, x)
#define FY_SHAPE_1(words, x) FY_DIMS x
#define FY_SHAPE_0(words, x) fy_dims(FY_REFUSE(words), 0)

/* An int expression with a static assertion. */
#define FY_DEMAND(holds, words) (int)sizeof(struct { _Static_assert(holds, words); int none; })
#define FY_REFUSE(words) FY_DEMAND(0, words)
/* Likewise, of type void. The enumerator keeps a long condition out of clang's message. */
#define FY_HOLDS(holds, words) \
    (__extension__({ \
        enum { fy_holds_ = (holds) }; \
        _Static_assert(fy_holds_, words); \
        (void)0; \
    }))
#define FY_TOO_FEW(call, form) FY_REFUSE(call " gets too few arguments: " call form)
#define FY_NO_TENSOR(call, form) (fy_tensor *)(intptr_t)FY_TOO_FEW(call, form)
#define FY_AT_MOST(most, call, form, ...) \
    (void)FY_DEMAND(FY_COUNT32(__VA_ARGS__) <= most, call " gets too many arguments: " call form)

/* An argument that has no name: fy_add(a, b, 2), not .alpha = 2. A number such as .5 is none. */
#define FY_NAMELESS(call, form, x) \
    FY_HOLDS(FY_IS_NAMELESS(x), "this call has no options by name, and takes all arguments in order: " call form)
#define FY_IS_NAMELESS(x) FY_IS_NAMELESS_(x)
#define FY_IS_NAMELESS_(x) (__builtin_strncmp(#x, ".", 1) != 0 || __builtin_strncmp(#x, ".A", 2) < 0)

static inline fy_shape fy_dims(size_t n, const int64_t *dims)
{
    fy_shape s = {n > FY_MAX_DIMS ? FY_MAX_DIMS + 1 : (int)n, {0}}; /* too many: the call reports an error */
    for (size_t i = 0; i < n && i < FY_MAX_DIMS; i++) s.dims[i] = dims[i];
    return s;
}

/* A tensor or a number, and the kind of number, on which type promotion depends. */
typedef struct fy_arg {
    fy_tensor *tensor; /* NULL for a number */
    bool is_int;
    double real;
    int64_t integer;
    bool is_tensor; /* distinguishes a NULL tensor (a failed call) from a number */
    bool is_bool;   /* of type bool; C11's true is an int */
    bool is_huge;   /* above INT64_MAX: the call reports an error */
} fy_arg;

static inline fy_arg fy_arg_tensor(fy_tensor *x) { fy_arg a = {x, false, 0, 0, true, false, false}; return a; }
static inline fy_arg fy_arg_real(double x) { fy_arg a = {0, false, x, 0, false, false, false}; return a; }
static inline fy_arg fy_arg_int(int64_t x) { fy_arg a = {0, true, (double)x, x, false, false, false}; return a; }
static inline fy_arg fy_arg_bool(bool x) { fy_arg a = {0, true, (double)x, x, false, true, false}; return a; }
static inline fy_arg fy_arg_float(long double x) { return fy_arg_real((double)x); } /* _Float16, __bf16, long double */
static inline fy_arg fy_arg_unsigned(unsigned long long x)
{
    fy_arg a = {0, true, (double)x, (int64_t)x, false, false, x > INT64_MAX};
    return a;
}

/* The target of fy_to: a device, a dtype, or both of another tensor. */
typedef struct fy_target {
    const char *device; /* NULL: keep */
    fy_dtype dtype;     /* FY_DTYPE_UNSET: keep */
    fy_tensor *like;    /* use its device and dtype */
    bool is_like;
} fy_target;

static inline fy_target fy_target_device(const char *d) { fy_target t = {d, FY_DTYPE_UNSET, 0, false}; return t; }
static inline fy_target fy_target_dtype(fy_dtype d) { fy_target t = {0, d, 0, false}; return t; }
static inline fy_target fy_target_like(fy_tensor *x) { fy_target t = {0, FY_DTYPE_UNSET, x, true}; return t; }

/* An operand as a fy_arg. x is expanded only once, since nested calls would otherwise grow exponentially. Types
 * without a name here, such as those of bit-fields, are recognized by their type class: 8 is GCC's for floats. */
#define FY_ARG(x) FY_ARG_NAMED(FY_CAT(fy_operand_, __COUNTER__), x)
#define FY_ARG_NAMED(v, x) \
    (__extension__({ \
        __auto_type v = ((void)0, (x)); \
        enum { fy_is_operand_ = FY_IS_TENSOR(v) || FY_IS_FLOAT(v) || FY_IS_INTEGER(v) }; \
        _Static_assert(fy_is_operand_, "expected a tensor or a number, not NULL, text or anything else: " \
                                       "pass a tensor, for example from fy_ones, or a number such as 2 or 0.5"); \
        _Generic(v, fy_tensor *: fy_arg_tensor, float: fy_arg_real, double: fy_arg_real, bool: fy_arg_bool, \
                 unsigned long: fy_arg_unsigned, unsigned long long: fy_arg_unsigned, \
                 default: __builtin_choose_expr(FY_IS_FLOAT(v), fy_arg_float, fy_arg_int)) \
            (__builtin_choose_expr(fy_is_operand_, v, 0)); /* avoids a second error */ \
    }))
#define FY_IS_TENSOR(v) _Generic(v, fy_tensor *: 1, default: 0)
#define FY_IS_FLOAT(v) (__builtin_classify_type(v) == 8)
#define FY_IS_INTEGER(v) \
    (__builtin_classify_type(v) > 0 && __builtin_classify_type(v) < 5 && sizeof(v) <= sizeof(int64_t))
#define FY_NO_NUMBER(x) \
    FY_HOLDS(_Generic((x), int: 0, default: 1), \
             "a number is not a target: write a dtype, fy_to(x, FY_FLOAT32), or a device, fy_to(x, \"cuda\")")
#define FY_TARGET(x) \
    (FY_NO_NUMBER(x), \
     _Generic((x), char *: fy_target_device, const char *: fy_target_device, fy_tensor *: fy_target_like, \
              fy_dtype: fy_target_dtype, int: fy_target_dtype)(x))

/* FY_MAKE: call site, shape and options of fy_zeros, fy_ones, fy_rand and fy_randn. */
#define FY_OPTIONS(type, form, ...) \
    (FY_HOLDS(FY_OF_OPTIONS(FY_IS_OPTION, __VA_ARGS__), "options are given by name, with a dot in front: " form), \
     FY_HOLDS(FY_OF_OPTIONS(FY_IS_NO_NUMBER, __VA_ARGS__), \
              "a device is named by text, not by a number: .device = \"cuda:0\", \"cuda:1\" or \"cpu\""), \
     FY_LITERAL(type, __VA_ARGS__))
#define FY_LITERAL(type, ...) (__extension__(type){__VA_ARGS__})
/* Does it hold for each option's text? Compilers evaluate strncmp of literals as a constant. */
#define FY_OF_OPTIONS(holds, ...) FY_OF_TEN(holds, __VA_ARGS__, , , , , , , , , , ~)
#define FY_OF_TEN(holds, a, b, c, d, e, f, g, h, i, j, ...) \
    (holds(#a) && holds(#b) && holds(#c) && holds(#d) && holds(#e) && holds(#f) && holds(#g) && holds(#h) && \
     holds(#i) && holds(#j))
#define FY_IS_OPTION(text) (sizeof text == 1 || !__builtin_strncmp(text, ".", 1))
#define FY_IS_NO_NUMBER(text) \
    (!FY_IS_DIGIT_AFTER(".device = ", text) && !FY_IS_DIGIT_AFTER(".device=", text) && \
     !FY_IS_DIGIT_AFTER(".device =", text) && !FY_IS_DIGIT_AFTER(".device= ", text))
#define FY_IS_DIGIT_AFTER(head, text) \
    (__builtin_strncmp(text, head "0", sizeof head) >= 0 && __builtin_strncmp(text, head "9", sizeof head) <= 0)
#define FY_OPTS(form, ...) FY_OPTIONS(fy_opts, form, FY_REST(__VA_ARGS__, .fy_end_ = 0))
#define FY_MAKE(call, text, ...) \
    FY_AT(call, text), FY_SHAPE(call, FY_FIRST(__VA_ARGS__)), FY_OPTS(call "((2), .device = \"cuda\")", __VA_ARGS__)

/* FY_LIST (1, 2.5): number of values, and each as a fy_arg; more than 32 are a compile error. An empty list is
 * recognized by its first value: an empty argument followed by () expands to a call of the probe. */
#define FY_IS_EMPTY(x) FY_CAT(FY_IS_EMPTY_, FY_IS_PAREN(x))(x)
#define FY_IS_EMPTY_1(x) 0
#define FY_IS_EMPTY_0(x) FY_SECOND(FY_PAREN_PROBE x (), 0)
#define FY_COUNT32(...) FY_COUNT32_(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
#define FY_COUNT32_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, n, ...) n
#define FY_ALONE(...) FY_COUNT32_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, ~) /* 1 for one argument, else 0 */
/* Without this check a row in a list, as in ((1, 2), (3, 4)), would be C's comma operator: its last value. */
#define FY_VALUE(x) FY_CAT(FY_VALUE_, FY_IS_ROW(x))(x)
#define FY_VALUE_0(x) FY_ARG(x)
#define FY_VALUE_1(x) \
    FY_ARG(FY_REFUSE("a list holds numbers, not rows; make the rows with fy_view: " \
                     "fy_view(fy_tensor((1, 2, 3, 4)), (2, 2))"))
#define FY_IS_ROW(x) FY_SECOND(FY_ROW_PROBE x, 0)
#define FY_ROW_PROBE(...) ~, FY_CAT(FY_IS_ROW_OF_, FY_ALONE(__VA_ARGS__)), ~
#define FY_IS_ROW_OF_0 1
#define FY_IS_ROW_OF_1 0
#define FY_EACH_1(x) FY_VALUE(x)
#define FY_EACH_2(x, ...) FY_VALUE(x), FY_EACH_1(__VA_ARGS__)
#define FY_EACH_3(x, ...) FY_VALUE(x), FY_EACH_2(__VA_ARGS__)
#define FY_EACH_4(x, ...) FY_VALUE(x), FY_EACH_3(__VA_ARGS__)
#define FY_EACH_5(x, ...) FY_VALUE(x), FY_EACH_4(__VA_ARGS__)
#define FY_EACH_6(x, ...) FY_VALUE(x), FY_EACH_5(__VA_ARGS__)
#define FY_EACH_7(x, ...) FY_VALUE(x), FY_EACH_6(__VA_ARGS__)
#define FY_EACH_8(x, ...) FY_VALUE(x), FY_EACH_7(__VA_ARGS__)
#define FY_EACH_9(x, ...) FY_VALUE(x), FY_EACH_8(__VA_ARGS__)
#define FY_EACH_10(x, ...) FY_VALUE(x), FY_EACH_9(__VA_ARGS__)
#define FY_EACH_11(x, ...) FY_VALUE(x), FY_EACH_10(__VA_ARGS__)
#define FY_EACH_12(x, ...) FY_VALUE(x), FY_EACH_11(__VA_ARGS__)
#define FY_EACH_13(x, ...) FY_VALUE(x), FY_EACH_12(__VA_ARGS__)
#define FY_EACH_14(x, ...) FY_VALUE(x), FY_EACH_13(__VA_ARGS__)
#define FY_EACH_15(x, ...) FY_VALUE(x), FY_EACH_14(__VA_ARGS__)
#define FY_EACH_16(x, ...) FY_VALUE(x), FY_EACH_15(__VA_ARGS__)
#define FY_EACH_17(x, ...) FY_VALUE(x), FY_EACH_16(__VA_ARGS__)
#define FY_EACH_18(x, ...) FY_VALUE(x), FY_EACH_17(__VA_ARGS__)
#define FY_EACH_19(x, ...) FY_VALUE(x), FY_EACH_18(__VA_ARGS__)
#define FY_EACH_20(x, ...) FY_VALUE(x), FY_EACH_19(__VA_ARGS__)
#define FY_EACH_21(x, ...) FY_VALUE(x), FY_EACH_20(__VA_ARGS__)
#define FY_EACH_22(x, ...) FY_VALUE(x), FY_EACH_21(__VA_ARGS__)
#define FY_EACH_23(x, ...) FY_VALUE(x), FY_EACH_22(__VA_ARGS__)
#define FY_EACH_24(x, ...) FY_VALUE(x), FY_EACH_23(__VA_ARGS__)
#define FY_EACH_25(x, ...) FY_VALUE(x), FY_EACH_24(__VA_ARGS__)
#define FY_EACH_26(x, ...) FY_VALUE(x), FY_EACH_25(__VA_ARGS__)
#define FY_EACH_27(x, ...) FY_VALUE(x), FY_EACH_26(__VA_ARGS__)
#define FY_EACH_28(x, ...) FY_VALUE(x), FY_EACH_27(__VA_ARGS__)
#define FY_EACH_29(x, ...) FY_VALUE(x), FY_EACH_28(__VA_ARGS__)
#define FY_EACH_30(x, ...) FY_VALUE(x), FY_EACH_29(__VA_ARGS__)
#define FY_EACH_31(x, ...) FY_VALUE(x), FY_EACH_30(__VA_ARGS__)
#define FY_EACH_32(x, ...) FY_VALUE(x), FY_EACH_31(__VA_ARGS__)
#define FY_LIST(...) FY_CAT(FY_LIST_, FY_IS_EMPTY(FY_FIRST(__VA_ARGS__)))(__VA_ARGS__)
#define FY_LIST_1(...) 0, 0
#define FY_LIST_0(...) \
    FY_COUNT32(__VA_ARGS__), __extension__(const fy_arg[]){FY_CAT(FY_EACH_, FY_COUNT32(__VA_ARGS__))(__VA_ARGS__)}

#define FY_OPTS2(form, ...) FY_OPTIONS(fy_opts, form, FY_REST(FY_REST(__VA_ARGS__, .fy_end_ = 0)))
#define FY_FULL(call, text, ...) \
    fy_full_at(FY_AT(call, text), \
               FY_SHAPE_IN("the shape needs parentheses of its own: fy_full((2, 3), 7.5)", FY_FIRST(__VA_ARGS__)), \
               FY_ARG(FY_SECOND_OR(FY_REFUSE("the value comes second: fy_full((2, 3), 7.5)"), __VA_ARGS__)), \
               FY_OPTS2("fy_full((2, 3), 7.5, .device = \"cuda\")", __VA_ARGS__))
#define FY_ARANGE(call, text, ...) \
    fy_arange_at(FY_AT(call, text), FY_LIST_OF("fy_arange((5)), fy_arange((0, 5))", FY_FIRST(__VA_ARGS__)), \
                 FY_OPTS("fy_arange((5), .device = \"cuda\")", __VA_ARGS__))
#define FY_TENSOR(call, text, ...) \
    fy_tensor_at(FY_AT(call, text), FY_LIST_OF("fy_tensor((1, 2, 3))", FY_FIRST(__VA_ARGS__)), \
                 FY_OPTS("fy_tensor((1, 2, 3), .device = \"cuda\")", __VA_ARGS__))
#define FY_TO(call, text, ...) \
    fy_to_at(FY_AT(call, text), FY_FIRST(__VA_ARGS__), \
             FY_TARGET(FY_SECOND_OR((fy_dtype)FY_REFUSE("the target is missing: fy_to(x, \"cuda\")"), __VA_ARGS__)), \
             FY_OPTIONS(fy_to_opts, "fy_to(x, \"cuda\", .copy = true)", FY_REST(FY_REST(__VA_ARGS__, .fy_end_ = 0))))
#define FY_COPY(call, text, dst, ...) \
    fy_copy__at(FY_AT(call, text), dst, FY_FIRST(__VA_ARGS__), \
                FY_OPTIONS(fy_copy_opts, "fy_copy_(dst, src, .non_blocking = true)", FY_REST(__VA_ARGS__, .fy_end_ = 0)))
#define FY_LINSPACE(call, text, ...) \
    fy_linspace_at(FY_AT(call, text), FY_LIST_OF("fy_linspace((0, 1, 5))", FY_FIRST(__VA_ARGS__)), \
                   FY_OPTS("fy_linspace((0, 1, 5), .device = \"cuda\")", __VA_ARGS__))
#define FY_EYE(call, text, ...) \
    fy_eye_at(FY_AT(call, text), \
        FY_SHAPE_IN("the size needs parentheses of its own: fy_eye((3)), fy_eye((3, 4))", FY_FIRST(__VA_ARGS__)), \
        FY_OPTS("fy_eye((3), .device = \"cuda\")", __VA_ARGS__))
#define FY_RANDPERM(call, text, ...) \
    fy_randperm_at(FY_AT(call, text), \
        FY_SHAPE_IN("the size needs parentheses of its own: fy_randperm((5))", FY_FIRST(__VA_ARGS__)), \
        FY_OPTS("fy_randperm((5), .device = \"cuda\")", __VA_ARGS__))
#define FY_RANDINT(call, text, ...) \
    fy_randint_at(FY_AT(call, text), FY_LIST_OF("fy_randint((0, 10), (2, 3))", FY_FIRST(__VA_ARGS__)), \
                  FY_SHAPE_IN("the shape comes second, in parentheses of its own: fy_randint((0, 10), (2, 3))", \
                              FY_SECOND_OR(FY_MISSING, __VA_ARGS__)), \
                  FY_OPTS2("fy_randint((0, 10), (2, 3), .device = \"cuda\")", __VA_ARGS__))
#define FY_CUDA(call, text, ...) \
    fy_cuda_at((FY_AT_MOST(3, call, "(x, 1, .non_blocking = true)", __VA_ARGS__), \
                FY_HOLDS(!FY_IS_NAMELESS(FY_THIRD_OR(.o, __VA_ARGS__)), \
                         "options are given by name, with a dot in front: " call "(x, 1, .non_blocking = true)"), \
                FY_AT(call, text)), \
               FY_FIRST(__VA_ARGS__), FY_IS_NAMELESS(FY_SECOND_OR(.o, __VA_ARGS__)), FY_CUDA_OPTS(__VA_ARGS__))
#define FY_CUDA_OPTS(...) FY_LITERAL(fy_cuda_opts, FY_REST(__VA_ARGS__, .fy_end_ = 0))

/* A tensor and an optional whole number. */
#define FY_WITH_NUMBER(f, otherwise, call, text, ...) \
    f((FY_AT_MOST(2, call, "(x, 1)", __VA_ARGS__), FY_AT(call, text)), FY_FIRST(__VA_ARGS__), \
      FY_SECOND_OR(otherwise, __VA_ARGS__))

/* An optional third argument, such as alpha in fy_add(a, b, alpha). */
#define FY_THIRD_(a, b, c, ...) c
#define FY_THIRD_OR(otherwise, ...) FY_THIRD_(__VA_ARGS__, otherwise, otherwise, ~)
#define FY_FOURTH_(a, b, c, d, ...) d
#define FY_FOURTH_OR(otherwise, ...) FY_FOURTH_(__VA_ARGS__, otherwise, otherwise, ~)
#define FY_FIFTH_(a, b, c, d, e, ...) e
#define FY_FIFTH_OR(otherwise, ...) FY_FIFTH_(__VA_ARGS__, otherwise, otherwise, otherwise, ~)

/* Reductions: fy_sum(x), fy_sum(x, (0, 1)), fy_sum(x, (1), .keepdim = true). No list means all. */
#define FY_REDUCE(call, text, ...) \
    FY_AT(call, text), FY_FIRST(__VA_ARGS__), FY_REDUCE_DIMS(call, FY_SECOND_OR((), __VA_ARGS__)), \
        FY_OPTIONS(fy_reduce_opts, call "(x, (0), .keepdim = true)", FY_CAT(FY_REDUCE_OPTS_, FY_ALONE(__VA_ARGS__))(__VA_ARGS__))
#define FY_REDUCE_OPTS_1(x) .fy_end_ = 0
#define FY_REDUCE_OPTS_0(...) FY_REDUCE_TOLD(FY_REST(FY_REST(__VA_ARGS__, .fy_end_ = 0)))
#define FY_REDUCE_DIMS(call, x) FY_CAT(FY_REDUCE_DIMS_, FY_IS_PAREN(x))(call, x)
#define FY_REDUCE_DIMS_1(call, x) FY_DIMS x
#define FY_REDUCE_DIMS_0(call, x) \
    fy_dims(FY_REFUSE("the dimensions need parentheses of their own: " call "(x, (0)), or " \
                      call "(x, (), .keepdim = true) for all"), 0)
#define FY_LOSS_OPTS(call, ...) \
    FY_OPTIONS(fy_loss_opts, call "(x, target, .reduction = FY_SUM)", FY_REST(FY_REST(__VA_ARGS__, .fy_end_ = 0)))

/* Options whose default is not 0: .fy_end_, the last of the list, says which of them are told. */
#define FY_IS_NO_P(text) (__builtin_strncmp(text, ".p ", 3) != 0 && __builtin_strncmp(text, ".p=", 3) != 0)
#define FY_IS_NO_RTOL(text) (__builtin_strncmp(text, ".rtol", 5) != 0)
#define FY_IS_NO_ATOL(text) (__builtin_strncmp(text, ".atol", 5) != 0)
#define FY_IS_NO_EPS(text) (__builtin_strncmp(text, ".eps", 4) != 0)
enum { FY_P_TOLD = 1, FY_RTOL_TOLD = 1, FY_ATOL_TOLD = 2, FY_EPS_TOLD = 1 };
#define FY_TOLD(bit, is_other, ...) (FY_OF_OPTIONS(is_other, __VA_ARGS__) ? 0 : bit)
#define FY_REDUCE_TOLD(...) __VA_ARGS__ + FY_TOLD(FY_P_TOLD, FY_IS_NO_P, __VA_ARGS__)
#define FY_EPS_TOLD_IN(...) __VA_ARGS__ + FY_TOLD(FY_EPS_TOLD, FY_IS_NO_EPS, __VA_ARGS__)
#define FY_CLOSE_TOLD(...) \
    __VA_ARGS__ + FY_TOLD(FY_RTOL_TOLD, FY_IS_NO_RTOL, __VA_ARGS__) + FY_TOLD(FY_ATOL_TOLD, FY_IS_NO_ATOL, __VA_ARGS__)
#define FY_CLOSE_OPTS(call, ...) \
    FY_OPTIONS(fy_close_opts, call "(a, b, .rtol = 1e-3)", FY_CLOSE_TOLD(FY_REST(FY_REST(__VA_ARGS__, .fy_end_ = 0))))

#define FY_LIST_OF(form, x) FY_CAT(FY_LIST_OF_, FY_IS_PAREN(x))(form, x)
#define FY_LIST_OF_1(form, x) FY_LIST x
#define FY_LIST_OF_0(form, x) FY_REFUSE("the values need parentheses of their own: " form), 0

/* A scope owns the newest part of the thread's list of references; the cleanup attribute ends it on break and return,
 * too. */
typedef struct fy_scope {
    bool open;
    fy_site *at;
    fy_depths depths;
} fy_scope;

fy_scope fy_scope_of_program(fy_site *at);
void fy_scope_end(fy_scope *scope);
#define FY_SCOPE_ FY_SCOPE_NAMED(FY_CAT(fy_scope_, __COUNTER__))
#define FY_SCOPE_NAMED(s) \
    for (fy_scope s __attribute__((cleanup(fy_scope_end))) = fy_scope_of_program(FY_AT("FY_SCOPE", "")); s.open; \
         s.open = false)

/* Loops whose iterations are scopes. The loop with the program's body is inside one that runs once, whose variable
 * ends the last scope, however the loop is left; break leaves both. */
struct fy_iterations;
typedef struct fy_items { /* the source of FY_EACH */
    fy_iterator *from; /* NULL: the loader, or the array */
    fy_tensor *const *array;
    size_t n;
    struct fy_dataloader *loader;
    struct fy_epoch *epoch; /* of the loader; NULL: not begun */
    fy_tensor **(*batch)(struct fy_iterations *t, bool more); /* the loader's next batch, or NULL; !more: ends the epoch */
} fy_items;

typedef struct fy_iterations {
    bool once;
    fy_scope scope; /* of the current iteration */
    fy_items items; /* remaining */
    void *item;
    int64_t turn;        /* of the current iteration, from 0 */
    fy_depths loop, turns; /* turns: of the current iteration */
} fy_iterations;

/* Ends the scope of the last iteration and, if more, begins one; returns more. turns: how many there are in all, if that
 * is known, or INT64_MIN. */
bool fy_iteration_next(fy_iterations *t, bool more, int64_t turns);
bool fy_iteration_next_item(fy_iterations *t); /* likewise, for the next item */
void fy_iterations_end(fy_iterations *t);

static inline fy_items fy_items_array(fy_tensor *const *x, size_t n) { fy_items s = {0, x, n, 0, 0, 0}; return s; }
static inline fy_items fy_items_iterator(fy_iterator *from, size_t n) { (void)n; fy_items s = {from, 0, 0, 0, 0, 0}; return s; }
fy_items fy_items_loader(struct fy_dataloader *loader, size_t n);
static inline fy_iterations fy_turns_of(fy_site *at, fy_items items)
{
    fy_iterations t = {true, {false, at, {0, 0}}, items, 0, 0, {0, 0}, {0, 0}};
    return t;
}

#define FY_TURNS(t, at, items) \
    for (fy_iterations t __attribute__((cleanup(fy_iterations_end))) = fy_turns_of(at, items); t.once; t.once = false)
#define FY_TIMES_(i, n, t) \
    FY_TURNS(t, FY_AT("FY_TIMES", #i ", " #n), fy_items_array(0, 0)) \
        for (__typeof__((n) + 0) i = 0, FY_CAT(t, _n) = (n); fy_iteration_next(&t, i < FY_CAT(t, _n), (int64_t)FY_CAT(t, _n)); i++)
#define FY_EACH_(x, source, t) \
    FY_TURNS(t, FY_AT("FY_EACH", #x ", " #source), FY_ITEMS(source)) \
        for (FY_ITEM(source) x = 0; fy_iteration_next_item(&t) && (x = (FY_ITEM(source))t.item, (void)x, true);)
#define FY_ITEM(source) \
    __typeof__(_Generic((source), fy_iterator *: (fy_tensor **)0, fy_dataloader *: (fy_tensor **)0, \
                        default: (fy_tensor *)0))
#define FY_ITEMS(source) \
    (FY_NO_POINTER(source), _Generic((source), fy_iterator *: fy_items_iterator, fy_dataloader *: fy_items_loader, \
                                      default: fy_items_array) \
        (source, sizeof(source) / sizeof(fy_tensor *)))
#define FY_NO_POINTER(source) \
    (void)FY_DEMAND(!__builtin_types_compatible_p(__typeof__(source), fy_tensor **), \
                    "FY_EACH needs an array, an fy_iterator * or an fy_dataloader *: the length of an array is not known from a pointer")

/* FY_DEVICE: the default device of a block, restored however it is left. */
typedef struct fy_with_device {
    int before, turns; /* before: the previous default; turns: 1, then 0 */
    fy_depths depths;
} fy_with_device;

fy_with_device fy_with_device_at(fy_site *at, const char *name);
void fy_with_device_end(fy_with_device *with);
#define FY_DEVICE_NAMED(name, with) \
    for (fy_with_device with __attribute__((cleanup(fy_with_device_end))) = \
             fy_with_device_at(FY_AT("FY_DEVICE", #name), name); \
         with.turns-- > 0;)

/* The functions behind the macros: the call site first, then the arguments as documented in ferry.h. */
void fy_cuda_synchronize_at(fy_site *at);
fy_tensor *fy_zeros_at(fy_site *at, fy_shape shape, fy_opts o);
fy_tensor *fy_ones_at(fy_site *at, fy_shape shape, fy_opts o);
fy_tensor *fy_randn_at(fy_site *at, fy_shape shape, fy_opts o);
fy_tensor *fy_full_at(fy_site *at, fy_shape shape, fy_arg value, fy_opts o);
fy_tensor *fy_arange_at(fy_site *at, size_t n, const fy_arg *range, fy_opts o);
fy_tensor *fy_tensor_at(fy_site *at, size_t n, const fy_arg *values, fy_opts o);
fy_tensor *fy_to_at(fy_site *at, fy_tensor *x, fy_target target, fy_to_opts o);
fy_tensor *fy_cuda_at(fy_site *at, fy_tensor *x, bool has_device, fy_cuda_opts o);
fy_tensor *fy_copy__at(fy_site *at, fy_tensor *dst, fy_tensor *src, fy_copy_opts o);
fy_tensor *fy_pin_memory_at(fy_site *at, fy_tensor *x);
bool fy_is_pinned_at(fy_site *at, fy_tensor *x);
void fy_cuda_set_device_at(fy_site *at, int device);
bool fy_set_default_device_at(fy_site *at, const char *name);
bool fy_cuda_can_device_access_peer_at(fy_site *at, int device, int peer);
fy_tensor *fy_linspace_at(fy_site *at, size_t n, const fy_arg *range, fy_opts o);
fy_tensor *fy_eye_at(fy_site *at, fy_shape shape, fy_opts o);
fy_tensor *fy_rand_at(fy_site *at, fy_shape shape, fy_opts o);
fy_tensor *fy_randint_at(fy_site *at, size_t n, const fy_arg *range, fy_shape shape, fy_opts o);
fy_tensor *fy_randperm_at(fy_site *at, fy_shape shape, fy_opts o);
fy_tensor *fy_empty_like_at(fy_site *at, fy_tensor *x);
fy_tensor *fy_zeros_like_at(fy_site *at, fy_tensor *x);
fy_tensor *fy_ones_like_at(fy_site *at, fy_tensor *x);
fy_tensor *fy_full_like_at(fy_site *at, fy_tensor *x, fy_arg value);
fy_tensor *fy_rand_like_at(fy_site *at, fy_tensor *x);
fy_tensor *fy_randn_like_at(fy_site *at, fy_tensor *x);
fy_tensor *fy_empty_at(fy_site *at, fy_shape shape, fy_opts o);
fy_tensor *fy_one_hot_at(fy_site *at, fy_tensor *x, int64_t classes);
fy_tensor *fy_cpu_at(fy_site *at, fy_tensor *x);
void fy_print_at(fy_site *at, fy_tensor *x);
double fy_item_at(fy_site *at, fy_tensor *x);
int64_t fy_item_int_at(fy_site *at, fy_tensor *x);
void *fy_data_at(fy_site *at, fy_tensor *x);
const char *fy_device_at(fy_site *at, const fy_tensor *x);
bool fy_is_cuda_at(fy_site *at, const fy_tensor *x);
fy_dtype fy_dtype_of_at(fy_site *at, const fy_tensor *x);
fy_shape fy_shape_of_at(fy_site *at, const fy_tensor *x);
int fy_dim_at(fy_site *at, const fy_tensor *x);
int64_t fy_size_at(fy_site *at, const fy_tensor *x, int dim);
int64_t fy_stride_at(fy_site *at, const fy_tensor *x, int dim);
int64_t fy_numel_at(fy_site *at, const fy_tensor *x);
bool fy_is_contiguous_at(fy_site *at, const fy_tensor *x);
void fy_free_at(fy_site *at, fy_tensor *x);
fy_tensor *fy_keep_at(fy_site *at, fy_tensor *x);
fy_tensor *fy_set_at(fy_site *at, fy_tensor **held, fy_tensor *x);
void fy_mark_at(fy_site *at, const char *text);
int64_t fy_now_at(fy_site *at);
void fy_log_scalar_at(fy_site *at, const char *name, fy_arg value);
fy_tensor *fy_given_at(fy_site *at, const char *name);
void fy_answer_at(fy_site *at, const char *name, fy_tensor *x);

#endif
