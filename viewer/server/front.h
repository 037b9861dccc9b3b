/* front.h: what stands before civetweb, whose workers wait for a header as long as it takes. The front accepts all
 * connections, on a thread of its own, and passes on those whose header is complete. A silent one occupies no worker:
 * it ends after a second, or earlier if too many are held.
 *
 * A connection without the token may be anybody's: at most STRANGERS_MAX of them have a worker, others wait here.
 *
 * civetweb has no way to be given a connection. It polls the descriptor of its listening socket and calls accept() on
 * it; so the front takes that socket over, leaves one end of a socket pair under its number, and accept() (interposed,
 * as in threads.c) receives there what the front sends. */
#ifndef FERRY_FRONT_H
#define FERRY_FRONT_H

#define WORKERS 84
#define STRANGERS_MAX (WORKERS / 3)

typedef struct front front;

/* Takes over the listening socket of civetweb on `port`. To be called by civetweb's accepting thread before it polls;
 * the front's thread inherits its signal mask. NULL with errno set on failure. */
front *front_open(int port, const char *token);
/* Accepts nothing more, and closes what it holds. */
void front_stop(front *f);
/* Wakes civetweb's accepting thread, which then sees that it should stop. */
void front_wake_civetweb(front *f);
void front_close(front *f); /* after mg_stop */

#endif
