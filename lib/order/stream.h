/* stream.h: the type behind a stream handle, for lib alone. */
#ifndef FERRY_STREAM_INTERNAL_H
#define FERRY_STREAM_INTERNAL_H

#include "device.h"

struct fy_stream {
    fy_dev *card;
    int number; /* 0: the default stream */
};

int fy_stream_current(const fy_dev *card); /* number of the thread's current stream; 0 for the CPU */
fy_stream *fy_stream_of(fy_dev *card, int number);
/* The variable that last got this stream from fy_cuda_stream(); NULL if the source does not show it. */
const char *fy_stream_name(const fy_dev *card, int number);
/* Checks argument i; an omitted one becomes the current stream. NULL after an error; after an error under FY_RETURN, a
 * NULL argument returns NULL silently. */
fy_stream *fy_stream_given(fy_site *at, int i, fy_stream *s);
/* Makes s, and its card, the thread's current ones; emits events only for what changes. */
void fy_stream_set_current(fy_site *at, const fy_stream *s);
void fy_stream_set_of_card(fy_site *at, const fy_stream *s); /* likewise, but the current card stays */

#endif
