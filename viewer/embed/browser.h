/* browser.h: tells people where the page is. */
#ifndef FERRY_BROWSER_H
#define FERRY_BROWSER_H

#include <stdbool.h>
#include <stdio.h>

#include "server.h"

/* Say on `out` where the page is: the URL on one line, before it a word if the port that was asked for
 * is taken, after it, over SSH, the command that forwards the port. On a desktop, from a terminal,
 * the browser is opened too, by a way in that is good once; BROWSER=none forbids it. */
void browser_show(const server *s, int asked_port, FILE *out);

/* Is there a desktop, here and not at the other end of SSH, to open a browser on? (Pure: from the
 * environment.) */
bool browser_has_desktop(void);

/* The line that forwards the port, or false when this is not an SSH session. */
bool browser_forwarding(int port, char *line, size_t room);

#endif
