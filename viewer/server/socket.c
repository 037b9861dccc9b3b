/* socket.c: finds civetweb's sockets by their two port numbers, since civetweb does not expose them. */
#include <arpa/inet.h>
#include <dirent.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

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

/* The next socket on that port, and the port of its peer, 0 if it listens; -1: there is none. */
static int next_socket(DIR *fds, int port, int *peer)
{
    for (struct dirent *e; fds && (e = readdir(fds));) {
        int fd = atoi(e->d_name);
        if (port_of(fd, getsockname) != port) continue;
        *peer = port_of(fd, getpeername);
        return fd;
    }
    return -1;
}

int server_socket(int port, int peer)
{
    DIR *fds = opendir("/proc/self/fd");
    int fd, remote = 0;
    do fd = next_socket(fds, port, &remote);
    while (fd >= 0 && remote != peer);
    if (fds) closedir(fds);
    return fd;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void end_connection(int fd, int ms)
{
    char waste[8192];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int64_t until = now_ms() + ms, left;
    shutdown(fd, SHUT_WR);
    while ((left = until - now_ms()) > 0 && poll(&p, 1, (int)left) > 0 && recv(fd, waste, sizeof waste, 0) > 0)
        continue;
    shutdown(fd, SHUT_RDWR);
}

void shutdown_connections(int port)
{
    DIR *fds = opendir("/proc/self/fd");
    for (int fd, peer; (fd = next_socket(fds, port, &peer)) >= 0;)
        if (peer) shutdown(fd, SHUT_RDWR);
    if (fds) closedir(fds);
}

/* The kernel's connection table lists the peer's socket as well, since it is on this machine. */
static bool find_user(const char *table, int port, int peer, uid_t *user)
{
    enum { ESTABLISHED = 1 }; /* in later states the kernel no longer reports the user */
    char line[512], from[33], to[33], loopback[9];
    unsigned from_port, to_port, state, uid;
    bool found = false;
    snprintf(loopback, sizeof loopback, "%08X", htonl(INADDR_LOOPBACK)); /* the table shows memory order */
    FILE *f = fopen(table, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        int n = sscanf(line, " %*d: %32[0-9A-F]:%x %32[0-9A-F]:%x %x %*x:%*x %*x:%*x %*x %u", from, &from_port, to,
                       &to_port, &state, &uid);
        found = n == 6 && state == ESTABLISHED && from_port == (unsigned)peer && to_port == (unsigned)port &&
                strlen(from) >= 8 && !strcmp(from + strlen(from) - 8, loopback) && !strcmp(from, to);
    }
    if (f) fclose(f);
    if (found) *user = uid;
    return found;
}

bool peer_user(int port, int peer, uid_t *user)
{
    return find_user("/proc/net/tcp", port, peer, user) || find_user("/proc/net/tcp6", port, peer, user);
}
