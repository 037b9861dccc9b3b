/* race_advice.c: what would put two accesses in order, in words that name the call, the tensors and the streams. */
#include <stdio.h>

#include "device.h"
#include "event.h"
#include "race_detector.h"
#include "vector_clock.h"

typedef struct label {
    char text[96];
} label;

static label stream_of(int agent)
{
    label l;
    int stream = fy_agent_stream(agent), device = fy_agent_device(agent);
    const char *card = fy_dev_at(device)->name;
    if (stream) snprintf(l.text, sizeof l.text, "stream %d of %s", stream, card);
    else snprintf(l.text, sizeof l.text, "the default stream of %s", card);
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

/* The host came too early. */
static void wait_on_host(const fy_data_race *f, const char *x, const char *s, bool write, char *buf, size_t room)
{
    snprintf(buf, room,
             "call fy_cuda_synchronize() before %s is %s here, or fy_stream_synchronize(s) where s is %s: what it was "
             "given may not have %s it yet",
             x, write ? "written" : "read", s, f->written ? "written" : "read");
}

static void wait_in_stream(const fy_data_race *f, const char *x, const char *a, const char *b, bool write, char *buf,
                           size_t room)
{
    snprintf(buf, room,
             "let %s wait before it %s %s: fy_stream_wait_stream(b, a) where b is that stream and a is %s, or "
             "fy_event_record(e, a) after the line that %s it and fy_event_wait(e, b) before this one",
             b, write ? "writes" : "reads", x, a, f->written ? "writes" : "reads");
}

static void wait_before_reuse(const fy_data_race *f, const char *old, const char *x, const char *a, const char *b,
                              char *buf, size_t room)
{
    if (f->home)
        snprintf(buf, room,
                 "let %s wait before it uses %s: fy_stream_wait_stream(b, a) where b is that stream and a is %s: it "
                 "may still use these bytes as %s, which was freed",
                 b, x, a, old);
    else
        snprintf(buf, room,
                 "call fy_record_stream(%s, s) before %s is freed, where s is %s, which may still use its bytes, now "
                 "those of %s; or let %s wait for it first: fy_stream_wait_stream",
                 old, old, a, x, b);
}

const char *fy_race_advice(const fy_data_race *f, const fy_access *later, char *buf, size_t room)
{
    label x = tensor_of(later->name, later->tensor), old = tensor_of(f->name, f->tensor);
    label a = stream_of(f->agent), b = later->agent == FY_HOST ? (label){"the host"} : stream_of(later->agent);
    if (f->type == FY_WORD_reuse) wait_before_reuse(f, old.text, x.text, a.text, b.text, buf, room);
    else if (later->agent == FY_HOST) wait_on_host(f, x.text, a.text, later->write, buf, room);
    else wait_in_stream(f, x.text, a.text, b.text, later->write, buf, room);
    return buf;
}
