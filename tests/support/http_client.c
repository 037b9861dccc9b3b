/* http_client.c: see http_client.h. */
#include "http_client.h"

int dial(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const struct timeval patience = {.tv_sec = TIMEOUT_S};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!connect(fd, (struct sockaddr *)&to, sizeof to)) return fd;
    close(fd);
    return -1;
}

int listen_on(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!bind(fd, (struct sockaddr *)&at, sizeof at) && !listen(fd, 1)) return fd;
    close(fd);
    return -1;
}

bool send_bytes(int fd, const void *data, size_t size)
{
    const char *p = data;
    while (size) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
        if (n <= 0) return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

char *read_to_end(int fd)
{
    size_t size = 0, room = 65536;
    char *text = malloc(room + 1);
    for (ssize_t n; (n = recv(fd, text + size, room - size, 0)) > 0;) {
        size += (size_t)n;
        if (size == room) text = realloc(text, (room *= 2) + 1);
    }
    text[size] = 0;
    return text;
}

char *http_ask_bytes(int port, const void *data, size_t size)
{
    int fd = dial(port);
    if (fd < 0) return strdup("");
    send_bytes(fd, data, size);
    char *text = read_to_end(fd);
    close(fd);
    return text;
}

char *http_ask(int port, http_request a)
{
    size_t room = 4096 + strlen(a.path) + (a.body ? strlen(a.body) : 0);
    char *text = malloc(room);
    int n = snprintf(text, room, "%s %s HTTP/1.1\r\n", a.method, a.path);
    if (a.host) n += snprintf(text + n, room - (size_t)n, "Host: %s\r\n", a.host);
    if (a.origin) n += snprintf(text + n, room - (size_t)n, "Origin: %s\r\n", a.origin);
    if (a.token) n += snprintf(text + n, room - (size_t)n, "X-Ferry-Token: %s\r\n", a.token);
    if (a.body) n += snprintf(text + n, room - (size_t)n, "Content-Length: %zu\r\n", strlen(a.body));
    n += snprintf(text + n, room - (size_t)n, "\r\n%s", a.body ? a.body : "");
    char *answer = http_ask_bytes(port, text, (size_t)n);
    free(text);
    return answer;
}

int status_of(const char *answer)
{
    int status = 0;
    return sscanf(answer, "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

int http_ask_status(int port, http_request a)
{
    char *answer = http_ask(port, a);
    int status = status_of(answer);
    free(answer);
    return status;
}

int serving_threads(void)
{
    int n = 0;
    char path[300], name[32];
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; tasks && (e = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        n += f && fgets(name, sizeof name, f) && !strncmp(name, "civetweb", 8);
        if (f) fclose(f);
    }
    if (tasks) closedir(tasks);
    return n;
}

bool serving_threads_become(int n)
{
    for (int i = 0; i < TIMEOUT_S * 100 && serving_threads() != n; i++) usleep(10000);
    return serving_threads() == n;
}

/* ---- WebSocket ---- */

int ws_dial(int port, const char *path, const char *host, const char *origin, const char *token, int *status)
{
    char text[1024], head[2048];
    size_t size = 0;
    int n = snprintf(text, sizeof text, "GET %s%s%s HTTP/1.1\r\n", path, token ? "?token=" : "", token ? token : "");
    if (host) n += snprintf(text + n, sizeof text - (size_t)n, "Host: %s\r\n", host);
    if (origin) n += snprintf(text + n, sizeof text - (size_t)n, "Origin: %s\r\n", origin);
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    int fd = dial(port);
    if (fd < 0 || !send_bytes(fd, text, (size_t)n)) return -1;
    head[0] = 0;
    while (size < sizeof head - 1 && !strstr(head, "\r\n\r\n") && recv(fd, head + size, 1, 0) == 1) head[++size] = 0;
    *status = status_of(head);
    if (*status == 101) return fd;
    close(fd);
    return -1;
}

bool ws_send_claiming(int fd, int first, const void *data, size_t size, uint64_t claim)
{
    unsigned char head[14] = {(unsigned char)first};
    size_t n = 2;
    if (claim < 126) {
        head[1] = (unsigned char)(0x80 | claim);
    } else {
        head[1] = 0x80 | 127;
        for (int i = 0; i < 8; i++) head[n++] = (unsigned char)(claim >> (56 - 8 * i));
    }
    return send_bytes(fd, head, n + 4) && send_bytes(fd, data, size); /* the mask is zero */
}

bool ws_send(int fd, const char *text) { return ws_send_claiming(fd, 0x81, text, strlen(text), strlen(text)); }

static bool read_exactly(int fd, void *to, size_t size)
{
    return !size || recv(fd, to, size, MSG_WAITALL) == (ssize_t)size;
}

char *ws_read(int fd, int *opcode, size_t *size)
{
    unsigned char head[2], more[8];
    if (!read_exactly(fd, head, 2)) return NULL;
    uint64_t n = head[1] & 127;
    int bytes = n == 126 ? 2 : n == 127 ? 8 : 0;
    if (bytes && !read_exactly(fd, more, (size_t)bytes)) return NULL;
    if (bytes) n = 0;
    for (int i = 0; i < bytes; i++) n = n << 8 | more[i];
    char *text = malloc(n + 1);
    if (!read_exactly(fd, text, n)) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    *opcode = head[0] & 15;
    *size = n;
    return text;
}

char *ws_read_until(int fd, const char *beginning)
{
    int opcode;
    size_t size;
    for (char *text; (text = ws_read(fd, &opcode, &size)); free(text)) {
        if (opcode == 8) break;
        if (!strncmp(text, beginning, strlen(beginning))) return text;
    }
    return NULL;
}

int ws_read_close(int fd)
{
    int opcode, code = 0;
    size_t size;
    for (char *text; (text = ws_read(fd, &opcode, &size)); free(text)) {
        if (opcode != 8) continue;
        if (size >= 2) code = (unsigned char)text[0] << 8 | (unsigned char)text[1];
        free(text);
        break;
    }
    return code;
}
