/* view.h: a server for one run alone. */
#ifndef FERRY_VIEW_H
#define FERRY_VIEW_H

/* `ferry view FILE`: serve a saved run, or one that is still being written, until Ctrl-C or SIGTERM.
 * Returns an exit status, after saying what is wrong. port: the first to try. */
int view_file(const char *path, int port, const char *allow_host);

/* FERRY_VIEW and --view: serve this program's own log from a process of its own, forked here, before
 * the program's first thread. Returns its pid, or -1 after saying why there is none. Nothing of the
 * program runs in that process, and no crash of the program ends it. It goes when every open page has
 * it all, or on Ctrl-C, or ten minutes after the program if nobody ever came. */
int fy_viewer(int log_fd, const char *program);

/* Said by the program once it knows: why its GPU is simulated, "" if it is not. The viewer waits for this
 * word, some seconds at most, and tells it to its pages. */
void fy_viewer_why(const char *why);

#endif
