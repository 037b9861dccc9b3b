/* front.c: see front.h. Headers are looked at and not taken (MSG_PEEK), so that civetweb reads all of them. */
#define _GNU_SOURCE
#include "front.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "gate.h"
#include "memory.h"
#include "page_stream.h"

enum {
    HELD_MAX = 256,
    HEADER_MAX = 16384, /* civetweb's max_request_size */
    PATIENCE_MS = 1000,
    LOOK_MS = 20, /* how often it is asked whether a stranger's worker is free, while another waits */
    ACCEPTED_AT_ONCE = 64,
    SERVERS_MAX = 16, /* of one process: tests have several */
    TOKEN_SIZE = 32,
};

/* A connection that is held; fd -1: a free place. */
typedef struct guest {
    int fd;
    struct sockaddr_in peer;
    int64_t until; /* ms; its header must be complete by then */
    bool complete; /* it waits for a worker that a stranger may have */
} guest;

/* What is sent to civetweb's accepting thread; fd -1: nothing, only wake up. */
typedef struct ticket {
    int fd;
    struct sockaddr_in peer;
} ticket;

/* A connection without the token that has a worker. */
typedef struct stranger {
    int fd;
    char socket[32];
} stranger;

struct front {
    int listener, events, wakeup; /* wakeup: an eventfd */
    int door[2];                  /* a socket pair; [1] also has the number of civetweb's listening socket */
    int number;
    char token[TOKEN_SIZE + 1];
    guest guests[HELD_MAX];
    pthread_t thread;
    stranger strangers[STRANGERS_MAX];
    int stranger_count;
    atomic_bool ending;
};

enum { LISTENER = HELD_MAX, ENDING }; /* in epoll's data; less: a guest's place */

static _Atomic int doors[SERVERS_MAX]; /* numbers of listening sockets that are doors, plus 1; 0: none */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- headers ---- */

/* Will civetweb wait for more? It answers what it refuses at once: a control character, too much. */
static bool is_complete(const char *head, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)head[i];
        if (c < 128 && c != '\r' && c != '\n' && !isprint(c)) return true;
        if (c == '\n' && i && head[i - 1] == '\n') return true;
        if (c == '\n' && i >= 3 && !memcmp(head + i - 3, "\r\n\r\n", 4)) return true;
    }
    return size >= HEADER_MAX;
}

/* As the page sends it, "X-Ferry-Token: TOKEN", or for a WebSocket "?token=TOKEN". The gate decides who is admitted;
 * here it is only asked whether the sender knows the token. */
static bool knows_token(const front *f, const char *head, size_t size)
{
    static const char name[] = "token";
    char given[TOKEN_SIZE + 1] = "";
    for (size_t i = 0; i + sizeof name + TOKEN_SIZE <= size; i++) {
        size_t at = i + sizeof name - 1;
        if (strncasecmp(head + i, name, sizeof name - 1) || !strchr("=:", head[at])) continue;
        at++;
        while (at < size && head[at] == ' ') at++;
        if (size - at < TOKEN_SIZE) return false;
        memcpy(given, head + at, TOKEN_SIZE);
        if (secrets_equal(given, f->token)) return true;
    }
    return false;
}

/* ---- passing on ---- */

static void dismiss(guest *g)
{
    close(g->fd); /* epoll forgets it */
    g->fd = -1;
}

/* "socket:[1234]", which no other has; "" if there is none of this number. A worker may close it meanwhile. */
static stranger identify(int fd)
{
    char path[40];
    stranger s = {.fd = fd};
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, s.socket, sizeof s.socket - 1) < 0) s.socket[0] = '\0';
    return s;
}

/* Has its worker closed it? Its number may be another socket's since. */
static bool is_gone(const stranger *s) { return strcmp(identify(s->fd).socket, s->socket) != 0; }

static bool admit_stranger(front *f, int fd)
{
    if (f->stranger_count == STRANGERS_MAX)
        for (int i = STRANGERS_MAX; i--;)
            if (is_gone(&f->strangers[i])) f->strangers[i] = f->strangers[--f->stranger_count];
    if (f->stranger_count == STRANGERS_MAX) return false;
    f->strangers[f->stranger_count++] = identify(fd);
    return true;
}

static void hand_over(front *f, guest *g)
{
    ticket t = {g->fd, g->peer};
    epoll_ctl(f->events, EPOLL_CTL_DEL, g->fd, NULL);
    if (send(f->door[0], &t, sizeof t, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof t) {
        g->fd = -1;
    } else { /* hundreds wait for a worker already */
        dismiss(g);
    }
}

/* The guest that came first of those whose header is complete, or is not; NULL: none. */
static guest *first_guest(front *f, bool complete)
{
    guest *first = NULL;
    for (guest *g = f->guests; g < f->guests + HELD_MAX; g++)
        if (g->fd >= 0 && g->complete == complete && (!first || g->until < first->until)) first = g;
    return first;
}

static void hand_over_strangers(front *f)
{
    for (guest *g; (g = first_guest(f, true)) && admit_stranger(f, g->fd);) hand_over(f, g);
}

/* over: its sender says no more, so that what is there is all. */
static void look_at(front *f, guest *g, bool over)
{
    char head[HEADER_MAX];
    if (g->complete) return;
    ssize_t n = recv(g->fd, head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        dismiss(g);
        return;
    }
    if (!over && !is_complete(head, (size_t)n)) return;
    g->complete = true;
    if (knows_token(f, head, (size_t)n)) hand_over(f, g);
}

/* ---- accepting ---- */

static guest *free_place(front *f)
{
    for (guest *g = f->guests; g < f->guests + HELD_MAX; g++)
        if (g->fd < 0) return g;
    return NULL;
}

/* Makes room: those that said nothing go first. */
static bool dismiss_first(front *f)
{
    guest *g = first_guest(f, false);
    if (!g) g = first_guest(f, true);
    if (g) dismiss(g);
    return g != NULL;
}

static void hold(front *f, int fd, const struct sockaddr_in *peer)
{
    guest *g = free_place(f);
    if (!g && dismiss_first(f)) g = free_place(f);
    struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.u32 = (uint32_t)(g - f->guests)};
    *g = (guest){.fd = fd, .peer = *peer, .until = now_ms() + PATIENCE_MS};
    if (epoll_ctl(f->events, EPOLL_CTL_ADD, fd, &e)) dismiss(g);
    else look_at(f, g, false);
}

static void accept_some(front *f)
{
    for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
        struct sockaddr_in peer = {0};
        socklen_t size = sizeof peer;
        int fd = accept4(f->listener, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            hold(f, fd, &peer);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            if (!dismiss_first(f)) usleep(10000); /* workers have all: one of them ends */
        } else if (errno != ECONNABORTED && errno != EINTR) {
            return;
        }
    }
}

/* Ends those whose time is over. Returns for how long there is nothing else to do, in ms; -1: for any time. */
static int dismiss_late(front *f)
{
    guest *g;
    int64_t left = -1;
    while ((g = first_guest(f, false)) && (left = g->until - now_ms()) <= 0) dismiss(g);
    if (!g) left = -1;
    if (first_guest(f, true) && (left < 0 || left > LOOK_MS)) left = LOOK_MS;
    return (int)left;
}

static void *stand(void *arg)
{
    front *f = arg;
    struct epoll_event events[ACCEPTED_AT_ONCE];
    pthread_setname_np(pthread_self(), "civetweb-front");
    while (!atomic_load(&f->ending)) {
        int n = epoll_wait(f->events, events, ACCEPTED_AT_ONCE, dismiss_late(f));
        for (int i = 0; i < n; i++) {
            uint32_t which = events[i].data.u32;
            if (which == LISTENER) accept_some(f);
            else if (which < HELD_MAX && f->guests[which].fd >= 0)
                look_at(f, &f->guests[which], events[i].events & (EPOLLRDHUP | EPOLLHUP));
        }
        hand_over_strangers(f);
    }
    for (guest *g; (g = first_guest(f, false)) || (g = first_guest(f, true));) dismiss(g);
    return NULL;
}

/* ---- civetweb's door ---- */

static bool is_door(int fd)
{
    for (int i = 0; i < SERVERS_MAX; i++)
        if (atomic_load_explicit(&doors[i], memory_order_relaxed) == fd + 1) return true;
    return false;
}

/* from: 0 or the number of a door plus 1, as to. */
static bool replace_door(int from, int to)
{
    for (int i = 0; i < SERVERS_MAX; i++) {
        int expected = from;
        if (atomic_compare_exchange_strong(&doors[i], &expected, to)) return true;
    }
    errno = EMFILE;
    return false;
}

static int receive_ticket(int door, struct sockaddr *peer, socklen_t *size)
{
    ticket t = {.fd = -1};
    if (recv(door, &t, sizeof t, MSG_DONTWAIT) != sizeof t || t.fd < 0) {
        errno = EAGAIN;
        return -1;
    }
    if (peer && size) {
        memcpy(peer, &t.peer, *size < sizeof t.peer ? *size : sizeof t.peer);
        *size = sizeof t.peer;
    }
    return t.fd;
}

__attribute__((visibility("default"))) int accept(int fd, struct sockaddr *peer, socklen_t *size)
{
    typedef int accepts(int, struct sockaddr *, socklen_t *);
    accepts *next = NULL;
    if (is_door(fd)) return receive_ticket(fd, peer, size);
    *(void **)&next = dlsym(RTLD_NEXT, "accept");
    if (next) return next(fd, peer, size);
    errno = ENOSYS;
    return -1;
}

/* ---- begin and end ---- */

static void close_all(front *f)
{
    int fds[] = {f->listener, f->events, f->wakeup, f->door[0], f->door[1]}, error = errno;
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0) close(fds[i]);
    free(f);
    errno = error;
}

static bool wait_for(front *f, int fd, uint32_t which)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = which};
    return !epoll_ctl(f->events, EPOLL_CTL_ADD, fd, &e);
}

/* The listening socket under another number, and the door under its own. */
static bool take_over(front *f)
{
    f->listener = fcntl(f->number, F_DUPFD_CLOEXEC, 3);
    return f->listener >= 0 && !listen(f->listener, SOMAXCONN) && !fcntl(f->listener, F_SETFL, O_NONBLOCK) &&
           wait_for(f, f->listener, LISTENER) && wait_for(f, f->wakeup, ENDING) && replace_door(0, f->number + 1) &&
           dup3(f->door[1], f->number, O_CLOEXEC) >= 0;
}

front *front_open(int port, const char *token)
{
    front *f = memory_zeroed(1, sizeof *f, "a server");
    f->listener = f->door[0] = f->door[1] = -1;
    for (guest *g = f->guests; g < f->guests + HELD_MAX; g++) g->fd = -1;
    memcpy(f->token, token, TOKEN_SIZE);
    f->number = server_socket(port, 0);
    f->events = epoll_create1(EPOLL_CLOEXEC);
    f->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool ok = f->number >= 0 && f->events >= 0 && f->wakeup >= 0 &&
              !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, f->door) && take_over(f);
    int error = ok ? pthread_create(&f->thread, NULL, stand, f) : errno;
    if (!error) return f;
    errno = error;
    replace_door(f->number + 1, 0);
    close_all(f);
    errno = error;
    return NULL;
}

void front_stop(front *f)
{
    uint64_t one = 1;
    atomic_store(&f->ending, true);
    if (write(f->wakeup, &one, sizeof one) < 0) return; /* cannot happen */
    pthread_join(f->thread, NULL);
    close(f->listener);
    f->listener = -1;
    replace_door(f->number + 1, 0); /* civetweb closes it, and the number may be another's then */
}

void front_wake_civetweb(front *f)
{
    ticket nobody = {.fd = -1};
    send(f->door[0], &nobody, sizeof nobody, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void front_close(front *f)
{
    ticket t;
    while (recv(f->door[1], &t, sizeof t, MSG_DONTWAIT) == sizeof t) /* passed on, and not received */
        if (t.fd >= 0) close(t.fd);
    close_all(f);
}
