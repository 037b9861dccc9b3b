/* frame_reader.h: WebSocket frames from a socket, each judged at its header: civetweb would buffer whatever length is
 * announced there before anybody is asked. */
#ifndef FERRY_FRAME_READER_H
#define FERRY_FRAME_READER_H

#include <stddef.h>

enum { MESSAGE_MAX = 4096 }; /* bytes of a message from a page */

typedef struct frame_reader {
    int fd;
    size_t have, used; /* bytes read, and those of the last frame */
    unsigned char bytes[14 + MESSAGE_MAX];
} frame_reader;

typedef struct ws_frame {
    int bits; /* the first byte: flags and opcode */
    char *data;
    size_t size;
} ws_frame;

enum { FRAME_READ, FRAME_IDLE, FRAME_END, PROTOCOL_ERROR = 1002, TOO_BIG = 1009 };

/* The next frame, unmasked, valid until the next call; FRAME_IDLE if nothing comes for so long, FRAME_END at the end of
 * the connection, or the code to close it with: for a frame that is too long, or not masked. */
int frame_read(frame_reader *r, int timeout_ms, ws_frame *out);

#endif
