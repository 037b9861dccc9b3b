/* isolation.h: internal to the sandbox: namespaces for a program, so that it cannot signal its supervisor, and nothing
 * of it is left when that ends. Root has them by right; an ordinary user where user namespaces are allowed; in a
 * container often nobody. Async-signal-safe. */
#ifndef FERRY_ISOLATION_H
#define FERRY_ISOLATION_H

#include <sys/types.h>

#include "child.h"

/* From now on the caller's children are in a namespace of processes; false: there is none here. as_other: they become
 * another user. */
bool isolation_unshare(bool as_other);
/* In the supervisor: from now on its children are in a namespace of processes. The first is the keeper: with it all
 * others end, and it ends with the supervisor, which alone reads `output`. 0: there are no namespaces here. */
pid_t isolation_begin(const child_options *o, int output);
/* In such a child, before it becomes another user: /proc and /dev/shm of its own, and what shmget makes; a program that
 * has a folder for temporary files also gets a /tmp and a /var/tmp, so that nothing in them stays. */
void isolation_enter(const child_options *o);
/* Without namespaces, from Linux 6.12 on: neither it nor what it starts can signal others. */
void isolation_scope_signals(void);

#endif
