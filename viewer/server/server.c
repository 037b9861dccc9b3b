/* server.c: starts and stops the server. civetweb listens on the loopback interface only, has no
 * document root and passes every request to http.c. */
#define _GNU_SOURCE
#include <civetweb.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
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
 * civetweb sends with MSG_NOSIGNAL, so it does not need that. The accepting thread gets its front before it polls. */
static void *begin_thread(const struct mg_context *web, int type)
{
    enum { ACCEPTING = 0 };
    server *s = mg_get_user_data(web);
    struct mg_server_port bound[1];
    sigaction(SIGPIPE, &s->pipe_action, NULL);
    if (type != ACCEPTING) return NULL;
    s->front = mg_get_server_ports(web, 1, bound) == 1 ? front_open(bound[0].port, s->token) : NULL;
    if (!s->front) s->front_error = errno;
    sem_post(&s->standing);
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

static struct mg_context *start_on(server *s, int port, char *err, size_t room)
{
    char address[32], workers[16];
    snprintf(address, sizeof address, "127.0.0.1:%d", port);
    snprintf(workers, sizeof workers, "%d", WORKERS);
    /* tcp_nodelay: headers and payload are two writes, which Nagle's algorithm delays by 44 ms. num_threads: an open
     * page occupies one. A write to a stalled peer fails after request_timeout_ms. */
    /* clang-format off */
    const char *options[] = {
        "listening_ports", address, "num_threads", workers, "tcp_nodelay", "1",
        "request_timeout_ms", "5000",
        "enable_keep_alive", "no", "decode_url", "no", "enable_directory_listing", "no",
        "access_control_allow_origin", "", "access_control_allow_methods", "", "access_control_allow_headers", "",
        NULL,
    };
    /* clang-format on */
    struct mg_callbacks callbacks = {.begin_request = http_answer,
                                     .http_error = http_error,
                                     .log_message = discard_message,
                                     .init_thread = begin_thread};
    struct mg_init_data init = {.callbacks = &callbacks, .user_data = s, .configuration_options = options};
    struct mg_error_data error = {.text = err, .text_buffer_size = room};
    sigaction(SIGPIPE, NULL, &s->pipe_action);
    errno = 0;
    return start_civetweb(&init, &error);
}

/* ---- stopping ---- */

/* civetweb's threads sleep in poll for up to two seconds: the accepting one is woken by the front, those that read and
 * write by shutdown. */
typedef struct waker {
    const server *server;
    atomic_bool done;
} waker;

static void *wake_threads(void *arg)
{
    waker *w = arg;
    while (!atomic_load(&w->done)) {
        if (w->server->front) front_wake_civetweb(w->server->front);
        usleep(2000);
        shutdown_connections(w->server->port);
    }
    return NULL;
}

static void stop_web(server *s)
{
    waker w = {.server = s};
    pthread_t thread;
    if (s->front) front_stop(s->front);
    bool waking = !pthread_create(&thread, NULL, wake_threads, &w);
    mg_stop(s->web);
    atomic_store(&w.done, true);
    if (waking) pthread_join(thread, NULL);
    if (s->front) front_close(s->front);
    threads_raise_stack_size(-1);
}

/* ---- starting ---- */

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
    while (sem_wait(&s->standing)) continue;
    if (!s->front) snprintf(err, room, "%s", strerror(s->front_error));
    return s->front != NULL;
}

server *server_start(const server_options *o, char *err, size_t room)
{
    memory_hook_cjson();
    memory_retry();
    server *s = memory_zeroed(1, sizeof *s, "a server");
    char why[160] = "no random numbers";
    *s = (server){.routes = o->routes, .user = o->user};
    sem_init(&s->standing, 0, 0);
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
        if (hub_ok && s->web) stop_web(s);
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

void server_stop(server *s)
{
    if (!s) return;
    clients_close(&s->hub);
    stop_web(s);
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
