/* session.h: one run of a program; for code on top of the library. */
#ifndef FERRY_SESSION_H
#define FERRY_SESSION_H

/* The browser viewer (libferry-view). It registers before main, and does nothing unless FERRY_VIEW=1. */
typedef struct fy_viewer_hooks {
    int (*start)(int log_fd, const char *program); /* returns the server's pid, or -1 after printing why not */
    void (*why)(const char *why);                  /* called once: why the GPU is simulated; "" if it is real */
} fy_viewer_hooks;
void fy_session_viewer(const fy_viewer_hooks *hooks); /* hooks: static lifetime */

/* The lines of FERRY_NARRATE go to stdout, in order with what the program prints, not to stderr. Call before main. */
void fy_session_narrate_on_stdout(void);

/* For programs that read other programs' logs: disables the session, whatever FERRY_TRACE says. Call before main. */
void fy_session_none(void);

/* For the SIGSEGV handler: gives a log that has no event yet its first one. */
void fy_session_crashed(void);

#endif
