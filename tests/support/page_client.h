/* page_client.h: acts as the page: connects to the printed URL and follows a run to its end. */
#ifndef PAGE_CLIENT_H
#define PAGE_CLIENT_H

#include "http_client.h"

/* The address and credentials of a server. */
typedef struct server_address {
    int port;
    char host[32], origin[48], token[33];
} server_address;

/* Parses a text that contains the URL; port 0: none found. */
server_address parse_server_address(const char *text);
int join_server(const server_address *d);
/* The complete answer to a GET with the token; fails unless the status is 200. Free it. */
char *http_get(const server_address *d, const char *path);

/* What a page has received of a run. */
typedef struct run_follower {
    int fd, run;
    uint64_t next;  /* the next seq */
    uint64_t ended; /* the number in the "ended" message, plus 1; 0: none yet */
} run_follower;

/* The next frame other than a ping; pings are answered, as in browsers. */
char *next_frame(int fd, int *opcode, size_t *size);
/* Processes one frame; false at the end of the connection. */
bool process_frame(run_follower *f);
void follow_to_end(run_follower *f);

#endif
