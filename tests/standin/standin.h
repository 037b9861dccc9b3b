/* standin.h: the stand-in for a card (standin.c), for what else runs on it. */
#ifndef STANDIN_H
#define STANDIN_H

#include "fake_cuda.h"

/* Queues a piece of work in a stream; what it does to memory is done by the caller. */
void standin_work(cudaStream_t s);
/* From now on each call says so: the card is broken. */
void standin_break(cudaError_t e);

#endif
