/* browser.h: prints the page's URL and opens a browser. */
#ifndef FERRY_BROWSER_H
#define FERRY_BROWSER_H

#include <stdbool.h>
#include <stdio.h>

#include "server.h"

/* Prints to `out`: a line if asked_port was taken, the URL, and over SSH the command that forwards the
 * port. On a desktop with a terminal it also opens a browser, with a one-time URL, unless BROWSER=none. */
void browser_announce(const server *s, int asked_port, FILE *out);

/* Does this machine have a desktop that the user sits at, not over SSH? Reads only the environment. */
bool browser_has_desktop(void);

/* The command that forwards the port; false if this is not an SSH session. */
bool browser_forwarding(int port, char *line, size_t room);

#endif
