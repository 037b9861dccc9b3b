/* page_client.h: what a page does, for tests: it comes in by the printed URL and follows a run to its end. */
#ifndef PAGE_CLIENT_H
#define PAGE_CLIENT_H

#include "http_client.h"

/* How to get in. */
typedef struct door {
    int port;
    char host[32], origin[48], token[33];
} door;

/* From the text that holds the URL; port is 0 if there is none. */
door door_of(const char *text);
int door_join(const door *d);
/* The whole answer to a GET with the token; fails on another status than 200. Free it. */
char *door_get(const door *d, const char *path);

/* What one page has got of a run. */
typedef struct following {
    int fd, run;
    uint64_t next;  /* seq that comes next */
    uint64_t ended; /* what "ended" said, plus 1 */
} following;

/* The next frame that is no ping; pings are answered, as browsers do. */
char *next_frame(int fd, int *opcode, size_t *size);
/* Take one frame in; false at the end of the connection. */
bool take_frame(following *f);
void follow_to_the_end(following *f);

#endif
