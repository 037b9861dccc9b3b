/* server.c: starts and stops the server. civetweb listens on the loopback interface only, has no
 * document root and passes every request to http.c. */
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

/* By default civetweb prints request errors to stderr, including tokens in queries. */
static int discard_message(const struct mg_connection *conn, const char *message)
{
    (void)conn, (void)message;
    return 1;
}

/* Each civetweb thread sets SIGPIPE to ignored, for the whole process, when it starts: restore the program's action.
 * civetweb sends with MSG_NOSIGNAL, so it does not need that. */
static void *restore_sigpipe(const struct mg_context *web, int type)
{
    const server *s = mg_get_user_data(web);
    (void)type;
    sigaction(SIGPIPE, &s->pipe_action, NULL);
    return NULL;
}

/* Starts civetweb with signals blocked: its threads inherit the mask and must not receive the program's signals. */
static struct mg_context *start_civetweb(struct mg_init_data *init, struct mg_error_data *error)
{
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* needed by lib/trace/mapping.c */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    threads_raise_stack_size(1);
    struct mg_context *web = mg_start2(init, error);
    int error_number = errno;
    if (!web) threads_raise_stack_size(-1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error_number;
    return web;
}

static void stop_web(struct mg_context *web)
{
    mg_stop(web);
    threads_raise_stack_size(-1);
}

static struct mg_context *start_on(server *s, int port, char *err, size_t room)
{
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%d", port);
    /* tcp_nodelay: headers and payload are two writes, which Nagle's algorithm delays by 44 ms. num_threads: an open
     * page occupies one. A write to a stalled peer fails after request_timeout_ms; pings detect vanished peers. */
    /* clang-format off */
    const char *options[] = {
        "listening_ports", address, "num_threads", "64", "tcp_nodelay", "1",
        "request_timeout_ms", "5000", "websocket_timeout_ms", "5000", "enable_websocket_ping_pong", "yes",
        "enable_keep_alive", "no", "decode_url", "no", "enable_directory_listing", "no",
        "access_control_allow_origin", "", "access_control_allow_methods", "", "access_control_allow_headers", "",
        NULL,
    };
    /* clang-format on */
    struct mg_callbacks callbacks = {.begin_request = http_answer,
                                     .http_error = http_error,
                                     .log_message = discard_message,
                                     .init_thread = restore_sigpipe};
    struct mg_init_data init = {.callbacks = &callbacks, .user_data = s, .configuration_options = options};
    struct mg_error_data error = {.text = err, .text_buffer_size = room};
    sigaction(SIGPIPE, NULL, &s->pipe_action);
    errno = 0;
    return start_civetweb(&init, &error);
}

/* Tries the requested port, the next nine, then any free one. */
static bool start_on_free_port(server *s, int port, char *err, size_t room)
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

server *server_start(const server_options *o, char *err, size_t room)
{
    memory_hook_cjson();
    memory_retry();
    server *s = memory_zeroed(1, sizeof *s, "a server");
    char why[160] = "no random numbers";
    *s = (server){.routes = o->routes, .user = o->user};
    if (o->allow_host) s->allow_host = memory_copy(o->allow_host, "a host's name");
    if (o->folder) { /* with ~ for $HOME */
        const char *user = getenv("HOME");
        size_t n = user ? strlen(user) : 0;
        bool within = n > 1 && !strncmp(o->folder, user, n) && (!o->folder[n] || o->folder[n] == '/');
        snprintf(s->folder, sizeof s->folder, "%s%s", within ? "~" : "", within ? o->folder + n : o->folder);
    }

    bool hub_ok = make_token(s->token) && make_token(s->code) &&
                  hub_start(&s->hub, o->mode, o->why, *s->folder ? s->folder : NULL);
    if (!hub_ok || !start_on_free_port(s, o->port, why, sizeof why)) {
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

/* civetweb's threads sleep in poll for up to two seconds. A connection wakes the accepting thread, shutdown wakes
 * those that read and write. */
static void *wake_threads(void *arg)
{
    waker *w = arg;
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)w->port)};
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    while (!atomic_load(&w->done)) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&here, sizeof here)) errno = 0;
        usleep(2000);
        if (fd >= 0) close(fd);
        shutdown_connections(w->port, 0, SHUT_RDWR);
    }
    return NULL;
}

void server_stop(server *s)
{
    if (!s) return;
    clients_close(&s->hub);
    waker w = {.port = s->port};
    pthread_t thread;
    bool waking = !pthread_create(&thread, NULL, wake_threads, &w);
    stop_web(s->web);
    atomic_store(&w.done, true);
    if (waking) pthread_join(thread, NULL);
    hub_end(&s->hub);
    free(s->allow_host);
    free(s);
}

/* ---- access ---- */

int server_port(const server *s) { return s->port; }

const char *server_url(const server *s) { return s->url; }

const char *server_one_time_url(const server *s) { return s->entry; }

int server_add_run(server *s, feed *f, const char *lesson, const char *what, const char *label)
{
    return hub_add_run(&s->hub, f, lesson, what, label, NULL);
}

int server_add_run_by(server *s, feed *f, const char *lesson, const char *what, const char *label, const char *by)
{
    return hub_add_run(&s->hub, f, lesson, what, label, by);
}

void server_run_ended(server *s, int run) { hub_run_ended(&s->hub, run); }

void server_status(server *s, cJSON *status)
{
    if (!cJSON_HasObjectItem(status, "type")) cJSON_AddStringToObject(status, "type", "status");
    hub_broadcast(&s->hub, cJSON_PrintUnformatted(status));
    cJSON_Delete(status);
}

int server_clients(server *s) { return hub_count_clients(&s->hub); }
