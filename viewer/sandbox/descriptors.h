/* descriptors.h: what a forked process keeps open. */
#ifndef FERRY_DESCRIPTORS_H
#define FERRY_DESCRIPTORS_H

/* Closes all descriptors but those n: inherited sockets would keep their connections open, and inherited ends of pipes
 * hide that the other process hung up. Async-signal-safe. */
void descriptors_close_except(const int *keep, int n);

#endif
