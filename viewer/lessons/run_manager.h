/* run_manager.h: the lessons behind the page: its routes, the watcher of my/, and the runs in the background.
 *
 * One run at a time for a lesson; whoever comes later supersedes. Every run of the learner's is graded,
 * told to the pages by status messages, and reported on the terminal. */
#ifndef FERRY_STUDIO_H
#define FERRY_STUDIO_H

#include "lesson.h"
#include "server.h"

typedef struct studio studio;

/* seconds: wall time that a program has; 0: the default. */
studio *studio_open(const home *h, const catalogue *c, double seconds);
/* From here on runs go to the server's pages and saves are noticed. */
bool studio_start(studio *s, server *web);
/* Stops what runs, and waits for it. Before server_stop. */
void studio_stop(studio *s);
void studio_free(studio *s);

/* For server_options: routes, with the studio as `user`. */
extern const route studio_routes[];

/* ---- inside: desk.c, routes.c ------------------------------------------------------------------------- */

typedef struct desk desk; /* where one lesson is worked on */
typedef enum wish { WISH_NOTHING, WISH_DEMO, WISH_MINE } wish;

desk *studio_desk(studio *s, const lesson *l);
const home *studio_home(const studio *s);
const catalogue *studio_catalogue(const studio *s);
/* Ask for a run; the one that is on is stopped. */
void desk_wish(desk *d, wish what);
/* The file was made, reset or saved by us: what is there now is no save to notice. */
void desk_know(desk *d);

#endif
