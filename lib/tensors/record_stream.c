/* record_stream.c: fy_record_stream: another stream uses a tensor. */
#include "device.h"
#include "event.h"
#include "frame.h"
#include "session_hooks.h"
#include "storage.h"
#include "stream.h"
#include "tensor.h"

void fy_record_stream_at(fy_site *at, fy_tensor *x, fy_stream *s)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_check(at, 0, x) || !(s = fy_stream_given(at, 1, s))) return;
    const fy_dev *dev = x->storage->dev;
    if (dev->number == 0) {
        fy_fail_about(at, "device", "fy_record_stream is for tensors on a card: remove the call", 1, &x,
                      "Could not run 'aten::record_stream' with arguments from the 'CPU' backend.");
        return;
    }
    if (dev != s->card) {
        fy_fail_about(at, "device", "pass a stream of the tensor's own card", 1, &x,
                      "the stream is on %s, the tensor's memory is not", s->card->name);
        return;
    }

    if (x->storage->stream == s->number) return; /* its own stream: ordered anyway */
    fy_storage_record_stream(x->storage, s->number);
    FY_EMIT(at, record_stream, .tensor = x->id, .storage = x->storage->id, .device = (uint8_t)s->card->number,
            .stream = s->number);
}
