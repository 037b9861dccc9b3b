/* http_client.h: an HTTP and WebSocket client on raw sockets for tests of the server. Sends any bytes, well-formed or
 * not; waits at most TIMEOUT_S seconds for an answer. */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIMEOUT_S 60

/* A connection to the port, or -1. */
int dial(int port);
/* A socket that listens on the loopback port, or -1. */
int listen_on(int port);
bool send_bytes(int fd, const void *data, size_t size);
/* All bytes until the server closes the connection, zero-terminated. Free it. */
char *read_to_end(int fd);
/* Sends the bytes and returns the complete answer, "" if there was none. Free it. */
char *http_ask_bytes(int port, const void *data, size_t size);

/* A request; NULL headers are left out. Free the answer. */
typedef struct http_request {
    const char *method, *path, *host, *origin, *token, *body;
} http_request;

char *http_ask(int port, http_request a);
/* The status of an answer; 0 if the server closed without one. */
int status_of(const char *answer);
int http_ask_status(int port, http_request a);
/* The number of this process's threads that belong to the server: civetweb's and their descendants. */
int serving_threads(void);
/* Are there so many, soon? A thread that was joined may be listed for a moment. */
bool serving_threads_become(int n);

/* ---- WebSocket ---- */

/* Requests an upgrade; a NULL header or token is left out. Returns the connection, or -1 with the status that came
 * instead of 101 (0: closed without one). */
int ws_dial(int port, const char *path, const char *host, const char *origin, const char *token, int *status);
/* A masked frame with any first byte (0x81: a complete text frame). claim: the length in its header. */
bool ws_send_claiming(int fd, int first, const void *data, size_t size, uint64_t claim);
bool ws_send(int fd, const char *text);
/* The next frame's payload, zero-terminated, and its opcode; NULL at the end or after TIMEOUT_S. Free it. */
char *ws_read(int fd, int *opcode, size_t *size);
/* The next frame whose text has this prefix; others are skipped. Free it. */
char *ws_read_until(int fd, const char *beginning);
/* The close code of the next close frame; 0 if the connection ended without one. */
int ws_read_close(int fd);

#endif
