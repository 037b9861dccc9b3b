/* page_client.h: acts as a page: joins by the printed URL and follows a run to its end. */
#ifndef PAGE_CLIENT_H
#define PAGE_CLIENT_H

#include "http_client.h"

/* The address and credentials of a server. */
typedef struct door {
    int port;
    char host[32], origin[48], token[33];
} door;

/* From a text that contains the URL; port 0: none found. */
door door_of(const char *text);
int door_join(const door *d);
/* The complete answer to a GET with the token; fails unless the status is 200. Free it. */
char *door_get(const door *d, const char *path);

/* What a page has received of a run. */
typedef struct following {
    int fd, run;
    uint64_t next;  /* the next seq */
    uint64_t ended; /* the number in the "ended" message, plus 1; 0: none yet */
} following;

/* The next frame other than a ping; pings are answered, as in browsers. */
char *next_frame(int fd, int *opcode, size_t *size);
/* Processes one frame; false at the end of the connection. */
bool take_frame(following *f);
void follow_to_the_end(following *f);

#endif
