/* no_server.c: replaces the server where Ferry is built without civetweb: server_start always fails, with the
 * reason. The commands list, run, grade, hint and watch work without it. */
#include <stdio.h>

#include "server.h"
#include "view.h"

static const char why[] = "this ferry was built without civetweb, which serves the page; install it (libcivetweb-dev "
                          "on Debian and Ubuntu, civetweb-devel on Fedora) and build again with make";

server *server_start(const server_options *o, char *err, size_t room)
{
    (void)o;
    snprintf(err, room, "%s", why);
    return NULL;
}

int view_files(const char *path, const char *other, int port, const char *allow_host)
{
    (void)path, (void)other, (void)port, (void)allow_host;
    fprintf(stderr, "ferry: %s\n", why);
    return 1;
}

int server_port(const server *s)
{
    (void)s;
    return 0;
}

const char *server_url(const server *s)
{
    (void)s;
    return "";
}

const char *server_one_time_url(const server *s)
{
    (void)s;
    return "";
}

int server_add_run(server *s, feed *f, const char *lesson, const char *what, const char *label)
{
    (void)s, (void)lesson, (void)what, (void)label;
    feed_free(f);
    return 0;
}

int server_add_run_by(server *s, feed *f, const char *lesson, const char *what, const char *label, const char *by)
{
    (void)by;
    return server_add_run(s, f, lesson, what, label);
}

void server_run_ended(server *s, int run) { (void)s, (void)run; }

void server_status(server *s, cJSON *status)
{
    (void)s;
    cJSON_Delete(status);
}

int server_clients(server *s)
{
    (void)s;
    return 0;
}

void server_stop(server *s) { (void)s; }
