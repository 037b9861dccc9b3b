/* pass_streams.h: the streams in which a backward pass runs, as in PyTorch: a node's gradient is computed in the stream
 * that its call ran in. A stream that gets a gradient from another one waits for it, and at the end the streams that
 * were current at fy_backward wait for those in which leaves got theirs. With one stream nothing of this shows. */
#ifndef FERRY_PASS_STREAMS_H
#define FERRY_PASS_STREAMS_H

#include "graph.h"
#include "vector_clock.h"

typedef struct fy_pass_streams {
    fy_site *at;
    bool several;                       /* does a node's stream differ from the current one of its card? */
    int current[FY_MOST_CARDS + 1];     /* at fy_backward, by device number */
    uint64_t leaves[FY_MOST_CARDS + 1]; /* bit i: a leaf got its gradient in stream i */
} fy_pass_streams;

void fy_pass_streams_begin(fy_pass_streams *s, fy_site *at, fy_node *const *nodes, size_t n);
void fy_pass_streams_end(fy_pass_streams *s);                            /* restores the current streams */
void fy_pass_streams_run(const fy_pass_streams *s, const fy_node *node); /* from here on the node's gradients run */
/* The node's stream waits for g, which was made on `from`; then that stream is current, to add g up. */
void fy_pass_streams_deliver(fy_pass_streams *s, const fy_dev *from, fy_tensor *g, const fy_node *to);

#endif
