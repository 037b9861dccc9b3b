/* gate.c: access control against other sites and other users.
 *
 * A page of a foreign site can reach a loopback port in three ways, each stopped by one check:
 * DNS rebinding sends a foreign Host, scripts and WebSockets send a foreign Origin, plain links and
 * forms send no token. The port in Host is not compared with the server's, so that a forwarded port
 * (ssh -L 9999:127.0.0.1:8700) works. */
#include "gate.h"

#include <string.h>
#include <strings.h>

#define LONGEST_PATH 1024

static const gate_verdict admitted = {0, ""};

/* Is Host this name, alone or with ":" and a port number? */
static bool host_is(const char *host, const char *name)
{
    size_t n = strlen(name);
    if (!n || strncasecmp(host, name, n) != 0) return false;
    const char *port = host + n;
    if (!*port) return true;
    size_t digits = strspn(port + 1, "0123456789");
    return *port == ':' && digits >= 1 && digits <= 5 && !port[1 + digits];
}

/* Refuses every path that decoding or resolving could turn into another one. */
static bool path_is_plain(const char *path)
{
    if (path[0] != '/' || strlen(path) > LONGEST_PATH || strstr(path, "..") || strstr(path, "//")) return false;
    for (const char *p = path; *p; p++)
        if (*p <= ' ' || *p == 0x7f || strchr("%\\;\"<>", *p)) return false;
    return true;
}

bool secrets_equal(const char *given, const char *wanted)
{
    size_t n = strlen(wanted);
    if (!n || strlen(given) != n) return false;
    volatile unsigned char difference = 0;
    for (size_t i = 0; i < n; i++) difference = (unsigned char)(difference | (given[i] ^ wanted[i]));
    return !difference;
}

static bool is_under(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return !strncmp(path, folder, n) && (!path[n] || path[n] == '/');
}

static gate_verdict check_shape(const gate_request *r, const char *allow_host)
{
    if (r->doubled) return (gate_verdict){400, "Host, Origin or token is given twice; send each once"};
    if (!r->host || !*r->host) return (gate_verdict){400, "there is no Host header; open the printed URL in a browser"};
    bool known = host_is(r->host, "127.0.0.1") || host_is(r->host, "localhost") || host_is(r->host, "[::1]");
    if (!known && !(allow_host && host_is(r->host, allow_host)))
        return (gate_verdict){403, "this Host name is not served; open the printed URL (127.0.0.1 or localhost), "
                                   "or start ferry with --allow-host NAME"};
    if (!r->path || !path_is_plain(r->path))
        return (gate_verdict){400, "this path is invalid; no path here has '..', '//', escapes or blanks"};
    if (!r->method || (strcmp(r->method, "GET") && strcmp(r->method, "POST")))
        return (gate_verdict){405, "only GET and POST are allowed here"};
    return admitted;
}

gate_verdict gate_check(const gate_request *r, const char *token, const char *allow_host)
{
    gate_verdict shape = check_shape(r, allow_host);
    if (shape.status) return shape;
    bool post = !strcmp(r->method, "POST");
    if (r->websocket && post) return (gate_verdict){405, "a WebSocket is opened by GET"};

    if ((post || r->websocket) && !r->origin)
        return (gate_verdict){403, "there is no Origin header; only Ferry's own page may do this"};
    static const char scheme[] = "http://";
    size_t n = sizeof scheme - 1;
    bool ours = r->origin && !strncmp(r->origin, scheme, n) && !strcasecmp(r->origin + n, r->host);
    if (r->origin && !ours)
        return (gate_verdict){403, "this Origin is another site; only Ferry's own page may do this"};

    /* The page itself is public, the user's data is not. */
    bool data = r->websocket || is_under(r->path, "/api") || is_under(r->path, "/ws");
    if ((post || data) && !(r->token && secrets_equal(r->token, token)))
        return (gate_verdict){403, "the token is missing or wrong; open the URL that the terminal printed last"};
    return admitted;
}
