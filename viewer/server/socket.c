/* socket.c: reaches civetweb's sockets from outside, by their two port numbers. */
#include <arpa/inet.h>
#include <dirent.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "page_stream.h"

typedef int (*name_of)(int, struct sockaddr *, socklen_t *);

/* The port of one end of a socket; 0 if fd is something else. */
static int port_of(int fd, name_of name)
{
    struct sockaddr_storage a = {0};
    socklen_t size = sizeof a;
    if (name(fd, (struct sockaddr *)&a, &size) || a.ss_family != AF_INET) return 0;
    return ntohs(((struct sockaddr_in *)(void *)&a)->sin_port);
}

void shut_connections(int port, int peer, int how)
{
    DIR *fds = opendir("/proc/self/fd");
    if (!fds) return;
    for (struct dirent *e; (e = readdir(fds));) {
        int fd = atoi(e->d_name), far;
        if (port_of(fd, getsockname) != port || !(far = port_of(fd, getpeername))) continue;
        if (!peer || far == peer) shutdown(fd, how);
    }
    closedir(fds);
}
