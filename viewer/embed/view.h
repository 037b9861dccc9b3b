/* view.h: a server for a single run. */
#ifndef FERRY_VIEW_H
#define FERRY_VIEW_H

/* `ferry view FILE`: serves a saved run, or one that is still being written, until Ctrl-C or SIGTERM; with another one
 * to compare it with, which may be NULL. Returns an exit status; prints errors to stderr. port: the first to try. */
int view_files(const char *path, const char *other, int port, const char *allow_host);

/* FERRY_VIEW and --view: serves this program's log from a separate process, forked here; call it before
 * the program starts a thread. Returns the process's pid, or -1 after printing the reason. No code of the
 * program runs in that process, and it survives a crash of the program. After the program's end it exits when its
 * page has been closed for a minute, on Ctrl-C or SIGTERM, or after ten minutes if no page was ever opened. */
int fy_viewer(int log_fd, const char *program);

/* For tests: how long a page may be closed, in ms. Call it before fy_viewer. */
void view_closed_page_ms(int ms);

/* Called by the program once it knows why its GPU is simulated; "" if it is not. The viewer waits up to five
 * seconds for this, and sends it to its pages. */
void fy_viewer_why(const char *why);

#endif
