/* frame_reader.c: see frame_reader.h; RFC 6455, 5.2. */
#include "frame_reader.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

enum { CONTROL = 8, CONTROL_MAX = 125, MASKED = 128, MASK_BYTES = 4 };

/* The bytes of a header, its mask included, and the length in it; 0: more of it must be read. */
static size_t header_of(const unsigned char *p, size_t have, uint64_t *length)
{
    if (have < 2) return 0;
    unsigned first = p[1] & 127u;
    size_t more = first == 126 ? 2 : first == 127 ? 8 : 0;
    if (have < 2 + more + MASK_BYTES) return 0;
    *length = more ? 0 : first;
    for (size_t i = 0; i < more; i++) *length = *length << 8 | p[2 + i];
    return 2 + more + MASK_BYTES;
}

/* FRAME_IDLE: the frame is not complete yet. */
static int take_frame(frame_reader *r, ws_frame *out)
{
    uint64_t length;
    if (r->have >= 2 && !(r->bytes[1] & MASKED)) return PROTOCOL_ERROR;
    size_t head = header_of(r->bytes, r->have, &length);
    if (!head) return FRAME_IDLE;
    if (length > MESSAGE_MAX) return TOO_BIG;
    if (r->bytes[0] & CONTROL && length > CONTROL_MAX) return PROTOCOL_ERROR;
    if (r->have < head + length) return FRAME_IDLE;
    unsigned char *data = r->bytes + head;
    for (size_t i = 0; i < length; i++) data[i] ^= data[(i % MASK_BYTES) - MASK_BYTES];
    *out = (ws_frame){r->bytes[0], (char *)data, (size_t)length};
    r->used = head + (size_t)length;
    return FRAME_READ;
}

/* Whatever is there; FRAME_READ: something was. */
static int read_some(frame_reader *r, int timeout_ms)
{
    struct pollfd p = {.fd = r->fd, .events = POLLIN};
    int ready = poll(&p, 1, timeout_ms);
    if (ready == 0) return FRAME_IDLE;
    if (ready < 0) return errno == EINTR ? FRAME_READ : FRAME_END;
    ssize_t n = recv(r->fd, r->bytes + r->have, sizeof r->bytes - r->have, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return FRAME_READ;
    if (n <= 0) return FRAME_END;
    r->have += (size_t)n;
    return FRAME_READ;
}

int frame_read(frame_reader *r, int timeout_ms, ws_frame *out)
{
    memmove(r->bytes, r->bytes + r->used, r->have -= r->used);
    r->used = 0;
    for (;;) {
        int end = take_frame(r, out);
        if (end != FRAME_IDLE) return end;
        if ((end = read_some(r, timeout_ms)) != FRAME_READ) return end;
    }
}
