/* cpu_make.c: fill, arange and randn on the host. Their results lie row by row without gaps. */
#include "cpu.h"
#include "tensor.h"

void fy_host_fill_f32(fy_run_work *w)
{
    float *out = w->out.data, value = (float)w->real[0];
    for (int64_t i = 0; i < w->out.layout.numel; i++) out[i] = value;
}

void fy_host_fill_i64(fy_run_work *w)
{
    int64_t *out = w->out.data;
    for (int64_t i = 0; i < w->out.layout.numel; i++) out[i] = w->integer[0];
}

void fy_host_arange_f32(fy_run_work *w)
{
    float *out = w->out.data;
    for (int64_t i = 0; i < w->out.layout.numel; i++) out[i] = (float)(w->real[0] + (double)i * w->real[1]);
}

void fy_host_arange_i64(fy_run_work *w)
{
    int64_t *out = w->out.data;
    uint64_t start = (uint64_t)w->integer[0], step = (uint64_t)w->integer[1]; /* i * step may wrap, the sum fits */
    for (int64_t i = 0; i < w->out.layout.numel; i++) out[i] = (int64_t)(start + (uint64_t)i * step);
}

void fy_host_randn_f32(fy_run_work *w) { fy_random_normal(w->out.data, w->out.layout.numel); }
