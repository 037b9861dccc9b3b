/* device_parse.c: device names, spelled as in PyTorch; the thread's current card. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "session_hooks.h"

typedef struct spelling {
    char type[16];
    const char *index; /* its digits, or NULL */
} spelling;

/* PyTorch's rule: a word, then optionally ':' and a number without leading zeros. */
static bool spell(const char *s, spelling *out)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
    snprintf(out->type, sizeof out->type, "%.*s", (int)n, s);
    out->index = s[n] == ':' ? s + n + 1 : NULL;
    if (n == 0) return false;
    if (!out->index) return s[n] == 0;
    size_t digits = strspn(out->index, "0123456789");
    return digits > 0 && out->index[digits] == 0 && (out->index[0] != '0' || digits == 1);
}

static fy_dev *cuda_number(fy_site *at, const char *name, long index)
{
    fy_dev *d = fy_dev_at((int)index + 1);
    if (d) return d;
    int cards = fy_dev_count() - 1;
    const char *why = fy_dev_why_not_real();
    if (cards == 0)
        return fy_fail(at, "device",
                       why && strstr(why, "CUDA_VISIBLE_DEVICES")
                           ? "unset CUDA_VISIBLE_DEVICES, or compute on \"cpu\""
                           : "unset FERRY_GPU to use the simulated card, or compute on \"cpu\"",
                       "No CUDA GPUs are available (%s)", why ? why : "FERRY_GPU=none");
    return fy_fail(at, "device",
                   cards == 1 ? "the only card is \"cuda:0\", or \"cuda\" for short"
                              : fy_hint("the cards are \"cuda:0\" to \"cuda:%d\"", cards - 1),
                   "CUDA error: invalid device ordinal (\"%.40s\", but there %s %d card%s)", name,
                   cards == 1 ? "is" : "are", cards, cards == 1 ? "" : "s");
}

static _Thread_local int current; /* the card that "cuda" names in this thread */

int fy_cuda_current_device(void) { return current; }

fy_dev *fy_dev_card(fy_site *at, int index)
{
    char name[32];
    snprintf(name, sizeof name, "cuda:%d", index);
    return index < 0 ? cuda_number(at, "cuda", current) : cuda_number(at, name, index);
}

void fy_dev_set_current(fy_site *at, int index)
{
    if (index == current) return;
    current = index;
    FY_EMIT(at, set_device, .device = (uint8_t)(index + 1));
}

void fy_cuda_set_device_at(fy_site *at, int device)
{
    FY_CALL(at);
    fy_session_start();
    fy_dev_count();
    fy_dev_note_late_setting();
    if (device < 0) fy_fail(at, "device", "cards are numbered from 0", "Device index must not be negative: %d", device);
    else if (fy_dev_card(at, device)) fy_dev_set_current(at, device);
}

fy_dev *fy_dev_parse(fy_site *at, const char *name)
{
    static const char *const fix = "devices are \"cpu\", \"cuda\" and \"cuda:0\"";
    spelling s;
    if (!name) return fy_fail(at, "device", fix, "Device string must not be empty (it is NULL)");
    if (!*name) return fy_fail(at, "device", fix, "Device string must not be empty");
    if (!spell(name, &s)) return fy_fail(at, "device", fix, "Invalid device string: '%.60s'", name);
    if (s.index && strlen(s.index) > 9)
        return fy_fail(at, "device", fix, "Could not parse device index '%.40s' in device string '%.60s'", s.index,
                       name);
    long index = s.index ? strtol(s.index, NULL, 10) : 0;
    if (strcmp(s.type, "cuda") == 0) return cuda_number(at, name, s.index ? index : current);
    if (strcmp(s.type, "cpu") == 0 && index == 0) return fy_dev_at(0);
    if (strcmp(s.type, "cpu") == 0)
        return fy_fail(at, "device", "write \"cpu\"", "CPU device index must be -1 or zero, got %ld ('%.40s')", index,
                       name);
    return fy_fail(at, "device", fix, "Expected one of cpu, cuda device type at start of device string: %.60s", s.type);
}
