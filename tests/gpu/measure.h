/* measure.h: the kernels of measure.c: measure_kernels.cu, or without a card tests/standin/measure_kernels.c. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

void measure_nothing(cudaStream_t s);
void measure_spin(int64_t cycles, cudaStream_t s);
/* Copies bytes on the card; each thread of the kernel copies so many 4-byte words: 1, 4, or four times 4. */
void measure_copy(int words, void *to, const void *from, size_t bytes, cudaStream_t s);

#ifdef __cplusplus
}
#endif
#endif
