/* stream.h: what is behind a stream's handle, for the files of lib. */
#ifndef FERRY_STREAM_INTERNAL_H
#define FERRY_STREAM_INTERNAL_H

#include "device.h"

struct fy_stream {
    fy_dev *card;
    int number; /* 0: the default stream */
};

int fy_stream_current(const fy_dev *card); /* number of the thread's current stream of a card; 0 of the CPU */
fy_stream *fy_stream_of(fy_dev *card, int number);
/* The variable that a stream was last given to by fy_cuda_stream(); NULL where the source does not tell. */
const char *fy_stream_name(const fy_dev *card, int number);
/* Is argument i a stream, or left out for the current one? NULL after an error; after FY_RETURN NULL passes
 * through silently. */
fy_stream *fy_stream_given(fy_site *at, int i, fy_stream *s);
/* From now on this is the card, and this the stream, that the thread's calls mean; only changes are told. */
void fy_stream_set_current(fy_site *at, const fy_stream *s);

#endif
