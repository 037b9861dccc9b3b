/* race_advice.c: the call that would order two racing accesses, with the program's names of tensors and streams. */
#include <stdio.h>

#include "device.h"
#include "event.h"
#include "race_detector.h"
#include "vector_clock.h"
#include "stream.h"

typedef struct label {
    char text[96];
} label;

/* As the program writes it: "side", or the call that returns the stream. */
static label stream_of(int agent)
{
    label l;
    int stream = fy_agent_stream(agent), device = fy_agent_device(agent);
    const fy_dev *card = fy_dev_at(device);
    const char *name = stream ? fy_stream_name(card, stream) : NULL;
    if (name) snprintf(l.text, sizeof l.text, "%.80s", name);
    else if (stream) snprintf(l.text, sizeof l.text, "stream %d of %s", stream, card->name);
    else if (device == 1) snprintf(l.text, sizeof l.text, "fy_cuda_default_stream()");
    else snprintf(l.text, sizeof l.text, "fy_cuda_default_stream(.device = \"%s\")", card->name);
    return l;
}

static label tensor_of(const char *name, uint32_t id)
{
    label l;
    if (name) snprintf(l.text, sizeof l.text, "%.80s", name);
    else if (id) snprintf(l.text, sizeof l.text, "tensor %u", (unsigned)id);
    else snprintf(l.text, sizeof l.text, "the tensor that was freed");
    return l;
}

/* a: the stream of the earlier access; b, x, line: stream, tensor and place of the later one. */
const char *fy_race_advice(const fy_data_race *f, const fy_access *later, const fy_site *at, char *buf, size_t room)
{
    label x = tensor_of(later->name, later->tensor), old = tensor_of(f->name, f->tensor);
    label a = stream_of(f->agent), b = later->agent == FY_HOST ? (label){"the host"} : stream_of(later->agent);
    const char *uses = later->write ? "writes" : "reads";
    char line[32] = "this call";
    if (at) snprintf(line, sizeof line, "line %d", at->line);
    if (f->type == FY_WORD_reuse && f->same_stream)
        snprintf(buf, room,
                 "call fy_stream_wait_stream(%s, %s) before %s uses %s: these bytes belonged to %s, which was freed, "
                 "and work queued on %s may still use them",
                 b.text, a.text, line, x.text, old.text, a.text);
    else if (f->type == FY_WORD_reuse)
        snprintf(buf, room,
                 "call fy_record_stream(%s, %s) before %s is freed: work queued on %s may still use its bytes, which "
                 "now belong to %s; fy_stream_wait_stream(%s, %s) before %s orders them too, but then %s waits for "
                 "that work",
                 old.text, a.text, old.text, a.text, x.text, b.text, a.text, line, b.text);
    else if (later->agent == FY_HOST)
        snprintf(buf, room,
                 "call fy_cuda_synchronize(), or fy_stream_synchronize(%s), before %s %s %s: work queued on that "
                 "stream may not have %s it yet",
                 a.text, line, uses, x.text, f->written ? "written" : "read");
    else
        snprintf(buf, room,
                 "call fy_stream_wait_stream(%s, %s) before %s %s %s, or fy_event_wait with an event that was recorded "
                 "in %s after the line that %s it",
                 b.text, a.text, line, uses, x.text, a.text, f->written ? "writes" : "reads");
    return buf;
}
