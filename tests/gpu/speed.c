/* What Ferry's operations take on a card, as lines of figures.jsonl (README.md). Part of `make gpu-check`.
 *
 *   SPEED_SIZE=27   operations on 2^27 elements; 0: only what small ones cost the host
 *   SPEED_BITS=FILE there go 2^20 random numbers of seed 1, to be compared with PyTorch's (speed.py) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ferry.h>

#include "stopwatch.h"

enum { ROUNDS = 9, CALLS = 4, SMALL = 3000, NUMBERS = 1 << 20 };

/* Operands of all operations: one size, as a row, as rows of 1,024 and as rows of 32,768 (of 64, if there are few). */
static struct {
    fy_tensor *x, *y, *bf16, *f16, *rows, *wide, *square, *square_bf16, *square_f16, *square_f64, *small;
} at;

static fy_tensor *add(void) { return fy_add(at.x, at.y); }
static fy_tensor *add_in_place(void) { return fy_add_(at.y, at.x); }
static fy_tensor *relu(void) { return fy_relu(at.x); }
static fy_tensor *exponential(void) { return fy_exp(at.x); }
static fy_tensor *relu_bf16(void) { return fy_relu(at.bf16); }
static fy_tensor *relu_f16(void) { return fy_relu(at.f16); }
static fy_tensor *cast(void) { return fy_to(at.x, FY_BFLOAT16); }
static fy_tensor *transpose(void) { return fy_contiguous(fy_t(at.rows)); }
static fy_tensor *add_row(void) { return fy_add(at.rows, fy_select(at.rows, 0, 0)); }
static fy_tensor *sum(void) { return fy_sum(at.x); }
static fy_tensor *sum_rows(void) { return fy_sum(at.rows, (1)); }
static fy_tensor *sum_columns(void) { return fy_sum(at.rows, (0)); }
static fy_tensor *largest(void) { return fy_max(at.x); }
static fy_tensor *softmax(void) { return fy_softmax(at.rows, 1); }
static fy_tensor *softmax_wide(void) { return fy_softmax(at.wide, 1); }
static fy_tensor *cumsum(void) { return fy_cumsum(at.rows, 1); }
static fy_tensor *normal(void) { return fy_randn_like(at.x); }
static fy_tensor *matmul(void) { return fy_matmul(at.square, at.square); }
static fy_tensor *matmul_bf16(void) { return fy_matmul(at.square_bf16, at.square_bf16); }
static fy_tensor *matmul_f16(void) { return fy_matmul(at.square_f16, at.square_f16); }
static fy_tensor *matmul_f64(void) { return fy_matmul(at.square_f64, at.square_f64); }

/* Bytes and flops an element; a product of n x n elements has 2 n flops for each. speed.py has the same list. */
static const struct {
    const char *op, *dtype;
    fy_tensor *(*call)(void);
    double bytes, flops;
} ops[] = {
    {"add", "float32", add, 12, 1},
    {"add_", "float32", add_in_place, 12, 1},
    {"relu", "float32", relu, 8, 1},
    {"exp", "float32", exponential, 8, 1},
    {"relu", "bfloat16", relu_bf16, 4, 1},
    {"relu", "float16", relu_f16, 4, 1},
    {"cast to bfloat16", "float32", cast, 6, 0},
    {"transpose", "float32", transpose, 8, 0},
    {"add a row", "float32", add_row, 8, 1},
    {"sum", "float32", sum, 4, 1},
    {"sum of rows", "float32", sum_rows, 4, 1},
    {"sum of columns", "float32", sum_columns, 4, 1},
    {"max", "float32", largest, 4, 1},
    {"softmax of 1024", "float32", softmax, 8, 5},
    {"softmax of 32768", "float32", softmax_wide, 8, 5},
    {"cumsum of rows", "float32", cumsum, 8, 1},
    {"randn", "float32", normal, 4, 0},
    {"matmul", "float32", matmul, 12, -1},
    {"matmul", "bfloat16", matmul_bf16, 6, -1},
    {"matmul", "float16", matmul_f16, 6, -1},
    {"matmul", "float64", matmul_f64, 24, -1},
};

/* ns for one of so many calls, by events */
static double calls_ns(fy_tensor *(*call)(void), int times)
{
    fy_event *from = fy_cuda_event(.enable_timing = true), *to = fy_cuda_event(.enable_timing = true);
    fy_event_record(from);
    for (int i = 0; i < times; i++) FY_SCOPE call();
    fy_event_record(to);
    fy_event_synchronize(to);
    double ns = fy_event_elapsed_time(from, to) * 1e6 / times;
    fy_event_free(from);
    fy_event_free(to);
    return ns;
}

static void time_op(size_t which)
{
    double ns[ROUNDS], n = (double)fy_numel(ops[which].flops < 0 ? at.square : at.x);
    double flops = ops[which].flops < 0 ? 2 * n * (double)fy_size(at.square, 0) : n * ops[which].flops;
    double bytes = n * ops[which].bytes;
    calls_ns(ops[which].call, 1); /* allocates, and loads the kernel */
    int times = calls_ns(ops[which].call, 1) > 5e7 ? 1 : CALLS;
    for (int i = 0; i < ROUNDS; i++) ns[i] = calls_ns(ops[which].call, times);
    double middle = median(ns, ROUNDS);
    printf("{\"figure\":\"op\",\"by\":\"ferry\",\"op\":\"%s\",\"dtype\":\"%s\",\"elements\":%.0f,\"bytes\":%.0f,"
           "\"flops\":%.0f,\"ns\":%.0f,\"least\":%.0f,\"most\":%.0f,\"GB_s\":%.1f,\"TFLOP_s\":%.2f}\n",
           ops[which].op, ops[which].dtype, n, bytes, flops, middle, ns[0], ns[ROUNDS - 1], bytes / middle,
           flops / middle / 1e3);
    fflush(stdout);
}

static void time_large(int size)
{
    int64_t n = (int64_t)1 << size, side = size > 24 ? 4096 : 64, wide = size > 20 ? 32768 : 64;
    FY_SCOPE
    {
        at.x = fy_rand((n), .device = "cuda"), at.y = fy_rand((n), .device = "cuda");
        at.bf16 = fy_to(at.x, FY_BFLOAT16), at.f16 = fy_to(at.x, FY_FLOAT16);
        at.rows = fy_view(at.x, (n / 1024, 1024)), at.wide = fy_view(at.x, (n / wide, wide));
        at.square = fy_rand((side, side), .device = "cuda");
        at.square_bf16 = fy_to(at.square, FY_BFLOAT16), at.square_f16 = fy_to(at.square, FY_FLOAT16);
        at.square_f64 = fy_to(at.square, FY_FLOAT64);
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) time_op(i);
    }
}

static fy_tensor *relu_small(void) { return fy_relu(at.small); }
static fy_tensor *item(void) { return fy_item(fy_select(at.small, 0, 0)), NULL; }

static void time_small(const char *op, fy_tensor *(*call)(void), int times)
{
    for (int i = 0; i < 200; i++) FY_SCOPE call();
    fy_cuda_synchronize();
    double before = now();
    for (int i = 0; i < times; i++) FY_SCOPE call();
    double queued = now() - before;
    fy_cuda_synchronize();
    printf("{\"figure\":\"host_op\",\"by\":\"ferry\",\"op\":\"%s\",\"traced\":%s,\"ns\":%.0f,\"done_ns\":%.0f}\n", op,
           getenv("FERRY_TRACE") ? "true" : "false", queued / times, (now() - before) / times);
    fflush(stdout);
}

static void save_random_numbers(const char *path)
{
    FILE *out = path ? fopen(path, "wb") : NULL;
    if (!out) return;
    fy_manual_seed(1);
    fy_tensor *home = fy_cpu(fy_randn((NUMBERS), .device = "cuda"));
    fwrite(fy_data(home), sizeof(float), NUMBERS, out);
    fclose(out);
}

int main(void)
{
    const char *size = getenv("SPEED_SIZE");
    if (!size || atoi(size) > 0) time_large(size ? atoi(size) : 27);
    at.small = fy_rand((1024), .device = "cuda");
    time_small("relu", relu_small, SMALL);
    time_small("item", item, SMALL / 3);
    save_random_numbers(getenv("SPEED_BITS"));
    return 0;
}
