/* matmul.cu: out = a b, with a (n, k), b (k, m), out (n, m), of any strides; also for batches of matrices. addmm:
 * out = beta * c + alpha * a b.
 *
 * A block computes a tile of 16 x 16 results. It goes along k in steps of 16: its threads load one tile of a and one of
 * b into shared memory, one element each, and wait for each other; then each element is read 16 times from shared
 * memory instead of 16 times from VRAM. */
#include "reduce.h"

enum { TILE = 16 };
static const int64_t most_blocks = 65535; /* CUDA's limit in y and z */

/* One result: row `row` of a times column `column` of b. All threads of a block load the tile, including those outside
 * the result. */
template <typename T>
__device__ inline total<T> dot(const T *a, const fy_layout &la, int64_t row, const T *b, const fy_layout &lb,
                               int64_t column)
{
    __shared__ total<T> tile_a[TILE][TILE], tile_b[TILE][TILE];
    int64_t n = la.shape[0], k = la.shape[1], m = lb.shape[1], x = threadIdx.x, y = threadIdx.y;
    total<T> sum = 0;
    for (int64_t left = 0; left < k; left += TILE) {
        bool a_is_there = row < n && left + x < k, b_is_there = left + y < k && column < m;
        tile_a[y][x] = a_is_there ? wide(a[row * la.strides[0] + (left + x) * la.strides[1]]) : 0;
        tile_b[y][x] = b_is_there ? wide(b[(left + y) * lb.strides[0] + column * lb.strides[1]]) : 0;
        __syncthreads(); /* the tiles are complete */
        for (int i = 0; i < TILE; i++) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads(); /* all reads are done before the tiles are overwritten */
    }
    return sum;
}

/* blockIdx.z is the matrix in the batch. */
template <typename T>
__global__ void matmul(const T *a, fy_layout_arg stack_a, fy_layout_arg la, const T *b, fy_layout_arg stack_b, fy_layout_arg lb,
                       T *out, fy_layout_arg stack_out, fy_layout_arg lo)
{
    int64_t column = (int64_t)blockIdx.x * TILE + threadIdx.x;
    for (int64_t i = blockIdx.z; i < stack_out.numel; i += gridDim.z)
        for (int64_t top = (int64_t)blockIdx.y * TILE; top < lo.shape[0]; top += (int64_t)gridDim.y * TILE) {
            int64_t row = top + threadIdx.y;
            total<T> sum = dot(a + at(stack_a, i), la, row, b + at(stack_b, i), lb, column);
            if (row < lo.shape[0] && column < lo.shape[1])
                put(&out[at(stack_out, i) + row * lo.strides[0] + column * lo.strides[1]], sum);
        }
}

/* With beta 0 c is ignored, even a NaN; with alpha 0 the product. */
template <typename T>
__global__ void addmm(const T *c, fy_layout_arg lc, const T *a, fy_layout_arg la, const T *b, fy_layout_arg lb, total<T> beta,
                      total<T> alpha, T *out, fy_layout_arg lo)
{
    int64_t column = (int64_t)blockIdx.x * TILE + threadIdx.x;
    for (int64_t top = (int64_t)blockIdx.y * TILE; top < lo.shape[0]; top += (int64_t)gridDim.y * TILE) {
        int64_t row = top + threadIdx.y;
        total<T> product = dot(a, la, row, b, lb, column), sum = alpha != 0 ? alpha * product : 0;
        if (row >= lo.shape[0] || column >= lo.shape[1]) continue;
        if (beta != 0) sum += beta * wide(c[row * lc.strides[0] + column * lc.strides[1]]);
        put(&out[row * lo.strides[0] + column * lo.strides[1]], sum);
    }
}

/* The last two dimensions: a matrix; the dimensions before them: the batch. */
static fy_layout matrix_of(const fy_operand *x)
{
    fy_layout l = x->layout;
    int row = l.ndim - 2;
    for (int d = 0; d < 2; d++) {
        l.shape[d] = l.shape[row + d];
        l.strides[d] = l.strides[row + d];
    }
    l.ndim = 2;
    return l;
}
static fy_layout stack_of(const fy_operand *x) { return part_of(x->layout, 0, x->layout.ndim - 2); }

/* The grid of TILE x TILE blocks that covers the result; also records it. */
static dim3 grid_of_tiles(fy_run_work *w, const char *name)
{
    fy_layout lo = matrix_of(&w->out);
    int64_t columns = (lo.shape[1] + TILE - 1) / TILE, rows = (lo.shape[0] + TILE - 1) / TILE;
    int64_t matrices = stack_of(&w->out).numel;
    dim3 grid((unsigned)columns, (unsigned)(rows < most_blocks ? rows : most_blocks),
              (unsigned)(matrices < most_blocks ? matrices : most_blocks));
    note(w, name, grid, dim3(TILE, TILE));
    return grid;
}

template <typename T> static void launch_matmul(fy_run_work *w, const char *name)
{
    fy_operand *a = &w->in[0], *b = &w->in[1], *out = &w->out;
    dim3 grid = grid_of_tiles(w, name);
    LAUNCH(matmul<T>, grid, dim3(TILE, TILE))
    ((const T *)a->data, stack_of(a), matrix_of(a), (const T *)b->data, stack_of(b), matrix_of(b), (T *)out->data,
     stack_of(out), matrix_of(out));
}

template <typename T> static void launch_addmm(fy_run_work *w, const char *name)
{
    fy_operand *c = &w->in[0], *a = &w->in[1], *b = &w->in[2], *out = &w->out;
    dim3 grid = grid_of_tiles(w, name);
    LAUNCH(addmm<T>, grid, dim3(TILE, TILE))
    ((const T *)c->data, matrix_of(c), (const T *)a->data, matrix_of(a), (const T *)b->data, matrix_of(b),
     (total<T>)w->real[FY_ADDMM_beta], (total<T>)w->real[FY_ADDMM_alpha], (T *)out->data, matrix_of(out));
}

LAUNCHER(matmul)
{
    FOR_REALS("matmul", launch_matmul<T>(w, name))
}

LAUNCHER(addmm)
{
    FOR_REALS("addmm", launch_addmm<T>(w, name))
}
