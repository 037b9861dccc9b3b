/* session_hooks.h: calls into the session from lower layers. The session is the top layer, so it registers its
 * functions here before main; until then, and in a program without a session, the calls do nothing. */
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

void fy_session_hook(const fy_session_hooks *hooks); /* *hooks must stay valid until the program ends */

void fy_session_start(void);      /* idempotent; called first by every public call that may emit */
bool fy_session_start_late(void); /* starts a log if one is due, in a forked child; true if there is one now */
void fy_session_disable(void);    /* this process appends to a log of another one, and has no session */
bool fy_narration_is_on(void);    /* does FERRY_NARRATE narrate the run on stderr? */
void fy_narrate_flush(void);      /* narrates the events so far; called at synchronization points */
void fy_card_opened(void);        /* a card is open: installs the SIGSEGV handler for its memory */

#endif
