/* http.c: answers requests: the page's files, the lines of a run, the routes that the command added.
 * The gate is checked first. There is no document root: no request path reaches the file system. */
#define _GNU_SOURCE
#include <civetweb.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "assets.h"
#include "gate.h"
#include "memory.h"
#include "run_cost.h"
#include "serving.h"
#include "text.h"

#define BODY_MAX (1 << 20)
#define LINES_AT_ONCE (256 * 1024)

/* The page may load from and connect to this server only. */
#define POLICY \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; worker-src 'self'; " \
    "connect-src 'self' ws://%s; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* ---- answers ---- */

/* The status line and the common headers. size < 0: chunks follow. */
static void send_head(struct mg_connection *conn, int status, const char *type, long long size, const char *more)
{
    char length[64] = "Transfer-Encoding: chunked\r\n";
    const char *host = status < 400 ? mg_get_header(conn, "Host") : NULL; /* checked by the gate */
    if (size >= 0) snprintf(length, sizeof length, "Content-Length: %lld\r\n", size);
    if (!host) host = "127.0.0.1";
    mg_printf(conn,
              "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%sCache-Control: no-store\r\n"
              "Content-Security-Policy: " POLICY "\r\n"
              "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
              "Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n"
              "%sConnection: close\r\n\r\n",
              status, mg_get_response_code_text(conn, status), type, length, host, more);
}

static int send_body(struct mg_connection *conn, int status, const char *type, const char *more, const void *data,
                     size_t size)
{
    send_head(conn, status, type, (long long)size, more);
    if (size && strcmp(mg_get_request_info(conn)->request_method, "HEAD")) mg_write(conn, data, size);
    return status;
}

/* Takes ownership of the object. */
static int send_json(struct mg_connection *conn, int status, cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);
    const char *more = status == 405 ? "Allow: GET, POST\r\n" : "";
    cJSON_Delete(json);
    send_body(conn, status, "application/json; charset=utf-8", more, text, strlen(text));
    free(text);
    return status;
}

static int send_problem(struct mg_connection *conn, int status, const char *message)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "error", message);
    return send_json(conn, status, json);
}

/* Discards the rest of the body for so long that the client gets to read the answer: not long for a stranger, who is
 * refused at the gate. Negative, so that civetweb does not wait for the rest of the refused request. */
static int refuse_for(struct mg_connection *conn, int status, const char *message, int ms)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    int fd = server_socket(info->server_port, info->remote_port);
    send_problem(conn, status, message);
    if (fd >= 0 && info->content_length > 0) end_connection(fd, ms);
    return -1;
}

static int refuse(struct mg_connection *conn, int status, const char *message)
{
    return refuse_for(conn, status, message, 2000);
}

/* ---- the page ---- */

const asset *asset_find(const char *path)
{
    if (!strcmp(path, "/")) path = "/index.html";
    for (const asset *a = fy_assets; a->path; a++)
        if (!strcmp(a->path, path)) return a;
    return NULL;
}

const char *asset_type(const char *path)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},    {".svg", "image/svg+xml"},
        {".json", "application/json; charset=utf-8"}, {".png", "image/png"},
        {".txt", "text/plain; charset=utf-8"},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(dot, types[i][0])) return types[i][1];
    return "application/octet-stream";
}

/* ---- the lines of a run, as a file ---- */

static int answer_lines(server *s, struct mg_connection *conn, int number)
{
    stream *r = hub_retain_run(&s->hub, number);
    if (!r) return send_problem(conn, 404, "there is no such run; only the last 16 are kept");
    char name[96];
    snprintf(name, sizeof name, "Content-Disposition: attachment; filename=\"run-%d.jsonl\"\r\n", r->number);
    send_head(conn, 200, "application/x-ndjson; charset=utf-8", -1, name);
    fy_text text = {0};
    uint64_t cursor = 0, end = feed_count(r->feed);
    bool ok = true;
    while (ok && cursor < end && feed_read(r->feed, &cursor, &text, LINES_AT_ONCE)) {
        ok = mg_send_chunk(conn, text.data, (unsigned)text.size) > 0;
        text.size = 0;
    }
    if (ok && !text.lost) mg_send_chunk(conn, "", 0); /* after an error no end, so that the browser discards the file */
    free(text.data);
    hub_release_run(&s->hub, r);
    return 200;
}

/* ---- what a run cost ---- */

/* /api/runs/N/findings, or /api/runs/N/whatif/RULE/SEQ. */
typedef struct cost_request {
    int run;
    char rule[41]; /* "": findings */
    int64_t seq;
} cost_request;

static bool read_cost_path(const char *path, cost_request *q)
{
    int end = 0;
    *q = (cost_request){0};
    if (sscanf(path, "/api/runs/%6d/findings%n", &q->run, &end) == 1 && end && !path[end]) return q->run > 0;
    end = 0;
    int read = sscanf(path, "/api/runs/%6d/whatif/%40[a-z-]/%12" SCNd64 "%n", &q->run, q->rule, &q->seq, &end);
    return read == 3 && end && !path[end] && q->run > 0 && q->seq >= 0;
}

static int answer_cost(server *s, struct mg_connection *conn, const cost_request *q)
{
    char err[512] = "the run has not ended yet; ask again when it has";
    fy_text text = {0};
    int status = 409;
    stream *r = hub_retain_run(&s->hub, q->run);
    if (!r) return send_problem(conn, 404, "there is no such run; only the last 16 are kept");
    if (hub_run_is_over(&s->hub, r))
        status = *q->rule ? fy_run_whatif(r->feed, q->rule, q->seq, &text, err, sizeof err)
                          : fy_run_findings(r->feed, &text);
    hub_release_run(&s->hub, r);
    if (status == 200) send_body(conn, 200, "application/x-ndjson; charset=utf-8", "", text.data, text.size);
    else send_problem(conn, status, err);
    free(text.data);
    return status;
}

/* ---- the one-time URL ---- */

/* Every user of this machine can read the code in the process list: it works once, and only for this user or
 * root. Anybody else is redirected to the page without a token, which explains what to open. */
static int answer_entry(server *s, struct mg_connection *conn, const char *code)
{
    char more[96] = "Location: /\r\n";
    uid_t user;
    bool ours = peer_user(s->port, mg_get_request_info(conn)->remote_port, &user) && (user == geteuid() || user == 0);
    if (secrets_equal(code, s->code) && ours && !atomic_exchange(&s->entered, true))
        snprintf(more, sizeof more, "Location: /#token=%s\r\n", s->token);
    return send_body(conn, 303, "text/plain; charset=utf-8", more, "", 0);
}

/* ---- the command's own routes ---- */

/* A NUL would silently truncate a string. */
static bool contains_nul(const char *text, size_t size)
{
    if (memchr(text, 0, size)) return true;
    for (const char *p = text; (p = strchr(p, '\\')) && p[1]; p += 2) /* skips an escaped backslash */
        if (!strncmp(p, "\\u0000", 6)) return true;
    return false;
}

cJSON *http_object(char *text, size_t size)
{
    const char *end = NULL;
    text[size] = 0;
    if (contains_nul(text, size)) return NULL;
    cJSON *o = cJSON_ParseWithLengthOpts(text, size, &end, false);
    if (cJSON_IsObject(o) && end + strspn(end, " \t\r\n") == text + size) return o;
    cJSON_Delete(o);
    return NULL;
}

static int answer_route(server *s, struct mg_connection *conn, const route *match, const char *rest)
{
    request r = {.method = match->method, .rest = rest, .user = s->user};
    if (!strcmp(match->method, "POST")) {
        long long size = mg_get_request_info(conn)->content_length, used = 0;
        if (size < 0) return refuse(conn, 411, "the Content-Length header is missing; send a JSON object");
        if (size > BODY_MAX) return refuse(conn, 413, "the body is longer than 1 MiB; send less");
        char *text = memory_realloc(NULL, (size_t)size + 1, 1, "what a page sends");
        for (int n = 1; used < size && n > 0; used += n > 0 ? n : 0)
            n = mg_read(conn, text + used, (size_t)(size - used));
        r.body = used == size ? http_object(text, (size_t)size) : NULL;
        free(text);
        if (!r.body)
            return refuse(conn, 400, "the body is not a JSON object, or it contains a NUL character; send at least {}");
    }
    reply answer = match->handle(&r);
    cJSON_Delete(r.body);
    return send_json(conn, answer.status, answer.json);
}

static int answer(server *s, struct mg_connection *conn, const char *method, const char *path)
{
    bool get = !strcmp(method, "GET");
    const asset *a = asset_find(path);
    if (a && get) return send_body(conn, 200, asset_type(a->path), "", a->data, a->size);
    if (get && !strncmp(path, "/open/", 6)) return answer_entry(s, conn, path + 6);

    int number = 0, end = 0;
    bool lines = sscanf(path, "/api/runs/%6d/log%n", &number, &end) == 1 && number && end && !path[end];
    if (lines && get) return answer_lines(s, conn, number);
    cost_request asked;
    bool cost = read_cost_path(path, &asked);
    if (cost && get) return answer_cost(s, conn, &asked);

    bool known = a || lines || cost;
    for (const route *match = s->routes; match && match->method; match++) {
        size_t n = strlen(match->prefix);
        if (strncmp(path, match->prefix, n) != 0 || (path[n] && path[n] != '/')) continue;
        if (!strcmp(match->method, method)) return answer_route(s, conn, match, path + n);
        known = true;
    }
    if (known) return refuse(conn, 405, "this path does not accept this method");
    return refuse(conn, 404, "there is no such page; open the printed URL");
}

/* ---- the gate ---- */

/* The value of a header that must occur at most once. */
static const char *single_header(const struct mg_request_info *info, const char *name, bool *doubled)
{
    const char *value = NULL;
    for (int i = 0; i < info->num_headers; i++) {
        if (strcasecmp(info->http_headers[i].name, name)) continue;
        *doubled |= value != NULL;
        value = info->http_headers[i].value;
    }
    return value;
}

static gate_verdict pass_gate(const server *s, struct mg_connection *conn, bool *websocket)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    const char *query = info->query_string ? info->query_string : "";
    char token[64];
    gate_request r = {.method = info->request_method, .path = info->local_uri_raw};
    r.websocket = single_header(info, "Upgrade", &r.doubled) || single_header(info, "Sec-WebSocket-Key", &r.doubled);
    r.host = single_header(info, "Host", &r.doubled);
    r.origin = single_header(info, "Origin", &r.doubled);
    r.token = single_header(info, "X-Ferry-Token", &r.doubled);
    if (r.websocket && mg_get_var(query, strlen(query), "token", token, sizeof token) >= 0) r.token = token;
    *websocket = r.websocket;
    return gate_check(&r, s->token, s->allow_host);
}

int http_answer(struct mg_connection *conn)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    server *s = info->user_data;
    bool websocket;
    gate_verdict verdict = pass_gate(s, conn, &websocket);
    if (verdict.status) return refuse_for(conn, verdict.status, verdict.reason, 200);
    bool upgrade = !strcmp(info->local_uri_raw, "/ws");
    if (websocket != upgrade) return refuse(conn, 400, "/ws accepts WebSockets only, and no other path does");
    if (!upgrade) return answer(s, conn, info->request_method, info->local_uri_raw);
    if (hub_count_clients(&s->hub) >= CLIENTS_MAX) return refuse(conn, 503, "too many pages are open; close some");
    return 0;
}

/* For requests that civetweb itself refuses: garbage, incomplete requests, other protocols. */
int http_error(struct mg_connection *conn, int status, const char *message)
{
    send_head(conn, status, "text/plain; charset=utf-8", (long long)strlen(message) + 1, "");
    mg_printf(conn, "%s\n", message);
    return 0;
}
