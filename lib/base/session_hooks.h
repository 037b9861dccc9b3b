/* session_hooks.h: what every floor asks of the session. The session lies on top of all of them, so it puts its
 * functions here before main; until then, and in a program without a session, nothing happens. */
#ifndef FERRY_SESSION_HOOKS_H
#define FERRY_SESSION_HOOKS_H

#include <stdbool.h>

typedef struct fy_session_hooks {
    void (*start)(void);
    bool (*late)(void);
    void (*over)(void);
    bool (*narrates)(void);
    void (*flush)(void);
    void (*card_opened)(void);
} fy_session_hooks;

void fy_session_hook(const fy_session_hooks *hooks); /* lives as long as the program */

void fy_session_start(void);   /* idempotent; every public call that may emit begins with it */
bool fy_session_late(void);    /* an event came and there is no log: is there one now? */
void fy_session_is_over(void); /* this process writes a log by hand: it is no session of its own */
bool fy_narrates(void);        /* does FERRY_NARRATE show the run on stderr? */
void fy_narrate_flush(void);   /* show what has happened so far; at ordering points */
void fy_card_opened(void);     /* a card is in use from now on: its memory needs the SIGSEGV handler */

#endif
