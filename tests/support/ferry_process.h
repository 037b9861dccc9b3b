/* ferry_process.h: a `ferry` that goes on (serve, watch): started, listened to, ended by its pid; and the
 * API of one that serves lessons. */
#ifndef FERRY_PROCESS_H
#define FERRY_PROCESS_H

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

#include "page_client.h"
#include "school.h"

enum { GUARD_MS = 60000 }; /* nothing is timed; this ends a test that hangs */

typedef struct running {
    pid_t pid;
    int out;
    char text[65536];
    size_t size;
} running;

/* What it says is heard at `out`, and said into `in`: two ends of a pipe, or of a terminal. */
void start_ferry_on(running *r, int out, int in, const char *const *arguments);
void start_ferry(running *r, const char *const *arguments);
/* Until `part` was printed. */
void await(running *r, const char *part);
void forget(running *r);
/* Its exit status after a signal. */
int end_ferry(running *r, int signal_number);

/* A `ferry serve` and the way into it. */
typedef struct page {
    running ferry;
    door door;
} page;

/* When it has said all it says at the start. */
void enter_page(page *p);
void open_page(page *p);
/* The object or array that comes back; fails on another status. */
cJSON *api(const page *p, const char *method, const char *path, const char *body, int status);
void api_fails(const page *p, const char *method, const char *path, const char *body, int status);
const char *json_field(const cJSON *json, const char *key);

#endif
