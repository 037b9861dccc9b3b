/* page_client.c: see page_client.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "page_client.h"

server_address parse_server_address(const char *text)
{
    server_address d = {0};
    const char *url = strstr(text, "http://127.0.0.1:");
    if (!url || sscanf(url, "http://127.0.0.1:%d/#token=%32[0-9a-f]", &d.port, d.token) != 2)
        return (server_address){0};
    snprintf(d.host, sizeof d.host, "127.0.0.1:%d", d.port);
    snprintf(d.origin, sizeof d.origin, "http://%s", d.host);
    return d;
}

int join_server(const server_address *d)
{
    int status = 0, fd = ws_dial(d->port, "/ws", d->host, d->origin, d->token, &status);
    if (status != 101) fail_msg("the WebSocket was answered with %d", status);
    return fd;
}

char *http_get(const server_address *d, const char *path)
{
    char *answer = http_ask(d->port, (http_request){.method = "GET", .path = path, .host = d->host, .token = d->token});
    if (status_of(answer) != 200) fail_msg("GET %s: %.200s", path, answer);
    return answer;
}

char *next_frame(int fd, int *opcode, size_t *size)
{
    char *text;
    while ((text = ws_read(fd, opcode, size)) && *opcode == 9) {
        ws_send_claiming(fd, 0x8a, text, *size, *size);
        free(text);
    }
    return text;
}

/* The seq at the start of a line. sscanf would call strlen on all remaining text for each line, and the server drops
 * clients that take seconds per frame. */
static uint64_t seq_of_line(const char *line)
{
    static const char before[] = "{\"seq\":";
    char *end;
    if (strncmp(line, before, sizeof before - 1)) fail_msg("no event: %.80s", line);
    uint64_t seq = strtoull(line + sizeof before - 1, &end, 10);
    assert_int_equal(*end, ',');
    return seq;
}

bool process_frame(run_follower *f)
{
    int opcode, run;
    size_t size;
    unsigned long long from, count;
    char *text = next_frame(f->fd, &opcode, &size);
    if (!text || opcode != 1) return free(text), false;
    if (sscanf(text, "{\"type\":\"ended\",\"run\":%d,\"count\":%llu}", &run, &count) == 2 && run == f->run)
        f->ended = count + 1;
    if (sscanf(text, "{\"type\":\"events\",\"run\":%d,\"from\":%llu,\"count\":%llu}", &run, &from, &count) == 3 &&
        run == f->run) {
        assert_int_equal(from, f->next);
        assert_true(size < 512 * 1024);
        char *line = strchr(text, '\n');
        for (uint64_t i = 0; i < count; i++, line = strchr(line + 1, '\n')) {
            assert_non_null(line);
            assert_int_equal(seq_of_line(line + 1), f->next++);
        }
        assert_null(line); /* as many lines as announced */
    }
    free(text);
    return true;
}

void follow_to_end(run_follower *f)
{
    while (!f->ended && process_frame(f)) continue;
    assert_true(f->ended);
    assert_int_equal(f->ended - 1, f->next);
}
