/* matmul.cu: out = a b, with a (n, k), b (k, m), out (n, m), of any strides.
 *
 * A block makes a tile of 16 x 16 results. It walks along k in steps of 16: its threads bring one tile
 * of a and one of b into shared memory, a number each, wait for each other, and then each number is
 * used 16 times from there instead of being read 16 times from VRAM. */
#include "kernel.h"

enum { TILE = 16 };
static const int64_t most_blocks_y = 65535; /* CUDA's limit */

template <typename T>
__global__ void matmul(const T *a, fy_layout la, const T *b, fy_layout lb, T *out, fy_layout lo)
{
    __shared__ T tile_a[TILE][TILE], tile_b[TILE][TILE];
    int64_t n = la.shape[0], k = la.shape[1], m = lb.shape[1];
    int64_t x = threadIdx.x, y = threadIdx.y, column = (int64_t)blockIdx.x * TILE + x;

    for (int64_t top = (int64_t)blockIdx.y * TILE; top < n; top += (int64_t)gridDim.y * TILE) {
        int64_t row = top + y;
        T dot = 0;
        for (int64_t left = 0; left < k; left += TILE) {
            bool a_is_there = row < n && left + x < k, b_is_there = left + y < k && column < m;
            tile_a[y][x] = a_is_there ? a[row * la.strides[0] + (left + x) * la.strides[1]] : 0;
            tile_b[y][x] = b_is_there ? b[(left + y) * lb.strides[0] + column * lb.strides[1]] : 0;
            __syncthreads(); /* the tiles are complete */
            for (int i = 0; i < TILE; i++) dot += tile_a[y][i] * tile_b[i][x];
            __syncthreads(); /* nobody reads them any more */
        }
        if (row < n && column < m) out[row * lo.strides[0] + column * lo.strides[1]] = dot;
    }
}

template <typename T> static void launch(fy_run_work *w, const char *name)
{
    fy_operand *a = &w->in[0], *b = &w->in[1], *out = &w->out;
    int64_t columns = (b->layout.shape[1] + TILE - 1) / TILE, rows = (a->layout.shape[0] + TILE - 1) / TILE;
    if (rows == 0 || columns == 0) return;
    dim3 grid((unsigned)columns, (unsigned)(rows < most_blocks_y ? rows : most_blocks_y)), block(TILE, TILE);
    note(w, name, grid, block);
    LAUNCH(matmul<T>, grid, block)
    ((const T *)a->data, a->layout, (const T *)b->data, b->layout, (T *)out->data, out->layout);
}

LAUNCHER(matmul_f32) { launch<float>(w, "matmul_f32"); }
LAUNCHER(matmul_i64) { launch<int64_t>(w, "matmul_i64"); }
