/* run_manager.h: the lessons behind the page: its routes, the watcher of my/, and the background runs.
 *
 * A lesson has one run at a time; a new request cancels the one in progress. Every run of the learner's
 * program is graded, sent to the pages as status messages, and reported on the terminal. */
#ifndef FERRY_RUN_MANAGER_H
#define FERRY_RUN_MANAGER_H

#include <cjson/cJSON.h>

#include "lesson.h"
#include "server.h"

typedef struct run_manager run_manager;

/* seconds: the wall-time limit of a program; 0: the default. h and c are borrowed. */
run_manager *run_manager_open(const home *h, const catalogue *c, double seconds);
/* Starts the threads: from now on saves trigger runs, which the server's pages show. */
bool run_manager_start(run_manager *m, server *web);
/* Cancels all runs and joins the threads. Call before server_stop. */
void run_manager_stop(run_manager *m);
void run_manager_free(run_manager *m);

/* For server_options.routes, with the run_manager as `user`. */
extern const route lesson_routes[];

/* ---- internal: run_manager.c, routes.c --------------------------------------------------------------------- */

typedef struct workspace workspace; /* a lesson's file, thread and current run */
typedef enum run_request { REQUEST_DEMO, REQUEST_MINE } run_request;

workspace *run_manager_workspace(run_manager *m, const lesson *l);
const home *run_manager_paths(const run_manager *m);
const catalogue *run_manager_catalogue(const run_manager *m);
/* What the last run of the example answers to the lesson's questions: a list, null where its log does not tell; empty
 * before the first run. Thread-safe. */
cJSON *workspace_answers(workspace *w);
/* Requests a run; the one in progress is cancelled. Thread-safe. */
void workspace_request(workspace *w, run_request what, const char *by);
/* The server itself wrote the file: the watcher ignores its present contents. Thread-safe. */
void workspace_ignore_save(workspace *w);

#endif
