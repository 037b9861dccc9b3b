/* handmade.c: see handmade.h. */
#include "handmade.h"

void hand_bytes(handmade *h, const char *bytes, size_t n)
{
    if (h->size + n + 1 > h->room) h->text = realloc(h->text, h->room = 2 * (h->size + n + 1));
    if (!h->text) abort();
    memcpy(h->text + h->size, bytes, n);
    h->size += n;
    h->text[h->size] = 0;
}

/* Takes a field out of the body, with the comma before it; its value, or "" if it has none. */
static void take_field(char *body, const char *name, char value[static 200])
{
    char key[40];
    snprintf(key, sizeof key, ",\"%s\":", name);
    char *at = strstr(body, key);
    *value = 0;
    if (!at) return;
    char *from = at + strlen(key), *to = *from == '"' ? strchr(from + 1, '"') + 1 : from + strcspn(from, ",");
    snprintf(value, 200, "%.*s", (int)(to - from), from);
    memmove(at, to, strlen(to) + 1);
}

/* The place of an event is that of its call, here one of its own. */
static void call_in_place(char *body, size_t room, int id)
{
    char line[200], file[200], fn[200];
    take_field(body, "line", line);
    take_field(body, "file", file);
    take_field(body, "fn", fn);
    size_t n = strlen(body);
    if (!*line) return;
    snprintf(body + n, room - n, ",\"calls\":[{\"id\":%d,\"name\":\"fy_add\",\"file\":%s,\"line\":%s%s%s}],\"call\":%d",
             id, *file ? file : "\"p.c\"", line, *fn ? ",\"fn\":" : "", fn, id);
}

int hand(handmade *h, const char *format, ...)
{
    char body[65536], line[66000];
    va_list args;
    va_start(args, format);
    vsnprintf(body, sizeof body, format, args);
    va_end(args);
    for (char *p = body; *p; p++)
        if (*p == '\'') *p = '"';
    call_in_place(body, sizeof body, h->seq + 1);
    int n = snprintf(line, sizeof line, "{\"seq\":%d,\"t\":0,\"th\":0,%s}\n", h->seq, body);
    hand_bytes(h, line, (size_t)n);
    return h->seq++;
}

void hand_end(handmade *h)
{
    free(h->text);
    *h = (handmade){0};
}
