/* ferry_process.h: runs a long-running `ferry` (serve, watch), reads its output and ends it; and requests to the HTTP
 * API of `ferry serve`. */
#ifndef FERRY_PROCESS_H
#define FERRY_PROCESS_H

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

#include "page_client.h"
#include "learner_folder.h"

enum { GUARD_MS = 60000 }; /* a limit for hanging tests, not an expectation */

typedef struct running {
    pid_t pid;
    int out;
    char text[65536];
    size_t size;
} running;

/* ferry writes to `in`, the test reads from `out`: the ends of a pipe or a terminal. */
void start_ferry_on(running *r, int out, int in, const char *const *arguments);
void start_ferry(running *r, const char *const *arguments);
/* Waits until `part` has been printed. */
void await(running *r, const char *part);
void forget(running *r); /* discards the output so far */
/* Sends the signal; returns the exit status. */
int end_ferry(running *r, int signal_number);

/* A `ferry serve` and the credentials to use it. */
typedef struct page {
    running ferry;
    server_address address;
} page;

/* Waits for the URL that ferry prints, and joins. */
void enter_page(page *p);
void open_page(page *p);
/* Sends a request and returns the parsed answer, which the caller frees. Fails on another status. */
cJSON *api(const page *p, const char *method, const char *path, const char *body, int status);
void api_fails(const page *p, const char *method, const char *path, const char *body, int status);
const char *json_field(const cJSON *json, const char *key);

#endif
