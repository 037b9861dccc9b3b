/* session.h: one run of a program, for those that stand above the library. */
#ifndef FERRY_SESSION_H
#define FERRY_SESSION_H

/* Who shows a run in the browser (libferry-view): it registers before main, and does nothing until FERRY_VIEW=1. */
typedef struct fy_viewer_hooks {
    int (*start)(int log_fd, const char *program); /* the serving process, or -1 after saying why not */
    void (*why)(const char *why);                  /* why the GPU is simulated, once that is known; "": it is not */
} fy_viewer_hooks;
void fy_session_viewer(const fy_viewer_hooks *hooks); /* lives as long as the program */

/* This program reads other programs' logs: it has no session of its own, whatever FERRY_TRACE says. Before main. */
void fy_session_none(void);

#endif
