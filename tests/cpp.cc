// The headers in C++: a program that says what its twin in C would, built by g++ and clang++ without a warning
// (cpp_test.sh). It prints what is not as it should be.
#include <ferry.h>

#include <cstdio>
#include <cmath>
#include <cstring>
#include <vector>

static int wrong;
#define IS(x) ((x) ? (void)0 : (wrong++, (void)std::printf("line %d: %s\n", __LINE__, #x)))

static double sum(fy_tensor *x) { return fy_item(fy_sum(x)); }

static void lists_numbers_and_options()
{
    int n = 2;
    size_t m = 3;
    fy_tensor *a = fy_zeros((n, m)), *zero = fy_full((), 2.5f);
    IS(fy_dim(a) == 2 && fy_size(a, 1) == 3 && fy_dim(zero) == 0 && fy_item(zero) == 2.5);
    IS(fy_dtype_of(fy_tensor((1, 2, 3))) == FY_INT64 && fy_dtype_of(fy_tensor((1, 2.5))) == FY_FLOAT32);
    fy_tensor *b = fy_ones((2, 3), .device = "cuda", .dtype = FY_FLOAT64, .name = "weights");
    IS(!std::strcmp(fy_device(b), "cuda:0") && fy_dtype_of(b) == FY_FLOAT64 && sum(b) == 6);
    IS(sum(fy_arange((4))) == 6 && sum(fy_linspace((0, 1, 5))) == 2.5 && sum(fy_eye((3))) == 3);
    IS(fy_numel(fy_rand((2, 2))) == 4 && fy_numel(fy_randint((0, 10), (3))) == 3 && sum(fy_randperm((4))) == 6);
    IS(fy_numel(fy_tensor(())) == 0);
}

static void operations()
{
    fy_tensor *a = fy_tensor((1, 2, 3), .dtype = FY_FLOAT32), *b = fy_tensor((4, 5, 6), .dtype = FY_FLOAT32);
    IS(sum(fy_add(a, b)) == 21 && sum(fy_add(a, b, 2)) == 36 && sum(fy_mul(a, 2)) == 12 && sum(fy_sub(1.5, a)) == -1.5);
    IS(sum(fy_mul(a, 0.5L)) == 3 && fy_dtype_of(fy_add(fy_arange((2)), 1ul)) == FY_INT64);
    IS(fy_item_int(fy_full((), INT64_MAX)) == INT64_MAX && sum(fy_ones((2), .device = NULL)) == 2);
    IS(sum(fy_maximum(a, 2L)) == 7 && sum(fy_eq(a, 2)) == 1 && sum(fy_relu(fy_neg(a))) == 0);
    fy_tensor *x = fy_view(fy_arange((6)), (2, 3)), *where = nullptr;
    IS(fy_numel(fy_sum(x, (1))) == 2 && fy_dim(fy_sum(x, (0, 1), .keepdim = true)) == 2);
    IS(sum(fy_max(x, (1), .indices = &where)) == 7 && sum(where) == 4);
    IS(fy_item(fy_norm(a)) == std::sqrt(14.0f) && fy_item(fy_norm(a, (), .p = 0)) == 3 && sum(fy_norm(a, (0), .keepdim = true, .p = 1)) == 6);
    IS(fy_allclose(a, fy_add(a, 1e-7)) && !fy_allclose(a, fy_add(a, 1e-3), .rtol = 0) && sum(fy_isclose(a, b)) == 0);
    IS(fy_equal(a, fy_clone(a)) && !fy_equal(a, b) && sum(fy_isnan(a)) == 0 && sum(fy_clamp(a, 2, 2.5)) == 6.5);
    IS(sum(fy_lerp(a, b, 0.5)) == 10.5 && sum(fy_addcmul(a, a, b)) == 38 && sum(fy_addcdiv(a, a, a, 2)) == 12);
    IS(sum(fy_masked_fill(a, fy_gt(a, 1), 5)) == 11 && sum(fy_one_hot(fy_arange((3)))) == 3 && fy_numel(fy_one_hot(fy_arange((3)), 4)) == 12);
    IS(sum(fy_tril(fy_ones((2, 2)))) == 3 && sum(fy_triu(fy_ones((2, 2)), 1)) == 1 && sum(fy_full_like(a, 2)) == 6);
    IS(fy_numel(fy_empty((2, 3), .device = "cuda")) == 6 && fy_numel(fy_rand_like(a)) == 3 && fy_numel(fy_randn_like(a)) == 3);
    IS(fy_item(fy_matmul(a, b)) == 32 && fy_item(fy_dot(a, b)) == 32);
    fy_tensors parts = fy_split(x, (1, 2), 1), rows = fy_chunk(x, 2, 0);
    IS(parts.n == 2 && sum(parts.at[1]) == 12 && sum(rows.at[0]) == 3 && fy_split(x, 2, 1).n == 2);
    IS(sum(fy_sort(x, 1, .descending = true, .indices = &where)) == 15 && sum(fy_select(where, 1, 0)) == 4);
    IS(sum(fy_topk(x, 1)) == 7 && sum(fy_topk(x, 1, 0, .smallest = true)) == 3 && fy_numel(fy_nonzero(x)) == 10);
    IS(sum(fy_cumsum(x, 1, .dtype = FY_FLOAT32)) == 26 && fy_numel(fy_repeat(x, (2, 1))) == 12);
    fy_fill_(a, 7);
    fy_add_(a, 1);
    IS(sum(a) == 24);
    fy_tensor *w = fy_ones((2, 3)), *bias = fy_ones((2));
    IS(fy_numel(fy_linear(w, w)) == 4 && sum(fy_linear(w, w, bias)) == 16 && sum(fy_addmm(bias, w, fy_t(w))) == 16);
    IS(fy_item(fy_mse_loss(a, b, .reduction = FY_SUM)) == 29);
    IS(fy_result_type(x, 2.5) == FY_FLOAT32);
}

static void views_and_joining()
{
    fy_tensor *x = fy_view(fy_arange((6)), (2, 3)), *parts[] = {x, x};
    IS(fy_size(fy_permute(x, (1, 0)), 0) == 3 && fy_dim(fy_flatten(x)) == 1 && fy_dim(fy_squeeze(fy_unsqueeze(x, 0))) == 2);
    IS(fy_size(fy_cat((x, x, x), 0), 0) == 6 && fy_dim(fy_stack((parts[0], parts[1]), 0)) == 3);
    IS(fy_size(fy_slice(x, 1, 0, FY_END, 2), 1) == 2 && fy_same_storage(x, fy_t(x)));
    IS(fy_dtype_of(fy_view(x, FY_FLOAT64)) == FY_FLOAT64);
}

static void moving()
{
    fy_tensor *x = fy_arange((3)), *g = fy_to(x, "cuda"), *f = fy_to(x, FY_FLOAT16);
    IS(fy_is_cuda(g) && fy_to(x, "cpu") == x && fy_dtype_of(f) == FY_FLOAT16);
    IS(fy_dtype_of(fy_to(x, g, .dtype = FY_FLOAT32, .copy = true)) == FY_FLOAT32);
    IS(sum(fy_cpu(fy_cuda(x, 0))) == 3 && sum(fy_cpu(fy_cuda(x, .non_blocking = true))) == 3);
    IS(sum(fy_cpu(fy_cuda(x))) == 3 && sum(fy_copy_(f, g)) == 3);
    IS(fy_is_pinned(fy_pin_memory(x)));
    FY_SCOPE
    {
        fy_tensor *y = fy_keep(fy_add(x, 1));
        IS(sum(y) == 6);
    }
    std::vector<float> mine = {1, 2, 3, 4};
    fy_tensor *blob = fy_from_blob(mine.data(), (2, 2), .strides = FY_STRIDES(1, 2));
    mine[1] = 7;
    IS(sum(blob) == 15 && fy_stride(blob, 1) == 2);
}

static void default_devices()
{
    IS(fy_set_default_device("cuda") && !std::strcmp(fy_get_default_device(), "cuda:0"));
    IS(fy_is_cuda(fy_ones((2))) && !fy_is_cuda(fy_ones((2), .device = "cpu")));
    FY_DEVICE("cpu") IS(!fy_is_cuda(fy_tensor((1, 2))));
    fy_set_default_device("cpu");
}

static void mixed_precision()
{
    fy_tensor *x = fy_ones((2, 2), .device = "cuda"), *y = fy_ones((2, 2));
    FY_AUTOCAST("cuda", FY_BFLOAT16)
    {
        IS(fy_dtype_of(fy_matmul(x, x)) == FY_BFLOAT16 && fy_dtype_of(fy_matmul(y, y)) == FY_FLOAT32);
        FY_NO_AUTOCAST("cuda") IS(!fy_is_autocast_enabled("cuda"));
    }
    FY_AUTOCAST("cuda") IS(fy_dtype_of(fy_matmul(x, x)) == FY_FLOAT16);
    FY_AUTOCAST("cpu") IS(fy_dtype_of(fy_matmul(y, y)) == FY_BFLOAT16);
    fy_tensor *w = fy_ones((2), .device = "cuda", .requires_grad = true);
    fy_optimizer *o = fy_optim_sgd((w), .lr = 0.5);
    fy_grad_scaler *plain = fy_amp_grad_scaler(), *scaler = fy_amp_grad_scaler(.init_scale = 4, .growth_interval = 1);
    fy_backward(fy_scaler_scale(scaler, fy_sum(w)));
    IS(sum(fy_grad(w)) == 8 && fy_scaler_unscale_(scaler, o) && fy_scaler_step(scaler, o) && fy_scaler_update(scaler));
    IS(sum(w) == 1 && fy_scaler_get_scale(scaler) == 8 && fy_scaler_get_scale(plain) == 65536);
    fy_grad_scaler_free(scaler);
    fy_grad_scaler_free(plain);
    fy_optimizer_free(o);
}

static void streams_and_events()
{
    fy_stream *s = fy_cuda_stream(), *t = fy_cuda_stream(.device = "cuda:0");
    fy_event *e = fy_cuda_event(), *start = fy_cuda_event(.enable_timing = true), *end = fy_cuda_event(.enable_timing = true);
    fy_tensor *x = fy_pin_memory(fy_ones((3))), *g = fy_zeros((3), .device = "cuda");
    fy_stream_wait_stream(s, fy_cuda_default_stream());
    FY_STREAM(s)
    {
        fy_event_record(start);
        fy_copy_(g, x, .non_blocking = true);
        fy_event_record(end);
        FY_STREAM(t) IS(fy_cuda_current_stream() == t);
        IS(fy_cuda_current_stream() == s);
    }
    fy_event_record(e, s);
    fy_event_wait(e, t);
    fy_event_wait(e);
    fy_event_synchronize(e);
    IS(fy_event_query(e) && fy_stream_query(s) && fy_stream_id(s) != fy_stream_id(t));
    IS(fy_event_elapsed_time(start, end) > 0 && sum(g) == 3);
    fy_event_free(fy_stream_record_event(t));
    fy_stream_synchronize(t);
    fy_event_free(e);
}

static void memory()
{
    int64_t total = 0, used = fy_cuda_memory_allocated(NULL);
    fy_tensor *x = fy_zeros((1 << 20), .device = "cuda");
    fy_memory_stats s = fy_cuda_memory_stats("cuda:0");
    IS(s.allocated_bytes == used + (4 << 20) && fy_cuda_max_memory_allocated("cuda") >= s.allocated_bytes);
    IS(fy_cuda_mem_get_info("cuda", &total) == total - fy_cuda_memory_reserved(NULL) && total > 0);
    fy_free(x);
    fy_cuda_empty_cache();
    fy_cuda_reset_peak_memory_stats(NULL);
    IS(fy_cuda_max_memory_reserved(NULL) == s.reserved_bytes - (20 << 20));
}

static void mistakes()
{
    fy_on_error(FY_RETURN);
    IS(!fy_mul(fy_ones((2)), UINT64_MAX) && std::strstr(fy_error(), "without overflow"));
    fy_clear_error();
    IS(!fy_add(fy_ones((2)), fy_ones((3))) && std::strstr(fy_error(), "must match the size"));
    fy_clear_error();
}

struct pairs {
    fy_iterator iterator;
    int left;
    fy_tensor *pair[2];
};

static fy_tensor **next_pair(fy_iterator *self)
{
    pairs *p = reinterpret_cast<pairs *>(self);
    if (p->left-- == 0) return nullptr;
    p->pair[0] = p->pair[1] = fy_ones((2));
    return p->pair;
}

static void loops()
{
    double total = 0;
    fy_tensor *list[] = {fy_ones((2)), fy_ones((3))}, *w = fy_ones((2));
    pairs three = {{next_pair}, 3, {nullptr, nullptr}};
    FY_TIMES(i, 5)
    {
        if (i == 3) break;
        fy_set(&w, fy_mul(w, 2));
    }
    FY_EACH(x, list) total += sum(x);
    FY_EACH(pair, &three.iterator) total += sum(pair[1]);
    IS(sum(w) == 16);
    IS(total == 11);
    IS(fy_numel(w) == 2 && fy_dim(w) == 1);
}

struct doubled {
    fy_module base;
    fy_module *inner;
};

static fy_tensor *doubled_forward(void *module, fy_tensor *x)
{
    doubled *self = static_cast<doubled *>(module);
    return fy_mul(fy_call(self->inner, x), 2);
}

static void training()
{
    doubled *twice = fy_module_new(doubled, doubled_forward);
    twice->inner = static_cast<fy_module *>(fy_submodule(twice, "inner", fy_nn_linear(3, 1, .bias = false)));
    fy_module *net = fy_sequential((fy_nn_linear(2, 3, .device = "cuda"), fy_nn_relu(), fy_nn_layer_norm((3), .eps = 1e-3), &twice->base));
    fy_optimizer *optimizer = fy_optim_sgd(net, .lr = 0.1, .momentum = 0.9);
    fy_tensor *w = fy_ones((1), .requires_grad = true);
    fy_optimizer *other = fy_optim_adam((w), .lr = 0.5);
    size_t n = 0;
    fy_module_to(net, "cuda");
    fy_parameters(net, &n);
    IS(n == 5 && fy_is_cuda(fy_get_parameter(net, "3.inner.weight")));
    FY_SCOPE
    {
        fy_backward(fy_sum(fy_call(net, fy_ones((4, 2), .device = "cuda"))));
        fy_tensor *norm = fy_clip_grad_norm_(net, 1);
        IS(fy_step(optimizer) && fy_item(norm) > 0);
        fy_backward(fy_sum(w));
        IS(fy_step(other) && fy_item(w) < 0.51 && fy_item(w) > 0.49);
        IS(fy_numel(fy_layer_norm(fy_ones((2, 3)), (3), .weight = fy_ones((3)))) == 6);
    }
    fy_zero_grad(net);
    fy_zero_grad(other);
    IS(!fy_grad(w) && fy_is_training(net));
    fy_optimizer_free(optimizer);
    fy_optimizer_free(other);
    fy_module_free(net);
}

static void read_item(void *self, int64_t index, fy_tensor **item)
{
    item[0] = fy_full((2), index);
    item[1] = fy_full((), *static_cast<int *>(self));
}

static void loaders()
{
    int label = 3, batches = 0;
    fy_dataset *own = fy_dataset(.len = 10, .get = read_item, .self = &label), *rows = fy_tensor_dataset((fy_ones((4, 2))));
    fy_dataloader *loader = fy_dataloader(own, .batch_size = 4, .shuffle = true, .num_workers = 2, .drop_last = true);
    FY_EACH(batch, loader)
    {
        batches++;
        IS(fy_size(batch[0], 0) == 4 && fy_size(batch[0], 1) == 2 && sum(batch[1]) == 12);
    }
    IS(batches == 2 && fy_dataloader_len(loader) == 2 && fy_dataset_len(own) == 10);
    fy_dataloader_free(loader);
    loader = fy_dataloader(rows);
    FY_EACH(batch, loader) IS(sum(batch[0]) == 2 && !batch[1]);
    fy_dataloader_free(loader);
    fy_dataset_free(own);
    fy_dataset_free(rows);
}

int main()
{
    training();
    loops();
    loaders();
    lists_numbers_and_options();
    operations();
    views_and_joining();
    moving();
    default_devices();
    mixed_precision();
    streams_and_events();
    memory();
    mistakes();
    return wrong != 0;
}
