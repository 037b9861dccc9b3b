/* run_manager.h: the lessons behind the page: its routes, the watcher of my/, and the runs in the background.
 *
 * One run at a time for a lesson; whoever comes later supersedes. Every run of the learner's is graded,
 * told to the pages by status messages, and reported on the terminal. */
#ifndef FERRY_STUDIO_H
#define FERRY_STUDIO_H

#include "lesson.h"
#include "server.h"

typedef struct run_manager run_manager;

/* seconds: wall time that a program has; 0: the default. */
run_manager *run_manager_open(const home *h, const catalogue *c, double seconds);
/* From here on runs go to the server's pages and saves are noticed. */
bool run_manager_start(run_manager *s, server *web);
/* Stops what runs, and waits for it. Before server_stop. */
void run_manager_stop(run_manager *s);
void run_manager_free(run_manager *s);

/* For server_options: routes, with the run_manager as `user`. */
extern const route lesson_routes[];

/* ---- inside: workspace.c, routes.c ------------------------------------------------------------------------- */

typedef struct workspace workspace; /* where one lesson is worked on */
typedef enum run_request { REQUEST_NOTHING, REQUEST_DEMO, REQUEST_MINE } run_request;

workspace *run_manager_workspace(run_manager *s, const lesson *l);
const home *run_manager_paths(const run_manager *s);
const catalogue *run_manager_catalogue(const run_manager *s);
/* Ask for a run; the one that is on is stopped. */
void workspace_request(workspace *d, run_request what);
/* The file was made, reset or saved by us: what is there now is no save to notice. */
void workspace_saved(workspace *d);

#endif
