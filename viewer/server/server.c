/* server.c: starts and stops the server. civetweb listens on the loopback interface only, has no
 * document root and hands every request to http.c. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <civetweb.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "memory.h"
#include "serving.h"

static bool make_token(char *hex)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) sprintf(hex + 2 * i, "%02x", bytes[i]);
    return true;
}

/* civetweb would print to stderr what it does not like about requests, tokens in their queries included. */
static int say_nothing(const struct mg_connection *conn, const char *message)
{
    (void)conn, (void)message;
    return 1;
}

/* Each of civetweb's threads ignores SIGPIPE for the whole process as it starts: put back what was. They
 * send with MSG_NOSIGNAL anyway. */
static void *restore_sigpipe(const struct mg_context *web, int type)
{
    const server *s = mg_get_user_data(web);
    (void)type;
    sigaction(SIGPIPE, &s->pipe_action, NULL);
    return NULL;
}

/* civetweb's threads must not catch the program's signals. */
static struct mg_context *start_quietly(struct mg_init_data *init, struct mg_error_data *error)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* the log's: lib/events/mapping.c */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    threads_need_room(1);
    struct mg_context *web = mg_start2(init, error);
    int problem = errno;
    if (!web) threads_need_room(-1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = problem;
    return web;
}

static void stop_web(struct mg_context *web)
{
    mg_stop(web);
    threads_need_room(-1);
}

static struct mg_context *start_on(server *s, int port, char *err, size_t room)
{
    char where[32];
    snprintf(where, sizeof where, "127.0.0.1:%d", port);
    /* Headers and payload are two writes: without nodelay every answer takes 44 ms. An open page keeps a
     * thread. Writes to a peer that stalls give up after request_timeout_ms; pings find the vanished. */
    /* clang-format off */
    const char *options[] = {
        "listening_ports", where, "num_threads", "64", "tcp_nodelay", "1",
        "request_timeout_ms", "5000", "websocket_timeout_ms", "5000", "enable_websocket_ping_pong", "yes",
        "enable_keep_alive", "no", "decode_url", "no", "enable_directory_listing", "no",
        "access_control_allow_origin", "", "access_control_allow_methods", "", "access_control_allow_headers", "",
        NULL,
    };
    /* clang-format on */
    struct mg_callbacks callbacks = {.begin_request = http_answer,
                                     .http_error = http_error,
                                     .log_message = say_nothing,
                                     .init_thread = restore_sigpipe};
    struct mg_init_data init = {.callbacks = &callbacks, .user_data = s, .configuration_options = options};
    struct mg_error_data error = {.text = err, .text_buffer_size = room};
    sigaction(SIGPIPE, NULL, &s->pipe_action);
    errno = 0;
    return start_quietly(&init, &error);
}

/* The port asked for, the next nine, then any that is free. */
static bool start_somewhere(server *s, int port, char *err, size_t room)
{
    for (int i = 0; i <= 10 && !s->web; i++) {
        int try = i < 10 && port > 0 ? port + i : 0;
        if (try > 65535) continue;
        s->web = start_on(s, try, err, room);
        if (!s->web && errno != EADDRINUSE && errno != EACCES) break;
    }
    struct mg_server_port bound[1];
    if (!s->web || mg_get_server_ports(s->web, 1, bound) != 1) return false;
    s->port = bound[0].port;
    return true;
}

/* As a shell writes it: ~ for the user's own. */
static void name_folder(server *s, const char *path)
{
    const char *user = getenv("HOME");
    size_t n = user ? strlen(user) : 0;
    bool within = path && n > 1 && !strncmp(path, user, n) && (!path[n] || path[n] == '/');
    if (path) snprintf(s->folder, sizeof s->folder, "%s%s", within ? "~" : "", within ? path + n : path);
}

server *server_start(const server_options *o, char *err, size_t room)
{
    memory_for_json();
    memory_retry();
    server *s = memory_zeroed(1, sizeof *s, "a server");
    char why[160] = "no random numbers";
    *s = (server){.routes = o->routes, .user = o->user};
    if (o->allow_host) s->allow_host = memory_copy(o->allow_host, "a host's name");
    name_folder(s, o->folder);
    bool hub_ok = make_token(s->token) && make_token(s->code) &&
                  hub_start(&s->hub, o->mode, o->why, *s->folder ? s->folder : NULL);
    if (!hub_ok || !start_somewhere(s, o->port, why, sizeof why)) {
        snprintf(err, room, "cannot serve the page on 127.0.0.1: %s", why);
        if (hub_ok && s->web) stop_web(s->web);
        if (hub_ok) hub_end(&s->hub);
        free(s->allow_host);
        free(s);
        return NULL;
    }
    clients_attach(s->web, &s->hub);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%d/#token=%s", s->port, s->token);
    snprintf(s->entry, sizeof s->entry, "http://127.0.0.1:%d/open/%s", s->port, s->code);
    return s;
}

/* ---- stopping ---- */

typedef struct waker {
    int port;
    atomic_bool done;
} waker;

/* civetweb's threads sleep in poll for up to two seconds. A connection wakes the one that accepts, a
 * shut socket those that read and write. */
static void *keep_waking(void *arg)
{
    waker *w = arg;
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)w->port)};
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    while (!atomic_load(&w->done)) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&here, sizeof here)) errno = 0;
        usleep(2000);
        if (fd >= 0) close(fd);
        shut_connections(w->port, 0, SHUT_RDWR);
    }
    return NULL;
}

void server_stop(server *s)
{
    if (!s) return;
    clients_dismiss(&s->hub);
    waker w = {.port = s->port};
    pthread_t thread;
    bool waking = !pthread_create(&thread, NULL, keep_waking, &w);
    stop_web(s->web);
    atomic_store(&w.done, true);
    if (waking) pthread_join(thread, NULL);
    hub_end(&s->hub);
    free(s->allow_host);
    free(s);
}

/* ---- what the command says ---- */

int server_port(const server *s) { return s->port; }

const char *server_url(const server *s) { return s->url; }

const char *server_entry(const server *s) { return s->entry; }

int server_add_run(server *s, feed *f, const char *lesson, const char *what, const char *label)
{
    return hub_add_run(&s->hub, f, lesson, what, label);
}

void server_run_ended(server *s, int run) { hub_run_ended(&s->hub, run); }

void server_status(server *s, cJSON *status)
{
    if (!cJSON_HasObjectItem(status, "type")) cJSON_AddStringToObject(status, "type", "status");
    hub_broadcast(&s->hub, cJSON_PrintUnformatted(status));
    cJSON_Delete(status);
}

bool server_seen_all(server *s) { return hub_acknowledged(&s->hub); }

int server_clients(server *s) { return hub_count_clients(&s->hub); }
