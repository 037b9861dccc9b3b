/* pass_streams.c: see pass_streams.h. */
#include "pass_streams.h"

#include "device.h"
#include "stream.h"

static int stream_of(const fy_node *node) { return __atomic_load_n(&node->stream, __ATOMIC_RELAXED); }

void fy_pass_streams_begin(fy_pass_streams *s, fy_site *at, fy_node *const *nodes, size_t n)
{
    *s = (fy_pass_streams){.at = at};
    for (size_t i = 0; i < n && !s->several; i++)
        s->several = nodes[i]->dev->number > 0 && stream_of(nodes[i]) != fy_stream_current(nodes[i]->dev);
    for (int d = 1; s->several && d < fy_dev_count(); d++) s->current[d] = fy_stream_current(fy_dev_at(d));
}

static void set(const fy_pass_streams *s, fy_dev *card, int stream)
{
    fy_stream_set_of_card(s->at, fy_stream_of(card, stream));
}

/* The other cards keep the streams that were current at fy_backward. */
void fy_pass_streams_run(const fy_pass_streams *s, const fy_node *node)
{
    for (int d = 1; s->several && d < fy_dev_count(); d++)
        set(s, fy_dev_at(d), d == node->dev->number ? stream_of(node) : s->current[d]);
}

/* A copy between two cards runs in the source's stream, by its number, on both. */
void fy_pass_streams_deliver(fy_pass_streams *s, const fy_dev *from, fy_tensor *g, const fy_node *to)
{
    fy_dev *card = to->dev;
    if (!s->several || card->number == 0) return;
    int made = fy_stream_current(from->number > 0 ? from : card), own = stream_of(to);
    if (made != own) {
        fy_stream *other = fy_stream_of(card, own);
        fy_stream_wait_stream_at(s->at, other, fy_stream_of(card, made));
        fy_record_stream_at(s->at, g, other); /* its memory is not reused before that stream has read it */
    }
    if (to->op == FY_NODE_LEAF) s->leaves[card->number] |= UINT64_C(1) << own;
    if (to->op == FY_NODE_LEAF || to->arriving) set(s, card, own);
}

void fy_pass_streams_end(fy_pass_streams *s)
{
    for (int d = 1; s->several && d < fy_dev_count(); d++) {
        fy_dev *card = fy_dev_at(d);
        set(s, card, s->current[d]);
        for (int i = 0; i < FY_STREAMS; i++)
            if ((s->leaves[d] & UINT64_C(1) << i) && i != s->current[d])
                fy_stream_wait_stream_at(s->at, fy_stream_of(card, s->current[d]), fy_stream_of(card, i));
    }
}
